//! The part of a document that a run writes.

use std::path::Path;
use std::{fs, io};

/// Writes the section of this name anew, between `<!-- NAME: written by the run -->` and `<!-- end -->`.
///
/// # Errors
/// If the file has no such section, or cannot be written.
pub fn rewrite(path: &Path, name: &str, markdown: &str) -> io::Result<()> {
    let (begin, end) = (format!("<!-- {name}: written by the run -->"), "<!-- end -->");
    let old = fs::read_to_string(path)?;
    let place = old.split_once(&begin).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(end)?;
        Some((before, after))
    });
    let Some((before, after)) = place else {
        return Err(io::Error::other(format!("{} has no {begin} … {end}", path.display())));
    };
    fs::write(path, format!("{before}{begin}\n\n{markdown}\n{end}{after}"))
}
