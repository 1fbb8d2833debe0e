//! Keys beside the default one: a file that has their ids, names and digests, never the keys themselves.

use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{KeyChangeError, KeyDigest, KeyError, KeyId, KeyName, private, random_key};
use crate::problem::Warning;
use crate::settings::Settings;

/// The form in which the file is written.
const VERSION: u32 = 2;

/// The form of 0.1.0, whose keys have no ids.
const WITHOUT_IDS: u32 = 1;

/// The named keys, to be changed. Nobody else changes them meanwhile.
#[derive(Debug)]
pub struct NamedKeys {
    /// What had to be mended.
    pub warnings: Vec<Warning>,
    path: PathBuf,
    records: Vec<Record>,
    _lock: File,
}

/// What is kept of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    pub(crate) id: KeyId,
    pub(crate) name: KeyName,
    pub(crate) sha256: KeyDigest,
    pub(crate) since: Timestamp,
}

/// The same without an id.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordWithoutId {
    name: KeyName,
    sha256: KeyDigest,
    since: Timestamp,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document<R> {
    version: u32,
    keys: Vec<R>,
}

/// What every form of the file has.
#[derive(Deserialize)]
struct Form {
    version: u32,
}

// === impl Record ===

impl From<RecordWithoutId> for Record {
    fn from(RecordWithoutId { name, sha256, since }: RecordWithoutId) -> Self {
        Self { id: KeyId::from_name(&name), name, sha256, since }
    }
}

// === impl NamedKeys ===

impl NamedKeys {
    /// Reads the keys, once nobody else is changing them.
    ///
    /// # Errors
    /// If the file or the data folder cannot be used.
    pub fn open(settings: &Settings) -> Result<Self, KeyError> {
        let mut warnings = Vec::new();
        private::make_folder(&settings.data_folder, &mut warnings)?;
        // The list itself is replaced by every change, and a lock on it would go with it.
        let lock = private::lock(&settings.data_folder.join("keys.lock"))?;
        let path = Self::file(settings);
        let records = read(&path, &mut warnings)?;
        Ok(Self { warnings, path, records, _lock: lock })
    }

    /// Where they are kept.
    pub fn file(settings: &Settings) -> PathBuf {
        settings.data_folder.join("keys.json")
    }

    /// Makes a key, which cannot be looked up later. It has nothing of an earlier key of that name.
    ///
    /// # Errors
    /// If there is a key of that name, or it cannot be kept.
    pub fn add(&mut self, name: KeyName) -> Result<SecretString, KeyChangeError> {
        if name.is_reserved() {
            return Err(KeyChangeError::Reserved);
        }
        if self.records.iter().any(|record| record.name == name) {
            return Err(KeyChangeError::Taken(name));
        }
        let (secret, record) = new_key(KeyId::random()?, name)?;
        let mut records = self.records.clone();
        records.push(record);
        self.save(records)?;
        Ok(secret)
    }

    /// Puts a new secret in the place of a key's old one, which is refused from now on. All else that
    /// belongs to the key stays.
    ///
    /// # Errors
    /// If there is no key of that name, or the new one cannot be kept.
    pub fn rotate(&mut self, name: &KeyName) -> Result<SecretString, KeyChangeError> {
        let place = self.place_of(name)?;
        let (secret, record) = new_key(self.records[place].id.clone(), name.clone())?;
        let mut records = self.records.clone();
        records[place] = record;
        self.save(records)?;
        Ok(secret)
    }

    /// Makes a key worthless, and its id with it.
    ///
    /// # Errors
    /// If there is no key of that name, or the list cannot be written.
    pub fn revoke(&mut self, name: &KeyName) -> Result<(), KeyChangeError> {
        if *name == KeyName::DEFAULT {
            return Err(KeyChangeError::Indispensable);
        }
        let place = self.place_of(name)?;
        let mut records = self.records.clone();
        records.remove(place);
        Ok(self.save(records)?)
    }

    fn place_of(&self, name: &KeyName) -> Result<usize, KeyChangeError> {
        self.records.iter().position(|record| record.name == *name).ok_or_else(|| {
            let known = self.records.iter().map(|record| record.name.clone()).collect();
            KeyChangeError::Unknown { name: name.clone(), known }
        })
    }

    fn save(&mut self, records: Vec<Record>) -> Result<(), KeyError> {
        let document = Document { version: VERSION, keys: records };
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| KeyError::at(&self.path)(error.into()))?;
        private::replace(&self.path, &(text + "\n"))?;
        self.records = document.keys;
        Ok(())
    }
}

fn new_key(id: KeyId, name: KeyName) -> Result<(SecretString, Record), KeyError> {
    let secret = random_key()?;
    let sha256 = KeyDigest::of(&secret);
    Ok((secret.into(), Record { id, name, sha256, since: to_the_second(Timestamp::now()) }))
}

/// Nobody wants to read more of a time.
pub(crate) fn to_the_second(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

/// No file is no keys.
pub(crate) fn read(path: &Path, warnings: &mut Vec<Warning>) -> Result<Vec<Record>, KeyError> {
    let Some(content) = private::read(path, warnings)? else {
        return Ok(Vec::new());
    };
    parse(&content).map_err(|reason| KeyError::DamagedList { path: path.to_owned(), reason })
}

fn parse(content: &[u8]) -> Result<Vec<Record>, String> {
    // Nothing of the file itself is told: it may be a key in the wrong place.
    let place = |error: serde_json::Error| format!("line {} is not as it must be", error.line());
    let form: Form = serde_json::from_slice(content).map_err(place)?;
    let records: Vec<Record> = match form.version {
        WITHOUT_IDS => {
            let document: Document<RecordWithoutId> =
                serde_json::from_slice(content).map_err(place)?;
            document.keys.into_iter().map(Record::from).collect()
        }
        VERSION => serde_json::from_slice::<Document<Record>>(content).map_err(place)?.keys,
        other => {
            return Err(format!("version {other} is not known, only {WITHOUT_IDS} and {VERSION}"));
        }
    };
    for (place, Record { id, name, .. }) in records.iter().enumerate() {
        let earlier = &records[..place];
        if name.is_reserved() || earlier.iter().any(|earlier| earlier.name == *name) {
            return Err(format!("the name {name} belongs to another key"));
        }
        // Two keys with one id would read each other's data.
        if *id == KeyId::DEFAULT || earlier.iter().any(|earlier| earlier.id == *id) {
            return Err(format!("the id of {name} belongs to another key"));
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests;
