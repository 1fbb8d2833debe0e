//! Listening on this machine only.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpListener;

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else listens there.
    #[error(
        "{0} is in use: another server is running there; \
         choose another port with --port or PORT"
    )]
    InUse(SocketAddr),
    /// Anything else.
    #[error("cannot listen on {0}: {1}")]
    Other(SocketAddr, io::Error),
}

/// Listens on `port` of both loopback addresses, or of those that the machine has.
///
/// With port 0 both get the same free port, chosen by the system.
///
/// # Errors
/// If the port is in use, or if there is no loopback address.
pub async fn bind_loopback(port: u16) -> Result<Vec<TcpListener>, BindError> {
    loop {
        let v4 = bind(IpAddr::V4(Ipv4Addr::LOCALHOST), port).await?;
        let same_port = v4.local_addr().map_or(port, |address| address.port());
        match bind(IpAddr::V6(Ipv6Addr::LOCALHOST), same_port).await {
            Ok(v6) => return Ok(vec![v4, v6]),
            // The system's choice was free for IPv4 only: let it choose again.
            Err(BindError::InUse(_)) if port == 0 => {}
            Err(BindError::InUse(address)) => return Err(BindError::InUse(address)),
            // A machine without IPv6.
            Err(BindError::Other(..)) => return Ok(vec![v4]),
        }
    }
}

async fn bind(host: IpAddr, port: u16) -> Result<TcpListener, BindError> {
    let address = SocketAddr::new(host, port);
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => BindError::InUse(address),
        _ => BindError::Other(address, error),
    })
}
