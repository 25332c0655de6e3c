//! Keystrokes of a person who types in a terminal through the server.

/// Maximum number of keystrokes of one request.
pub const KEYSTROKES_MAX: usize = 256;
/// Maximum length of all text of one request, in bytes.
pub const TYPED_BYTES_MAX: usize = 64 * 1024;

/// A request to type in a terminal, or to release it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypingRequest {
    /// The keystrokes, in order. Without keystrokes, the person only takes over the terminal.
    pub keys: Vec<Keystroke>,
    /// True if the person releases the terminal after the keystrokes.
    pub release: bool,
}

/// One keystroke, or the text of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keystroke {
    /// Characters, typed one after the other.
    Text(String),
    /// Text that the program gets as one paste.
    Paste(String),
    /// A key without a character.
    Named(NamedKey),
    /// A letter from `a` to `z` with the control key.
    Control(char),
}

/// A key without a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::Display, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum NamedKey {
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Tab.
    Tab,
    /// Tab with the shift key.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// The arrow to the left.
    Left,
    /// The arrow to the right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

impl Keystroke {
    /// Returns the key that a word such as `enter` or `ctrl+c` names.
    pub fn of_word(word: &str) -> Option<Self> {
        if let Some(letter) = word.strip_prefix("ctrl+") {
            let mut letters = letter.chars();
            return match (letters.next(), letters.next()) {
                (Some(letter @ 'a'..='z'), None) => Some(Self::Control(letter)),
                _ => None,
            };
        }
        word.parse().ok().map(Self::Named)
    }

    /// Returns the length of the text, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Paste(text) => text.len(),
            Self::Named(_) | Self::Control(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_words() {
        for (word, key) in [
            ("enter", Some(Keystroke::Named(NamedKey::Enter))),
            ("page_down", Some(Keystroke::Named(NamedKey::PageDown))),
            ("ctrl+c", Some(Keystroke::Control('c'))),
            ("ctrl+C", None),
            ("ctrl+", None),
            ("ctrl+cc", None),
            ("C-c", None),
            ("kill-server", None),
            ("", None),
        ] {
            assert_eq!(Keystroke::of_word(word), key, "{word}");
        }
    }
}
