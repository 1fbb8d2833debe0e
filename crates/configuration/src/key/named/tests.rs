use std::thread;

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::*;
use crate::key::private::mode_of;
use crate::key::tests::{place, set_mode, settings};

fn name(text: &str) -> KeyName {
    text.parse().unwrap()
}

fn names(keys: &NamedKeys) -> Vec<&str> {
    keys.records.iter().map(|record| record.name.as_str()).collect()
}

#[test]
fn row_5_keys_are_kept_as_digests_that_nobody_else_can_read() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let secret = NamedKeys::open(&settings).unwrap().add(name("phone")).unwrap();
    let secret = secret.expose_secret();
    assert!(secret.starts_with("sk-proxy-") && secret.len() == 52, "{secret}");

    let path = NamedKeys::file(&settings);
    let text = std::fs::read_to_string(&path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let [id, since] = ["id", "since"].map(|member| file["keys"][0][member].clone());
    let digest = String::from(KeyDigest::of(secret));
    let phone = json!({"id": id, "name": "phone", "sha256": digest, "since": since});
    assert_eq!(file, json!({"version": 2, "keys": [phone]}));
    assert!(id.as_str().unwrap().starts_with("key_"), "{id}");
    assert_eq!(since.as_str().unwrap().len(), "2026-01-01T00:00:00Z".len());
    assert!(!text.contains(secret));
    for file in std::fs::read_dir(&data).unwrap() {
        assert_eq!(mode_of(&file.unwrap().path()).unwrap() & 0o777, 0o600);
    }
    assert_eq!(mode_of(&data).unwrap() & 0o777, 0o700);
}

#[test]
fn row_5_keys_are_added_rotated_and_revoked() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let mut keys = NamedKeys::open(&settings).unwrap();
    for added in ["phone", "laptop", "Phone"] {
        keys.add(name(added)).unwrap();
    }
    let before = keys.records.clone();
    let rotated = keys.rotate(&name("laptop")).unwrap();
    keys.revoke(&name("phone")).unwrap();
    let kept = keys.records.clone();
    drop(keys);

    let keys = NamedKeys::open(&settings).unwrap();
    assert_eq!(keys.records, kept);
    assert_eq!(names(&keys), ["laptop", "Phone"]);
    assert_eq!(keys.records[0].sha256, KeyDigest::of(rotated.expose_secret()));
    assert_ne!(keys.records[0].sha256, before[1].sha256);
    assert_eq!(keys.records[1], before[2]);
}

#[test]
fn what_cannot_be_changed_is_explained_and_stays() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let mut keys = NamedKeys::open(&settings).unwrap();
    let refusals = |keys: &mut NamedKeys| {
        [
            keys.revoke(&name("nobody")).unwrap_err(),
            keys.rotate(&name("nobody")).unwrap_err(),
            keys.revoke(&name("default")).unwrap_err(),
            keys.add(name("Default")).unwrap_err(),
        ]
        .map(|error| error.to_string())
    };
    let indispensable =
        "the key default cannot be revoked, only replaced: `codex-completions key rotate`";
    let reserved = "default is the name of the server's own key; choose another";
    let unknown = "there is no key named nobody; there are no named keys";
    assert_eq!(refusals(&mut keys), [unknown, unknown, indispensable, reserved]);
    assert!(!NamedKeys::file(&settings).exists());

    keys.add(name("a")).unwrap();
    keys.add(name("b")).unwrap();
    let before = std::fs::read(NamedKeys::file(&settings)).unwrap();
    let unknown = "there is no key named nobody; there are: a, b";
    assert_eq!(refusals(&mut keys), [unknown, unknown, indispensable, reserved]);
    assert_eq!(
        keys.add(name("b")).unwrap_err().to_string(),
        "there is a key named b already; choose another name, or replace it with \
         `codex-completions key rotate b`"
    );
    assert_eq!(std::fs::read(NamedKeys::file(&settings)).unwrap(), before);
    assert_eq!(names(&keys), ["a", "b"]);
}

#[test]
fn no_key_is_lost_when_several_are_added_at_once() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    thread::scope(|scope| {
        for number in 0..8 {
            let settings = &settings;
            scope.spawn(move || {
                NamedKeys::open(settings).unwrap().add(name(&format!("key-{number}"))).unwrap();
            });
        }
    });
    let keys = NamedKeys::open(&settings).unwrap();
    let mut names = names(&keys);
    names.sort_unstable();
    let expected: Vec<_> = (0..8).map(|number| format!("key-{number}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn a_damaged_list_is_refused_and_left_as_it_is() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    NamedKeys::open(&settings).unwrap().add(name("phone")).unwrap();
    let path = NamedKeys::file(&settings);
    let good = std::fs::read_to_string(&path).unwrap();
    let mut twice: Value = serde_json::from_str(&good).unwrap();
    let key = twice["keys"][0].clone();
    twice["keys"].as_array_mut().unwrap().push(key.clone());
    let with_ids = |a: &str, b: &str| {
        let with_id = |id: &str, name: &str| json!({"id": id, "name": name, "sha256": key["sha256"], "since": key["since"]});
        json!({"version": 2, "keys": [with_id(a, "a"), with_id(b, "b")]}).to_string()
    };
    for (content, reason) in [
        (String::new(), "line 1 is not as it must be"),
        ("sk-canary".to_owned(), "line 1 is not as it must be"),
        ("{\n\"version\": \"sk-canary\"}".to_owned(), "line 2 is not as it must be"),
        (good.replace("sha256\": \"", "sha256\": \"sk-canary"), "line 7 is not as it must be"),
        (good.replace("key_", "sk canary"), "line 5 is not as it must be"),
        (good.replace("phone", "sk canary"), "line 6 is not as it must be"),
        (good.replace("since", "sk-canary"), "line 8 is not as it must be"),
        (good.replace("phone", "DEFAULT"), "the name DEFAULT belongs to another key"),
        (twice.to_string(), "the name phone belongs to another key"),
        (good.replace("2,", "1,"), "line 5 is not as it must be"),
        (with_ids("default", "key_b"), "the id of a belongs to another key"),
        (with_ids("key_a", "key_a"), "the id of b belongs to another key"),
        (r#"{"version": 3, "other": []}"#.to_owned(), "version 3 is not known, only 1 and 2"),
    ] {
        std::fs::write(&path, &content).unwrap();
        let expected = format!(
            "{} is no list of keys ({reason}); put a good copy in its place, or delete it, and every \
             named key is revoked",
            path.display()
        );
        assert_eq!(NamedKeys::open(&settings).unwrap_err().to_string(), expected, "{content}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn row_5_a_list_that_others_could_read_is_closed_and_told() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    NamedKeys::open(&settings).unwrap().add(name("phone")).unwrap();
    let path = NamedKeys::file(&settings);
    set_mode(&data, 0o770);
    set_mode(&path, 0o640);
    let warnings = NamedKeys::open(&settings).unwrap().warnings;
    let tightened = |path: &Path| Warning::Tightened { path: path.to_owned() };
    assert_eq!(warnings, [tightened(&data), tightened(&path)]);
    assert_eq!(mode_of(&path).unwrap() & 0o777, 0o600);
}

fn id_of<'a>(keys: &'a NamedKeys, name: &str) -> &'a KeyId {
    &keys.records.iter().find(|record| record.name.as_str() == name).unwrap().id
}

#[test]
fn row_22_rotation_keeps_the_id_and_a_key_added_after_revocation_has_another() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    let mut keys = NamedKeys::open(&settings).unwrap();
    keys.add(name("phone")).unwrap();
    keys.add(name("laptop")).unwrap();
    let [phone, laptop] = ["phone", "laptop"].map(|name| id_of(&keys, name).clone());
    assert_ne!(phone, laptop);
    keys.rotate(&name("phone")).unwrap();
    assert_eq!(*id_of(&keys, "phone"), phone);
    keys.revoke(&name("phone")).unwrap();
    keys.add(name("phone")).unwrap();
    assert_ne!(*id_of(&keys, "phone"), phone);
    assert_eq!(*id_of(&keys, "laptop"), laptop);
}

/// What 0.1.0 has stored for a key belongs to its name.
#[test]
fn row_22_keys_of_0_1_0_have_their_names_as_ids_until_they_are_revoked() {
    let (_parent, data) = place();
    let settings = settings(&data, "");
    NamedKeys::open(&settings).unwrap().add(name("any")).unwrap();
    let digest = String::from(KeyDigest::of("sk-old"));
    let record = |name| json!({"name": name, "sha256": digest, "since": "2026-01-31T00:00:00Z"});
    let old = json!({"version": 1, "keys": [record("phone"), record("laptop")]});
    std::fs::write(NamedKeys::file(&settings), old.to_string()).unwrap();

    let mut keys = NamedKeys::open(&settings).unwrap();
    let ids = |keys: &NamedKeys| ["phone", "laptop"].map(|name| id_of(keys, name).to_string());
    assert_eq!(ids(&keys), ["phone", "laptop"]);
    assert_eq!(keys.records[0].sha256, KeyDigest::of("sk-old"));
    keys.rotate(&name("phone")).unwrap();
    drop(keys);

    let text = std::fs::read_to_string(NamedKeys::file(&settings)).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&file["version"], &file["keys"][1]["id"]), (&json!(2), &json!("laptop")));
    let mut keys = NamedKeys::open(&settings).unwrap();
    assert_eq!(ids(&keys), ["phone", "laptop"]);
    keys.revoke(&name("phone")).unwrap();
    keys.add(name("phone")).unwrap();
    assert!(id_of(&keys, "phone").as_str().starts_with("key_"));
}
