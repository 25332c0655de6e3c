//! What a conversation remembers of a turn: whose it is, what about, and until when.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::model::budget::Account;
use crate::model::event::{Cause, TurnKind, Usage, TurnReason};
use crate::model::fold::CAUSES_KEPT;
use crate::model::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use crate::model::permission::OpenPermission;
use crate::model::time::{Millis, Timestamp};

/// One prompting of one participant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number.
    pub no: TurnNo,
    /// The participant whose turn it is.
    pub participant: ParticipantId,
    /// Why it was granted.
    pub why: TurnReason,
    /// Whether it is to say something or only to listen.
    pub kind: TurnKind,
    /// Whether `[PASS]` is offered.
    pub may_pass: bool,
    /// The newest event that the turn is about.
    pub cause: Cause,
    /// All that it was granted and widened for; of very much, the first and the newest.
    pub(crate) causes: VecDeque<TurnCause>,
    /// The human message that its newest cause is, or answers.
    pub(crate) message: Option<Seq>,
    /// Until when its round waits for it.
    pub patience: Option<Timestamp>,
    /// Whether the floor went on without it.
    pub released: bool,
    /// A person stops it, and what was shown of its answer was said.
    pub(crate) stopped: bool,
    /// Where the newest cause took effect: later than its own place if it was queued.
    pub cause_at: Seq,
    /// The event that granted it, or widened it last: whoever takes the turn up was told this much.
    pub asked_at: Seq,
    /// Which try comes next, or is running.
    pub attempt: u32,
    /// When it was granted.
    pub granted_at: Timestamp,
    /// When it ends by itself.
    pub deadline: Timestamp,
    /// Its range and start, once it runs.
    pub running: Option<RunningTurn>,
    /// Since when a permission keeps its clock still.
    pub frozen_since: Option<Timestamp>,
    pub(crate) permissions: BTreeMap<PermissionId, OpenPermission>,
    /// Whom it is charged to.
    pub(crate) account: Account,
    /// What summaries made for this attempt used.
    pub(crate) summed: Usage,
}

impl Turn {
    /// How long it has been worked on: without the time for which people were asked for a
    /// permission.
    pub fn worked(&self, now: Timestamp) -> Millis {
        let until = self.frozen_since.unwrap_or(now);
        self.running.map_or(Millis(0), |running| until.since(running.started_at))
    }

    /// Returns the account that it is charged to.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The permissions that keep its clock still.
    pub fn permissions(&self) -> impl Iterator<Item = &PermissionId> {
        self.permissions.keys()
    }

    /// Something more that it is asked about.
    pub(crate) fn ask(&mut self, asked: TurnCause) {
        self.causes.push_back(asked);
        if self.causes.len() > CAUSES_KEPT {
            self.causes.remove(1);
        }
    }

    /// What it answers: all its causes while it waits, and when it runs those that its prompt
    /// shows.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &Cause> {
        let through = self.running.map(|running| running.through_seq);
        let shown = move |asked: &&TurnCause| through.is_none_or(|through| asked.at <= through);
        self.causes.iter().filter(shown).map(|asked| &asked.cause)
    }

    /// The newest of its causes that a prompt which covers so much shows.
    pub(crate) fn shown_by(&self, through: Seq) -> Option<&TurnCause> {
        let shown = self.causes.iter().rev().find(|asked| asked.at <= through);
        shown.or(self.causes.front())
    }

    /// Whether it got a cause that a prompt which covers so much does not show.
    pub fn is_widened_after(&self, through: Seq) -> bool {
        let other = |asked: &TurnCause| asked.cause.seq != self.cause.seq;
        self.cause_at > through && self.shown_by(through).is_some_and(other)
    }
}

/// Something that a turn is asked about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnCause {
    pub(crate) cause: Cause,
    /// Where it took effect.
    pub(crate) at: Seq,
}

/// A turn that ended lately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndedTurn {
    pub(crate) turn: TurnNo,
    pub(crate) participant: ParticipantId,
    /// A person stopped it, and what was shown of its answer stays.
    pub(crate) stopped: bool,
}

/// A turn that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningTurn {
    /// It covers what comes after this.
    pub from_seq: Seq,
    /// Up to and with this.
    pub through_seq: Seq,
    /// When it started, later by the time for which its clock stood still.
    pub started_at: Timestamp,
}
