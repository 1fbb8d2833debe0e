//! What a setting may hold.

use std::net::IpAddr;

use codex_app_server::ModelAliases;
use tracing_subscriber::EnvFilter;

use crate::value::Value;

/// What a setting may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Yes or no.
    Boolean,
    /// A whole number.
    Integer {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A time in milliseconds.
    Millis {
        /// The shortest.
        min: u64,
        /// The longest.
        max: u64,
    },
    /// A size in bytes.
    Bytes {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// One of these names, in any case.
    Choice(&'static [&'static str]),
    /// An address that begins with `http://` or `https://`.
    Url,
    /// An address to listen on.
    Host,
    /// Names of hosts, each perhaps with a port.
    Hosts,
    /// Origins of web pages.
    Origins,
    /// Other names for models.
    Aliases,
    /// What is logged.
    LogFilter,
    /// A file or folder.
    Path,
    /// Any text.
    Text,
    /// Any text, the blanks around it included.
    Verbatim,
    /// Any text, which nobody else may see.
    Secret,
}

/// A text that a setting may not hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// The entry of a list that is wrong.
    pub(crate) entry: Option<String>,
}

// === impl Kind ===

impl Kind {
    /// What it may hold, in words.
    pub fn allowed(self) -> String {
        match self {
            Self::Boolean => "true or false".to_owned(),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Millis { min, max } => {
                format!("a whole number of milliseconds from {min} to {max}")
            }
            Self::Bytes { min, max } => format!("a whole number of bytes from {min} to {max}"),
            Self::Choice(names) => match names {
                [first @ .., last] if !first.is_empty() => {
                    format!("{} or {last}", first.join(", "))
                }
                names => names.concat(),
            },
            Self::Url => "an http:// or https:// address, without a password in it".to_owned(),
            Self::Host => "localhost or an IP address".to_owned(),
            Self::Hosts => "name or name:port, separated by commas".to_owned(),
            // Never `*`: any page could then use the login.
            Self::Origins => {
                "scheme://host or scheme://host:port, not *, separated by commas".to_owned()
            }
            Self::Aliases => "name=model or name=model:effort, separated by commas".to_owned(),
            Self::LogFilter => {
                "error, warn, info, debug, trace, off, or target=level pairs".to_owned()
            }
            Self::Path => "a path".to_owned(),
            Self::Text | Self::Verbatim => "a text".to_owned(),
            Self::Secret => "visible ASCII characters, without blanks".to_owned(),
        }
    }

    /// What may be told of a text that cannot be used.
    pub(crate) fn quote(self, text: &str) -> String {
        let may_hold_a_password = self == Self::Secret || (self == Self::Url && text.contains('@'));
        if may_hold_a_password { "(hidden)".to_owned() } else { format!("{text:?}") }
    }

    /// Reads what somebody wrote. An empty text is no value, as in a `.env` file with the line
    /// `NAME=`.
    pub(crate) fn read(self, text: &str) -> Result<Value, Invalid> {
        let trimmed = text.trim();
        if text.is_empty() || (trimmed.is_empty() && self != Self::Verbatim) {
            return Ok(Value::Unset);
        }
        match self {
            Self::Boolean => boolean(trimmed),
            Self::Integer { min, max } | Self::Millis { min, max } | Self::Bytes { min, max } => {
                let number = trimmed.parse().ok().filter(|number| (min..=max).contains(number));
                number.map(Value::Number)
            }
            Self::Choice(names) => {
                let name = names.iter().find(|name| name.eq_ignore_ascii_case(trimmed));
                name.map(|name| Value::Text((*name).to_owned()))
            }
            Self::Url => url(trimmed),
            Self::Host => host(trimmed),
            Self::Hosts => return list(trimmed, is_host),
            Self::Origins => return list(trimmed, is_origin),
            Self::Aliases => {
                return match trimmed.parse::<ModelAliases>() {
                    Ok(_) => Ok(Value::Text(trimmed.to_owned())),
                    Err(error) => Err(Invalid { entry: Some(error.0) }),
                };
            }
            Self::LogFilter => {
                EnvFilter::try_new(trimmed).ok().map(|_| Value::Text(trimmed.to_owned()))
            }
            Self::Path | Self::Text => Some(Value::Text(trimmed.to_owned())),
            Self::Verbatim => Some(Value::Text(text.to_owned())),
            // It must fit into a header.
            Self::Secret => {
                let fits = trimmed.bytes().all(|byte| byte.is_ascii_graphic());
                fits.then(|| Value::Secret(trimmed.into()))
            }
        }
        .ok_or(Invalid { entry: None })
    }
}

fn boolean(text: &str) -> Option<Value> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_one_of(["1", "true", "yes", "on"]) {
        Some(Value::Flag(true))
    } else if is_one_of(["0", "false", "no", "off"]) {
        Some(Value::Flag(false))
    } else {
        None
    }
}

/// Without a slash at its end. A password in it would be shown wherever addresses are.
fn url(text: &str) -> Option<Value> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"))?;
    let host = rest.split('/').next().filter(|host| !host.is_empty() && !host.contains('@'));
    let is_good = host.is_some() && !rest.contains(char::is_whitespace);
    is_good.then(|| Value::Text(text.trim_end_matches('/').to_owned()))
}

fn host(text: &str) -> Option<Value> {
    if text.eq_ignore_ascii_case("localhost") {
        return Some(Value::Text("localhost".to_owned()));
    }
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address: IpAddr = bare.parse().ok()?;
    Some(Value::Text(address.to_string()))
}

/// In lower case, as browsers and clients send them.
fn list(text: &str, is_entry: fn(&str) -> bool) -> Result<Value, Invalid> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let entries: Vec<_> = entries.map(str::to_ascii_lowercase).collect();
    match entries.iter().find(|entry| !is_entry(entry)) {
        Some(entry) => Err(Invalid { entry: Some(entry.clone()) }),
        None => Ok(Value::List(entries)),
    }
}

fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|char| char.is_ascii_alphanumeric() || "-._:[]".contains(char))
}

fn is_origin(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, host)| {
        scheme.starts_with(|char: char| char.is_ascii_alphabetic())
            && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
            && is_host(host)
    })
}

#[cfg(test)]
mod tests;
