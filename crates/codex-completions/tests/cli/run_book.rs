//! `docs/operations.md` and `docs/getting-started.md`: their commands do what they say.
//!
//! The `console` blocks of a document are typed into one shell, from the first to the last, and what comes is compared
//! with what stands there. `…` stands for anything in a line, and alone in a line for any lines. The `sh` blocks are not run: every command
//! in them is listed here, with the reason.

mod document;
mod shell;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testkit::{codex_binary, write_script};

use crate::server::free_port;
use document::{Block, blocks, matches};
use shell::Shell;

/// A document, by its name.
struct Document {
    name: &'static str,
    text: &'static str,
    /// Commands that no test can run, by how they begin.
    not_run: &'static [(&'static str, &'static str)],
}

const RUN_BOOK: Document = Document {
    name: "docs/operations.md",
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md")),
    not_run: &NOT_RUN,
};

const GETTING_STARTED: Document = Document {
    name: "docs/getting-started.md",
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/getting-started.md")),
    not_run: &[(
        "./start login",
        "a person signs in; the tests in `account` and `login_import` do it at an issuer of their own",
    )],
};

const DEFAULT_PORT: &str = "11435";

const NOT_RUN: [(&str, &str); 13] = [
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
    ("mkdir -p ~/codex/", "a folder for the next ones"),
    ("cp packaging/codex/", "a lock file for the next one"),
    ("npm ", "it downloads some hundred megabytes"),
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
    assert!(RUN_BOOK.replay().await > 20);
}

#[tokio::test]
async fn a_newcomer_can_type_what_stands_there() {
    assert!(GETTING_STARTED.replay().await > 10);
}

#[test]
fn what_is_not_run_is_known() {
    RUN_BOOK.check_what_is_not_run();
    GETTING_STARTED.check_what_is_not_run();
}

// === impl Document ===

impl Document {
    /// Types every command, and says how many there were.
    async fn replay(&self) -> usize {
        let home = Home::new().await;
        let mut shell = Shell::start(home.folder.path(), &home.translated(DEFAULT_PORT));
        let mut count = 0;
        for block in blocks(self.text).into_iter().filter(|block| block.language == "console") {
            for step in block.steps() {
                let command = home.translated(&step.command);
                let expected = home.translated(&step.expected);
                let is_as_told = |lines: &[String]| matches(&expected, lines);
                let output = shell.run(&command, &is_as_told);
                assert!(
                    is_as_told(&output.lines) && output.status == 0,
                    "{}:{}: `{command}` ended with {} and said\n{}\n\ninstead of\n{expected}",
                    self.name,
                    step.line,
                    output.status,
                    output.lines.join("\n"),
                );
                count += 1;
            }
        }
        count
    }

    fn check_what_is_not_run(&self) {
        let name = self.name;
        let mut seen = BTreeSet::new();
        for Block { language, line, text } in blocks(self.text) {
            match language {
                "console" => {}
                "sh" => {
                    for command in text.lines().filter(|line| !line.starts_with([' ', '#'])) {
                        let known =
                            self.not_run.iter().find(|(start, _)| command.starts_with(start));
                        let (start, _) = known.unwrap_or_else(|| {
                            panic!("{name}:{line}: nothing says why `{command}` is not run")
                        });
                        seen.insert(*start);
                    }
                }
                other => assert!(
                    NOT_COMMANDS.contains(&other),
                    "{name}:{line}: a block of {other:?} is neither run nor known"
                ),
            }
        }
        assert_eq!(seen, self.not_run.iter().map(|(start, _)| *start).collect());
    }
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
        // What `./start` does once everything is built.
        let start = "if [ $# = 0 ]; then set -- serve; fi\nexec codex-completions \"$@\"";
        write_script(&home.folder.path().join("start"), start);
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
