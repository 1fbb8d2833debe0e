//! Scenarios that fail, before the stream or inside it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::{Answer, Script};
use crate::calls::{time_in_paris, weather_in_paris};
use crate::scenario::Scene;
use crate::texts::DEFAULT_TEXT;

const CUT_TEXT: &str = "A long enough answer, which a cut leaves without its last third.";
const REFUSAL: &str = "I cannot";

/// Long enough for a client to see what came before as an event of its own.
pub(crate) const BEFORE_THE_END: Duration = Duration::from_millis(50);

/// An HTTP error in OpenAI's shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ErrorReply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) retry_after: Option<u32>,
}

impl ErrorReply {
    pub(crate) fn new(status: u16, code: &str, message: &str) -> Self {
        let body = json!({"error": {
            "message": message, "type": "invalid_request_error", "param": null, "code": code,
        }});
        Self { status, body, retry_after: None }
    }

    /// About one field of the request.
    pub(crate) fn about(param: &str, message: &str) -> Self {
        let mut reply = Self::new(400, "invalid_type", message);
        reply.body["error"]["param"] = param.into();
        reply
    }

    pub(crate) fn invalid_mark(message: &str) -> Self {
        Self::new(400, "unknown_scenario", message)
    }
}

/// The options behind the status code of an `http` mark.
#[derive(Default)]
struct HttpFailure {
    status: u16,
    about_context: bool,
    about_usage: bool,
    times: Option<u64>,
}

impl HttpFailure {
    fn parse(argument: &str) -> Option<Self> {
        let mut options = argument.split(',').map(str::trim);
        let status = options.next()?.parse().ok().filter(|status| (400..600).contains(status))?;
        options.try_fold(Self { status, ..Self::default() }, |failure, option| match option {
            "ctx" => Some(Self { about_context: true, ..failure }),
            "usage" => Some(Self { about_usage: true, ..failure }),
            _ => {
                let times = option.strip_prefix('x')?.parse().ok()?;
                Some(Self { times: Some(times), ..failure })
            }
        })
    }
}

pub(crate) fn http(scene: &Scene<'_>) -> Result<Script, ErrorReply> {
    let argument = scene.argument().unwrap_or("500");
    let failure = HttpFailure::parse(argument).ok_or_else(|| {
        ErrorReply::invalid_mark(&format!(
            "`[[http:CODE]]` takes a code from 400 to 599 and `,ctx`, `,usage` or `,xN`, \
             not `{argument}`"
        ))
    })?;
    if failure.times.is_some_and(|times| scene.attempt > times) {
        let asked = scene.mark.rest();
        let text = if asked.is_empty() { DEFAULT_TEXT } else { &asked };
        return Ok(scene.begin().message(text).completed());
    }
    let body = if failure.about_context {
        context_length_exceeded()
    } else if failure.about_usage {
        usage_limit_reached(scene.now)
    } else {
        usual_body(failure.status)
    };
    let retry_after = (failure.status == 429).then_some(1);
    Err(ErrorReply { status: failure.status, body, retry_after })
}

pub(crate) fn unread_reasoning(scene: &Scene<'_>) -> Result<Script, ErrorReply> {
    if scene.request.has_reasoning() {
        let body = json!({"error": {
            "message": "The encrypted content could not be verified.",
            "type": "invalid_request_error", "param": null, "code": "invalid_encrypted_content",
        }});
        return Err(ErrorReply { status: 400, body, retry_after: None });
    }
    if scene.request.tool_results().is_empty() {
        return Ok(scene
            .begin()
            .reasoning(&["Thought"], None)
            .call(&weather_in_paris())
            .completed());
    }
    Ok(scene.begin().message("It went on.").completed())
}

fn usual_body(status: u16) -> Value {
    let error = match status {
        400 => json!({
            "message": "Invalid 'input': refused by the scripted model",
            "type": "invalid_request_error", "param": "input", "code": "invalid_value",
        }),
        401 => json!({
            "message": "Incorrect API key provided",
            "type": "invalid_request_error", "param": null, "code": "invalid_api_key",
        }),
        403 => json!({"message": "Forbidden", "type": "forbidden", "code": "forbidden"}),
        404 => json!({
            "message": "The model `x` does not exist",
            "type": "invalid_request_error", "code": "model_not_found",
        }),
        429 => json!({
            "message": "Rate limit reached for the scripted model",
            "type": "tokens", "param": null, "code": "rate_limit_exceeded",
        }),
        500 => json!({"message": "The server had an error", "type": "server_error", "code": null}),
        503 => json!({
            "message": "Slow down", "type": "server_error", "code": "server_is_overloaded",
        }),
        _ => json!({"message": format!("scripted failure with status {status}")}),
    };
    json!({"error": error})
}

fn context_length_exceeded() -> Value {
    json!({"error": {
        "message": "Your input exceeds the context window of this model. \
                    Please adjust your input and try again.",
        "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
    }})
}

fn usage_limit_reached(now: u64) -> Value {
    json!({"error": {
        "type": "usage_limit_reached",
        "message": "The usage limit has been reached",
        "plan_type": "plus",
        "resets_at": now + 3600,
        "resets_in_seconds": 3600,
    }})
}

pub(crate) fn failed(scene: &Scene<'_>) -> Script {
    scene.begin().failed(failure_code(scene))
}

pub(crate) fn incomplete(scene: &Scene<'_>) -> Script {
    scene.begin().message("Truncated answ").incomplete(incomplete_reason(scene))
}

pub(crate) fn cut(scene: &Scene<'_>) -> Script {
    scene.begin().message_begun(CUT_TEXT, 2).cut()
}

pub(crate) fn slow_cut(scene: &Scene<'_>) -> Script {
    scene.begin().message_begun(CUT_TEXT, 2).pause(scene.duration()).cut()
}

pub(crate) fn echo_cut(scene: &Scene<'_>) -> Script {
    scene.begin().message_begun(&scene.mark.rest(), 2).cut()
}

pub(crate) fn cut_once(scene: &Scene<'_>) -> Script {
    match scene.attempt {
        1 => cut(scene),
        _ => scene.begin().message(CUT_TEXT).completed(),
    }
}

pub(crate) fn cut_early(scene: &Scene<'_>) -> Script {
    scene.begin().cut()
}

pub(crate) fn refusal(scene: &Scene<'_>) -> Script {
    scene.begin().refusal(REFUSAL).completed()
}

pub(crate) fn refusal_after_text(scene: &Scene<'_>) -> Script {
    scene.begin().message("First whole message.").refusal(REFUSAL).completed()
}

pub(crate) fn call_cut(scene: &Scene<'_>) -> Script {
    after_a_call(scene).cut()
}

pub(crate) fn half_call(scene: &Scene<'_>) -> Script {
    scene.begin().call_begun(&weather_in_paris(), 2).pause(BEFORE_THE_END).cut()
}

pub(crate) fn call_failed(scene: &Scene<'_>) -> Script {
    after_a_call(scene).failed(failure_code(scene))
}

pub(crate) fn call_incomplete(scene: &Scene<'_>) -> Script {
    after_a_call(scene).incomplete(incomplete_reason(scene))
}

pub(crate) fn two_calls_cut(scene: &Scene<'_>) -> Script {
    scene.begin().call(&weather_in_paris()).call(&time_in_paris()).pause(BEFORE_THE_END).cut()
}

pub(crate) fn message_cut(scene: &Scene<'_>) -> Script {
    scene.begin().message("First whole message.").pause(BEFORE_THE_END).cut()
}

fn after_a_call<'a>(scene: &Scene<'a>) -> Answer<'a> {
    scene.begin().call(&weather_in_paris()).pause(BEFORE_THE_END)
}

fn failure_code<'a>(scene: &Scene<'a>) -> &'a str {
    scene.argument().unwrap_or("server_error")
}

fn incomplete_reason<'a>(scene: &Scene<'a>) -> &'a str {
    scene.argument().unwrap_or("max_output_tokens")
}
