//! What a person reads when something goes wrong. Many clients show nothing but the message, so that it
//! has to say what happened and what to do, in whole sentences.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use serde_json::{Value, json};
use testkit::ScriptedIssuer;

use crate::altered_codex::AlteredCodex;
use crate::asking::{ask, with};
use crate::http::Answer;
use crate::proxy::{CHAT, Proxy};
use crate::usage::account::run;

/// Without an upstream of its own: an empty value is none.
const UPSTREAM_OF_THE_LOGIN: (&str, &str) = ("PROXY_UPSTREAM_BASE_URL", "");

/// The whole answer: status, body, when to try again, and whether that helps.
fn told(answer: &Answer) -> (u16, Value, Option<&str>, Option<&str>) {
    (answer.status, answer.json(), answer.header("retry-after"), answer.header("x-should-retry"))
}

fn error(message: &str, r#type: &str, param: Option<&str>, code: &str) -> Value {
    json!({"error": {"message": message, "type": r#type, "param": param, "code": code}})
}

fn invalid(message: &str, param: &str, code: &str) -> Value {
    error(message, "invalid_request_error", Some(param), code)
}

async fn send(proxy: &Proxy, request: hyper::http::request::Builder, body: &str) -> Answer {
    let body = Full::new(Bytes::from(body.to_owned()));
    proxy.send(request.body(body).unwrap()).await.whole().await
}

#[tokio::test]
async fn who_is_not_signed_in_reads_where_to_sign_in() {
    let proxy = Proxy::start(&[UPSTREAM_OF_THE_LOGIN]).await;
    let words = format!(
        "Nobody is signed in to Codex. Sign in at http://{}/ or with `codex-completions login`; the \
         model demo needs no account.",
        proxy.address()
    );
    let expected = error(&words, "authentication_error", None, "codex_login_required");
    for stream in [false, true] {
        let answer = proxy.chat(&with(ask("Hello"), json!({"stream": stream}))).await;
        assert_eq!(told(&answer), (401, expected.clone(), None, None));
    }
    let response = Request::post("/v1/responses").header(CONTENT_TYPE, "application/json");
    let answer = send(&proxy, response, r#"{"model": "gpt-5.5", "input": "Hello"}"#).await;
    assert_eq!(told(&answer), (401, expected.clone(), None, None));
    // Whoever came through TLS goes back through it.
    let answer = proxy.chat_with(&ask("Hello"), &[("x-forwarded-proto", "https")]).await;
    assert!(answer.body.contains(&format!("at https://{}/ or", proxy.address())), "{answer:?}");
    let demo = with(ask("Hello"), json!({"model": "demo"}));
    assert_eq!(proxy.chat(&demo).await.status, 200);
}

/// A server whose owner is signed in, with the issuer as the upstream of the login.
struct SignedIn {
    proxy: Proxy,
    issuer: ScriptedIssuer,
    /// Sends to the issuer what would go to a host that Codex knows.
    _codex: AlteredCodex,
}

// === impl SignedIn ===

impl SignedIn {
    async fn start() -> Self {
        let issuer = ScriptedIssuer::start().await;
        let base_url = issuer.responses_base_url();
        let config = json!({"model_providers.upstream.base_url": base_url});
        let here = format!(r#"/base_url/!s|"ephemeral":true|&,"config":{config}|"#);
        let codex = AlteredCodex::asked(&here).await;
        let (environment, base_url) = (issuer.environment(), issuer.chatgpt_base_url());
        let mut settings: Vec<_> =
            environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        settings.extend([UPSTREAM_OF_THE_LOGIN, ("PROXY_CHATGPT_BASE_URL", &base_url)]);
        settings.push(("CODEX_BIN", codex.path()));
        let proxy = Proxy::start(&settings).await;
        run(&proxy, &issuer, &["login", "--device-code"]).await;
        let answer = proxy.chat(&ask("Hello")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        Self { proxy, issuer, _codex: codex }
    }
}

#[tokio::test]
async fn a_limit_that_is_reached_says_when_it_is_over() {
    let signed_in = SignedIn::start().await;
    let SignedIn { proxy, issuer, .. } = &signed_in;
    issuer.change(|script| script.used_up = true);
    for stream in [false, true] {
        let answer = proxy.chat(&with(ask("Hello"), json!({"stream": stream}))).await;
        let (status, mut body, retry_after, should_retry) = told(&answer);
        let message = body["error"]["message"].take();
        let (words, time) = message.as_str().unwrap().split_once(", at ").expect("a time");
        assert!(
            words.starts_with("The usage limit of the plan plus is reached; it resets in "),
            "{words}"
        );
        assert_eq!(time, "2036-07-18 13:20 UTC.");
        let expected = json!({"error": {
            "message": null, "type": "rate_limit_error", "param": null, "code": "insufficient_quota",
        }});
        assert_eq!((status, body, should_retry), (429, expected, Some("false")));
        assert!(retry_after.unwrap().parse::<u64>().unwrap() > 1_000);
    }
}

#[tokio::test]
async fn a_login_that_is_not_taken_any_more_says_so() {
    let signed_in = SignedIn::start().await;
    let SignedIn { proxy, issuer, .. } = &signed_in;
    issuer.change(|script| {
        script.unauthorized_responses = u64::MAX;
        script.login_expired = true;
    });
    let answer = proxy.chat(&ask("Hello")).await;
    let (status, body, ..) = told(&answer);
    let words = body["error"]["message"].as_str().unwrap();
    let start = format!(
        "The login of Codex is not accepted any more. Sign in again at http://{}/ or with \
         `codex-completions login`. It says: ",
        proxy.address()
    );
    assert!(words.starts_with(&start), "{words}");
    assert_eq!((status, &body["error"]["code"]), (401, &json!("codex_login_required")));
}

#[tokio::test]
async fn an_unknown_model_has_the_nearest_names_beside_it() {
    let proxy = Proxy::start(&[UPSTREAM_OF_THE_LOGIN]).await;
    for (name, instead) in
        [("gtp-5.5", " Did you mean `gpt-5.5`?"), ("Demo", " Did you mean `demo`?"), ("claude", "")]
    {
        let words =
            format!("The model `{name}` does not exist.{instead} GET /v1/models lists the models.");
        let expected = (404, invalid(&words, "model", "model_not_found"), None, None);
        let answer = proxy.chat(&with(ask("Hello"), json!({"model": name}))).await;
        assert_eq!(told(&answer), expected);
        // The model decides what else a request may have.
        let answer = proxy.chat(&with(ask("Hello"), json!({"model": name, "n": 1_000}))).await;
        assert_eq!(told(&answer), expected);
        let answer = proxy.get(&format!("/v1/models/{name}")).await;
        assert_eq!(told(&answer), expected);
    }
}

#[tokio::test]
async fn what_cannot_be_sent_says_what_can() {
    let settings = [("PROXY_MAX_BODY_BYTES", "2000"), ("PROXY_UNSUPPORTED_TOOLS", "refuse")];
    let proxy = Proxy::start(&settings).await;
    let part = |part: Value| json!({"messages": [{"role": "user", "content": [part]}]});
    for (members, words, param) in [
        (
            json!({"tools": [{"type": "web_search"}]}),
            "Invalid value for 'tools[0].type': 'web_search'. Codex takes no such tool from a \
             client: use tools of type 'function', 'custom' or 'namespace', or let it be left out \
             with PROXY_UNSUPPORTED_TOOLS=ignore.",
            "tools[0].type",
        ),
        (
            part(json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})),
            "The image 'messages[0].content[0].image_url' must be a data URL in base64, such as \
             'data:image/png;base64,…': images are fetched from their address only with \
             PROXY_ALLOW_REMOTE_IMAGES=true.",
            "messages[0].content[0].image_url",
        ),
        (
            part(json!({"type": "file", "file": {}})),
            "Invalid value for 'messages[0].content[0].type': 'file'. Only texts and images can be \
             sent: supported values are 'text', 'image_url', 'input_text', 'output_text', \
             'summary_text', 'input_image', 'refusal'.",
            "messages[0].content[0].type",
        ),
    ] {
        let answer = proxy.chat(&with(ask("Hello"), members)).await;
        assert_eq!(told(&answer), (400, invalid(words, param, "invalid_value"), None, None));
    }
    let json = || Request::post(CHAT).header(CONTENT_TYPE, "application/json");
    let page = format!("http://{}/", proxy.address());
    for (request, body, status, words, code) in [
        (
            json(),
            "x".repeat(2_001),
            413,
            "The request is larger than 2000 bytes (PROXY_MAX_BODY_BYTES). Send a shorter \
             conversation or smaller images.",
            "request_too_large",
        ),
        (
            Request::post(CHAT).header(CONTENT_TYPE, "text/plain"),
            "{}".to_owned(),
            415,
            "The request's body must be JSON, with the header Content-Type: application/json.",
            "unsupported_content_type",
        ),
        (
            json().header(AUTHORIZATION, "Bearer sk-of-somebody-else"),
            "{}".to_owned(),
            401,
            &format!(
                "The API key is missing or wrong. Clients send it as `Authorization: Bearer KEY`. It \
                 is the value of PROXY_API_KEY, or else in the file that the server names when it \
                 starts. See {page}."
            ),
            "invalid_api_key",
        ),
        (
            Request::get(CHAT),
            String::new(),
            405,
            "GET is not possible on this path, only POST.",
            "method_not_allowed",
        ),
    ] {
        let answer = send(&proxy, request, &body).await;
        let expected = error(words, "invalid_request_error", None, code);
        assert_eq!(told(&answer), (status, expected, None, None));
    }
    let answer = proxy.get("/v1/v1/models").await;
    let words = "The path begins with /v1 twice: take one out of the client's base URL. There are ";
    assert!(answer.json()["error"]["message"].as_str().unwrap().starts_with(words), "{answer:?}");
}

#[tokio::test]
async fn failures_of_the_upstream_say_what_to_do() {
    let proxy = Proxy::start(&[]).await;
    for (mark, status, words, r#type, param, code) in [
        (
            "[[http:401]]",
            401,
            "The upstream of PROXY_UPSTREAM_BASE_URL does not accept the key. Look at \
             PROXY_UPSTREAM_API_KEY. It says: Incorrect API key provided.",
            "authentication_error",
            None,
            "codex_login_required",
        ),
        (
            "[[http:400,ctx]]",
            400,
            "The conversation is too long for this model. Shorten it or begin a new one. It says: \
             Your input exceeds the context window of this model. Please adjust your input and try \
             again.",
            "invalid_request_error",
            Some("input"),
            "context_length_exceeded",
        ),
        (
            "[[failed:context_length_exceeded]]",
            400,
            "The conversation is too long for this model. Shorten it or begin a new one.",
            "invalid_request_error",
            None,
            "context_length_exceeded",
        ),
        (
            "[[http:404]]",
            404,
            "The model `x` does not exist. GET /v1/models lists the models.",
            "invalid_request_error",
            None,
            "model_not_found",
        ),
        (
            "[[http:429]]",
            429,
            "The upstream takes no more requests for the moment. Try again in a minute.",
            "rate_limit_error",
            None,
            "rate_limit_exceeded",
        ),
        (
            "[[http:500]]",
            502,
            "The upstream has failed at this request. Try again. It says: We’re currently \
             experiencing high demand, which may cause temporary errors.",
            "server_error",
            None,
            "upstream_error",
        ),
        (
            "[[http:503]]",
            503,
            "The upstream has no room for this model. Try again in a minute. It says: Selected model \
             is at capacity. Please try a different model.",
            "server_error",
            None,
            "overloaded",
        ),
        (
            "[[cut-early]]",
            502,
            "The connection to the upstream broke before the answer was complete. Try again.",
            "server_error",
            None,
            "stream_cut",
        ),
    ] {
        let expected = (status, error(words, r#type, param, code), None, None);
        assert_eq!(told(&proxy.chat(&ask(mark)).await), expected, "{mark}");
    }
}

#[tokio::test]
async fn who_is_turned_away_reads_by_which_limit_and_for_how_long() {
    let settings = [
        ("PROXY_RATE_LIMIT_ENABLED", "true"),
        ("PROXY_RATE_LIMIT_MAX", "2"),
        ("PROXY_RATE_LIMIT_WINDOW_MS", "3600000"),
        ("PROXY_MAX_CONCURRENT_TURNS", "1"),
        ("PROXY_QUEUE_MAX", "0"),
    ];
    let proxy = Proxy::start(&settings).await;
    let mut first = proxy.open(&with(ask("[[hang]]"), json!({"stream": true}))).await;
    first.until("\n\n").await;
    let busy = proxy.chat(&ask("Hello")).await;
    let words = "The server is busy: 1 of 1 turns run, 0 wait, and no more may wait \
                 (PROXY_QUEUE_MAX). Try again in a second; PROXY_MAX_CONCURRENT_TURNS allows more \
                 turns at once.";
    let expected = error(words, "rate_limit_error", None, "queue_full");
    assert_eq!(told(&busy), (429, expected, Some("1"), None));
    let often = proxy.chat(&ask("Hello")).await;
    let words = "This server's own limit is reached: a key may send 2 requests \
                 (PROXY_RATE_LIMIT_MAX) in 1 hour (PROXY_RATE_LIMIT_WINDOW_MS). Try again in 1 \
                 hour.";
    let expected = error(words, "rate_limit_error", None, "rate_limit_exceeded");
    let (status, body, retry_after, should_retry) = told(&often);
    assert_eq!((status, body, should_retry), (429, expected, None));
    assert!((3_500..=3_600).contains(&retry_after.unwrap().parse::<u32>().unwrap()));
}
