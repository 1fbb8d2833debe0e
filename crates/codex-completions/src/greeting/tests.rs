use codex_app_server::account::Account;
use server::AccessSettings;

use super::*;

fn greeting(secret: &str, origin: KeyOrigin) -> Greeting {
    let access = AccessSettings {
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        keys: vec![server::ApiKey::new("default", "default", secret).of_the_owner()],
        key_hint: String::new(),
    };
    Greeting {
        address: ([127, 0, 0, 1], 7).into(),
        key: ApiKey { secret: secret.into(), origin, warnings: Vec::new() },
        access: Access::with_page_host(7, Some("run-1.localhost:7".parse().unwrap()), access),
        upstream: None,
        service_manager: Arc::default(),
    }
}

fn kept() -> KeyOrigin {
    KeyOrigin::Kept("/data/api-key".into())
}

#[test]
fn row_19b_the_link_has_a_new_code_for_a_person_at_a_terminal_alone() {
    for origin in [kept(), KeyOrigin::Given, KeyOrigin::Generated("/k".into())] {
        let greeting = greeting("sk-proxy-a_B", origin);
        let [first, second] = [(); 2].map(|()| greeting.page(Reader::Terminal));
        let is_link = |link: &str| {
            let code = link.strip_prefix("http://run-1.localhost:7/#code=code-");
            code.is_some_and(|code| code.len() == 43) && !link.contains("sk-proxy")
        };
        assert!(is_link(&first) && is_link(&second) && first != second, "{first} {second}");
        assert_eq!(greeting.page(Reader::Anybody), "http://127.0.0.1:7/");
    }
}

#[test]
fn the_block_is_short() {
    let greeting = greeting("sk-proxy-a", kept());
    let block = Block {
        greeting: &greeting,
        codex: "1.2.3 (/bin/codex)".to_owned(),
        broken: None,
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
    let text: String = block.parts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(text, expected);
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
