use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio_util::task::TaskTracker;

use super::*;
use crate::child_log::EarlyArguments;
use crate::protocol::incoming::LoadedThreads;
use crate::protocol::outgoing::ThreadLoadedList;

/// The other end of a connection, played by the test.
struct Peer {
    connection: Arc<Connection>,
    lines: tokio::io::Lines<BufReader<DuplexStream>>,
    answers: DuplexStream,
    tasks: TaskTracker,
}

impl Peer {
    fn new() -> Self {
        let (connection, _unwanted) = Connection::new(
            Duration::from_millis(500),
            Onlookers::default(),
            EarlyArguments::On,
            Arc::default(),
        );
        let connection = Arc::new(connection);
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (answers, output) = tokio::io::duplex(1 << 20);
        let tasks = TaskTracker::new();
        let writer = Arc::clone(&connection);
        tasks.spawn(async move { writer.outbox().drain_into(ours).await });
        let reader = Arc::clone(&connection);
        tasks.spawn(async move {
            let (Ok(reason) | Err(Damage(reason))) = reader.read(output, 1 << 16).await;
            reader.close(&reason);
        });
        Self { connection, lines: BufReader::new(theirs).lines(), answers, tasks }
    }

    async fn say(&mut self, line: &str) {
        self.answers.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    fn ask(&self) -> tokio::task::JoinHandle<Result<Vec<String>, RequestError>> {
        let connection = Arc::clone(&self.connection);
        self.tasks.spawn(async move {
            connection.request(&ThreadLoadedList {}).await.map(|list: LoadedThreads| list.data)
        })
    }
}

#[tokio::test]
async fn row_7_requests_for_approval_are_declined_and_counted() {
    let mut peer = Peer::new();
    peer.say(r#"{"id":0,"method":"item/commandExecution/requestApproval","params":{}}"#).await;
    assert_eq!(peer.hear().await, json!({"id": 0, "result": {"decision": "decline"}}));
    peer.say(r#"{"id":"a","method":"mcpServer/elicitation/request","params":{}}"#).await;
    assert_eq!(peer.hear().await, json!({"id": "a", "result": {"action": "decline"}}));
    peer.say(r#"{"id":2,"method":"something/new"}"#).await;
    let error = json!({"code": -32601, "message": "not supported by this client"});
    assert_eq!(peer.hear().await, json!({"id": 2, "error": error}));
    assert_eq!(peer.connection.stats().snapshot().declined_requests, 3);
}

/// Otherwise whoever takes the events would seem to be slow, on one thread.
#[tokio::test]
async fn a_burst_leaves_others_their_turn() {
    let (connection, _) = Connection::new(
        Duration::from_millis(500),
        Onlookers::default(),
        EarlyArguments::Off,
        Arc::default(),
    );
    let burst = "{\"method\":\"something/new\"}\n".repeat(100_000);
    let lines_read = || connection.lines_read.load(Ordering::Relaxed);
    let (read, meanwhile) =
        tokio::join!(connection.read(burst.as_bytes(), 1 << 16), async { lines_read() });
    read.unwrap();
    let all = lines_read();
    assert!(all == 100_000 && meanwhile < all / 10, "{meanwhile} of {all}");
}

#[tokio::test]
async fn a_flooded_codex_is_asked_again() {
    let mut peer = Peer::new();
    let asking = peer.ask();
    for _ in 0..2 {
        let id = peer.hear().await["id"].clone();
        peer.say(&format!(r#"{{"id":{id},"error":{{"code":-32001,"message":"later"}}}}"#)).await;
    }
    let id = peer.hear().await["id"].clone();
    peer.say(&format!(r#"{{"id":{id},"result":{{"data":["t"]}}}}"#)).await;
    assert_eq!(asking.await.unwrap(), Ok(vec!["t".to_owned()]));
    assert_eq!(peer.connection.stats().snapshot().flood_retries, 2);
}

#[tokio::test]
async fn a_request_of_the_server_with_our_id_is_not_our_answer() {
    let mut peer = Peer::new();
    let asking = peer.ask();
    let id = peer.hear().await["id"].clone();
    peer.say(&format!(r#"{{"id":{id},"method":"currentTime/read","params":{{}}}}"#)).await;
    assert_eq!(peer.hear().await["id"], id);
    peer.say(&format!(r#"{{"id":{id},"result":{{"data":[]}}}}"#)).await;
    assert_eq!(asking.await.unwrap(), Ok(Vec::new()));
}

#[tokio::test]
async fn a_request_without_an_answer_ends() {
    let peer = Peer::new();
    let method = "thread/loaded/list";
    let after = Duration::from_millis(500);
    assert_eq!(peer.ask().await.unwrap(), Err(RequestError::Timeout { method, after }));
}

#[tokio::test]
async fn an_answer_over_the_limit_fails_its_request_only() {
    let mut peer = Peer::new();
    let asking = peer.ask();
    let id = peer.hear().await["id"].clone();
    let long = "x".repeat(100_000);
    let line = format!(r#"{{"id":{id},"result":{{"data":["{long}"]}}}}"#);
    peer.say(&line).await;
    let method = "thread/loaded/list";
    assert_eq!(asking.await.unwrap(), Err(RequestError::TooLarge { method, bytes: line.len() }));
    assert_eq!(*peer.connection.closed().borrow(), None);
}

#[tokio::test]
async fn rubbish_is_counted_and_survived() {
    let mut peer = Peer::new();
    for line in ["", "not JSON", "[]", r#"{"id":99,"result":{}}"#, r#"{"method":"new/thing"}"#] {
        peer.say(line).await;
    }
    peer.answers.write_all(b"\xff\xfe\n").await.unwrap();
    let asking = peer.ask();
    let id = peer.hear().await["id"].clone();
    peer.say(&format!(r#"{{"id":{id},"result":{{"data":[]}}}}"#)).await;
    assert_eq!(asking.await.unwrap(), Ok(Vec::new()));
    let stats = peer.connection.stats().snapshot();
    assert_eq!((stats.unreadable_messages, stats.unclaimed_responses), (4, 1));
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_request_only() {
    let mut peer = Peer::new();
    let (first, second) = (peer.ask(), peer.ask());
    let ids = [peer.hear().await["id"].clone(), peer.hear().await["id"].clone()];
    let mut answer =
        format!("{{\"id\":{},\"result\":{{\"data\":[\"?\"]}}}}\n", ids[0]).into_bytes();
    for byte in answer.iter_mut().filter(|byte| **byte == b'?') {
        *byte = 0xff;
    }
    peer.answers.write_all(&answer).await.unwrap();
    peer.say(&format!(r#"{{"id":{},"result":{{"data":[]}}}}"#, ids[1])).await;
    let error = first.await.unwrap().unwrap_err();
    assert!(matches!(error, RequestError::Unreadable { .. }), "{error}");
    assert_eq!(second.await.unwrap(), Ok(Vec::new()));
}

/// Half a message can be a part of anybody's answer.
#[tokio::test]
async fn damage_that_is_nobodys_ends_the_connection() {
    for line in [
        r#"{"id":1,"resu"#,
        r#"{"method":"item/agentMessage/delta","params":{"threa"#,
        r#"{"method":"item/agentMessage/delta","params":{"threadId":"T","d{"method":"turn/started"}"#,
        r#"{"method":"item/agentMessage/delta","params":{"threadId":"T","d{"id":1,"result":{}}"#,
    ] {
        let mut peer = Peer::new();
        let asking = peer.ask();
        peer.hear().await;
        peer.say(line).await;
        let error = asking.await.unwrap().unwrap_err();
        let RequestError::ChildGone(reason) = error else { panic!("{error}") };
        assert!(reason.contains("not understood"), "{reason}");
    }
}

#[tokio::test]
async fn damage_of_one_thread_leaves_the_connection_alone() {
    let mut peer = Peer::new();
    peer.say(r#"{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId"#).await;
    peer.answers
        .write_all(b"{\"params\":{\"threadId\":\"T\",\"delta\":\"\xff\"}}\n")
        .await
        .unwrap();
    let asking = peer.ask();
    let id = peer.hear().await["id"].clone();
    peer.say(&format!(r#"{{"id":{id},"result":{{"data":[]}}}}"#)).await;
    assert_eq!(asking.await.unwrap(), Ok(Vec::new()));
    assert_eq!(peer.connection.stats().snapshot().unreadable_messages, 2);
}

#[tokio::test]
async fn everybody_is_told_when_the_child_goes() {
    let mut peer = Peer::new();
    let asking = peer.ask();
    peer.hear().await;
    drop(peer.answers);
    let gone = RequestError::ChildGone("Codex has closed its output".into());
    assert_eq!(asking.await.unwrap(), Err(gone.clone()));
    let late: Result<LoadedThreads, _> = peer.connection.request(&ThreadLoadedList {}).await;
    assert_eq!(late.unwrap_err(), gone);
}

#[tokio::test]
async fn other_notifications_are_kept_as_they_came() {
    let mut peer = Peer::new();
    let mut heard = peer.connection.notifications();
    peer.say(r#"{"method":"account/updated","params":{"planType": "plus"},"emittedAtMs":1}"#).await;
    let notification = heard.recv().await.unwrap();
    assert_eq!(notification.method, "account/updated");
    assert_eq!(notification.params.unwrap().get(), r#"{"planType": "plus"}"#);
}

/// Codex would have it for good.
#[tokio::test]
async fn a_thread_that_comes_when_nobody_waits_for_it_is_let_go() {
    let (connection, mut unwanted) = Connection::new(
        Duration::from_millis(500),
        Onlookers::default(),
        EarlyArguments::Off,
        Arc::default(),
    );
    let lines = concat!(
        r#"{"id":7,"result":{"data":["t-0"]}}"#,
        "\n",
        r#"{"id":8,"result":{"thread":{"id":"t-1","turns":[]},"model":"m"}}"#,
        "\n",
    );
    connection.read(lines.as_bytes(), 1 << 16).await.unwrap();
    let Some(Unwanted::Thread(thread)) = unwanted.recv().await else { panic!("another thing") };
    assert_eq!(thread.as_str(), "t-1");
    assert!(unwanted.try_recv().is_err(), "nothing else is unwanted");
    assert_eq!(connection.stats().snapshot().unclaimed_responses, 2);
}
