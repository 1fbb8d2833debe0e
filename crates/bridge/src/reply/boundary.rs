//! Where a text can be cut.

/// The last place up to `limit` that is not inside a character.
pub(super) fn last_boundary(text: &str, limit: usize) -> usize {
    let limit = limit.min(text.len());
    (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
