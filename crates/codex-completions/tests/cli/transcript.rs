//! What a client and the server said to each other, kept as files that can be read beside the wire.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use hyper::HeaderMap;
use serde_json::Value;

/// Ids of ours begin with these, and are replaced by numbers in the order of their appearance, so
/// that equal ones stay equal.
const IDS: [&str; 5] = ["resp_", "msg_", "rs_", "fc_", "tool_"];

/// Shorter words that begin so are names that the client invented.
const SHORTEST_ID: usize = 20;

/// Seconds since 1970.
const TIMES: [&str; 2] = ["created_at", "completed_at"];

/// Headers of an answer that differ from run to run, or tell only how it was carried.
const HEADERS: [&str; 4] = ["date", "content-length", "transfer-encoding", "x-request-id"];

/// A request, and its whole answer.
pub(crate) struct Exchange {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) answer: String,
}

/// Compares transcripts with the files of `folder`, which has no others. `UPDATE_GOLDEN=1` writes
/// them instead; what has changed is then seen in the diff.
pub(crate) fn check(folder: &Path, transcripts: &BTreeMap<String, Vec<Exchange>>) {
    let written: BTreeMap<String, String> = transcripts
        .iter()
        .map(|(name, exchanges)| (format!("{name}.txt"), transcript(exchanges)))
        .collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).unwrap();
        for (name, text) in &written {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    let kept = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path());
    let kept: BTreeMap<String, String> = kept
        .map(|file| {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&file).unwrap())
        })
        .collect();
    assert!(
        kept.keys().eq(written.keys()),
        "{} has {:?}, but there came {:?}",
        folder.display(),
        kept.keys(),
        written.keys(),
    );
    for (name, came) in &written {
        let place = folder.join(name);
        assert!(kept[name] == *came, "{} is not what came:\n{}", place.display(), {
            difference(&kept[name], came)
        });
    }
}

/// The first lines that differ.
fn difference(kept: &str, came: &str) -> String {
    let same = kept.lines().zip(came.lines()).take_while(|(kept, came)| kept == came).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    format!("line {}\n  kept: {}\n  came: {}", same + 1, line(kept), line(came))
}

fn transcript(exchanges: &[Exchange]) -> String {
    let said: Vec<String> = exchanges.iter().map(Exchange::written).collect();
    let text = without_port(&said.join("\n"));
    with_numbered_ids(&TIMES.iter().fold(text, |text, name| without_time(&text, name)))
}

/// Every server of these tests has another port.
pub(crate) fn without_port(text: &str) -> String {
    const HERE: &str = "http://127.0.0.1:";
    let mut parts = text.split(HERE);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        masked.extend([HERE, "PORT", rest]);
    }
    masked
}

/// JSON in lines; anything else, such as a stream, as it is.
fn readable(body: &str) -> String {
    let pretty = serde_json::from_str::<Value>(body)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| body.trim_end().to_owned());
    pretty + "\n"
}

fn without_time(text: &str, name: &str) -> String {
    let key = format!("\"{name}\":");
    let mut parts = text.split(&key);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.trim_start();
        let rest = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
        masked.push_str(&key);
        masked.push_str(&part[..part.len() - value.len()]);
        masked.push_str(if rest.len() < value.len() { "TIME" } else { "" });
        masked.push_str(rest);
    }
    masked
}

fn with_numbered_ids(text: &str) -> String {
    let mut known: HashMap<&str, String> = HashMap::new();
    let mut counts = [0; IDS.len()];
    let mut numbered = String::new();
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut rest = text;
    while !rest.is_empty() {
        let word = &rest[..rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())];
        let kind = IDS.iter().position(|start| word.starts_with(start));
        match kind.filter(|_| word.len() >= SHORTEST_ID) {
            Some(kind) => {
                let id = known.entry(word).or_insert_with(|| {
                    counts[kind] += 1;
                    format!("{}{}", IDS[kind], counts[kind])
                });
                numbered.push_str(id);
            }
            None => numbered.push_str(word),
        }
        rest = &rest[word.len()..];
        let gap = &rest[..rest.find(is_word).unwrap_or(rest.len())];
        numbered.push_str(gap);
        rest = &rest[gap.len()..];
    }
    numbered
}

// === impl Exchange ===

impl Exchange {
    fn written(&self) -> String {
        let mut text = format!("=== {} {}\n", self.method, self.path);
        if !self.request.is_empty() {
            text += &readable(&self.request);
        }
        let _ = writeln!(text, "\n--- {}", self.status);
        let mut headers: Vec<_> = self.headers.iter().collect();
        headers.retain(|(name, _)| !HEADERS.contains(&name.as_str()));
        headers.sort_by_key(|(name, _)| name.as_str());
        for (name, value) in headers {
            let _ = writeln!(text, "{name}: {}", value.to_str().unwrap());
        }
        text + "\n" + &readable(&self.answer)
    }
}

#[test]
fn what_differs_from_run_to_run_is_masked_and_nothing_else() {
    let [one, two] = ["resp_aaaaaaaaaaaaaaaaaaaa", "resp_bbbbbbbbbbbbbbbbbbbb"];
    let exchange = Exchange {
        method: "POST".to_owned(),
        path: format!("/v1/responses/{two}/cancel"),
        request: format!(r#"{{"previous_response_id":"{one}","user":"resp_me"}}"#),
        status: 200,
        headers: [("date", "today"), ("x-request-id", "1"), ("content-type", "text/plain")]
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .into_iter()
            .collect(),
        answer: format!("data: {{\"id\":\"{two}\",\"created_at\":17,\"completed_at\":null}}\n\n"),
    };
    let expected = r#"=== POST /v1/responses/resp_1/cancel
{
  "previous_response_id": "resp_2",
  "user": "resp_me"
}

--- 200
content-type: text/plain

data: {"id":"resp_1","created_at":TIME,"completed_at":null}
"#;
    assert_eq!(transcript(&[exchange]), expected);
}
