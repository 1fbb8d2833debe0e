use std::os::unix::fs::PermissionsExt as _;

use super::*;

const KEY: &str = r#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1"}"#;
const CHATGPT: &str = r#"{"auth_mode":"chatgpt","OPENAI_API_KEY":null,
  "tokens":{"id_token":"a","access_token":"b","refresh_token":"c","account_id":"d"},"new":1}"#;

/// Another Codex's home, and ours, which is not there yet.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(login: &str) -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(scene.theirs()).unwrap();
        std::fs::write(scene.theirs().join("auth.json"), login).unwrap();
        scene.chmod(0o600);
        scene
    }

    fn theirs(&self) -> PathBuf {
        self.folder.path().join("theirs")
    }

    fn ours(&self) -> PathBuf {
        self.folder.path().join("ours")
    }

    fn chmod(&self, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.theirs().join("auth.json"), permissions).unwrap();
    }

    fn import(&self, present: PresentLogin) -> Result<LoginKind, String> {
        import_login(&self.theirs(), &self.ours(), present).map_err(|error| error.to_string())
    }

    fn refusal(&self) -> String {
        let refusal = self.import(PresentLogin::Replace).unwrap_err();
        assert!(!self.ours().exists(), "nothing is made of what is refused");
        refusal
    }
}

#[test]
fn a_login_is_copied_byte_for_byte_and_for_us_alone() {
    for (login, kind) in [(KEY, LoginKind::Unchanging), (CHATGPT, LoginKind::ChatGpt)] {
        let scene = Scene::new(login);
        assert_eq!(scene.import(PresentLogin::Keep), Ok(kind));
        let copy = scene.ours().join("auth.json");
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), login);
        assert_eq!(std::fs::metadata(&copy).unwrap().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(scene.ours()).unwrap().count(), 1);
    }
}

#[test]
fn a_login_that_is_there_is_replaced_only_on_request() {
    let scene = Scene::new(CHATGPT);
    std::fs::create_dir(scene.ours()).unwrap();
    let copy = scene.ours().join("auth.json");
    std::fs::write(&copy, KEY).unwrap();
    assert_eq!(scene.import(PresentLogin::Keep), Err("there is a login already".to_owned()));
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), KEY);
    assert_eq!(scene.import(PresentLogin::Replace), Ok(LoginKind::ChatGpt));
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), CHATGPT);
    let itself = import_login(&scene.ours(), &scene.ours(), PresentLogin::Replace);
    assert!(matches!(itself, Err(ImportError::Present)));
}

#[test]
fn what_may_not_be_the_users_own_is_refused() {
    let scene = Scene::new(KEY);
    scene.chmod(0o620);
    assert!(scene.refusal().ends_with("is not taken: other users can write to it"));
    scene.chmod(0o600);
    let (file, moved) = (scene.theirs().join("auth.json"), scene.theirs().join("elsewhere"));
    std::fs::rename(&file, &moved).unwrap();
    assert!(scene.refusal().contains("there is no login at "));
    std::os::unix::fs::symlink(&moved, &file).unwrap();
    assert!(scene.refusal().ends_with("is not taken: it is a symbolic link"));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(scene.refusal().ends_with("is not taken: it is not a regular file"));
}

#[test]
fn what_is_no_login_is_refused_without_its_content() {
    for content in [
        "canary",
        "{}",
        r#"["canary"]"#,
        r#"{"OPENAI_API_KEY":""}"#,
        r#"{"tokens":{"access_token":"canary"}}"#,
        r#"{"tokens":"canary"}"#,
    ] {
        let refusal = Scene::new(content).refusal();
        assert!(refusal.contains(" is not a login of Codex: ") && !refusal.contains("canary"));
    }
    assert!(Scene::new(&" ".repeat(2_000_000)).refusal().ends_with("far larger than a login"));
}

#[test]
fn a_home_of_somebody_else_is_left_alone() {
    let scene = Scene::new(KEY);
    std::fs::create_dir(scene.ours()).unwrap();
    std::fs::write(scene.ours().join("config.toml"), "model = \"x\"\n").unwrap();
    assert!(scene.import(PresentLogin::Replace).unwrap_err().contains("belongs to somebody else"));
    assert!(!scene.ours().join("auth.json").exists());
}
