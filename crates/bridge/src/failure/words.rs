//! What a person reads about a failed turn: what happened, and what to do.
//!
//! Many clients show nothing but these words, so that they must do without code and status. Which words
//! they are never depends on the upstream's own, so that a record without those is still played alike.

use model_turn::{Failure, FailureKind};

use super::{AskedUpstream, start_of};

/// Most characters of a message of the upstream's.
pub(super) const MOST: usize = 4_000;

/// The message of the error for a failed turn.
pub(super) fn of(failure: &Failure, asked: AskedUpstream<'_>) -> String {
    match failure.kind {
        FailureKind::Unauthorized => unauthorized(failure, asked),
        FailureKind::ContextLength => {
            let words =
                "The conversation is too long for this model. Shorten it or begin a new one.";
            // Without the upstream's answer the reason is Codex's, who speaks of its own threads.
            match failure.upstream_body {
                Some(_) => with_reason(words, failure),
                None => words.to_owned(),
            }
        }
        FailureKind::RateLimit => {
            let words =
                "The upstream takes no more requests for the moment. Try again in a minute.";
            // Of an HTTP answer Codex tells the status alone.
            match failure.upstream_status {
                None => with_reason(words, failure),
                Some(_) => words.to_owned(),
            }
        }
        FailureKind::Overloaded => {
            with_reason("The upstream has no room for this model. Try again in a minute.", failure)
        }
        FailureKind::ServerError => {
            with_reason("The upstream has failed at this request. Try again.", failure)
        }
        // What Codex says of these is about its own parts; the log has it.
        FailureKind::Unreachable => {
            "The upstream cannot be reached from the machine that runs the server. Look at its \
             network, and at PROXY_UPSTREAM_BASE_URL if that is set."
                .to_owned()
        }
        FailureKind::StreamCut => {
            "The connection to the upstream broke before the answer was complete. Try again."
                .to_owned()
        }
        FailureKind::ModelNotFound => {
            format!("{} GET /v1/models lists the models.", sentence(&failure.message))
        }
        FailureKind::ContentFilter => {
            with_reason("The answer was withheld. Put the question in another way.", failure)
        }
        FailureKind::MaxOutput => {
            "The model has met its limit of output before it had answered. Ask for less at once."
                .to_owned()
        }
        FailureKind::Timeout => format!(
            "{} Try again; PROXY_TIMEOUT_MS and PROXY_IDLE_TIMEOUT_MS allow more time.",
            sentence(&failure.message)
        ),
        // Codex's own last words can be about another request.
        FailureKind::ChildGone => {
            "Codex is being started again. Try again in a few seconds.".to_owned()
        }
        FailureKind::Untested => format!(
            "{} `codex-completions doctor` checks it again; a tested Codex helps, or \
             PROXY_ALLOW_UNTESTED_CODEX=true.",
            sentence(&failure.message)
        ),
        FailureKind::Stopping => {
            "The server is stopping. Try again once it has started.".to_owned()
        }
        FailureKind::BadRequest => match failure.upstream_status {
            Some(400) | None => sentence(&failure.message),
            Some(status) => {
                with_reason(&format!("The upstream refused the request with {status}."), failure)
            }
        },
        FailureKind::UsageLimit
        | FailureKind::SlowConsumer
        | FailureKind::OutputTooLarge
        | FailureKind::Unexpected => sentence(&failure.message),
    }
}

fn unauthorized(failure: &Failure, asked: AskedUpstream<'_>) -> String {
    let sign_in = match asked {
        AskedUpstream::OfLogin { page: Some(page) } => {
            format!("at {page} or with `codex-completions login`")
        }
        _ => "with `codex-completions login`".to_owned(),
    };
    // Without a status nothing was sent: nobody is signed in.
    if failure.upstream_status.is_none() {
        return format!(
            "Nobody is signed in to Codex. Sign in {sign_in}; the model demo needs no account."
        );
    }
    let words = match asked {
        AskedUpstream::OfLogin { .. } => {
            format!("The login of Codex is not accepted any more. Sign in again {sign_in}.")
        }
        AskedUpstream::Own => "The upstream of PROXY_UPSTREAM_BASE_URL does not accept the key. \
                               Look at PROXY_UPSTREAM_API_KEY."
            .to_owned(),
        AskedUpstream::Unknown => format!(
            "The upstream does not accept the login. If PROXY_UPSTREAM_BASE_URL is set, look at \
             PROXY_UPSTREAM_API_KEY; otherwise sign in again {sign_in}."
        ),
    };
    with_reason(&words, failure)
}

/// Our words, and behind them those of the upstream.
fn with_reason(words: &str, failure: &Failure) -> String {
    format!("{words} It says: {}", sentence(&failure.message))
}

/// As much of it as may be told, with a capital letter and a full stop.
fn sentence(words: &str) -> String {
    let words = match words.trim() {
        "" => "The upstream gave no reason".to_owned(),
        words => start_of(words, MOST),
    };
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    let mut sentence: String = first.into_iter().flatten().chain(letters).collect();
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kind: FailureKind, message: &str, upstream_status: Option<u16>) -> String {
        words_of(AskedUpstream::Unknown, kind, message, upstream_status)
    }

    fn words_of(
        asked: AskedUpstream<'_>,
        kind: FailureKind,
        message: &str,
        upstream_status: Option<u16>,
    ) -> String {
        let message = message.to_owned();
        of(&Failure { kind, message, upstream_status, upstream_body: None }, asked)
    }

    #[test]
    fn who_may_not_ask_is_told_where_to_sign_in() {
        let page = AskedUpstream::OfLogin { page: Some("http://box:11435/") };
        let told = |asked, status| words_of(asked, FailureKind::Unauthorized, "no", status);
        assert_eq!(
            told(page, None),
            "Nobody is signed in to Codex. Sign in at http://box:11435/ or with \
             `codex-completions login`; the model demo needs no account."
        );
        assert_eq!(
            told(page, Some(401)),
            "The login of Codex is not accepted any more. Sign in again at http://box:11435/ or \
             with `codex-completions login`. It says: No."
        );
        assert_eq!(
            told(AskedUpstream::Own, Some(401)),
            "The upstream of PROXY_UPSTREAM_BASE_URL does not accept the key. Look at \
             PROXY_UPSTREAM_API_KEY. It says: No."
        );
    }

    #[test]
    fn each_kind_says_what_happened_and_what_to_do() {
        use FailureKind as K;
        for (kind, message, status, expected) in [
            (
                K::Unauthorized,
                "not signed in to Codex",
                None,
                "Nobody is signed in to Codex. Sign in with `codex-completions login`; the model \
                 demo needs no account.",
            ),
            (
                K::Unauthorized,
                "Incorrect API key provided.",
                Some(401),
                "The upstream does not accept the login. If PROXY_UPSTREAM_BASE_URL is set, look \
                 at PROXY_UPSTREAM_API_KEY; otherwise sign in again with `codex-completions \
                 login`. It says: Incorrect API key provided.",
            ),
            (
                K::ContextLength,
                "Codex ran out of room in the model's context window. Start a new thread.",
                None,
                "The conversation is too long for this model. Shorten it or begin a new one.",
            ),
            (
                K::RateLimit,
                "exceeded retry limit, last status: 429 Too Many Requests",
                Some(429),
                "The upstream takes no more requests for the moment. Try again in a minute.",
            ),
            (
                K::RateLimit,
                "too many tokens",
                None,
                "The upstream takes no more requests for the moment. Try again in a minute. It \
                 says: Too many tokens.",
            ),
            (K::UsageLimit, "Quota exceeded", None, "Quota exceeded."),
            (
                K::Timeout,
                "no event from Codex for 5s",
                None,
                "No event from Codex for 5s. Try again; PROXY_TIMEOUT_MS and \
                 PROXY_IDLE_TIMEOUT_MS allow more time.",
            ),
            (
                K::ChildGone,
                "anything",
                None,
                "Codex is being started again. Try again in a few seconds.",
            ),
            (K::BadRequest, "Invalid 'input'", Some(400), "Invalid 'input'."),
            (
                K::BadRequest,
                "no tea",
                Some(418),
                "The upstream refused the request with 418. It says: No tea.",
            ),
        ] {
            assert_eq!(words(kind, message, status), expected);
        }
    }

    #[test]
    fn every_message_is_whole_sentences() {
        for kind in FailureKind::ALL {
            for message in ["the reason", "the reason. ", ""] {
                let words = words(kind, message, Some(400));
                assert!(words.ends_with('.') && !words.contains(".."), "{kind:?}: {words}");
                assert!(words.len() > 10 && !words.contains("  "), "{kind:?}: {words}");
            }
        }
    }
}
