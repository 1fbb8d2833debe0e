//! Signing in on the page, with a scripted issuer.

use std::time::SystemTime;

use testkit::{Consent, IssuedAccount, ScriptedIssuer};

use super::alone;
use crate::browser::{KEY, drive};
use crate::server::Server;
use crate::user::User;

/// Runs a program whose issuer does what it asks for.
async fn sign_in(program: &str) -> ScriptedIssuer {
    let (user, issuer) = (User::new().await, ScriptedIssuer::start().await);
    issuer.change(|script| script.commit_attribution = true);
    let mut command = user.command_at(&issuer, &["serve", "--port", "0"]);
    command.env("PROXY_API_KEY", KEY);
    let server = Server::spawn(command);
    drive(program, &server.address, |wish| {
        let consent = match wish {
            "url of the issuer" => return issuer.url(),
            "reset the limits soon" => {
                let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
                let resets_at = Some([now + 2 * 3_600 + 600, now + 3 * 86_400]);
                issuer.change(|script| script.resets_at = resets_at);
                return String::new();
            }
            "consent as another account" => {
                issuer.change(|script| script.account = IssuedAccount::another());
                Consent::Given
            }
            "consent pending" => Consent::Pending,
            "consent given" => Consent::Given,
            "consent denied" => Consent::Denied,
            _ => return alone(wish),
        };
        issuer.change(|script| script.consent = consent);
        String::new()
    });
    issuer
}

// The issuer lives in this process, next to a program that is waited for: hence several threads.
#[tokio::test(flavor = "multi_thread")]
async fn row_21_a_code_signs_in_another_account_is_confirmed_and_the_page_signs_out() {
    let issuer = sign_in("sign_in_with_a_code.mjs").await;
    // The account that was declined, and the one that signed out.
    assert_eq!(issuer.requests_at("/oauth/revoke").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_signs_in() {
    let issuer = sign_in("sign_in_with_a_browser.mjs").await;
    assert_eq!(issuer.requests_at("/oauth/authorize").len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it changes the pictures in docs/: `scripts/screenshots`"]
async fn the_pictures_of_the_documentation_are_taken() {
    sign_in("screenshots.mjs").await;
}
