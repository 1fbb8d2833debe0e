//! Every message that we send is valid in the schema that the installed Codex generates, and every
//! field that we read exists in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use codex_app_server::account::LoginMethod;
use codex_app_server::protocol::incoming;
use codex_app_server::protocol::outgoing::{
    AccountRead, Initialize, LoginCancel, LoginStart, Logout, ModelList, RateLimitsRead, Request,
    ThreadInjectItems, ThreadLoadedList, ThreadStart, ThreadUnsubscribe, TurnInterrupt, TurnStart,
    refusal,
};
use codex_app_server::turn::event::{TurnEnd, TurnEvent};
use codex_app_server::{
    Client, ContentPart, Direction, HistoryItem, Role, ToolOutput, Upstream, WireTap,
};
use jsonschema::Validator;
use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Outcome, ScriptedIssuer, TestCodex, codex_binary, tools};
use tokio::process::Command;

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The schema of the installed Codex, a file for each type.
struct Schemas {
    folder: TempDir,
    /// The two large files, read when they are needed.
    requests: OnceLock<Value>,
    types: OnceLock<Value>,
}

/// A struct or an enum of ours: its name, and its fields or variants as they are on the wire.
#[derive(Debug)]
struct Read {
    name: &'static str,
    fields: &'static [&'static str],
}

/// Says which fields a type asks for, and gives none.
struct Asked<'a>(&'a mut Option<Read>);

// === impl Schemas ===

impl Schemas {
    async fn generate() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = tempfile::tempdir().expect("a temporary folder");
        let output = Command::new(codex_binary().await.path())
            .args(["app-server", "generate-json-schema", "--experimental"])
            .arg("--out")
            .arg(folder.path())
            .env("CODEX_HOME", home.path())
            .output()
            .await
            .expect("Codex runs");
        assert!(output.status.success(), "{output:?}");
        Self { folder, requests: OnceLock::new(), types: OnceLock::new() }
    }

    fn file(&self, name: &str) -> Value {
        let path = self.folder.path().join(format!("{name}.json"));
        let text = std::fs::read(&path).unwrap_or_else(|error| panic!("no {name}.json: {error}"));
        serde_json::from_slice(&text).expect("a schema is JSON")
    }

    /// The schema of a type, with everything that it refers to.
    fn of(&self, name: &str) -> Value {
        let types = || self.file("codex_app_server_protocol.v2.schemas");
        let types = self.types.get_or_init(types);
        match types["definitions"].get(name) {
            Some(schema) => with_definitions(schema.clone(), types),
            None if self.folder.path().join(format!("v1/{name}.json")).exists() => {
                self.file(&format!("v1/{name}"))
            }
            None => self.file(name),
        }
    }

    /// What is wrong with a message of ours.
    fn faults(&self, message: &Value) -> Vec<String> {
        let requests = || self.requests.get_or_init(|| self.file("ClientRequest"));
        let schema = match (message.get("method"), message.get("id")) {
            (Some(_), Some(_)) => variant(requests(), "method", message),
            (Some(_), None) => variant(&self.file("ClientNotification"), "method", message),
            (None, _) => Some(self.file("JSONRPCError")),
        };
        faults(schema, message)
    }

    /// What is wrong with an item of a history, which the schema of the requests leaves open.
    fn faults_of_item(&self, item: &Value) -> Vec<String> {
        faults(variant(&self.of("ResponseItem"), "type", item), item)
    }

    /// The methods in one of the lists of requests or notifications.
    fn methods(&self, list: &str) -> BTreeSet<String> {
        variants(&self.file(list)).filter_map(|variant| tag(variant, "method")).collect()
    }
}

// === impl Asked ===

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.0 = Some(Read { name, fields });
        Err(Error::custom("nothing to read"))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_struct(name, variants, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("neither a struct nor an enum"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn read_by<'de, T: Deserialize<'de>>() -> Read {
    let mut read = None;
    let nothing = T::deserialize(Asked(&mut read));
    assert!(nothing.is_err());
    read.expect("a struct or an enum")
}

fn with_definitions(mut schema: Value, whole: &Value) -> Value {
    for key in ["$schema", "definitions"] {
        if let Some(value) = whole.get(key) {
            schema[key] = value.clone();
        }
    }
    schema
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["oneOf"].as_array().expect("a list of variants").iter()
}

fn tag(variant: &Value, name: &str) -> Option<String> {
    let tag = variant["properties"][name]["enum"][0].as_str()?;
    Some(tag.to_owned())
}

/// The schema of the variant that a message says it is.
fn variant(schema: &Value, name: &str, message: &Value) -> Option<Value> {
    variants(schema)
        .find(|variant| tag(variant, name).as_deref() == message[name].as_str())
        .map(|variant| with_definitions(variant.clone(), schema))
}

fn faults(schema: Option<Value>, message: &Value) -> Vec<String> {
    let Some(schema) = schema else {
        return vec![format!("no such variant: {message}")];
    };
    strict(schema)
        .iter_errors(message)
        .map(|error| format!("{} at {:?}", error, error.instance_path().to_string()))
        .collect()
}

fn strict(mut schema: Value) -> Validator {
    forbid_unknown_fields(&mut schema);
    jsonschema::validator_for(&schema).expect("a valid schema")
}

/// The generated schema lets any further field pass, as Codex itself does.
fn forbid_unknown_fields(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let common = object
                .get("properties")
                .and_then(Value::as_object)
                .cloned()
                .filter(|_| !object.contains_key("additionalProperties"));
            match (common, object.get_mut("anyOf").and_then(Value::as_array_mut)) {
                // Every alternative would reject the fields that stand beside the alternatives.
                (Some(common), Some(alternatives)) => {
                    for alternative in alternatives {
                        let own = alternative["properties"].as_object_mut();
                        own.expect("an alternative of fields").extend(common.clone());
                    }
                }
                (Some(_), None) => {
                    object.insert("additionalProperties".to_owned(), false.into());
                }
                (None, _) => {}
            }
            object.values_mut().for_each(forbid_unknown_fields);
        }
        Value::Array(array) => array.iter_mut().for_each(forbid_unknown_fields),
        _ => {}
    }
}

/// Names of all properties of a type; of a type with variants, those of any of them.
fn properties(schema: &Value) -> BTreeSet<&str> {
    let alternatives =
        ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array()).flatten();
    let own = schema["properties"].as_object();
    own.into_iter()
        .flat_map(|own| own.keys().map(String::as_str))
        .chain(alternatives.flat_map(properties))
        .collect()
}

fn tapped_lines() -> (WireTap, Arc<Mutex<Vec<Value>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let tap: WireTap = Arc::new({
        let lines = Arc::clone(&lines);
        move |direction, line: &[u8]| {
            if direction == Direction::ToCodex {
                let message = serde_json::from_slice(line).expect("we send JSON");
                lines.lock().expect("no panic elsewhere").push(message);
            }
        }
    });
    (tap, lines)
}

fn history_of_everything(last_words: &str) -> Vec<HistoryItem> {
    let words_and_image =
        || vec![ContentPart::Text("look".to_owned()), ContentPart::Image { url: PIXEL.to_owned() }];
    let call = |id: &str, name: &str| HistoryItem::ToolCall {
        call_id: id.to_owned(),
        name: name.to_owned(),
        arguments: r#"{"city": "Paris"}"#.to_owned(),
    };
    let output = |id: &str, output| HistoryItem::ToolOutput { call_id: id.to_owned(), output };
    vec![
        HistoryItem::text(Role::Developer, "Be brief."),
        HistoryItem::Message { role: Role::User, content: words_and_image() },
        HistoryItem::Reasoning {
            summary: vec!["Need the weather".to_owned()],
            encrypted_content: "c2VjcmV0".to_owned(),
        },
        HistoryItem::text(Role::Assistant, "Let me see."),
        call("call_1", "get_weather"),
        call("call_2", "mcp__git__log"),
        output("call_1", ToolOutput::Text("rain".to_owned())),
        output("call_2", ToolOutput::Parts(words_and_image())),
        HistoryItem::text(Role::User, last_words),
    ]
}

/// Everything about the account but a browser login, which needs a port that others may use.
async fn use_the_account(client: &Client) {
    client.login_with_api_key("sk-own").await.expect("a login");
    let mut login = client.login(LoginMethod::DeviceCode).await.expect("a login");
    login.finished().await.expect("a good end");
    client.refresh_account().await.expect("an answer");
    client.rate_limits().await.expect("an answer");
    client.logout().await.expect("a logout");
    login.cancel().await.expect("an answer");
}

/// Everything that we send in a session in which everything is used.
async fn sent_in_a_session() -> Vec<Value> {
    let (tap, lines) = tapped_lines();
    let issuer = ScriptedIssuer::start().await;
    let codex = TestCodex::with(|config| {
        issuer.configure(config);
        config.tap = Some(tap);
        config.limits.probe_after = Some(Duration::from_millis(50));
    })
    .await;

    let mut everything = codex.ask("");
    everything.instructions = "You are a test.".to_owned();
    everything.history = history_of_everything("[[tool]]");
    everything.tools = tools(&["get_weather", "mcp__git__log"]);
    everything.effort = Some("high".to_owned());
    everything.summary = Some("detailed".to_owned());
    everything.output_schema = Some(json!({"type": "object", "properties": {}}));
    everything.upstream =
        Some(Upstream { base_url: codex.model.base_url(), api_key: Some("sk-own".to_owned()) });
    let outcome = codex.run(everything).await;
    assert_eq!(outcome.end, Ok(TurnEnd::ToolCalls));

    let mut endless = codex.client.start_turn(codex.ask("[[hang]]")).expect("a valid turn");
    assert!(matches!(endless.next().await, Some(TurnEvent::Text(_))));
    endless.interrupt();
    assert_eq!(Outcome::of(endless).await.end, Ok(TurnEnd::Interrupted));

    let mut cut = codex.ask("[[call-cut]]");
    cut.tools = tools(&["get_weather"]);
    assert!(codex.run(cut).await.end.is_err());

    codex.client.loaded_threads().await.expect("an answer");
    codex.client.models().await.expect("an answer");
    use_the_account(&codex.client).await;
    codex.client.shutdown().await;
    let lines = lines.lock().expect("no panic elsewhere");
    lines.clone()
}

#[tokio::test]
async fn every_message_that_we_send_is_valid() {
    let (schemas, sent) = tokio::join!(Schemas::generate(), sent_in_a_session());
    let faults: Vec<_> = sent
        .iter()
        .map(|message| (message, schemas.faults(message)))
        .filter(|(_, faults)| !faults.is_empty())
        .collect();
    assert_eq!(faults, []);

    let methods: BTreeSet<_> = sent.iter().map(|sent| sent["method"].as_str()).collect();
    let expected = [
        // The answer to a call that was probed.
        None,
        Some("initialized"),
        Some(Initialize::METHOD),
        Some(ThreadStart::METHOD),
        Some(ThreadInjectItems::METHOD),
        Some(TurnStart::METHOD),
        Some(TurnInterrupt::METHOD),
        Some(ThreadUnsubscribe::METHOD),
        Some(ThreadLoadedList::METHOD),
        Some(ModelList::METHOD),
        Some(AccountRead::METHOD),
        Some(LoginStart::METHOD),
        Some(LoginCancel::METHOD),
        Some(Logout::METHOD),
        Some(RateLimitsRead::METHOD),
    ];
    assert_eq!(methods, BTreeSet::from(expected));
    let logins = sent.iter().filter(|sent| sent["method"] == LoginStart::METHOD);
    let logins: BTreeSet<_> = logins.map(|sent| sent["params"]["type"].as_str()).collect();
    assert_eq!(logins, BTreeSet::from([Some("apiKey"), Some("chatgptDeviceCode")]));
    let browser = json!({"id": 1, "method": LoginStart::METHOD, "params": LoginStart::Chatgpt});
    assert_eq!(schemas.faults(&browser), [""; 0]);
}

#[tokio::test]
async fn every_item_that_we_inject_is_valid() {
    let (schemas, sent) = tokio::join!(Schemas::generate(), sent_in_a_session());
    let items: Vec<&Value> =
        sent.iter().filter_map(|message| message["params"]["items"].as_array()).flatten().collect();
    for item in &items {
        assert_eq!(schemas.faults_of_item(item), [""; 0], "{item}");
    }
    let types: BTreeSet<_> = items.iter().map(|item| item["type"].as_str()).collect();
    let expected = ["message", "function_call", "function_call_output", "reasoning"];
    assert_eq!(types, expected.map(Some).into());
}

#[tokio::test]
async fn a_message_with_a_field_that_codex_does_not_know_is_not_valid() {
    let schemas = Schemas::generate().await;
    let valid = json!({
        "id": 1,
        "method": "thread/start",
        "params": {
            "ephemeral": true,
            "dynamicTools": [
                {"type": "function", "name": "a", "description": "", "inputSchema": {}},
            ],
        },
    });
    assert_eq!(schemas.faults(&valid), [""; 0]);
    let changes: [fn(&mut Value); 7] = [
        |message| message["invented"] = true.into(),
        |message| message["params"]["invented"] = true.into(),
        |message| message["params"]["base_instructions"] = "".into(),
        |message| message["params"]["ephemeral"] = "yes".into(),
        |message| message["params"]["dynamicTools"][0]["parameters"] = json!({}),
        |message| message["params"]["sandbox"] = "readOnly".into(),
        |message| message["method"] = "thread/begin".into(),
    ];
    for change in changes {
        let mut invalid = valid.clone();
        change(&mut invalid);
        assert_ne!(schemas.faults(&invalid), [""; 0], "{invalid}");
    }
    let part = json!({"type": "input_image", "image_url": PIXEL, "detail": "high"});
    let item = |part: &Value| json!({"type": "message", "role": "user", "content": [part]});
    assert_eq!(schemas.faults_of_item(&item(&part)), [""; 0]);
    let mut invalid = part;
    invalid["invented"] = true.into();
    assert_ne!(schemas.faults_of_item(&item(&invalid)), [""; 0]);
}

#[tokio::test]
async fn the_notifications_that_we_do_not_want_exist() {
    let (tap, lines) = tapped_lines();
    let codex = TestCodex::with(|config| config.tap = Some(tap)).await;
    codex.client.shutdown().await;
    let lines = lines.lock().expect("no panic elsewhere").clone();
    let unwanted = &lines[0]["params"]["capabilities"]["optOutNotificationMethods"];
    let known = Schemas::generate().await.methods("ServerNotification");
    let unknown: Vec<_> = unwanted
        .as_array()
        .expect("a list")
        .iter()
        .filter(|method| !method.as_str().is_some_and(|name| known.contains(name)))
        .collect();
    assert_eq!(unknown, [&Value::Null; 0]);
}

#[tokio::test]
async fn every_refusal_is_a_valid_answer() {
    let schemas = Schemas::generate().await;
    let requests: BTreeMap<String, String> = variants(&schemas.file("ServerRequest"))
        .filter_map(|variant| {
            let params = variant["properties"]["params"]["$ref"].as_str()?;
            let params = params.rsplit('/').next()?.strip_suffix("Params")?;
            Some((tag(variant, "method")?, params.to_owned()))
        })
        .collect();
    let asks_a_person = |method: &str| {
        ["Approval", "requestUserInput", "elicitation/request"]
            .iter()
            .any(|ending| method.ends_with(ending))
    };
    let mut invalid = Vec::new();
    for (method, name) in &requests {
        assert_eq!(refusal(method).is_some(), asks_a_person(method), "who says no to {method}?");
        let Some(answer) = refusal(method) else { continue };
        let answer: Value = serde_json::from_str(answer).expect("JSON");
        let schema = schemas.file(&format!("{name}Response"));
        invalid.extend(faults(Some(schema), &answer).into_iter().map(|fault| (method, fault)));
    }
    assert_eq!(invalid, []);

    let refused: Vec<_> =
        requests.keys().map(String::as_str).filter(|method| refusal(method).is_some()).collect();
    let expected = [
        "applyPatchApproval",
        "execCommandApproval",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "item/permissions/requestApproval",
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
    ];
    assert_eq!(refused, expected);
}

#[tokio::test]
async fn every_field_that_we_read_exists() {
    let schemas = Schemas::generate().await;
    let table = [
        (read_by::<incoming::Initialized>(), "InitializeResponse"),
        (read_by::<incoming::ThreadStarted>(), "ThreadStartResponse"),
        (read_by::<incoming::Thread>(), "Thread"),
        (read_by::<incoming::TurnStartResult>(), "TurnStartResponse"),
        (read_by::<incoming::LoadedThreads>(), "ThreadLoadedListResponse"),
        (read_by::<incoming::Models>(), "ModelListResponse"),
        (read_by::<incoming::Model>(), "Model"),
        (read_by::<incoming::ReasoningEffortOption>(), "ReasoningEffortOption"),
        (read_by::<incoming::AccountRead>(), "GetAccountResponse"),
        (read_by::<incoming::AccountInfo>(), "Account"),
        (read_by::<incoming::LoginStarted>(), "LoginAccountResponse"),
        (read_by::<incoming::LoginCompleted>(), "AccountLoginCompletedNotification"),
        (read_by::<incoming::AccountUpdated>(), "AccountUpdatedNotification"),
        (read_by::<incoming::AuthRecovery>(), "AuthRecoveryNotification"),
        (read_by::<incoming::RateLimitsRead>(), "GetAccountRateLimitsResponse"),
        (read_by::<incoming::RateLimitsRead>(), "AccountRateLimitsUpdatedNotification"),
        (read_by::<incoming::RateLimitSnapshot>(), "RateLimitSnapshot"),
        (read_by::<incoming::RateLimitWindow>(), "RateLimitWindow"),
        (read_by::<incoming::CreditsSnapshot>(), "CreditsSnapshot"),
        (read_by::<incoming::TurnState>(), "Turn"),
        (read_by::<incoming::TurnError>(), "TurnError"),
        (read_by::<incoming::TurnNotification<'_>>(), "TurnStartedNotification"),
        (read_by::<incoming::TurnNotification<'_>>(), "TurnCompletedNotification"),
        (read_by::<incoming::AgentMessageDelta<'_>>(), "AgentMessageDeltaNotification"),
        (read_by::<incoming::ReasoningSummaryDelta<'_>>(), "ReasoningSummaryTextDeltaNotification"),
        (read_by::<incoming::ReasoningTextDelta<'_>>(), "ReasoningTextDeltaNotification"),
        (read_by::<incoming::ItemNotification<'_>>(), "ItemStartedNotification"),
        (read_by::<incoming::ItemNotification<'_>>(), "ItemCompletedNotification"),
        (read_by::<incoming::ThreadItem<'_>>(), "ThreadItem"),
        (read_by::<incoming::RawItemNotification<'_>>(), "RawResponseItemCompletedNotification"),
        (read_by::<incoming::RawItem<'_>>(), "ResponseItem"),
        (read_by::<incoming::RawResponseCompleted<'_>>(), "RawResponseCompletedNotification"),
        (read_by::<incoming::TokenUsage>(), "TokenUsageBreakdown"),
        (read_by::<incoming::ErrorNotification<'_>>(), "ErrorNotification"),
        (read_by::<incoming::ToolCallRequest<'_>>(), "DynamicToolCallParams"),
    ];
    for (read, definition) in &table {
        let schema = schemas.of(definition);
        let known = properties(&schema);
        assert!(!read.fields.is_empty(), "{read:?}");
        for field in read.fields {
            assert!(known.contains(field), "{}.{field} in {definition}", read.name);
        }
    }

    let source = include_str!("../../../codex-app-server/src/protocol/incoming.rs");
    let structs: BTreeSet<_> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub struct "))
        .filter_map(|rest| rest.split(['<', ' ', '(']).next())
        // A string, whatever field it is the value of.
        .filter(|name| *name != "Text")
        .collect();
    let in_table: BTreeSet<_> = table.iter().map(|(read, _)| read.name).collect();
    assert_eq!(structs, in_table, "a struct is missing in the table");
}

#[tokio::test]
async fn every_status_that_we_read_exists_and_there_is_no_other() {
    let schemas = Schemas::generate().await;
    let read = read_by::<incoming::TurnStatus>();
    let schema = schemas.of("TurnStatus");
    let known = schema["enum"].as_array().expect("names of statuses");
    let known: BTreeSet<_> = known.iter().filter_map(Value::as_str).collect();
    assert_eq!(read.fields.iter().copied().collect::<BTreeSet<_>>(), known);
}
