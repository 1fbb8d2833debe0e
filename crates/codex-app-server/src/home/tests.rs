use super::*;

#[test]
fn somebody_elses_folder_is_refused() {
    for (name, content) in
        [("config.toml", "model = \"x\"\n"), ("AGENTS.md", "Be rude."), ("history.jsonl", "")]
    {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), content).unwrap();
        let home = CodexHome { path: folder.path().to_owned() };
        assert!(
            matches!(home.refuse_foreign(), Err(HomeError::Foreign { found, .. }) if found == name)
        );
    }
}

#[test]
fn our_own_and_an_empty_folder_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let home = CodexHome { path: folder.path().to_owned() };
    home.refuse_foreign().unwrap();
    std::fs::write(folder.path().join("auth.json"), "{}").unwrap();
    home.refuse_foreign().unwrap();
    std::fs::write(folder.path().join("history.jsonl"), "").unwrap();
    std::fs::write(folder.path().join("config.toml"), include_str!("config.toml")).unwrap();
    home.refuse_foreign().unwrap();
}
