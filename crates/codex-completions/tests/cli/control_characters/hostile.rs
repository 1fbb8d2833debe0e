//! Hostile text, and a server that sends it.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use testkit::process::KilledOnDrop;

use crate::user::User;

/// Sequences that do harm, and characters that do it alone.
const ESCAPES: &[&str] = &[
    // OSC: the title, the clipboard, a link; ended by BEL, ST and the C1 form of it.
    "\u{1b}]0;title\u{7}",
    "\u{1b}]52;c;cm0gLXJmIH4=\u{7}",
    "\u{1b}]8;;http://evil.example\u{1b}\\link\u{1b}]8;;\u{1b}\\",
    "\u{9d}52;c;cm0gLXJmIH4=\u{9c}",
    // CSI: the screen, the cursor, hidden text, a question whose answer is typed in.
    "\u{1b}[2J\u{1b}[H",
    "\u{1b}[8m",
    "\u{1b}[6n",
    "\u{9b}2J",
    // DCS, APC, PM, SOS, as escapes and as C1.
    "\u{1b}P$q\u{1b}\\",
    "\u{1b}_apc\u{1b}\\",
    "\u{1b}^pm\u{1b}\\",
    "\u{1b}Xsos\u{1b}\\",
    "\u{90}dcs\u{9c}\u{9f}apc\u{9c}\u{9e}pm\u{9c}\u{98}sos\u{9c}",
    "\u{1b}c",
    "\u{80}\u{84}\u{85}\u{8d}",
    // The direction of text.
    "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}",
    "\u{2066}\u{2067}\u{2068}\u{2069}",
    "\u{200e}\u{200f}\u{61c}",
    // Alone.
    "seen\rhidden",
    "\u{7}\u{8}\u{7f}\u{b}\u{c}\u{e}",
    "\u{2028}\u{2029}",
    "\u{e0041}\u{e007f}\u{e0101}\u{206a}",
];

/// Everything in one line. A terminal may get what is around and between: letters, tabs, emoji with joiners.
pub(super) fn text() -> String {
    format!("<é字\u{1f468}\u{200d}\u{1f469}\t{}>", ESCAPES.join("."))
}

/// The same with NUL, which no argument can have.
pub(super) fn with_nul() -> String {
    text() + "\0"
}

/// The same as a path, of names that are not too long.
pub(super) fn path() -> String {
    let (first, second) = ESCAPES.split_at(ESCAPES.len() / 2);
    [first, second].map(|escapes| escapes.join(".").replace('/', "")).join("/")
}

pub(super) fn is_forbidden(character: char) -> bool {
    let is_kept = matches!(character, '\n' | '\t');
    let is_invisible = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    is_invisible || (character.is_control() && !is_kept)
}

/// As a terminal gets it.
pub(super) fn visible(text: &str) -> String {
    let mut visible = String::new();
    for character in text.chars() {
        if is_forbidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(visible, "\\u{unit:04x}").unwrap();
            }
        } else {
            visible.push(character);
        }
    }
    visible
}

/// A server whose every word is hostile, and which proves that it is the server of the user's data folder.
pub(super) struct HostileServer {
    _process: KilledOnDrop,
    pub(super) port: String,
}

impl HostileServer {
    pub(super) fn start(user: &User) -> Self {
        let text = serde_json::to_string(&with_nul()).unwrap();
        let mut process = Command::new("node")
            .args(["-e", include_str!("hostile.js"), user.folder.path().to_str().unwrap(), &text])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { _process: KilledOnDrop(process), port: port.trim().to_owned() }
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}
