use super::*;

#[test]
fn every_model_becomes_quiet_and_demo_is_added() {
    let bundled = json!({"models": [
        {"slug": "a", "tool_mode": "code_mode_only", "use_responses_lite": true, "priority": 1,
         "base_instructions": "You are…", "multi_agent_version": "v2", "kept": [1]},
        {"slug": "b", "use_responses_lite": false},
    ]});
    let patched = patch(bundled, Dialect::AsShipped).unwrap();
    let models = patched["models"].as_array().unwrap();
    let slugs: Vec<_> = models.iter().map(|model| model["slug"].as_str().unwrap()).collect();
    assert_eq!(slugs, ["a", "b", ANY_OTHER, "demo"]);
    for model in models {
        assert_eq!(model["tool_mode"], "direct");
        assert_eq!(model["base_instructions"], "");
        assert_eq!(model.get("multi_agent_version"), None);
    }
    assert_eq!(models[0]["kept"], json!([1]));
    assert_eq!(models[0]["use_responses_lite"], true);
    assert_eq!(models[3]["use_responses_lite"], false);
    let other = &models[2];
    assert_eq!(
        (&other["visibility"], &other["context_window"]),
        (&json!("hide"), &json!(UNLIMITED_TOKENS))
    );
}

#[test]
fn models_can_all_be_asked_the_classic_way() {
    let bundled = json!({"models": [
        {"slug": "a", "use_responses_lite": true},
        {"slug": "b"},
    ]});
    let patched = patch(bundled, Dialect::Classic).unwrap();
    let models = patched["models"].as_array().unwrap();
    let lite: Vec<_> = models.iter().map(|model| &model["use_responses_lite"]).collect();
    assert_eq!(lite, [false; 4]);
}

#[test]
fn a_catalog_of_another_shape_is_an_error() {
    assert!(patch(json!({"models": []}), Dialect::AsShipped).is_err());
    assert!(patch(json!([]), Dialect::AsShipped).is_err());
}
