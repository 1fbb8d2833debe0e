//! The repository's own files, read as text.

use std::path::{Path, PathBuf};

/// A file of Rust.
pub(crate) struct Source {
    /// Its crate, as the folder is called.
    pub(crate) package: String,
    /// Below the crate, such as `src/chat/stream.rs`.
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn read(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(crate) fn exists(path: &str) -> bool {
    root().join(path).exists()
}

/// What lies in a folder, by name.
pub(crate) fn names(folder: &str) -> Vec<String> {
    let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    children(&root().join(folder)).into_iter().map(name).collect()
}

/// Every file of Rust in the workspace.
pub(crate) fn all() -> Vec<Source> {
    let mut sources = Vec::new();
    let crates = children(&root().join("crates"));
    for package in crates.into_iter().chain([root().join("bench/server")]) {
        let name = package.file_name().unwrap().to_string_lossy().into_owned();
        for folder in ["src", "tests"].map(|folder| package.join(folder)) {
            if folder.is_dir() {
                collect(&folder, &package, &name, &mut sources);
            }
        }
    }
    sources
}

fn collect(folder: &Path, package: &Path, name: &str, sources: &mut Vec<Source>) {
    for path in children(folder) {
        if path.is_dir() {
            collect(&path, package, name, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(Source {
                package: name.to_owned(),
                path: path.strip_prefix(package).unwrap().to_string_lossy().into_owned(),
                text: std::fs::read_to_string(&path).unwrap(),
            });
        }
    }
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let mut children: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    children.sort();
    children
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

// === impl Source ===

impl Source {
    /// What is shipped of it: nothing of a test.
    pub(crate) fn shipped(&self) -> &str {
        let is_test = !self.path.starts_with("src/") || self.path.ends_with("/tests.rs");
        let text = if is_test || self.path.contains("/tests/") { "" } else { self.text.as_str() };
        text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default()
    }

    /// The names of its tests, and of the cases of a test, as `package::binary::module::test`.
    pub(crate) fn tests(&self) -> Vec<String> {
        let path = self.path.trim_end_matches(".rs");
        let path = path.strip_prefix("src/").or_else(|| path.strip_prefix("tests/")).unwrap();
        let mut modules: Vec<&str> = path.split('/').collect();
        if let Some("lib" | "main" | "mod") = modules.last().copied() {
            modules.pop();
        }
        let mut inner = None;
        let (mut is_test, mut is_list) = (false, false);
        let mut tests = Vec::new();
        for line in self.text.lines() {
            // Modules inside a file stand at its margin.
            if let Some(module) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {"))
            {
                inner = Some(module);
            } else if line.starts_with('}') {
                inner = None;
            }
            is_list = line == "on_one_server! {" || is_list && !line.starts_with('}');
            let line = line.trim_start();
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
            let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
            let case = line.strip_suffix(',').filter(|_| is_list);
            if let Some(function) = case.or(function.filter(|_| is_test)) {
                is_test = false;
                let name = function.split(['(', '<']).next().unwrap();
                let path = modules.iter().copied().chain(inner).chain([name]);
                let path: Vec<_> = std::iter::once(self.package.as_str()).chain(path).collect();
                tests.push(path.join("::"));
            }
        }
        tests
    }
}

#[test]
fn tests_are_found_with_their_modules() {
    let source = |path: &str, text: &str| Source {
        package: "a-b".to_owned(),
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let text = "#[test]\nfn one() {}\n\nfn helper() {}\n\nmod tests {\n    #[test]\n    #[ignore]\n    fn two() {}\n}\n\n\
                on_one_server! {\n    three,\n}\n\nasync fn three() {}\n";
    for (path, expected) in [
        ("src/lib.rs", ["a-b::one", "a-b::tests::two", "a-b::three"]),
        ("src/x/y.rs", ["a-b::x::y::one", "a-b::x::y::tests::two", "a-b::x::y::three"]),
        ("tests/suite/main.rs", ["a-b::suite::one", "a-b::suite::tests::two", "a-b::suite::three"]),
        ("tests/s/m/mod.rs", ["a-b::s::m::one", "a-b::s::m::tests::two", "a-b::s::m::three"]),
    ] {
        assert_eq!(source(path, text).tests(), expected);
    }
    assert_eq!(source("src/a.rs", "x\n#[cfg(test)]\nmod tests {\n y").shipped(), "x\n");
    assert_eq!(source("src/a/tests.rs", "x").shipped(), "");
}
