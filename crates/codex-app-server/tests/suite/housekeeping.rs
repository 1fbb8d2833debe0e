//! The child's home: refused if it is somebody else's, and not growing.

use codex_app_server::{Client, ClientConfig, HomeError, StartError};
use testkit::{TestCodex, codex_binary, files_with, tools};

#[tokio::test]
async fn row_9_the_log_database_does_not_grow_and_holds_no_arguments() {
    let codex = TestCodex::start().await;
    let size = || -> u64 {
        std::fs::read_dir(codex.home.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("logs_"))
            .map(|entry| entry.metadata().unwrap().len())
            .sum()
    };
    let turn = async |number: usize| {
        let mut request = codex.ask(&format!(r#"[[tool:f,{{"canary": "argument-{number}"}}]]"#));
        request.tools = tools(&["f"]);
        assert_eq!(codex.run(request).await.calls.len(), 1);
    };
    for number in 0..10 {
        turn(number).await;
    }
    let early = size();
    for number in 10..60 {
        turn(number).await;
    }
    codex.client.shutdown().await;
    println!("log databases: {early} bytes after 10 turns, {} after 60", size());
    assert!(size() <= early + 100_000, "{early} bytes grew to {}", size());
    assert_eq!(files_with("argument-", codex.home.path()), [].into(), "arguments are on disk");
}

#[tokio::test]
async fn somebody_elses_home_is_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("config.toml"), "model = \"theirs\"\n").unwrap();
    let refused = Client::start(ClientConfig::new(codex_binary().await, home.path())).await;
    assert!(matches!(refused, Err(StartError::Home(HomeError::Foreign { .. }))));
    let kept = std::fs::read_to_string(home.path().join("config.toml")).unwrap();
    assert_eq!(kept, "model = \"theirs\"\n");
}

#[cfg(unix)]
#[tokio::test]
async fn the_home_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("new/home");
    let codex = Client::start(ClientConfig::new(codex_binary().await, &home)).await.unwrap();
    codex.shutdown().await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    assert_eq!(mode(&home.join("config.toml")), 0o600);
    assert_eq!(std::fs::read_dir(home.join("empty")).unwrap().count(), 0);
}
