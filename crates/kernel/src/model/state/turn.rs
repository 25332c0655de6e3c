//! Open turns and recently ended ones.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::model::budget::Account;
use crate::model::event::{Cause, TurnKind, TurnReason, Usage};
use crate::model::fold::CAUSES_KEPT;
use crate::model::hosted::HostedKey;
use crate::model::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use crate::model::permission::OpenPermission;
use crate::model::state::Floor;
use crate::model::time::{Millis, Timestamp};

/// One prompting of one participant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number.
    pub no: TurnNo,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// The reason for which it was granted or last widened.
    pub why: TurnReason,
    /// The purpose of the turn.
    pub kind: TurnKind,
    /// True if the prompt offers `[PASS]`.
    pub may_pass: bool,
    /// The newest event that the turn is about.
    pub cause: Cause,
    /// All causes for which it was granted and widened. Beyond the limit of causes, only the first
    /// and the newest remain.
    pub(crate) causes: VecDeque<TurnCause>,
    /// The person's message that the newest cause is or answers.
    pub(crate) message: Option<Seq>,
    /// Time until which its round waits for the turn.
    pub patience: Option<Timestamp>,
    /// True if the floor stopped waiting for the turn.
    pub released: bool,
    /// True if a person is stopping the turn and the shown part of its answer was posted.
    pub(crate) stopped: bool,
    /// The position at which the newest cause took effect. It is later than the cause if that was
    /// queued.
    pub cause_at: Seq,
    /// The event that granted the turn or widened it last.
    pub asked_at: Seq,
    /// Number of the attempt that runs, or comes next; from 1.
    pub attempt: u32,
    /// Time of the grant.
    pub granted_at: Timestamp,
    /// Time at which the turn ends by itself.
    pub deadline: Timestamp,
    /// Range and start of its prompt, while it runs.
    pub running: Option<RunningTurn>,
    /// Time at which a permission stopped the turn's clock.
    pub frozen_since: Option<Timestamp>,
    pub(crate) permissions: BTreeMap<PermissionId, OpenPermission>,
    /// The account that the turn is charged to.
    pub(crate) account: Account,
    /// Usage of the summaries made for this attempt.
    pub(crate) summed: Usage,
    /// The turn of another computer's conversation that the session answers in this turn. Such a
    /// turn is about its own post alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Box<HostedKey>>,
}

impl Turn {
    /// Returns the time worked on the turn, without the time for which people were asked for a
    /// permission.
    pub fn worked(&self, now: Timestamp) -> Millis {
        let until = self.frozen_since.unwrap_or(now);
        self.running.map_or(Millis(0), |running| until.since(running.started_at))
    }

    /// True if the turn answers a turn of another computer's conversation. (Ruling 35.)
    pub fn is_hosted(&self) -> bool {
        self.hosted.is_some()
    }

    /// True if the turn's answer is for this conversation.
    pub(crate) fn speaks_here(&self) -> bool {
        self.kind == TurnKind::Reply && !self.is_hosted()
    }

    /// Returns the range of a hosted turn's prompt, which is its own post; `None` for other turns.
    pub fn own_range(&self) -> Option<(Seq, Seq)> {
        let at = self.cause.seq;
        self.is_hosted().then(|| (Seq(at.0.saturating_sub(1)), at))
    }

    /// Returns the account that the turn is charged to.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the open permissions, which stop the turn's clock.
    pub fn permissions(&self) -> impl Iterator<Item = &PermissionId> {
        self.permissions.keys()
    }

    /// Adds a cause. Beyond the limit, the second oldest is dropped: the first one may be cited in
    /// a reply.
    pub(crate) fn ask(&mut self, asked: TurnCause) {
        self.causes.push_back(asked);
        if self.causes.len() > CAUSES_KEPT {
            self.causes.remove(1);
        }
    }

    /// Returns the causes that the turn answers: all while it waits, and those that its prompt
    /// shows while it runs.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Cause> {
        let through = self.running.map(|running| running.through_seq);
        let shown = move |asked: &&TurnCause| through.is_none_or(|through| asked.at <= through);
        self.causes.iter().filter(shown).map(|asked| &asked.cause)
    }

    /// Returns the newest cause shown by a prompt that ends at `through`, or else the first cause.
    pub(crate) fn shown_by(&self, through: Seq) -> Option<&TurnCause> {
        let shown = self.causes.iter().rev().find(|asked| asked.at <= through);
        shown.or(self.causes.front())
    }

    /// True if the turn has a newer cause than those shown by a prompt that ends at `through`.
    pub fn is_widened_after(&self, through: Seq) -> bool {
        let other = |asked: &TurnCause| asked.cause.seq != self.cause.seq;
        self.cause_at > through && self.shown_by(through).is_some_and(other)
    }
}

/// A cause of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnCause {
    pub(crate) cause: Cause,
    /// The position at which the cause took effect.
    pub(crate) at: Seq,
}

/// A turn that ended recently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndedTurn {
    pub(crate) turn: TurnNo,
    pub(crate) participant: ParticipantId,
    /// True if a person stopped the turn and the shown part of its answer was posted.
    pub(crate) stopped: bool,
    /// The messages that it was about, if a person cancelled it.
    pub(crate) cancelled: Vec<Seq>,
}

impl Floor {
    /// Returns the owner of a recently ended turn.
    pub(crate) fn recent_owner(&self, no: TurnNo) -> Option<ParticipantId> {
        self.recent(no).map(|ended| ended.participant.clone())
    }

    /// True if a person stopped this recently ended turn after a part of its answer was shown.
    pub(crate) fn was_stopped(&self, no: TurnNo) -> bool {
        self.recent(no).is_some_and(|ended| ended.stopped)
    }

    /// True if a participant's recently ended turn was about this message, and a person cancelled
    /// it.
    pub(crate) fn was_cancelled(&self, by: &ParticipantId, about: Seq) -> bool {
        let own = |ended: &&EndedTurn| ended.participant == *by;
        self.ended.iter().filter(own).any(|ended| ended.cancelled.contains(&about))
    }

    fn recent(&self, no: TurnNo) -> Option<&EndedTurn> {
        self.ended.iter().rev().find(|ended| ended.turn == no)
    }
}

/// The range and start of a running turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTurn {
    /// The newest event before the prompt's range.
    pub from_seq: Seq,
    /// The last event of the prompt's range.
    pub through_seq: Seq,
    /// Time of the start, moved by the time for which the turn's clock stood still.
    pub started_at: Timestamp,
}
