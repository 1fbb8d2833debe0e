//! Server-sent events, as the standard has them.

/// What a stream consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A line for nobody.
    Comment,
    /// An event: the name, if it has one, and its data.
    Event { name: Option<String>, data: String },
    /// The beginning of an event whose end never came.
    Unfinished,
}

/// The frames of a stream, in order.
pub(crate) fn frames(body: &str) -> Vec<Frame> {
    frames_with_ends(body).into_iter().map(|(frame, _)| frame).collect()
}

/// The frames of a stream, each with the offset of its end.
pub(crate) fn frames_with_ends(body: &str) -> Vec<(Frame, usize)> {
    let mut frames = Vec::new();
    let mut event = Open::default();
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        end += line.len();
        let whole = line.ends_with('\n');
        let line = line.trim_end_matches(['\n', '\r']);
        if !whole {
            event.has_begun = true;
        } else if line.is_empty() {
            frames.extend(std::mem::take(&mut event).close().map(|frame| (frame, end)));
        } else if line.starts_with(':') {
            frames.push((Frame::Comment, end));
        } else {
            event.take(line);
        }
    }
    if event.has_begun {
        frames.push((Frame::Unfinished, end));
    }
    frames
}

/// An event whose lines are being read.
#[derive(Default)]
struct Open {
    has_begun: bool,
    name: Option<String>,
    data: Vec<String>,
}

// === impl Open ===

impl Open {
    fn take(&mut self, line: &str) {
        self.has_begun = true;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => self.data.push(value.to_owned()),
            _ => {}
        }
    }

    fn close(self) -> Option<Frame> {
        let Self { has_begun, name, data } = self;
        has_begun.then(|| Frame::Event { name, data: data.join("\n") })
    }
}
