use std::sync::Arc;

use super::Chunking;

const TEXTS: [&str; 7] = [
    "",
    "a",
    "  leading and trailing  ",
    "\u{0}\u{1}\u{7f}\r\n\ttabs\n\n",
    "émoji 👩‍👩‍👧‍👦 and 🇫🇷, ß, 漢字",
    "one\u{2028}two\u{85}three",
    "a fairly long text of more than one hundred and fifty-three characters, so that every size of \
     the varying pieces comes at least once, and the first size comes twice",
];

fn cut(chunking: Chunking, text: &str) -> Vec<String> {
    chunking.cut(&Arc::from(text)).collect()
}

#[test]
fn pieces_add_up_to_the_text_whatever_the_chunking() {
    for text in TEXTS {
        let ways = [Chunking::Whole, Chunking::Varying, Chunking::Words, Chunking::few(text)]
            .into_iter()
            .chain((0..5).map(Chunking::Chars))
            .chain((0..5).map(Chunking::Bytes))
            .chain((0..5).map(|count| Chunking::pieces(text, count)))
            .chain((0..=text.len() + 1).map(Chunking::AfterByte));
        for chunking in ways {
            let pieces = cut(chunking, text);
            assert_eq!(pieces.concat(), text, "{chunking:?}");
            assert!(pieces.iter().all(|piece| !piece.is_empty()), "{chunking:?}");
        }
    }
}

#[test]
fn varying_sizes_stay_between_1_and_17() {
    let text = "ü".repeat(1_000);
    let mut sizes: Vec<usize> =
        cut(Chunking::Varying, &text).iter().map(|piece| piece.chars().count()).collect();
    sizes.pop();
    assert_eq!(sizes.iter().min(), Some(&1));
    assert_eq!(sizes.iter().max(), Some(&17));
}

#[test]
fn bytes_are_counted_up_to_the_last_whole_character() {
    assert_eq!(cut(Chunking::Bytes(3), "abcdéf漢g"), ["abc", "dé", "f", "漢", "g"]);
    assert_eq!(cut(Chunking::Bytes(1), "a😀b"), ["a", "😀", "b"]);
}

#[test]
fn words_keep_their_white_space() {
    assert_eq!(cut(Chunking::Words, " a b\n\nc"), [" a ", "b\n\n", "c"]);
}

#[test]
fn a_few_pieces_end_at_words_where_words_are_short() {
    assert_eq!(
        cut(Chunking::few(r#"{"city":"Paris"}"#), r#"{"city":"Paris"}"#),
        [r#"{""#, "city", r#"":""#, "Paris", r#""}"#]
    );
    assert_eq!(cut(Chunking::few("{}"), "{}"), ["{}"]);
    let sentence = "a text of a few words, none of which is cut. ".repeat(3);
    for text in [sentence.as_str(), &"x".repeat(1_000), &"漢".repeat(100), &"😀 ".repeat(50)] {
        let pieces = cut(Chunking::few(text), text);
        assert!((4..=8).contains(&pieces.len()), "{pieces:?}");
    }
    for pair in cut(Chunking::few(&sentence), &sentence).windows(2) {
        let in_word =
            pair[0].ends_with(char::is_alphanumeric) && pair[1].starts_with(char::is_alphanumeric);
        assert!(!in_word, "{pair:?}");
    }
}

#[test]
fn a_cut_inside_a_character_moves_before_it() {
    assert_eq!(cut(Chunking::AfterByte(2), "aéb"), ["a", "éb"]);
}
