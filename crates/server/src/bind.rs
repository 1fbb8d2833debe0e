//! Listening: on this machine only, unless another host is asked for.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::{TcpListener, lookup_host};

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else listens there.
    #[error(
        "{0} is in use: another server is running there; \
         choose another port with --port or PORT"
    )]
    InUse(SocketAddr),
    /// The host has no address.
    #[error("there is no host {host:?} to listen on (PROXY_HOST): {error}")]
    UnknownHost {
        /// As it was given.
        host: String,
        /// What the system says.
        error: io::Error,
    },
    /// Anything else.
    #[error("cannot listen on {0}: {1}")]
    Other(SocketAddr, io::Error),
}

/// Listens on every address of the host that the machine has.
///
/// The host is an IP address or a name; without one, both loopback addresses. With port 0 the system
/// chooses a free one, the same for every address. Whether a host is allowed is decided elsewhere.
///
/// # Errors
/// If the port is in use on one of them, or if there is none.
pub async fn bind(host: Option<&str>, port: u16) -> Result<Vec<TcpListener>, BindError> {
    let addresses = match host {
        None => vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)],
        Some(host) => addresses_of(host)
            .await
            .map_err(|error| BindError::UnknownHost { host: host.to_owned(), error })?,
    };
    loop {
        match bind_all(&addresses, port).await {
            // The system's choice was free on some of them only: let it choose again.
            Err(BindError::InUse(_)) if port == 0 => {}
            outcome => return outcome,
        }
    }
}

async fn addresses_of(host: &str) -> io::Result<Vec<IpAddr>> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let addresses: BTreeSet<IpAddr> =
        lookup_host((bare, 0)).await?.map(|address| address.ip()).collect();
    if addresses.is_empty() {
        return Err(io::Error::other("it has no address"));
    }
    Ok(addresses.into_iter().collect())
}

async fn bind_all(addresses: &[IpAddr], port: u16) -> Result<Vec<TcpListener>, BindError> {
    let mut same_port = port;
    let mut listeners = Vec::with_capacity(addresses.len());
    let mut missing = None;
    for &address in addresses {
        match bind_one(SocketAddr::new(address, same_port)).await {
            Ok(listener) => {
                same_port = listener.local_addr().map_or(same_port, |address| address.port());
                listeners.push(listener);
            }
            Err(error @ BindError::InUse(_)) => return Err(error),
            // For instance IPv6, on a machine without it.
            Err(error) => missing = missing.or(Some(error)),
        }
    }
    match missing {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

async fn bind_one(address: SocketAddr) -> Result<TcpListener, BindError> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse(address),
        _ => BindError::Other(address, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn bound(host: Option<&str>, port: u16) -> Result<Vec<SocketAddr>, BindError> {
        let listeners = bind(host, port).await?;
        Ok(listeners.iter().map(|listener| listener.local_addr().unwrap()).collect())
    }

    #[tokio::test]
    async fn row_1_without_a_host_only_this_machine_can_connect() {
        let addresses = bound(None, 0).await.unwrap();
        assert!(addresses.iter().all(|address| address.ip().is_loopback()), "{addresses:?}");
        assert!(addresses.iter().all(|address| address.port() == addresses[0].port()));
        assert_eq!(addresses[0].ip(), IpAddr::V4(Ipv4Addr::LOCALHOST));
    }

    #[tokio::test]
    async fn another_host_is_an_address_or_a_name() {
        for (host, ip) in [("0.0.0.0", "0.0.0.0"), ("127.0.0.1", "127.0.0.1")] {
            let addresses = bound(Some(host), 0).await.unwrap();
            let ips: Vec<String> = addresses.iter().map(|a| a.ip().to_string()).collect();
            assert_eq!(ips, [ip]);
        }
        let named = bound(Some("localhost"), 0).await.unwrap();
        assert!(!named.is_empty() && named.iter().all(|address| address.ip().is_loopback()));
    }

    #[tokio::test]
    async fn what_cannot_be_listened_on_is_named() {
        let error = bound(Some("no host"), 0).await.unwrap_err().to_string();
        assert!(error.contains(r#""no host" to listen on (PROXY_HOST)"#), "{error}");
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap();
        for host in [None, Some("127.0.0.1")] {
            let error = bound(host, address.port()).await.unwrap_err();
            assert!(matches!(error, BindError::InUse(at) if at == address), "{error}");
        }
    }
}
