//! `packaging/` and `docs/install.md`: what starts the server elsewhere names commands, settings and
//! versions that there are.

use std::process::Command;

use crate::sources;
use crate::tables::anchors;

const INSTALL: &str = "docs/install.md";
const UNIT: &str = "packaging/systemd/codex-completions.service";
const AGENT: &str = "packaging/launchd/codex-completions.plist";

/// Words that can only be settings.
fn settings(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    text.split(move |letter| !is_part(letter)).filter(|word| {
        let starts = ["PROXY_", "WORKER_", "CODEX_"];
        starts.iter().any(|start| word.len() > start.len() && word.starts_with(start))
    })
}

#[test]
fn every_setting_is_one_of_ours() {
    let configuration = sources::read("docs/configuration.md");
    for file in [INSTALL, UNIT, AGENT] {
        let text = sources::read(file);
        assert!(settings(&text).next().is_some(), "{file} names none");
        for setting in settings(&text) {
            assert!(configuration.contains(&format!("`{setting}`")), "{setting} in {file}");
        }
    }
}

#[test]
fn all_of_them_start_the_server() {
    for (file, command) in [
        (UNIT, "\nExecStart=%h/.local/bin/codex-completions serve --env-file %h/"),
        (AGENT, "<string>exec codex-completions serve</string>\n"),
    ] {
        assert!(sources::read(file).contains(command), "{file}");
    }
}

#[test]
fn row_26_they_install_the_codex_that_is_pinned() {
    assert!(sources::read(INSTALL).contains("```sh\nscripts/install-codex\n```\n"));
    let release = sources::read("scripts/release");
    for part in [
        " packaging/codex/package.json packaging/codex/package-lock.json\n",
        "install -m 755 scripts/install-codex ",
    ] {
        assert!(release.contains(part), "{part}");
    }
}

#[test]
fn the_agent_of_launchd_is_a_property_list() {
    let reading = "import json, plistlib, sys; print(json.dumps(plistlib.load(sys.stdin.buffer)))";
    let output = Command::new("python3")
        .args(["-c", reading])
        .stdin(std::fs::File::open(format!("../../{AGENT}")).unwrap())
        .output()
        .expect("python3");
    assert!(output.status.success(), "{output:?}");
    let agent: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        agent,
        serde_json::json!({
            "Label": "codex-completions",
            "ProgramArguments": ["/bin/zsh", "-lc", "exec codex-completions serve"],
            "RunAtLoad": true,
            "KeepAlive": {"SuccessfulExit": false},
            "ExitTimeOut": 30,
            "Umask": 0o077,
            "ProcessType": "Interactive",
        })
    );
}

#[test]
fn every_link_leads_somewhere() {
    let document = sources::read(INSTALL);
    for rest in document.split("](").skip(1) {
        let target = rest.split(')').next().unwrap();
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = format!("docs/{file}");
        assert!(sources::exists(&path), "{target}");
        let leads_on = || anchors(&sources::read(&path)).contains(heading);
        assert!(heading.is_empty() || leads_on(), "{target}");
    }
}
