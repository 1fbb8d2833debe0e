//! What `serve` says when it is ready.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use testkit::process::signal;
use testkit::{Routing, ScriptedIssuer};

use crate::server::Server;
use crate::terminal::Terminal;
use crate::user::{User, out};

/// What a server says on a terminal until its end.
fn on_terminal(user: &User, more: &[(&str, &str)]) -> String {
    let mut command = user.command(&["serve", "--port", "0"]);
    let mut terminal = Terminal::of(&mut command);
    // Those of whoever runs the tests have a say in colours too.
    for name in ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLORTERM"] {
        command.env_remove(name);
    }
    let process = command.env("PROXY_LOG", "off").envs(more.iter().copied()).spawn().unwrap();
    drop(command);
    let mut server = Server::of(process, "");
    terminal.until("curl -N ");
    signal(server.process.id(), "-TERM");
    assert!(server.process.wait().unwrap().success());
    terminal.read_to_end()
}

#[tokio::test]
async fn on_a_terminal_the_link_has_a_code_and_there_are_colours() {
    let user = User::new().await;
    let first = on_terminal(&user, &[]);
    let key = std::fs::read_to_string(user.folder.path().join("api-key")).unwrap();
    let link = "/#code=code-";
    // Once, because it is new.
    let counts = (first.matches(link).count(), first.matches(key.trim()).count());
    assert_eq!(counts, (1, 1), "{first}");
    assert!(first.contains("\u{1b}[1mcodex-completions "), "{first:?}");
    assert!(first.contains("nobody is signed in: only the model demo works"), "{first}");
    assert!(first.contains("open the page and sign in there, or with `"), "{first}");

    let second = on_terminal(&user, &[("NO_COLOR", "1")]);
    assert!(!second.contains(key.trim()), "{second}");
    assert!(second.contains(link) && !second.contains('\u{1b}'), "{second:?}");
    assert!(!on_terminal(&user, &[("TERM", "dumb")]).contains('\u{1b}'));

    let given = on_terminal(&user, &[("PROXY_API_KEY", "sk-chosen-by-the-user")]);
    assert!(!given.contains("sk-chosen-by-the-user") && given.contains(link), "{given}");
}

#[tokio::test]
async fn elsewhere_there_are_no_colours_and_no_key_that_is_known() {
    let user = User::new().await;
    assert!(user.run(&["key", "rotate"]).status.success());
    let mut command = user.command(&["serve", "--port", "0"]);
    let process = command.env("PROXY_LOG", "off").stdout(Stdio::piped()).spawn().unwrap();
    let mut server = Server::of(process, "");
    let output = BufReader::new(server.process.stdout.take().unwrap()).lines();
    let until_curl = output.map_while(Result::ok).take_while(|line| !line.contains("curl -N "));
    let lines = until_curl.collect::<Vec<_>>().join("\n");
    let key = std::fs::read_to_string(user.folder.path().join("api-key")).unwrap();
    assert!(!lines.contains(key.trim()) && !lines.contains('\u{1b}'), "{lines:?}");
    assert!(lines.contains("\n  page      http://127.0.0.1:"), "{lines}");
}

// The issuer lives in this process, next to commands that are waited for: hence several threads.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_signed_in_is_told_and_a_slow_network_holds_nobody_up() {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    let login = user.command_at(&issuer, &["login"]).output().unwrap();
    assert!(login.status.success(), "{}", out(&login));
    let base_url = issuer.chatgpt_base_url();
    let mut settings: Vec<_> = issuer.environment();
    settings.push(("PROXY_CHATGPT_BASE_URL".to_owned(), base_url));
    // A child that is asked in vain takes its time to end.
    settings.push(("WORKER_SHUTDOWN_GRACE_MS".to_owned(), "100".to_owned()));
    let settings: Vec<_> =
        settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let said = on_terminal(&user, &settings);
    assert!(said.contains("signed in as me@example.com (plan plus, workspace Home)"), "{said}");
    assert!(said.contains("connect a client; the page has the settings of each"), "{said}");

    issuer.change(|script| script.routing = Routing::Waits);
    let said = on_terminal(&user, &settings);
    assert!(said.contains("signed in; the account is still being looked up"), "{said}");
    issuer.change(|script| script.routing = Routing::Works);
}
