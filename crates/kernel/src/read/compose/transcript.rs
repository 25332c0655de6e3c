//! Transcripts: messages as one participant reads them, as many as fit.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::model::event::{Event, Posted};
use crate::model::ids::{ParticipantId, Seq};
use crate::model::state::Conversation;
use crate::read::frames::doubt;
use crate::read::templates::IN_REPLY;
use crate::read::view::{Viewer, visible};
use crate::text::{hang, quoted, shortened, unhang};

use super::story::{Material, Utterance};

/// A message as one participant reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// Position at which the message took effect.
    pub at: Seq,
    /// True if the reader said the message.
    pub own: bool,
    /// `[name] words` and a newline; later lines of the words are indented.
    pub line: String,
    words_at: usize,
}

impl TranscriptLine {
    /// Returns a message of `name` without a real position (0).
    pub fn new(name: &str, words: &str, own: bool) -> Self {
        let line = format!("[{name}] {}\n", hang(words.trim_end()));
        Self { at: Seq(0), own, line, words_at: name.len() + 3 }
    }

    /// Returns the words alone, as they were written.
    pub fn words(&self) -> String {
        unhang(self.line.get(self.words_at..).unwrap_or_default().trim_end())
    }

    /// Returns the line within about `bytes_max`. A note replaces the middle of long words.
    pub fn within(&self, bytes_max: usize) -> Cow<'_, TranscriptLine> {
        if self.line.len() <= bytes_max {
            return Cow::Borrowed(self);
        }
        let (label, words) = self.line.split_at_checked(self.words_at).unwrap_or(("", &self.line));
        let line = format!(
            "{label}{}\n",
            shortened(words.trim_end(), bytes_max.saturating_sub(label.len() + 1))
        );
        Cow::Owned(TranscriptLine { line, ..self.clone() })
    }
}

/// The writer of a transcript for one reader.
pub(super) struct WordsFormatter<'a> {
    pub(super) state: &'a Conversation,
    pub(super) material: &'a Material<'a>,
    pub(super) reader: &'a ParticipantId,
    /// Cause of the turn, which the request repeats in full.
    pub(super) cause: Seq,
}

/// Longest part of the cause in an account, in bytes. The request has the cause in full.
const CAUSE_BYTES_MAX: usize = 1024;

impl WordsFormatter<'_> {
    /// Returns one message. The line says what the message replies to, unless it answers a turn and
    /// stands right below the turn's cause.
    pub(super) fn transcript_line(
        &self,
        words: &Utterance<'_>,
        before: Option<&Utterance<'_>>,
    ) -> TranscriptLine {
        let posted = &words.posted;
        let mut name = self.named(&posted.from);
        if let Some(doubt) = doubt(self.state, posted) {
            name = format!("{name}, {doubt}").into();
        }
        let evident = posted.turn.is_some()
            && before.is_some_and(|before| replies_to(posted) == Some(before.recorded.seq));
        if !evident && let Some(reply) = self.reply(posted) {
            name = format!("{name}, {reply}").into();
        }
        let line = TranscriptLine {
            at: words.at,
            ..TranscriptLine::new(&name, &posted.body, self.is_own(words))
        };
        if words.recorded.seq == self.cause {
            line.within(CAUSE_BYTES_MAX).into_owned()
        } else {
            line
        }
    }

    /// Returns the name of the speaker, with the number of a member of a gathering.
    fn named(&self, id: &ParticipantId) -> Cow<'_, str> {
        let gathers = self.state.rules().gathers;
        let gathering = self.state.newest_gathering().filter(|_| gathers);
        let members = gathering.map_or(&[][..], |gathering| &gathering.members);
        match members.iter().find(|member| member.id == *id) {
            Some(member) => format!("{} ({})", label(self.state, id), member.number).into(),
            None => label(self.state, id).to_owned().into(),
        }
    }

    pub(super) fn is_own(&self, words: &Utterance<'_>) -> bool {
        words.posted.author() == self.reader
    }

    /// Returns `in reply to Ada: "Her first words…"`.
    pub(super) fn reply(&self, posted: &Posted) -> Option<String> {
        self.answered(posted).map(|answered| IN_REPLY.fill(&[&answered]))
    }

    /// Returns the speaker and the first words of the message that `posted` replies to, as `Ada:
    /// "Her first words…"`. Words that the material lacks give only the name. `None` if `posted` is
    /// not a reply, or if the reader does not see that message.
    pub(super) fn answered(&self, posted: &Posted) -> Option<String> {
        let cause = posted.reply_to.as_ref()?;
        let to = |id: &ParticipantId| label(self.state, id).to_owned();
        let Some(found) = self.material.find(cause.seq) else { return Some(to(&cause.from)) };
        let Event::Posted(answered) = &found.event else { return None };
        // Words of a hosted turn are for their own conversation, also as a quotation.
        if answered.hosted.is_some() {
            return Some(to(&answered.from));
        }
        let seen = visible(&found.event, &Viewer::Participant(self.reader.clone()));
        seen.then(|| match found.event.is_erased() {
            true => format!("{}, erased", to(&answered.from)),
            false => format!("{}: \"{}\"", to(&answered.from), quoted(&answered.body)),
        })
    }

    /// Returns all these messages as lines.
    pub(super) fn each(&self, story: &[&Utterance<'_>]) -> Vec<TranscriptLine> {
        let before = std::iter::once(None).chain(story.iter().map(|words| Some(*words)));
        story
            .iter()
            .zip(before)
            .map(|(words, before)| self.transcript_line(words, before))
            .collect()
    }

    /// Returns the newest messages that fit, as text, and the number of messages that do not fit. A
    /// message takes at most a quarter of `bytes_max`, so that others fit too.
    pub(super) fn newest(&self, story: &[&Utterance<'_>], bytes_max: usize) -> (String, u64) {
        let mut room = bytes_max;
        let mut kept = Vec::new();
        for (at, words) in story.iter().enumerate().rev() {
            let before = at.checked_sub(1).map(|before| story[before]);
            let line = self.transcript_line(words, before).within(bytes_max / 4).into_owned().line;
            let Some(left) = room.checked_sub(line.len()) else { break };
            room = left;
            kept.push(line);
        }
        let left_out = &story[..story.len() - kept.len()];
        (kept.into_iter().rev().collect(), count(left_out))
    }
}

/// Returns the number of messages among these words.
pub(super) fn count(story: &[&Utterance<'_>]) -> u64 {
    story.iter().filter(|words| words.is_message()).count() as u64
}

fn replies_to(posted: &Posted) -> Option<Seq> {
    posted.reply_to.as_ref().map(|cause| cause.seq)
}

/// Returns `User` for the local user that is not an invited participant, otherwise the nickname or
/// id.
pub(super) fn label<'a>(state: &'a Conversation, id: &'a ParticipantId) -> &'a str {
    let nameless = id.as_str() == ParticipantId::USER && state.participant(id).is_none();
    if nameless { "User" } else { state.name_of(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_gives_its_words_back() {
        let entry = TranscriptLine::new("Ada", "one\n[User] two\n\n  three\n", false);
        assert_eq!(entry.line, "[Ada] one\n  [User] two\n  \n    three\n");
        assert_eq!(entry.words(), "one\n[User] two\n\n  three");
        assert_eq!(TranscriptLine::new("Ada", "", true).words(), "");
    }

    #[test]
    fn long_words_keep_their_beginning_and_their_end_and_no_line_of_them_passes_for_a_speaker() {
        let words = format!("first\n{}last", "[User] yes\n".repeat(1_000));
        let entry = TranscriptLine::new("Ada", &words, false);
        let within = entry.within(500);
        assert!(within.line.len() <= 500, "{}", within.line.len());
        assert!(
            within.line.starts_with("[Ada] first\n  [User] yes\n")
                && within.line.ends_with("\n  last\n"),
            "{}",
            within.line
        );
        assert!(within.line.contains("bytes of this message are left out here"), "{}", within.line);
        assert!(within.line.lines().skip(1).all(|line| line.starts_with("  ")), "{}", within.line);
        assert!(matches!(entry.within(100_000), Cow::Borrowed(_)));
    }
}
