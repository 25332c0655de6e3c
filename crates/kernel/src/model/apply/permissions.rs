//! The changes that questions and requests to people make to a conversation.

use crate::model::event::{Event, RecordedEvent};
use crate::model::fold::SETTLED_KEPT;
use crate::model::ids::{PermissionId, TurnNo};
use crate::model::permission::{OpenPermission, OpenQuestion, SettledPermission, Settlement};
use crate::model::request::Request;
use crate::model::state::{Conversation, Turn};
use crate::model::time::Timestamp;

impl Conversation {
    /// Adds a question or request that waits for a person. The first question of a turn stops the
    /// turn's clock. Ignores other events.
    pub(super) fn apply_asked(&mut self, recorded: &RecordedEvent) {
        let (at, asked_at) = (recorded.seq, recorded.ts);
        match &recorded.event {
            Event::PermissionRequested { permission, turn, options, expires, .. } => {
                let Some(turn) = self.floor.turns.get_mut(turn) else { return };
                let options = options.clone();
                let open = OpenPermission { at, asked_at, expires: *expires, options };
                turn.permissions.insert(permission.clone(), open);
                turn.frozen_since.get_or_insert(asked_at);
            }
            Event::QuestionAsked { permission, participant, options, .. } => {
                let (participant, options) = (participant.clone(), options.clone());
                let open = OpenQuestion { at, asked_at, participant, options };
                self.floor.questions.insert(permission.clone(), open);
            }
            Event::StartRequested { permission, participant, start, options, expires, .. } => {
                let options = options.clone();
                let waiting = OpenPermission { at, asked_at, expires: *expires, options };
                let request = Request::Start(start.clone());
                self.apply_requested(permission, participant, request, waiting, at);
            }
            Event::TalkRequested { permission, participant, talk, options, expires, .. } => {
                let options = options.clone();
                let waiting = OpenPermission { at, asked_at, expires: *expires, options };
                let request = Request::Talk(talk.clone());
                self.apply_requested(permission, participant, request, waiting, at);
            }
            _ => {}
        }
    }

    /// Records the end of a question. The clock of its turn restarts when the turn's last question
    /// ends.
    pub(super) fn apply_permission_closed(
        &mut self,
        permission: &PermissionId,
        ts: Timestamp,
        how: Settlement,
    ) {
        self.settle(SettledPermission { permission: permission.clone(), at: ts, how });
        self.floor.questions.remove(permission);
        let closes = |turn: &mut Turn| {
            turn.permissions.remove(permission).is_some() && turn.permissions.is_empty()
        };
        let free = self.floor.turns.values_mut().find_map(|turn| closes(turn).then_some(turn.no));
        if let Some(no) = free {
            self.thaw(no, ts);
        }
    }

    /// Settles the open permissions of a turn that ended.
    pub(super) fn settle_all(&mut self, no: TurnNo, ts: Timestamp) {
        let permissions = self
            .floor
            .turns
            .get_mut(&no)
            .map(|turn| std::mem::take(&mut turn.permissions))
            .unwrap_or_default();
        for permission in permissions.into_keys() {
            self.settle(SettledPermission { permission, at: ts, how: Settlement::TurnOver });
        }
    }

    fn settle(&mut self, settled: SettledPermission) {
        if self.floor.settled.len() == SETTLED_KEPT {
            self.floor.settled.pop_front();
        }
        self.floor.settled.push_back(settled);
    }
}
