//! The screen of the stand-in: the messages, its state or question, and the composer.

use std::io::{self, Write};

use super::choosing::OpenChoice;

/// A paste with more lines is shown as a note, like in the real programs.
const PASTE_LINES_MAX: usize = 3;
const PASTE_CHARS_MAX: usize = 800;
const COLUMNS: usize = 80;
/// Maximum number of kept lines. Earlier ones are above the screen's upper edge.
const SAID_LINES_MAX: usize = 30;

/// The contents of the screen.
#[derive(Default)]
pub(super) struct Screen {
    pub(super) name: String,
    pub(super) said: Vec<String>,
    pub(super) working: bool,
    pub(super) asking: Option<String>,
    pub(super) choosing: Option<OpenChoice>,
    pub(super) composer: Composer,
}

/// The typed and pasted text that is not sent yet.
#[derive(Default)]
pub(super) struct Composer {
    pub(super) text: String,
    shown: String,
    pastes: usize,
}

impl Composer {
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    pub(super) fn typed(&mut self, text: &str) {
        self.text.push_str(text);
        self.shown.push_str(text);
    }

    pub(super) fn pasted(&mut self, text: &str) {
        self.text.push_str(text);
        self.pastes += 1;
        let breaks = text.matches('\n').count();
        if breaks >= PASTE_LINES_MAX {
            self.shown.push_str(&format!("[Pasted text #{} +{breaks} lines]", self.pastes));
        } else if text.chars().count() > PASTE_CHARS_MAX {
            self.shown.push_str(&format!("[Pasted text #{}]", self.pastes));
        } else {
            self.shown.push_str(text);
        }
    }

    pub(super) fn back(&mut self) {
        self.text.pop();
        self.shown.pop();
    }

    /// Returns the text and empties the composer.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(self).text
    }
}

impl Screen {
    pub(super) fn say(&mut self, mark: char, text: &str) {
        let mut lines = text.lines();
        self.said.push(format!("{mark} {}", lines.next().unwrap_or_default()));
        self.said.extend(lines.map(|line| format!("  {line}")));
        self.said.push(String::new());
        let gone = self.said.len().saturating_sub(SAID_LINES_MAX);
        self.said.drain(..gone);
    }

    /// True if a question is on the screen.
    pub(super) fn asks(&self) -> bool {
        self.asking.is_some() || self.choosing.is_some()
    }

    /// Clears the screen until it is drawn again.
    pub(super) fn clear(&self) -> io::Result<()> {
        write("\x1b[H\x1b[2J")
    }

    /// Redraws the screen down to the first line of its composer.
    pub(super) fn draw_half(&self) -> io::Result<()> {
        let drawn = self.drawn();
        let half = drawn.rsplit_once("\r\n─").map_or(drawn.as_str(), |(half, _)| half);
        write(half)
    }

    /// Redraws the whole screen.
    pub(super) fn draw(&self) -> io::Result<()> {
        write(&self.drawn())
    }

    fn drawn(&self) -> String {
        let mut out = format!("\x1b[H\x1b[2J\x1b[1m{}\x1b[0m, a stand-in\r\n\r\n", self.name);
        for line in &self.said {
            out.push_str(line);
            out.push_str("\r\n");
        }
        if self.working {
            out.push_str("\x1b[38;5;174m✻\x1b[39m Working…\r\n\r\n");
        }
        match (&self.choosing, &self.asking) {
            (Some(choosing), _) => out.push_str(&choosing.draw(&"─".repeat(COLUMNS))),
            (None, Some(action)) => self.draw_question(&mut out, action),
            (None, None) => self.draw_composer(&mut out),
        }
        out
    }

    fn draw_question(&self, out: &mut String, action: &str) {
        let rule = "─".repeat(COLUMNS);
        out.push_str(&format!(
            "{rule}\r\n Bash command\r\n\r\n   {action}\r\n\r\n Do you want to proceed?\r\n"
        ));
        out.push_str(" ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel\r\n");
    }

    fn draw_composer(&self, out: &mut String) {
        let rule = "─".repeat(COLUMNS);
        let hint = if self.composer.shown.is_empty() {
            "\x1b[2mTry \"how does it work?\"\x1b[0m"
        } else {
            ""
        };
        let shown = self.composer.shown.replace('\n', "\r\n  ");
        let footer = if self.working { "esc to interrupt" } else { "? for shortcuts" };
        out.push_str(&format!("{rule}\r\n❯\u{a0}{shown}\x1b7{hint}\r\n{rule}\r\n  {footer}\x1b8"));
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
