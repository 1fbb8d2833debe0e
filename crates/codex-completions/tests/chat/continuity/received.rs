//! What the model has received, made comparable.

use scripted_model::{RecordedRequest, ScriptedModel};
use serde_json::Value;
use testkit::OF_THE_TURN;

/// Items that a kept thread has besides: the model's thoughts, and Codex's note of its settings.
const ITEMS: [&str; 2] = ["reasoning", "configuration_update"];

/// Members that the model's own items have, and injected ones have not.
const MEMBERS: [&str; 4] =
    ["id", "status", "annotations", "internal_chat_message_metadata_passthrough"];

/// A request that the model has received.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Received {
    body: Value,
}

// === impl Received ===

impl Received {
    /// The newest one.
    pub(super) fn last(model: &ScriptedModel) -> Self {
        Self::new(model.last_request().expect("a request"))
    }

    pub(super) fn new(request: RecordedRequest) -> Self {
        Self { body: request.body }
    }

    /// Which thread it came from.
    pub(super) fn cache_key(&self) -> &str {
        self.body["prompt_cache_key"].as_str().expect("a key")
    }

    /// Its items, exactly as they came.
    pub(super) fn input(&self) -> &[Value] {
        self.body["input"].as_array().expect("a list of items")
    }

    /// How many items of this type there are.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.input().iter().filter(|item| item["type"] == kind).count()
    }

    /// All of it as text.
    pub(super) fn text(&self) -> String {
        self.body.to_string()
    }

    /// What must not depend on the thread: everything, without what is named above.
    pub(super) fn comparable(&self) -> Value {
        let mut body = self.body.clone();
        let items = body["input"].as_array_mut().expect("a list of items");
        items.retain(|item| !ITEMS.contains(&item["type"].as_str().unwrap_or_default()));
        for item in items {
            forget(item, &MEMBERS);
            let parts = item.get_mut("content").and_then(Value::as_array_mut);
            parts.into_iter().flatten().for_each(|part| forget(part, &MEMBERS));
        }
        let metadata = &mut body["client_metadata"]["x-codex-turn-metadata"];
        let text = metadata.as_str().expect("metadata as text");
        *metadata = serde_json::from_str(text).expect("metadata as JSON");
        forget(metadata, &OF_THE_TURN);
        forget(&mut body["client_metadata"], &OF_THE_TURN);
        forget(&mut body, &OF_THE_TURN);
        body
    }
}

fn forget(object: &mut Value, members: &[&str]) {
    let object = object.as_object_mut().expect("an object");
    object.retain(|name, _| !members.contains(&name.as_str()));
}
