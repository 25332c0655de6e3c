//! Splits the input of a terminal into keys and pastes.

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Something typed or pasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Text(String),
    Paste(String),
    Enter,
    Escape,
    Backspace,
    Up,
    Interrupt,
}

/// A buffer of input bytes. An incomplete key waits for the rest.
#[derive(Default)]
pub(super) struct Keys {
    waiting: Vec<u8>,
}

impl Keys {
    /// Returns the keys that are complete now.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.waiting.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((key, used)) = next(&self.waiting) {
            self.waiting.drain(..used);
            keys.extend(key);
        }
        keys
    }
}

/// Returns the first key and its length in bytes; `None` if it is incomplete.
fn next(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    match bytes {
        [] => None,
        [b'\r' | b'\n', ..] => Some((Some(Key::Enter), 1)),
        [0x03, ..] => Some((Some(Key::Interrupt), 1)),
        [0x08 | 0x7f, ..] => Some((Some(Key::Backspace), 1)),
        [0x1b, ..] => sequence(bytes),
        [c, ..] if *c < b' ' => Some((None, 1)),
        _ => text(bytes),
    }
}

fn sequence(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    if let Some(rest) = bytes.strip_prefix(PASTE_BEGINS) {
        let length = rest.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS)?;
        let text =
            String::from_utf8_lossy(&rest[..length]).replace("\r\n", "\n").replace('\r', "\n");
        return Some((Some(Key::Paste(text)), PASTE_BEGINS.len() + length + PASTE_ENDS.len()));
    }
    match bytes {
        [_] | [_, 0x1b, ..] => Some((Some(Key::Escape), 1)),
        [_, b'[' | b'O', b'A', ..] => Some((Some(Key::Up), 3)),
        [_, b'O'] => None,
        [_, b'[', parameters @ ..] => {
            let length = parameters.iter().position(|c| (b'@'..=b'~').contains(c))?;
            Some((None, 2 + length + 1))
        }
        _ => Some((None, 2)),
    }
}

fn text(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = bytes.iter().position(|c| *c < b' ' || *c == 0x7f).unwrap_or(bytes.len());
    match std::str::from_utf8(&bytes[..length]) {
        Ok(text) => Some((Some(Key::Text(text.to_owned())), length)),
        Err(error) if error.valid_up_to() > 0 => {
            let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned();
            Some((Some(Key::Text(text)), error.valid_up_to()))
        }
        Err(error) if error.error_len().is_some() => Some((None, 1)),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_arrives_whole_however_it_is_cut() {
        let sent = b"a\x1b[200~one\rtwo\xc3\xa9\x1b[201~\r".to_vec();
        let expected = vec![Key::Text("a".into()), Key::Paste("one\ntwoé".into()), Key::Enter];
        for cut in 0..sent.len() {
            let mut keys = Keys::default();
            let mut read = keys.read(&sent[..cut]);
            read.extend(keys.read(&sent[cut..]));
            // A cut right after an ESC looks like the Escape key, to every program.
            if !sent[..cut].ends_with(b"\x1b") {
                assert_eq!(read, expected, "cut at {cut}");
            }
        }
    }

    #[test]
    fn keys_are_told_from_sequences() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x1b"), [Key::Escape]);
        assert_eq!(
            keys.read(b"\x1b[A\x1bOA\x1b[1;5C\x7f\x03"),
            [Key::Up, Key::Up, Key::Backspace, Key::Interrupt]
        );
    }
}
