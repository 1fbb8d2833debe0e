//! Blocks of commands in a document.

/// What stands between two fences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    pub(super) language: &'a str,
    /// Where its first line is.
    pub(super) line: usize,
    pub(super) text: String,
}

/// A command, and what it says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) line: usize,
    /// In several lines where the next ones begin as the shell's second prompt does.
    pub(super) command: String,
    pub(super) expected: String,
}

pub(super) fn blocks(document: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let inside: Vec<_> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            blocks.push(Block { language, line: number + 2, text: inside.join("\n") });
        }
    }
    blocks
}

/// Whether lines are as a text says in which `…` stands for anything.
pub(super) fn matches(expected: &str, lines: &[String]) -> bool {
    fn follow(expected: &[&str], lines: &[String]) -> bool {
        match (expected.split_first(), lines.split_first()) {
            (None, None) => true,
            (Some((&"…", rest)), _) => {
                (0..=lines.len()).any(|skipped| follow(rest, &lines[skipped..]))
            }
            (Some((wanted, rest)), Some((line, others))) => {
                line_matches(wanted, line) && follow(rest, others)
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
    // Not `lines`: an empty last line is one.
    let expected: Vec<_> = match expected {
        "" => Vec::new(),
        _ => expected.split('\n').map(str::trim_end).collect(),
    };
    follow(&expected, lines)
}

fn line_matches(wanted: &str, line: &str) -> bool {
    let line = line.trim_end();
    let mut parts: Vec<_> = wanted.split('…').collect();
    let last = parts.pop().unwrap_or_default();
    let Some((first, middle)) = parts.split_first() else { return line == last };
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

// === impl Block ===

impl Block<'_> {
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        // Not `lines`: an empty last line is one.
        for (offset, line) in self.text.split('\n').enumerate() {
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step {
                    line: self.line + offset,
                    command: command.to_owned(),
                    expected: String::new(),
                });
                continue;
            }
            let step = steps.last_mut().expect("a block begins with a command");
            let (text, line) = match line.strip_prefix("> ") {
                Some(more) => (&mut step.command, more),
                None => (&mut step.expected, line),
            };
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
        }
        steps
    }
}

#[test]
fn commands_and_what_they_say_are_found() {
    let document = "a\n\n```console\n$ one \\\n> more\nsaid\n$ two\n```\n\n```json\n{}\n```\n";
    let found = blocks(document);
    let languages: Vec<_> = found.iter().map(|block| (block.language, block.line)).collect();
    assert_eq!(languages, [("console", 4), ("json", 11)]);
    let step = |line, command: &str, expected: &str| Step {
        line,
        command: command.to_owned(),
        expected: expected.to_owned(),
    };
    assert_eq!(found[0].steps(), [step(4, "one \\\nmore", "said"), step(7, "two", "")]);
}

#[test]
fn dots_stand_for_anything() {
    let lines = ["a 12 b", "c", "d"].map(str::to_owned);
    for expected in ["a … b\nc\nd", "…", "a …\n…", "…\nd", "…\na 1…2 b\n…\nc\nd"] {
        assert!(matches(expected, &lines), "{expected}");
    }
    for expected in ["", "a … c\n…", "a … b\nc", "…\nc", "x…\n…", "a 12 b 12…\n…"] {
        assert!(!matches(expected, &lines), "{expected}");
    }
    assert!(matches("", &[]));
}
