//! Export of a conversation as Markdown, readable as text and as a page. Markup in the text of
//! participants has no effect.

use moothall_kernel::ids::EventId;
use moothall_kernel::text::for_terminal;
use moothall_surfaces::wire::Envelope;

use super::circle::Circle;
use super::show::{doubt, explain, mark, words_of};
use crate::clock::day_and_time;
use crate::threads::Faces;

/// Minimum length of the fence around a message, in characters.
const FENCE_MIN: usize = 3;

/// Writer of events, one after the other.
pub struct Transcript {
    faces: Faces,
    /// State of the gathering after the events so far.
    circle: Circle,
}

impl Transcript {
    /// Creates a transcript with the current names.
    pub fn new(faces: Faces) -> Self {
        Self { faces, circle: Circle::default() }
    }

    /// Returns an event as a part of the page, without the last line break.
    pub fn entry(&mut self, envelope: &Envelope) -> String {
        self.circle.hear(envelope);
        match envelope.kind.as_str() {
            "thread.created" => self.title(envelope),
            "message" => self.message(envelope),
            _ => {
                let what = format!(
                    "{} by {}: {}",
                    envelope.kind,
                    self.faces.name(&envelope.from),
                    explain(envelope, &self.circle)
                );
                format!("- {} · {} · {}\n", envelope.seq, time(envelope), inert(&what))
            }
        }
    }

    /// Returns the head of the page: the conversation's name at its creation, its id, and its
    /// beginning.
    fn title(&self, envelope: &Envelope) -> String {
        let name = inert(envelope.content.as_str().unwrap_or_default());
        let title = if name.is_empty() { "Conversation" } else { &name };
        format!(
            "# {title}\n\nConversation {}, started {} by {}.\n",
            inert(&envelope.thread),
            time(envelope),
            self.display_name(&envelope.from)
        )
    }

    /// Returns a message as a section: a heading, a line of marks such as the recipient, and the
    /// text in a fence, so that it is not rendered.
    fn message(&self, envelope: &Envelope) -> String {
        let mut marks = Vec::new();
        marks.extend(doubt(envelope).map(|doubt| inert(&doubt)));
        if envelope.to != "all" {
            marks.push(format!("to {}", self.display_name(&envelope.to)));
        }
        if let Some(seq) = envelope
            .meta
            .reply_to
            .as_deref()
            .and_then(|id| id.parse::<EventId>().ok())
            .map(EventId::seq)
        {
            marks.push(format!("in reply to {seq}"));
        }
        marks.extend(mark(envelope).map(|mark| inert(&mark)));
        marks.extend(envelope.meta.error.as_ref().map(|fault| inert(&fault.message)));
        let marks =
            if marks.is_empty() { String::new() } else { format!("{}\n\n", marks.join(", ")) };
        let body = fenced(&words_of(envelope));
        format!(
            "## {} · {} · {}\n\n{marks}{body}\n",
            envelope.seq,
            self.display_name(&envelope.from),
            time(envelope)
        )
    }

    /// Returns the display name, and the id if it differs.
    fn display_name(&self, id: &str) -> String {
        match self.faces.name(id) {
            name if name == id => inert(id),
            name => format!("{} ({})", inert(name), inert(id)),
        }
    }
}

/// Returns day and time, to the second.
fn time(envelope: &Envelope) -> String {
    day_and_time(&envelope.ts).unwrap_or_else(|| inert(&envelope.ts))
}

/// Returns a text in a fence that is longer than each run of tildes in the text, so that the text
/// cannot close it.
fn fenced(text: &str) -> String {
    let text = for_terminal(text);
    let (longest, _) = text.chars().fold((0, 0), |(longest, row), c| {
        let row = if c == '~' { row + 1 } else { 0 };
        (longest.max(row), row)
    });
    let fence = "~".repeat(FENCE_MIN.max(longest + 1));
    format!("{fence}text\n{text}\n{fence}")
}

/// Returns a text as one line, with a backslash before each character that Markdown or HTML could
/// interpret.
fn inert(text: &str) -> String {
    let text = for_terminal(text);
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_whitespace() => line.push(' '),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | '#' | '!'
            | '|' | '~' | '&' | ':' | '.' | '@' => {
                line.extend(['\\', c]);
            }
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::{Value, json};

    fn envelope(kind: &str, from: &str, content: Value) -> Envelope {
        let value = json!({
            "id": "01981b2c-7d5e-7000-8000-000000000000", "seq": 7, "ts": "2026-11-21T09:30:00.123Z", "thread": "0198-x", "type": kind,
            "from": from, "to": "all", "content": content,
        });
        serde_json::from_value(value).unwrap()
    }

    fn entry(envelope: &Envelope) -> String {
        Transcript::new(Faces::default()).entry(envelope)
    }

    #[test]
    fn a_message_shows_who_when_and_to_what() {
        let mut said = envelope("message", "ann", json!("Hello\n*you*"));
        said.to = "critic".into();
        said.meta.reply_to = Some(
            EventId::of(&"0198-x".into(), moothall_kernel::ids::Seq(3), Default::default())
                .to_string(),
        );
        let text = "## 7 · ann · 2026-11-21 09:30:00Z\n\nto critic, in reply to 3\n\n~~~text\nHello\n*you*\n~~~\n";
        assert_eq!(entry(&said), text);
        let begun = entry(&envelope("thread.created", "user", json!("Plan")));
        assert_eq!(begun, "# Plan\n\nConversation 0198-x, started 2026-11-21 09:30:00Z by user.\n");
    }

    #[test]
    fn a_message_says_how_its_words_ended() {
        let mut said = envelope("message", "ann", json!("I th"));
        said.meta.ended = Some("length".into());
        assert!(entry(&said).contains("\n\ncut short by a limit of tokens\n\n~~~text\nI th"));
        said.meta.ended = Some("stop".into());
        assert!(entry(&said).contains("Z\n\n~~~text\nI th"), "all of it is there");
        said.meta.error = serde_json::from_value(json!({"code": "x", "message": "it broke"})).ok();
        assert!(entry(&said).contains("\n\nit broke\n\n~~~text"));
    }

    #[test]
    fn words_cannot_leave_their_fence() {
        for body in [
            "~~~\n# fake",
            "a\n~~~~~~\n<script>alert(1)</script>",
            "~",
            "\u{1b}[31m~~~\u{202e}\n~~~~",
            "```\n![x](https://evil/?q)",
        ] {
            let text = entry(&envelope("message", "ann", json!(body)));
            let fence: String =
                text.lines().nth(2).unwrap().chars().take_while(|c| *c == '~').collect();
            let closing =
                text.lines().skip(3).position(|line| line.trim().starts_with(&fence)).unwrap();
            assert_eq!(closing + 3, text.lines().count() - 1, "{text}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']));
        }
    }

    #[test]
    fn names_and_notices_mean_nothing_to_markdown() {
        let hostile = "<img src=x onerror=alert(1)>\n## 8 · boss ![x](https://evil) [r] `x` **b** &lt; www.evil.org";
        for text in [
            entry(&envelope("thread.created", "user", json!(hostile))),
            entry(&envelope("notice", "moothall", json!({"text": hostile}))),
        ] {
            let line = text.lines().find(|line| line.contains("onerror")).unwrap();
            assert!(
                line.contains("boss")
                    && line.contains("\\<img")
                    && line.contains("\\!\\[x\\]\\(https\\://evil\\)"),
                "{line}"
            );
            let unescaped = line
                .trim_start_matches("# ")
                .as_bytes()
                .windows(2)
                .any(|pair| pair[0] != b'\\' && b"<>[]()`*_&#".contains(&pair[1]));
            assert!(!unescaped, "{line}");
        }
    }
}
