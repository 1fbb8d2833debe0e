//! An address, taken apart into what a request needs.

use fluent_uri::{Iri, IriRef, Uri};

use super::failure::FetchError;

/// Where an image is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) scheme: Scheme,
    /// A name, or an IP address without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The header `host`.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
    /// The whole, which a redirect may be relative to.
    uri: Uri<String>,
}

/// How the host is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
}

// === impl Target ===

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, FetchError> {
        // Letters outside ASCII are common enough in what people paste.
        Self::new(Iri::parse(url).map_err(|_| FetchError::InvalidUrl)?.to_uri())
    }

    /// Where a redirect leads to.
    pub(super) fn redirected(&self, location: &str) -> Result<Self, FetchError> {
        let location = IriRef::parse(location).map_err(|_| FetchError::InvalidRedirect)?;
        let uri = location.to_uri_ref().resolve_against(&self.uri);
        Self::new(uri.map_err(|_| FetchError::InvalidRedirect)?)
    }

    fn new(uri: Uri<String>) -> Result<Self, FetchError> {
        let scheme = match uri.scheme().as_str() {
            name if name.eq_ignore_ascii_case("http") => Scheme::Http,
            name if name.eq_ignore_ascii_case("https") => Scheme::Https,
            _ => return Err(FetchError::Scheme),
        };
        let authority = uri.authority().ok_or(FetchError::InvalidUrl)?;
        if authority.has_userinfo() {
            return Err(FetchError::Credentials);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(FetchError::InvalidUrl);
        }
        let port = authority.port_to_u16().map_err(|_| FetchError::InvalidUrl)?;
        let path = if uri.path().is_empty() { "/" } else { uri.path().as_str() };
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port: port.unwrap_or(match scheme {
                Scheme::Http => 80,
                Scheme::Https => 443,
            }),
            authority: authority.as_str().to_owned(),
            path: format!("{path}{query}"),
            uri,
        })
    }
}

#[cfg(test)]
mod tests;
