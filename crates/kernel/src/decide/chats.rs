//! Decides about words from chats outside of the server: words of people whom the server does not
//! know, and words that their author edited in the chat.

use crate::decide::Decider;
use crate::model::chat::OverheardWords;
use crate::model::command::{Post, Refusal, Rejection};
use crate::model::event::Event;
use crate::model::ids::{ParticipantId, Seq};
use crate::text;

/// Longest words of a person who is not known, in bytes.
const OVERHEARD_BYTES_MAX: usize = 16 * 1024;
/// Longest name that such a person can give itself, in characters.
const NAME_CHARS_MAX: usize = 64;
/// Longest part of edited words in a notice, in bytes.
const EDITED_BYTES_MAX: usize = 1000;

/// The effect of a post on an earlier message of its speaker.
pub(super) enum Edit {
    /// The post is a message of its own.
    None,
    /// The post replaces a message that waits in the queue.
    Waiting(Seq),
    /// The earlier message does not wait any more.
    Late,
}

impl Decider<'_> {
    /// Records words from a bound chat of a person who is not known to the server. They wake no
    /// agent. (Ruling 44.)
    pub(super) fn overhear(&mut self, words: OverheardWords) -> Result<(), Rejection> {
        let OverheardWords { origin, name, body } = words;
        self.check_open()?;
        let target = origin.chat.to_string();
        if !self.state.bindings().any(|bound| bound == target) {
            let message = format!("The conversation is not bound to {}.", origin.chat.key());
            return Err(Rejection::new(Refusal::Conflict, "chat_not_bound", message));
        }
        let body = text::clean(text::cut(&body, OVERHEARD_BYTES_MAX));
        if text::is_empty_looking(&body) {
            return Ok(());
        }
        let name = text::quoted(&name).chars().take(NAME_CHARS_MAX).collect();
        self.emit(Event::Overheard { origin: Box::new(origin), name, body });
        Ok(())
    }

    /// Returns the effect of a post on the earlier message that it replaces. If that message does
    /// not wait any more, a notice tells people of the new words. A post that replaces another
    /// speaker's message is dropped.
    pub(super) fn edited(&mut self, post: &Post) -> Edit {
        let Some(earlier) = &post.replaces else { return Edit::None };
        let by = &post.by.id;
        if earlier.from != *by {
            return Edit::Late;
        }
        if self.state.queued().any(|cause| cause.seq == earlier.seq) {
            return Edit::Waiting(earlier.seq);
        }
        let words = post.body.trim();
        let shown = text::cut(words, EDITED_BYTES_MAX);
        let more = if shown.len() < words.len() { "…" } else { "" };
        let text = format!(
            "{} edited a message that had been taken up already. It now says: \
             {shown}{more}",
            self.state.name_of(by)
        );
        self.notice("edited", text, Some(by), Some(&**earlier));
        Edit::Late
    }

    /// Withdraws the message that its author edited while it waited.
    pub(super) fn take_back(&mut self, edited: Option<Seq>, by: &ParticipantId) {
        if let Some(seq) = edited {
            let (by, summaries) = (by.clone(), Vec::new());
            self.emit(Event::Redacted { seq, by, message: true, summaries, edited: true });
        }
    }
}
