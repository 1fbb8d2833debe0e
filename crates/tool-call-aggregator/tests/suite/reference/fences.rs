//! Fenced code, by the rules of `CommonMark`, line by line.

/// Whether a place is in fenced code, between what stands before it and after it; `None` if that
/// depends on what comes.
pub(super) fn protects(before: &str, after: &str, ended: bool) -> Option<bool> {
    let mut lines: Vec<&str> = before.split(['\n', '\r']).collect();
    let line = lines.pop().unwrap_or_default();
    let mut open = None;
    for line in lines {
        open = match open {
            None => opening(line),
            Some(fence) if closes(line, fence) => None,
            Some(fence) => Some(fence),
        };
    }
    if open.is_some() {
        return Some(true);
    }
    match opening(line) {
        None => Some(false),
        Some(('`', _)) => match after.find(['`', '\n', '\r']) {
            Some(at) => Some(!after[at..].starts_with('`')),
            None => ended.then_some(true),
        },
        Some(_) => Some(true),
    }
}

/// The mark and the length of a run of marks at the beginning of a line, and what follows it.
fn run(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|mark| "`~".contains(*mark))?;
    let rest = text.trim_start_matches(mark);
    (line.len() - text.len() <= 3).then_some((mark, text.len() - rest.len(), rest))
}

fn opening(line: &str) -> Option<(char, usize)> {
    let (mark, length, rest) = run(line)?;
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    run(line).is_some_and(|(other, longer, rest)| {
        other == mark && longer >= length && rest.chars().all(|rest| rest == ' ' || rest == '\t')
    })
}
