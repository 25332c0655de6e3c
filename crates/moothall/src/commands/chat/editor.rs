//! The line editor. It does no input or output, so that every key can be tested.

use unicode_segmentation::UnicodeSegmentation;

use super::complete::{Book, Offer};
use super::keys::Key;
use super::width::width;

/// Effect of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOutcome {
    /// The line may have changed.
    Edited,
    /// Enter was pressed, with this text.
    Submitted(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D on an empty line.
    Left,
    /// Ctrl-L, which clears the screen.
    Cleared,
    /// Ctrl-Z, which suspends the program.
    Suspended,
}

/// A line of one or more rows, and the history before it.
#[derive(Debug, Default)]
pub struct Editor {
    text: String,
    /// Cursor, in bytes from the beginning.
    at: usize,
    killed: String,
    past: Vec<String>,
    /// Index of the past line that is shown, if any.
    place: Option<usize>,
    /// Text written before the first look at past lines.
    draft: String,
    choice: Option<Choice>,
}

/// Several completions, of which one may be selected.
#[derive(Debug)]
struct Choice {
    offer: Offer,
    taken: Option<usize>,
}

impl Editor {
    /// Creates an empty line, with past lines, the newest last.
    pub fn new(past: Vec<String>) -> Self {
        Self { past, ..Self::default() }
    }

    /// Returns the text of the line.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the completions to choose from, and the selected one.
    pub fn choices(&self) -> Option<(&[String], Option<usize>)> {
        self.choice.as_ref().map(|choice| (choice.offer.words.as_slice(), choice.taken))
    }

    /// Returns the text if the cursor is at its end.
    pub fn at_end(&self) -> Option<&str> {
        (self.at == self.text.len()).then_some(self.text.as_str())
    }

    /// Restores a text, unless another is being written.
    pub fn restore(&mut self, text: &str) {
        if self.text.is_empty() {
            self.replace(text.to_owned());
        }
    }

    /// Applies a key, and returns its effect.
    pub fn press(&mut self, key: &Key, book: &Book) -> KeyOutcome {
        match key {
            Key::Tab => return self.complete(book, true),
            Key::BackTab => return self.complete(book, false),
            _ => self.choice = None,
        }
        match key {
            Key::Enter => return self.submit(),
            Key::Ctrl('c') if self.text.is_empty() => return KeyOutcome::Interrupted,
            Key::Ctrl('d') if self.text.is_empty() => return KeyOutcome::Left,
            Key::Ctrl('l') => return KeyOutcome::Cleared,
            Key::Ctrl('z') => return KeyOutcome::Suspended,
            Key::Ctrl('c') => self.replace(String::new()),
            Key::Up => self.up(),
            Key::Down => self.down(),
            Key::Left => self.at = self.before(),
            Key::Right => self.at = self.after(),
            Key::WordLeft => self.at = self.word_before(),
            Key::WordRight => self.at = self.word_after(),
            Key::Home => self.at = self.line_start(),
            Key::End => self.at = self.line_end(),
            key => self.change(key),
        }
        KeyOutcome::Edited
    }

    /// Applies a key that edits the text. Ctrl-W, Alt-D, Ctrl-U and Ctrl-K keep the removed text
    /// for Ctrl-Y. Other keys have no effect.
    fn change(&mut self, key: &Key) {
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => self.insert(text),
            Key::NewLine => self.insert("\n"),
            Key::Backspace => self.remove(self.before(), self.at),
            Key::Delete | Key::Ctrl('d') => self.remove(self.at, self.after()),
            Key::Ctrl('w') => self.kill(self.word_before(), self.at),
            Key::Alt('d') => self.kill(self.at, self.word_after()),
            Key::Ctrl('u') => self.kill(self.line_start(), self.at),
            Key::Ctrl('k') => self.kill(self.at, self.line_end()),
            Key::Ctrl('y') => self.insert(&self.killed.clone()),
            _ => {}
        }
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.at = from;
    }

    fn kill(&mut self, from: usize, to: usize) {
        self.killed = self.text[from..to].to_owned();
        self.remove(from, to);
    }

    fn replace(&mut self, text: String) {
        self.at = text.len();
        self.text = text;
        self.place = None;
    }

    /// Submits the line and empties it. A backslash at its end adds a row instead. A line without
    /// words is not submitted.
    fn submit(&mut self) -> KeyOutcome {
        let backslashes = self.text.len() - self.text.trim_end_matches('\\').len();
        // Two backslashes at the end stand for themselves, so only an odd number adds a row.
        if backslashes % 2 == 1 {
            self.text.pop();
            self.at = self.text.len();
            self.insert("\n");
            return KeyOutcome::Edited;
        }
        let text = std::mem::take(&mut self.text);
        self.replace(String::new());
        if text.trim().is_empty() { KeyOutcome::Edited } else { KeyOutcome::Submitted(text) }
    }

    /// Adds a line to the history, unless it repeats the newest.
    pub fn remember(&mut self, line: &str) {
        if self.past.last().is_none_or(|last| last != line) {
            self.past.push(line.to_owned());
        }
    }

    fn before(&self) -> usize {
        self.text[..self.at].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn after(&self) -> usize {
        self.at + self.text[self.at..].graphemes(true).next().map_or(0, str::len)
    }

    fn word_before(&self) -> usize {
        let before = self.text[..self.at].trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    }

    fn word_after(&self) -> usize {
        let after = &self.text[self.at..];
        let begin = after.len() - after.trim_start().len();
        self.at
            + after[begin..].find(char::is_whitespace).map_or(after.len(), |length| begin + length)
    }

    fn line_start(&self) -> usize {
        self.text[..self.at].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.text.len(), |length| self.at + length)
    }

    /// Moves to the row above. In the first row, or if a past line is shown, shows the next older
    /// line that begins as the draft does.
    fn up(&mut self) {
        let start = self.line_start();
        if start > 0 && self.place.is_none() {
            let column = self.at - start;
            self.at = start - 1;
            self.at = self.nearest(self.line_start() + column);
            return;
        }
        if self.place.is_none() {
            self.draft = self.text.clone();
        }
        let newest = self.place.unwrap_or(self.past.len());
        if let Some(place) =
            (0..newest).rev().find(|place| self.past[*place].starts_with(&self.draft))
        {
            self.show(place);
        }
    }

    /// If a past line is shown, shows the next newer line that begins as the draft does, or else
    /// the draft. Otherwise moves to the row below.
    fn down(&mut self) {
        if let Some(shown) = self.place {
            match (shown + 1..self.past.len())
                .find(|place| self.past[*place].starts_with(&self.draft))
            {
                Some(place) => self.show(place),
                None => self.replace(self.draft.clone()),
            }
            return;
        }
        let (start, end) = (self.line_start(), self.line_end());
        if end < self.text.len() {
            let column = self.at - start;
            self.at = end + 1;
            self.at = self.nearest((end + 1 + column).min(self.line_end()));
        }
    }

    fn show(&mut self, place: usize) {
        self.replace(self.past[place].clone());
        self.place = Some(place);
    }

    /// Returns the last boundary between characters that is at or before a byte and in the cursor's
    /// row.
    fn nearest(&self, byte: usize) -> usize {
        let byte = byte.min(self.line_end());
        self.text
            .grapheme_indices(true)
            .map(|(at, _)| at)
            .chain([self.text.len()])
            .take_while(|at| *at <= byte)
            .last()
            .unwrap_or(0)
    }

    /// Completes the word before the cursor. If a choice is open, selects its next or previous
    /// candidate.
    fn complete(&mut self, book: &Book, forward: bool) -> KeyOutcome {
        if self.choice.is_none() {
            self.begin_choice(book);
        } else {
            self.turn_choice(forward);
        }
        KeyOutcome::Edited
    }

    /// Completes the word before the cursor if there is one candidate. For several, inserts their
    /// common beginning and opens a choice, through which further Tab keys step.
    fn begin_choice(&mut self, book: &Book) {
        let Some(offer) = book.offer(&self.text[..self.at]) else { return };
        match offer.words.as_slice() {
            [] => {}
            [only] => {
                let word = format!("{only} ");
                self.take(offer.from, &word);
            }
            several => {
                let common = common_start(several);
                if common.len() > self.at - offer.from {
                    self.take(offer.from, &common);
                }
                self.choice = Some(Choice { offer, taken: None });
            }
        }
    }

    /// Inserts the next or previous candidate of the open choice; the last is followed by the
    /// first.
    fn turn_choice(&mut self, forward: bool) {
        let Some(mut choice) = self.choice.take() else { return };
        let count = choice.offer.words.len();
        let next = match (choice.taken, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(taken), true) => (taken + 1) % count,
            (Some(taken), false) => (taken + count - 1) % count,
        };
        let word = choice.offer.words[next].clone();
        self.take(choice.offer.from, &word);
        choice.taken = Some(next);
        self.choice = Some(choice);
    }

    /// Replaces the text between a position and the cursor. A following space is not doubled.
    fn take(&mut self, from: usize, word: &str) {
        self.remove(from, self.at);
        let word = if self.text[self.at..].starts_with(' ') { word.trim_end() } else { word };
        self.insert(word);
    }

    /// Returns the line as rows of at most this many columns, and the cursor's row and column.
    pub fn rows(&self, columns: usize) -> (Vec<String>, usize, usize) {
        let mut rows = vec![String::new()];
        let (mut cells, mut cursor) = (0, (0, 0));
        for (at, cluster) in self.text.grapheme_indices(true) {
            let wide = if cluster == "\t" { 4 } else { width(cluster) };
            if cluster != "\n" && cells + wide > columns {
                rows.push(String::new());
                cells = 0;
            }
            if at == self.at {
                cursor = (rows.len() - 1, cells);
            }
            match (cluster, rows.last_mut()) {
                ("\n", _) => {
                    rows.push(String::new());
                    cells = 0;
                    continue;
                }
                ("\t", Some(row)) => row.push_str("    "),
                (cluster, Some(row)) => row.push_str(cluster),
                (_, None) => {}
            }
            cells += wide;
        }
        if self.at == self.text.len() {
            // A cursor after a full row needs a row of its own.
            if cells >= columns {
                rows.push(String::new());
                cells = 0;
            }
            cursor = (rows.len() - 1, cells);
        }
        (rows, cursor.0, cursor.1)
    }
}

/// Returns the common beginning of the words.
fn common_start(words: &[String]) -> String {
    let Some(first) = words.first() else { return String::new() };
    let shared = |word: &String| {
        first
            .char_indices()
            .zip(word.chars())
            .find(|((_, a), b)| a != b)
            .map_or(first.len().min(word.len()), |((at, _), _)| at)
    };
    let end = words.iter().map(shared).min().unwrap_or_default();
    first[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Book {
        Book::of_names(&["analyst", "writer", "critic", "critical"])
    }

    fn typed(editor: &mut Editor, text: &str) {
        for c in text.chars() {
            let key = if c == '\n' { Key::Enter } else { Key::Char(c) };
            editor.press(&key, &book());
        }
    }

    fn after(keys: &[Key]) -> (String, usize) {
        let mut editor = Editor::new(vec!["first".into(), "second".into(), "fourth".into()]);
        for key in keys {
            editor.press(key, &book());
        }
        (editor.text.clone(), editor.at)
    }

    #[test]
    fn words_and_clusters_are_edited_whole() {
        let mut editor = Editor::default();
        typed(&mut editor, "one two e\u{301}");
        editor.press(&Key::Backspace, &book());
        assert_eq!(editor.text, "one two ");
        editor.press(&Key::Ctrl('w'), &book());
        assert_eq!(editor.text, "one ");
        editor.press(&Key::Ctrl('y'), &book());
        editor.press(&Key::Home, &book());
        editor.press(&Key::WordRight, &book());
        editor.press(&Key::Ctrl('k'), &book());
        assert_eq!(editor.text, "one");
        editor.press(&Key::Ctrl('c'), &book());
        assert_eq!(editor.text, "");
        assert_eq!(editor.press(&Key::Ctrl('c'), &book()), KeyOutcome::Interrupted);
        assert_eq!(editor.press(&Key::Ctrl('d'), &book()), KeyOutcome::Left);
    }

    #[test]
    fn earlier_lines_come_back_by_their_beginning() {
        assert_eq!(after(&[Key::Up]).0, "fourth");
        assert_eq!(after(&[Key::Up, Key::Up, Key::Down]).0, "fourth");
        assert_eq!(after(&[Key::Char('f'), Key::Up, Key::Up]).0, "first");
        assert_eq!(after(&[Key::Char('f'), Key::Up, Key::Down]).0, "f");
        assert_eq!(after(&[Key::Char('z'), Key::Up]).0, "z");
    }

    #[test]
    fn several_rows_come_from_a_backslash_or_a_paste() {
        let mut editor = Editor::default();
        typed(&mut editor, "one\\\ntwo");
        editor.press(&Key::Paste("\nthree\nfour".into()), &book());
        assert_eq!(editor.text, "one\ntwo\nthree\nfour");
        editor.press(&Key::Up, &book());
        assert_eq!(editor.at, "one\ntwo\nthre".len());
        editor.press(&Key::Down, &book());
        assert_eq!(editor.at, editor.text.len());
        assert_eq!(
            editor.press(&Key::Enter, &book()),
            KeyOutcome::Submitted("one\ntwo\nthree\nfour".into())
        );
        assert_eq!(editor.text, "");
    }

    #[test]
    fn tab_completes_what_is_clear_and_offers_what_is_not() {
        assert_eq!(after(&[Key::Char('@'), Key::Char('w'), Key::Tab]).0, "@writer ");
        let mut editor = Editor::default();
        typed(&mut editor, "ask @c");
        editor.press(&Key::Tab, &book());
        assert_eq!(editor.text, "ask @critic");
        assert_eq!(editor.choices().map(|(words, taken)| (words.len(), taken)), Some((2, None)));
        editor.press(&Key::Tab, &book());
        editor.press(&Key::Tab, &book());
        assert_eq!(editor.text, "ask @critical");
        editor.press(&Key::Char('!'), &book());
        assert_eq!((editor.text.as_str(), editor.choices()), ("ask @critical!", None));
    }

    #[test]
    fn the_cursor_is_where_the_columns_say() {
        let mut editor = Editor::default();
        typed(&mut editor, "日本語x");
        assert_eq!(editor.rows(4), (vec!["日本".into(), "語x".into()], 1, 3));
        assert_eq!(editor.rows(6), (vec!["日本語".into(), "x".into()], 1, 1));
        assert_eq!(editor.rows(7), (vec!["日本語x".into(), String::new()], 1, 0));
        editor.press(&Key::Home, &book());
        assert_eq!(editor.rows(40), (vec!["日本語x".into()], 0, 0));
    }
}
