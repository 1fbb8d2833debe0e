//! Connections for `https`.

use tokio_rustls::TlsConnector;

use super::failure::FetchError;

/// Trusts the certificates that this machine trusts.
pub(super) async fn connector() -> Result<TlsConnector, FetchError> {
    let loading = tokio::task::spawn_blocking(http_client::system_roots);
    let (roots, errors) = loading.await.map_err(|_| FetchError::NoRoots)?;
    if roots.is_empty() {
        tracing::error!(?errors, "no root certificates were found");
        return Err(FetchError::NoRoots);
    }
    http_client::trusting(roots).map_err(|_| FetchError::NoRoots)
}
