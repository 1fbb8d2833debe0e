//! One client that plays its stories, and checks every byte that comes back.

use std::time::Duration;

use conformance::reading::{Terms, UsageWish};
use testkit::http::{Connection, Gone, Head, request_head};
use testkit::server_process::Target;

use crate::completion;
use crate::errors::{Place, check_body};
use crate::expected::{Expected, start_of};
use crate::mischief::{Mischief, Then, post};
use crate::story::{Act, Ask, Manner, Story};
use crate::stream::{Said, StreamCheck};

/// What is read at once by a client that has time, and by a slow one.
const AT_ONCE: usize = 16 * 1024;
const SLOWLY: usize = 4 * 1024;

/// The rest of a slow client after each piece.
const SLOW_PAUSE: Duration = Duration::from_millis(4);

/// How a request came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Well, and exactly as it was to be.
    Whole { calls: usize },
    /// With whole calls, and the remark that something is missing.
    Truncated { calls: usize },
    /// With an error instead of an answer.
    Failed { code: String },
    /// With an error in a stream that had begun.
    Broken { code: String },
    /// Refused, as it was to be.
    Refused,
    /// The client left.
    Left,
    /// The connection was closed on a client that did not behave.
    Cut,
}

/// A client and its connection, which it keeps where it can.
pub(crate) struct Client {
    target: Target,
    connection: Option<Connection>,
}

// === impl Client ===

impl Client {
    pub(crate) fn new(target: Target) -> Self {
        Self { target, connection: None }
    }

    /// The same client with another connection.
    pub(crate) fn anew(self) -> Self {
        Self { connection: None, ..self }
    }

    /// Plays a story, and says how it ended or what is wrong.
    pub(crate) async fn play(&mut self, story: &Story) -> Result<Ended, String> {
        match &story.act {
            Act::Ask(ask) => self.ask(&story.id, ask).await,
            Act::Mischief(mischief) => self.mischief(&story.id, mischief).await,
            Act::Look(path) => self.look(&story.id, path).await,
        }
    }

    pub(crate) async fn ask(&mut self, id: &str, ask: &Ask) -> Result<Ended, String> {
        let mode = format!("x-proxy-output-mode: {}\r\n", ask.mode.as_str());
        let request = post(&self.target, id, &mode, &ask.body(self.target.model));
        let mut connection = match (ask.manner, self.connection.take()) {
            (Manner::Slow | Manner::TooSlow { .. }, _) => {
                Connection::narrow(self.target.address).await?
            }
            (_, Some(connection)) => connection,
            (_, None) => self.connect().await?,
        };
        connection.send(&request).await.map_err(|error| format!("not sent: {error}"))?;
        match ask.manner {
            Manner::LeavesAtOnce { after } => {
                tokio::time::sleep(after).await;
                return Ok(Ended::Left);
            }
            Manner::HalfClosed => {
                connection.half_close().await?;
            }
            _ => {}
        }
        let head = match connection.head().await {
            Ok(head) => head,
            Err(gone) => return cut(ask.manner, gone),
        };
        check_id(&head, id)?;
        if head.status != 200 {
            let code = refusal(&mut connection, &head).await;
            return code.map(|code| Ended::Failed { code });
        }
        check_head(&head, ask)?;
        let expected = Expected::of(&ask.answer, ask.mode);
        let terms = Terms {
            model: Some(self.target.model.to_owned()),
            choices: usize::try_from(ask.choices).ok(),
            usage: if ask.usage { UsageWish::Asked } else { UsageWish::Unasked },
        };
        let said = if ask.streamed {
            read_stream(&mut connection, ask, StreamCheck::new(&expected, terms)).await
        } else {
            let body = connection.whole().await;
            body.map_err(Reading::Gone).and_then(|body| {
                completion::check(&head, &body, &expected, ask.mode, &terms).map_err(Reading::Wrong)
            })
        };
        match said {
            Ok(said) => {
                let reuses = !head.closes() && ask.manner == Manner::Patient;
                self.connection = Some(connection).filter(|_| reuses);
                if self.connection.as_ref().is_some_and(|connection| !connection.is_clean()) {
                    return Err("bytes behind the answer".to_owned());
                }
                Ok(Ended::of(said))
            }
            Err(Reading::Left) => Ok(Ended::Left),
            Err(Reading::Wrong(wrong)) => Err(wrong),
            Err(Reading::Gone(gone)) => cut(ask.manner, gone),
        }
    }

    async fn mischief(&mut self, id: &str, mischief: &Mischief) -> Result<Ended, String> {
        let mut connection = self.connect().await?;
        // The answer may come before all of it is sent.
        let _ = connection.send(&(mischief.bytes)(&self.target, id)).await;
        if mischief.then == Then::HalfCloses {
            let _ = connection.half_close().await;
        }
        let head = match connection.head().await {
            Ok(head) => head,
            Err(Gone::Cut(_)) if mischief.then == Then::HalfCloses => return Ok(Ended::Cut),
            Err(gone) => return Err(format!("{}: {gone}", mischief.name)),
        };
        let code = refusal(&mut connection, &head).await;
        let code = code.map_err(|wrong| format!("{}: {wrong}", mischief.name))?;
        if (head.status, code.as_str()) == (mischief.status, mischief.code) {
            return Ok(Ended::Refused);
        }
        Ok(Ended::Failed { code })
    }

    async fn look(&mut self, id: &str, path: &str) -> Result<Ended, String> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let request =
            request_head("GET", path, &self.target.host, id, &self.target.authorization());
        connection.send(&request).await.map_err(|error| format!("not sent: {error}"))?;
        let head = connection.head().await.map_err(|gone| format!("{path}: {gone}"))?;
        check_id(&head, id)?;
        if head.status != 200 {
            let code = refusal(&mut connection, &head).await?;
            return Ok(Ended::Failed { code });
        }
        connection.whole().await.map_err(|gone| format!("{path}: {gone}"))?;
        self.connection = Some(connection).filter(|_| !head.closes());
        Ok(Ended::Whole { calls: 0 })
    }

    async fn connect(&self) -> Result<Connection, String> {
        Connection::open(self.target.address)
            .await
            .map_err(|error| format!("no connection: {error}"))
    }
}

/// Why a body was not read to its end.
enum Reading {
    Gone(Gone),
    Wrong(String),
    Left,
}

/// Reads a stream as the client's manner is.
async fn read_stream(
    connection: &mut Connection,
    ask: &Ask,
    mut check: StreamCheck<'_>,
) -> Result<Said, Reading> {
    let mut read = 0;
    let most = match ask.manner {
        Manner::Slow | Manner::TooSlow { .. } => SLOWLY,
        _ => AT_ONCE,
    };
    while let Some(piece) = connection.piece(most).await.map_err(Reading::Gone)? {
        check.take(&piece).map_err(Reading::Wrong)?;
        let is_first = read == 0;
        read += piece.len();
        match ask.manner {
            Manner::Slow => tokio::time::sleep(SLOW_PAUSE).await,
            Manner::TooSlow { rest } if is_first => tokio::time::sleep(rest).await,
            Manner::LeavesAfter { bytes } if read >= bytes => return Err(Reading::Left),
            _ => {}
        }
    }
    check.finish().map_err(Reading::Wrong)
}

/// A connection may be cut where the client did not behave, and nowhere else.
fn cut(manner: Manner, gone: Gone) -> Result<Ended, String> {
    match (manner, gone) {
        (Manner::TooSlow { .. } | Manner::HalfClosed, Gone::Cut(_)) => Ok(Ended::Cut),
        (_, gone) => Err(gone.to_string()),
    }
}

/// The code of an answer that is an error.
async fn refusal(connection: &mut Connection, head: &Head) -> Result<String, String> {
    let body = connection.whole().await?;
    if head.header("content-type") != Some("application/json") {
        return Err(format!("{}: an error that is not JSON", head.status));
    }
    let retry_after = head.header("retry-after").is_some();
    check_body(&body, Place::Answer { status: head.status, retry_after }).map_err(|wrong| {
        format!("{}: {wrong} in {}", head.status, start_of(String::from_utf8_lossy(&body)))
    })
}

fn check_id(head: &Head, id: &str) -> Result<(), String> {
    match head.header("x-request-id") {
        Some(found) if found == id => Ok(()),
        other => Err(format!("the answer is for {other:?}")),
    }
}

fn check_head(head: &Head, ask: &Ask) -> Result<(), String> {
    let kind = if ask.streamed { "text/event-stream" } else { "application/json" };
    let expected = [
        ("content-type", kind),
        ("x-proxy-output-mode", ask.mode.as_str()),
        ("x-codex-stop-after-tools-mode", "burst"),
    ];
    for (name, value) in expected {
        if head.header(name) != Some(value) {
            return Err(format!("{name}: {:?} where {value} is due", head.header(name)));
        }
    }
    Ok(())
}

// === impl Ended ===

impl Ended {
    fn of(said: Said) -> Self {
        match said {
            Said::Whole { calls } => Self::Whole { calls },
            Said::Truncated { calls } => Self::Truncated { calls },
            Said::Failed { code } => Self::Broken { code },
        }
    }

    /// In a few words, for a table.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Whole { .. } => "whole and exact".to_owned(),
            Self::Truncated { .. } => "calls, said to be truncated".to_owned(),
            Self::Failed { code } => format!("error `{code}`"),
            Self::Broken { code } => format!("error `{code}` in the stream"),
            Self::Refused => "refused as documented".to_owned(),
            Self::Left => "the client left".to_owned(),
            Self::Cut => "connection cut".to_owned(),
        }
    }
}
