//! Which names this server answers to.
//!
//! A page that has pointed its own name at this machine (DNS rebinding) is of the same origin as
//! this server in the eyes of a browser. Its name in `Host` is what gives it away.

use std::fmt;
use std::str::FromStr;

use axum::http::{HeaderMap, HeaderName, Uri, header};
use openai_wire::{ApiError, ErrorType};

use super::only;

/// The scheme that a reverse proxy was asked with.
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// A `Host` without a port.
const DEFAULT_PORT: u16 = 80;

/// An `https` address without a port.
const TLS_PORT: u16 = 443;

/// A name that requests may be addressed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    /// In small letters; an IPv6 address in its brackets.
    name: String,
    port: AllowedPort,
}

/// A text that names no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no host: PROXY_ALLOWED_HOSTS takes names such as example.org, example.org:8080 or \
     [2001:db8::1]:8080"
)]
pub struct InvalidHost(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllowedPort {
    Any,
    Exactly(u16),
}

/// Every name that requests may be addressed to.
pub(crate) struct Hosts {
    /// The loopback names with our own port.
    loopback: [AllowedHost; 3],
    more: Vec<AllowedHost>,
}

/// How the headers begin that proxies add to what they pass on, and that local clients do not send.
const FORWARDING: [&str; 19] = [
    "akamai-",
    "cdn-loop",
    "cf-",
    "client-ip",
    "cloudfront-",
    "fastly-",
    "fly-",
    "proxy-",
    "true-client-ip",
    "via",
    "x-amz-cf-",
    "x-amzn-",
    "x-arr-",
    "x-azure-",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-envoy-",
    "x-original-",
    "x-real-ip",
];

// === impl AllowedHost ===

impl FromStr for AllowedHost {
    type Err = InvalidHost;

    /// Without a port, every port is allowed.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, port) = split(text).ok_or_else(|| InvalidHost(text.to_owned()))?;
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
        if !name.bytes().all(is_usual) {
            return Err(InvalidHost(text.to_owned()));
        }
        let port = port.map_or(AllowedPort::Any, AllowedPort::Exactly);
        Ok(Self { name: name.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            AllowedPort::Any => f.write_str(&self.name),
            AllowedPort::Exactly(port) => write!(f, "{}:{port}", self.name),
        }
    }
}

impl AllowedHost {
    /// A name that no browser has seen before, and that every one of them takes for this machine. `None`
    /// if the system has no random numbers.
    pub fn random(port: u16) -> Option<Self> {
        let mut bytes = [0; 8];
        ambient::fill_random(&mut bytes).ok()?;
        let name = format!("run-{:016x}.localhost", u64::from_be_bytes(bytes));
        Some(Self { name, port: AllowedPort::Exactly(port) })
    }

    fn matches(&self, name: &str, port: u16) -> bool {
        let port_matches = match self.port {
            AllowedPort::Any => true,
            AllowedPort::Exactly(allowed) => allowed == port,
        };
        port_matches && self.name.eq_ignore_ascii_case(name)
    }

    /// The origins of our own page under this name: as we serve it on `own_port`, and as a proxy does that
    /// adds TLS.
    pub(super) fn origins(&self, own_port: u16) -> [String; 2] {
        let (plain, tls) = match self.port {
            AllowedPort::Any => (own_port, TLS_PORT),
            // A `Host` that leaves its port out has this one here, whatever the scheme.
            AllowedPort::Exactly(DEFAULT_PORT) => (DEFAULT_PORT, TLS_PORT),
            AllowedPort::Exactly(port) => (port, port),
        };
        let schemes = [("http", plain, DEFAULT_PORT), ("https", tls, TLS_PORT)];
        // A browser leaves the usual port out.
        schemes.map(|(scheme, port, usual)| match port {
            port if port == usual => format!("{scheme}://{}", self.name),
            port => format!("{scheme}://{}:{port}", self.name),
        })
    }
}

// === impl Hosts ===

impl Hosts {
    /// The loopback names with our own `port`, and `more`.
    pub(crate) fn new(port: u16, more: Vec<AllowedHost>) -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"]
            .map(|name| AllowedHost { name: name.to_owned(), port: AllowedPort::Exactly(port) });
        Self { loopback, more }
    }

    /// A target in absolute form names a host too, and then both must be allowed.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
        let every = || self.loopback.iter().chain(&self.more);
        if addresses(uri, headers, every) { Ok(()) } else { Err(not_allowed()) }
    }

    /// Whether a request looks like one from this machine: to a loopback name with our own port, and without a header of
    /// a proxy. One that a proxy passes on with neither changed looks the same.
    pub(crate) fn are_local(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        addresses(uri, headers, || self.loopback.iter()) && !headers.keys().any(is_forwarding)
    }
}

/// Whether a request names one of these hosts, and no other.
fn addresses<'a, H>(uri: &Uri, headers: &HeaderMap, hosts: impl Fn() -> H) -> bool
where
    H: Iterator<Item = &'a AllowedHost>,
{
    let is_one = |host: &str| {
        split(host).is_some_and(|(name, port)| {
            let port = port.unwrap_or(DEFAULT_PORT);
            hosts().any(|allowed| allowed.matches(name, port))
        })
    };
    let host = only(headers, &header::HOST).and_then(|host| host.to_str().ok());
    let target = uri.authority().map(axum::http::uri::Authority::as_str);
    host.is_some_and(is_one) && target.is_none_or(is_one)
}

fn is_forwarding(name: &HeaderName) -> bool {
    let name = name.as_str();
    name.contains("forwarded") || FORWARDING.iter().any(|start| name.starts_with(start))
}

/// Where the page is for whoever has sent a request with these headers: a client on another machine
/// knows this one by another name. For a request that has passed [`Hosts::check`].
pub(crate) fn page_address(headers: &HeaderMap) -> Option<String> {
    let host = only(headers, &header::HOST)?.to_str().ok()?;
    let is_behind_tls = only(headers, &X_FORWARDED_PROTO).is_some_and(|scheme| scheme == "https");
    Some(format!("{}://{host}/", if is_behind_tls { "https" } else { "http" }))
}

/// The name, and the port if there is one. `None` for anything else, such as user information.
fn split(host: &str) -> Option<(&str, Option<u16>)> {
    let end_of_name = match host.strip_prefix('[') {
        Some(address) => address.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end_of_name);
    if name.is_empty() || name.contains('@') {
        return None;
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Some((name, None)),
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            Some((name, Some(digits.parse().ok()?)))
        }
        _ => None,
    }
}

fn not_allowed() -> ApiError {
    ApiError::new(
        403,
        ErrorType::PermissionError,
        "Requests to this host name are not answered. Use localhost, 127.0.0.1 or [::1] with the \
         server's port; other names are allowed with PROXY_ALLOWED_HOSTS.",
    )
    .with_code("host_not_allowed")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn allowed(hosts: &Hosts, given: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for host in given {
            headers.append(header::HOST, HeaderValue::from_str(host).unwrap());
        }
        hosts.check(&Uri::from_static("/"), &headers).is_ok()
    }

    #[test]
    fn our_page_has_an_origin_for_each_way_to_its_host() {
        for (host, origins) in [
            ("Home.example", ["http://home.example:11435", "https://home.example"]),
            ("home.example:8443", ["http://home.example:8443", "https://home.example:8443"]),
            ("home.example:80", ["http://home.example", "https://home.example"]),
            ("home.example:443", ["http://home.example:443", "https://home.example"]),
            ("[2001:db8::1]", ["http://[2001:db8::1]:11435", "https://[2001:db8::1]"]),
        ] {
            assert_eq!(host.parse::<AllowedHost>().unwrap().origins(11435), origins);
        }
    }

    #[test]
    fn row_2_host_must_be_loopback_with_our_port_or_configured() {
        let configured =
            ["Proxy.Example", "only.example:8443", "[2001:db8::1]:9", "web.example:80"]
                .map(|host| host.parse().unwrap());
        let hosts = Hosts::new(11435, configured.to_vec());
        for host in [
            "localhost:11435",
            "LocalHost:11435",
            "127.0.0.1:11435",
            "[::1]:11435",
            "proxy.example",
            "PROXY.example:1",
            "only.example:8443",
            "[2001:DB8::1]:9",
            "web.example",
            "web.example:80",
        ] {
            assert!(allowed(&hosts, &[host]), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:",
            "localhost:11436",
            "localhost:+11435",
            "localhost:011435x",
            "localhost:11435:11435",
            "localhost:76971",
            "localhost.:11435",
            "localhost.evil.example:11435",
            "evil.example:11435",
            "evillocalhost:11435",
            "127.0.0.1.nip.io:11435",
            "127.0.0.2:11435",
            "127.1:11435",
            "0.0.0.0:11435",
            "2130706433:11435",
            "::1",
            "::1:11435",
            "[::1]",
            "[::1]11435",
            "[::1",
            "[::1]@evil.example:11435",
            "[::ffff:127.0.0.1]:11435",
            "localhost:11435@evil.example",
            "user@localhost:11435",
            "user:pw@localhost:11435",
            "localhost:11435/",
            "localhost:11435, evil.example",
            "only.example",
            "only.example:443",
            "proxy.example.",
            "a.proxy.example",
            "web.example:8080",
        ] {
            assert!(!allowed(&hosts, &[host]), "{host}");
        }
        assert!(!allowed(&hosts, &[]));
        assert!(!allowed(&hosts, &["localhost:11435", "localhost:11435"]));
        assert!(!allowed(&hosts, &["localhost:11435", "evil.example"]));
    }

    #[test]
    fn row_2_host_needs_no_port_on_port_80() {
        let hosts = Hosts::new(80, Vec::new());
        for host in ["localhost", "localhost:80", "[::1]", "127.0.0.1"] {
            assert!(allowed(&hosts, &[host]), "{host}");
        }
        assert!(!allowed(&hosts, &["localhost:443"]));
    }

    #[test]
    fn row_2_host_and_an_absolute_target_must_both_be_allowed() {
        let hosts = Hosts::new(11435, Vec::new());
        for (target, host, expected) in [
            ("http://localhost:11435/v1/models", "127.0.0.1:11435", true),
            ("http://evil.example/v1/models", "localhost:11435", false),
            ("http://localhost:11435/v1/models", "evil.example", false),
            ("http://localhost:11435@evil.example/", "localhost:11435", false),
            ("http://user@localhost:11435/", "localhost:11435", false),
        ] {
            let headers =
                HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(host).unwrap())]);
            assert_eq!(
                hosts.check(&target.parse().unwrap(), &headers).is_ok(),
                expected,
                "{target}"
            );
        }
    }

    #[test]
    fn a_text_that_is_no_host_cannot_be_configured() {
        for text in ["", "*", "*.example", "http://a.example", "a.example/", "a b", "a:port", "u@a"]
        {
            assert_eq!(text.parse::<AllowedHost>(), Err(InvalidHost(text.to_owned())));
        }
    }
}
