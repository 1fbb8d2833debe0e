//! Who is let in, which can change while the server runs.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::host::{AllowedHost, Hosts};
use super::key::{ApiKey, Keys};
use super::origin::{AllowedOrigin, Origins};

/// Who is let in.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// Names that requests may be addressed to, besides the loopback ones with our port.
    pub allowed_hosts: Vec<AllowedHost>,
    /// Origins whose pages may use us, besides Obsidian's and our own page's.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// The keys that are accepted; without any, nobody is let in.
    pub keys: Vec<ApiKey>,
    /// A sentence for somebody without the right key: where it is found.
    pub key_hint: String,
}

/// Who is let in, now. Clones share it.
#[derive(Clone)]
pub struct Access {
    port: u16,
    rules: Arc<ArcSwap<Rules>>,
}

/// What a request is checked against, from its head to its answer.
pub(crate) struct Rules {
    pub(crate) hosts: Hosts,
    pub(crate) origins: Origins,
    pub(crate) keys: Keys,
}

// === impl Access ===

impl Access {
    /// `port` is the one that we listen on.
    pub fn new(port: u16, settings: AccessSettings) -> Self {
        Self { port, rules: Arc::new(ArcSwap::from_pointee(Rules::new(port, settings))) }
    }

    /// From now on these are let in. Requests that were let in stay so.
    pub fn change(&self, settings: AccessSettings) {
        self.rules.store(Arc::new(Rules::new(self.port, settings)));
    }

    pub(crate) fn now(&self) -> Arc<Rules> {
        self.rules.load_full()
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("port", &self.port).finish_non_exhaustive()
    }
}

// === impl Rules ===

impl Rules {
    fn new(port: u16, settings: AccessSettings) -> Self {
        let AccessSettings { allowed_hosts, allowed_origins, keys, key_hint } = settings;
        Self {
            origins: Origins::new(port, &allowed_hosts, allowed_origins),
            hosts: Hosts::new(port, allowed_hosts),
            keys: Keys::new(keys, key_hint),
        }
    }
}
