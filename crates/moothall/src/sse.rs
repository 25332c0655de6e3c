//! Parser of server-sent events. The bytes may arrive in chunks that end anywhere.

/// A server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Event name; empty for plain messages.
    pub event: String,
    /// Id of this event, or of the newest earlier event that had one: the position to resume from.
    pub id: Option<String>,
    /// Data. Several lines are joined with line breaks.
    pub data: String,
}

/// An incremental parser.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    after_return: bool,
    frame: Frame,
    has_data: bool,
    last_id: Option<String>,
}

impl Parser {
    /// Consumes bytes, and returns the completed frames.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        bytes.iter().filter_map(|byte| self.byte(*byte)).collect()
    }

    /// Consumes a byte. Returns the frame if the byte ends one. CR, LF and CRLF each end one line.
    fn byte(&mut self, byte: u8) -> Option<Frame> {
        // The two bytes of one line end may come in different chunks.
        let second_half = std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n';
        match byte {
            b'\n' if second_half => None,
            b'\n' | b'\r' => {
                let line = std::mem::take(&mut self.line);
                self.line(&String::from_utf8_lossy(&line))
            }
            byte => {
                self.line.push(byte);
                None
            }
        }
    }

    /// Applies a line to the current frame. An empty line ends the frame, and returns it if it has
    /// data.
    fn line(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.frame.event = value.into(),
            "data" => {
                if self.has_data {
                    self.frame.data.push('\n');
                }
                self.frame.data.push_str(value);
                self.has_data = true;
            }
            "id" if !value.contains('\0') => self.last_id = Some(value.into()),
            // Comments have an empty field name; the standard requires unknown fields to be
            // ignored.
            _ => {}
        }
        None
    }

    /// Ends the current frame. `None` if it has no data: the standard says to drop such a frame.
    fn dispatch(&mut self) -> Option<Frame> {
        let frame = std::mem::take(&mut self.frame);
        let complete = std::mem::take(&mut self.has_data);
        complete.then(|| Frame { id: self.last_id.clone(), ..frame })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use moothall_testkit::fuzz;

    use super::*;

    const STREAM: &str = "\
: keep-alive 7\n\
\n\
id: 7\n\
data: {\"a\":\n\
data:  \"ü\"}\n\
\n\
event: presence\r\n\
data: x\r\n\
\r\n\
id: 8\rdata\r\r\
data: cut off";

    fn frame(event: &str, id: &str, data: &str) -> Frame {
        Frame { event: event.into(), id: Some(id.into()), data: data.into() }
    }

    #[test]
    fn frames_are_the_same_wherever_the_bytes_are_cut() {
        let expected = vec![
            frame("", "7", "{\"a\":\n \"ü\"}"),
            frame("presence", "7", "x"),
            frame("", "8", ""),
        ];
        let bytes = STREAM.as_bytes();
        for cut in 0..=bytes.len() {
            let mut parser = Parser::default();
            let mut frames = parser.push(&bytes[..cut]);
            frames.extend(parser.push(&bytes[cut..]));
            assert_eq!(frames, expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_frame_without_data_is_none() {
        assert_eq!(Parser::default().push(b"event: x\nid: 3\n\n"), []);
    }

    /// A frame as a server writes it.
    fn written(frame: &Frame) -> String {
        let data: String = frame.data.split('\n').map(|line| format!("data: {line}\n")).collect();
        let id = frame.id.as_ref().map_or(String::new(), |id| format!("id: {id}\n"));
        format!("event: {}\n{id}{data}\n", frame.event)
    }

    #[test]
    fn fuzzed_streams_give_frames_that_can_be_written_again() {
        let corpus = fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sse"));
        fuzz::bytes(
            "sse",
            &corpus,
            &["\n\n", "\r\n", "data: ", "data:", "id: ", "event: ", ":", "\0"],
            |bytes| {
                let frames = Parser::default().push(bytes);
                let mut parser = Parser::default();
                let singly: Vec<Frame> =
                    bytes.iter().flat_map(|byte| parser.push(&[*byte])).collect();
                assert_eq!(singly, frames, "wherever the bytes are cut");
                let kept: usize =
                    frames.iter().map(|frame| frame.data.len() + frame.event.len()).sum();
                // An invalid UTF-8 byte becomes a character of three bytes.
                assert!(kept <= bytes.len() * 3, "{kept} bytes of {}", bytes.len());
                let text: String = frames.iter().map(written).collect();
                assert_eq!(Parser::default().push(text.as_bytes()), frames, "{text:?}");
            },
        );
    }
}
