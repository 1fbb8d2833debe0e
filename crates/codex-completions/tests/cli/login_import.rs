//! `login --import`: the login of another Codex, and what two copies of it mean.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::Value;
use testkit::{RefreshTokens, ScriptedIssuer};

use crate::user::{User, err, out};

fn home_of(user: &User) -> PathBuf {
    user.folder.path().join("codex-home")
}

fn refresh_token_of(user: &User) -> Value {
    let login = std::fs::read(home_of(user).join("auth.json")).unwrap();
    let login: Value = serde_json::from_slice(&login).unwrap();
    login["tokens"]["refresh_token"].clone()
}

// The issuer lives in this process, next to commands that are waited for: hence several threads.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_copies_the_one_that_refreshes_first_goes_on() {
    let (other, issuer) = (User::new().await, ScriptedIssuer::start().await);
    issuer.change(|script| script.refresh_tokens = RefreshTokens::Once);
    assert!(other.command_at(&issuer, &["login"]).output().unwrap().status.success());

    let user = User::new().await;
    let folder = home_of(&other);
    let import = user
        .command_at(&issuer, &["login", "--import"])
        .env("CODEX_HOME", &folder)
        .output()
        .unwrap();
    assert!(import.status.success(), "{}", err(&import));
    let said = out(&import);
    assert!(said.starts_with(&format!("Copied the login of {}.\n", folder.display())), "{said}");
    assert!(said.contains("two copies of this login now, with the same refresh token"), "{said}");
    assert!(said.ends_with("Signed in as me@example.com (plan plus, workspace Home).\n"), "{said}");
    let copy = std::fs::metadata(home_of(&user).join("auth.json")).unwrap();
    assert_eq!(copy.permissions().mode() & 0o777, 0o600);
    assert_eq!(
        (refresh_token_of(&user), refresh_token_of(&other)),
        ("refresh-1".into(), "refresh-1".into())
    );

    // The copy refreshes: it goes on with new tokens, of which the other does not know.
    let refreshed = user.command_at(&issuer, &["status", "--refresh"]).output().unwrap();
    assert!(out(&refreshed).starts_with("Signed in as "), "{}", out(&refreshed));
    assert_eq!(
        (refresh_token_of(&user), refresh_token_of(&other)),
        ("refresh-2".into(), "refresh-1".into())
    );
    // That one's refresh comes to nothing. It still has its access token, for as long as that is good.
    let late = other.command_at(&issuer, &["status", "--refresh"]).output().unwrap();
    assert!(out(&late).starts_with("Nobody is signed in"), "{}", out(&late));
    let later = other.command_at(&issuer, &["status"]).output().unwrap();
    assert!(out(&later).starts_with("Signed in as "), "{}", out(&later));
}

#[tokio::test]
async fn an_api_key_is_copied_and_nothing_is_overwritten_by_accident() {
    let user = User::new().await;
    let folder = user.folder.path().join("theirs");
    std::fs::create_dir(&folder).unwrap();
    let import = |more: &[&str]| {
        let import = ["login", "--import", folder.to_str().unwrap()];
        user.run(&[&import, more].concat())
    };
    let missing = import(&[]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(err(&missing).starts_with("error: there is no login at "), "{}", err(&missing));
    assert!(err(&missing).contains("login` signs you in"), "{}", err(&missing));

    let file = folder.join("auth.json");
    std::fs::write(&file, r#"{"auth_mode":"apikey","OPENAI_API_KEY":"sk-1"}"#).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let expected =
        format!("Copied the login of {}.\nSigned in with an API key.\n", folder.display());
    assert_eq!(out(&import(&[])), expected);

    let again = import(&[]);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(err(&again), "error: there is a login already; --force replaces it\n");
    assert_eq!(out(&import(&["--force"])), expected);
}
