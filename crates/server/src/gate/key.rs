//! Who may ask: bearer keys.

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderMap, header};
use openai_wire::{ApiError, ErrorType};
use subtle::ConstantTimeEq as _;

use super::only;

/// A key that is accepted.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// What its owner is called in logs and figures.
    pub name: String,
    /// The key. An empty one is accepted from nobody.
    pub secret: String,
}

/// Whose key a request came with. Handlers find it among the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller(Arc<str>);

/// Every key that is accepted.
pub(crate) struct Keys {
    accepted: Vec<(Caller, Box<[u8]>)>,
    /// For people: where the key is found.
    hint: String,
}

// === impl ApiKey ===

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey").field("name", &self.name).finish_non_exhaustive()
    }
}

// === impl Caller ===

impl Caller {
    /// The name of the key.
    pub fn name(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self(name.into())
    }
}

// === impl Keys ===

impl Keys {
    /// Without any key nobody is let in.
    pub(crate) fn new(keys: Vec<ApiKey>, hint: String) -> Self {
        let accepted = keys
            .into_iter()
            .filter(|key| !key.secret.is_empty())
            .map(|key| (Caller(key.name.into()), key.secret.into_bytes().into_boxed_slice()))
            .collect();
        Self { accepted, hint }
    }

    /// # Errors
    /// If the key is missing or wrong. Nobody is told which.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<&Caller, ApiError> {
        self.owner_of(bearer_token(headers).unwrap_or_default()).ok_or_else(|| self.refusal())
    }

    /// Looks at every key to its end, so that the time tells nothing of how much of one was right.
    /// The length of a key is no secret.
    fn owner_of(&self, given: &[u8]) -> Option<&Caller> {
        let mut owner = None;
        for (caller, secret) in &self.accepted {
            if bool::from(secret.ct_eq(given)) {
                owner = Some(caller);
            }
        }
        owner
    }

    fn refusal(&self) -> ApiError {
        let message = format!(
            "The API key is missing or wrong. Send it as `Authorization: Bearer KEY`. {}",
            self.hint
        );
        ApiError::new(401, ErrorType::InvalidRequestError, message.trim_end())
            .with_code("invalid_api_key")
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&[u8]> {
    let value = only(headers, &header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn keys() -> Keys {
        let key = |name: &str, secret: &str| ApiKey { name: name.into(), secret: secret.into() };
        let all = vec![key("owner", "sk-one"), key("phone", "sk-two"), key("nobody", "")];
        Keys::new(all, "It is in the file key.".to_owned())
    }

    fn caller(keys: &Keys, values: &[&str]) -> Result<String, ApiError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        keys.caller(&headers).map(|caller| caller.name().to_owned())
    }

    #[test]
    fn row_5_key_tells_who_is_calling() {
        let keys = keys();
        for (value, name) in
            [("Bearer sk-one", "owner"), ("bearer sk-two", "phone"), ("BEARER  sk-two", "phone")]
        {
            assert_eq!(caller(&keys, &[value]), Ok(name.to_owned()), "{value}");
        }
    }

    #[test]
    fn row_5_key_missing_and_wrong_look_the_same() {
        let keys = keys();
        let missing = caller(&keys, &[]).unwrap_err();
        assert_eq!(
            missing,
            ApiError::new(
                401,
                ErrorType::InvalidRequestError,
                "The API key is missing or wrong. Send it as `Authorization: Bearer KEY`. It is in \
                 the file key.",
            )
            .with_code("invalid_api_key")
        );
        for value in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer sk-on",
            "Bearer sk-onee",
            "Bearer SK-ONE",
            "Bearer sk-one sk-two",
            "Bearersk-one",
            "Basic sk-one",
            "sk-one",
        ] {
            assert_eq!(caller(&keys, &[value]), Err(missing.clone()), "{value}");
        }
        assert_eq!(caller(&keys, &["Bearer sk-one", "Bearer sk-one"]), Err(missing));
    }

    #[test]
    fn row_5_key_is_not_in_what_is_printed_for_debugging() {
        let key = ApiKey { name: "owner".to_owned(), secret: "sk-canary".to_owned() };
        assert_eq!(format!("{key:?}"), r#"ApiKey { name: "owner", .. }"#);
    }

    #[test]
    fn row_5_without_keys_nobody_is_let_in() {
        let none = Keys::new(Vec::new(), String::new());
        assert!(caller(&none, &["Bearer "]).is_err() && caller(&none, &["Bearer x"]).is_err());
    }
}
