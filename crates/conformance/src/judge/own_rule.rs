//! Scenarios whose whole answer is judged by one rule.

use RuleId::{
    ChatCustomExact, ChatCustomResults, ChatCustomWhole, ChatHostedTools, ResponsesCustomExact,
    ResponsesCustomResults, ResponsesCustomWhole, ResponsesHostedTools, ResponsesRepeatedOutput,
    ResponsesUnknownTools,
};

use crate::exchange::Delivery;
use crate::rule::RuleId;
use crate::scenario::Scenario;

/// The rule that the whole answer is judged by.
///
/// A server that does not know custom tools would otherwise break the rules about calls, arguments
/// and finish reasons as well, which it keeps for functions.
pub(super) fn of(scenario: &Scenario, delivery: Delivery) -> Option<RuleId> {
    match (scenario.unanswered, delivery) {
        (ChatCustomExact, Delivery::Whole) => Some(ChatCustomWhole),
        (ResponsesCustomExact, Delivery::Whole) => Some(ResponsesCustomWhole),
        (
            rule @ (ChatCustomExact
            | ChatCustomResults
            | ChatHostedTools
            | ResponsesCustomExact
            | ResponsesCustomResults
            | ResponsesHostedTools
            | ResponsesUnknownTools
            | ResponsesRepeatedOutput),
            _,
        ) => Some(rule),
        _ => None,
    }
}
