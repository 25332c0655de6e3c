//! What a participant keeps of a conversation that no longer fits into its memory: summaries,
//! rolling on.
//!
//! A summary is derived from what others said, so it lives no longer than that: whoever erases
//! words erases every summary that covers them, in the same event. To make that possible without
//! reading the log, the state knows the few summaries that still have words; an older one is erased
//! by the one that takes its place.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::ids::{ParticipantId, Seq};

/// Summaries of one participant that have words. When the newest ones are erased with what they
/// cover, older ones are left to go on from.
pub const SUMMARIES_MAX: usize = 4;

/// Longest summary, in bytes.
pub const SUMMARY_BYTES_MAX: usize = 16 * 1024;

/// A summary in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Where it is.
    pub seq: Seq,
    /// It covers what took effect up to and with this.
    pub through: Seq,
}

/// The summaries of a conversation that have words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summaries {
    /// Oldest first. Those of a participant that left stay: they have to be found when words are
    /// erased.
    pub(crate) of: BTreeMap<ParticipantId, Vec<Summary>>,
    /// The newest event that erased words.
    pub(crate) redacted_at: Seq,
}

impl Summaries {
    pub(crate) fn newest(&self, id: &ParticipantId) -> Option<Summary> {
        self.of.get(id)?.last().copied()
    }

    /// How far each of them covers what was said.
    pub(crate) fn reach(&self) -> impl Iterator<Item = Seq> {
        self.of.values().flatten().map(|summary| summary.through)
    }

    /// Those that may hold something of the words at this place. Words that were queued took effect
    /// later than they were said, so this may name one too many, never one too few.
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

    /// The one that has to make room for another.
    pub(crate) fn oldest_too_many(&self, id: &ParticipantId) -> Option<Seq> {
        let all = self.of.get(id).filter(|all| all.len() >= SUMMARIES_MAX)?;
        all.first().map(|summary| summary.seq)
    }

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

    pub(crate) fn apply_redacted(&mut self, at: Seq, seq: Seq, with: &[Seq]) {
        self.redacted_at = at;
        self.of.retain(|_, all| {
            all.retain(|summary| summary.seq != seq && !with.contains(&summary.seq));
            !all.is_empty()
        });
    }
}
