//! What a client makes of the deltas that it is sent.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::Value;

/// It appends, or begins again where it is told to.
#[derive(Default)]
pub(crate) struct Client {
    /// The arguments by the calls' ids.
    pub(crate) texts: HashMap<String, String>,
    /// Whether it was ever told to begin again.
    pub(crate) replaced: bool,
}

impl Client {
    /// Each delta must say as a whole what the deltas so far say in parts.
    pub(crate) fn take(&mut self, ingest: &Value) -> Result<(), TestCaseError> {
        let deltas = ingest["deltas"].as_array().unwrap();
        prop_assert_eq!(&ingest["updated"], !deltas.is_empty());
        for delta in deltas {
            let text = self.texts.entry(delta["id"].as_str().unwrap().to_owned()).or_default();
            if delta["replaced"] == true {
                self.replaced = true;
                text.clear();
            }
            text.push_str(delta["appended"].as_str().unwrap());
            prop_assert_eq!(text.as_str(), delta["arguments"].as_str().unwrap());
        }
        Ok(())
    }
}
