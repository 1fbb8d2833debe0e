//! `completions`, and what stands in `--help`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::user::{User, err, out};

/// Neither needs Codex.
fn user() -> User {
    User { folder: tempfile::tempdir().unwrap(), codex: "/nowhere/codex".into() }
}

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = user().run(&["completions", shell]);
        assert!(output.status.success(), "{}", err(&output));
        let script = out(&output);
        assert!(script.contains("device-code") && script.contains("doctor"), "{shell}");
    }
    let unknown = user().run(&["completions", "basic"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("[possible values: bash, "), "{}", err(&unknown));
}

#[test]
fn bash_completes_a_command() {
    let script = out(&user().run(&["completions", "bash"]));
    let mut bash = Command::new("bash")
        .arg("--norc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // As bash calls it for `codex-completions doc`.
    let call = "COMP_WORDS=(codex-completions doc); COMP_CWORD=1\n\
                f=$(complete -p codex-completions | sed 's/.* -F \\([^ ]*\\) .*/\\1/')\n\
                $f codex-completions doc codex-completions\necho \"${COMPREPLY[@]}\"\n";
    write!(bash.stdin.take().unwrap(), "{script}\n{call}").unwrap();
    assert_eq!(out(&bash.wait_with_output().unwrap()), "doctor\n");
}

#[test]
fn help_has_examples_and_exit_codes() {
    let help = out(&user().run(&["--help"]));
    assert!(
        help.contains("Examples:\n") && help.contains("Exit codes: 0 if all is well"),
        "{help}"
    );
    assert!(!help.contains('\u{1b}'));
    let wrong = user().run(&["serv"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("'serve'"), "{}", err(&wrong));
}
