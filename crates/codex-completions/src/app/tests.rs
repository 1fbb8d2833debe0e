use std::time::Duration;

use configuration::{Flags, Inputs, load};

use super::*;

fn loaded(environment: &[(&str, &str)]) -> Loaded {
    let environment = environment.iter().map(|(name, text)| (name.into(), text.into()));
    let inputs = Inputs {
        environment: environment.collect(),
        working_folder: "/nowhere".into(),
        user_data: Some("data".into()),
        flags: Flags::default(),
    };
    load(&inputs).unwrap()
}

#[test]
fn a_server_is_bounded_by_default() {
    let loaded = loaded(&[]);
    let api = api_settings(&loaded);
    let queue = QueueLimits { turns: 16, waiting: 64, longest_wait: Duration::from_secs(30) };
    assert_eq!((api.queue, api.rate_limit), (queue, None));
    let body = BodyLimits { bytes: 32 * 1024 * 1024, time: Duration::from_secs(30) };
    assert_eq!((api.body, api.max_json_depth), (body, 128));
    assert_eq!(api.turn_options.max_waiting_bytes, 8 * 1024 * 1024);
    assert_eq!(api.keep_alive, Some(Duration::from_secs(15)));
    assert!(api.metrics);
    assert!(!loaded.settings.values.flag(&t::PROXY_METRICS_ALLOW_LOOPBACK));
    let idle_timeout = IdleTimeout::new(Duration::ZERO);
    let limits = connection_limits(&loaded.settings.values, idle_timeout);
    assert_eq!((limits.max_connections, limits.header_timeout), (1024, Duration::from_secs(10)));
    assert_eq!((limits.max_header_bytes, limits.max_headers), (64 * 1024, 100));
}

#[test]
fn zero_switches_off() {
    let loaded = loaded(&[("PROXY_SSE_KEEPALIVE_MS", "0"), ("PROXY_KEEP_REASONING_BYTES", "0")]);
    let api = api_settings(&loaded);
    assert_eq!((api.keep_alive, api.keep_reasoning), (None, None));
}

#[test]
fn a_rate_limit_must_be_wanted() {
    let limits = [("PROXY_RATE_LIMIT_MAX", "5"), ("PROXY_RATE_LIMIT_WINDOW_MS", "1000")];
    assert_eq!(api_settings(&loaded(&limits)).rate_limit, None);
    let wanted = [limits[0], limits[1], ("PROXY_RATE_LIMIT_ENABLED", "true")];
    let limit = RateLimit { max: 5, window: Duration::from_secs(1) };
    assert_eq!(api_settings(&loaded(&wanted)).rate_limit, Some(limit));
}

#[test]
fn records_and_responses_are_bounded() {
    assert_eq!(api_settings(&loaded(&[])).captures, None);
    let folder = tempfile::tempdir().unwrap().path().join("records");
    let api = api_settings(&loaded(&[("PROXY_CAPTURE_DIR", folder.to_str().unwrap())]));
    let content = CapturedContent::Masked;
    let expected = CaptureSettings { folder, max_bytes: 256 * 1024 * 1024, content };
    assert_eq!(api.captures, Some(expected));
    let ResponsesSettings { store, max_age, max_bytes } = api.responses;
    assert!(store);
    assert_eq!((max_age, max_bytes), (Duration::from_hours(30 * 24), 1 << 30));
}
