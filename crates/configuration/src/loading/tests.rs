use super::*;
use tempfile::TempDir;

/// A user with files and an environment.
struct Scene {
    folder: TempDir,
    environment: Vec<(&'static str, &'static str)>,
    flags: Flags,
}

impl Scene {
    fn new(environment: &[(&'static str, &'static str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("codex-completions")).unwrap();
        Self { folder, environment: environment.to_vec(), flags: Flags::default() }
    }

    fn with_dotenv(self, text: &str) -> Self {
        std::fs::write(self.folder.path().join(".env"), text).unwrap();
        self
    }

    fn with_toml(self, text: &str) -> Self {
        std::fs::write(self.folder.path().join("codex-completions/config.toml"), text).unwrap();
        self
    }

    fn load(&self) -> Result<Loaded, Problems> {
        let environment = self.environment.iter().map(|(name, text)| (name.into(), text.into()));
        load(&Inputs {
            environment: environment.collect(),
            working_folder: self.folder.path().to_owned(),
            user_data: Some(self.folder.path().to_owned()),
            flags: self.flags.clone(),
        })
    }

    fn effective(&self, name: &str) -> (Option<String>, String) {
        let loaded = self.load().unwrap();
        let effective =
            loaded.values.iter().find(|effective| effective.variable.name == name).unwrap();
        (effective.value, self.hide_folder(&effective.source.to_string()))
    }

    fn problems(&self) -> Vec<String> {
        let problems = self.load().unwrap_err().0;
        problems.iter().map(|problem| self.hide_folder(&problem.to_string())).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let warnings = self.load().unwrap().warnings;
        warnings.iter().map(|warning| self.hide_folder(&warning.to_string())).collect()
    }

    fn hide_folder(&self, words: &str) -> String {
        words.replace(&*self.folder.path().to_string_lossy(), "HERE")
    }
}

#[test]
fn the_last_layer_wins() {
    let wins = |value: &str, source: &str| (Some(value.to_owned()), source.to_owned());
    let mut scene = Scene::new(&[]);
    assert_eq!(scene.effective("PORT"), wins("11435", "default"));
    scene = scene.with_toml("port = 1");
    assert_eq!(scene.effective("PORT"), wins("1", "HERE/codex-completions/config.toml"));
    scene = scene.with_dotenv("PORT=2");
    assert_eq!(scene.effective("PORT"), wins("2", "HERE/.env"));
    scene.environment.push(("PORT", "3"));
    assert_eq!(scene.effective("PORT"), wins("3", "environment"));
    scene.flags.port = Some("4".to_owned());
    assert_eq!(scene.effective("PORT"), wins("4", "--port"));
}

#[test]
fn an_empty_value_leaves_the_layer_below() {
    let scene = Scene::new(&[("PORT", "")]).with_toml("port = 1").with_dotenv("PORT=\n");
    assert_eq!(scene.effective("PORT").0.as_deref(), Some("1"));
}

#[test]
fn the_file_is_the_one_that_is_named() {
    let mut scene = Scene::new(&[]).with_toml("port = 1");
    let other = scene.folder.path().join("other.toml");
    std::fs::write(&other, "port = 2").unwrap();
    scene = scene.with_dotenv(&format!("PROXY_CONFIG='{}'", other.display()));
    assert_eq!(scene.effective("PORT"), (Some("2".to_owned()), "HERE/other.toml".to_owned()));
    scene.flags.config = Some("/nowhere/config.toml".to_owned());
    let problems = scene.problems();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("cannot read /nowhere/config.toml: "), "{problems:?}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let mut scene = Scene::new(&[
        ("PROXY_TIMEOUT_MS", "soon"),
        ("PROXY_TIMEOUT", "5"),
        ("WORKER_COUNT", "65"),
        ("PROXY_UPSTREAM_API_KEY", "canary"),
        ("PROXY_INSTRUCTIONS_FILE", "/nowhere/agents.md"),
        ("NOT_OURS", "x"),
        ("CODEX_UNKNOWN", "x"),
    ])
    .with_toml("porte = 1")
    .with_dotenv("PROXY_HOST=0.0.0.0\nPROXY_MODEL_ALIASES=a=b,fast\nbroken\n");
    scene.flags.port = Some("http".to_owned());
    assert_eq!(
        scene.problems(),
        [
            "cannot read HERE/.env: line 3 is not NAME=value; a value with blanks or backslashes \
             needs quotation marks",
            "porte is not a setting; did you mean port? \
             (from: HERE/codex-completions/config.toml)",
            "PROXY_MODEL_ALIASES=\"a=b,fast\": expected name=model or name=model:effort, separated \
             by commas; \"fast\" is not one (from: HERE/.env)",
            "PROXY_TIMEOUT is not a setting; did you mean PROXY_TIMEOUT_MS? (from: environment)",
            "PROXY_TIMEOUT_MS=\"soon\": expected a whole number of milliseconds from 1 to \
             31536000000 (from: environment)",
            "WORKER_COUNT=\"65\": expected a whole number from 1 to 64 (from: environment)",
            "PORT=\"http\": expected a whole number from 0 to 65535 (from: --port)",
            "PROXY_UPSTREAM_API_KEY is set, but PROXY_UPSTREAM_BASE_URL is not: whose key is it? \
             (from: environment)",
            "cannot read /nowhere/agents.md: No such file or directory (os error 2) \
             (PROXY_INSTRUCTIONS_FILE)",
            "PROXY_HOST=0.0.0.0 would let other machines use the login: set PROXY_ALLOW_REMOTE=true \
             if that is meant",
        ]
    );
    let told = scene.load().unwrap_err().to_string();
    assert!(told.starts_with("10 settings cannot be used:\n  cannot read "), "{told}");
    assert_eq!(told.lines().count(), 11);
}

#[test]
fn a_value_that_a_higher_layer_hides_is_checked_too() {
    let scene = Scene::new(&[("PORT", "1")]).with_toml("port = 'x'");
    assert_eq!(scene.problems().len(), 1);
}

#[test]
fn a_value_that_is_not_text_is_told() {
    use std::os::unix::ffi::OsStringExt as _;
    let bad = OsString::from_vec(vec![0xff]);
    let inputs = Inputs {
        environment: vec![("CODEX_BIN".into(), bad.clone()), ("NOT_OURS".into(), bad)],
        working_folder: "/nowhere".into(),
        user_data: Some("/nowhere".into()),
        flags: Flags::default(),
    };
    let problems = load(&inputs).unwrap_err().to_string();
    assert_eq!(problems, "CODEX_BIN=(not UTF-8): expected a path (from: environment)");
}

#[test]
fn names_of_the_origin_get_advice() {
    let scene = Scene::new(&[("PROXY_SANDBOX_MODE", "read-only"), ("CODEX_HOME", "/home/x")])
        .with_dotenv("CODEX_HOME=.codex-api\nWORKER_RESTART_MAX=\n");
    assert_eq!(
        scene.warnings(),
        [
            "CODEX_HOME is not used: PROXY_CODEX_HOME names a home of the proxy's own \
             (from: HERE/.env)",
            "PROXY_SANDBOX_MODE is not used: Codex is always read-only, and runs no tools of its own \
             (from: environment)",
        ]
    );
}

#[test]
fn what_differs_from_the_defaults_is_listed_without_secrets() {
    let scene = Scene::new(&[
        ("PROXY_API_KEY", "canary-canary-canary"),
        ("PROXY_TIMEOUT_MS", "600000"),
        ("PROXY_TOOL_BLOCK_MAX", "3"),
        ("PROXY_TOOL_BLOCK_DELIMITER", "\n"),
        ("PROXY_STOP_AFTER_TOOLS", "no"),
        ("PROXY_REASONING", "CONTENT"),
    ]);
    let loaded = scene.load().unwrap();
    assert_eq!(
        loaded.settings.changed(),
        [
            "PROXY_API_KEY=(hidden)",
            "PROXY_STOP_AFTER_TOOLS=false",
            "PROXY_TOOL_BLOCK_MAX=3",
            "PROXY_TOOL_BLOCK_DELIMITER=\\n",
        ]
    );
    assert!(!format!("{loaded:?}").contains("canary"));
}

#[test]
fn folders_lie_in_the_data_folder() {
    let scene = Scene::new(&[]);
    let home = scene.effective("PROXY_CODEX_HOME").0.unwrap();
    assert_eq!(scene.hide_folder(&home), "HERE/codex-completions/codex-home");
    let nobody = Inputs {
        environment: Vec::new(),
        working_folder: "/nowhere".into(),
        user_data: None,
        flags: Flags::default(),
    };
    let problems = load(&nobody).unwrap_err().to_string();
    assert_eq!(problems, "there is no data folder for this user; set PROXY_DATA_DIR");
}
