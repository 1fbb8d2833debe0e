//! The tools that are known, and the order of their parameters.

use serde_json::Value;

use ParameterKind::{Array, Boolean, Integer, Number, Object, String};

/// One parameter of a known tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name, as it is written.
    pub name: &'static str,
    /// Whether a call may do without it.
    pub optional: bool,
    /// The JSON type of its values.
    pub kind: ParameterKind,
    /// Other names under which it is accepted when it is not there under its own.
    pub also: &'static [&'static str],
}

/// The JSON type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterKind {
    /// `"text"`
    String,
    /// `1.5`
    Number,
    /// `1`
    Integer,
    /// `true`
    Boolean,
    /// `[…]`
    Array,
    /// `{…}`
    Object,
}

/// One argument of a call, in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument<'a> {
    /// The parameter of the canon that it is for.
    pub(super) parameter: Option<&'static Parameter>,
    /// The name that it goes by.
    pub(super) name: &'a str,
    /// Its value's text.
    pub(super) value: &'a str,
}

/// The parameters of a known tool, in the order in which they are written; `None` for other tools.
///
/// ```
/// use tool_call_aggregator::obsidian::{ParameterKind, canon};
///
/// let parameters = canon("readNote").unwrap();
/// assert_eq!((parameters[0].name, parameters[0].also), ("notePath", &["path"][..]));
/// assert_eq!((parameters[1].name, parameters[1].kind), ("chunkIndex", ParameterKind::Integer));
/// assert!(!parameters[0].optional && parameters[1].optional);
/// assert_eq!(canon("get_user"), None);
/// ```
pub fn canon(tool: &str) -> Option<&'static [Parameter]> {
    tools().find(|&(name, _)| name == tool).map(|(_, parameters)| parameters)
}

/// Every known tool with its parameters.
///
/// ```
/// use tool_call_aggregator::obsidian::tools;
///
/// assert!(tools().any(|(name, parameters)| name == "getFileTree" && parameters.is_empty()));
/// ```
pub fn tools() -> impl Iterator<Item = (&'static str, &'static [Parameter])> {
    TOOLS.iter().copied()
}

/// The arguments of a known tool in the order of the canon, then what else there is in its own order.
/// No two members have the same name. Another name for a parameter gives way to the canon's, unless it
/// is the one that the tool's own schema declares.
pub(super) fn arrange<'a, K: AsRef<str>, V: AsRef<str>>(
    tool: &str,
    members: &'a [(K, V)],
    schema: Option<&Value>,
) -> Vec<Argument<'a>> {
    let place = |name: &str| members.iter().position(|(key, _)| key.as_ref() == name);
    let mut taken = Vec::new();
    let mut arguments = Vec::with_capacity(members.len());
    for parameter in canon(tool).unwrap_or_default() {
        let names = std::iter::once(&parameter.name).chain(parameter.also);
        if let Some(at) = names.copied().find_map(place) {
            let value = members[at].1.as_ref();
            let said = members[at].0.as_ref();
            let is_declared = |name: &str| declared(schema, name).is_some();
            let keeps_name = is_declared(said) && !is_declared(parameter.name);
            let name = if keeps_name { said } else { parameter.name };
            arguments.push(Argument { parameter: Some(parameter), name, value });
            taken.push(at);
        }
    }
    for (at, (key, value)) in members.iter().enumerate() {
        if !taken.contains(&at) {
            let (name, value) = (key.as_ref(), value.as_ref());
            arguments.push(Argument { parameter: None, name, value });
        }
    }
    arguments
}

/// What a tool's own schema says about a parameter.
pub(super) fn declared<'s>(schema: Option<&'s Value>, name: &str) -> Option<&'s Value> {
    schema?.get("properties")?.get(name)
}

const fn required(name: &'static str, kind: ParameterKind) -> Parameter {
    Parameter { name, optional: false, kind, also: &[] }
}

const fn optional(name: &'static str, kind: ParameterKind) -> Parameter {
    Parameter { name, optional: true, kind, also: &[] }
}

const NOTE_PATH: Parameter =
    Parameter { name: "notePath", optional: false, kind: String, also: &["path"] };

const TOOLS: &[(&str, &[Parameter])] = &[
    (
        "localSearch",
        &[
            required("query", String),
            required("salientTerms", Array),
            optional("timeRange", Object),
        ],
    ),
    ("webSearch", &[required("query", String), required("chatHistory", Array)]),
    ("getCurrentTime", &[optional("timezoneOffset", String)]),
    (
        "convertTimeBetweenTimezones",
        &[required("time", String), required("fromOffset", String), required("toOffset", String)],
    ),
    ("getTimeRangeMs", &[required("timeExpression", String)]),
    ("getTimeInfoByEpoch", &[required("epoch", Number)]),
    ("readNote", &[NOTE_PATH, optional("chunkIndex", Integer)]),
    ("getFileTree", &[]),
    ("getTagList", &[optional("includeInline", Boolean), optional("maxEntries", Integer)]),
    (
        "writeToFile",
        &[required("path", String), required("content", String), optional("confirmation", Boolean)],
    ),
    ("replaceInFile", &[required("path", String), required("diff", String)]),
    ("updateMemory", &[required("statement", String)]),
    ("youtubeTranscription", &[]),
];
