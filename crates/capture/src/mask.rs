//! Words that stand for other words.
//!
//! What a record is for survives: the length of every word, which words are equal, numbers as
//! numbers, and everything between words: white space, punctuation, tags, escapes. What was said
//! does not: a word is drawn by a keyed hash, and whoever masks throws the key away.

mod alphabet;
mod keys;
mod names;
mod words;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use alphabet::{Alphabet, alphabets};
pub(crate) use keys::Keys;
pub(crate) use names::Names;
use words::{Piece, pieces};

/// What masks depend on; random, and not kept.
pub type MaskKey = [u8; 16];

/// Masks words, each always in the same way, and hardly any two in the same way.
#[derive(Debug)]
pub(crate) struct Mask {
    hasher: SipHasher13,
    /// What is left as it is.
    names: Arc<Names>,
    /// Masks by the words that they stand for.
    masks: HashMap<String, Arc<str>>,
    /// Masks that are given; no name is one either.
    taken: HashSet<Arc<str>>,
    heeded: Vec<Heeded>,
}

/// A word whose beginning matters: text is held back for as long as it can become this one. Words
/// that begin like it have masks that begin like its mask, as far and no further.
#[derive(Debug)]
struct Heeded {
    word: Vec<char>,
    mask: Vec<char>,
}

/// There are no more single letters in ASCII. Where words have used up nearly all masks, as two letters
/// of any script can, two of them share one rather than that each looks at all.
const MOST_TRIES: usize = 32;

/// Places for which one hash is chance enough: no alphabet has more than 2^13 letters.
const PLACES_DRAWN: usize = 4;

/// Most words whose beginnings matter: each word is compared with all of them.
const MOST_HEEDED: usize = 64;

/// A letter of a mask: where it stands in its alphabet.
type Letter = (Alphabet, u32);

// === impl Mask ===

impl Mask {
    /// Leaves the names as they are.
    pub(crate) fn new(key: &MaskKey, names: &Arc<Names>) -> Self {
        Self {
            hasher: SipHasher13::new_with_key(key),
            names: Arc::clone(names),
            masks: HashMap::new(),
            taken: HashSet::new(),
            heeded: Vec::new(),
        }
    }

    /// Text is held back for as long as it can become this, a stop sequence or a tag.
    pub(crate) fn heed(&mut self, held: &str) {
        let names = Arc::clone(&self.names);
        for piece in pieces(held, &names) {
            if self.heeded.len() == MOST_HEEDED {
                return;
            }
            let heeded = match piece {
                Piece::Kept(text) => {
                    let word: Vec<char> = text.chars().collect();
                    Heeded { mask: word.clone(), word }
                }
                Piece::Word(units) => {
                    let word: Vec<char> = units.iter().map(|unit| unit.letter).collect();
                    Heeded { mask: self.word(&word).chars().collect(), word }
                }
            };
            self.heeded.push(heeded);
        }
    }

    /// Masks a text; every character keeps its length in bytes.
    pub(crate) fn text(&mut self, text: &str) -> String {
        if self.names.contains(text) {
            return text.to_owned();
        }
        let mut masked = String::with_capacity(text.len());
        let names = Arc::clone(&self.names);
        for piece in pieces(text, &names) {
            match piece {
                Piece::Kept(text) => masked.push_str(text),
                Piece::Word(units) => {
                    let word: Vec<char> = units.iter().map(|unit| unit.letter).collect();
                    let mask = self.word(&word);
                    for (unit, letter) in units.iter().zip(mask.chars()) {
                        unit.write(letter, &mut masked);
                    }
                }
            }
        }
        masked
    }

    fn word(&mut self, word: &[char]) -> Arc<str> {
        let name: String = word.iter().collect();
        if let Some(mask) = self.masks.get(&name) {
            return Arc::clone(mask);
        }
        let mask: Arc<str> = self.draw(&name, word).into();
        self.taken.insert(Arc::clone(&mask));
        self.masks.insert(name, Arc::clone(&mask));
        mask
    }

    /// The first free mask from a random one on; if none is near, one that another word has too.
    fn draw(&self, name: &str, word: &[char]) -> String {
        let seed = self.hasher.hash(name.as_bytes()).to_le_bytes();
        let mut drawn = 0;
        let place = |(place, alphabet): (usize, Alphabet)| {
            if place % PLACES_DRAWN == 0 {
                let mut hashed = [0; 16];
                hashed[..8].copy_from_slice(&seed);
                hashed[8..].copy_from_slice(&(place as u64).to_le_bytes());
                drawn = self.hasher.hash(&hashed);
            }
            let at = alphabet.place(drawn);
            drawn /= u64::from(alphabet.size());
            (alphabet, at)
        };
        let mut letters: Vec<Letter> = alphabets(word).enumerate().map(place).collect();
        let given = self.begin_like_heeded(word, &mut letters);
        let mut mask = String::with_capacity(name.len());
        write(&letters, &mut mask);
        for _ in 0..MOST_TRIES {
            let end = match self.too_alike(word, &mask) {
                Some(end) => end,
                None if self.taken.contains(mask.as_str()) || self.names.contains(&mask) => {
                    letters.len()
                }
                None => break,
            };
            count_on(letters.get_mut(given..end).unwrap_or_default());
            write(&letters, &mut mask);
        }
        mask
    }

    /// Gives a mask the beginning that its word has in common with a word that is heeded; says how
    /// long that is.
    fn begin_like_heeded(&self, word: &[char], letters: &mut [Letter]) -> usize {
        let common = |heeded: &&Heeded| common_start(word, &heeded.word);
        let Some(heeded) = self.heeded.iter().max_by_key(common) else { return 0 };
        let length = common(&heeded);
        for ((alphabet, at), letter) in letters.iter_mut().zip(&heeded.mask[..length]) {
            *at = alphabet.find(*letter).unwrap_or(*at);
        }
        length
    }

    /// The end of what a mask has in common with that of a heeded word, if the words themselves have
    /// less in common.
    fn too_alike(&self, word: &[char], mask: &str) -> Option<usize> {
        self.heeded.iter().find_map(|heeded| {
            let same = mask.chars().zip(&heeded.mask).take_while(|(one, other)| one == *other);
            let common = same.count();
            (common > common_start(word, &heeded.word)).then_some(common)
        })
    }
}

fn write(letters: &[Letter], mask: &mut String) {
    mask.clear();
    mask.extend(letters.iter().map(|(alphabet, at)| alphabet.letter(*at)));
}

fn common_start(one: &[char], other: &[char]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The next mask of the same letters; the first follows the last.
fn count_on(letters: &mut [Letter]) {
    for (alphabet, at) in letters.iter_mut().rev() {
        *at = (*at + 1) % alphabet.size();
        if *at != 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
