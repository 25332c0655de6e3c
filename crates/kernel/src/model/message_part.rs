//! Messages of several parts: text, and pictures and files that are stored elsewhere. A message has
//! one body, which people read and which can be erased. The places of the parts are stored with it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::text;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessagePart {
    /// Text.
    Text(String),
    /// A picture at an address.
    Image {
        /// The address.
        url: String,
        /// A description of the picture.
        alt: Option<String>,
    },
    /// A file at an address.
    File {
        /// The address.
        url: String,
        /// The file name.
        name: String,
        /// The media type.
        mime: Option<String>,
        /// The size in bytes.
        size: Option<u64>,
    },
}

/// A range of a body, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span(u32, u32);

impl Span {
    /// Returns a range in bytes. A place beyond 4 GiB becomes the last one that a span can have.
    pub fn of(range: Range<usize>) -> Self {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self(place(range.start), place(range.end))
    }

    /// Returns the range in bytes.
    pub fn range(self) -> Range<usize> {
        self.0 as usize..self.1 as usize
    }

    pub(crate) fn words(self, body: &str) -> Option<String> {
        body.get(self.range()).map(str::to_owned)
    }
}

/// The place of a part in the body of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartPlace {
    /// Text.
    Text(Span),
    /// A picture.
    Image {
        /// Place of the address.
        url: Span,
        /// Place of the description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alt: Option<Span>,
    },
    /// A file.
    File {
        /// Place of the address.
        url: Span,
        /// Place of the file name.
        name: Span,
        /// Place of the media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<Span>,
        /// The size in bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
    },
}

impl PartPlace {
    /// Returns the part, read from the body; `None` if that was erased.
    pub fn part(&self, body: &str) -> Option<MessagePart> {
        let words = |span: &Option<Span>| span.map(|span| span.words(body));
        Some(match self {
            PartPlace::Text(span) => MessagePart::Text(span.words(body)?),
            PartPlace::Image { url, alt } => {
                MessagePart::Image { url: url.words(body)?, alt: words(alt).flatten() }
            }
            PartPlace::File { url, name, mime, size } => MessagePart::File {
                url: url.words(body)?,
                name: name.words(body)?,
                mime: words(mime).flatten(),
                size: *size,
            },
        })
    }
}

/// Returns the body made of these parts, without characters that messages must not contain, and the
/// place of each part. A single text is the whole body and needs no place.
pub fn compose(parts: &[MessagePart]) -> (String, Vec<PartPlace>) {
    if let [MessagePart::Text(text)] = parts {
        return (text::clean(text), Vec::new());
    }
    let mut body = String::new();
    let mut add = |before: &str, words: &str, after: &str| {
        body.push_str(before);
        let from = body.len();
        body.push_str(&text::clean(words));
        let span = Span::of(from..body.len());
        body.push_str(after);
        span
    };
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let gap = if places.is_empty() { "" } else { "\n\n" };
        places.push(match part {
            MessagePart::Text(text) => PartPlace::Text(add(gap, text, "")),
            MessagePart::Image { url, alt } => {
                let alt = alt.as_ref().map(|alt| add(&format!("{gap}["), alt, "] "));
                let gap = if alt.is_some() { "" } else { gap };
                PartPlace::Image { url: add(gap, url, ""), alt }
            }
            MessagePart::File { url, name, mime, size } => {
                let name = add(&format!("{gap}["), name, "");
                let mime = mime.as_ref().map(|mime| add(", ", mime, ""));
                PartPlace::File { url: add("] ", url, ""), name, mime, size: *size }
            }
        });
    }
    (body, places)
}

/// Returns the parts of a message. A body without places is one text.
pub fn parts_of(body: &str, places: &[PartPlace]) -> Vec<MessagePart> {
    if places.is_empty() && !body.is_empty() {
        return vec![MessagePart::Text(body.to_owned())];
    }
    places.iter().filter_map(|place| place.part(body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_read_back_from_one_text_that_people_can_read() {
        let text = |words: &str| MessagePart::Text(words.to_owned());
        let parts = [
            text("Look:"),
            MessagePart::Image { url: "https://a/b.png".into(), alt: Some("a cat] (".into()) },
            MessagePart::Image { url: "https://a/c.png".into(), alt: None },
            MessagePart::File {
                url: "https://a/d.pdf".into(),
                name: "Plan, final.pdf".into(),
                mime: Some("application/pdf".into()),
                size: Some(7),
            },
            MessagePart::File {
                url: "https://a/e".into(),
                name: "e".into(),
                mime: None,
                size: None,
            },
            text("é\r\n\u{7}done"),
        ];
        let (body, places) = compose(&parts);
        assert_eq!(
            body,
            "Look:\n\n[a cat] (] https://a/b.png\n\nhttps://a/c.png\n\n\
             [Plan, final.pdf, application/pdf] https://a/d.pdf\n\n[e] https://a/e\n\né\r\ndone"
        );
        assert_eq!(text::clean(&body), body);
        let read = parts_of(&body, &places);
        assert_eq!(read[..5], parts[..5]);
        assert_eq!(read[5], text("é\r\ndone"));
        assert_eq!(parts_of("", &places), []);
    }

    #[test]
    fn a_lone_text_is_the_whole_message() {
        let lone = [MessagePart::Text("hello".into())];
        assert_eq!(compose(&lone), ("hello".into(), Vec::new()));
        assert_eq!(parts_of("hello", &[]), lone);
        assert_eq!(parts_of("", &[]), []);
    }
}
