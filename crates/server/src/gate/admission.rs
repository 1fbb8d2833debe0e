//! What a request to the API passes once its path is known: the key, the type of its body, and the
//! length that it declares.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body::Body as _;
use openai_wire::{ApiError, ErrorType};

use super::access::Access;
use super::content_type;
use super::key::Caller;
use super::session::no_random;
use crate::api_error::ErrorResponse;
use crate::body::too_large;

/// The conditions of one path.
#[derive(Clone)]
pub(crate) struct Admission {
    pub(crate) access: Access,
    pub(crate) audience: Audience,
    pub(crate) max_body_bytes: usize,
}

/// The owner's key of a request that lasts: keys are revoked while it does.
#[derive(Clone)]
pub(crate) struct OwnerGrant {
    access: Access,
    /// Only what holds the key.
    headers: HeaderMap,
}

/// Who may use a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Everybody may read it; for all else a key is needed.
    Readers,
    /// The same for clients on this machine.
    LocalReaders,
    /// Whoever has a key.
    KeyHolders,
    /// Only who runs the server.
    Owner,
}

/// Middleware around every route of the API.
pub(crate) async fn admit(
    State(admission): State<Admission>,
    mut request: Request,
    next: Next,
) -> Response {
    match admission.check(&request) {
        Ok(caller) => {
            if let Some(caller) = caller {
                if admission.audience == Audience::Owner {
                    let granted = OwnerGrant::of(&admission.access, &request);
                    request.extensions_mut().insert(granted);
                }
                request.extensions_mut().insert(caller);
            }
            next.run(request).await
        }
        Err(error) => refuse(error),
    }
}

pub(crate) fn refuse(error: ApiError) -> Response {
    let unauthorized = error.status == 401;
    let mut response = ErrorResponse(error).into_response();
    if unauthorized {
        let scheme = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

// === impl OwnerGrant ===

impl OwnerGrant {
    #[cfg(test)]
    pub(crate) fn of_key(access: &Access, secret: &str) -> Self {
        let value = format!("Bearer {secret}").parse().expect("a key of plain letters");
        let headers = std::iter::once((header::AUTHORIZATION, value)).collect();
        Self { access: access.clone(), headers }
    }

    fn of(access: &Access, request: &Request) -> Self {
        let key = request.headers().get(header::AUTHORIZATION).cloned();
        let headers = key.map(|key| (header::AUTHORIZATION, key)).into_iter().collect();
        Self { access: access.clone(), headers }
    }

    /// A code that opens a session of the page, and the page's address for this run.
    ///
    /// # Errors
    /// For a session: only the key opens others.
    pub(crate) fn issue_code(&self) -> Result<(String, Option<String>), ApiError> {
        if !self.access.has_owner_key(&self.headers) {
            return Err(owner_needed());
        }
        Ok((self.access.issue_code().ok_or_else(no_random)?, self.access.page()))
    }

    /// Whether it is still the owner's.
    pub(crate) fn holds(&self) -> bool {
        self.access.caller(&self.headers).is_ok_and(|caller| caller.is_owner())
    }

    /// The same by the keys that are on disk at this moment.
    ///
    /// # Errors
    /// Why they could not be read.
    pub(crate) async fn holds_on_disk(&self) -> Result<bool, String> {
        self.access.reloaded().await?;
        Ok(self.holds())
    }

    /// Returns once it does not hold. Cancel safe.
    pub(crate) async fn ended(&self) {
        // Before the first check, so that no change is missed.
        let mut changes = self.access.changes();
        while self.holds() {
            // The sender lives in `self.access`.
            let _ = changes.changed().await;
        }
    }
}

// === impl Admission ===

impl Admission {
    /// `None` for somebody without a key who needs none.
    fn check(&self, request: &Request) -> Result<Option<Caller>, ApiError> {
        let caller = match self.access.caller(request.headers()) {
            Ok(caller) => Some(caller),
            Err(_) if self.is_public(request) => None,
            Err(error) => return Err(error),
        };
        if self.audience == Audience::Owner && !caller.as_ref().is_some_and(Caller::is_owner) {
            return Err(owner_needed());
        }
        if content_type::takes_body(request.method()) && !request.body().is_end_stream() {
            content_type::check(request.headers())?;
        }
        let declared = request.body().size_hint().lower();
        if usize::try_from(declared).is_ok_and(|declared| declared <= self.max_body_bytes) {
            Ok(caller)
        } else {
            Err(too_large(self.max_body_bytes))
        }
    }

    fn is_public(&self, request: &Request) -> bool {
        let is_open = match self.audience {
            Audience::Readers => true,
            Audience::LocalReaders => {
                self.access.now().hosts.are_local(request.uri(), request.headers())
            }
            Audience::KeyHolders | Audience::Owner => false,
        };
        is_open && [Method::GET, Method::HEAD].contains(request.method())
    }
}

pub(super) fn owner_needed() -> ApiError {
    let message = "This needs the key of the server's owner: the one that the server made or was \
        given with PROXY_API_KEY. A key that was added for a client can ask for turns only.";
    ApiError::new(403, ErrorType::PermissionError, message).with_code("owner_key_required")
}
