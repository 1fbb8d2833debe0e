//! `docs/api.md`: fields, errors and headers.

use std::collections::{BTreeMap, BTreeSet};

use openai_wire::chat::{self};
use openai_wire::{FieldTreatment, responses};

use crate::sources;
use crate::tables::{quoted, rows};

const DOCUMENT: &str = "docs/api.md";

#[test]
fn every_field_has_its_treatment() {
    check_fields(DOCUMENT, "## Request fields", chat::FIELDS);
    check_fields("docs/responses.md", "## Fields of a request", responses::FIELDS);
}

fn check_fields(document: &str, heading: &str, fields: &[(&str, FieldTreatment)]) {
    let document = sources::read(document);
    let rows = rows(&document, heading);
    let told = rows.iter().flat_map(|row| quoted(row[0]).map(|field| (field, row[1])));
    let word = |treatment| match treatment {
        FieldTreatment::Passed => "passed",
        FieldTreatment::Emulated => "emulated",
        FieldTreatment::Ignored => "ignored",
        FieldTreatment::Accepted => "accepted",
        FieldTreatment::Refused => "refused",
    };
    let treated = fields.iter().map(|(field, treatment)| (*field, word(*treatment)));
    assert_eq!(told.collect::<BTreeSet<_>>(), treated.collect());
}

/// Codes of errors in the code, with status and type where these stand beside them.
fn codes() -> BTreeMap<String, Option<(String, String)>> {
    let mut codes = BTreeMap::new();
    for source in sources::all() {
        let text: String = source.shipped().split_whitespace().collect();
        // `.with_code("x")`, and the one that errors about fields have from the start.
        for before in [".with_code(\"", "code:Some(\""] {
            for after in text.split(before).skip(1) {
                codes.entry(after.split('"').next().unwrap().to_owned()).or_insert(None);
            }
        }
        if (source.package.as_str(), source.path.as_str()) == ("bridge", "src/failure.rs") {
            codes.extend(failures(&text));
        }
    }
    codes
}

/// `(401,ErrorType::AuthenticationError,"codex_login_required")`
fn failures(text: &str) -> impl Iterator<Item = (String, Option<(String, String)>)> {
    text.split(",ErrorType::").zip(text.split(",ErrorType::").skip(1)).filter_map(
        |(before, after)| {
            let status = before.rsplit('(').next()?;
            let (r#type, rest) = after.split_once(",\"")?;
            let snake: String = r#type
                .char_indices()
                .flat_map(|(at, letter)| {
                    let joint = (at > 0 && letter.is_uppercase()).then_some('_');
                    joint.into_iter().chain(letter.to_lowercase())
                })
                .collect();
            Some((rest.split('"').next()?.to_owned(), Some((status.to_owned(), snake))))
        },
    )
}

#[test]
fn every_code_of_an_error_is_explained() {
    let codes = codes();
    assert!(codes.len() > 30, "{codes:?}");
    let document = sources::read(DOCUMENT);
    let mut told = BTreeSet::new();
    for row in rows(&document, "## Errors") {
        let [status, r#type, code, ..] = row.as_slice() else { panic!("{row:?}") };
        let Some(code) = quoted(code).next() else { continue };
        let known = codes.get(code).unwrap_or_else(|| panic!("{code} is no code of ours"));
        let r#type = quoted(r#type).next().unwrap();
        if let Some((known_status, known_type)) = known {
            assert_eq!((*status, r#type), (known_status.as_str(), known_type.as_str()), "{code}");
        }
        told.insert(code.to_owned());
    }
    assert_eq!(told, codes.into_keys().collect());
}

/// The words themselves are compared where the errors are made.
#[test]
fn every_code_of_an_error_has_words_for_people() {
    let document = sources::read("docs/errors.md");
    let sections =
        document.lines().filter(|line| line.starts_with("## ") && *line != "## In clients");
    let rows = sections.flat_map(|heading| rows(&document, heading));
    let told: BTreeSet<_> = rows.map(|row| quoted(row[0]).next().unwrap().to_owned()).collect();
    assert_eq!(told, codes().into_keys().collect());
}

/// Headers of ours that some code sends or reads.
fn headers() -> BTreeSet<String> {
    let all = sources::all();
    let definitions = all.iter().find(|source| {
        (source.package.as_str(), source.path.as_str()) == ("server", "src/headers.rs")
    });
    let text: String = definitions.unwrap().shipped().split_whitespace().collect();
    let constants = text.split("pub(crate)const").skip(1).filter_map(|rest| {
        let constant = rest.split(':').next().unwrap().to_owned();
        let name = rest.split('"').nth(1)?.to_owned();
        Some((constant, name))
    });
    let is_used = |constant: &str| {
        let users = all.iter().filter(|source| source.package == "server");
        users
            .filter(|source| source.path != "src/headers.rs")
            .any(|source| source.shipped().lines().any(|line| line.contains(constant)))
    };
    constants.filter(|(constant, _)| is_used(constant)).map(|(_, name)| name).collect()
}

#[test]
fn every_header_is_explained() {
    let document = sources::read(DOCUMENT);
    let rows = rows(&document, "## Headers");
    let told = rows.iter().flat_map(|row| quoted(row[0]));
    let told: BTreeSet<_> = told.filter(|name| name.starts_with("x-")).map(str::to_owned).collect();
    assert_eq!(told, headers());
}
