//! Which program a request comes from, as far as it says so.

use axum::http::{HeaderMap, header};

/// Most characters of it.
const LONGEST: usize = 40;

/// The name of a client, from its `User-Agent`. Clients can say anything there: what is told is short
/// and plain.
pub(crate) fn client_name(headers: &HeaderMap) -> Option<String> {
    let agent = headers.get(header::USER_AGENT)?.to_str().ok()?;
    // All browsers begin alike; programs that are built on one say so further on.
    if agent.starts_with("Mozilla/") {
        let app = agent.split(' ').find(|part| part.to_ascii_lowercase().starts_with("obsidian/"));
        return Some(app.map_or_else(|| "browser".to_owned(), plain));
    }
    let name = plain(agent.split(['(', ';', ',']).next().unwrap_or_default());
    (!name.is_empty()).then_some(name)
}

fn plain(text: &str) -> String {
    let is_usual = |letter: char| letter.is_ascii_alphanumeric() || " _-.:/@+".contains(letter);
    let usual: String = text.chars().take_while(|&letter| is_usual(letter)).take(LONGEST).collect();
    usual.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_client_is_told_by_the_first_plain_words_that_it_says() {
        for (agent, name) in [
            ("OpenAI/Python 2.1.0", Some("OpenAI/Python 2.1.0")),
            (
                "ai-sdk/openai/3.0.1 ai/6.0 runtime/node.js",
                Some("ai-sdk/openai/3.0.1 ai/6.0 runtime/node."),
            ),
            ("curl/8.5.0", Some("curl/8.5.0")),
            ("codex_cli (Linux; x86_64)", Some("codex_cli")),
            ("Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/142 Safari/537.36", Some("browser")),
            ("Mozilla/5.0 (X11) obsidian/1.8.4 Chrome/132 Electron/34", Some("obsidian/1.8.4")),
            ("my \"secret\" prompt", Some("my")),
            ("<script>", None),
            ("", None),
        ] {
            let agent = HeaderValue::from_str(agent).unwrap();
            let headers = HeaderMap::from_iter([(header::USER_AGENT, agent.clone())]);
            assert_eq!(client_name(&headers).as_deref(), name, "{agent:?}");
        }
        assert_eq!(client_name(&HeaderMap::new()), None);
    }
}
