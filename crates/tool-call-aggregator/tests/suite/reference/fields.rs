//! The arguments that a block's fields make: what the tools' own parameter list says, spelled out.

use super::json;

/// The parameters of the tools that are known, in their order.
const CANON: &[(&str, &[&str])] = &[
    ("localSearch", &["query", "salientTerms", "timeRange"]),
    ("webSearch", &["query", "chatHistory"]),
    ("getCurrentTime", &["timezoneOffset"]),
    ("convertTimeBetweenTimezones", &["time", "fromOffset", "toOffset"]),
    ("getTimeRangeMs", &["timeExpression"]),
    ("getTimeInfoByEpoch", &["epoch"]),
    ("readNote", &["notePath", "chunkIndex"]),
    ("getFileTree", &[]),
    ("getTagList", &["includeInline", "maxEntries"]),
    ("writeToFile", &["path", "content", "confirmation"]),
    ("replaceInFile", &["path", "diff"]),
    ("updateMemory", &["statement"]),
    ("youtubeTranscription", &[]),
];

/// The parameters among them that are not strings.
const NOT_STRINGS: &[&str] = &[
    "salientTerms",
    "timeRange",
    "chatHistory",
    "epoch",
    "chunkIndex",
    "includeInline",
    "maxEntries",
    "confirmation",
];

pub(super) fn canonical_json(tool: &str, fields: &[(String, String)]) -> String {
    let canon = CANON.iter().find(|(name, _)| *name == tool).map_or(&[][..], |(_, keys)| *keys);
    let has = |key: &str| fields.iter().any(|(name, _)| name == key);
    let renamed: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| {
            let is_note = tool == "readNote" && name == "path" && !has("notePath");
            (if is_note { "notePath" } else { name }, value.as_str())
        })
        .collect();
    let known = canon.iter().filter_map(|key| renamed.iter().find(|(name, _)| name == key));
    let others = renamed.iter().filter(|(name, _)| !canon.contains(name));
    json::object(known.chain(others).map(|(key, value)| (*key, member(canon, key, value))))
}

fn member(canon: &[&str], key: &str, value: &str) -> String {
    let may_be_json = if canon.contains(&key) {
        NOT_STRINGS.contains(&key)
    } else {
        value.starts_with(['{', '['])
    };
    if may_be_json && json::is_valid(value) { value.to_owned() } else { json::quote(value) }
}
