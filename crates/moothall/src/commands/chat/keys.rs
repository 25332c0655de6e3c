//! Decoding of keys from a terminal's bytes.

use moothall_kernel::text::for_terminal;

/// A key, or a paste.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    /// Pasted text, with newlines, cleaned.
    Paste(String),
    Enter,
    /// A new line without sending: Alt-Enter or Ctrl-J.
    NewLine,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    /// The Home key or Ctrl-A.
    Home,
    /// The End key or Ctrl-E.
    End,
    /// Ctrl- or Alt-Left, Alt-B.
    WordLeft,
    /// Ctrl- or Alt-Right, Alt-F.
    WordRight,
    /// Ctrl with this letter, for keys not listed above.
    Ctrl(char),
    /// Alt with this character, for keys not listed above.
    Alt(char),
    /// The Escape key alone.
    Escape,
}

/// Sent by a terminal before pasted text.
const PASTE: &[u8] = b"\x1b[200~";
/// Sent by a terminal after pasted text.
const PASTE_END: &[u8] = b"\x1b[201~";
/// Longest paste accepted; messages have a smaller limit.
const PASTE_BYTES_MAX: usize = 1 << 20;

/// Decoder from bytes to keys.
#[derive(Debug, Default)]
pub struct Keys {
    waiting: Vec<u8>,
}

/// Result of decoding the first bytes.
enum Front {
    /// Number of bytes consumed, and the decoded key, if any.
    Taken(usize, Option<Key>),
    /// More bytes are needed.
    Unfinished,
}

impl Keys {
    /// Adds bytes, and returns the keys that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.waiting.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while !self.waiting.is_empty() {
            match front(&self.waiting) {
                Front::Taken(length, key) => {
                    self.waiting.drain(..length);
                    keys.extend(key);
                }
                Front::Unfinished => break,
            }
        }
        keys
    }

    /// True if an Escape byte waits: a key by itself, or the beginning of a longer sequence.
    pub fn is_unsure(&self) -> bool {
        self.waiting.first() == Some(&0x1b) && !self.waiting.starts_with(PASTE)
    }

    /// Ends the wait for more bytes. Returns Escape if it is the only waiting byte; discards other
    /// waiting bytes.
    pub fn settle(&mut self) -> Option<Key> {
        let waiting = std::mem::take(&mut self.waiting);
        (waiting == [0x1b]).then_some(Key::Escape)
    }
}

/// Decodes the first key of these bytes.
fn front(bytes: &[u8]) -> Front {
    match bytes {
        [0x1b, rest @ ..] => escape(bytes, rest),
        [byte, ..] if *byte < 0x20 || *byte == 0x7f => Front::Taken(1, control(*byte)),
        _ => character(bytes).map_or(Front::Unfinished, |(length, found)| {
            Front::Taken(length, found.map(Key::Char))
        }),
    }
}

/// Returns the key of a control byte, such as Ctrl-A for Home; `None` if the byte has no use.
fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        b'\r' => Key::Enter,
        b'\n' => Key::NewLine,
        b'\t' => Key::Tab,
        0x7f | 0x08 => Key::Backspace,
        0x01 => Key::Home,
        0x05 => Key::End,
        0x02 => Key::Left,
        0x06 => Key::Right,
        0x10 => Key::Up,
        0x0e => Key::Down,
        byte if byte <= 0x1a && byte > 0 => Key::Ctrl(char::from(byte - 1 + b'a')),
        _ => return None,
    })
}

/// Decodes the first character, and returns its length in bytes and the character. The character is
/// `None` if it is a control character or if the bytes are not UTF-8. The whole result is `None` if
/// more bytes are needed.
fn character(bytes: &[u8]) -> Option<(usize, Option<char>)> {
    let length = match bytes.first()? {
        0x00..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => return Some((1, None)),
    };
    let Some(whole) = bytes.get(..length) else {
        let broken = bytes[1..].iter().any(|byte| byte & 0xc0 != 0x80);
        return broken.then_some((1, None));
    };
    let found = std::str::from_utf8(whole).ok().and_then(|text| text.chars().next());
    Some((if found.is_some() { length } else { 1 }, found.filter(|c| !c.is_control())))
}

/// Decodes bytes that begin with Escape; `rest` is `all` without the Escape. Discards an overlong
/// sequence. Escape before a character means Alt with it; before Enter it means a new line, and
/// before Backspace Ctrl-W.
fn escape(all: &[u8], rest: &[u8]) -> Front {
    match rest {
        [] => Front::Unfinished,
        [b'[', ..] if all.starts_with(PASTE) => paste(all),
        [b'[', parameters @ ..] => {
            match parameters.iter().position(|byte| (0x40..=0x7e).contains(byte)) {
                Some(end) => Front::Taken(end + 3, sequence(&parameters[..end], parameters[end])),
                None if parameters.len() > 32 => Front::Taken(all.len(), None),
                None => Front::Unfinished,
            }
        }
        [b'O'] => Front::Unfinished,
        [b'O', letter, ..] => Front::Taken(3, sequence(&[], *letter)),
        [b'\r' | b'\n', ..] => Front::Taken(2, Some(Key::NewLine)),
        [0x7f | 0x08, ..] => Front::Taken(2, Some(Key::Ctrl('w'))),
        [0x1b, ..] => Front::Taken(1, Some(Key::Escape)),
        _ => character(rest)
            .map_or(Front::Unfinished, |(length, found)| Front::Taken(length + 1, found.map(alt))),
    }
}

fn alt(c: char) -> Key {
    match c {
        'b' => Key::WordLeft,
        'f' => Key::WordRight,
        c => Key::Alt(c),
    }
}

/// Returns the key of a control sequence; `None` for an unknown one. With any modifier, the left
/// and right keys move by words.
fn sequence(parameters: &[u8], last: u8) -> Option<Key> {
    let text = std::str::from_utf8(parameters).unwrap_or_default();
    let with_modifier = text.contains(';');
    Some(match (last, text.split(';').next().unwrap_or_default()) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) if with_modifier => Key::WordRight,
        (b'D', _) if with_modifier => Key::WordLeft,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', "1" | "7") => Key::Home,
        (b'F', _) | (b'~', "4" | "8") => Key::End,
        (b'~', "3") => Key::Delete,
        (b'Z', _) => Key::BackTab,
        _ => return None,
    })
}

/// Decodes pasted text, without its control characters. Discards a paste that exceeds the limit
/// before its end arrives.
fn paste(all: &[u8]) -> Front {
    let body = &all[PASTE.len()..];
    let Some(end) = body.windows(PASTE_END.len()).position(|window| window == PASTE_END) else {
        return if body.len() > PASTE_BYTES_MAX {
            Front::Taken(all.len(), None)
        } else {
            Front::Unfinished
        };
    };
    let text = for_terminal(&String::from_utf8_lossy(&body[..end]));
    Front::Taken(PASTE.len() + end + PASTE_END.len(), Some(Key::Paste(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPED: &[u8] =
        b"a\xc3\xbc\xf0\x9f\x98\x80\r\x1b[A\x1b[1;5D\x1bOH\x1b[3~\x1bb\x1b\r\x1b[200~one\rtwo\x1b[31m\x1b[201~\t\x03\x7f\xff\x1b[99;9u";

    #[test]
    fn keys_are_the_same_wherever_the_bytes_are_cut() {
        let expected = [
            Key::Char('a'),
            Key::Char('ü'),
            Key::Char('😀'),
            Key::Enter,
            Key::Up,
            Key::WordLeft,
            Key::Home,
            Key::Delete,
            Key::WordLeft,
            Key::NewLine,
            Key::Paste("one\ntwo".into()),
            Key::Tab,
            Key::Ctrl('c'),
            Key::Backspace,
        ];
        for cut in 0..=TYPED.len() {
            let mut keys = Keys::default();
            let mut found = keys.push(&TYPED[..cut]);
            found.extend(keys.push(&TYPED[cut..]));
            assert_eq!(found, expected, "cut at {cut}");
            assert!(!keys.is_unsure());
        }
    }

    #[test]
    fn escape_alone_is_known_when_nothing_follows() {
        let mut keys = Keys::default();
        assert_eq!(keys.push(b"\x1b"), []);
        assert!(keys.is_unsure());
        assert_eq!(keys.settle(), Some(Key::Escape));
        assert_eq!(keys.push(b"b"), [Key::Char('b')]);
    }

    #[test]
    fn a_paste_cannot_break_out_of_itself() {
        let mut keys = Keys::default();
        assert_eq!(
            keys.push(b"\x1b[200~x\r\nrm -rf ~\x1b]52;c;aGk=\x07\x1b[201~"),
            [Key::Paste("x\nrm -rf ~".into())]
        );
    }
}
