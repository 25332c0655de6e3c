//! A question of the stand-in to its user, like Claude Code's `AskUserQuestion`: options, a field
//! for other words, and another line below.

use serde_json::{Value, json};

use super::keys::Key;

/// Text of the empty field.
const HINT: &str = "Type something.";

/// The description of each option.
const MEANING: &str = "what it means";

/// A question that is being answered.
#[derive(Default)]
pub(super) struct OpenChoice {
    question: String,
    options: Vec<String>,
    /// The focused row, from 0. The row after the options is the field.
    at: usize,
    words: String,
}

/// The result of a key.
pub(super) enum ChoiceOutcome {
    /// The question stays on the screen.
    Nothing,
    /// The question is answered.
    Answer(String),
    /// The user declined to answer.
    Declined,
}

impl OpenChoice {
    /// Parses a question from `question|option|option`.
    pub(super) fn of(words: &str) -> Self {
        let mut parts = words.split('|').map(str::to_owned);
        Self {
            question: parts.next().unwrap_or_default(),
            options: parts.collect(),
            ..Self::default()
        }
    }

    /// Returns the input of the tool that asks.
    pub(super) fn report(&self) -> Value {
        let option = |label: &String| json!({"label": label, "description": MEANING});
        let options: Vec<_> = self.options.iter().map(option).collect();
        json!({"questions": [{"question": self.question, "header": "Choice", "options": options}]})
    }

    fn field(&self) -> usize {
        self.options.len()
    }

    pub(super) fn key(&mut self, key: Key) -> ChoiceOutcome {
        match key {
            Key::Text(text) | Key::Paste(text) if self.at == self.field() => {
                self.words.push_str(&text)
            }
            Key::Text(text) => return self.digit(&text),
            Key::Backspace if self.at == self.field() => drop(self.words.pop()),
            Key::Enter => return self.choose(self.at),
            Key::Up => self.at = self.at.saturating_sub(1),
            Key::Escape | Key::Interrupt => return ChoiceOutcome::Declined,
            Key::Paste(_) | Key::Backspace => {}
        }
        ChoiceOutcome::Nothing
    }

    fn digit(&mut self, text: &str) -> ChoiceOutcome {
        match text.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
            Some(at) if at == self.field() && self.words.is_empty() => {
                self.at = at;
                ChoiceOutcome::Nothing
            }
            Some(at) => self.choose(at),
            None => ChoiceOutcome::Nothing,
        }
    }

    fn choose(&self, at: usize) -> ChoiceOutcome {
        match self.options.get(at) {
            Some(option) => ChoiceOutcome::Answer(option.clone()),
            None if at == self.field() && !self.words.is_empty() => {
                ChoiceOutcome::Answer(self.words.clone())
            }
            None if at > self.field() => ChoiceOutcome::Declined,
            None => ChoiceOutcome::Nothing,
        }
    }

    pub(super) fn draw(&self, rule: &str) -> String {
        let mark = |at: usize| if at == self.at { "❯ " } else { "  " };
        let mut out = format!("{rule}\r\n ☐ Choice\r\n\r\n{}\r\n\r\n", self.question);
        for (at, option) in self.options.iter().enumerate() {
            out.push_str(&format!("{}{}. {option}\r\n     {MEANING}\r\n", mark(at), at + 1));
        }
        let field = self.field();
        let shown = match (self.words.is_empty(), self.at == field) {
            // The cursor is on the first character, and the rest is faint.
            (true, true) => format!("\x1b[7m{}\x1b[0;2m{}\x1b[0m", &HINT[..1], &HINT[1..]),
            (true, false) => HINT.to_owned(),
            (false, _) => self.words.replace('\n', "\r\n     "),
        };
        out.push_str(&format!(
            "{}{}. {shown}\r\n{rule}\r\n  {}. Chat about this\r\n\r\n",
            mark(field),
            field + 1,
            field + 2
        ));
        out.push_str("Enter to select · ↑/↓ to navigate · Esc to cancel\r\n");
        out
    }
}
