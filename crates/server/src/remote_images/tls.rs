//! Connections for `https`.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::failure::FetchError;

/// Trusts whom this machine trusts.
pub(super) async fn connector() -> Result<TlsConnector, FetchError> {
    let loading = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs);
    let found = loading.await.map_err(|_| FetchError::NoRoots)?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        tracing::error!(errors = ?found.errors, "no root certificates were found");
        return Err(FetchError::NoRoots);
    }
    trusting(roots)
}

/// Trusts these roots.
pub(super) fn trusting(roots: RootCertStore) -> Result<TlsConnector, FetchError> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        // Never: it has everything that both versions of TLS need.
        .map_err(|_| FetchError::NoRoots)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config).into())
}
