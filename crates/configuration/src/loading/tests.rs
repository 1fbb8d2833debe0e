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

    /// Named as a user in its folder would.
    fn with_dotenv(mut self, text: &str) -> Self {
        std::fs::write(self.folder.path().join(".env"), text).unwrap();
        self.flags.env_file = Some("./.env".into());
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
        let effective = loaded
            .settings
            .values
            .iter()
            .find(|effective| effective.variable.name == name)
            .unwrap();
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
        ("PROXY_API_KEY", "goldfinch-goldfinch"),
        ("PROXY_TIMEOUT_MS", "600000"),
        ("PROXY_TOOL_BLOCK_MAX", "3"),
        ("PROXY_TOOL_BLOCK_DELIMITER", "\n"),
        ("PROXY_STOP_AFTER_TOOLS", "no"),
        ("PROXY_REASONING", "CONTENT"),
    ]);
    let loaded = scene.load().unwrap();
    assert_eq!(
        loaded.settings.values.changed(),
        [
            "PROXY_API_KEY=(hidden)",
            "PROXY_STOP_AFTER_TOOLS=false",
            "PROXY_TOOL_BLOCK_MAX=3",
            "PROXY_TOOL_BLOCK_DELIMITER=\\n",
        ]
    );
    assert!(!format!("{loaded:?}").contains("goldfinch"));
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

#[test]
fn row_20_a_dotenv_of_the_working_folder_is_not_read_but_warned_about() {
    let mut scene = Scene::new(&[]).with_dotenv("PORT=2\nPROXY_NO_SUCH_SETTING=1\nbroken\n");
    scene.flags.env_file = None;
    assert_eq!(scene.effective("PORT").1, "default");
    let warning = ["HERE/.env is not read; to use it, add: --env-file .env"];
    assert_eq!(scene.warnings(), warning);
    assert!(!scene.load().unwrap().sources().contains(&scene.folder.path().join(".env")));

    // Whatever it is: it is not opened.
    let path = scene.folder.path().join(".env");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(scene.warnings(), <[&str; 0]>::default());
    std::os::unix::fs::symlink("/nowhere/at-all", &path).unwrap();
    assert_eq!(scene.warnings(), warning);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(scene.warnings(), warning);

    // Another file that is named is meant.
    std::fs::write(scene.folder.path().join("mine.env"), "PORT=3").unwrap();
    scene.flags.env_file = Some("mine.env".into());
    assert_eq!(scene.effective("PORT"), (Some("3".to_owned()), "HERE/mine.env".to_owned()));
    assert_eq!(scene.warnings(), <[&str; 0]>::default());
}

#[test]
fn row_20_a_file_that_is_named_must_be_there_and_of_the_user() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new(&[]).with_dotenv("PORT=2\n");
    let path = scene.folder.path().join(".env");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let problem = "cannot read HERE/.env: every user can write to it (--env-file)";
    assert_eq!(scene.problems(), [problem]);
    std::fs::remove_file(&path).unwrap();
    let problem = "cannot read HERE/.env: No such file or directory (os error 2) (--env-file)";
    assert_eq!(scene.problems(), [problem]);
}

/// Else the folder that a command is started in would choose the Codex that is run.
#[test]
fn row_20_relative_paths_in_a_file_begin_at_the_file() {
    let mut scene = Scene::new(&[])
        .with_toml("codex_bin = \"bin/codex\"\ncapture_dir = \"/records\"\n")
        .with_dotenv("PROXY_CODEX_HOME=home\nPROXY_MODEL_ALIASES=a=b\n");
    std::fs::create_dir(scene.folder.path().join("elsewhere")).unwrap();
    let moved = scene.folder.path().join("elsewhere/mine.env");
    std::fs::rename(scene.folder.path().join(".env"), &moved).unwrap();
    scene.flags.env_file = Some("elsewhere/mine.env".into());
    for (name, value) in [
        ("CODEX_BIN", "HERE/codex-completions/bin/codex"),
        ("PROXY_CAPTURE_DIR", "/records"),
        ("PROXY_CODEX_HOME", "HERE/elsewhere/home"),
        ("PROXY_MODEL_ALIASES", "a=b"),
    ] {
        assert_eq!(scene.hide_folder(&scene.effective(name).0.unwrap()), value, "{name}");
    }

    // Those that name the TOML file too.
    std::fs::write(scene.folder.path().join("elsewhere/other.toml"), "port = 7").unwrap();
    std::fs::write(&moved, "PROXY_CONFIG=other.toml\n").unwrap();
    let wanted = (Some("7".to_owned()), "HERE/elsewhere/other.toml".to_owned());
    assert_eq!(scene.effective("PORT"), wanted);
}
