//! `/v1/chat/completions` and `/v1/responses` as clients see them: the server's binary, the real Codex
//! behind it, and the scripted model behind that.
#![cfg(test)]

/// Cases that need no settings and only add to what a server has: one test runs them on one server, one after the other.
macro_rules! on_one_server {
    ($($case:ident,)+) => {
        #[tokio::test]
        async fn on_one_server() {
            let proxy = crate::proxy::Proxy::start(&[]).await;
            $(
                println!("{}", stringify!($case));
                proxy.model.until(|counters| counters.in_flight == 0).await;
                proxy.model.reset();
                $case(&proxy).await;
            )+
        }
    };
}

mod admission;
mod altered_codex;
mod asking;
mod caged_codex;
mod canary;
mod captures;
mod chat_faults;
#[cfg(feature = "otlp")]
mod collector;
mod continuity;
mod control;
mod early_arguments;
mod error_words;
mod exact_text;
mod golden;
mod held_turns;
mod http;
mod metric_labels;
mod metrics;
mod obsidian;
mod other_tools;
mod page_files;
mod paths;
mod phantom_noise;
mod proxy;
mod refused;
mod reload;
mod remote_images;
mod reply;
mod request_ids;
mod responses;
mod same_either_way;
mod samples;
mod secrets;
mod silence;
mod stopping;
mod strangers;
mod telemetry;
mod to_the_model;
mod toggles;
mod tolerated;
#[cfg(feature = "otlp")]
mod traces;
mod transcripts;
mod turn_log;
mod usage;
