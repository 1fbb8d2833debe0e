//! `docs/security.md`: every promise has tests, which have its number in their names.

use std::collections::BTreeSet;

use crate::sources::{self, Source};
use crate::tables::rows;

#[test]
fn every_promise_has_tests() {
    let document = sources::read("docs/security.md");
    let promised = rows(&document, "## What is promised");
    let promised: BTreeSet<_> = promised.iter().map(|row| row[0].to_owned()).collect();
    let tests: Vec<String> = sources::all().iter().flat_map(Source::tests).collect();
    let names = tests.iter().filter_map(|path| path.rsplit("::").next()?.strip_prefix("row_"));
    let tested: BTreeSet<_> = names.filter_map(|name| name.split('_').next()).collect();
    assert!(
        promised.iter().map(String::as_str).eq(tested.iter().copied()),
        "{promised:?}, {tested:?}"
    );
}
