//! Codex's login file: whether there is one, and whose it is.

use std::hash::Hash;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};
use siphasher::sip128::{Hasher128 as _, SipHasher};

use crate::account::Account;
use crate::home::{HomeError, write_private};

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
        self.read().0
    }

    /// The same, and the account as far as the file names it.
    pub(crate) fn read(&self) -> (Whose, Option<Account>) {
        let content = match std::fs::read(&self.0) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return (Whose::Nobody, None);
            }
            Err(_) => return (Whose::Unknown, None),
        };
        match serde_json::from_slice::<Map<String, Value>>(&content) {
            Ok(login) => {
                let account = account_in(&login);
                (Whose::of(login), account)
            }
            Err(_) => (Whose::Unknown, None),
        }
    }

    /// Puts the login of another home in the place of this one, at once.
    pub(crate) fn replace_by(&self, other: &Self) -> Result<(), HomeError> {
        let content = std::fs::read(&other.0)
            .map_err(|source| HomeError::Read { path: other.0.clone(), source })?;
        write_private(&self.0, &content)
    }
}

// === impl Whose ===

impl Whose {
    /// Everything counts but what Codex changes by itself when it refreshes the login.
    fn of(mut login: Map<String, Value>) -> Self {
        login.remove("last_refresh");
        let tokens = login.remove("tokens").unwrap_or_default();
        // Members of a workspace have one account.
        let user = tokens["id_token"].as_str().and_then(claims).and_then(Claims::subject);
        let mut hasher = SipHasher::new();
        (Value::from(login).to_string(), tokens["account_id"].as_str(), user).hash(&mut hasher);
        Self::Account(hasher.finish128().as_u128())
    }

    pub(crate) fn fingerprint(self) -> Option<u128> {
        match self {
            Self::Account(fingerprint) => Some(fingerprint),
            Self::Nobody | Self::Unknown => None,
        }
    }
}

fn account_in(login: &Map<String, Value>) -> Option<Account> {
    let text = |name: &str| login.get(name).and_then(Value::as_str);
    if let Some(token) = login.get("tokens").and_then(|tokens| tokens["id_token"].as_str()) {
        let email = claims(token).and_then(|claims| claims.email);
        return Some(Account::ChatGpt { email, plan: None, workspace: None });
    }
    match text("OPENAI_API_KEY") {
        Some(_) => Some(Account::ApiKey),
        None => text("auth_mode").map(|mode| Account::Other(mode.to_owned())),
    }
}

fn claims(token: &str) -> Option<Claims> {
    let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&payload).ok()
}

// === impl Claims ===

impl Claims {
    fn subject(self) -> Option<String> {
        self.sub.or(self.email)
    }
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

    #[test]
    fn the_account_is_named_by_its_file() {
        let home = tempfile::tempdir().unwrap();
        let file = LoginFile::in_home(home.path());
        let account = |content: &str| {
            std::fs::write(&file.0, content).unwrap();
            file.read().1
        };
        let token = BASE64_URL_SAFE_NO_PAD.encode(r#"{"sub":"me","email":"me@example.com"}"#);
        let email = Some("me@example.com".to_owned());
        assert_eq!(
            account(&format!(r#"{{"tokens":{{"id_token":"e30.{token}.x"}}}}"#)),
            Some(Account::ChatGpt { email, plan: None, workspace: None })
        );
        assert_eq!(account(r#"{"OPENAI_API_KEY":"sk-1"}"#), Some(Account::ApiKey));
        assert_eq!(
            account(r#"{"auth_mode":"personalAccessToken","OPENAI_API_KEY":null}"#),
            Some(Account::Other("personalAccessToken".to_owned()))
        );
        assert_eq!(account("{}"), None);
        assert_eq!(account("{"), None);
    }
}
