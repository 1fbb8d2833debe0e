//! Ids that cannot be guessed.

/// Every value of six bits, as far as there are letters and digits for them.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Bytes that are drawn at once: nearly always enough for the longest id of 48 letters.
const DRAWN: usize = 64;

/// Letters and digits for an id, each as likely as any other. Other ids do not help to
/// guess one: clients refer to what is stored by them.
///
/// # Panics
/// If the system has no random numbers: an id that can be guessed is worse than no answer.
#[expect(clippy::expect_used, reason = "a request without ids cannot be answered")]
pub(crate) fn random_text(length: usize) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bytes = [0; DRAWN];
        ambient::fill_random(&mut bytes).expect("the system gives random numbers");
        // Six bits that stand for no letter are thrown away: a remainder would favour some letters.
        let letters = bytes.iter().filter_map(|byte| LETTERS.get(usize::from(byte & 0x3f)));
        text.extend(letters.take(length - text.len()).map(|letter| char::from(*letter)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_22_ids_are_letters_and_digits_of_any_length() {
        for length in [0, 1, 24, 48, DRAWN, 1_000] {
            let text = random_text(length);
            assert_eq!(text.len(), length);
            assert!(text.bytes().all(|letter| letter.is_ascii_alphanumeric()), "{text}");
        }
        assert_ne!(random_text(48), random_text(48));
    }

    /// A remainder of a byte by 62 would give eight letters a quarter more than the others.
    #[test]
    fn row_22_every_letter_of_an_id_is_as_likely_as_any_other() {
        const EACH: usize = 10_000;
        let text = random_text(EACH * LETTERS.len());
        let mut counts = [0_usize; 128];
        text.bytes().for_each(|letter| counts[usize::from(letter)] += 1);
        for letter in LETTERS {
            let count = counts[usize::from(*letter)];
            // Ten standard deviations.
            assert!(count.abs_diff(EACH) < 1_000, "{}: {count}", char::from(*letter));
        }
    }
}
