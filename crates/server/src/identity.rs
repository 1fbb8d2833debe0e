//! `GET /identity`: a proof that this server runs in its owner's data folder, for commands that are
//! about to send it a key. Another process that takes the port does not have the secret of that folder.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Extension, RawQuery, State};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use openai_wire::ApiError;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::api_error::ErrorResponse;

/// Where the proof is asked for, with the nonce as its query.
pub const IDENTITY_PATH: &str = "/identity";

/// No other message is ever authenticated with the secret.
const LABEL: &[u8] = b"codex-completions server identity 1\n";

/// A secret that the server of this run and its owner's commands share. Clones share it.
#[derive(Clone)]
pub struct RunSecret(Arc<[u8; 32]>);

/// A number that was never used before, chosen by the one who asks.
#[derive(Clone, Copy)]
pub struct Nonce([u8; 32]);

/// The address of ours that a client has connected to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalAddress(pub(crate) SocketAddr);

pub(crate) fn routes(secret: RunSecret) -> Router {
    Router::new().route(IDENTITY_PATH, get(prove).with_state(secret))
}

async fn prove(
    State(secret): State<RunSecret>,
    Extension(LocalAddress(address)): Extension<LocalAddress>,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, ErrorResponse> {
    let nonce = query.as_deref().and_then(Nonce::from_query).ok_or_else(|| {
        ApiError::invalid(
            "nonce",
            "A nonce is needed: 32 bytes in URL-safe base64, without padding.",
        )
    })?;
    Ok(Json(json!({"object": "proxy.identity", "proof": secret.prove(&nonce, address)})))
}

// === impl RunSecret ===

impl RunSecret {
    /// From its bytes, which must be random.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Arc::new(bytes))
    }

    /// Whether this answer to a nonce can only come from the server that is reached at `address`.
    pub fn is_proof(&self, proof: &str, nonce: &Nonce, address: SocketAddr) -> bool {
        let decoded = URL_SAFE_NO_PAD.decode(proof);
        decoded.is_ok_and(|proof| {
            self.mac(nonce, address).is_some_and(|mac| mac.verify_slice(&proof).is_ok())
        })
    }

    fn prove(&self, nonce: &Nonce, address: SocketAddr) -> Option<String> {
        let mac = self.mac(nonce, address)?;
        Some(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    }

    /// With the address, so that a proof that was passed on from another server is none.
    fn mac(&self, Nonce(nonce): &Nonce, address: SocketAddr) -> Option<Hmac<Sha256>> {
        // A socket for both families gives IPv4 addresses as mapped ones.
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        let mac = Hmac::<Sha256>::new_from_slice(&*self.0).ok()?;
        Some(mac.chain_update(LABEL).chain_update(nonce).chain_update(address.to_string()))
    }
}

impl fmt::Debug for RunSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunSecret(..)")
    }
}

// === impl Nonce ===

impl Nonce {
    /// A new one.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        ambient::fill_random(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The query of the path.
    pub fn to_query(&self) -> String {
        format!("nonce={}", URL_SAFE_NO_PAD.encode(self.0))
    }

    fn from_query(query: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(query.strip_prefix("nonce=")?).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn row_19_a_proof_is_good_for_one_secret_nonce_and_address() {
        let (ours, other) = (RunSecret::new([1; 32]), RunSecret::new([2; 32]));
        let (nonce, old) = (Nonce([3; 32]), Nonce([4; 32]));
        let here = address("127.0.0.1:11435");
        let proof = ours.prove(&nonce, here).unwrap();
        assert!(ours.is_proof(&proof, &nonce, here));
        assert!(ours.is_proof(&proof, &nonce, address("[::ffff:127.0.0.1]:11435")));
        assert!(!other.is_proof(&proof, &nonce, here));
        assert!(!ours.is_proof(&proof, &old, here));
        for elsewhere in ["127.0.0.1:11436", "[::1]:11435", "127.0.0.2:11435"] {
            assert!(!ours.is_proof(&proof, &nonce, address(elsewhere)), "{elsewhere}");
        }
        for wrong in ["", "x", &proof[..42], &format!("{proof}A")] {
            assert!(!ours.is_proof(wrong, &nonce, here), "{wrong}");
        }
    }

    #[test]
    fn row_19_only_a_whole_nonce_is_answered() {
        let nonce = Nonce([7; 32]);
        let query = nonce.to_query();
        assert_eq!(Nonce::from_query(&query).unwrap().0, nonce.0);
        for wrong in ["", "nonce=", "nonce=AAAA", &query[1..], &format!("{query}&x=1")] {
            assert!(Nonce::from_query(wrong).is_none(), "{wrong}");
        }
    }
}
