//! Everything is built from the versions that the lock files name, and those come from one place.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::sources;

/// Scripts that people and the tests run.
const SCRIPTS: [&str; 28] = [
    "start",
    "test",
    "bench/flamegraphs",
    "bench/instructions",
    "bench/peers/install",
    "bench/run",
    "bench/continuity",
    "bench/proxy",
    "bench/turn",
    "scripts/check-dependencies",
    "scripts/clients",
    "scripts/conformance",
    "scripts/first-run",
    "scripts/fuzz",
    "scripts/install-browser",
    "scripts/install-clients",
    "scripts/install-codex",
    "scripts/install-linters",
    "scripts/install-programs",
    "scripts/install-proxies",
    "scripts/install-tool",
    "scripts/lint",
    "scripts/mutants",
    "scripts/release",
    "scripts/render-dashboard",
    "scripts/screenshots",
    "bench/soak",
    "bench/under-fire",
];

/// Calls that build nothing; and those of cargo-fuzz, which has no such option: its script looks at
/// the lock file before.
const EXEMPT: [&str; 3] = ["fmt", "fuzz", "rustc"];

/// What npm installs from, beside the programs of the tests.
const NPM_LOCKS: [&str; 7] = [
    "bench/peers",
    "packaging/codex",
    "packaging/grafana/render",
    "tests/browser",
    "tests/clients/node",
    "tests/clients/node/agents-0.20.0",
    "tests/linters",
];

/// What pip installs from, beside the programs of the tests.
const REQUIREMENTS: [&str; 3] = [
    "bench/peers/requirements.txt",
    "tests/clients/python/requirements.txt",
    "tests/linters/requirements.txt",
];

/// Where an operator installs a Codex that no lock file of ours names.
const OPERATORS_CHOICE: [&str; 3] = [
    "crates/codex-app-server/src/binary.rs",
    "crates/codex-completions/src/doctor.rs",
    "docs/operations.md",
];

/// The lock files of this name of the programs that the tests run.
fn of_programs(lock: &str) -> Vec<String> {
    let programs = sources::names("tests/programs").into_iter();
    let paths = programs.map(|program| format!("tests/programs/{program}/{lock}"));
    let found: Vec<String> = paths.filter(|path| sources::exists(path)).collect();
    assert!(!found.is_empty(), "no program has a {lock}");
    found
}

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
    let elsewhere = SCRIPTS.into_iter().filter(|script| !script.starts_with("scripts/"));
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
    let others = ["bench/library/Cargo.lock", "fuzz/Cargo.lock"].map(str::to_owned);
    for path in others.into_iter().chain(of_programs("Cargo.lock")) {
        assert_eq!(origins(&path), product, "{path}");
    }
}

#[test]
fn commands_are_found_in_scripts() {
    let script = "# cargo build\necho cargo build\nstep env A=1 cargo doc \\\n    --locked --quiet\n\
                  a=(cargo mutants -p x)\nif ! cargo deny --version >/dev/null; then cargo fmt; fi\n";
    let found = ["cargo doc      --locked --quiet", "cargo mutants -p x)", "cargo fmt"];
    assert_eq!(cargo_commands(script), found);
}

/// The commands that install packages, each from the name of its program to the end of its line.
fn installs(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let commands = ["npm ci ", "npm install ", "npm i ", "npx ", "pip install ", "pip3 install "];
    let found = |line: &str| {
        let start = commands.iter().filter_map(|command| line.find(command)).min()?;
        Some(line[start..].split_whitespace().collect::<Vec<_>>().join(" "))
    };
    text.lines().filter(|line| !line.trim_start().starts_with('#')).filter_map(found).collect()
}

#[test]
fn row_26_packages_are_installed_from_lock_files_and_run_no_script() {
    // There are pictures too.
    let is_text = |name: &String| Path::new(name).extension().is_some_and(|end| end == "md");
    let documents = sources::names("docs").into_iter().filter(is_text);
    let files = documents.map(|name| format!("docs/{name}"));
    let files = files.chain(SCRIPTS.map(str::to_owned));
    let others = ["README.md", "CONTRIBUTING.md"];
    let files = files.chain(others.into_iter().chain(OPERATORS_CHOICE).map(str::to_owned));
    let mut found = BTreeSet::new();
    for file in files {
        for install in installs(&sources::read(&file)) {
            let is_safe = match install.split(' ').take(2).collect::<Vec<_>>()[..] {
                ["npm", "ci"] => install.contains(" --ignore-scripts"),
                ["npm", "install"] => {
                    let installs_nothing = install.contains(" --package-lock-only ");
                    let may_choose = OPERATORS_CHOICE.contains(&file.as_str());
                    install.contains(" --ignore-scripts") && (installs_nothing || may_choose)
                }
                ["pip", "install"] => {
                    install.contains(" --require-hashes ")
                        && install.contains(" --only-binary :all: ")
                }
                _ => false,
            };
            assert!(is_safe, "{file}: {install}");
            found.insert(file.clone());
        }
    }
    for file in [
        "bench/peers/install",
        "scripts/install-clients",
        "scripts/install-codex",
        "scripts/install-linters",
        "scripts/install-programs",
    ] {
        assert!(found.contains(file), "{file} installs nothing: {found:?}");
    }
}

#[test]
fn row_26_lock_files_have_the_integrity_of_every_package_and_no_address() {
    let npm = NPM_LOCKS.map(|folder| format!("{folder}/package-lock.json"));
    for path in npm.into_iter().chain(of_programs("package-lock.json")) {
        let lock: Value = serde_json::from_str(&sources::read(&path)).unwrap();
        let packages = lock["packages"].as_object().unwrap().iter();
        // Those of the folder itself, and links to them, come from nowhere else.
        let foreign = packages
            .filter(|(at, package)| at.contains("node_modules/") && package["link"] != true);
        for (at, package) in foreign {
            let integrity = package["integrity"].as_str().unwrap_or_default();
            assert!(integrity.starts_with("sha512-"), "{path}: {at}");
            assert_eq!(package["resolved"], Value::Null, "{path}: {at}");
        }
    }
    let pip = REQUIREMENTS.map(str::to_owned);
    for path in pip.into_iter().chain(of_programs("requirements.txt")) {
        let text = sources::read(&path).replace("\\\n", " ");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            // A condition may follow the version.
            let start = line.find(" --hash").unwrap_or(line.len());
            let (package, hashes) = line.split_at(start);
            let pinned = package.split(';').next().is_some_and(|name| name.contains("=="));
            let hashes: Vec<_> = hashes.split_whitespace().collect();
            let are_hashes = hashes.iter().all(|word| word.starts_with("--hash=sha256:"));
            assert!(pinned && are_hashes && !hashes.is_empty(), "{path}: {line}");
        }
    }
}

/// Every package of Codex has the version that the documents and the oldest that works name.
#[test]
fn row_26_one_version_of_codex_is_pinned_for_every_platform() {
    let lock: Value =
        serde_json::from_str(&sources::read("packaging/codex/package-lock.json")).unwrap();
    let pinned = lock["packages"][""]["dependencies"]["@openai/codex"].as_str().unwrap();
    let packages = lock["packages"].as_object().unwrap();
    let wrapper = &packages["node_modules/@openai/codex"];
    assert_eq!(wrapper["version"], pinned);
    let natives = wrapper["optionalDependencies"].as_object().unwrap();
    for platform in ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"] {
        let version = format!("{pinned}-{platform}");
        let name = format!("@openai/codex-{platform}");
        assert_eq!(natives[&name], format!("npm:@openai/codex@{version}"));
        assert_eq!(packages[&format!("node_modules/{name}")]["version"], version);
    }
    assert!(sources::read("docs/install.md").contains(&format!("a copy of {pinned} into")));
}
