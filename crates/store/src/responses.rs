//! Responses that clients can come back to.

mod change;
mod question;
mod retention;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::error::StoreError;
use crate::store::Store;
use crate::writer::Effect;

pub(crate) use retention::ResponsesRetention;

/// The responses that clients can come back to. Clones share them.
///
/// A response that continues another belongs to its conversation; several may continue the same one.
/// Everything belongs to a key by its id: under another one it is not there.
#[derive(Debug, Clone)]
pub struct Responses {
    store: Store,
}

/// A response, and what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResponse {
    /// Its id. No other response of the key may have the same.
    pub id: String,
    /// The id of the key that it belongs to.
    pub key: String,
    /// When it was made: that is also when its conversation was used.
    pub created_at: SystemTime,
    /// The response that it continues.
    pub previous: Option<String>,
    /// The response object without its output, as JSON.
    pub body: String,
    /// What was new in the request.
    pub input: Vec<StoredItem>,
    /// What was said.
    pub output: Vec<StoredItem>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredItem {
    /// Its id, which it may share with others: clients send items back.
    pub id: String,
    /// The whole item, as JSON.
    pub json: String,
}

/// A response that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundResponse {
    /// The response object without its output, as JSON.
    pub body: String,
    /// What was said.
    pub output: Vec<StoredItem>,
}

/// What was said up to some point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation {
    /// All of it, from the first item on.
    Whole(Vec<StoredItem>),
    /// There is no such response.
    Unknown,
    /// An earlier response of it was deleted or has expired.
    Broken {
        /// The id of that one.
        missing: String,
    },
}

/// A part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Which end of the list comes first.
    pub order: Order,
    /// It begins after the item of this id.
    pub after: Option<String>,
    /// Most items.
    pub items: usize,
    /// Most bytes, but one item at least.
    pub bytes: usize,
}

/// Which end of a list comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The first item.
    FirstFirst,
    /// The last item.
    LastFirst,
}

/// What is in a part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// These items.
    Page {
        /// In the order that was asked for.
        items: Vec<StoredItem>,
        /// Whether others follow.
        has_more: bool,
    },
    /// The item after which it should begin is not in the list.
    NoSuchItem,
    /// There is no such response.
    Unknown,
    /// An earlier response of it was deleted or has expired.
    Broken {
        /// The id of that one.
        missing: String,
    },
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The responses.
    pub responses: u64,
    /// What they take, roughly.
    pub bytes: u64,
}

// === impl Responses ===

impl Responses {
    pub(crate) fn of(store: Store) -> Self {
        Self { store }
    }

    /// Keeps a response. When this returns, it is written, and survives our own death.
    ///
    /// If the one that it continues is not there (any more), it begins a conversation, which is broken.
    ///
    /// # Errors
    /// If it cannot be written within some seconds, or its conversation would be larger than everything
    /// may be: it is then not kept, now or later.
    pub async fn keep(&self, response: StoredResponse) -> Result<(), StoreError> {
        let retention = Arc::clone(&self.store.writer().retention);
        let keep =
            move |database: &_| change::keep(database, &response, retention.responses.most_bytes());
        match self.store.writer().change(keep).await? {
            Effect::Nothing => Err(StoreError::TooLarge),
            Effect::Added | Effect::Deleted => Ok(()),
        }
    }

    /// Deletes a response, and nothing that continues it. Says whether there was one. When this returns,
    /// nobody finds it any more, also after our own death; a moment later it is gone from the file.
    ///
    /// # Errors
    /// As for [`Responses::keep`].
    pub async fn delete(&self, key: &str, id: &str) -> Result<bool, StoreError> {
        let (key, id) = (key.to_owned(), id.to_owned());
        let delete = move |database: &_| change::delete(database, &key, &id);
        Ok(self.store.writer().change(delete).await? == Effect::Deleted)
    }

    /// A response of this key.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn find(&self, key: &str, id: &str) -> Result<Option<FoundResponse>, StoreError> {
        let (key, id) = (key.to_owned(), id.to_owned());
        self.store.read(move |database| question::find(database, &key, &id)).await
    }

    /// Everything that was said up to this response, and in it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn conversation(&self, key: &str, id: &str) -> Result<Conversation, StoreError> {
        let (key, id) = (key.to_owned(), id.to_owned());
        self.store.read(move |database| question::conversation(database, &key, &id)).await
    }

    /// What this response was an answer to, page by page: everything before it, and what was new in its
    /// request.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn input_of(&self, key: &str, id: &str, page: Page) -> Result<Listed, StoreError> {
        let (key, id) = (key.to_owned(), id.to_owned());
        self.store.read(move |database| question::input_of(database, &key, &id, &page)).await
    }

    /// How many bytes [`Self::conversation`] and [`Self::items`] would give together, an item that is
    /// named several times as often. What is not there counts as nothing.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn measure(
        &self,
        key: &str,
        previous: Option<String>,
        ids: Vec<String>,
    ) -> Result<u64, StoreError> {
        let key = key.to_owned();
        self.store.read(move |database| question::measure(database, &key, previous, ids)).await
    }

    /// The JSON of items of this key by their ids, as far as they are there. Of several with the same id
    /// it is the one that was kept last.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn items(
        &self,
        key: &str,
        ids: Vec<String>,
    ) -> Result<HashMap<String, String>, StoreError> {
        let key = key.to_owned();
        self.store.read(move |database| question::items(database, &key, ids)).await
    }

    /// From now on a conversation is kept for so long after its last use, and all of them take at most so
    /// many bytes: those unused for longest go first. They go at once and then every day, those that are
    /// too many whenever one is kept.
    pub fn keep_within(&self, age: Duration, bytes: u64) {
        if self.store.writer().retention.responses.keep_within(age, bytes) {
            self.store.writer().sweep();
        }
    }

    /// How much is kept now.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn held(&self) -> Result<Held, StoreError> {
        self.store.read(|database| question::held(database)).await
    }
}
