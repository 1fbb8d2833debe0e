//! What happens to the children.

use testkit::process::signal;
use testkit::until;

use crate::altered_codex::AlteredCodex;
use crate::asking::{ask, with_tools};
use crate::proxy::Proxy;
use crate::samples::Samples;

#[tokio::test]
async fn what_happens_to_codex_is_counted() {
    const APPROVAL: &str = r#"s/^.*approve.*$/{"method":"item\/fileChange\/requestApproval","id":777,"params":{}}\n&/"#;
    let codex = AlteredCodex::new(&[APPROVAL]).await;
    let settings = [
        ("CODEX_BIN", codex.path()),
        ("PROXY_UPSTREAM_RETRIES", "1"),
        ("PROXY_CALL_PROBE_MS", "200"),
        ("WORKER_BACKOFF_INITIAL_MS", "50"),
    ];
    let proxy = Proxy::start(&settings).await;
    let fresh = Samples::of(&proxy).await;
    assert_eq!(fresh.value("codex_children{state=ready}"), Some(1.0));
    assert_eq!(fresh.value("codex_handshake_seconds_count"), Some(1.0));
    let versions = fresh.series().into_iter().find(|series| series.name == "build_info").unwrap();
    assert_eq!(versions.labels["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(versions.labels["codex"], testkit::codex_binary().await.version().to_string());

    proxy.chat(&ask("approve[[echo-whole]]")).await;
    proxy.chat(&ask("[[http:500]]")).await;
    proxy.chat(&with_tools(ask("[[call-cut]]"))).await;
    signal(proxy.process_id(), "-USR2");
    proxy.logged("all turns go to a new Codex from now on").await;
    let renewed = Samples::of(&proxy).await.changed_since(&fresh);
    for (series, change) in [
        ("codex_declined_requests_total", 1.0),
        ("codex_incidents_total{kind=retry}", 1.0),
        ("codex_probes_total", 1.0),
        ("codex_renewals_total", 1.0),
        ("codex_handshake_seconds_count", 1.0),
    ] {
        assert_eq!(renewed.get(series), Some(&change), "{series}");
    }
    let child = proxy.children();
    signal(*child.last().expect("a child"), "-KILL");
    proxy.until_counter("codex_restarts_total", 1).await;
    let ready = "codex_children{state=ready}";
    until(ready, async || Samples::of(&proxy).await.value(ready) == Some(1.0)).await;
}
