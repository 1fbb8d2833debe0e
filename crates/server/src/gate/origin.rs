//! Which pages may use this server.

use std::str::FromStr;

use axum::http::{HeaderMap, HeaderValue, header};
use openai_wire::{ApiError, ErrorType};

use super::host::AllowedHost;
use super::only;

/// Obsidian on a desktop, on iOS and on Android.
const OBSIDIAN: [&str; 3] = ["app://obsidian.md", "capacitor://localhost", "http://localhost"];

/// An origin whose pages may use this server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin(HeaderValue);

/// A text that is no origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no origin: PROXY_CORS_ALLOWED_ORIGINS takes the scheme, the host and the port, if \
     there is one, such as https://example.org or http://localhost:3000; neither `*` nor `null`"
)]
pub struct InvalidOrigin(String);

/// Every origin whose pages may use this server.
pub(crate) struct Origins(Vec<HeaderValue>);

/// Who sends a request, as far as its `Origin` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender<'a> {
    /// A program, or a page that does not cross origins.
    WithoutOrigin,
    /// A page that may: its origin as it is in our list.
    Allowed(&'a HeaderValue),
    /// A page that may not.
    Refused,
}

// === impl AllowedOrigin ===

impl FromStr for AllowedOrigin {
    type Err = InvalidOrigin;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidOrigin(text.to_owned());
        let (scheme, host) = text.split_once("://").ok_or_else(invalid)?;
        let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let in_host = |byte: u8| byte.is_ascii_graphic() && !b"/\\?#@*,\"".contains(&byte);
        if scheme.is_empty()
            || host.is_empty()
            || !scheme.bytes().all(in_scheme)
            || !host.bytes().all(in_host)
        {
            return Err(invalid());
        }
        // Browsers send it in small letters.
        HeaderValue::try_from(text.to_ascii_lowercase()).map(Self).map_err(|_| invalid())
    }
}

// === impl Origins ===

impl Origins {
    /// Obsidian's, those of our own page under the loopback names and `hosts`, and `more`.
    pub(crate) fn new(port: u16, hosts: &[AllowedHost], more: Vec<AllowedOrigin>) -> Self {
        let elsewhere = hosts.iter().flat_map(|host| host.origins(port));
        let elsewhere = elsewhere.filter_map(|origin| HeaderValue::try_from(origin).ok());
        let own = ["localhost", "127.0.0.1", "[::1]"].into_iter().filter_map(|host| {
            // A browser leaves the usual port out.
            let origin = match port {
                80 => format!("http://{host}"),
                port => format!("http://{host}:{port}"),
            };
            HeaderValue::try_from(origin).ok()
        });
        let more = more.into_iter().map(|AllowedOrigin(origin)| origin);
        let obsidian = OBSIDIAN.map(HeaderValue::from_static).into_iter();
        Self(obsidian.chain(own).chain(elsewhere).chain(more).collect())
    }

    pub(crate) fn sender(&self, headers: &HeaderMap) -> Sender<'_> {
        if !headers.contains_key(header::ORIGIN) {
            return Sender::WithoutOrigin;
        }
        only(headers, &header::ORIGIN)
            .and_then(|origin| self.0.iter().find(|&allowed| allowed == origin))
            .map_or(Sender::Refused, Sender::Allowed)
    }
}

pub(crate) fn not_allowed() -> ApiError {
    ApiError::new(
        403,
        ErrorType::PermissionError,
        "Pages of this origin may not use this server. Others than Obsidian's are allowed with \
         PROXY_CORS_ALLOWED_ORIGINS.",
    )
    .with_code("origin_not_allowed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender<'a>(origins: &'a Origins, given: &[&str]) -> Sender<'a> {
        let mut headers = HeaderMap::new();
        for origin in given {
            headers.append(header::ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        origins.sender(&headers)
    }

    #[test]
    fn row_3_origin_must_be_in_the_list() {
        let configured = vec!["https://Notes.example".parse().unwrap()];
        let origins = Origins::new(11435, &["home.example".parse().unwrap()], configured);
        for origin in [
            "app://obsidian.md",
            "capacitor://localhost",
            "http://localhost",
            "http://localhost:11435",
            "http://127.0.0.1:11435",
            "http://[::1]:11435",
            "https://notes.example",
            "http://home.example:11435",
            "https://home.example",
        ] {
            let expected = HeaderValue::from_static(origin);
            assert_eq!(sender(&origins, &[origin]), Sender::Allowed(&expected));
        }
        for origin in [
            "",
            "null",
            "*",
            "http://localhost/",
            "http://localhost:3000",
            "https://localhost",
            "HTTP://LOCALHOST",
            "http://127.0.0.1",
            "http://localhost.evil.example",
            "http://evil.example:11435",
            "app://obsidian.md.evil.example",
            "app://obsidian.mdx",
            "https://notes.example:8443",
            "http://home.example",
            "http://home.example:8443",
            "http://evil.home.example:11435",
            "http://localhost https://evil.example",
        ] {
            assert_eq!(sender(&origins, &[origin]), Sender::Refused, "{origin}");
        }
        assert_eq!(sender(&origins, &["http://localhost", "http://localhost"]), Sender::Refused);
        assert_eq!(sender(&origins, &[]), Sender::WithoutOrigin);
    }

    #[test]
    fn row_3_origin_of_our_page_has_no_port_on_port_80() {
        let origins = Origins::new(80, &[], Vec::new());
        for origin in ["http://127.0.0.1", "http://[::1]", "http://localhost"] {
            assert!(matches!(sender(&origins, &[origin]), Sender::Allowed(_)), "{origin}");
        }
        assert_eq!(sender(&origins, &["http://127.0.0.1:80"]), Sender::Refused);
    }

    #[test]
    fn a_text_that_is_no_origin_cannot_be_configured() {
        for text in [
            "",
            "*",
            "null",
            "example.org",
            "https://",
            "://example.org",
            "https://*.example.org",
            "https://example.org/",
            "https://example.org/page",
            "https://user@example.org",
            "https://a.example,https://b.example",
            "https://ex ample.org",
        ] {
            assert_eq!(text.parse::<AllowedOrigin>(), Err(InvalidOrigin(text.to_owned())));
        }
    }
}
