//! What people see of an error: the text that each client library makes of it, kept in
//! `golden-errors`. The programs are in `tests/clients` at the root.

use std::path::Path;

use crate::clients::{KEY, command};
use crate::server::Server;
use crate::user::{User, err, out};

/// Runs a program at a server where nobody is signed in; what it prints has a file of this name.
async fn check(name: &str, program: &str) {
    let user = User::new().await;
    let settings = [("PROXY_API_KEY", KEY), ("PROXY_UPSTREAM_RETRIES", "0")];
    let server = Server::start(&user, &settings);
    let mut command = command(program);
    command.env("BASE_URL", format!("http://{}/v1", server.address));
    let output = command.output().expect("scripts/install-clients installs the clients");
    assert!(output.status.success(), "{program}\n{}{}", out(&output), err(&output));
    let shown = out(&output).replace(&server.address, "127.0.0.1:PORT");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden-errors");
    let file = folder.join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &shown).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == shown, "{} is\n{kept}\nbut there came\n{shown}", file.display());
}

#[tokio::test]
async fn python_libraries_show_them() {
    check("python", "python/errors.py").await;
}

#[tokio::test]
async fn the_node_library_shows_them() {
    check("openai-node", "node/openai-errors.mjs").await;
}

#[tokio::test]
async fn obsidian_copilot_shows_them() {
    check("obsidian-copilot", "node/langchain-1.2.2/errors.mjs").await;
}
