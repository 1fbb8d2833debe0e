//! Who is let in, which can change while the server runs.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::http::HeaderMap;
use openai_wire::ApiError;
use tokio::sync::{mpsc, oneshot, watch};

use super::admission::owner_needed;
use super::host::{AllowedHost, Hosts};
use super::key::{ApiKey, Caller, Digest, Keys, bearer_digest};
use super::origin::{AllowedOrigin, Origins};
use super::session::{Sessions, no_random};

/// How long reading the keys again may take.
const RELOADED_WITHIN: Duration = Duration::from_secs(5);

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
    /// Name and port of the page for this run alone.
    page_host: Option<AllowedHost>,
    rules: Arc<ArcSwap<Rules>>,
    sessions: Arc<Sessions>,
    /// Fires whenever a grant may have ended.
    changes: watch::Sender<()>,
    /// Where the keys are asked to be read again.
    reloads: Arc<OnceLock<mpsc::Sender<KeyReload>>>,
}

/// A request to read the keys again now, answered with why that failed.
pub type KeyReload = oneshot::Sender<Result<(), String>>;

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
        Self::with_page_host(port, None, settings)
    }

    /// The same, where the page has a name for this run alone. To a browser that is an origin without a
    /// past: whatever an impostor has stored or cached under the address is not there.
    pub fn with_page_host(
        port: u16,
        page_host: Option<AllowedHost>,
        settings: AccessSettings,
    ) -> Self {
        Self {
            port,
            rules: Arc::new(ArcSwap::from_pointee(Rules::new(port, page_host.clone(), settings))),
            page_host,
            sessions: Arc::default(),
            changes: watch::Sender::default(),
            reloads: Arc::default(),
        }
    }

    /// From now on these are let in. Requests that were let in stay so.
    pub fn change(&self, settings: AccessSettings) {
        let rules = Arc::new(Rules::new(self.port, self.page_host.clone(), settings));
        self.rules.store(Arc::clone(&rules));
        // For good: a key that is accepted again later opens new ones.
        self.sessions.retain(|key| rules.keys.find(key).is_some());
        self.notify();
    }

    /// Requests to read the keys again. What changes them takes this once, and answers after the
    /// change.
    pub fn reloads(&self) -> mpsc::Receiver<KeyReload> {
        let (sender, requests) = mpsc::channel(1);
        // There is one such reader in the life of a process; a second one gets no requests.
        let _ = self.reloads.set(sender);
        requests
    }

    /// Reads the keys again.
    ///
    /// # Errors
    /// Why that failed; then the keys may be older than those on disk.
    pub(crate) async fn reloaded(&self) -> Result<(), String> {
        let reload = async {
            let reloads = self.reloads.get().ok_or("the server reads no keys")?;
            let (answer, answered) = oneshot::channel();
            let gone = "the server is stopping";
            reloads.send(answer).await.map_err(|_| gone)?;
            answered.await.map_err(|_| gone)?
        };
        let late = || Err(format!("it took longer than {} seconds", RELOADED_WITHIN.as_secs()));
        tokio::time::timeout(RELOADED_WITHIN, reload).await.unwrap_or_else(|_| late())
    }

    /// Has every grant checked again.
    pub(crate) fn notify(&self) {
        self.changes.send_replace(());
    }

    /// Fires whenever a grant may have ended.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    pub(crate) fn now(&self) -> Arc<Rules> {
        self.rules.load_full()
    }

    /// A code for a link to the page: it opens one session, within ten minutes. `None` without an
    /// owner's key, or if the system has no random numbers.
    pub fn issue_code(&self) -> Option<String> {
        let key = self.now().keys.of_the_owner()?.clone();
        self.sessions.issue_code(key, ambient::now())
    }

    /// The page under its name for this run, if it has one.
    pub fn page(&self) -> Option<String> {
        self.page_host.as_ref().map(|host| format!("http://{host}/"))
    }

    /// Whether a request came with the owner's key itself. A session must not outlive its end by codes.
    pub(crate) fn has_owner_key(&self, headers: &HeaderMap) -> bool {
        let rules = self.now();
        let caller = bearer_digest(headers).and_then(|given| rules.keys.find(&given));
        caller.is_some_and(Caller::is_owner)
    }

    /// The caller of a request: the one whose key it came with, or the owner by a session.
    ///
    /// # Errors
    /// If the key is missing or wrong; the answer is the same.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, ApiError> {
        let rules = self.now();
        let given = bearer_digest(headers);
        let caller = given.and_then(|given| {
            // A session lasts no longer than the key that opened it.
            let by_session = || rules.keys.find(&self.sessions.key_of(&given)?);
            rules.keys.find(&given).or_else(by_session).cloned()
        });
        caller.ok_or_else(|| rules.keys.refusal(headers))
    }

    /// The token of a new session, for a request with the owner's key or a code.
    ///
    /// # Errors
    /// If it has neither.
    pub(crate) fn open_session(&self, headers: &HeaderMap) -> Result<String, ApiError> {
        let rules = self.now();
        let given = bearer_digest(headers).ok_or_else(|| rules.keys.refusal(headers))?;
        let key = match rules.keys.find(&given) {
            Some(caller) if caller.is_owner() => given,
            Some(_) => return Err(owner_needed()),
            None => self.key_of_code(&rules, &given).ok_or_else(|| rules.keys.refusal(headers))?,
        };
        let token = self.sessions.open(key).ok_or_else(no_random)?;
        // It may have replaced the oldest.
        self.notify();
        Ok(token)
    }

    /// A code opens nothing for a key that was replaced since.
    fn key_of_code(&self, rules: &Rules, code: &Digest) -> Option<Digest> {
        let key = self.sessions.spend_code(code, ambient::now())?;
        rules.keys.find(&key).is_some().then_some(key)
    }

    /// Ends the session that a request came with.
    ///
    /// # Errors
    /// If it came with none.
    pub(crate) fn end_session(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        if bearer_digest(headers).is_some_and(|given| self.sessions.end(&given)) {
            self.notify();
            return Ok(());
        }
        Err(self.now().keys.refusal(headers))
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("port", &self.port).finish_non_exhaustive()
    }
}

// === impl Rules ===

impl Rules {
    fn new(port: u16, page_host: Option<AllowedHost>, settings: AccessSettings) -> Self {
        let AccessSettings { mut allowed_hosts, allowed_origins, keys, key_hint } = settings;
        allowed_hosts.extend(page_host);
        Self {
            origins: Origins::new(port, &allowed_hosts, allowed_origins),
            hosts: Hosts::new(port, allowed_hosts),
            keys: Keys::new(keys, key_hint),
        }
    }
}
