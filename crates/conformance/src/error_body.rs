//! Errors that come with an HTTP status.

use serde_json::Value;

use crate::exchange::Exchange;
use crate::notes::Notes;
use crate::rule::RuleId;
use crate::scenario::Expected;

/// An error before anything was said must have a status of its own, and OpenAI's JSON.
pub(crate) fn read(exchange: &Exchange, expected: &Expected, rule: RuleId, notes: &mut Notes) {
    let status = exchange.status;
    let is_fit = match expected.status.as_slice() {
        [] => status >= 400,
        fit => fit.contains(&status),
    };
    if !is_fit {
        let wanted = match expected.status.as_slice() {
            [] => "an error's status".to_owned(),
            fit => fit.iter().map(u16::to_string).collect::<Vec<_>>().join(" or "),
        };
        let found = summary(exchange);
        notes.broken(rule, format!("{wanted} was expected, but {found} came"));
        return;
    }
    let body: Value = serde_json::from_str(&exchange.body).unwrap_or_default();
    let error = &body["error"];
    if !error["message"].is_string() {
        let found = &exchange.body;
        notes.broken(rule, format!("{status} came without {{\"error\": {{message}}}}: {found}"));
        return;
    }
    if let Some(param) = &expected.param {
        let named = error["param"].as_str().unwrap_or_default();
        notes.check(rule, named == param, || {
            format!("the error does not name `{param}` as `param`: {error}")
        });
        return;
    }
    notes.kept(rule);
}

/// An answer in a few words.
pub(crate) fn summary(exchange: &Exchange) -> String {
    let body: Value = serde_json::from_str(&exchange.body).unwrap_or_default();
    let words = body["error"]["message"].as_str().unwrap_or(exchange.body.trim());
    format!("{} ({words})", exchange.status)
}
