//! The sockets of the server.

use std::io;
use std::net::SocketAddr;

use configuration::{Host, Listen};
use server::BindError;
use tokio::net::TcpListener;

/// Listens where the settings say.
pub(crate) async fn bind(listen: Listen) -> Result<Vec<TcpListener>, BindError> {
    let address = match listen.host {
        Host::Loopback => return server::bind_loopback(listen.port).await,
        Host::Address(host) => SocketAddr::new(host, listen.port),
    };
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(vec![listener]),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(BindError::InUse(address)),
        Err(error) => Err(BindError::Other(address, error)),
    }
}
