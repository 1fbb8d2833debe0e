//! The TOML file.

use std::path::Path;

use toml::{Table, Value as Toml};

use crate::kind::Kind;
use crate::problem::Problem;
use crate::source::Source;
use crate::table::{PROXY_CONFIG, VARIABLES};
use crate::trusted;
use crate::variable::Variable;

/// A setting of the file, in the text that stands for it everywhere else.
pub(crate) type Setting = (&'static Variable, String);

/// The settings of the file at `path`.
pub(crate) fn read(path: &Path) -> (Vec<Setting>, Vec<Problem>) {
    let problem = |reason: String| vec![Problem::File { path: path.to_owned(), reason }];
    let content = match trusted::read(path) {
        Ok(content) => content,
        Err(error) => return (Vec::new(), problem(error.to_string())),
    };
    let Ok(text) = String::from_utf8(content) else {
        return (Vec::new(), problem("it is not UTF-8".to_owned()));
    };
    match text.parse() {
        Ok(table) => settings(&table, &Source::File(path.to_owned())),
        Err(error) => (Vec::new(), problem(explain(&error, &text))),
    }
}

fn settings(table: &Table, from: &Source) -> (Vec<Setting>, Vec<Problem>) {
    let (mut settings, mut problems) = (Vec::<Setting>::new(), Vec::new());
    for (key, value) in table {
        match setting(key, value, from) {
            Ok((variable, _)) if settings.iter().any(|(known, _)| known.name == variable.name) => {
                problems.push(Problem::Twice { name: variable.name, from: from.clone() });
            }
            Ok(setting) => settings.push(setting),
            Err(problem) => problems.push(problem),
        }
    }
    (settings, problems)
}

fn setting(key: &str, value: &Toml, from: &Source) -> Result<Setting, Problem> {
    let is_named =
        |variable: &Variable| key == variable.key() || key.eq_ignore_ascii_case(variable.name);
    let Some(variable) = VARIABLES.iter().find(|variable| is_named(variable)) else {
        let keys = VARIABLES.iter().map(|variable| variable.key());
        return Err(Problem::unknown(key, keys, from.clone()));
    };
    if variable.name == PROXY_CONFIG.name {
        return Err(Problem::Conflict(format!("{key} cannot stand in the file itself ({from})")));
    }
    let text = text_of(value, variable.kind).ok_or_else(|| Problem::Value {
        name: variable.name,
        value: format!("(TOML {})", value.type_str()),
        bad_entry: None,
        allowed: variable.allowed(),
        from: from.clone(),
    })?;
    Ok((variable, text))
}

/// A list may be a TOML array too.
fn text_of(value: &Toml, kind: Kind) -> Option<String> {
    match (value, kind) {
        (Toml::String(text), _) => Some(text.clone()),
        (Toml::Integer(number), _) => Some(number.to_string()),
        (Toml::Boolean(flag), _) => Some(flag.to_string()),
        (Toml::Array(entries), Kind::Hosts | Kind::Origins | Kind::Aliases) => {
            let entries: Option<Vec<_>> = entries.iter().map(Toml::as_str).collect();
            Some(entries?.join(","))
        }
        (Toml::Array(_) | Toml::Float(_) | Toml::Datetime(_) | Toml::Table(_), _) => None,
    }
}

/// Without the line itself, which may hold a secret.
fn explain(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("line {line} is not TOML: {}", error.message())
}

#[cfg(test)]
mod tests;
