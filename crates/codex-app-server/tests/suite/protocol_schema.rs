//! Every message that we send is valid in the schema that the installed Codex generates, and every
//! field that we read exists in it.

mod schemas;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use codex_app_server::account::LoginMethod;
use codex_app_server::protocol::incoming;
use codex_app_server::protocol::outgoing::{
    AccountRead, Initialize, LoginCancel, LoginStart, Logout, ModelList, RateLimitsRead, Request,
    ThreadInjectItems, ThreadLoadedList, ThreadStart, ThreadUnsubscribe, TurnInterrupt, TurnStart,
    refusal,
};
use codex_app_server::{Client, Direction, WireTap};
use model_turn::{ContentPart, HistoryItem, Role, ToolOutput, TurnEnd, Upstream};
use serde_json::{Value, json};
use testkit::{Outcome, ScriptedIssuer, TestCodex, tools};

use schemas::{Schemas, faults, properties, read_by, tag, variants};

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

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
    let call = |id: &str, name: &str| HistoryItem::function_call(id, name, r#"{"city": "Paris"}"#);
    let output = |id: &str, output| HistoryItem::ToolOutput { call_id: id.to_owned(), output };
    vec![
        HistoryItem::text(Role::Developer, "Be brief."),
        HistoryItem::Message { role: Role::User, content: words_and_image(), phase: None },
        HistoryItem::Reasoning {
            expendable: false,
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
        config.turns.limits.probe_after = Some(Duration::from_millis(50));
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

    let endless = codex.hanging_turn().await;
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
        (read_by::<incoming::Identified>(), "Thread"),
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
        (read_by::<incoming::SummaryPart>(), "ReasoningItemReasoningSummary"),
        (read_by::<incoming::RawResponseCompleted<'_>>(), "RawResponseCompletedNotification"),
        (read_by::<model_turn::TokenUsage>(), "TokenUsageBreakdown"),
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

    let source = include_str!("../../src/protocol/incoming.rs");
    let structs: BTreeSet<_> = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub struct "))
        .filter_map(|rest| rest.split(['<', ' ', '(']).next())
        // A string, whatever field it is the value of.
        .filter(|name| *name != "Text")
        // Read as it is by `model-turn`.
        .chain(["TokenUsage"])
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
