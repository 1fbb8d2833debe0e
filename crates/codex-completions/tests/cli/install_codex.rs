//! `scripts/install-codex` with a registry that serves altered packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use axum::Router;
use axum::http::{StatusCode, Uri};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::user::{err, out};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What a package leaves behind that was allowed to run its script.
const MARK: &str = "a-script-was-run";

/// A package as the registry serves it.
#[derive(Clone)]
struct Tarball {
    bytes: Vec<u8>,
    integrity: String,
}

/// Tarballs by version, which `npm pack` made.
type Tarballs = BTreeMap<String, Tarball>;

/// The script beside a lock file of small packages: it has no other way to another lock file.
struct Installation {
    folder: TempDir,
}

// === impl Installation ===

impl Installation {
    fn new(lock: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let packaging = folder.path().join("packaging/codex");
        fs::create_dir_all(&packaging).unwrap();
        fs::create_dir(folder.path().join("scripts")).unwrap();
        for file in ["scripts/install-codex", "packaging/codex/package.json"] {
            fs::copy(Path::new(REPOSITORY).join(file), folder.path().join(file)).unwrap();
        }
        fs::write(packaging.join("package-lock.json"), lock.to_string()).unwrap();
        Self { folder }
    }

    async fn run(&self, registry: &str) -> Output {
        let path = |name: &str| self.folder.path().join(name);
        let mut command = tokio::process::Command::new(path("scripts/install-codex"));
        command.arg("--pinned").env_clear().current_dir(self.folder.path());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command.env("HOME", self.folder.path()).env("PROXY_DATA_DIR", path("data"));
        // A cache would have what was downloaded before.
        command.env("npm_config_cache", path("cache")).env("npm_config_registry", registry);
        command.env("npm_config_fetch_retries", "0").env("MARK", self.mark());
        command.kill_on_drop(true).output().await.unwrap()
    }

    fn copy(&self, version: &str) -> PathBuf {
        self.folder.path().join("data/codex").join(version)
    }

    fn mark(&self) -> PathBuf {
        self.folder.path().join(MARK)
    }

    /// Everything below the folder of the copies.
    fn copies(&self) -> Vec<String> {
        let copies = fs::read_dir(self.folder.path().join("data/codex")).into_iter().flatten();
        copies.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

/// The lock file that is shipped.
fn shipped_lock() -> Value {
    let lock = fs::read(Path::new(REPOSITORY).join("packaging/codex/package-lock.json")).unwrap();
    serde_json::from_slice(&lock).unwrap()
}

/// The same with the integrity of these packages instead, and with scripts that npm may run.
fn lock_of(tarballs: &Tarballs) -> Value {
    let mut lock = shipped_lock();
    for package in lock["packages"].as_object_mut().unwrap().values_mut() {
        let tarball = package["version"].as_str().and_then(|version| tarballs.get(version));
        if let Some(tarball) = tarball {
            package["integrity"] = json!(tarball.integrity);
            package["hasInstallScript"] = json!(true);
        }
    }
    lock
}

/// Node's name of this platform, as the native packages have it in theirs.
fn platform() -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    format!("{system}-{processor}")
}

/// The wrapper and the native package of this platform, small, with a script that leaves a mark.
fn packed(wrapper: &str, content: &str) -> Tarballs {
    let folder = tempfile::tempdir().unwrap();
    let native = format!("{wrapper}-{}", platform());
    let files =
        [(wrapper, "bin/codex.js".to_owned()), (&native, "vendor/any/bin/codex".to_owned())];
    let mut pack = Command::new("npm");
    pack.args(["pack", "--json", "--ignore-scripts"]).current_dir(folder.path());
    for (version, file) in &files {
        let package = folder.path().join(version);
        fs::create_dir_all(package.join(file).parent().unwrap()).unwrap();
        fs::write(package.join(file), content).unwrap();
        let manifest = json!({
            "name": "@openai/codex",
            "version": version,
            "scripts": {"postinstall": "touch \"$MARK\""},
        });
        fs::write(package.join("package.json"), manifest.to_string()).unwrap();
        pack.arg(format!("./{version}"));
    }
    let output = pack.output().expect("npm runs");
    assert!(output.status.success(), "{}", err(&output));
    let packed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packed = packed.as_array().unwrap().iter().map(|packed| {
        let field = |name: &str| packed[name].as_str().unwrap().to_owned();
        let bytes = fs::read(folder.path().join(field("filename"))).unwrap();
        (field("version"), Tarball { bytes, integrity: field("integrity") })
    });
    packed.collect()
}

/// A registry on loopback that serves these tarballs, and states their integrity as npm's does.
async fn registry(tarballs: Tarballs, tasks: &mut JoinSet<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let versions = tarballs.iter().map(|(version, tarball)| {
        let dist =
            json!({"tarball": format!("{address}{version}"), "integrity": tarball.integrity});
        (version.clone(), json!({"name": "@openai/codex", "version": version, "dist": dist}))
    });
    let versions: Value = versions.collect();
    let document = json!({"name": "@openai/codex", "versions": versions, "dist-tags": {}});
    let answer = async move |uri: Uri| match uri.path().trim_start_matches('/') {
        path if path.starts_with("@openai") => (StatusCode::OK, document.to_string().into_bytes()),
        version => match tarballs.get(version) {
            Some(tarball) => (StatusCode::OK, tarball.bytes.clone()),
            None => (StatusCode::NOT_FOUND, Vec::new()),
        },
    };
    tasks.spawn(async { axum::serve(listener, Router::new().fallback(answer)).await.unwrap() });
    address
}

#[tokio::test]
async fn row_26_the_script_refuses_an_altered_package() {
    let shipped = shipped_lock();
    let version = shipped["packages"][""]["dependencies"]["@openai/codex"].as_str().unwrap();
    let native = format!("{version}-{}", platform());
    let (good, altered) = (packed(version, "good"), packed(version, "altered"));
    let with_altered = |changed: &str, stated: &Tarballs| {
        let mut served = good.clone();
        let tarball = served.get_mut(changed).unwrap();
        *tarball = altered[changed].clone();
        tarball.integrity.clone_from(&stated[changed].integrity);
        served
    };
    let lock = lock_of(&good);
    // npm names the cause itself, except for an optional package, which it leaves out.
    let (wrapper_refused, native_refused) = (Some("EINTEGRITY"), Some("it has not the integrity"));
    for (what, lock, served, refused) in [
        ("the packages of the lock file", &lock, good.clone(), None),
        ("a wrapper as stated", &lock, with_altered(version, &altered), wrapper_refused),
        ("a wrapper altered on its way", &lock, with_altered(version, &good), wrapper_refused),
        ("a native package as stated", &lock, with_altered(&native, &altered), native_refused),
        ("a native one altered on its way", &lock, with_altered(&native, &good), native_refused),
        ("others under the pinned names", &shipped, good.clone(), wrapper_refused),
    ] {
        let mut tasks = JoinSet::new();
        let registry = registry(served, &mut tasks).await;
        let installation = Installation::new(lock);
        // What was installed without the lock file is not used.
        let unchecked = installation.copy(version).join("node_modules/@openai/codex/bin");
        fs::create_dir_all(&unchecked).unwrap();
        fs::write(unchecked.join("codex.js"), "unchecked").unwrap();
        let output = installation.run(&registry).await;
        let (printed, log) = (out(&output), err(&output));
        assert_eq!(output.status.success(), refused.is_none(), "{what}: {log}");
        assert!(!installation.mark().exists(), "{what}: a script was run");
        if let Some(cause) = refused {
            assert!(log.contains(cause), "{what}: {log}");
            assert_eq!((printed.as_str(), installation.copies()), ("", vec![version.to_owned()]));
            assert_eq!(fs::read_dir(installation.copy(version)).unwrap().count(), 1, "{what}");
        } else {
            assert_eq!(fs::read_to_string(printed.trim_end()).unwrap(), "good");
            assert_eq!(installation.copies(), [version]);
        }
    }
}
