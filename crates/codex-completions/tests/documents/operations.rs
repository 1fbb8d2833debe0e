//! `docs/operations.md`: its links lead somewhere, and its errors are those of the API. That its commands work is
//! tested with the binary.

use std::collections::BTreeSet;

use crate::sources;
use crate::tables::{anchors, quoted, rows};

const RUN_BOOK: &str = "docs/operations.md";

#[test]
fn every_link_leads_to_a_heading_or_a_file() {
    let document = sources::read(RUN_BOOK);
    let targets = document.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
    let mut count = 0;
    for target in targets {
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = if file.is_empty() { RUN_BOOK.to_owned() } else { format!("docs/{file}") };
        assert!(sources::exists(&path), "{target}");
        let leads_on = || anchors(&sources::read(&path)).contains(heading);
        assert!(heading.is_empty() || leads_on(), "{target}");
        count += 1;
    }
    assert!(count > 20, "only {count} links were found");
}

#[test]
fn every_error_that_clients_show_is_one_of_the_api() {
    let (api, document) = (sources::read("docs/api.md"), sources::read(RUN_BOOK));
    let known: BTreeSet<(&str, &str)> = rows(&api, "## Errors")
        .iter()
        .flat_map(|row| quoted(row[2]).map(|code| (row[0], code)).collect::<Vec<_>>())
        .collect();
    for row in rows(&document, "### What the client shows") {
        let status = row[0].split(' ').next().unwrap();
        if status.parse::<u16>().is_ok() {
            for code in quoted(row[0]).filter(|code| *code != "param") {
                assert!(known.contains(&(status, code)), "{status} {code}");
            }
        }
    }
}
