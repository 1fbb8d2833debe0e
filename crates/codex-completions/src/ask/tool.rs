//! The tools of a question, as the command line names them.

use std::str::FromStr;

use model_turn::Tool;
use serde_json::{Map, Value, json};

/// What one `--tool` offers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfferedTools(pub(super) Vec<Tool>);

/// A `--tool` that is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidTool {
    #[error("a name is missing")]
    Nameless,
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error(
        "it is not a tool such as {{\"name\": \"now\", \"parameters\": {{\"type\": \"object\"}}}}"
    )]
    NotAnObject,
    #[error("\"type\" is {0}; only \"function\" can be offered")]
    OtherType(Value),
    #[error("\"{field}\" must be {expected}")]
    Field { field: &'static str, expected: &'static str },
}

// === impl OfferedTools ===

impl FromStr for OfferedTools {
    type Err = InvalidTool;

    fn from_str(argument: &str) -> Result<Self, InvalidTool> {
        if let Some(path) = argument.strip_prefix('@') {
            let read = std::fs::read_to_string(path);
            let text =
                read.map_err(|source| InvalidTool::File { path: path.to_owned(), source })?;
            return declared(serde_json::from_str(&text)?);
        }
        match argument.trim_start().chars().next() {
            None => Err(InvalidTool::Nameless),
            Some('{' | '[') => declared(serde_json::from_str(argument)?),
            Some(_) => Ok(Self(vec![named(argument)])),
        }
    }
}

/// Nobody has told us what the tool takes: one text will do to see a call.
fn named(name: &str) -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    });
    Tool::function(name, &format!("The tool {name}"), parameters)
}

/// One tool, or a list of them, as the `tools` of a request have it.
fn declared(json: Value) -> Result<OfferedTools, InvalidTool> {
    let tools = match json {
        Value::Array(tools) => tools,
        tool => vec![tool],
    };
    tools.into_iter().map(tool).collect::<Result<_, _>>().map(OfferedTools)
}

/// Chat completions have the function one level deeper than responses.
fn tool(json: Value) -> Result<Tool, InvalidTool> {
    let Value::Object(mut tool) = json else { return Err(InvalidTool::NotAnObject) };
    if let Some(other) = tool.remove("type").filter(|name| name != "function") {
        return Err(InvalidTool::OtherType(other));
    }
    let mut function = match tool.remove("function") {
        Some(Value::Object(function)) => function,
        Some(_) => {
            return Err(InvalidTool::Field { field: "function", expected: "an object" });
        }
        None => tool,
    };
    let name = text(&mut function, "name")?.filter(|name| !name.is_empty());
    let parameters = match function.remove("parameters") {
        None | Some(Value::Null) => json!({"type": "object", "properties": {}}),
        Some(parameters @ Value::Object(_)) => parameters,
        Some(_) => {
            let expected = "an object, the JSON schema of what the tool takes";
            return Err(InvalidTool::Field { field: "parameters", expected });
        }
    };
    let description = text(&mut function, "description")?.unwrap_or_default();
    Ok(Tool::function(&name.ok_or(InvalidTool::Nameless)?, &description, parameters))
}

fn text(
    function: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<String>, InvalidTool> {
    match function.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(InvalidTool::Field { field, expected: "text" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Tool {
        Tool::function("now", "The time", json!({"type": "object", "properties": {}}))
    }

    fn parsed(argument: &str) -> Result<Vec<Tool>, String> {
        let tools: Result<OfferedTools, _> = argument.parse();
        tools.map(|OfferedTools(tools)| tools).map_err(|error| error.to_string())
    }

    #[test]
    fn a_tool_is_taken_as_either_endpoint_has_it() {
        for argument in [
            r#"{"name":"now","description":"The time"}"#,
            r#"{"type":"function","name":"now","description":"The time","strict":true}"#,
            r#"{"type":"function","function":{"name":"now","description":"The time","parameters":null}}"#,
            r#" [{"name":"now","description":"The time","parameters":{"type":"object","properties":{}}}]"#,
        ] {
            assert_eq!(parsed(argument), Ok(vec![now()]), "{argument}");
        }
        assert_eq!(parsed("now").unwrap()[0].name, "now".into());
    }

    #[test]
    fn a_file_has_one_or_several() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.json");
        let tool = r#"{"name":"now","description":"The time"}"#;
        std::fs::write(&path, format!("[{tool},\n{tool}]")).unwrap();
        assert_eq!(parsed(&format!("@{}", path.display())), Ok(vec![now(), now()]));
        assert!(parsed("@/nowhere/tools.json").unwrap_err().starts_with("/nowhere/tools.json: "));
    }

    #[test]
    fn what_is_no_tool_is_named() {
        for (argument, problem) in [
            ("", "a name is missing"),
            ("{}", "a name is missing"),
            (r#"{"name":""}"#, "a name is missing"),
            (r#"{"name":1}"#, "\"name\" must be text"),
            (
                r#"{"name":"a","parameters":[]}"#,
                "\"parameters\" must be an object, the JSON schema",
            ),
            (r#"{"type":"web_search"}"#, "\"type\" is \"web_search\"; only \"function\""),
            ("[1]", "it is not a tool such as {\"name\": \"now\""),
            ("{", "it is not JSON: "),
        ] {
            let error = parsed(argument).unwrap_err();
            assert!(error.starts_with(problem), "{argument}: {error}");
        }
    }
}
