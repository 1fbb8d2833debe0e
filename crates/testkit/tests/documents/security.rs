//! `docs/security.md`: every promise has tests, which have its number in their names.

use crate::sources;
use crate::tables::rows;

const PROMISES: u32 = 22;

/// A part of promise 19 that has a row of its own.
const PAGE: (usize, &str) = (19, "19b");

#[test]
fn every_promise_has_tests() {
    let document = sources::read("docs/security.md");
    let rows = rows(&document, "## What is promised");
    let numbers: Vec<_> = rows.iter().map(|row| row[0].to_owned()).collect();
    let mut expected: Vec<_> = (1..=PROMISES).map(|number| number.to_string()).collect();
    expected.insert(PAGE.0, PAGE.1.to_owned());
    assert_eq!(numbers, expected);
    let tests: Vec<String> = sources::all().iter().flat_map(sources::Source::tests).collect();
    for number in numbers {
        let prefix = format!("row_{number}_");
        let is_of_row = |path: &String| path.rsplit("::").next().unwrap().starts_with(&prefix);
        assert!(tests.iter().any(is_of_row), "no test is named {prefix}…");
    }
}
