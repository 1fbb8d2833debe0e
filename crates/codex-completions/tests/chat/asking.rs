//! Requests.

use serde_json::{Value, json};

/// One user message to a model that takes its tools in the classic way.
pub(crate) fn ask(text: &str) -> Value {
    json!({"model": "gpt-5.5", "messages": [{"role": "user", "content": text}]})
}

/// The request with these members besides.
pub(crate) fn with(mut request: Value, members: Value) -> Value {
    let Value::Object(members) = members else { panic!("no members: {members}") };
    request.as_object_mut().expect("a request").extend(members);
    request
}

/// The request with tools that the scripted model calls.
pub(crate) fn with_tools(request: Value) -> Value {
    with(request, json!({"tools": tools(&["get_weather", "get_time", "lookup"])}))
}

pub(crate) fn streamed(request: Value) -> Value {
    with(request, json!({"stream": true}))
}

/// Tools of these names, each with a city as its parameter.
pub(crate) fn tools(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"type": "function", "function": function(name)})).collect()
}

pub(crate) fn function(name: &str) -> Value {
    json!({
        "name": name,
        "description": format!("Runs {name}"),
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    })
}

/// The mark that lets the scripted model say these texts and calls.
pub(crate) fn items(items: &[Value]) -> String {
    format!("[[items:{}]]", Value::from(items))
}

/// A call for [`items`].
pub(crate) fn call(name: &str, city: &str) -> Value {
    json!({"name": name, "arguments": format!(r#"{{"city": "{city}"}}"#)})
}
