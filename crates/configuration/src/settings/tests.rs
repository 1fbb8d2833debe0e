use std::path::Path;
use std::time::Duration;

use bridge::{
    OutputMode, OutputModeSetting, RemoteImages, StopAfterTools, StreamArguments, TextTools,
    UnsupportedTools,
};
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::XmlEscaping;

use super::*;
use crate::loading::{Flags, Inputs, load};

fn inputs(environment: &[(&str, &str)]) -> Inputs {
    let environment = environment.iter().map(|(name, text)| (name.into(), text.into()));
    Inputs {
        environment: environment.collect(),
        working_folder: "/nowhere".into(),
        user_data: Some("data".into()),
        flags: Flags::default(),
    }
}

fn settings(environment: &[(&str, &str)]) -> Settings {
    load(&inputs(environment)).unwrap().settings
}

/// Something that says that it is Codex.
async fn some_codex() -> CodexBinary {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("codex");
    testkit::write_script(&script, "echo codex-cli 9.9.9");
    CodexBinary::locate(Some(&script), Path::new("/nowhere")).await.unwrap()
}

/// Our table repeats what the libraries do by themselves; nothing may drift apart.
#[tokio::test]
async fn the_defaults_are_those_of_the_libraries() {
    let settings = settings(&[]);
    let limits = Limits { held_bytes: 1024 * 1024, ..Limits::default() };
    assert_eq!(settings.turns, TurnSettings { limits, ..TurnSettings::default() });

    let binary = some_codex().await;
    let ours = settings.pool_config(binary.clone());
    let theirs = PoolConfig::new(ClientConfig::new(binary, "data/codex-completions/codex-home"));
    assert_eq!(ours.workers, theirs.workers);
    assert_eq!(ours.backoff_initial, theirs.backoff_initial);
    assert_eq!(ours.backoff_max, theirs.backoff_max);
    assert_eq!(ours.continuity, theirs.continuity);
    let (ours, theirs) = (ours.client, theirs.client);
    assert_eq!(ours.home, theirs.home);
    assert_eq!(ours.turns.limits, theirs.turns.limits);
    assert_eq!(ours.turns.retries, theirs.turns.retries);
    assert_eq!(ours.max_line_bytes, theirs.max_line_bytes);
    assert_eq!(ours.handshake_timeout, theirs.handshake_timeout);
    assert_eq!(ours.request_timeout, theirs.request_timeout);
    assert_eq!(ours.shutdown_grace, theirs.shutdown_grace);
    assert_eq!(ours.classic_models, theirs.classic_models);
    assert_eq!(ours.chatgpt_base_url, theirs.chatgpt_base_url);
    assert_eq!(ours.environment, theirs.environment);
    // A server has slow clients, which a library does not know.
    assert_eq!(ours.turns.max_waiting_bytes, 8 * 1024 * 1024);
}

#[tokio::test]
async fn everything_about_the_children_can_be_chosen() {
    let settings = settings(&[
        ("PROXY_CODEX_HOME", "home"),
        ("PROXY_UPSTREAM_RETRIES", "3"),
        ("PROXY_TIMEOUT_MS", "1001"),
        ("PROXY_IDLE_TIMEOUT_MS", "1002"),
        ("PROXY_CALL_PROBE_MS", "1003"),
        ("PROXY_MAX_LINE_BYTES", "70000"),
        ("PROXY_MAX_STREAM_BUFFER_BYTES", "80000"),
        ("PROXY_ENABLE_PARALLEL_TOOL_CALLS", "true"),
        ("PROXY_CHATGPT_BASE_URL", "http://127.0.0.1:1/"),
        ("PROXY_CONTINUITY_MAX", "7"),
        ("PROXY_CONTINUITY_TTL_MS", "1009"),
        ("PROXY_CONTINUITY_MAX_BYTES", "90000"),
        ("WORKER_COUNT", "4"),
        ("WORKER_BACKOFF_INITIAL_MS", "1004"),
        ("WORKER_BACKOFF_MAX_MS", "1005"),
        ("WORKER_HANDSHAKE_TIMEOUT_MS", "1006"),
        ("WORKER_REQUEST_TIMEOUT_MS", "1007"),
        ("WORKER_SHUTDOWN_GRACE_MS", "1008"),
    ]);
    let PoolConfig { client, workers, backoff_initial, backoff_max, continuity, .. } =
        settings.pool_config(some_codex().await);
    let millis = Duration::from_millis;
    assert_eq!((workers, backoff_initial, backoff_max), (4, millis(1004), millis(1005)));
    let expected = ContinuityLimits { max_threads: 7, max_age: millis(1009), max_bytes: 90_000 };
    assert_eq!(continuity, expected);
    let limits = TurnLimits {
        timeout: millis(1001),
        idle_timeout: millis(1002),
        probe_after: Some(millis(1003)),
    };
    assert_eq!((client.turns.limits, client.turns.retries), (limits, 3));
    assert_eq!((client.max_line_bytes, client.turns.max_waiting_bytes), (70_000, 80_000));
    assert_eq!(client.handshake_timeout, millis(1006));
    assert_eq!(client.request_timeout, millis(1007));
    assert_eq!(client.shutdown_grace, millis(1008));
    assert_eq!(client.home, Path::new("home"));
    assert_eq!(client.chatgpt_base_url.as_deref(), Some("http://127.0.0.1:1"));
    assert!(client.classic_models);
}

#[test]
fn a_server_is_closed_and_bounded_by_default() {
    let settings = settings(&[]);
    assert_eq!(settings.listen, Listen { host: Host::Loopback, port: 11435 });
    let access = &settings.access;
    assert!(access.api_key.is_none() && !access.allow_remote && access.protect_models);
    assert_eq!(access.allowed_hosts, <[&str; 0]>::default());
    assert_eq!(access.allowed_origins, <[&str; 0]>::default());
    assert_eq!(settings.log, LogSettings { filter: None, format: None, content: false });
    assert_eq!(settings.data_folder, Path::new("data/codex-completions"));
    assert_eq!(settings.codex_copies(), Path::new("data/codex-completions/codex"));
    assert_eq!(settings.values.changed(), <[&str; 0]>::default());
}

#[test]
fn every_choice_about_an_answer_can_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let instructions = folder.path().join("agents.md");
    std::fs::write(&instructions, "Be brief.\n").unwrap();
    let settings = settings(&[
        ("PROXY_OUTPUT_MODE", "obsidian-xml"),
        ("PROXY_RESPONSES_OUTPUT_MODE", "auto"),
        ("PROXY_STOP_AFTER_TOOLS_MODE", "all"),
        ("PROXY_STOP_AFTER_TOOLS_GRACE_MS", "300"),
        ("PROXY_SUPPRESS_TAIL_AFTER_TOOLS", "false"),
        ("PROXY_TOOL_BLOCK_MAX", "3"),
        ("PROXY_TOOL_BLOCK_DEDUP", "true"),
        ("PROXY_TOOL_BLOCK_DELIMITER", "-\\n\\t-"),
        ("PROXY_ENABLE_PARALLEL_TOOL_CALLS", "false"),
        ("PROXY_TEXT_TOOLS", "on"),
        ("PROXY_XML_ESCAPE", "entities"),
        ("PROXY_STREAM_ARGUMENTS", "off"),
        ("PROXY_REASONING", "off"),
        ("PROXY_MAX_TOOL_CALLS", "7"),
        ("PROXY_MAX_ARGUMENT_BYTES", "2048"),
        ("PROXY_MAX_ANSWER_BYTES", "70000"),
        ("PROXY_MAX_HELD_BYTES", "4096"),
        ("PROXY_MAX_CHAT_CHOICES", "2"),
        ("PROXY_ALLOW_REMOTE_IMAGES", "true"),
        ("PROXY_UNSUPPORTED_TOOLS", "refuse"),
        ("PROXY_INSTRUCTIONS_FILE", instructions.to_str().unwrap()),
    ]);
    assert_eq!(
        settings.turns,
        TurnSettings {
            output_mode: OutputModeSetting::Always(OutputMode::ObsidianXml),
            responses_output_mode: OutputModeSetting::Auto,
            stop_after_tools: StopAfterTools::Burst { grace: Some(Duration::from_millis(300)) },
            suppress_tail: false,
            max_calls: std::num::NonZeroUsize::new(3),
            dedup: true,
            delimiter: "-\n\t-".to_owned(),
            parallel_calls: Some(false),
            text_tools: TextTools::On,
            xml_escaping: XmlEscaping::Entities,
            stream_arguments: StreamArguments::Off,
            reasoning: false,
            limits: Limits {
                calls: 7,
                argument_bytes: 2048,
                held_bytes: 4096,
                ..Limits::default()
            },
            max_held_bytes: 4096,
            max_answer_bytes: 70_000,
            max_choices: 2,
            remote_images: RemoteImages::Fetched,
            unsupported_tools: UnsupportedTools::Refuse,
            instructions: Some("Be brief.\n".into()),
        }
    );
}

#[test]
fn turns_end_as_chosen() {
    for (more, wanted) in [
        (&[("PROXY_STOP_AFTER_TOOLS_MODE", "first")][..], StopAfterTools::First),
        (&[("PROXY_STOP_AFTER_TOOLS_MODE", "burst")], StopAfterTools::Burst { grace: None }),
        (
            &[("PROXY_STOP_AFTER_TOOLS", "false"), ("PROXY_STOP_AFTER_TOOLS_MODE", "first")],
            StopAfterTools::Off,
        ),
    ] {
        assert_eq!(settings(more).turns.stop_after_tools, wanted);
    }
}

#[test]
fn a_delimiter_can_be_a_blank_line() {
    for (text, delimiter) in [("true", "\n\n"), ("\n", "\n"), ("\\n", "\n"), (" ", " ")] {
        let settings = settings(&[("PROXY_TOOL_BLOCK_DELIMITER", text)]);
        assert_eq!(settings.turns.delimiter, delimiter);
    }
}

#[test]
fn zero_switches_off() {
    let settings = settings(&[("PROXY_CALL_PROBE_MS", "0")]);
    assert_eq!(settings.turn_options().limits.probe_after, None);
}

#[test]
fn an_upstream_has_its_key_and_hides_it() {
    let settings = settings(&[
        ("PROXY_UPSTREAM_BASE_URL", "http://127.0.0.1:1/v1/"),
        ("PROXY_UPSTREAM_API_KEY", "sk-x"),
    ]);
    let upstream =
        Upstream { base_url: "http://127.0.0.1:1/v1".to_owned(), api_key: Some("sk-x".to_owned()) };
    assert_eq!(settings.codex.upstream, Some(upstream));
    assert!(!format!("{settings:?}").contains("sk-x"));
}

#[test]
fn the_child_gets_the_variables_of_its_login() {
    let issuer = ("CODEX_APP_SERVER_LOGIN_ISSUER", "http://127.0.0.1:1");
    let settings = settings(&[issuer, ("CODEX_OTHER", "x")]);
    assert_eq!(settings.codex.environment, [(issuer.0.to_owned(), issuer.1.to_owned())]);
}

#[test]
fn an_address_is_listened_on_alone() {
    for (text, host) in
        [("localhost", Host::Loopback), ("127.0.0.1", Host::Address([127, 0, 0, 1].into()))]
    {
        assert_eq!(settings(&[("PROXY_HOST", text)]).listen.host, host);
    }
}

#[test]
fn records_are_kept_where_nobody_else_writes() {
    use std::os::unix::fs::PermissionsExt as _;

    assert_eq!(settings(&[]).captures, None);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    let variables = [("PROXY_CAPTURE_DIR", path.to_str().unwrap())];
    assert_eq!(settings(&variables).captures, Some(path.clone()));

    std::fs::create_dir(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
    let refused = load(&inputs(&variables)).unwrap_err().to_string();
    assert!(refused.contains("every user can write to it (PROXY_CAPTURE_DIR)"), "{refused}");

    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, "in the way").unwrap();
    let refused = load(&inputs(&variables)).unwrap_err().to_string();
    assert!(refused.contains("it is not a folder (PROXY_CAPTURE_DIR)"), "{refused}");
}
