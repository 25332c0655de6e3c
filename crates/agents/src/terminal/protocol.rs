//! The lines that a control client receives. This module is pure: bytes in, events out.
//!
//! The answer to a command stands alone between `%begin` and `%end` (or `%error`). The text of a
//! screen in an answer may have a line that looks like such an end, but not one with the time and
//! number of this answer. If answers and commands no longer match, that is
//! [`ControlEvent::Confused`] and the connection must be made again: an answer must never be taken
//! for that of another command.

/// An event that a control client received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ControlEvent {
    /// The answer to a command of this client, or tmux's words of refusal.
    Answer(Result<Vec<String>, String>),
    /// A pane that drew.
    Drew(String),
    /// A change in the list of panes.
    Panes,
    /// Answers and commands no longer match.
    Confused,
    /// The server closes the connection.
    Exit,
}

/// The answer that is being read.
#[derive(Debug)]
struct Block {
    /// Time, number and flags, which its end repeats.
    mark: String,
    lines: Vec<String>,
}

/// A reader of lines, in the order in which they arrive.
#[derive(Debug, Default)]
pub(super) struct Protocol {
    block: Option<Block>,
}

impl Protocol {
    /// Reads a line; returns the event that it completes, if any.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<ControlEvent> {
        let line = String::from_utf8_lossy(line);
        match &mut self.block {
            Some(block) => match end_of(&line, &block.mark) {
                None => {
                    block.lines.push(line.into_owned());
                    None
                }
                Some(well) => self.block.take().and_then(|block| block.answer(well)),
            },
            None => self.notice(&line),
        }
    }

    /// Reads a line outside of an answer: a notification, or the beginning of an answer. The end of
    /// an answer that never began is [`ControlEvent::Confused`].
    fn notice(&mut self, line: &str) -> Option<ControlEvent> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "%begin" => {
                self.block = Some(Block { mark: rest.to_owned(), lines: Vec::new() });
                None
            }
            "%end" | "%error" => Some(ControlEvent::Confused),
            "%output" | "%extended-output" => rest
                .split(' ')
                .next()
                .filter(|pane| pane.starts_with('%'))
                .map(|pane| ControlEvent::Drew(pane.to_owned())),
            "%window-close"
            | "%unlinked-window-close"
            | "%window-renamed"
            | "%layout-change"
            | "%subscription-changed" => Some(ControlEvent::Panes),
            "%exit" => Some(ControlEvent::Exit),
            _ => None,
        }
    }
}

/// Returns the success of the answer that a line ends: true for `%end`, false for `%error`. `None`
/// if the line does not end the answer with this mark.
fn end_of(line: &str, mark: &str) -> Option<bool> {
    let (word, rest) = line.split_once(' ')?;
    match word {
        "%end" if rest == mark => Some(true),
        "%error" if rest == mark => Some(false),
        _ => None,
    }
}

impl Block {
    /// Returns the answer if the command was this client's own. `None` for a command of a hook: its
    /// answer arrives here too, with flags of 0.
    fn answer(self, well: bool) -> Option<ControlEvent> {
        let ours = self.mark.rsplit(' ').next().is_some_and(|flags| flags != "0");
        ours.then(|| {
            ControlEvent::Answer(if well { Ok(self.lines) } else { Err(self.lines.join(" ")) })
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<ControlEvent> {
        let mut protocol = Protocol::default();
        text.lines().filter_map(|line| protocol.line(line.as_bytes())).collect()
    }

    #[test]
    fn answers_are_told_from_news() {
        let output = "%begin 17 1 0\n%end 17 1 0\n%session-changed $0 hub\n%output %7 a\\033[1mb\n\
                    %begin 18 2 1\nfirst\n%output %9 is text here\n%end 18 2 1\n%begin 18 3 1\nno such pane\n%error 18 3 1\n\
                    %window-close @3\n%subscription-changed deaths $1 @3 0 %9 : 1\n%exit";
        let answer = vec!["first".to_owned(), "%output %9 is text here".to_owned()];
        assert_eq!(
            read(output),
            [
                ControlEvent::Drew("%7".into()),
                ControlEvent::Answer(Ok(answer)),
                ControlEvent::Answer(Err("no such pane".into())),
                ControlEvent::Panes,
                ControlEvent::Panes,
                ControlEvent::Exit
            ]
        );
    }

    #[test]
    fn a_screen_cannot_end_its_own_answer() {
        let output =
            "%begin 18 2 1\n%end 18 3 1\n%end\n%error 17 2 1\n%begin 18 3 1\nlast\n%end 18 2 1";
        let ControlEvent::Answer(Ok(lines)) = &read(output)[0] else { panic!("no answer") };
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn an_answer_without_a_question_is_noticed() {
        assert_eq!(
            read("%begin 18 2 1\n%end 18 2 1\nrest\n%end 18 2 1"),
            [ControlEvent::Answer(Ok(Vec::new())), ControlEvent::Confused]
        );
    }

    proptest! {
        #[test]
        fn junk_is_survived(
            lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..40),
        ) {
            let mut protocol = Protocol::default();
            for line in lines {
                let _ = protocol.line(&line);
            }
        }

        #[test]
        fn almost_sense_is_survived(lines in prop::collection::vec("%(begin|end|error|output|exit|window-close)?( %?[0-9]{0,3}){0,4}", 0..40)) {
            let mut protocol = Protocol::default();
            for line in lines {
                let _ = protocol.line(line.as_bytes());
            }
        }
    }
}
