//! `docs/operations.md`: its commands do what it says.
//!
//! The `console` blocks are typed into one shell, from the first to the last, and what comes is compared with what stands
//! there. `…` stands for anything in a line, and alone in a line for any lines. The `sh` blocks are not run: every command
//! in them is listed here, with the reason.

mod document;
mod shell;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testkit::{codex_binary, write_script};

use crate::server::free_port;
use document::{Block, blocks, matches};
use shell::Shell;

const DOCUMENT: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md"));

const DEFAULT_PORT: &str = "11435";

/// Commands that no test can run, by how they begin.
const NOT_RUN: [(&str, &str); 11] = [
    (
        "codex-completions login",
        "a person signs in; the tests in `account` do it at an issuer of their own",
    ),
    ("codex-completions status", "there is nobody without a login"),
    ("codex-completions logout", "the same"),
    ("printenv OPENAI_API_KEY | codex-completions login", "the same"),
    ("install ", "the binary of a release"),
    ("systemctl --user ", "there is no service manager"),
    ("journalctl --user ", "the same"),
    ("npm install ", "it downloads some hundred megabytes"),
    ("curl -N https://proxy.example.org/", "there is no such host"),
    ("promtool ", "Prometheus is not among what the tests need"),
    ("scripts/render-dashboard ", "it draws what a Prometheus has seen"),
];

/// Shows a document, and is neither.
const NOT_COMMANDS: [&str; 3] = ["json", "text", "toml"];

/// The home of a user who keeps two versions of Codex, and everything that the document's names stand for here.
struct Home {
    folder: tempfile::TempDir,
    names: Vec<(&'static str, String)>,
}

#[tokio::test]
async fn its_commands_do_what_it_says() {
    let home = Home::new().await;
    let mut shell = Shell::start(home.folder.path(), &home.translated(DEFAULT_PORT));
    let mut count = 0;
    for block in blocks(DOCUMENT).into_iter().filter(|block| block.language == "console") {
        for step in block.steps() {
            let command = home.translated(&step.command);
            let expected = home.translated(&step.expected);
            let is_as_told = |lines: &[String]| matches(&expected, lines);
            let output = shell.run(&command, &is_as_told);
            assert!(
                is_as_told(&output.lines) && output.status == 0,
                "docs/operations.md:{}: `{command}` ended with {} and said\n{}\n\ninstead of\n{expected}",
                step.line,
                output.status,
                output.lines.join("\n"),
            );
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands were found");
}

#[test]
fn what_is_not_run_is_known() {
    let mut seen = BTreeSet::new();
    for Block { language, line, text } in blocks(DOCUMENT) {
        match language {
            "console" => {}
            "sh" => {
                for command in text.lines().filter(|line| !line.starts_with([' ', '#'])) {
                    let known = NOT_RUN.iter().find(|(start, _)| command.starts_with(start));
                    let (start, _) = known.unwrap_or_else(|| {
                        panic!("docs/operations.md:{line}: nothing says why `{command}` is not run")
                    });
                    seen.insert(*start);
                }
            }
            other => assert!(
                NOT_COMMANDS.contains(&other),
                "docs/operations.md:{line}: a block of {other:?} is neither run nor known"
            ),
        }
    }
    assert_eq!(seen, NOT_RUN.map(|(start, _)| start).into());
}

// === impl Home ===

impl Home {
    async fn new() -> Self {
        let codex = codex_binary().await;
        let version = codex.version();
        let newer = format!("{}.{}.0", version.major, version.minor + 1);
        let folder = tempfile::tempdir().unwrap();
        let home = Self {
            names: vec![
                (DEFAULT_PORT, free_port().to_string()),
                ("/home/you", folder.path().display().to_string()),
                ("0.167.0", newer.clone()),
                ("0.166.0", version.to_string()),
            ],
            folder,
        };
        let first =
            home.keep("0.166.0", |path| std::os::unix::fs::symlink(codex.path(), path).unwrap());
        home.keep("0.167.0", |path| {
            let codex = codex.path().display();
            let script = format!(
                "if [ \"$1\" = --version ]; then echo codex-cli {newer}; else exec '{codex}' \"$@\"; fi"
            );
            write_script(path, &script);
        });
        let on_the_path = home.folder.path().join(".local/bin");
        std::fs::create_dir_all(&on_the_path).unwrap();
        std::os::unix::fs::symlink(first, on_the_path.join("codex")).unwrap();
        home
    }

    /// Makes a version of Codex, and gives its path.
    fn keep(&self, version: &str, make: impl FnOnce(&Path)) -> PathBuf {
        // Where npm would put it.
        let folder = format!("codex/{}/node_modules/.bin", self.translated(version));
        let folder = self.folder.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("codex");
        make(&path);
        path
    }

    fn translated(&self, text: &str) -> String {
        self.names.iter().fold(text.to_owned(), |text, (theirs, ours)| text.replace(theirs, ours))
    }
}
