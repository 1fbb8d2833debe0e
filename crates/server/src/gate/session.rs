//! Sessions of the page: a token instead of the owner's key, for one run of the server.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openai_wire::{ApiError, ErrorType};
use parking_lot::Mutex;

use super::key::Digest;

/// How long a code of a printed link opens a session.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_mins(10);

/// Most tokens of a kind; one more replaces the oldest. Only the owner's key makes any.
const MOST: usize = 64;

/// Every session and every code. They end with the process, and with the key that they come from.
#[derive(Default)]
pub(crate) struct Sessions {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sessions: Tokens<()>,
    codes: Tokens<Instant>,
}

/// Tokens by their digests, oldest first: a lookup by a digest leaks nothing of a token.
struct Tokens<T>(VecDeque<Token<T>>);

struct Token<T> {
    digest: Digest,
    /// The key that it stands for.
    key: Digest,
    details: T,
}

// === impl Sessions ===

impl Sessions {
    /// A code that opens one session for the owner of `key`.
    pub(super) fn issue_code(&self, key: Digest, now: Instant) -> Option<String> {
        let (code, digest) = random_token("code-")?;
        self.state.lock().codes.add(Token { digest, key, details: now + CODE_LIFETIME });
        Some(code)
    }

    /// The key that a code stands for. It is spent by asking.
    pub(super) fn spend_code(&self, code: &Digest, now: Instant) -> Option<Digest> {
        let Token { key, details: until, .. } = self.state.lock().codes.remove(code)?;
        (now < until).then_some(key)
    }

    /// The token of a new session for the owner of `key`.
    pub(super) fn open(&self, key: Digest) -> Option<String> {
        let (token, digest) = random_token("session-")?;
        self.state.lock().sessions.add(Token { digest, key, details: () });
        Some(token)
    }

    /// The key that a session stands for.
    pub(super) fn key_of(&self, session: &Digest) -> Option<Digest> {
        self.state.lock().sessions.find(session).map(|token| token.key.clone())
    }

    /// Ends a session; whether there was one.
    pub(super) fn end(&self, session: &Digest) -> bool {
        self.state.lock().sessions.remove(session).is_some()
    }

    /// Ends every session and code whose key is not accepted any more.
    pub(super) fn retain(&self, is_accepted: impl Fn(&Digest) -> bool) {
        let State { sessions, codes } = &mut *self.state.lock();
        sessions.0.retain(|token| is_accepted(&token.key));
        codes.0.retain(|token| is_accepted(&token.key));
    }
}

/// A token of 256 random bits, and its digest; `None` if the system has no random numbers.
fn random_token(prefix: &str) -> Option<(String, Digest)> {
    let mut bytes = [0; 32];
    ambient::fill_random(&mut bytes).ok()?;
    let token = format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes));
    let digest = Digest::of(token.as_bytes());
    Some((token, digest))
}

/// Why there is no token.
pub(super) fn no_random() -> ApiError {
    ApiError::new(500, ErrorType::ServerError, "The system gives no random numbers.")
}

// === impl Tokens ===

impl<T> Tokens<T> {
    fn add(&mut self, token: Token<T>) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(token);
    }

    fn find(&self, digest: &Digest) -> Option<&Token<T>> {
        self.0.iter().find(|token| token.digest.is(digest))
    }

    fn remove(&mut self, digest: &Digest) -> Option<Token<T>> {
        let position = self.0.iter().position(|token| token.digest.is(digest))?;
        self.0.remove(position)
    }
}

impl<T> Default for Tokens<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> Digest {
        Digest::of(text.as_bytes())
    }

    fn stands_for(found: Option<Digest>, key: &str) -> bool {
        found.is_some_and(|found| found.is(&digest(key)))
    }

    #[test]
    fn row_19b_a_code_is_good_once_and_for_ten_minutes() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let code = digest(&sessions.issue_code(digest("sk-owner"), now).unwrap());
        let late = digest(&sessions.issue_code(digest("sk-owner"), now).unwrap());
        let last_moment = now + Duration::from_millis(599_999);
        assert!(stands_for(sessions.spend_code(&code, last_moment), "sk-owner"));
        assert!(sessions.spend_code(&code, now).is_none(), "it was spent");
        assert!(sessions.spend_code(&late, now + CODE_LIFETIME).is_none(), "it is too old");
        assert!(sessions.spend_code(&late, now).is_none(), "trying spends it, too");
        assert!(sessions.spend_code(&digest(""), now).is_none());
    }

    #[test]
    fn row_19b_a_session_lasts_until_it_is_ended() {
        let sessions = Sessions::default();
        let token = sessions.open(digest("sk-owner")).unwrap();
        assert!(token.starts_with("session-") && token.len() > 40, "{token}");
        assert!(stands_for(sessions.key_of(&digest(&token)), "sk-owner"));
        assert!(sessions.key_of(&digest("sk-owner")).is_none());
        assert!(sessions.end(&digest(&token)));
        assert!(sessions.key_of(&digest(&token)).is_none());
        assert!(!sessions.end(&digest(&token)));
    }

    #[test]
    fn row_19b_sessions_and_codes_end_with_their_key_for_good() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let [old, new] = ["sk-old", "sk-new"].map(|key| {
            let code = digest(&sessions.issue_code(digest(key), now).unwrap());
            (digest(&sessions.open(digest(key)).unwrap()), code)
        });
        sessions.retain(|key| key.is(&digest("sk-new")));
        assert!(sessions.key_of(&old.0).is_none() && sessions.spend_code(&old.1, now).is_none());
        assert!(stands_for(sessions.key_of(&new.0), "sk-new"));
        assert!(stands_for(sessions.spend_code(&new.1, now), "sk-new"));
    }

    #[test]
    fn row_19b_a_code_is_not_a_session_and_a_session_not_a_code() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let code = digest(&sessions.issue_code(digest("sk-owner"), now).unwrap());
        let session = digest(&sessions.open(digest("sk-owner")).unwrap());
        assert!(sessions.key_of(&code).is_none());
        assert!(sessions.spend_code(&session, now).is_none());
        assert!(sessions.key_of(&session).is_some());
    }

    #[test]
    fn row_19b_sessions_are_bounded_and_the_oldest_is_replaced() {
        let sessions = Sessions::default();
        let tokens: Vec<_> =
            (0..=MOST).map(|_| digest(&sessions.open(digest("sk-owner")).unwrap())).collect();
        assert!(sessions.key_of(&tokens[0]).is_none());
        assert!(tokens[1..].iter().all(|token| sessions.key_of(token).is_some()));
    }
}
