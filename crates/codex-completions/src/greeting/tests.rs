use codex_app_server::account::Account;

use super::*;

fn greeting(secret: &str, origin: KeyOrigin) -> Greeting {
    Greeting {
        address: ([127, 0, 0, 1], 7).into(),
        key: ApiKey { secret: secret.into(), origin, warnings: Vec::new() },
        upstream: None,
        service_manager: Arc::default(),
    }
}

fn kept() -> KeyOrigin {
    KeyOrigin::Kept("/data/api-key".into())
}

#[test]
fn the_link_has_the_key_for_a_person_at_a_terminal_alone() {
    for (secret, origin, reader, page) in [
        ("sk-proxy-a_B", kept(), Reader::Terminal, "http://127.0.0.1:7/#key=sk-proxy-a_B"),
        ("sk+&#%=\"/", kept(), Reader::Terminal, "http://127.0.0.1:7/#key=sk%2B%26%23%25%3D%22%2F"),
        ("sk-chosen", KeyOrigin::Given, Reader::Terminal, "http://127.0.0.1:7/"),
        ("sk-proxy-a_B", kept(), Reader::Anybody, "http://127.0.0.1:7/"),
        (
            "sk-n",
            KeyOrigin::Generated("/k".into()),
            Reader::Terminal,
            "http://127.0.0.1:7/#key=sk-n",
        ),
        ("sk-n", KeyOrigin::Generated("/k".into()), Reader::Anybody, "http://127.0.0.1:7/"),
    ] {
        assert_eq!(greeting(secret, origin).page(reader), page);
    }
}

#[test]
fn the_block_is_short() {
    let greeting = greeting("sk-proxy-a", kept());
    let block = Block {
        greeting: &greeting,
        codex: "1.2.3 (/bin/codex)".to_owned(),
        login: Login::Known(Standing::SignedIn(Account::ApiKey)),
        reader: Reader::Anybody,
    };
    let expected = format!(
        "codex-completions {} is ready\n\n  \
           page      http://127.0.0.1:7/\n  \
           base URL  http://127.0.0.1:7/v1\n  \
           API key   in /data/api-key\n  \
           login     signed in with an API key\n  \
           codex     1.2.3 (/bin/codex)\n\n\
         Next: connect a client; the page has the settings of each.\n\n\
         A tool call of the model demo, which needs no account:\n\n  \
           curl -N http://127.0.0.1:7/v1/chat/completions \\\n    \
             -H \"Authorization: Bearer $(cat '/data/api-key')\" -H \"Content-Type: application/json\" \\\n    \
             -d '{EXAMPLE}'\n\n",
        env!("CARGO_PKG_VERSION"),
    );
    assert_eq!(anstream::adapter::strip_str(&block.to_string()).to_string(), expected);
}

#[test]
fn every_login_is_told_with_the_next_step() {
    let upstream = Upstream { base_url: "http://127.0.0.1:8/v1".to_owned(), api_key: None };
    for (login, told, next) in [
        (
            Login::Known(Standing::Nobody),
            "nobody is signed in: only the model demo works",
            "open the page and sign in there",
        ),
        (
            Login::Known(Standing::NotLookedUp("no network".to_owned())),
            "signed in, but the account cannot be looked up: no network",
            "doctor` looks for what is wrong",
        ),
        (Login::NotToldYet, "signed in; the account is still being looked up", "connect a client"),
        (
            Login::NotNeeded(upstream),
            "not needed: requests go to http://127.0.0.1:8/v1",
            "connect a client",
        ),
    ] {
        assert_eq!(login.to_string(), told);
        assert!(login.next_step().contains(next), "{}", login.next_step());
    }
}
