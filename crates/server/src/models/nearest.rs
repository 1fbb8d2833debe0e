//! Which names somebody may have meant.

/// At most so many are worth reading.
const MOST: usize = 3;

/// How much alike two names are that may be meant for each other, of 1.
const ALIKE: f64 = 0.85;

/// The names that are most like `name`, the best first.
pub(super) fn nearest_names<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut scored: Vec<_> = known
        .iter()
        // As if by one who mistypes: the beginning counts most.
        .map(|known| (strsim::jaro_winkler(&name, &known.to_lowercase()), *known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    // Stable: among equals the catalog's order, which is by merit.
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.into_iter().map(|(_, known)| known).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 9] = [
        "gpt-6.1-sol",
        "gpt-6-sol",
        "gpt-6-luna",
        "gpt-5.5",
        "demo",
        "chat",
        "chat-high",
        "codex-5",
        "codex-5-low",
    ];

    #[test]
    fn what_was_meant_is_first() {
        for (given, first) in [
            ("gtp-5.5", "gpt-5.5"),
            ("gpt-5", "gpt-5.5"),
            ("GPT-5.5", "gpt-5.5"),
            ("gpt-6.1", "gpt-6.1-sol"),
            ("Demo", "demo"),
            ("chat_high", "chat-high"),
            ("codex5", "codex-5"),
        ] {
            let nearest = nearest_names(given, &KNOWN);
            assert_eq!(nearest.first(), Some(&first), "{given}: {nearest:?}");
            assert!(nearest.len() <= MOST);
        }
    }

    #[test]
    fn what_is_like_nothing_has_no_suggestions() {
        for given in ["claude-opus", "llama3", "", "\u{fffd}", &"x".repeat(256)] {
            assert_eq!(nearest_names(given, &KNOWN), Vec::<&str>::new(), "{given}");
        }
    }
}
