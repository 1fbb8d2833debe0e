//! Tables and headings of Markdown.

use std::collections::BTreeSet;

/// The rows of every table below a heading, up to the next heading of any depth; without the rows
/// of titles.
pub(crate) fn rows<'a>(document: &'a str, heading: &str) -> Vec<Vec<&'a str>> {
    let mut lines = document.lines();
    assert!(lines.any(|line| line == heading), "there is no {heading:?}");
    let section = lines.take_while(|line| !line.starts_with('#'));
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for line in section.filter(|line| line.starts_with('|')) {
        if line.starts_with("|---") {
            rows.pop();
        } else {
            rows.push(line.trim_matches('|').split('|').map(str::trim).collect());
        }
    }
    assert!(!rows.is_empty(), "there is no table below {heading:?}");
    rows
}

/// The texts between back-ticks.
pub(crate) fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// What a link can name: every heading, as it is written in an address.
pub(crate) fn anchors(document: &str) -> BTreeSet<String> {
    let headings = document.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|char| char.is_alphanumeric() || "-_".contains(*char)).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn headings_have_addresses() {
    let expected = ["is-it-well", "another-codex-and-back"].map(str::to_owned);
    assert_eq!(anchors("## Is it well?\ntext\n### Another Codex, and back\n"), expected.into());
}

#[test]
fn rows_are_those_of_one_section() {
    let document = "# A\n\n## B\n\n| t |\n|---|\n| `x`, `y` | 1 |\n\ntext\n\n| u |\n|---|\n| 2 |\n## C\n\n| 3 |\n";
    assert_eq!(rows(document, "## B"), [vec!["`x`, `y`", "1"], vec!["2"]]);
    assert_eq!(quoted("`x`, `y`").collect::<Vec<_>>(), ["x", "y"]);
}
