//! Words of a text: those that say what it is about, and those that name a place.

const SHORTEST_KEYWORD: usize = 4;

/// Words that questions and descriptions share without being about the same thing.
const STOP_WORDS: [&str; 60] = [
    "about",
    "after",
    "also",
    "another",
    "argument",
    "arguments",
    "because",
    "been",
    "before",
    "being",
    "call",
    "calls",
    "could",
    "does",
    "doing",
    "each",
    "from",
    "function",
    "functions",
    "given",
    "have",
    "having",
    "here",
    "into",
    "just",
    "know",
    "like",
    "make",
    "more",
    "most",
    "need",
    "only",
    "other",
    "over",
    "please",
    "return",
    "returns",
    "should",
    "some",
    "such",
    "take",
    "tell",
    "than",
    "that",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "tool",
    "tools",
    "used",
    "using",
    "want",
    "what",
    "when",
    "with",
    "your",
];

const ENDS_OF_SENTENCES: [char; 4] = ['.', '!', '?', ':'];

/// The words that say what a text is about, in lower case, each once.
pub(super) fn keywords(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in words(text) {
        let long_enough = word.chars().count() >= SHORTEST_KEYWORD;
        if long_enough && !STOP_WORDS.contains(&word.as_str()) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The words of a text or of an identifier (`snake_case`, `camelCase`), in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower_case = false;
    for letter in text.chars() {
        let boundary = !letter.is_alphanumeric() || (letter.is_uppercase() && after_lower_case);
        if boundary {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        after_lower_case = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A capitalised word (or several in a row) that does not owe its capital to a sentence's start.
pub(super) fn proper_name(text: &str) -> Option<String> {
    let mut name: Vec<&str> = Vec::new();
    let mut starts_sentence = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
        let opens_anew = word.starts_with(|letter: char| !letter.is_alphanumeric());
        let named =
            !starts_sentence && bare.starts_with(char::is_uppercase) && !is_the_speaker(bare);
        if !name.is_empty() && (!named || opens_anew) {
            break;
        }
        if named {
            name.push(bare);
            // "Paris, Rome" are two places, "New York" is one.
            if word.ends_with(|letter: char| !letter.is_alphanumeric()) {
                break;
            }
        }
        starts_sentence = word.ends_with(ENDS_OF_SENTENCES);
    }
    (!name.is_empty()).then(|| name.join(" "))
}

/// The first characters of a text, with an ellipsis where some are missing.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn is_the_speaker(word: &str) -> bool {
    word == "I" || word.starts_with("I'") || word.starts_with("I’")
}
