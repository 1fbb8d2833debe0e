//! A sign-in beside the login in place, which it may replace at its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Account;
use crate::client::{Client, StartError};
use crate::client_config::ClientConfig;
use crate::home::HomeError;
use crate::login_file::{LoginFile, Whose};
use crate::login_home::LoginHome;
use crate::pool::Pool;

/// How long the issuer may take to revoke a login that is not wanted.
const REVOKED_WITHIN: Duration = Duration::from_secs(2);

/// How long a child that signs in may take to stop, before it is killed.
const STOPPED_WITHIN: Duration = Duration::from_secs(1);

/// A child that signs in in a home of its own. The login in place, and the turns that use it, are
/// not affected before [`Self::install`].
#[derive(Debug)]
pub struct SeparateLogin {
    client: Client,
    home: LoginHome,
    in_place: LoginFile,
}

/// The login in place, at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginInPlace {
    whose: Whose,
    account: Option<Account>,
}

/// A login that was not installed; the one in place is as it was.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// It is not the one any more that it was compared with.
    #[error("the login was changed elsewhere meanwhile; sign in again")]
    Changed,
    /// A file cannot be read or written.
    #[error(transparent)]
    Home(#[from] HomeError),
}

// === impl SeparateLogin ===

impl SeparateLogin {
    /// Starts a child as those of the pool, in a home of its own. Nothing is left of both after
    /// `stop`.
    ///
    /// # Errors
    /// If the home cannot be made, or the child does not start.
    pub async fn start(pool: &Pool, stop: &CancellationToken) -> Result<Self, StartError> {
        let config = pool.client_config();
        let found = stop.run_until_cancelled(config.codex.found_again());
        let codex = found.await.ok_or(StartError::Stopped)??;
        let home = LoginHome::make_in(&config.home)?;
        let in_place = LoginFile::in_home(&config.home);
        let config = ClientConfig {
            codex,
            home: home.path().to_owned(),
            shutdown_grace: STOPPED_WITHIN.min(config.shutdown_grace),
            // It has no turns.
            early_arguments: false,
            canary: None,
            timings: None,
            ..config.clone()
        };
        let client = Client::start_until(stop, config, Arc::default()).await?;
        Ok(Self { client, home, in_place })
    }

    /// The child, to sign in with.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The login that would be replaced.
    pub fn in_place(&self) -> LoginInPlace {
        LoginInPlace::read(&self.in_place)
    }

    /// Whether the new login is of the same account as this one.
    pub fn is_same_account(&self, other: &LoginInPlace) -> bool {
        let own = self.own().whose();
        matches!(own, Whose::Account(_)) && own == other.whose
    }

    /// Puts the new login in the place of `before`, at once. Children that have that one are to be
    /// [renewed](Pool::renew).
    ///
    /// # Errors
    /// If another login is in place, or the new one cannot be written.
    pub fn install(&self, before: &LoginInPlace) -> Result<(), InstallError> {
        if self.in_place.whose() != before.whose {
            return Err(InstallError::Changed);
        }
        Ok(self.in_place.replace_by(&self.own())?)
    }

    /// Stops the child and removes its home, after the login was installed.
    pub async fn finish(self) {
        self.client.stop("the sign-in has ended").await;
    }

    /// The same where the login is not wanted: the issuer is asked to revoke it.
    pub async fn discard(self) {
        if self.own().exists() {
            let _ = tokio::time::timeout(REVOKED_WITHIN, self.client.logout()).await;
        }
        self.finish().await;
    }

    /// Removes what sign-ins of crashed servers have left in `home`. Gives how many there were.
    ///
    /// # Errors
    /// If a folder cannot be read or removed.
    pub fn remove_leftovers(home: &Path) -> std::io::Result<usize> {
        LoginHome::remove_leftovers(home)
    }

    fn own(&self) -> LoginFile {
        LoginFile::in_home(self.home.path())
    }
}

// === impl LoginInPlace ===

impl LoginInPlace {
    fn read(file: &LoginFile) -> Self {
        let (whose, account) = file.read();
        Self { whose, account }
    }

    /// Whether no account is signed in.
    pub fn is_missing(&self) -> bool {
        self.whose == Whose::Nobody
    }

    /// Who it is, as far as the login itself names it.
    pub fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }

    /// As [`Client::account_fingerprint`].
    pub fn fingerprint(&self) -> Option<u128> {
        self.whose.fingerprint()
    }
}

// === impl Pool ===

impl Pool {
    /// The login that the children use, or are about to.
    pub fn login_in_place(&self) -> LoginInPlace {
        LoginInPlace::read(&LoginFile::in_home(&self.client_config().home))
    }
}
