use super::*;

const STRONG: &str = "a key that nobody can guess";

/// Whether the server may listen on `host`, and else the words that say why not.
fn refused(host: &str, allow_remote: bool, key: Option<&str>) -> Option<String> {
    let listen = Listen { host: host.parse().map_or(Host::Loopback, Host::Address), port: 0 };
    let access = Access {
        api_key: key.map(Into::into),
        allow_remote,
        protect_models: true,
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
    };
    let problems = refuse(&listen, &access);
    let words: Vec<_> = problems.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join("\n"))
}

#[test]
fn row_1_other_machines_need_leave_and_a_key_that_cannot_be_guessed() {
    const LEAVE: Option<&str> = Some("set PROXY_ALLOW_REMOTE=true");
    const KEY: Option<&str> = Some("PROXY_API_KEY can be guessed");
    for (host, allow_remote, key, wanted) in [
        ("localhost", false, None, None),
        ("localhost", false, Some("test"), None),
        ("127.0.0.1", false, Some("codex-local-secret"), None),
        ("127.8.8.8", false, None, None),
        ("::1", false, Some("test"), None),
        ("::ffff:127.0.0.1", false, Some("test"), None),
        ("0.0.0.0", false, Some(STRONG), LEAVE),
        ("::", false, None, LEAVE),
        ("192.168.1.2", false, Some("test"), LEAVE),
        ("0.0.0.0", true, None, None),
        ("::", true, Some(STRONG), None),
        ("0.0.0.0", true, Some("test"), KEY),
        ("0.0.0.0", true, Some("codex-local-secret"), KEY),
        ("0.0.0.0", true, Some("Your-Api-Key-Here"), KEY),
        ("0.0.0.0", true, Some("short-but-good!"), KEY),
        ("0.0.0.0", true, Some("abcabcabcabcabcabc"), KEY),
        ("localhost", true, Some("test"), KEY),
    ] {
        let words = refused(host, allow_remote, key);
        match (words, wanted) {
            (None, None) => {}
            (Some(words), Some(wanted)) => assert!(words.contains(wanted), "{host}: {words}"),
            (words, _) => panic!("{host} {allow_remote} {key:?}: {words:?}"),
        }
    }
}

#[test]
fn row_1_a_refusal_does_not_tell_the_key() {
    let words = refused("0.0.0.0", true, Some("canary")).unwrap();
    assert!(!words.contains("canary"));
}
