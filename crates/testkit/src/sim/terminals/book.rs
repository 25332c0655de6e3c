//! Data that survives the server: the turns of the conversation, and the rows of deliveries.

use std::collections::{BTreeMap, BTreeSet};

use moothall_engine::agent::{Job, TurnKey};
use moothall_engine::ports::{DeliveryState, LogError};
use moothall_kernel::compose::Prompt;
use moothall_kernel::event::{Event, RecordedEvent, TurnKind, TurnReason};
use moothall_kernel::ids::{PermissionId, Seq, TurnNo};
use moothall_kernel::participant::Profile;
use moothall_kernel::permission::Question;
use moothall_kernel::time::{Millis, Timestamp};
use moothall_terminals::turn::UnfinishedDelivery;

/// A turn as its conversation has it.
#[derive(Clone, Debug, Default)]
pub(super) struct BookedTurn {
    pub(super) is_started: bool,
    pub(super) is_over: bool,
    /// Unanswered questions of the turn.
    pub(super) asked: BTreeMap<PermissionId, Question>,
    /// Answers to permissions, by id.
    pub(super) answered: BTreeMap<PermissionId, String>,
}

/// The row of a delivery.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) turn: u64,
    pub(super) state: DeliveryState,
}

#[derive(Default)]
pub(super) struct Book {
    pub(super) turns: BTreeMap<u64, BookedTurn>,
    pub(super) rows: Vec<Row>,
    /// Unanswered questions outside a turn.
    pub(super) asked: BTreeMap<PermissionId, Question>,
    /// Reports that took effect.
    pub(super) kept: BTreeSet<String>,
    pub(super) native: Option<String>,
}

impl Book {
    pub(super) fn key(turn: u64) -> TurnKey {
        TurnKey { stream: "home".into(), turn: TurnNo(turn), attempt: 1 }
    }

    /// Returns the prompt of a turn. The program repeats it in its answer.
    pub(super) fn words(turn: u64) -> String {
        format!("please do job {turn};")
    }

    pub(super) fn job(turn: u64) -> Box<Job> {
        Box::new(Job {
            key: Self::key(turn),
            participant: "ada".into(),
            name: "ada".into(),
            address: None,
            folder: None,
            profile: Profile::default(),
            why: TurnReason::Forced,
            kind: TurnKind::Reply,
            may_pass: false,
            prompt: Prompt { text: Self::words(turn), ..Prompt::default() },
            trigger: RecordedEvent {
                seq: Seq(1),
                ts: Timestamp::default(),
                event: Event::RoundClosed,
            },
            window: Vec::new(),
            through: Seq(turn),
            limit: Millis::from_secs(1800),
        })
    }

    pub(super) fn grant(&mut self) -> u64 {
        let turn = self.turns.len() as u64 + 1;
        self.turns.insert(turn, BookedTurn::default());
        turn
    }

    /// Commits the start of a turn with its row, unless the turn has ended. Returns the row's id.
    pub(super) fn start(&mut self, turn: u64) -> Option<u64> {
        let known = self.turns.get_mut(&turn).filter(|turn| !turn.is_over && !turn.is_started)?;
        known.is_started = true;
        self.rows.push(Row { turn, state: DeliveryState::Pending });
        Some(self.rows.len() as u64)
    }

    /// Commits the end of a turn. Returns true if the turn was open.
    pub(super) fn end(&mut self, turn: u64) -> bool {
        self.turns.get_mut(&turn).is_some_and(|turn| !std::mem::replace(&mut turn.is_over, true))
    }

    pub(super) fn open(&self) -> Vec<u64> {
        self.turns.iter().filter(|(_, turn)| !turn.is_over).map(|(no, _)| *no).collect()
    }

    pub(super) fn row_of(&self, turn: u64) -> Option<(u64, DeliveryState)> {
        self.rows
            .iter()
            .position(|row| row.turn == turn)
            .map(|at| (at as u64 + 1, self.rows[at].state))
    }

    pub(super) fn mark(
        &mut self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
    ) -> Result<bool, LogError> {
        let row = usize::try_from(id).ok().and_then(|id| self.rows.get_mut(id.checked_sub(1)?));
        let Some(row) = row.filter(|row| from.contains(&row.state)) else { return Ok(false) };
        row.state = to;
        Ok(true)
    }

    /// Returns the unsettled deliveries that a new process finds.
    pub(super) fn earlier(&self) -> Vec<UnfinishedDelivery> {
        let is_owed = |state: DeliveryState| {
            matches!(
                state,
                DeliveryState::Pending
                    | DeliveryState::Sending
                    | DeliveryState::Sent
                    | DeliveryState::Accepted
            )
        };
        let owed = self.rows.iter().zip(1..).filter(|(row, _)| is_owed(row.state));
        let earlier = owed.map(|(row, delivery)| {
            let turn = &self.turns[&row.turn];
            let asked = turn.asked.keys().cloned().collect();
            UnfinishedDelivery {
                key: Self::key(row.turn),
                delivery,
                state: row.state,
                is_open: !turn.is_over,
                asked,
            }
        });
        earlier.collect()
    }
}
