use super::*;

fn read_text(text: &str) -> (Vec<(&'static str, String)>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    let (settings, problems) = read(&path);
    let settings = settings.into_iter().map(|(variable, text)| (variable.name, text));
    let place = path.display().to_string();
    let problems = problems.iter().map(|problem| problem.to_string().replace(&place, "FILE"));
    (settings.collect(), problems.collect())
}

#[test]
fn keys_are_names_in_lower_case_without_the_prefix() {
    let (settings, problems) = read_text(
        "port = 8080\n\
         codex_bin = '/opt/codex'\n\
         worker_count = 2\n\
         PROXY_TIMEOUT_MS = 1000\n\
         tool_block_dedup = true\n\
         allowed_hosts = ['a.example', 'b.example:80']\n",
    );
    assert_eq!(problems, <[&str; 0]>::default());
    let settings: Vec<_> = settings.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let wanted = [
        ("PORT", "8080"),
        ("CODEX_BIN", "/opt/codex"),
        ("WORKER_COUNT", "2"),
        ("PROXY_TIMEOUT_MS", "1000"),
        ("PROXY_TOOL_BLOCK_DEDUP", "true"),
        ("PROXY_ALLOWED_HOSTS", "a.example,b.example:80"),
    ];
    assert_eq!(settings, wanted);
}

#[test]
fn what_is_wrong_is_named() {
    for (text, words) in [
        ("prot = 1", "prot is not a setting; did you mean port? (from: FILE)"),
        ("[limits]\nx = 1", "limits is not a setting; did you mean "),
        ("port = 1\nPORT = 2", "PORT is set twice (from: FILE)"),
        ("port = 1.5", "PORT=(TOML float): expected a whole number from 0 to 65535 (from: FILE)"),
        ("port = [1]", "PORT=(TOML array): expected"),
        ("allowed_hosts = [1]", "PROXY_ALLOWED_HOSTS=(TOML array): expected name or name:port"),
        ("config = 'x'", "config cannot stand in the file itself (FILE)"),
        ("\nport = ", "cannot read FILE: line 2 is not TOML: "),
    ] {
        let (_, problems) = read_text(text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with(words), "{problems:?}");
    }
}

#[test]
fn a_broken_line_is_not_shown() {
    let (_, problems) = read_text("api_key = \"canary\" canary");
    assert!(problems.len() == 1 && !problems[0].contains("canary"), "{problems:?}");
}
