//! Paths that do not exist here, among them those of OpenAI's API that clients may try.

use openai_wire::{ApiError, ErrorType};

/// As much of a path as is repeated to the client.
const MAX_SHOWN: usize = 200;

/// The error for a path that does not exist; `paths` are those that do.
pub(crate) fn unknown_path(path: &str, paths: &[String]) -> ApiError {
    let what = what_is_there_instead(path)
        .map_or_else(|| format!("Unknown path {}.", shown(path)), str::to_owned);
    let message = format!("{what} There are {}.", paths.join(", "));
    ApiError::new(404, ErrorType::InvalidRequestError, message).with_code("unknown_path")
}

fn what_is_there_instead(path: &str) -> Option<&'static str> {
    // Somebody has pasted the whole address of an endpoint, to which the client adds the rest.
    let doubled = ["/chat/completions/", "/responses/"].into_iter().any(|endpoint| {
        let rest = path.split_once(endpoint).map_or("", |(_, rest)| rest);
        ["chat", "responses", "models", "completions", "v1"]
            .contains(&rest.split('/').next().unwrap_or_default())
    });
    if doubled {
        return Some("The client's base URL is too long: it ends with /v1, without the endpoint.");
    }
    let path = path.strip_prefix("/v1").unwrap_or(path);
    let resource = path.strip_prefix('/')?.split('/').next()?;
    let answer = match resource {
        "chat" if path.starts_with("/chat/completions/") => {
            "No chat completion is stored here: take it from the answer. Responses are: \
             GET /v1/responses/{id}."
        }
        "responses" if path.starts_with("/responses/compact") => {
            "Conversations are not compacted here: send a shorter 'input', or a summary that a model \
             has made of it."
        }
        "evals" => "There are no evaluations here: the client needs another provider for them.",
        "containers" => {
            "There are no containers here: the client runs its tools itself, and Codex runs none."
        }
        "videos" => {
            "No videos are made here, as Codex makes none: the client needs another provider for \
             them."
        }
        "realtime" => {
            "There are no realtime sessions here: use /v1/responses or /v1/chat/completions with \
             'stream': true."
        }
        "batches" => "There are no batches here: send the requests one by one.",
        "v1" => "The path begins with /v1 twice: take one out of the client's base URL.",
        "completions" => "There are no text completions here: use /v1/chat/completions.",
        "embeddings" => {
            "There are no embeddings here, as Codex makes none: the client needs another provider \
             for them."
        }
        "audio" => {
            "There is neither speech nor transcription here, as Codex has no audio: the client \
             needs another provider for it."
        }
        "images" => {
            "No images are made here, as Codex makes none. Images can be sent to \
             /v1/chat/completions and /v1/responses, as data URLs."
        }
        "moderations" => "There is no moderation here: the client needs another provider for it.",
        "files" | "uploads" | "vector_stores" => {
            "No files are kept here: send everything with the request."
        }
        "assistants" | "threads" => {
            "There are no assistants here: use /v1/responses, or /v1/chat/completions with the whole \
             conversation."
        }
        "conversations" => {
            "There are no conversations of their own here: give /v1/responses the \
             'previous_response_id' of the last response."
        }
        "fine_tuning" | "fine-tunes" => "No models are trained here.",
        _ => return None,
    };
    Some(answer)
}

fn shown(path: &str) -> &str {
    // A path is ASCII on the wire, so that this cuts no character; if it were not, all is shown.
    path.get(..MAX_SHOWN).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(path: &str) -> String {
        unknown_path(path, &["/v1/chat/completions".to_owned(), "/livez".to_owned()]).message
    }

    #[test]
    fn what_there_is_is_listed() {
        assert_eq!(
            message("/v1/nothing"),
            "Unknown path /v1/nothing. There are /v1/chat/completions, /livez."
        );
        assert!(message(&format!("/{}", "x".repeat(10_000))).len() < 300);
    }

    #[test]
    fn a_base_url_that_is_too_long_is_told_from_a_completion() {
        for path in ["/v1/chat/completions/chat/completions", "/v1/responses/v1/models"] {
            assert!(message(path).starts_with("The client's base URL is too long"), "{path}");
        }
        let stored = message("/v1/chat/completions/chatcmpl-1/messages");
        assert!(stored.starts_with("No chat completion is stored here"), "{stored}");
    }

    #[test]
    fn openais_other_paths_say_what_to_do() {
        for path in [
            "/v1/embeddings",
            "/embeddings",
            "/v1/completions",
            "/v1/conversations",
            "/v1/audio/speech",
            "/v1/audio/transcriptions",
            "/v1/images/generations",
            "/v1/moderations",
            "/v1/files",
            "/v1/assistants",
            "/v1/threads/t/runs",
            "/v1/batches",
            "/v1/evals",
            "/v1/containers/c/files",
            "/v1/videos",
            "/v1/realtime/sessions",
            "/v1/responses/compact",
            "/chat/completions/chatcmpl-1",
            "/v1/fine_tuning/jobs",
            "/v1/v1/chat/completions",
        ] {
            let message = message(path);
            assert!(!message.starts_with("Unknown path"), "{message}");
            assert!(message.ends_with("There are /v1/chat/completions, /livez."), "{message}");
        }
        for path in ["/v1", "", "*", "/v1embeddings", "/v1/embeddingsx", "/x/embeddings"] {
            assert!(message(path).starts_with("Unknown path"), "{path}");
        }
    }
}
