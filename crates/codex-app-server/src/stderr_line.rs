//! What may be told of a line that Codex writes to standard error.
//!
//! Once it takes turns it can quote them: a prompt, an argument, an upstream's answer. Where a line
//! comes from is known without that, and is what a search for the cause begins with.

/// The levels that Codex's log lines name.
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// Where a line comes from, and how long it was.
pub(crate) fn without_content(line: &str) -> String {
    let bytes = line.len();
    match origin(line) {
        Some(origin) => format!("{origin} … ({bytes} bytes)"),
        None => format!("… ({bytes} bytes)"),
    }
}

/// `ERROR module::path` of a log line, `panicked at file:line:column` of a panic.
fn origin(line: &str) -> Option<String> {
    if let Some((_, place)) = line.split_once(" panicked at ") {
        let place = place.trim_end_matches(':');
        let is_place =
            place.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte));
        return is_place.then(|| format!("panicked at {place}"));
    }
    // The time is in front of the level, and the target behind it unless a span is.
    let mut words = line.split_whitespace().take(3).skip_while(|word| !LEVELS.contains(word));
    let (level, target) = (words.next()?, words.next().unwrap_or_default());
    let target = target.strip_suffix(':').unwrap_or_default();
    let is_path =
        target.bytes().all(|byte| byte.is_ascii_lowercase() || b"_:0123456789".contains(&byte));
    Some(if is_path && !target.is_empty() { format!("{level} {target}") } else { level.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_9_only_the_origin_of_a_line_is_told() {
        for (line, told) in [
            (
                "2026-11-16T07:52:00.26Z ERROR codex_core::tools: cannot parse {\"a\": \"secret\"}",
                "ERROR codex_core::tools … (77 bytes)",
            ),
            ("ERROR turn{model=secret}:codex_core: secret", "ERROR … (43 bytes)"),
            ("WARN secret", "WARN … (11 bytes)"),
            (
                "thread 'tokio-rt' (12) panicked at core/src/lib.rs:12:5:",
                "panicked at core/src/lib.rs:12:5 … (56 bytes)",
            ),
            ("thread 'main' panicked at 'a secret', src/lib.rs:1:2", "… (52 bytes)"),
            ("byte index 9 is not a char boundary of `secret`", "… (47 bytes)"),
            ("", "… (0 bytes)"),
        ] {
            assert_eq!(without_content(line), told);
        }
    }
}
