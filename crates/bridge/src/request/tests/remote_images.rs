//! Images that are named by their address.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model_turn::{ContentPart, HistoryItem, Role, ToolOutput};
use openai_wire::ApiError;
use serde_json::{Value, json};

use super::{PIXEL, calls, image, prepare_with, result, with};
use crate::policy::{RemoteImages, TurnSettings};
use crate::request::{ImageToFetch, Prepared};

fn prepare(remote_images: RemoteImages, messages: &Value) -> Result<Prepared, ApiError> {
    let settings = TurnSettings { remote_images, ..TurnSettings::default() };
    prepare_with(&settings, &with(&json!({"messages": messages})))
}

fn shown(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

#[test]
fn they_are_replaced_in_their_order() {
    let messages = json!([
        {"role": "user", "content": ["see", shown(PIXEL), shown("https://a.example/1?key=s")]},
        calls(&["1"]),
        result("1", json!([shown("HTTP://b.example/2"), shown(PIXEL), "there"])),
        {"role": "user", "content": [shown("http://a.example/1")]},
    ]);
    let mut prepared =
        prepare(RemoteImages::Fetched, &messages).expect("a request that can be served");
    let to_fetch = |place: &str, url: &str| ImageToFetch {
        place: format!("messages{place}.image_url"),
        url: url.to_owned(),
    };
    let expected = [
        to_fetch("[0].content[2]", "https://a.example/1?key=s"),
        to_fetch("[2].content[0]", "HTTP://b.example/2"),
        to_fetch("[3].content[0]", "http://a.example/1"),
    ];
    assert_eq!(prepared.images_to_fetch, expected);

    let images = ["data:1", "data:2", "data:3"].map(str::to_owned);
    assert_eq!(prepared.put_images(images.to_vec()), Ok(()));
    let fetched = |url: &str| ContentPart::Image { url: url.to_owned() };
    let text = |text: &str| ContentPart::Text(text.to_owned());
    let parts = vec![fetched("data:2"), image(), text("there")];
    let items = &prepared.turn.history;
    let said = |content| HistoryItem::Message { role: Role::User, content, phase: None };
    assert_eq!(items[0], said(vec![text("see"), image(), fetched("data:1")]));
    assert_eq!(
        items[2],
        HistoryItem::ToolOutput { call_id: "1".to_owned(), output: ToolOutput::Parts(parts) }
    );
    assert_eq!(items[3], said(vec![fetched("data:3")]));
    assert_eq!(prepared.images_to_fetch, []);
}

#[test]
fn what_is_refused_says_what_is_allowed() {
    let switch = "only with PROXY_ALLOW_REMOTE_IMAGES=true";
    let address = "or an http or https address";
    for (setting, url, allowed) in [
        (RemoteImages::Refused, "https://a.example/1", switch),
        (RemoteImages::Refused, "HTTP://a.example/1", switch),
        (RemoteImages::Fetched, "ftp://a.example/1", address),
        (RemoteImages::Fetched, "file:///etc/passwd", address),
        (RemoteImages::Fetched, "//a.example/1", address),
        (RemoteImages::Fetched, "data:image/png,abc", address),
        (RemoteImages::Fetched, "", address),
    ] {
        let messages = json!([{"role": "user", "content": [shown(url)]}]);
        let error = prepare(setting, &messages).expect_err(url);
        assert_eq!(error.param.as_deref(), Some("messages[0].content[0].image_url"), "{url}");
        assert_eq!(error.code.as_deref(), Some("invalid_value"), "{url}");
        assert!(error.message.contains(allowed), "{url}: {}", error.message);
    }
    // Whoever may not show images may not have them fetched either.
    let messages = json!([{"role": "system", "content": [shown("https://a.example/1")]}]);
    let error = prepare(RemoteImages::Fetched, &messages).expect_err("text only");
    assert!(error.message.contains("in user messages"), "{}", error.message);
}

/// They count together with those that the request has as data.
#[test]
fn row_6_fetched_images_of_too_many_pixels() {
    // 7000 x 7000.
    let gif = STANDARD.encode(b"GIF89a\x58\x1b\x58\x1b\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0");
    let gif = format!("data:image/gif;base64,{gif}");
    let address = "https://a.example/1";
    let messages =
        json!([{"role": "user", "content": [shown(&gif), shown(address), shown(address)]}]);
    let mut prepared =
        prepare(RemoteImages::Fetched, &messages).expect("a request that can be served");
    let error = prepared.put_images(vec![gif.clone(), gif]).expect_err("too many pixels");
    assert_eq!(error.param.as_deref(), Some("messages[0].content[2].image_url"));
    assert_eq!(error.code.as_deref(), Some("image_too_large"));
    assert!(error.message.contains("147000000 pixels"), "{}", error.message);
}
