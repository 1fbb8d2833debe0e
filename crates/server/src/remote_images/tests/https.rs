//! `https`: who is trusted.

use std::sync::Arc;

use rcgen::generate_simple_self_signed;
use tokio::sync::OnceCell;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::origin::{Origin, ok};
use super::{FetchError, PNG, PNG_DATA, fetcher};
use crate::remote_images::{ImageFetcher, Room};

/// A server of this name, and its certificate.
async fn server(name: &str) -> (Origin, CertificateDer<'static>) {
    let made = generate_simple_self_signed([name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    (Origin::with_tls(ok("image/png", PNG), acceptor).await, certificate)
}

fn trusting(certificate: CertificateDer<'static>) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    http_client::trusting(roots).unwrap()
}

async fn fetched(origin: &Origin, trusted: TlsConnector) -> Result<String, FetchError> {
    let fetcher = ImageFetcher { tls: OnceCell::new_with(Some(trusted)), ..fetcher() };
    let url = format!("https://localhost:{}/a.png", origin.address.port());
    fetcher.follow(&url, &Room(1_000.into())).await
}

#[tokio::test]
async fn only_a_trusted_host_of_that_name_is_asked() {
    let (local, of_local) = server("localhost").await;
    let (other, of_other) = server("other.example").await;
    assert_eq!(fetched(&local, trusting(of_local.clone())).await, Ok(PNG_DATA.to_owned()));
    // Another root, and another name.
    for (origin, trusted) in [(&local, of_other.clone()), (&other, of_other), (&other, of_local)] {
        assert_eq!(fetched(origin, trusting(trusted)).await, Err(FetchError::Untrusted));
    }
    assert_eq!((local.requests().len(), other.requests().len()), (1, 0));
}
