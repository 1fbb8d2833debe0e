//! The corpus of texts: data files that the crate's own tests read, too.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

/// One text and what must come out, however it is cut.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub pattern: Pattern,
    pub input: String,
    pub expected: Vec<Segment>,
}

/// The formats that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    UseTool,
    ToolCall,
    Both,
}

/// A part of the text: no two texts stand beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    Text(String),
    Block(Block),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub name: String,
    pub args_text: String,
    /// Where it stands in the text, in bytes.
    pub start: usize,
    pub end: usize,
    pub raw: String,
}

/// Where the corpus is in this repository.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/corpus/text")
}

/// All cases of a folder, in the order of their files' names.
pub fn load(folder: &Path) -> io::Result<Vec<Case>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |path: &PathBuf| {
        let file: File = serde_json::from_str(&fs::read_to_string(path)?)
            .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
        // The parsers here do not look for fences.
        Ok((!file.fences_are_text).then(|| file.case()))
    };
    files.iter().filter_map(|path| read(path).transpose()).collect()
}

/// Adds text behind what is there.
pub fn add_text(segments: &mut Vec<Segment>, more: &str) {
    match segments.last_mut() {
        _ if more.is_empty() => {}
        Some(Segment::Text(text)) => text.push_str(more),
        _ => segments.push(Segment::Text(more.to_owned())),
    }
}

// What follows is how a case is written down: a long text is given as what it repeats.

#[derive(Deserialize)]
struct File {
    name: String,
    pattern: Pattern,
    #[serde(default)]
    fences_are_text: bool,
    input: Option<String>,
    input_repeat: Option<Vec<Repeat>>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    segments: Vec<FileSegment>,
}

#[derive(Deserialize)]
struct FileSegment {
    text: Option<String>,
    text_repeat: Option<Vec<Repeat>>,
    block: Option<FileBlock>,
}

#[derive(Deserialize)]
struct FileBlock {
    start: usize,
    end: usize,
    name: Option<String>,
    name_repeat: Option<Vec<Repeat>>,
    args_text: Option<String>,
    args_text_repeat: Option<Vec<Repeat>>,
}

#[derive(Deserialize)]
struct Repeat {
    text: String,
    times: usize,
}

impl File {
    fn case(self) -> Case {
        let input = string(self.input, self.input_repeat);
        let mut expected = Vec::new();
        for segment in self.expected.segments {
            match segment.block {
                None => add_text(&mut expected, &string(segment.text, segment.text_repeat)),
                Some(block) => expected.push(Segment::Block(Block {
                    name: string(block.name, block.name_repeat),
                    args_text: string(block.args_text, block.args_text_repeat),
                    start: block.start,
                    end: block.end,
                    raw: input[block.start..block.end].to_owned(),
                })),
            }
        }
        Case { name: self.name, pattern: self.pattern, input, expected }
    }
}

fn string(whole: Option<String>, parts: Option<Vec<Repeat>>) -> String {
    let repeated = || parts.into_iter().flatten().map(|part| part.text.repeat(part.times));
    whole.unwrap_or_else(|| repeated().collect())
}
