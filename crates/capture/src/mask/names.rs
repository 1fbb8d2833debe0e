//! Names that are left as they are.

use std::collections::{HashMap, HashSet};

use super::words::is_of_word;

/// Names that are left as they are, wherever they stand as whole words.
#[derive(Debug, Default)]
pub(crate) struct Names {
    all: HashSet<String>,
    /// A tree of those that are not one word, such as `files.read`: what follows a node by a letter.
    /// The first node is 0.
    phrases: HashMap<(usize, char), usize>,
    /// The nodes at which a name ends.
    ends: HashSet<usize>,
    /// Nodes that there are, but for the first.
    nodes: usize,
}

/// They are JSON, not content.
const LITERALS: [&str; 3] = ["true", "false", "null"];

/// Longest name of several words that is looked for within texts: it is looked for at each word.
const LONGEST_PHRASE: usize = 128;

// === impl Names ===

impl Names {
    /// Whether this is a name.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.all.contains(text)
    }

    /// The length of the longest name of several words that stands at the beginning.
    pub(super) fn phrase_at(&self, text: &str) -> Option<usize> {
        if self.phrases.is_empty() {
            return None;
        }
        let mut node = 0;
        let mut longest = None;
        for (at, letter) in text.char_indices() {
            if node > 0 && !is_of_word(letter) && self.ends.contains(&node) {
                longest = Some(at);
            }
            match self.phrases.get(&(node, letter)) {
                Some(next) => node = *next,
                None => return longest,
            }
        }
        if self.ends.contains(&node) { Some(text.len()) } else { longest }
    }

    fn add_phrase(&mut self, phrase: &str) {
        let mut node = 0;
        for letter in phrase.chars() {
            let next = self.phrases.entry((node, letter)).or_insert_with(|| {
                self.nodes += 1;
                self.nodes
            });
            node = *next;
        }
        self.ends.insert(node);
    }
}

impl FromIterator<String> for Names {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        let mut all = Self::default();
        for name in names.into_iter().chain(LITERALS.map(str::to_owned)) {
            if name.is_empty() {
                continue;
            }
            if !name.chars().all(is_of_word) && name.len() <= LONGEST_PHRASE {
                all.add_phrase(&name);
            }
            all.all.insert(name);
        }
        all
    }
}
