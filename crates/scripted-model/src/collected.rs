//! A script that is played to its end before it is answered.

use serde_json::Value;
use tokio::time::sleep;

use crate::answer::{Script, Step};
use crate::complete_events::CompleteEvents;
use crate::record::InFlight;

/// How the script ended.
pub(crate) enum Collected {
    /// The response object of the last event: complete, incomplete or failed.
    Ended(Value),
    /// It was cut.
    Cut,
}

/// Plays a script at its own pace. Whoever drops this has left.
pub(crate) async fn collect(
    script: Script,
    mut events: CompleteEvents,
    mut in_flight: InFlight,
) -> Collected {
    let mut last = Value::Null;
    for step in script {
        match step {
            Step::Event(event) => {
                for event in events.complete(event) {
                    if event["response"].is_object() {
                        last = event["response"].clone();
                    }
                }
            }
            Step::Pause(duration) => sleep(duration).await,
            Step::Trickle => {}
            Step::Cut => {
                in_flight.end();
                return Collected::Cut;
            }
        }
    }
    in_flight.end();
    Collected::Ended(last)
}
