//! Splits the bytes of an answer into frames: server-sent events, JSON values one after the other,
//! or one JSON document.
//!
//! The first byte decides about the form, and not the content type, because some servers label
//! their answers wrongly. Bytes that are not UTF-8 are replaced, so that such a byte costs a
//! character and not the answer.

use std::collections::VecDeque;

/// Longest frame, in bytes: the longest answer with each byte escaped, together with thoughts.
pub(super) const FRAME_BYTES_MAX: usize = 4 << 20;

/// One event of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    /// The name of a server-sent event.
    pub(super) name: Option<String>,
    pub(super) data: String,
    /// True for a server-sent event, false for a bare JSON value.
    pub(super) event: bool,
}

/// A frame that grew longer than [`FRAME_BYTES_MAX`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrameTooLong;

/// A reader of frames from bytes as they arrive.
#[derive(Default)]
pub(super) struct Frames {
    form: Option<Form>,
    ready: VecDeque<Frame>,
}

/// The way in which frames are separated.
enum Form {
    Events(Events),
    Values(Values),
}

impl Frames {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`FrameTooLong`], after which the reader must not be used.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), FrameTooLong> {
        let bytes = if self.form.is_none() { self.begin(bytes) } else { bytes };
        match &mut self.form {
            None => Ok(()),
            Some(Form::Events(events)) => events.push(bytes, &mut self.ready),
            Some(Form::Values(values)) => values.push(bytes, &mut self.ready),
        }
    }

    /// Ends the input. A last event counts also without its empty line.
    pub(super) fn end(&mut self) {
        if let Some(Form::Events(events)) = &mut self.form {
            events.end(&mut self.ready);
        }
    }

    /// Returns the next whole frame.
    pub(super) fn next(&mut self) -> Option<Frame> {
        self.ready.pop_front()
    }

    /// Chooses the form by the first byte that is not a space and not in a byte order mark. Returns
    /// the bytes from there on.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(byte);
        let Some(first) = bytes.iter().position(|byte| !blank(byte)) else { return &[] };
        self.form = Some(match bytes[first] {
            b'{' | b'[' => Form::Values(Values::default()),
            _ => Form::Events(Events::default()),
        });
        &bytes[first..]
    }
}

/// Server-sent events.
#[derive(Default)]
struct Events {
    line: Vec<u8>,
    name: Option<String>,
    data: Option<Vec<u8>>,
    /// True if the last byte was a carriage return, which may be the first half of a line end.
    returned: bool,
}

impl Events {
    /// Takes the next bytes, and adds each completed event to `ready`. A line ends with a line
    /// feed, a carriage return, or both.
    fn push(&mut self, bytes: &[u8], ready: &mut VecDeque<Frame>) -> Result<(), FrameTooLong> {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (part, None),
            };
            let second_half = self.returned && text.is_empty() && end == Some(b'\n');
            self.returned = end == Some(b'\r');
            if second_half {
                continue;
            }
            self.line.extend_from_slice(text);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                self.line(&line, ready);
            }
            if self.line.len() + self.data.as_ref().map_or(0, Vec::len) > FRAME_BYTES_MAX {
                return Err(FrameTooLong);
            }
        }
        Ok(())
    }

    /// Takes a whole line. An empty line completes the event. A line that is bare JSON, or JSON in
    /// a field `error`, becomes a frame immediately. A line with any other unknown field is
    /// ignored.
    fn line(&mut self, line: &[u8], ready: &mut VecDeque<Frame>) {
        if line.is_empty() {
            return self.dispatch(ready);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &line[line.len()..]),
        };
        match field {
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            // llama.cpp sends errors in an `error:` field, other servers as a bare line of JSON.
            b"error" if value.starts_with(b"{") => {
                let error = String::from_utf8_lossy(value);
                ready.push_back(Frame {
                    data: format!("{{\"error\":{error}}}"),
                    ..Frame::default()
                });
            }
            _ if line.starts_with(b"{") => {
                let data = String::from_utf8_lossy(line).into_owned();
                ready.push_back(Frame { data, ..Frame::default() });
            }
            _ => {}
        }
    }

    /// Adds the event that an empty line completes. An event without data is dropped.
    fn dispatch(&mut self, ready: &mut VecDeque<Frame>) {
        let name = self.name.take();
        if let Some(data) = self.data.take() {
            let data = String::from_utf8_lossy(&data).into_owned();
            ready.push_back(Frame { name, data, event: true });
        }
    }

    fn end(&mut self, ready: &mut VecDeque<Frame>) {
        let line = std::mem::take(&mut self.line);
        self.line(&line, ready);
        self.dispatch(ready);
    }
}

/// JSON objects one after the other, with or without line breaks, inside an array or not.
#[derive(Default)]
struct Values {
    value: Vec<u8>,
    depth: u32,
    quoted: bool,
    escaped: bool,
}

impl Values {
    /// Takes the next bytes, and adds each completed object to `ready`. Bytes between objects are
    /// skipped.
    fn push(&mut self, bytes: &[u8], ready: &mut VecDeque<Frame>) -> Result<(), FrameTooLong> {
        for byte in bytes {
            if self.depth == 0 && *byte != b'{' {
                continue;
            }
            self.value.push(*byte);
            self.count(*byte);
            if self.depth == 0 {
                let value = std::mem::take(&mut self.value);
                let data = String::from_utf8_lossy(&value).into_owned();
                ready.push_back(Frame { data, ..Frame::default() });
            }
        }
        if self.value.len() > FRAME_BYTES_MAX { Err(FrameTooLong) } else { Ok(()) }
    }

    /// Counts open braces, so that an object is complete at depth 0. Braces in a string do not
    /// count.
    fn count(&mut self, byte: u8) {
        if self.quoted {
            self.quoted = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.quoted = true,
            b'{' => self.depth += 1,
            b'}' => self.depth -= 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn frames(bytes: &[u8], piece: usize) -> Vec<(Option<String>, String)> {
        let mut frames = Frames::default();
        bytes.chunks(piece).for_each(|bytes| frames.push(bytes).unwrap());
        frames.end();
        std::iter::from_fn(|| frames.next()).map(|frame| (frame.name, frame.data)).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut_and_their_lines_end() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}: hello\nevent: one\ndata: a\ndata:b\n\nid: 7\ndata: ü\n\nretry: 3\n\ndata: [DONE]";
            let text = text.replace('\n', end);
            for piece in [1, 2, 3, 1_000] {
                let expected = [
                    (Some("one".to_owned()), "a\nb".to_owned()),
                    (None, "ü".to_owned()),
                    (None, "[DONE]".to_owned()),
                ];
                assert_eq!(frames(text.as_bytes(), piece), expected, "{end:?} {piece}");
            }
        }
    }

    #[test]
    fn values_are_read_in_lines_in_an_array_and_over_many_lines() {
        for text in [
            "{\"a\": \"}\\\"{\"}\n{\"b\": {\"c\": 1}}\n",
            " [{\"a\": \"}\\\"{\"}\n,\r\n{\"b\": {\"c\": 1}}]",
            "{\"a\": \"}\\\"{\"}{\"b\": {\"c\": 1}}",
        ] {
            for piece in [1, 3, 1_000] {
                let values: Vec<String> =
                    frames(text.as_bytes(), piece).into_iter().map(|(_, data)| data).collect();
                assert_eq!(values, ["{\"a\": \"}\\\"{\"}", "{\"b\": {\"c\": 1}}"], "{text}");
            }
        }
        assert_eq!(frames(b"{\n  \"a\": [\n  1\n ]\n}", 4)[0].1, "{\n  \"a\": [\n  1\n ]\n}");
        assert_eq!(frames(b"{\"half\": ", 4), []);
    }

    #[test]
    fn a_byte_that_is_no_text_costs_one_character() {
        assert_eq!(frames(b"data: a\xffb\n\n", 3)[0].1, "a\u{fffd}b");
        assert_eq!(frames(b"{\"a\": \"\xc3\"}", 3)[0].1, "{\"a\": \"\u{fffd}\"}");
    }

    #[test]
    fn an_error_in_a_field_or_line_of_its_own_is_a_frame() {
        let both = b"data: {}\n\nerror: {\"code\": 500}\n\n{\"error\": {\"code\": 502}}\n";
        let texts: Vec<String> = frames(both, 5).into_iter().map(|(_, data)| data).collect();
        assert_eq!(texts, ["{}", "{\"error\":{\"code\": 500}}", "{\"error\": {\"code\": 502}}"]);
    }

    #[test]
    fn a_frame_has_an_end() {
        for start in ["data: ", "{\"a\": \""] {
            let mut frames = Frames::default();
            frames.push(start.as_bytes()).unwrap();
            let more = vec![b'x'; FRAME_BYTES_MAX / 2];
            frames.push(&more).unwrap();
            assert_eq!(frames.push(&more), Err(FrameTooLong), "{start}");
        }
    }
}
