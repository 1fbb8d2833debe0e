//! The cases of `conformance/corpus`; their format is described in its README.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::reference::{Block, Grammar, Outcome};

/// Every file of a folder of the corpus, in the order of their names.
pub(crate) fn files(folder: &str) -> Vec<(String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/corpus").join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap())
            .unwrap_or_else(|error| panic!("{stem}: {error}"));
        assert_eq!(case["name"], stem, "a case is called like its file");
        assert!(case["why"].as_str().is_some_and(|why| !why.is_empty()), "{stem}: why?");
        (stem, case)
    };
    paths.iter().map(read).collect()
}

/// A case about text.
pub(crate) struct TextCase {
    pub(crate) name: String,
    pub(crate) grammars: Vec<Grammar>,
    pub(crate) input: String,
    pub(crate) expected: Outcome,
}

pub(crate) fn text_cases() -> Vec<TextCase> {
    files("text").into_iter().map(|(name, case)| text_case(name, &case)).collect()
}

fn text_case(name: String, case: &Value) -> TextCase {
    let mut grammars = match case["pattern"].as_str() {
        Some("use_tool") => vec![Grammar::UseTool],
        Some("tool_call") => vec![Grammar::ToolCall],
        Some("both") => vec![Grammar::UseTool, Grammar::ToolCall],
        other => panic!("{name}: pattern {other:?}"),
    };
    if case["fences_are_text"] == true {
        grammars.push(Grammar::Fences);
    }
    let input = string(case, "input").unwrap_or_else(|| panic!("{name}: no input"));
    let mut expected = Outcome::default();
    for segment in case["expected"]["segments"].as_array().unwrap() {
        if let Some(text) = string(segment, "text") {
            expected.text(&text);
            continue;
        }
        let block = &segment["block"];
        let (start, end) = (offset(&block["start"]), offset(&block["end"]));
        expected.block(Block {
            start,
            end,
            name: string(block, "name").unwrap(),
            args_text: string(block, "args_text").unwrap(),
            raw: input[start..end].to_owned(),
        });
    }
    expected.unnamed = offset(&case["expected"]["unnamed"]);
    TextCase { name, grammars, input, expected }
}

/// The text under `key`, or the one that `<key>_repeat` describes.
fn string(object: &Value, key: &str) -> Option<String> {
    if let Some(text) = object[key].as_str() {
        return Some(text.to_owned());
    }
    let parts = object[format!("{key}_repeat")].as_array()?;
    let part = |part: &Value| part["text"].as_str().unwrap().repeat(offset(&part["times"]));
    Some(parts.iter().map(part).collect())
}

fn offset(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}
