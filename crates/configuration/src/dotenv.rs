//! A `.env` file.

use std::path::Path;

use dotenvy::Error;

use crate::problem::Problem;
use crate::trusted;

/// The lines of the file at `path`. Our own environment is not changed.
pub(crate) fn read(path: &Path) -> (Vec<(String, String)>, Vec<Problem>) {
    let problem = |reason: String| Problem::File { path: path.to_owned(), reason };
    let content = match trusted::read(path) {
        Ok(content) => content,
        Err(error) => return (Vec::new(), vec![problem(format!("{error} (--env-file)"))]),
    };
    let Ok(text) = String::from_utf8(content) else {
        return (Vec::new(), vec![problem("it is not UTF-8".to_owned())]);
    };
    let (mut lines, mut problems) = (Vec::new(), Vec::new());
    // The parser knows neither the mark that some editors put in front, nor a blank at the very
    // end.
    let whole = format!("{}\n", text.trim_start_matches('\u{feff}').trim_end());
    for line in dotenvy::from_read_iter(whole.as_bytes()) {
        match line {
            Ok(line) => lines.push(line),
            Err(error) => problems.push(problem(explain(&error, &whole))),
        }
    }
    (lines, problems)
}

/// Without the line itself, which may hold a secret.
fn explain(error: &Error, whole: &str) -> String {
    let Error::LineParse(part, _) = error else { return "it cannot be parsed".to_owned() };
    let first = part.lines().next().unwrap_or_default();
    let place = whole.lines().position(|line| line.ends_with(first));
    let place = place.map_or_else(|| "a line".to_owned(), |index| format!("line {}", index + 1));
    format!("{place} is not NAME=value; a value with blanks or backslashes needs quotation marks")
}

#[cfg(test)]
mod tests;
