//! What is told about a panic: where it was, and never its words.
//!
//! They may quote what the program was working on: a slice that ends within a character, for
//! instance, panics with the text itself.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

use crate::console;

/// From now on panics are printed without content: for commands without a log, and before there is one.
pub(crate) fn print_without_content() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(console::stderr(), "a mistake in the program: it panicked at {place}");
    }));
}

/// From now on panics are log lines without content.
pub(crate) fn log_without_content() {
    std::panic::set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(tracing::field::display);
    // Only there if it was asked for with RUST_BACKTRACE; it has the names of functions alone.
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then_some(backtrace);
    let backtrace = backtrace.as_ref().map(tracing::field::display);
    tracing::error!(place, backtrace, "a mistake in the program: it panicked");
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use serde_json::{Value, json};

    use super::*;
    use crate::json_log::tests::logged;

    #[test]
    fn row_9_panics_are_logged_by_their_place_alone() {
        let secret = "sk-sécret".to_owned();
        let line = line!() + 3;
        let told = logged(|| {
            std::panic::set_hook(Box::new(log));
            let panicked = catch_unwind(|| secret[..5].len());
            drop(std::panic::take_hook());
            assert!(panicked.is_err());
        });
        let mut told: Value = serde_json::from_str(&told).unwrap();
        let told = told.as_object_mut().unwrap();
        assert!(told.remove("timestamp").is_some());
        told.remove("backtrace");
        let mut place = told["place"].take();
        place = place.as_str().unwrap().rsplit_once(':').unwrap().0.into();
        assert_eq!(place, format!("{}:{line}", file!()));
        told.remove("place");
        let expected = json!({
            "level": "ERROR", "message": "a mistake in the program: it panicked",
            "target": "codex_completions::panics",
        });
        assert_eq!(Value::Object(told.clone()), expected);
    }
}
