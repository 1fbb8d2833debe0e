//! `docs/acceptance.md`: every criterion has tests, and every test that is named exists.

use std::collections::BTreeSet;

use crate::sources;
use crate::tables::{quoted, rows};

#[test]
fn every_criterion_has_tests_that_exist() {
    let tests: BTreeSet<String> = sources::all().iter().flat_map(sources::Source::tests).collect();
    assert!(tests.len() > 500, "only {} tests were found", tests.len());
    let document = sources::read("docs/acceptance.md");
    for (heading, criteria) in [
        ("## The aggregator", 24),
        ("## Several calls in a turn", 5),
        ("## Responses", 8),
        ("## Continuity", 7),
    ] {
        let rows = rows(&document, heading);
        let numbers: Vec<_> = rows.iter().map(|row| row[0].to_owned()).collect();
        let expected: Vec<_> = (1..=criteria).map(|number: u32| number.to_string()).collect();
        assert_eq!(numbers, expected, "{heading}");
        for row in rows {
            let named: Vec<_> = quoted(row[2]).collect();
            assert!(!named.is_empty(), "criterion {} of {heading:?} has no test", row[0]);
            for name in named {
                assert!(tests.contains(name), "there is no test {name}");
            }
        }
    }
}
