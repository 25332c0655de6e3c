//! Summaries of older messages that no longer fit into a participant's prompts.
//!
//! A summary is derived from others' words and lives no longer than they do: erasing words erases
//! all summaries that cover them, in the same event. For that, the state keeps the positions of the
//! few summaries that have words, so that the log need not be read. A new summary erases the oldest
//! one above the limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, Seq};

/// Maximum number of summaries of one participant that have words. If the newest are erased with
/// the words they cover, older ones remain.
pub const SUMMARIES_MAX: usize = 4;

/// Maximum length of a summary, in bytes.
pub const SUMMARY_BYTES_MAX: usize = 16 * 1024;

/// A summary in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The position of its event.
    pub seq: Seq,
    /// The last event that it covers, by the place at which messages took effect.
    pub through: Seq,
}

/// The summaries of a conversation that have words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summaries {
    /// Oldest first. Summaries of a participant that left stay, so that erasing words finds them.
    pub(crate) of: BTreeMap<ParticipantId, Vec<Summary>>,
    /// Position of the newest event that erased words.
    pub(crate) redacted_at: Seq,
}

impl Summaries {
    pub(crate) fn newest(&self, id: &ParticipantId) -> Option<Summary> {
        self.of.get(id)?.last().copied()
    }

    /// Returns the last event that each summary covers.
    pub(crate) fn reach(&self) -> impl Iterator<Item = Seq> {
        self.of.values().flatten().map(|summary| summary.through)
    }

    /// Returns the summaries that may contain the words at this position. Queued words took effect
    /// later than they were said, so the result may have one too many, but never lacks one.
    pub(crate) fn of_words_at(&self, seq: Seq) -> Vec<Seq> {
        let mut covering: Vec<Seq> = self
            .of
            .values()
            .flatten()
            .filter(|summary| summary.through >= seq && summary.seq != seq)
            .map(|summary| summary.seq)
            .collect();
        covering.sort_unstable();
        covering
    }

    /// Returns the summary that the next one replaces, if the limit is reached.
    pub(crate) fn oldest_too_many(&self, id: &ParticipantId) -> Option<Seq> {
        let all = self.of.get(id).filter(|all| all.len() >= SUMMARIES_MAX)?;
        all.first().map(|summary| summary.seq)
    }

    /// Adds a summary of a participant, and removes the one that it replaces.
    pub(crate) fn apply_summarised(
        &mut self,
        participant: &ParticipantId,
        summary: Summary,
        replaces: Option<Seq>,
    ) {
        let all = self.of.entry(participant.clone()).or_default();
        all.retain(|known| Some(known.seq) != replaces);
        all.push(summary);
    }

    /// Removes the summaries that an erasure erased. `seq` is the erased event, and `with` are the
    /// summaries made of it.
    pub(crate) fn apply_redacted(&mut self, at: Seq, seq: Seq, with: &[Seq]) {
        self.redacted_at = at;
        self.of.retain(|_, all| {
            all.retain(|summary| summary.seq != seq && !with.contains(&summary.seq));
            !all.is_empty()
        });
    }
}
