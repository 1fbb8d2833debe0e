//! The clients that the page and the documents name are those that are run, in the versions of their lock files.

use serde_json::Value;

use crate::sources;

/// Folders with a lock file of packages that the tests or `scripts/clients` run.
fn folders() -> Vec<String> {
    let programs = sources::names("tests/programs").into_iter();
    let programs = programs.map(|name| format!("tests/programs/{name}"));
    let others = ["packaging/codex", "tests/clients/node", "tests/clients/python"];
    programs.chain(others.map(str::to_owned)).collect()
}

/// Every package that is locked, as `name version`.
fn locked() -> Vec<String> {
    let mut packages = Vec::new();
    for folder in folders() {
        let npm = format!("{folder}/package-lock.json");
        if sources::exists(&npm) {
            let lock: Value = serde_json::from_str(&sources::read(&npm)).unwrap();
            for (at, package) in lock["packages"].as_object().unwrap() {
                let name = at.rsplit("node_modules/").next().unwrap();
                packages
                    .extend(package["version"].as_str().map(|version| format!("{name} {version}")));
            }
        }
        let pip = format!("{folder}/requirements.txt");
        if sources::exists(&pip) {
            let text = sources::read(&pip);
            let pinned =
                text.lines().filter_map(|line| line.split_whitespace().next()?.split_once("=="));
            packages.extend(pinned.map(|(name, version)| format!("{name} {version}")));
        }
    }
    packages
}

#[test]
fn every_card_of_the_page_names_what_was_run() {
    let settings = sources::read("crates/server/page/client-settings.js");
    let locked = locked();
    let cards: Vec<_> = settings.split("\n    id: \"").skip(1).collect();
    assert!(cards.len() > 10, "{}", cards.len());
    for card in cards {
        let id = card.split('"').next().unwrap();
        let (_, rest) =
            card.split_once("    tested: [").unwrap_or_else(|| panic!("{id} tells nothing"));
        let (tested, rest) = rest.split_once("],\n").unwrap();
        for package in tested.split('"').skip(1).step_by(2) {
            assert!(locked.iter().any(|known| known == package), "{id}: {package} is not locked");
        }
        let says_why = rest.starts_with("    testing: \"");
        assert!(says_why || !tested.is_empty(), "{id} does not say that it was not run");
    }
}

#[test]
fn every_program_has_its_settings_in_the_documents() {
    let document = sources::read("docs/clients.md");
    for name in sources::names("tests/programs") {
        let program = format!("tests/programs/{name}/program.json");
        if !sources::exists(&program) {
            continue;
        }
        let program: Value = serde_json::from_str(&sources::read(&program)).unwrap();
        let title = program["title"].as_str().unwrap();
        let plain = title.split(" (").next().unwrap();
        let (_, settings) = document.split_once("## Settings").unwrap();
        assert!(settings.contains(&format!("\n| {plain} | ")), "{plain} has no settings");
        for variant in program["variants"].as_object().unwrap().keys() {
            let row = |line: &str| {
                line.starts_with(&format!("| {title} |"))
                    && line.contains(&format!("| {variant} |"))
            };
            assert!(document.lines().any(row), "{title}, {variant}");
        }
    }
}
