//! Everything is built from the versions that the lock files name, and those come from one place.

use std::collections::BTreeSet;

use crate::sources;

/// Scripts that people and the tests run.
const SCRIPTS: [&str; 21] = [
    "start",
    "test",
    "bench/flamegraphs",
    "bench/instructions",
    "bench/run",
    "scripts/bench-continuity",
    "scripts/bench-proxy",
    "scripts/bench-turn",
    "scripts/check-dependencies",
    "scripts/conformance",
    "scripts/first-run",
    "scripts/fuzz",
    "scripts/install-browser",
    "scripts/install-clients",
    "scripts/install-codex",
    "scripts/mutants",
    "scripts/release",
    "scripts/render-dashboard",
    "scripts/screenshots",
    "scripts/soak",
    "scripts/under-fire",
];

/// Calls that build nothing; and those of cargo-fuzz, which has no such option: its script looks at
/// the lock file before.
const EXEMPT: [&str; 3] = ["fmt", "fuzz", "rustc"];

/// The commands of cargo in a script, each from `cargo` to its end.
fn cargo_commands(script: &str) -> Vec<String> {
    let script = script.replace("\\\n", " ");
    let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let code = lines.filter(|line| !line.starts_with("echo ") && !line.contains("missing "));
    let parts = code.flat_map(|line| line.split(['|', ';', '&', '(']));
    let commands = parts.filter_map(|part| part.find("cargo ").map(|at| part[at..].to_owned()));
    commands.filter(|command| !is_a_question(command)).collect()
}

/// Whether it is there, or which version.
fn is_a_question(command: &str) -> bool {
    let mut words = command.split_whitespace().skip(1);
    let has_subcommand = words.next().is_some_and(|word| word.starts_with(char::is_alphabetic));
    !has_subcommand || words.next() == Some("--version")
}

#[test]
fn row_18_every_call_of_cargo_is_locked() {
    let listed: BTreeSet<_> = SCRIPTS.iter().map(|&script| script.to_owned()).collect();
    let found = sources::names("scripts").into_iter().map(|name| format!("scripts/{name}"));
    let elsewhere = ["start", "test", "bench/flamegraphs", "bench/instructions", "bench/run"];
    let found: BTreeSet<_> = found.chain(elsewhere.map(str::to_owned)).collect();
    assert_eq!(listed, found);
    let mut locked = 0;
    for script in SCRIPTS {
        for command in cargo_commands(&sources::read(script)) {
            let subcommand = command.split_whitespace().nth(1).unwrap();
            if !EXEMPT.contains(&subcommand) {
                assert!(command.contains("--locked"), "{script}: {command}");
                locked += 1;
            }
        }
    }
    assert!(locked > 8, "only {locked} commands were found");
    assert!(
        sources::read("scripts/fuzz").contains("cargo metadata --locked --manifest-path fuzz/")
    );
    assert!(sources::read("test").contains("step scripts/check-dependencies"));
}

/// What `cargo deny` says about the product's own lock file holds for the others too.
#[test]
fn row_18_every_dependency_comes_from_where_the_products_do() {
    let origins = |path: &str| -> BTreeSet<String> {
        let file = sources::read(path);
        file.lines().filter(|line| line.starts_with("source = ")).map(str::to_owned).collect()
    };
    let product = origins("Cargo.lock");
    assert_eq!(product.len(), 1, "{product:?}");
    for path in ["bench/Cargo.lock", "fuzz/Cargo.lock"] {
        assert_eq!(origins(path), product, "{path}");
    }
}

#[test]
fn commands_are_found_in_scripts() {
    let script = "# cargo build\necho cargo build\nstep env A=1 cargo doc \\\n    --locked --quiet\n\
                  a=(cargo mutants -p x)\nif ! cargo deny --version >/dev/null; then cargo fmt; fi\n";
    let found = ["cargo doc      --locked --quiet", "cargo mutants -p x)", "cargo fmt"];
    assert_eq!(cargo_commands(script), found);
}
