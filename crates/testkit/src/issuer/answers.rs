//! What the issuer answers, in the shapes that Codex reads.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Json, Response};
use serde_json::{Value, json};

use super::{Consent, IssuedAccount, Script, ScriptedIssuer};
use crate::token::unsigned_token;

/// Seconds since 1970 at which every token of the issuer ends: the year 2100.
const FAR_AWAY: u64 = 4_102_444_800;

pub(super) fn refused(status: StatusCode, error: &Value) -> Response {
    (status, Json(json!({"error": error}))).into_response()
}

pub(super) fn new_code() -> Response {
    Json(json!({
        "device_auth_id": "device-1",
        "user_code": "ABCD-12345",
        // Seconds between two questions whether the code was entered.
        "interval": "1",
        "expires_at": "2100-01-01T00:00:00Z",
    }))
    .into_response()
}

pub(super) fn code_entered(consent: Consent) -> Response {
    match consent {
        Consent::Given => Json(json!({
            "authorization_code": "code-of-a-device",
            "code_challenge": "challenge",
            "code_verifier": "verifier",
        }))
        .into_response(),
        Consent::Pending => refused(StatusCode::FORBIDDEN, &"authorization_pending".into()),
        Consent::Denied | Consent::ForAnotherLogin => {
            refused(StatusCode::BAD_REQUEST, &"access_denied".into())
        }
    }
}

/// The page of a browser login, on which the user has already chosen.
pub(super) fn back_to_codex(consent: Consent, query: &str) -> Response {
    let parameter = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let (Some(callback), Some(state)) = (parameter("redirect_uri"), parameter("state")) else {
        return refused(StatusCode::BAD_REQUEST, &"this is not a login".into());
    };
    let callback = callback.replace("%3A", ":").replace("%2F", "/");
    let answer = match consent {
        Consent::Given => format!("code=code-of-a-browser&state={state}"),
        Consent::ForAnotherLogin => "code=code-of-a-browser&state=of-another-login".to_owned(),
        Consent::Denied => {
            format!("error=access_denied&error_description=the+user+said+no&state={state}")
        }
        Consent::Pending => return "Do you want to sign in?".into_response(),
    };
    (StatusCode::FOUND, [(header::LOCATION, format!("{callback}?{answer}"))]).into_response()
}

pub(super) fn tokens(account: &IssuedAccount, number: u64) -> Response {
    let claims = json!({
        "email": account.email,
        "exp": FAR_AWAY,
        "https://api.openai.com/auth": {
            "chatgpt_account_id": account.id,
            "chatgpt_plan_type": account.plan,
            "chatgpt_user_id": "user-1",
            "user_id": "user-1",
        },
    });
    Json(json!({
        "id_token": unsigned_token(&claims, &format!("id-{number}")),
        "access_token": unsigned_token(&claims, &format!("access-{number}")),
        "refresh_token": format!("refresh-{number}"),
        "expires_in": 3_600,
        "token_type": "Bearer",
    }))
    .into_response()
}

pub(super) fn accounts(account: &IssuedAccount) -> Response {
    Json(json!({
        "accounts": [{
            "id": account.id,
            "name": account.workspace,
            "structure": "personal",
            "plan_type": account.plan,
            "workspace_backend_origin": "https://chatgpt.com",
            "account_routing_override": "NO_CONSTRAINT",
        }],
        "account_ordering": [account.id],
        "default_account_id": account.id,
    }))
    .into_response()
}

pub(super) fn usage(script: &Script) -> Response {
    let mut windows = ScriptedIssuer::USED;
    for (window, resets_at) in windows.iter_mut().zip(script.resets_at.into_iter().flatten()) {
        window.resets_at = resets_at;
    }
    if script.used_up {
        windows[0].percent = 100;
    }
    let [primary, secondary] = windows.map(|window| {
        json!({
            "used_percent": window.percent,
            "limit_window_seconds": window.seconds,
            "reset_after_seconds": 60,
            "reset_at": window.resets_at,
        })
    });
    Json(json!({
        "plan_type": script.account.plan,
        "rate_limit": {
            "allowed": !script.used_up,
            "limit_reached": script.used_up,
            "primary_window": primary,
            "secondary_window": secondary,
        },
    }))
    .into_response()
}

/// The refusal of a response for which nothing is left.
pub(super) fn nothing_left() -> Response {
    let error = json!({
        "type": "usage_limit_reached",
        "message": "The usage limit has been reached",
        "plan_type": "plus",
        "resets_at": ScriptedIssuer::USED[0].resets_at,
    });
    refused(StatusCode::TOO_MANY_REQUESTS, &error)
}

/// A whole response of the Responses API, with one message.
pub(super) fn response(text: &str) -> Response {
    let message = json!({
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    });
    let mut opened = message.clone();
    opened["content"] = json!([]);
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": opened}),
        json!({"type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "delta": text}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
        json!({"type": "response.completed", "response": {"id": "resp_1"}}),
    ];
    let event = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default();
        format!("event: {name}\ndata: {event}\n\n")
    };
    let stream: String = events.iter().map(event).collect();
    ([(header::CONTENT_TYPE, "text/event-stream")], stream).into_response()
}
