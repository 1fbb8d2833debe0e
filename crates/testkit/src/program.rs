//! Programs of the workspace that tests and benchmarks run. Cargo names them to the tests of their own package only.

use std::path::PathBuf;

/// A program that was built in the same way as this one, and lies in the same folder.
///
/// # Panics
/// If it is not there.
#[allow(clippy::expect_used, clippy::panic, reason = "a test cannot do without its program")]
pub fn workspace_program(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a program has a path");
    // Tests and benchmarks are in `deps`, below the programs.
    let program = own.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    let built = program.into_iter().find(|path| path.is_file());
    built.unwrap_or_else(|| panic!("{name} is not built: cargo build --workspace --bins"))
}
