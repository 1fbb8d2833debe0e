//! A running server, and how it is found and asked.

mod request;
mod running;

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use configuration::{ApiKey, Host, RunSecretFile, Settings};
use hyper::Uri;
use hyper::http::uri::Scheme;
use secrecy::SecretString;

use crate::cli::ServerOptions;

pub(crate) use request::{Unanswered, read_text};
pub(crate) use running::{Running, link_to_page, page_answers, takes_key};

/// A server, and how it is asked.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) base_url: BaseUrl,
    /// Without one the server answers where its key is found.
    key: Option<(SecretString, KeyFor)>,
    /// What a server of ours has.
    run_secret: RunSecretFile,
}

/// Where a key may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyFor {
    /// To a server that has proved, on the same connection, that it runs in our data folder.
    OurServer,
    /// To the address that was given together with it.
    GivenAddress,
}

/// An `http` URL whose paths begin here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BaseUrl {
    /// As it is connected to: without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// As the header `Host` has it.
    pub(crate) authority: String,
    path: String,
}

/// Nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    #[error("--base-url {0:?} is not a URL such as http://127.0.0.1:11435/v1")]
    NotAUrl(String),
    #[error(
        "--base-url {0:?}: only http is spoken here; check the server itself, behind what speaks https for it"
    )]
    NotHttp(String),
    #[error("PORT=0 lets the system choose: say with --base-url which port the server has told")]
    UnknownPort,
    #[error("cannot read the key in {path}: {source}")]
    Key { path: String, source: io::Error },
}

// === impl Target ===

impl Target {
    pub(crate) fn choose(
        options: &ServerOptions,
        settings: &Settings,
    ) -> Result<Self, TargetError> {
        let base_url = match &options.base_url {
            Some(url) => BaseUrl::parse(url)?,
            None => BaseUrl::of(settings.listen)?,
        };
        let audience = match (&options.base_url, &options.key) {
            (Some(_), Some(_)) => KeyFor::GivenAddress,
            _ => KeyFor::OurServer,
        };
        let given = options.key.as_deref().map(given_key).transpose()?;
        let key = match given.or_else(|| settings.access.api_key.clone()) {
            Some(key) => Some(key),
            None => kept_key(settings)?,
        };
        let key = key.map(|key| (key, audience));
        Ok(Self { run_secret: RunSecretFile::new(settings, base_url.port), base_url, key })
    }

    /// The server of these settings on this machine, without its key.
    pub(crate) fn of(settings: &Settings) -> Result<Self, TargetError> {
        let base_url = BaseUrl::of(settings.listen)?;
        Ok(Self { run_secret: RunSecretFile::new(settings, base_url.port), base_url, key: None })
    }
}

/// A key, or `-` for one on standard input, which no list of processes shows.
fn given_key(given: &str) -> Result<SecretString, TargetError> {
    if given != "-" {
        return Ok(given.into());
    }
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line);
    read.map_err(|source| TargetError::Key { path: "standard input".to_owned(), source })?;
    Ok(line.trim().into())
}

/// Looking makes no key.
fn kept_key(settings: &Settings) -> Result<Option<SecretString>, TargetError> {
    let file = ApiKey::file(settings);
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok(Some(text.trim().to_owned().into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TargetError::Key { path: file.display().to_string(), source }),
    }
}

// === impl BaseUrl ===

impl BaseUrl {
    pub(crate) fn parse(url: &str) -> Result<Self, TargetError> {
        let not_a_url = || TargetError::NotAUrl(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| not_a_url())?;
        let scheme = uri.scheme().ok_or_else(not_a_url)?;
        if *scheme != Scheme::HTTP {
            return Err(TargetError::NotHttp(url.to_owned()));
        }
        let authority = uri.authority().ok_or_else(not_a_url)?;
        if uri.query().is_some() || authority.as_str().contains('@') {
            return Err(not_a_url());
        }
        Ok(Self {
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: authority.as_str().to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Where a server of these settings listens on this machine.
    fn of(listen: configuration::Listen) -> Result<Self, TargetError> {
        if listen.port == 0 {
            return Err(TargetError::UnknownPort);
        }
        let address: IpAddr = match listen.host {
            Host::Loopback => Ipv4Addr::LOCALHOST.into(),
            Host::Address(IpAddr::V4(address)) if address.is_unspecified() => {
                Ipv4Addr::LOCALHOST.into()
            }
            Host::Address(IpAddr::V6(address)) if address.is_unspecified() => {
                Ipv6Addr::LOCALHOST.into()
            }
            Host::Address(address) => address,
        };
        let port = listen.port;
        let authority = std::net::SocketAddr::new(address, port).to_string();
        Ok(Self { host: address.to_string(), port, authority, path: "/v1".to_owned() })
    }

    /// The page of the server.
    pub(crate) fn page(&self) -> String {
        format!("http://{}{}", self.authority, self.beside("/"))
    }

    /// A path that is beside the API and not in it, such as `/readyz`.
    pub(crate) fn beside(&self, path: &str) -> String {
        format!("{}{path}", self.path.strip_suffix("/v1").unwrap_or(&self.path))
    }

    /// The path of a resource such as `/models`.
    pub(crate) fn path_of(&self, resource: &str) -> String {
        format!("{}{resource}", self.path)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use configuration::Listen;

    use super::*;

    fn url(text: &str) -> Result<String, String> {
        BaseUrl::parse(text)
            .map(|url| format!("{}|{}|{}", url.host, url.port, url.path_of("/models")))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_base_url_is_taken_as_clients_write_it() {
        for (text, expected) in [
            ("http://127.0.0.1:1/v1", "127.0.0.1|1|/v1/models"),
            ("http://[::1]:2/v1/", "::1|2|/v1/models"),
            ("http://localhost", "localhost|80|/models"),
            ("HTTP://a.example:3/x", "a.example|3|/x/models"),
        ] {
            assert_eq!(url(text).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_cannot_be_asked_is_named() {
        for text in
            ["", "127.0.0.1:1", "/v1", "http://", "http://a b", "http://u:p@a/", "http://a?b"]
        {
            let expected =
                format!("--base-url {text:?} is not a URL such as http://127.0.0.1:11435/v1");
            assert_eq!(url(text), Err(expected));
        }
        assert!(url("https://a.example/v1").unwrap_err().contains("only http is spoken here"));
    }

    #[test]
    fn the_server_of_the_settings_is_on_this_machine() {
        for (host, expected) in [
            (Host::Loopback, "http://127.0.0.1:7/v1"),
            (Host::Address("0.0.0.0".parse().unwrap()), "http://127.0.0.1:7/v1"),
            (Host::Address("::".parse().unwrap()), "http://[::1]:7/v1"),
            (Host::Address("192.0.2.1".parse().unwrap()), "http://192.0.2.1:7/v1"),
        ] {
            assert_eq!(BaseUrl::of(Listen { host, port: 7 }).unwrap().to_string(), expected);
        }
        assert!(BaseUrl::of(Listen { host: Host::Loopback, port: 0 }).is_err());
    }
}
