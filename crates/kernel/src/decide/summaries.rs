//! Summaries of words that no longer fit into a participant's memory.

use crate::decide::Decider;
use crate::decide::turns::bounded;
use crate::model::event::{Event, Usage};
use crate::model::ids::{Seq, TurnNo};
use crate::model::summary::SUMMARY_BYTES_MAX;
use crate::text;

impl Decider<'_> {
    /// Stores a summary for later turns. An empty, stale or outdated summary is not an error: the
    /// turn continues without it.
    ///
    /// Words erased after they were read may be in the summary. Such a summary is dropped, and the
    /// next turn makes another one.
    pub(crate) fn summarise(
        &mut self,
        no: TurnNo,
        attempt: u32,
        through: Seq,
        read_at: Seq,
        words: &str,
        usage: Usage,
    ) {
        let current = self
            .state
            .turn(no)
            .is_some_and(|turn| turn.attempt == attempt && self.state.is_front(turn));
        if !current || self.state.summaries.redacted_at > read_at {
            return;
        }
        self.ensure_started(no);
        let Some(turn) = self.state.turn(no) else { return };
        let covered = turn.running.map_or(Seq(0), |running| running.through_seq);
        let cleaned = text::clean(words);
        let body = text::cut(cleaned.trim(), SUMMARY_BYTES_MAX).to_owned();
        let participant = turn.participant.clone();
        let goes_on = self.state.summary_of(&participant).is_none_or(|last| last.through < through);
        if body.is_empty() || through > covered || !goes_on {
            return;
        }
        let replaces = self.state.summaries.oldest_too_many(&participant);
        let usage = bounded(usage);
        self.emit(Event::Summarised {
            participant,
            turn: no,
            through_seq: through,
            replaces,
            usage,
            body,
        });
    }
}
