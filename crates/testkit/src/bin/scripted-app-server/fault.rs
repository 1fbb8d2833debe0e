//! Everything that a child can do wrong in a turn.

use std::io::{self, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::play::{DELTA, Text};
use crate::server::Server;

/// What goes wrong with a turn, after the first delta of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnFault {
    /// The child does nothing any more.
    Hang,
    /// It answers nothing any more, but still talks, slowly.
    Talk,
    /// The same, as fast as the client reads.
    Torrent,
    /// So many lines at once that are no turn's, and then the rest.
    Flood { lines: usize },
    /// So many lines on standard error, and then the rest.
    Complaints { lines: usize },
    /// The child ends in the middle of a line.
    HalfLineThenExit,
    /// It hangs in the middle of a line.
    HalfLineThenHang,
    /// Half a delta, and then the rest.
    HalfLine,
    /// Half a line that does not say whose it is, and then the rest.
    HalfLineOfNobody,
    /// Half a delta, and in the same line the last message of every open text.
    GluedLine,
    /// A delta that is not UTF-8, and then the rest.
    BadText,
    /// The answer to `turn/start` is not UTF-8.
    BadAnswer,
    /// Lines that are no messages, and then the rest.
    Noise,
    /// A delta of so many bytes, and then the rest.
    Huge { bytes: usize },
    /// A line of so many bytes that is no turn's, and then the rest.
    HugeOfNobody { bytes: usize },
    /// Notifications and requests of unknown methods; the rest when all requests are answered.
    Unknown,
    /// Answers to requests that were never sent, or have their answer, and then the rest.
    Stray,
    /// The output ends, and the process stays.
    CloseOutput,
}

/// What the process does once everything so far is written; none of them comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Exit,
    Complain,
    Hang,
    Talk,
    Torrent,
    CloseOutput,
}

/// A notification that no client knows.
const UNROUTED: &str = r#"{"method":"scripted/unrouted","params":{"number":1}}"#;

/// Between two lines of a child that talks slowly.
const TALK_PAUSE: Duration = Duration::from_millis(5);

/// Requests of [`TurnFault::Unknown`].
pub(crate) const UNKNOWN_REQUESTS: usize = 3;

// === impl TurnFault ===

impl TurnFault {
    pub(crate) fn named(name: &str, number: usize) -> Option<Self> {
        Some(match name {
            "hang" => Self::Hang,
            "talk" => Self::Talk,
            "torrent" => Self::Torrent,
            "flood" => Self::Flood { lines: number },
            "complaints" => Self::Complaints { lines: number },
            "half-line-then-exit" => Self::HalfLineThenExit,
            "half-line-then-hang" => Self::HalfLineThenHang,
            "half-line" => Self::HalfLine,
            "half-line-of-nobody" => Self::HalfLineOfNobody,
            "glued-line" => Self::GluedLine,
            "bad-text" => Self::BadText,
            "bad-answer" => Self::BadAnswer,
            "noise" => Self::Noise,
            "huge" => Self::Huge { bytes: number },
            "huge-of-nobody" => Self::HugeOfNobody { bytes: number },
            "unknown" => Self::Unknown,
            "stray" => Self::Stray,
            "close-output" => Self::CloseOutput,
            _ => return None,
        })
    }
}

// === impl Deed ===

impl Deed {
    pub(crate) fn perform(self, mut output: impl Write) -> io::Result<()> {
        match self {
            Self::Exit => Ok(()),
            Self::Complain => Err(io::Error::other("this start is refused")),
            Self::Hang => Err(linger(Stdio::inherit())),
            Self::CloseOutput => Err(linger(Stdio::null())),
            Self::Talk => loop {
                writeln!(output, "{UNROUTED}")?;
                output.flush()?;
                std::thread::sleep(TALK_PAUSE);
            },
            Self::Torrent => {
                let lines = format!("{UNROUTED}\n").repeat(1_000);
                loop {
                    output.write_all(lines.as_bytes())?;
                }
            }
        }
    }
}

/// Becomes a process that reads nothing, says nothing and ignores SIGTERM.
fn linger(stdout: Stdio) -> io::Error {
    Command::new("/bin/sh").args(["-c", "trap '' TERM; exec /bin/sleep 600"]).stdout(stdout).exec()
}

// === impl Server ===

impl Server {
    /// Plays a text that goes wrong after its first delta.
    #[expect(clippy::disallowed_methods, reason = "its reader is a program")]
    pub(crate) fn play_fault(&mut self, mut text: Text<'_>, request: u64, fault: TurnFault) {
        match fault {
            TurnFault::Hang => self.deed = Some(Deed::Hang),
            TurnFault::Talk => self.deed = Some(Deed::Talk),
            TurnFault::Torrent => self.deed = Some(Deed::Torrent),
            TurnFault::CloseOutput => self.deed = Some(Deed::CloseOutput),
            TurnFault::HalfLineThenExit => {
                self.raw(half(&text.delta_line("lost")));
                self.deed = Some(Deed::Exit);
            }
            TurnFault::HalfLineThenHang => {
                self.raw(half(&text.delta_line("lost")));
                self.deed = Some(Deed::Hang);
            }
            TurnFault::Flood { lines } => {
                for number in 0..lines {
                    if number % 2 == 0 {
                        self.line(UNROUTED);
                    } else {
                        self.notify(
                            DELTA,
                            r#""threadId":"unknown","turnId":"unknown","itemId":"m","delta":"lost""#,
                        );
                    }
                }
                self.finish_text(&text);
            }
            TurnFault::Complaints { lines } => {
                // Many at once, as they come from something that does nothing else.
                let complaint = "ERROR scripted::fault: it goes wrong\n".repeat(lines);
                let _ = io::stderr().write_all(complaint.as_bytes());
                self.finish_text(&text);
            }
            TurnFault::HalfLine => {
                self.raw(half(&text.delta_line("lost")));
                self.raw(b"\n");
                self.finish_text(&text);
            }
            TurnFault::HalfLineOfNobody => {
                self.raw(b"{\"method\":\"item/agentMessage/del\n");
                self.finish_text(&text);
            }
            TurnFault::GluedLine => {
                self.finish_open_texts();
                self.glue_to_last_line(half(&text.delta_line("lost")));
            }
            TurnFault::BadText => {
                let line = text.delta_line("lo?st").into_bytes();
                self.raw(&spoilt(line));
                self.finish_text(&text);
            }
            TurnFault::BadAnswer => self.spoil_answer(request),
            TurnFault::Noise => {
                self.raw(b"\xff\xfe is no message\n");
                self.raw(b"\n");
                self.raw(b"thread 'main' says something\n");
                self.raw(b"{\"method\":\"scripted/unrouted\",\"params\":{\"text\":\"\xff\"}}\n");
                self.finish_text(&text);
            }
            TurnFault::Huge { bytes } => {
                self.say(&mut text, &"x".repeat(bytes));
                self.finish_text(&text);
            }
            TurnFault::HugeOfNobody { bytes } => {
                self.notify("scripted/unrouted", &format!(r#""blob":"{}""#, "x".repeat(bytes)));
                self.finish_text(&text);
            }
            TurnFault::Unknown => {
                self.line(UNROUTED);
                self.notify("thread/unheardOf", &format!(r#"{},"new":true"#, text.of));
                for _ in 0..UNKNOWN_REQUESTS {
                    let (id, of) = (self.next_request(), &text.of);
                    self.line(&format!(
                        r#"{{"method":"scripted/askSomething","id":{id},"params":{{{of}}}}}"#
                    ));
                }
                self.keep_open(text.thread, text.turn);
            }
            TurnFault::Stray => {
                self.result(4_000_000_000, "{}");
                self.line(r#"{"error":{"code":-32600,"message":"whose?"},"id":4000000001}"#);
                self.answer_turn_start(request, text.turn);
                self.finish_text(&text);
            }
        }
    }

    /// Answers a request in a way that is no UTF-8, and says nothing else.
    pub(crate) fn spoil_answer(&mut self, request: u64) {
        let answer = format!("{{\"id\":{request},\"result\":{{\"turn\":\"?\"}}}}\n");
        self.raw(&spoilt(answer.into_bytes()));
    }
}

/// A line that breaks off, behind the thread's id.
fn half(line: &str) -> &[u8] {
    &line.as_bytes()[..line.len() * 2 / 3]
}

/// The line with a byte that is no UTF-8 in the place of each question mark.
fn spoilt(mut line: Vec<u8>) -> Vec<u8> {
    for byte in &mut line {
        if *byte == b'?' {
            *byte = 0xff;
        }
    }
    line
}
