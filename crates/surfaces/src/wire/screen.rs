//! The screen of a session's terminal on the wire, in text and in colour.

use moothall_engine::sessions::{
    CellColor, CursorCell, Keystroke, Status, StyledRun, TypingRequest, View,
};
use moothall_kernel::ids::StreamId;
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::session::OptionEntry;

/// The content of a session's screen: the answer of `GET /sessions/{id}/screen`, and the `screen`
/// event of its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScreenAnswer {
    /// Id of the session.
    pub session: String,
    /// State of the program according to the screen: `starting`, `idle`, `busy`, `asking`, `shell`
    /// or `gone`.
    pub state: String,
    /// Text of the whole screen, without markup and without escape sequences.
    pub text: String,
    /// Width of the terminal in columns; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<u16>,
    /// The lines of the screen in colour, each as runs of one style. A line without characters has
    /// no runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Vec<ScreenRun>>,
    /// The cell of the cursor; absent if the program hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<ScreenCursor>,
    /// Text in the program's composer; absent if it cannot be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composer: Option<String>,
    /// The program's question, if the program waits for permission; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogEntry>,
}

/// Characters of a screen with one style. Absent parts are those of the bare terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "these are the attributes of terminals")]
pub struct ScreenRun {
    /// The characters. They are text, without markup and without escape sequences.
    pub text: String,
    /// Colour of the characters: `#rrggbb`, or one of the 16 colours that the viewer chooses:
    /// `black`, `red`, `green`, `yellow`, `blue`, `magenta`, `cyan`, `white`, or one of them after
    /// `bright_`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fg: Option<String>,
    /// Colour behind the characters, in the words of `fg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bg: Option<String>,
    /// True for bold characters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bold: bool,
    /// True for faint characters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub faint: bool,
    /// True for italic characters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub italic: bool,
    /// True for underlined characters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub underline: bool,
    /// True if both colours are exchanged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// True for characters that are struck through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strike: bool,
}

/// A cell of a screen, counted from 0 at the top left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScreenCursor {
    /// The line.
    pub line: u16,
    /// The column.
    pub column: u16,
}

/// A question of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DialogEntry {
    /// The action that the program wants to take.
    pub action: String,
    /// True if the screen shows the whole action.
    pub complete: bool,
    /// The answers that the program offers.
    pub options: Vec<OptionEntry>,
}

/// Body of `POST /sessions/{id}/keys`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeys {
    /// The keystrokes, in order. Without any, the terminal is only taken over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 256)]
    pub keys: Vec<NewKeystroke>,
    /// True if the terminal is released after the keystrokes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub release: bool,
    /// Id of the person that types. If absent, `user`, or the person to whom the credential
    /// belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// A keystroke: exactly one of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewKeystroke {
    /// Characters, typed one after the other. Control characters among them are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Text that the program gets as one paste.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paste: Option<String>,
    /// A key: `enter`, `escape`, `tab`, `back_tab`, `backspace`, `delete`, `up`, `down`, `left`,
    /// `right`, `home`, `end`, `page_up`, `page_down`, or `ctrl+` and a letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// Answer of `POST /sessions/{id}/keys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeysTyped {
    /// Id of the session.
    pub session: String,
    /// Id of the person who has the terminal; absent once it is released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typist: Option<String>,
    /// Time at which the terminal is released without another request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

impl NewKeys {
    /// Returns the request; `None` if an entry is not one keystroke.
    pub fn request(&self) -> Option<TypingRequest> {
        let keys = self.keys.iter().map(NewKeystroke::keystroke).collect::<Option<Vec<_>>>()?;
        Some(TypingRequest { keys, release: self.release })
    }
}

impl NewKeystroke {
    fn keystroke(&self) -> Option<Keystroke> {
        match (&self.text, &self.paste, &self.key) {
            (Some(text), None, None) => Some(Keystroke::Text(text.clone())),
            (None, Some(text), None) => Some(Keystroke::Paste(text.clone())),
            (None, None, Some(word)) => Keystroke::of_word(word),
            _ => None,
        }
    }
}

impl KeysTyped {
    /// Returns the answer about a session whose terminal is released at `until`.
    pub fn of(status: &Status, until: Option<Timestamp>) -> Self {
        Self {
            session: status.session.id.to_string(),
            typist: status.typist.as_ref().map(ToString::to_string),
            until: until.map(|until| until.to_string()),
        }
    }
}

impl ScreenAnswer {
    /// Returns a screen for the wire.
    pub fn of(session: &StreamId, view: View) -> Self {
        let lines = view.picture.lines.into_iter();
        Self {
            session: session.to_string(),
            state: view.state.to_string(),
            text: view.text,
            columns: Some(view.picture.columns).filter(|columns| *columns > 0),
            lines: lines.map(|line| line.into_iter().map(ScreenRun::from).collect()).collect(),
            cursor: view
                .picture
                .cursor
                .map(|CursorCell { line, column }| ScreenCursor { line, column }),
            composer: view.composer,
            dialog: view.dialog.map(|dialog| DialogEntry {
                action: dialog.action,
                complete: !dialog.partial,
                options: OptionEntry::all(&dialog.options),
            }),
        }
    }
}

impl From<StyledRun> for ScreenRun {
    fn from(StyledRun { text, style }: StyledRun) -> Self {
        Self {
            text,
            fg: style.fg.map(color_word),
            bg: style.bg.map(color_word),
            bold: style.bold,
            faint: style.faint,
            italic: style.italic,
            underline: style.underline,
            reverse: style.reverse,
            strike: style.strike,
        }
    }
}

/// Returns the word for a colour.
fn color_word(color: CellColor) -> String {
    const NAMES: [&str; 8] =
        ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    match color {
        CellColor::Base(place) => {
            let name = NAMES[usize::from(place % 8)];
            if place < 8 { name.to_owned() } else { format!("bright_{name}") }
        }
        CellColor::Exact(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_have_words() {
        for (color, word) in [
            (CellColor::Base(0), "black"),
            (CellColor::Base(9), "bright_red"),
            (CellColor::Base(15), "bright_white"),
            (CellColor::Exact(1, 175, 255), "#01afff"),
        ] {
            assert_eq!(color_word(color), word);
        }
    }

    #[test]
    fn a_plain_run_is_its_text_alone() {
        let run = ScreenRun { text: "<b>".to_owned(), ..ScreenRun::default() };
        assert_eq!(serde_json::to_value(run).ok(), Some(serde_json::json!({ "text": "<b>" })));
    }
}
