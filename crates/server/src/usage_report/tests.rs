use codex_app_server::account::Account;
use jiff::civil::date;

use super::*;
use crate::account_limits::Allowance;

const TODAY: Date = date(2026, 3, 10);

#[test]
fn what_is_not_asked_for_is_the_last_thirty_days() {
    let days = |from, to| UsageQuery { from, to, key: UsageKey::Any, model: None };
    for (query, expected) in [
        ("", days(date(2026, 2, 9), TODAY)),
        ("from=2026-01-01", days(date(2026, 1, 1), TODAY)),
        ("to=2024-03-01", days(date(2024, 2, 1), date(2024, 3, 1))),
        ("to=2026-01-01&from=2026-01-01", days(date(2026, 1, 1), date(2026, 1, 1))),
        (
            "key=of%20mine&model=gpt-5.5%3Alow&&",
            UsageQuery {
                key: UsageKey::Called("of mine".to_owned()),
                model: Some("gpt-5.5:low".to_owned()),
                ..days(date(2026, 2, 9), TODAY)
            },
        ),
    ] {
        assert_eq!(parse(query, TODAY), Ok(expected), "{query}");
    }
}

#[test]
fn what_cannot_be_asked_for_is_named() {
    for (query, param, code) in [
        ("form=2026-01-01", "form", "unknown_parameter"),
        ("from=2026-01-01&limit", "limit", "unknown_parameter"),
        ("FROM=2026-01-01", "FROM", "unknown_parameter"),
        ("from=", "from", "invalid_value"),
        ("key=", "key", "invalid_value"),
        ("model=a&model=a", "model", "invalid_value"),
        ("from=yesterday", "from", "invalid_value"),
        ("from=2026-02-29", "from", "invalid_value"),
        ("from=2026-1-1", "from", "invalid_value"),
        ("from=20260101", "from", "invalid_value"),
        ("to=2026-01-01T00:00", "to", "invalid_value"),
        ("to=1772323200", "to", "invalid_value"),
        ("to=-000001-01-01", "to", "invalid_value"),
        ("from=2026-03-11", "from", "invalid_value"),
        ("from=2026-02-02&to=2026-02-01", "from", "invalid_value"),
        ("%ff=1", "\u{fffd}", "unknown_parameter"),
    ] {
        let error = parse(query, TODAY).expect_err(query);
        let told = (error.status, error.param.as_deref(), error.code.as_deref());
        assert_eq!(told, (400, Some(param), Some(code)), "{query}: {error}");
    }
    let message = parse("since=1", TODAY).unwrap_err().message;
    assert_eq!(message, "There is no parameter of this name. There are from, to, key, model.");
}

#[test]
fn an_account_has_the_same_members_in_any_case() {
    let window = LimitWindow {
        used_percent: 12,
        length: Some(Duration::from_hours(5)),
        resets_at: Some(2_100_000_000),
    };
    let standing = AccountStanding::WithAllowance(Box::new(Allowance {
        account: Account::ApiKey,
        limits: RateLimits {
            primary: Some(window),
            secondary: None,
            plan: Some("plus".to_owned()),
            credits: Some("unlimited".to_owned()),
            reached: Some("primary".to_owned()),
        },
        as_of: 1_772_323_200,
    }));
    assert_eq!(
        shown_account(&standing),
        json!({
            "signed_in": true, "reason": null, "plan": "plus",
            "primary": {"used_percent": 12, "window_minutes": 300, "resets_at": 2_100_000_000},
            "secondary": null, "credits": "unlimited", "reached": "primary", "as_of": 1_772_323_200,
        })
    );
    for (standing, signed_in, reason) in [
        (AccountStanding::NotAsked, None, "Codex is still starting"),
        (AccountStanding::SignedOut, Some(false), "nobody is signed in to Codex"),
        (AccountStanding::WithoutAllowance, Some(true), "only a ChatGPT login has an allowance"),
        (
            AccountStanding::Unknown { account: None, reason: "no network".to_owned() },
            Some(true),
            "no network",
        ),
    ] {
        assert_eq!(
            shown_account(&standing),
            json!({
                "signed_in": signed_in, "reason": reason, "plan": null, "primary": null,
                "secondary": null, "credits": null, "reached": null, "as_of": null,
            })
        );
    }
}

#[test]
fn row_22_a_client_reaches_the_usage_of_its_own_key_only() {
    let phone = Caller::with_id("key_1", "phone");
    let called = |key: &str| UsageKey::Called(key.to_owned());
    for asked in [UsageKey::Any, called("phone"), called("key_1")] {
        assert_eq!(within_reach(asked, &phone), Ok(UsageKey::Only("key_1".to_owned())));
    }
    for asked in ["default", "laptop", "key_2", "Phone", "key_"] {
        let error = within_reach(called(asked), &phone).unwrap_err();
        assert_eq!(
            error,
            ApiError {
                param: Some("key".to_owned()),
                ..ApiError::new(
                    403,
                    ErrorType::PermissionError,
                    "A client's key shows its own usage only: key must be phone or key_1, or left \
                     out. The usage of other keys needs the key of the server's owner.",
                )
                .with_code("owner_key_required")
            }
        );
    }
}
