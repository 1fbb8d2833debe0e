//! Responses that clients come back to.

mod conversations;
mod forgotten;
mod from_0_1_0;
mod keys;
mod shown;
mod survival;
mod without_database;

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use scripted_model::ScriptedModel;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Answer;
use crate::proxy::Proxy;
use crate::to_the_model::line;

/// A data folder and a model that outlive the servers that use them.
struct Home {
    folder: TempDir,
    model: ScriptedModel,
}

// === impl Home ===

impl Home {
    async fn new() -> Self {
        let model = ScriptedModel::start().await.unwrap();
        Self { folder: tempfile::tempdir().unwrap(), model }
    }

    async fn start(&self) -> Proxy {
        self.start_with(&[]).await
    }

    async fn start_with(&self, settings: &[(&str, &str)]) -> Proxy {
        let (folder, model) = (self.folder.path().to_str().unwrap(), self.model.base_url());
        let of_home = [("PROXY_DATA_DIR", folder), ("PROXY_UPSTREAM_BASE_URL", &model)];
        Proxy::start(&[&of_home, settings].concat()).await
    }

    /// The items of the newest request that the model has received, a line each.
    fn seen(&self) -> Vec<String> {
        let request = self.model.last_request().expect("a request");
        request.body["input"].as_array().expect("a list of items").iter().map(line).collect()
    }
}

/// Where the responses are.
fn database(folder: &Path) -> PathBuf {
    folder.join("store/codex-completions.sqlite3")
}

fn connect(folder: &Path) -> Connection {
    Connection::open(database(folder)).unwrap()
}

/// No response is found under this id by its path.
fn assert_unknown(answer: &Answer) {
    assert_eq!(answer.error(), (404, Value::Null, json!("response_not_found")), "{answer:?}");
}

/// None is found to go on from.
fn assert_no_previous(answer: &Answer) {
    let expected = (400, json!("previous_response_id"), json!("previous_response_not_found"));
    assert_eq!(answer.error(), expected, "{answer:?}");
}
