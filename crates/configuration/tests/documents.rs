//! `docs/configuration.md` and `.env.example` say what the table says.
//!
//! `UPDATE=1 cargo nextest run -p configuration --test documents` writes them anew.
#![cfg(test)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use configuration::{DefaultValue, Flags, Inputs, Loaded, Reload, VARIABLES, Variable, load};

const BEGIN: &str = "<!-- The tables are written from the table in the code. -->\n";
const END: &str = "<!-- End of the tables. -->\n";

/// Widest line of `.env.example`.
const WIDTH: usize = 100;

fn repository_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(repository_file(name)).unwrap_or_default()
}

/// Compares a file with what it should hold, or makes it so.
#[track_caller]
fn check(name: &str, wanted: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(repository_file(name), wanted).unwrap();
    }
    assert!(read(name) == wanted, "{name} is out of date: see crates/configuration/tests");
}

/// The groups, each with its settings.
fn groups() -> Vec<(&'static str, Vec<&'static Variable>)> {
    let mut groups: Vec<(&str, Vec<&Variable>)> = Vec::new();
    for variable in VARIABLES {
        match groups.last_mut() {
            Some((group, variables)) if *group == variable.group => variables.push(variable),
            _ => groups.push((variable.group, vec![variable])),
        }
    }
    groups
}

fn tables() -> String {
    let mut text = String::new();
    for (group, variables) in groups() {
        write!(
            text,
            "\n### {group}\n\n| variable | default | allowed | meaning |\n|---|---|---|---|\n"
        )
        .unwrap();
        for variable in variables {
            let default = match variable.default {
                DefaultValue::Is(value) => format!("`{value}`"),
                DefaultValue::Unset(words) => words.to_owned(),
            };
            let Variable { name, meaning, .. } = variable;
            let allowed = variable.allowed();
            let live = match variable.reload {
                Reload::Live => " ↻",
                Reload::AtStart => "",
            };
            writeln!(text, "| `{name}`{live} | {default} | {allowed} | {meaning} |").unwrap();
        }
    }
    text
}

fn example() -> String {
    let mut text = "# Settings of codex-completions. Copy this to .env, take the # off the lines that you change, and\n\
                    # name the file: --env-file .env (./start does, for the one beside it).\n\
                    # docs/configuration.md has more.\n"
        .to_owned();
    for (group, variables) in groups() {
        write!(text, "\n# === {group} ===\n").unwrap();
        for variable in variables {
            let Variable { name, meaning, .. } = variable;
            let (value, unset) = match variable.default {
                DefaultValue::Is(value) => (value, String::new()),
                DefaultValue::Unset(words) => ("", format!(" Unset: {words}.")),
            };
            text += "\n";
            text += &wrapped(&format!("{meaning}."));
            text += &wrapped(&format!("Allowed: {}.{unset}", variable.allowed()));
            writeln!(text, "#{name}={value}").unwrap();
        }
    }
    text
}

/// A comment of several lines.
fn wrapped(words: &str) -> String {
    let mut lines = vec!["#".to_owned()];
    for word in words.split(' ') {
        let line = lines.last_mut().unwrap();
        if line.len() + 1 + word.len() > WIDTH {
            lines.push(format!("# {word}"));
        } else {
            *line += " ";
            *line += word;
        }
    }
    lines.join("\n") + "\n"
}

/// Loads a `.env` and a TOML file, for a user who has nothing else.
fn loaded(dotenv: &str, toml: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env"), dotenv).unwrap();
    let file = folder.path().join("config.toml");
    std::fs::write(&file, toml).unwrap();
    let config = Some(file.to_str().unwrap().to_owned());
    let inputs = Inputs {
        environment: Vec::new(),
        working_folder: folder.path().to_owned(),
        user_data: Some("/nowhere".into()),
        flags: Flags { config, env_file: Some(".env".into()), ..Flags::default() },
    };
    load(&inputs).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The first code block of `language` in the documentation.
fn code_block(document: &str, language: &str) -> String {
    let (_, rest) = document.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_documentation_has_every_setting_with_its_default() {
    let document = read("docs/configuration.md");
    let (before, rest) = document.split_once(BEGIN).expect("the mark of the tables");
    let (_, after) = rest.split_once(END).expect("the mark of their end");
    check("docs/configuration.md", &format!("{before}{BEGIN}{}\n{END}{after}", tables()));
}

#[test]
fn the_example_has_every_setting_with_its_default() {
    check(".env.example", &example());
}

#[test]
fn the_example_changes_nothing_even_if_every_line_is_taken() {
    let is_setting = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
    let text = read(".env.example");
    let lines: Vec<_> = text.lines().filter(is_setting).map(|line| &line[1..]).collect();
    assert_eq!(lines.len(), VARIABLES.len());
    let settings = loaded(&lines.join("\n"), "").settings;
    let changed = settings.values.changed();
    assert!(changed.iter().all(|setting| setting.starts_with("PROXY_CONFIG=")), "{changed:?}");
}

#[test]
fn the_examples_of_the_documentation_work() {
    let document = read("docs/configuration.md");
    let loaded = loaded(&code_block(&document, "sh"), &code_block(&document, "toml"));
    assert_eq!(loaded.warnings, []);
    let changed = loaded.settings.values.changed();
    let names: Vec<_> = changed.iter().filter_map(|setting| setting.split('=').next()).collect();
    assert_eq!(
        names,
        [
            "PORT",
            "PROXY_API_KEY",
            "PROXY_ALLOWED_HOSTS",
            "CODEX_MODEL",
            "PROXY_MODEL_ALIASES",
            "PROXY_TOOL_BLOCK_MAX",
            "PROXY_TOOL_BLOCK_DELIMITER",
            "PROXY_TIMEOUT_MS",
            "WORKER_COUNT",
            "PROXY_LOG",
            "PROXY_CONFIG",
        ]
    );
}
