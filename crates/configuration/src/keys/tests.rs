use super::*;
use crate::key::tests::{place, set_mode, settings};

fn named(settings: &Settings, name: &str) -> Key {
    let secret = NamedKeys::open(settings).unwrap().add(name.parse().unwrap()).unwrap();
    let path = NamedKeys::file(settings);
    let records = named::read(&path, &mut Vec::new()).unwrap();
    Key {
        id: records.last().map(|record| record.id.clone()).unwrap(),
        name: name.parse().unwrap(),
        digest: KeyDigest::of(secret.expose_secret()),
        since: records.last().map(|record| record.since),
        kept: Kept::Digest(path),
    }
}

#[test]
fn row_5_the_default_key_and_the_named_ones_are_accepted() {
    let (_parent, data) = place();
    let generated = settings(&data, "");
    let default = ApiKey::obtain(&generated).unwrap();
    let path = ApiKey::file(&generated);
    let default = Key {
        id: KeyId::DEFAULT,
        name: KeyName::DEFAULT,
        digest: KeyDigest::of(default.secret.expose_secret()),
        since: last_change(&path),
        kept: Kept::Whole(path),
    };
    assert!(default.since.is_some());
    let phone = named(&generated, "phone");
    let laptop = named(&generated, "laptop");
    let keys = vec![default, phone.clone(), laptop.clone()];
    assert_eq!(Keys::load(&generated).unwrap(), Keys { keys, warnings: Vec::new() });

    let default = Key {
        id: KeyId::DEFAULT,
        name: KeyName::DEFAULT,
        digest: KeyDigest::of("chosen"),
        since: None,
        kept: Kept::Setting,
    };
    let keys = vec![default, phone, laptop];
    let given = settings(&data, "chosen");
    assert_eq!(Keys::load(&given).unwrap(), Keys { keys, warnings: Vec::new() });
}

/// A server that runs goes on with the keys that it has.
#[test]
fn no_default_key_is_made_where_one_is_missing() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    assert_eq!(Keys::list(&settings).unwrap(), Keys { keys: Vec::new(), warnings: Vec::new() });
    assert!(!data.exists());
    let phone = named(&settings, "phone");
    assert_eq!(Keys::list(&settings).unwrap().keys, [phone]);
    let [path, _] = Keys::files(&settings);
    let error = Keys::load(&settings).unwrap_err();
    assert!(matches!(&error, KeyError::Missing(missing) if *missing == path), "{error}");
    assert!(!path.exists());
}

/// Anybody could have put a list of their own there.
#[test]
fn row_5_a_list_in_a_shared_folder_is_not_believed() {
    let (_parent, data) = place();
    let settings = settings(&data, "chosen");
    named(&settings, "phone");
    set_mode(&data, 0o1777);
    let error = Keys::load(&settings).unwrap_err();
    assert!(matches!(&error, KeyError::SharedFolder(folder) if *folder == data), "{error}");
}

#[test]
fn row_5_neither_a_key_nor_its_digest_is_in_what_is_printed_for_debugging() {
    let (_parent, data) = place();
    let settings = settings(&data, "chosen");
    let keys = format!("{:?}", Keys::load(&settings).unwrap());
    assert!(keys.contains("digest: KeyDigest(..)") && !keys.contains("chosen"), "{keys}");
}
