//! `docs/security.md`: every promise has tests, which have its number in their names.

use crate::sources;
use crate::tables::rows;

const PROMISES: u32 = 18;

#[test]
fn every_promise_has_tests() {
    let document = sources::read("docs/security.md");
    let rows = rows(&document, "## What is promised");
    let numbers: Vec<_> = rows.iter().map(|row| row[0].to_owned()).collect();
    let expected: Vec<_> = (1..=PROMISES).map(|number| number.to_string()).collect();
    assert_eq!(numbers, expected);
    let tests: Vec<String> = sources::all().iter().flat_map(sources::Source::tests).collect();
    for number in numbers {
        let prefix = format!("row_{number}_");
        let of_row = tests.iter().filter(|name| name.starts_with(&prefix)).count();
        assert!(of_row > 0, "no test is named {prefix}…");
    }
}
