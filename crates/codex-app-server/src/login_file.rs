//! Codex's login file: whether there is one, and whose it is.

use std::hash::Hash;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};
use siphasher::sip128::{Hasher128 as _, SipHasher};

/// `auth.json` in the child's home. Codex writes it at a login and at every refresh of its
/// tokens, and removes it at a logout.
#[derive(Debug, Clone)]
pub(crate) struct LoginFile(PathBuf);

/// Who is signed in. New tokens of the same account make no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    Nobody,
    /// A fingerprint, so that no secret stays in memory.
    Account(u128),
    /// The file cannot be read: it may just be being written.
    Unknown,
}

/// The part of a token that says whom it is about.
#[derive(Deserialize)]
struct Claims {
    sub: Option<String>,
    email: Option<String>,
}

// === impl LoginFile ===

impl LoginFile {
    pub(crate) const NAME: &str = "auth.json";

    pub(crate) fn in_home(home: &Path) -> Self {
        Self(home.join(Self::NAME))
    }

    /// Whether somebody is signed in, with a good login or not.
    pub(crate) fn exists(&self) -> bool {
        self.0.exists()
    }

    pub(crate) fn whose(&self) -> Whose {
        match std::fs::read(&self.0) {
            Ok(content) => serde_json::from_slice(&content).map_or(Whose::Unknown, Whose::of),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Whose::Nobody,
            Err(_) => Whose::Unknown,
        }
    }
}

// === impl Whose ===

impl Whose {
    /// Everything counts but what Codex changes by itself when it refreshes the login.
    fn of(mut login: Map<String, Value>) -> Self {
        login.remove("last_refresh");
        let tokens = login.remove("tokens").unwrap_or_default();
        // Members of a workspace have one account.
        let user = tokens["id_token"].as_str().and_then(subject);
        let mut hasher = SipHasher::new();
        (Value::from(login).to_string(), tokens["account_id"].as_str(), user).hash(&mut hasher);
        Self::Account(hasher.finish128().as_u128())
    }
}

/// Whom a JSON web token is about.
fn subject(token: &str) -> Option<String> {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Claims = serde_json::from_slice(&payload).ok()?;
    claims.sub.or(claims.email)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_tokens_of_the_same_account_make_no_difference() {
        let home = tempfile::tempdir().unwrap();
        let file = LoginFile::in_home(home.path());
        assert_eq!(file.whose(), Whose::Nobody);
        let whose = |content: &str| {
            std::fs::write(&file.0, content).unwrap();
            file.whose()
        };
        let chatgpt = |account: &str, claims: &str| {
            let token = format!("e30.{}.x", BASE64_URL_SAFE_NO_PAD.encode(claims));
            whose(&format!(
                r#"{{"auth_mode":"chatgpt","tokens":{{"account_id":"{account}","id_token":"{token}"}}}}"#
            ))
        };
        let first = chatgpt("a", r#"{"sub":"me","exp":1}"#);
        let again = chatgpt("a", r#"{"sub":"me","exp":2}"#);
        let other = chatgpt("b", r#"{"sub":"me","exp":1}"#);
        let colleague = chatgpt("a", r#"{"sub":"you","exp":1}"#);
        let key = whose(r#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1"}"#);
        let another_key = whose(r#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk-2"}"#);
        assert_eq!(first, again);
        assert_ne!(first, other);
        assert_ne!(first, colleague);
        assert_ne!(key, another_key);
        let token = whose(r#"{"auth_mode":"personalAccessToken","personal_access_token":"p-1"}"#);
        assert_ne!(
            token,
            whose(r#"{"auth_mode":"personalAccessToken","personal_access_token":"p-2"}"#)
        );
        assert_eq!(whose(r#"{"auth_mo"#), Whose::Unknown);
    }
}
