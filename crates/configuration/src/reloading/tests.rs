use std::path::{Path, PathBuf};

use bridge::StopAfterTools;
use secrecy::ExposeSecret as _;
use tempfile::TempDir;

use super::*;
use crate::loading::{Flags, load};
use crate::table::WORKER_COUNT;

/// A user who edits files while the server runs.
struct Scene {
    folder: TempDir,
    inputs: Inputs,
}

impl Scene {
    fn new(environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let environment = environment.iter().map(|(name, text)| (name.into(), text.into()));
        let inputs = Inputs {
            environment: environment.collect(),
            working_folder: folder.path().to_owned(),
            user_data: Some(folder.path().to_owned()),
            flags: Flags { env_file: Some(".env".into()), ..Flags::default() },
        };
        std::fs::create_dir(folder.path().join("codex-completions")).unwrap();
        std::fs::write(folder.path().join(".env"), "").unwrap();
        Self { folder, inputs }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn load(&self) -> Loaded {
        load(&self.inputs).unwrap()
    }
}

const TOML: &str = "codex-completions/config.toml";

#[test]
fn what_may_change_counts_at_once_and_the_rest_at_the_next_start() {
    let scene = Scene::new(&[("PROXY_REASONING", "off")]);
    let running = scene.load();
    scene.write(TOML, "port = 1\nstop_after_tools = false\nreasoning = \"content\"\n");
    scene.write(".env", "PROXY_MAX_CHAT_CHOICES=7\nWORKER_COUNT=2\nPROXY_API_KEY=sk-a-new-one\n");
    let Reloaded { loaded, changed, at_next_start } = reload(&scene.inputs, &running).unwrap();
    assert_eq!(
        changed,
        ["PROXY_API_KEY=(hidden)", "PROXY_STOP_AFTER_TOOLS=false", "PROXY_MAX_CHAT_CHOICES=7"]
    );
    assert_eq!(at_next_start, ["PORT", "WORKER_COUNT"]);
    let settings = &loaded.settings;
    assert_eq!(settings.turns.stop_after_tools, StopAfterTools::Off);
    assert_eq!(settings.turns.max_choices, 7);
    assert_eq!(settings.access.api_key.as_ref().unwrap().expose_secret(), "sk-a-new-one");
    // The environment wins as before.
    assert!(!settings.turns.reasoning);
    assert_eq!((settings.listen.port, settings.values.number(&WORKER_COUNT)), (11435, 1));

    // The same again is no change, but what waits for a start is still told.
    let again = reload(&scene.inputs, &loaded).unwrap();
    assert_eq!((again.changed, again.at_next_start), (vec![], vec!["PORT", "WORKER_COUNT"]));
    std::fs::remove_file(scene.path(TOML)).unwrap();
    let back = reload(&scene.inputs, &loaded).unwrap();
    assert_eq!(back.changed, ["PROXY_STOP_AFTER_TOOLS=true"]);
    assert_eq!(back.at_next_start, ["WORKER_COUNT"]);
}

#[test]
fn whatever_the_next_start_would_refuse_is_refused_now() {
    let scene = Scene::new(&[]);
    let running = scene.load();
    for (text, problem) in [
        ("max_chat_choices = 0", "PROXY_MAX_CHAT_CHOICES=\"0\""),
        ("port = 70000\nmax_chat_choices = 7", "PORT=\"70000\""),
        ("max_chat_choice = 7", "max_chat_choice is not a setting"),
        ("max_chat_choices = ", "line 1 is not TOML"),
        ("host = \"0.0.0.0\"", "PROXY_ALLOW_REMOTE=true"),
        ("instructions_file = \"/nowhere/at-all\"", "cannot read /nowhere/at-all"),
    ] {
        scene.write(TOML, text);
        let problems = reload(&scene.inputs, &running).unwrap_err().to_string();
        assert!(problems.contains(problem), "{text}: {problems}");
    }
}

/// Both alone are allowed: a weak key here, other machines there.
#[test]
fn what_does_not_go_with_what_runs_is_refused() {
    let scene = Scene::new(&[]);
    scene.write(".env", "PROXY_ALLOW_REMOTE=true\n");
    let running = scene.load();
    scene.write(".env", "PROXY_ALLOW_REMOTE=false\nPROXY_API_KEY=weak\n");
    let problems = reload(&scene.inputs, &running).unwrap_err().to_string();
    assert!(problems.contains("PROXY_API_KEY can be guessed"), "{problems}");
}

#[test]
fn instructions_are_read_again() {
    let scene = Scene::new(&[]);
    scene.write("words", "one");
    scene.write(TOML, &format!("instructions_file = {:?}", scene.path("words")));
    let running = scene.load();
    assert!(running.sources().contains(&scene.path("words")));
    scene.write("words", "two");
    let Reloaded { loaded, changed, .. } = reload(&scene.inputs, &running).unwrap();
    assert_eq!(changed, ["PROXY_INSTRUCTIONS_FILE (its text)"]);
    assert_eq!(loaded.settings.turns.instructions.as_deref(), Some("two"));
}

#[test]
fn the_file_stays_the_one_that_it_was_at_the_start() {
    let scene = Scene::new(&[]);
    scene.write("one.toml", "max_chat_choices = 2");
    scene.write("other.toml", "max_chat_choices = 3");
    let named = |name: &str| format!("PROXY_CONFIG={}\n", scene.path(name).display());
    scene.write(".env", &named("one.toml"));
    let running = scene.load();
    scene.write(".env", &named("other.toml"));
    let Reloaded { loaded, changed, at_next_start } = reload(&scene.inputs, &running).unwrap();
    assert_eq!((changed, at_next_start), (vec![], vec!["PROXY_CONFIG"]));
    assert_eq!(loaded.settings.turns.max_choices, 2);
    let sources = loaded.sources();
    assert_eq!(sources, [scene.path(".env"), scene.path("one.toml")].map(PathBuf::from));
    std::fs::remove_file(scene.path("one.toml")).unwrap();
    assert!(reload(&scene.inputs, &loaded).is_err(), "a named file must be there");
}

#[test]
fn a_file_that_is_not_there_yet_is_a_source_too() {
    let mut scene = Scene::new(&[]);
    let sources = scene.load().sources();
    let expected: [&Path; 2] = [&scene.path(".env"), &scene.path(TOML)];
    assert_eq!(sources, expected);
    scene.inputs.flags = Flags::default();
    assert_eq!(scene.load().sources(), [scene.path(TOML)]);
}

#[test]
fn row_20_a_named_file_that_is_gone_changes_nothing() {
    let scene = Scene::new(&[]);
    scene.write(".env", "PROXY_MAX_CHAT_CHOICES=7\n");
    let running = scene.load();
    std::fs::remove_file(scene.path(".env")).unwrap();
    let problems = reload(&scene.inputs, &running).unwrap_err().to_string();
    assert!(
        problems.ends_with(".env: No such file or directory (os error 2) (--env-file)"),
        "{problems}"
    );
    scene.write(".env", "PROXY_MAX_CHAT_CHOICES=8\n");
    assert_eq!(reload(&scene.inputs, &running).unwrap().changed, ["PROXY_MAX_CHAT_CHOICES=8"]);
}
