//! Files that are there already, and those that are not.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rusqlite::Connection;
use store::{Conversation, FoundResponse, Store, StoreError, StoredItem, StoredResponse, UsageRow};

use crate::folder::{Folder, report, turn};
use crate::responses::{found, response};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn row_5_the_database_is_for_nobody_else() {
    let folder = Folder::new();
    let path = folder.path();
    let inside = path.parent().unwrap();
    std::fs::create_dir(inside).unwrap();
    std::fs::set_permissions(inside, std::fs::Permissions::from_mode(0o755)).unwrap();
    let usage = folder.open().usage();
    usage.record(turn("a"));
    usage.flush().await;
    assert_eq!(mode(inside), 0o700);
    let files: Vec<_> =
        std::fs::read_dir(inside).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "the database, its log and its index: {files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
}

#[tokio::test]
async fn what_was_written_is_there_again() {
    let folder = Folder::new();
    for opened in 1..=3 {
        let usage = folder.open().usage();
        usage.record(turn("a"));
        assert_eq!(report(&usage).await.totals.turns, opened);
    }
}

#[tokio::test]
async fn a_settled_database_is_one_file() {
    let folder = Folder::new();
    let store = folder.open();
    store.usage().record(turn("a"));
    store.settle().await;
    let copy = folder.path().with_file_name("copy");
    std::fs::copy(folder.path(), &copy).unwrap();
    assert_eq!(report(&Store::open(&copy).unwrap().usage()).await.totals.turns, 1);
}

/// What is not ours, or not understood, is refused and stays as it was.
#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let refused = |content: &dyn Fn(&Path)| {
        let folder = Folder::new();
        let path = folder.path();
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        content(&path);
        let before = std::fs::read(&path).unwrap();
        let error = Store::open(&path).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), before, "{error}");
        error
    };
    let database = |commands: &'static str| {
        refused(&|path| Connection::open(path).unwrap().execute_batch(commands).unwrap())
    };

    let newer = database("PRAGMA application_id = 0x43784370; PRAGMA user_version = 99");
    assert!(matches!(newer, StoreError::Newer { found: 99, .. }), "{newer:?}");
    let foreign = database("PRAGMA application_id = 7; CREATE TABLE usage (a)");
    assert!(matches!(foreign, StoreError::Foreign), "{foreign:?}");
    let unmarked = database("CREATE TABLE notes (a)");
    assert!(matches!(unmarked, StoreError::Foreign), "{unmarked:?}");
    let text = refused(&|path| std::fs::write(path, "not a database, ".repeat(100)).unwrap());
    assert_eq!(text.to_string(), "file is not a database");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let folder = Folder::new();
    let file = folder.path().parent().unwrap().to_owned();
    std::fs::write(&file, "in the way").unwrap();
    assert!(matches!(Store::open(&folder.path()), Err(StoreError::File(_))));
}

#[tokio::test]
async fn several_servers_make_it_at_the_same_time() {
    let folder = Folder::new();
    let path = folder.path();
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || Store::open(&path).unwrap())
        })
        .collect();
    let stores: Vec<Store> = opening.into_iter().map(|thread| thread.join().unwrap()).collect();
    for store in &stores {
        store.usage().record(turn("a"));
    }
    for store in &stores {
        store.flush().await;
    }
    assert_eq!(report(&stores[0].usage()).await.totals.turns, 8);
}

/// A database of 0.1.0 after its first two steps.
fn of_0_1_0(folder: &Folder) -> Connection {
    std::fs::create_dir(folder.path().parent().unwrap()).unwrap();
    let older = folder.other();
    older.execute_batch("PRAGMA auto_vacuum = incremental; PRAGMA journal_mode = wal").unwrap();
    older.execute_batch(include_str!("../../src/migrations/1_usage.sql")).unwrap();
    older.execute_batch(include_str!("../../src/migrations/2_responses.sql")).unwrap();
    older.execute_batch("PRAGMA application_id = 0x43784370; PRAGMA user_version = 2").unwrap();
    older
}

#[tokio::test]
async fn row_22_what_0_1_0_stored_for_a_name_belongs_to_the_id_of_that_name() {
    let folder = Folder::new();
    let older = of_0_1_0(&folder);
    for (number, key) in [(1, "phone"), (2, "default")] {
        older
            .execute_batch(&format!(
                "INSERT INTO conversations VALUES ({number}, '{key}', 1, 1, 9, 0);
                 INSERT INTO responses VALUES (
                     {number}, 'a', '{key}', 1, NULL, {number}, 9, zeroblob(4096), '{{}}', '\"in\"\"out\"'
                 );
                 INSERT INTO response_items (response, side, position, id, start, bytes)
                     VALUES ({number}, 0, 0, '{key}-in', 0, 4), ({number}, 1, 0, '{key}-out', 4, 5);
                 UPDATE responses_held SET responses = responses + 1, bytes = bytes + 9;
                 INSERT INTO usage VALUES (
                     {number}, 1, 'r', 0, '{key}', 'chat', 'gpt-5.5', 'chat', 0, 'openai-json',
                     'burst', 'completed', 0, 0, 0, 1, 0, 1, 0, 0, NULL, 5
                 );"
            ))
            .unwrap();
    }
    drop(older);

    let store = folder.open();
    let responses = store.responses();
    let out = |key: &str| StoredItem { id: format!("{key}-out"), json: r#""out""#.to_owned() };
    for key in ["phone", "default"] {
        let expected = FoundResponse { body: "{}".to_owned(), output: vec![out(key)] };
        assert_eq!(responses.find(key, "a").await.unwrap(), Some(expected));
        let found = responses.items(key, vec!["phone-in".to_owned()]).await.unwrap();
        assert_eq!(found.is_empty(), key != "phone");
        assert!(matches!(
            responses.conversation(key, "a").await.unwrap(),
            Conversation::Whole(items) if items.len() == 2
        ));
    }
    assert_eq!(responses.find("key_new", "a").await.unwrap(), None);

    // The conversation continues under the same id, and what both kinds of rows used is one sum.
    let next = StoredResponse { key: "phone".to_owned(), ..response("b", Some("a")) };
    responses.keep(next).await.unwrap();
    assert!(matches!(
        responses.conversation("phone", "b").await.unwrap(),
        Conversation::Whole(items) if items.len() == 4
    ));
    let named = |id: &str, name: &str| UsageRow {
        key_id: id.to_owned(),
        key_name: name.to_owned(),
        ..turn("a")
    };
    store.usage().record(named("phone", "phone"));
    store.usage().record(named("key_new", "phone"));
    let sums = report(&store.usage()).await;
    let by_key: Vec<_> = sums
        .by_key
        .iter()
        .map(|key| (key.id.as_str(), key.name.as_str(), key.sums.turns))
        .collect();
    let expected = [("phone", "phone", 2), ("default", "default", 1), ("key_new", "phone", 1)];
    assert_eq!(by_key, expected);
}

/// Indexes and the rule that ids are unique follow the column that was renamed.
#[test]
fn row_22_every_index_of_0_1_0_is_on_the_id() {
    let folder = Folder::new();
    drop(of_0_1_0(&folder));
    drop(folder.open());
    let columns = |index: &str| -> Vec<String> {
        let database = folder.other();
        let mut select = database.prepare("SELECT name FROM pragma_index_info(?1)").unwrap();
        select.query_map([index], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(columns("conversations_by_key"), ["expired", "key_id", "used_at"]);
    assert_eq!(columns("sqlite_autoindex_responses_1"), ["key_id", "id"]);
    let left: i64 = folder
        .other()
        .query_row(
            "SELECT COUNT(*) FROM sqlite_schema WHERE sql LIKE '%key_name%' AND name <> 'usage'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(left, 0);
}

/// One that was made before there were responses.
#[tokio::test]
async fn an_older_database_is_brought_up_to_date_and_can_shrink() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().parent().unwrap()).unwrap();
    let older = folder.other();
    older.execute_batch(include_str!("../../src/migrations/1_usage.sql")).unwrap();
    older
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA application_id = 0x43784370; PRAGMA user_version = 1",
        )
        .unwrap();
    drop(older);
    let store = folder.open();
    store.usage().record(turn("a"));
    store.responses().keep(response("a", None)).await.unwrap();
    assert_eq!(report(&store.usage()).await.totals.turns, 1);
    let found_again = folder.open().responses().find("default", "a").await.unwrap();
    assert_eq!(found_again, found(&response("a", None)));
    let auto_vacuum: i64 =
        folder.other().query_row("PRAGMA auto_vacuum", (), |row| row.get(0)).unwrap();
    assert_eq!(auto_vacuum, 2, "incremental");
}
