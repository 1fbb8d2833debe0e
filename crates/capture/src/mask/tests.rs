use proptest::prelude::*;

use super::*;

const KEY: MaskKey = *b"a key for tests.";

fn mask(names: &[&str]) -> Mask {
    Mask::new(&KEY, &Arc::new(names.iter().map(|name| (*name).to_owned()).collect()))
}

/// A letter for each kind of letter.
fn kinds(text: &str) -> String {
    let kind = |letter: char| match letter {
        'a'..='z' => 'a',
        'A'..='Z' => 'A',
        '0'..='9' => '0',
        '\u{100}'..'\u{250}' => 'é',
        '\u{4e00}'..'\u{6e00}' => '字',
        '\u{20000}'..'\u{22000}' => '\u{20000}',
        '\u{300}'..'\u{345}' => '°',
        '\u{2200}'..'\u{2300}' => '…',
        '\u{1f300}'..'\u{1f600}' => '😀',
        other => other,
    };
    text.chars().map(kind).collect()
}

#[test]
fn everything_but_words_stays() {
    let text = "Dear Ann_B, 3 < 4 & café &lt;b&gt;: \"x\\ny\", \\\\n 字字 𠀀 😀 [true] -0.50e7\n";
    let masked = mask(&[]).text(text);
    assert_eq!(
        kinds(&masked),
        "Aaaa Aaa_A, 0 < 0 & aaaé &aa;a&aa;: \"a\\aa\", \\\\a 字字 𠀀 😀 [aaaa] -0.00a0\n"
    );
    for kept in ["&lt;", "&gt;: ", "\\n", "[true] -0."] {
        assert!(masked.contains(kept), "{kept} in {masked}");
    }
    for word in ["Dear", "Ann_B", "café", "字字"] {
        assert!(!masked.contains(word), "{word} in {masked}");
    }
}

#[test]
fn names_stay_as_whole_words_only() {
    let masked = mask(&["get_weather", "files.read"])
        .text("get_weather get_weathers files.read files.reads");
    assert!(masked.starts_with("get_weather "), "{masked}");
    assert_eq!(masked.matches("get_weather").count(), 1, "{masked}");
    assert_eq!(masked.matches("files.read").count(), 1, "{masked}");
}

#[test]
fn names_of_several_words_are_found_at_their_longest() {
    let mut mask = mask(&["a-b", "a-b-c-d", "x.", "-y"]);
    let masked = mask.text("a-b-c a-b-c-d a-bb x. k-y");
    let (first, rest) = masked.split_once(' ').unwrap();
    assert!(first.starts_with("a-b-") && first != "a-b-c", "{masked}");
    assert!(rest.starts_with("a-b-c-d "), "{masked}");
    assert!(!rest.contains("a-bb") && rest.contains(" x. ") && rest.ends_with("-y"), "{masked}");
}

#[test]
fn signs_are_masked_and_are_no_part_of_words() {
    let mut mask = mask(&[]);
    let tags = "\u{e0073}\u{e0065}\u{e0063}";
    let text = format!(
        "word \u{2803}\u{2811} \u{1f1e9}\u{1f1ea}word\u{1f600} {tags} \u{b0}\u{a0}\u{3000}\u{a7}"
    );
    let masked = mask.text(&text);
    let word = mask.text("word");
    assert!(masked.starts_with(&word) && masked.matches(&word).count() == 2, "{masked}");
    for (before, after) in text.chars().zip(masked.chars()) {
        assert_eq!(before.len_utf8(), after.len_utf8());
        assert_eq!(before.is_alphanumeric(), after.is_alphanumeric());
        assert_eq!(before == after, before.is_whitespace(), "{before:?}");
    }
    let escaped = mask.text(r"\ud83d\ude00 \u2803");
    assert!(
        escaped.len() == 19 && !escaped.contains("de00") && !escaped.contains("2803"),
        "{escaped}"
    );
}

#[test]
fn an_escaped_letter_is_the_letter() {
    let mut mask = mask(&[]);
    let plain = mask.text("caf\u{e9} \u{20001}x A");
    let escaped = mask.text(r"caf\u00e9 \ud840\udc01x \u0041");
    let decoded: String = serde_json::from_str(&format!("\"{escaped}\"")).unwrap();
    assert_eq!(decoded, plain);
    assert!(mask.text(r"caf\u00E9\u000a").ends_with(r"\u000a"));
}

#[test]
fn numbers_stay_numbers() {
    let mut mask = mask(&[]);
    for number in ["0", "0.0", "0.05", "-17", "1e5", "3E10", "90210", "1.5e-7", "100000000"] {
        let masked = mask.text(number);
        assert!(serde_json::from_str::<serde_json::Number>(&masked).is_ok(), "{number}: {masked}");
        assert_eq!(masked.len(), number.len());
    }
}

#[test]
fn single_letters_and_digits_all_stay_different() {
    let mut mask = mask(&[]);
    for letters in ["a b c d e f g h i j k l m n o p q r s t u v w x y z", "1 2 3 4 5 6 7 8 9"] {
        let masked = mask.text(letters);
        let different: HashSet<_> = masked.split(' ').collect();
        assert_eq!(different.len(), letters.split(' ').count(), "{masked}");
    }
}

#[test]
fn another_key_masks_otherwise() {
    let text = "The quick brown fox jumps over the lazy dog";
    let other = Mask::new(b"another key here", &Arc::default()).text(text);
    assert_ne!(mask(&[]).text(text), other);
    assert_eq!(mask(&[]).text(text), mask(&[]).text(text));
}

#[test]
fn a_word_begins_like_a_stop_sequence_exactly_as_far_as_it_did() {
    for first in 0..=u8::MAX {
        let mut mask = Mask::new(&[first; 16], &Arc::default());
        mask.heed("END of");
        let stop: Vec<char> = mask.text("END").chars().collect();
        for word in ["END", "ENDS", "ENTER", "EAST", "WEST", "EN", "E", "A"] {
            let common =
                common_start(&word.chars().collect::<Vec<_>>(), &"END".chars().collect::<Vec<_>>());
            let masked: Vec<char> = mask.text(word).chars().collect();
            assert_eq!(common_start(&masked, &stop), common, "{word}");
        }
    }
}

/// `cargo test --release -p capture --lib -- --nocapture large_texts` prints how fast that is.
#[test]
fn large_texts_of_every_kind_are_masked() {
    let letters =
        || (0x400..0x52f_u32).filter_map(char::from_u32).filter(|one| one.is_alphabetic());
    let pairs: String =
        letters().flat_map(|a| letters().flat_map(move |b| [a, b, ' '])).take(354_000).collect();
    let prose = "The quick brown fox, 42 times, jumps over the \"lazy\" dog.\n".repeat(20_000);
    let distinct: Vec<String> = (0..200_000).map(|count| format!("word{count}")).collect();
    let distinct = distinct.join(" ");
    let parameters: Vec<String> = (0..3_000).map(|count| format!("x-parameter-{count}")).collect();
    let parameters: Vec<&str> = parameters.iter().map(String::as_str).collect();
    let hyphens = "x-parameter-30000 and x-y ".repeat(36_000);
    for (name, names, text) in [
        ("prose", &[][..], &prose),
        ("distinct words", &[][..], &distinct),
        ("pairs of letters", &[][..], &pairs),
        ("names of several words", &parameters[..], &hyphens),
    ] {
        let begun = std::time::Instant::now();
        let masked = mask(names).text(text);
        let seconds = begun.elapsed().as_secs_f64();
        assert_eq!(masked.len(), text.len(), "{name}");
        assert_ne!(&masked, text, "{name}");
        let megabytes = f64::from(u32::try_from(masked.len()).unwrap()) / 1e6;
        eprintln!("{name}: {megabytes:.1} MB in {seconds:.3} s, {:.0} MB/s", megabytes / seconds);
    }
}

proptest! {
    #[test]
    fn lengths_stay_and_words_stay_apart(text in "[ab01Zéß字_.,<>&\\\\\"{} \n]{0,60}") {
        let mut mask = mask(&[]);
        let masked = mask.text(&text);
        let lengths = |text: &str| text.chars().map(char::len_utf8).collect::<Vec<_>>();
        prop_assert_eq!(lengths(&masked), lengths(&text));
        let masks: HashSet<_> = mask.masks.values().collect();
        prop_assert_eq!(masks.len(), mask.masks.len());
        prop_assert_eq!(mask.text(&text), masked);
    }
}
