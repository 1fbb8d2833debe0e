//! Where traces go. Only a build with the feature `otlp` sends any: what that takes is more than
//! most people want to build.

use std::error::Error;

use configuration::Settings;
use configuration::table::PROXY_OTEL_EXPORTER_URL;
use server::Api;

/// Whoever sends traces, if anybody does.
#[derive(Default)]
pub(crate) struct Traces {
    #[cfg(feature = "otlp")]
    exporter: Option<otlp::Exporter>,
}

// === impl Traces ===

#[cfg(feature = "otlp")]
impl Traces {
    pub(crate) fn start(settings: &Settings, api: &Api) -> Result<Self, Box<dyn Error>> {
        let Some(url) = settings.values.text(&PROXY_OTEL_EXPORTER_URL) else {
            return Ok(Self::default());
        };
        let (sender, exporter) = otlp::Exporter::start(url)?;
        api.send_traces_to(sender);
        Ok(Self { exporter: Some(exporter) })
    }

    /// Sends what is waiting.
    pub(crate) async fn finish(self) {
        if let Some(exporter) = self.exporter {
            exporter.finish().await;
        }
    }
}

#[cfg(not(feature = "otlp"))]
#[allow(clippy::unnecessary_wraps, clippy::unused_async, reason = "like the one that can do it")]
impl Traces {
    pub(crate) fn start(settings: &Settings, _: &Api) -> Result<Self, Box<dyn Error>> {
        if settings.values.text(&PROXY_OTEL_EXPORTER_URL).is_some() {
            tracing::warn!(
                "PROXY_OTEL_EXPORTER_URL is set, but no traces are sent: this program was built \
                 without the feature otlp (cargo build --release --locked --features otlp)"
            );
        }
        Ok(Self::default())
    }

    pub(crate) async fn finish(self) {}
}
