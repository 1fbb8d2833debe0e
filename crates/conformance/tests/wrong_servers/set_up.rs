//! Mistakes of whoever runs the kit, which are no faults of a server.

use super::*;
use crate::filter::Answer;

/// What the kit says of a server that alters every answer so.
async fn told(alter: fn(&mut Answer), model: Option<&str>) -> String {
    let scripted = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let filter = Filter::start(scripted.address(), Fault::Altered(alter)).await;
    let server = Server::parse(&filter.base_url(), Some(filter::KEY.to_owned())).unwrap();
    let model = model.map(str::to_owned);
    unable(&Plan { server, model, ..plain_plan("http://a/v1") }).await
}

#[tokio::test]
async fn a_wrong_key_or_path_is_told_as_such() {
    let key: fn(&mut Answer) = |answer| answer.refuse(401, "wrong key");
    let page: fn(&mut Answer) = |answer| {
        answer.content_type = "text/html; charset=utf-8".to_owned();
        answer.body = "<!doctype html><title>Hello</title>".to_owned();
    };
    let nowhere: fn(&mut Answer) = |answer| answer.refuse(404, "no such path");
    let elsewhere: fn(&mut Answer) = |answer| {
        answer.refuse(308, "");
        answer.content_type = "text/plain\r\nlocation: https://elsewhere.example/v1".to_owned();
    };
    for (alter, answer, advice) in [
        (key, "401 (wrong key)", "is the key right"),
        (page, "200 (<!doctype html><title>Hello</title>)", "is /v1 missing"),
        (nowhere, "404 (no such path)", "is /v1 missing"),
        (elsewhere, "308 to https://elsewhere.example/v1", "give the URL that it points to"),
    ] {
        for (model, asked) in [(None, "GET"), (Some("m"), "POST")] {
            let told = told(alter, model).await;
            assert!(told.starts_with(asked), "{told}");
            assert!(told.contains(&format!(" was answered with {answer}: ")), "{told}");
            assert!(told.contains(advice), "{told}");
        }
    }
}

#[tokio::test]
async fn no_model_is_told_as_such() {
    let told = told(|answer| answer.body = "{\"data\": []}".to_owned(), None).await;
    assert!(told.contains("it lists no model; say with --model"), "{told}");
}

/// The first model that is listed may be one that nobody can talk to.
#[tokio::test]
async fn a_model_that_answers_is_asked() {
    let scripted = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let fault = Fault::Altered(|answer| {
        if answer.path.ends_with("/models") {
            answer.body = "{\"data\": [{\"id\": \"text-embedding-3\"}, {\"id\": \"demo\x1b[2J\"}]}"
                .replace('\x1b', "\\u001b");
        }
    });
    let filter = Filter::start(scripted.address(), fault).await;
    let server = Server::parse(&filter.base_url(), Some(filter::KEY.to_owned())).unwrap();
    let only = vec!["models-list".parse().unwrap()];
    let report = run(&Plan { server, only, ..plain_plan("http://a/v1") }).await.unwrap();
    assert_eq!(report.model, "demo\\u{1b}[2J");
}

#[tokio::test]
async fn a_model_that_is_not_scripted_is_told_as_such() {
    let scripted = ScriptedModel::for_gateways(([127, 0, 0, 1], 0).into()).await.unwrap();
    let fault = Fault::Altered(|answer| {
        answer.body = answer.body.replace("Hello from the scripted model.", "Hm?");
        if answer.is_stream() {
            answer.refuse(500, "no streams here");
        }
    });
    let filter = Filter::start(scripted.address(), fault).await;
    let server = Server::parse(&filter.base_url(), Some(filter::KEY.to_owned())).unwrap();
    let model = Some("demo".to_owned());
    let upstream = ScriptedUpstream::Marks;
    let told = unable(&Plan { server, model, upstream, only: Vec::new() }).await;
    assert!(told.contains("is not the scripted one"), "{told}");
    assert!(told.contains("it said \"Hm?\""), "{told}");
}

#[test]
fn rules_are_chosen_by_name_or_by_how_they_begin() {
    for fit in ["chat-answers", "chat-*", "*"] {
        assert!(fit.parse::<Selection>().is_ok(), "{fit}");
    }
    for unfit in ["chat-", "nothing-*", "", "chat-*-x"] {
        assert!(unfit.parse::<Selection>().is_err(), "{unfit}");
    }
}
