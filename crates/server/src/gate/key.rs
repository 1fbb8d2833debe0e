//! Who may ask: bearer keys.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use axum::http::{HeaderMap, header};
use openai_wire::{ApiError, ErrorType};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{only, page_address};

/// A key that is accepted.
#[derive(Clone)]
pub struct ApiKey {
    id: String,
    name: String,
    digest: Digest,
    holder: Holder,
}

/// Who has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// Whoever runs the server.
    Owner,
    /// A client that was given one of its own.
    Client,
}

/// The SHA-256 of a key or token. It can be compared in constant time only.
#[derive(Clone)]
pub(super) struct Digest([u8; 32]);

/// Whose key a request came with. Handlers find it among the request's extensions.
///
/// Callers are equal if the ids of their keys are: a rotated key is the same caller, and a new key under
/// the name of a revoked one is another.
#[derive(Debug, Clone)]
pub struct Caller {
    id: Arc<str>,
    name: Arc<str>,
    holder: Holder,
}

/// Every key that is accepted.
pub(crate) struct Keys {
    accepted: Vec<(Caller, Digest)>,
    /// For people: where the key is found.
    hint: String,
}

// === impl ApiKey ===

impl ApiKey {
    /// A key: the id that its data belongs to, what it is called in logs and figures, and its secret.
    pub fn new(id: impl Into<String>, name: impl Into<String>, secret: &str) -> Self {
        let digest = Digest::of(secret.as_bytes());
        Self { id: id.into(), name: name.into(), digest, holder: Holder::Client }
    }

    /// The same for a key of which only the SHA-256 is known.
    pub fn from_sha256(id: impl Into<String>, name: impl Into<String>, digest: [u8; 32]) -> Self {
        Self { id: id.into(), name: name.into(), digest: Digest(digest), holder: Holder::Client }
    }

    /// The same as the key of whoever runs the server, who may do more than ask for turns.
    #[must_use]
    pub fn of_the_owner(self) -> Self {
        Self { holder: Holder::Owner, ..self }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKey").field("name", &self.name).finish_non_exhaustive()
    }
}

// === impl Digest ===

impl Digest {
    pub(super) fn of(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

// === impl Caller ===

impl Caller {
    /// The id of the key, which everything that is kept for the caller belongs to.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of the key, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the key of whoever runs the server.
    pub(crate) fn is_owner(&self) -> bool {
        self.holder == Holder::Owner
    }

    #[cfg(test)]
    pub(crate) fn named(name: &str) -> Self {
        Self::with_id(name, name)
    }

    #[cfg(test)]
    pub(crate) fn with_id(id: &str, name: &str) -> Self {
        Self { id: id.into(), name: name.into(), holder: Holder::Client }
    }
}

impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Caller {}

impl Hash for Caller {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

// === impl Keys ===

impl Keys {
    /// Without any key nobody is let in.
    pub(crate) fn new(keys: Vec<ApiKey>, hint: String) -> Self {
        let accepted = keys.into_iter().map(|ApiKey { id, name, digest, holder }| {
            (Caller { id: id.into(), name: name.into(), holder }, digest)
        });
        Self { accepted: accepted.collect(), hint }
    }

    /// Compares every key to its end, so that the time depends neither on how much of one was right
    /// nor on whose it was.
    pub(super) fn find(&self, given: &Digest) -> Option<&Caller> {
        let mut found = None;
        for (caller, digest) in &self.accepted {
            if digest.is(given) {
                found = Some(caller);
            }
        }
        found
    }

    /// The digest of the owner's key.
    pub(super) fn of_the_owner(&self) -> Option<&Digest> {
        let mut owners = self.accepted.iter().filter(|(caller, _)| caller.is_owner());
        owners.next().map(|(_, digest)| digest)
    }

    /// The same answer for a key that is missing and for one that is wrong.
    pub(super) fn refusal(&self, headers: &HeaderMap) -> ApiError {
        let hint = &self.hint;
        let page = page_address(headers).map(|page| format!(" See {page}."));
        let message = format!(
            "The API key is missing or wrong. Clients send it as `Authorization: Bearer KEY`. \
             {hint}{}",
            page.unwrap_or_default()
        );
        ApiError::new(401, ErrorType::InvalidRequestError, message.trim_end())
            .with_code("invalid_api_key")
    }
}

/// The digest of a bearer token. Without a token there is none, so that an empty key fits nothing.
pub(super) fn bearer_digest(headers: &HeaderMap) -> Option<Digest> {
    let value = only(headers, &header::AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then(|| Digest::of(token))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use axum::http::HeaderValue;

    use super::*;

    /// `printf sk-two | sha256sum`
    const SK_TWO: [u8; 32] = [
        0x5e, 0x31, 0x27, 0x85, 0x45, 0x50, 0x5d, 0xb1, 0xd6, 0x5b, 0xf1, 0xdd, 0x69, 0x6e, 0x8e,
        0xaa, 0x1e, 0xdf, 0xb0, 0x0b, 0xa4, 0x55, 0xe2, 0x1c, 0x83, 0x20, 0x0c, 0x04, 0xef, 0x64,
        0x3c, 0x91,
    ];

    fn keys() -> Keys {
        let all = vec![
            ApiKey::new("default", "owner", "sk-one"),
            ApiKey::from_sha256("key_2", "phone", SK_TWO),
            ApiKey::new("key_3", "nobody", ""),
        ];
        Keys::new(all, "It is in the file key.".to_owned())
    }

    fn caller(keys: &Keys, values: &[&str]) -> Result<String, ApiError> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        let found = bearer_digest(&headers).and_then(|given| keys.find(&given));
        found.map(|caller| caller.name().to_owned()).ok_or_else(|| keys.refusal(&headers))
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
                "The API key is missing or wrong. Clients send it as `Authorization: Bearer KEY`. \
                 It is in the file key.",
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
        let key = ApiKey::new("default", "owner", "sk-canary");
        assert_eq!(format!("{key:?}"), r#"ApiKey { name: "owner", .. }"#);
    }

    /// Whoever stops at the first key that fits finds another owner.
    #[test]
    fn row_5_key_is_compared_with_every_one() {
        let all = ["first", "last"].map(|name| ApiKey::new(name, name, "sk-one"));
        let keys = Keys::new(all.into(), String::new());
        assert_eq!(caller(&keys, &["Bearer sk-one"]), Ok("last".to_owned()));
    }

    /// This compiles because nobody can compare digests with `==`, which takes longer the more of
    /// one is right: with that, both implementations would fit.
    #[test]
    fn row_5_key_is_compared_in_constant_time_only() {
        trait Incomparable<Which> {
            fn holds() -> bool {
                true
            }
        }
        impl<T> Incomparable<()> for T {}
        impl<T: PartialEq> Incomparable<bool> for T {}
        assert!(<Digest as Incomparable<_>>::holds());
    }

    #[test]
    fn row_5_without_keys_nobody_is_let_in() {
        let none = Keys::new(Vec::new(), String::new());
        assert!(caller(&none, &["Bearer "]).is_err() && caller(&none, &["Bearer x"]).is_err());
    }

    #[test]
    fn row_22_a_caller_is_the_id_of_its_key() {
        let phone = Caller::with_id("key_1", "phone");
        assert_eq!(phone, Caller::with_id("key_1", "tablet"));
        assert_ne!(phone, Caller::with_id("key_2", "phone"));
        let callers =
            [phone, Caller::with_id("key_1", "tablet"), Caller::with_id("key_2", "phone")];
        assert_eq!(HashSet::from(callers).len(), 2);
    }
}
