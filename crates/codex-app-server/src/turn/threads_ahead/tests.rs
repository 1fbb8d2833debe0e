//! A thread's time, with a child that the test plays; what real ones do is in the integration tests.

use serde_json::{Map, Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader, DuplexStream, Lines};

use super::*;
use crate::connection::played::PlayedConnection;
use crate::login_file::LoginFile;

/// The child, and the threads that are started ahead in it.
struct Played {
    threads: Arc<ThreadsAhead>,
    asked: Lines<BufReader<DuplexStream>>,
    answers: DuplexStream,
    tasks: TaskTracker,
    _home: tempfile::TempDir,
}

impl Played {
    fn new(kept_for: Duration) -> Self {
        let PlayedConnection { connection, lines: asked, answers, unwanted, tasks } =
            PlayedConnection::new(Duration::from_secs(30));
        let tidier = Arc::clone(&connection);
        tasks.spawn(async move { tidier.let_go_of_all(unwanted).await });
        let home = tempfile::tempdir().unwrap();
        let login = LoginWatch::over(LoginFile::in_home(home.path()));
        let mut threads = ThreadsAhead::new(1, &connection, &login, &tasks);
        threads.kept_for = kept_for;
        let threads = Arc::new(threads);
        Self { threads, asked, answers, tasks, _home: home }
    }

    /// The next request, of this method.
    async fn hear(&mut self, method: &str) -> Value {
        let line = self.asked.next_line().await.unwrap().unwrap();
        let request: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(request["method"], method);
        request
    }

    async fn answer(&mut self, request: &Value, outcome: &str, value: Value) {
        let line = json!({"id": request["id"], outcome: value});
        self.answers.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    fn setting(&self) -> Setting {
        let params = ThreadStart {
            model: "m",
            cwd: "/",
            ephemeral: true,
            environments: [],
            base_instructions: "",
            approval_policy: "never",
            sandbox: "read-only",
            experimental_raw_events: true,
            dynamic_tools: &[],
            service_tier: None,
            config: Map::new(),
        };
        self.threads.setting(&params).unwrap()
    }

    /// Ends the child, and sees that every task ends with it.
    async fn end(self) {
        drop(self.answers);
        self.tasks.close();
        self.tasks.wait().await;
    }
}

#[tokio::test]
async fn a_thread_that_nobody_uses_is_let_go_in_time() {
    let kept_for = Duration::from_millis(30);
    let mut child = Played::new(kept_for);
    child.threads.start_ahead(child.setting());
    let start = child.hear("thread/start").await;
    let begin = Instant::now();
    child.answer(&start, "result", json!({"thread": {"id": "t"}})).await;
    let unsubscribe = child.hear("thread/unsubscribe").await;
    assert_eq!(unsubscribe["params"]["threadId"], "t");
    assert!(begin.elapsed() >= kept_for, "{:?}", begin.elapsed());
    assert!(child.threads.take(&child.setting()).is_none());
    child.end().await;
}

#[tokio::test]
async fn a_thread_that_is_used_is_nobody_elses_any_more() {
    let mut child = Played::new(KEPT_FOR);
    child.threads.start_ahead(child.setting());
    let start = child.hear("thread/start").await;
    child.answer(&start, "result", json!({"thread": {"id": "t"}})).await;
    while child.threads.ready() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(child.threads.take(&child.setting()), Some(ThreadId::from("t")));
    assert_eq!(child.threads.take(&child.setting()), None);
    // Its keeper goes, and has nothing to say.
    while Arc::strong_count(&child.threads) > 1 {
        tokio::task::yield_now().await;
    }
    child.threads.start_ahead(child.setting());
    child.hear("thread/start").await;
    child.end().await;
}

#[tokio::test]
async fn a_thread_that_codex_refuses_leaves_its_place() {
    let mut child = Played::new(KEPT_FOR);
    child.threads.start_ahead(child.setting());
    let start = child.hear("thread/start").await;
    child.answer(&start, "error", json!({"code": -32600, "message": "no"})).await;
    while !child.threads.places.lock().is_empty() {
        tokio::task::yield_now().await;
    }
    child.threads.start_ahead(child.setting());
    child.hear("thread/start").await;
    child.end().await;
}
