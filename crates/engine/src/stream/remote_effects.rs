//! Rows that the events of a stream send to other computers. Some go to computers whose sessions
//! take part in this conversation. The others go to computers for whose conversations the session
//! of this home takes turns. All functions are pure.
//!
//! Each row is inserted in the append of its event, so no crash loses one. (Rulings 34 and 35.)

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::Conversation;
use moothall_kernel::event::{Change, Event, Outcome, Posted, RecordedEvent, WhyNot};
use moothall_kernel::hosted::HostedKey;
use moothall_kernel::ids::{ComputerId, ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::link::PartReason;
use moothall_kernel::participant::Address;
use moothall_kernel::permission::WithdrawalReason;
use moothall_kernel::state::Turn;

use crate::outbox::PostCommand;
use crate::ports::NewDelivery;
use crate::sessions::{ADDRESS, SessionId};

/// Returns the rows that events send to other computers, in the order of the events, and after them
/// the news of memberships. `before` is the conversation before the events, and `after` the
/// conversation after them.
pub(super) fn remote_effects(
    before: Option<&Conversation>,
    after: Option<&Conversation>,
    events: &[RecordedEvent],
) -> Vec<NewDelivery> {
    let members = before.into_iter().flat_map(Conversation::agents);
    let members = members
        .filter_map(|one| Some((one.id.clone(), MemberElsewhere::at(one.address.as_ref()?)?)));
    let mut effects = RemoteEffects {
        before,
        after,
        members: members.collect(),
        departed: BTreeMap::new(),
        stale: BTreeSet::new(),
        words: BTreeMap::new(),
        rows: Vec::new(),
    };
    events.iter().for_each(|event| effects.hear(event));
    effects.place_all(events);
    effects.rows
}

/// A session of another computer that is a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemberElsewhere {
    pub(crate) computer: ComputerId,
    pub(crate) session: SessionId,
}

impl MemberElsewhere {
    /// Returns the session of another computer that an address names; `None` for other addresses.
    pub(crate) fn at(address: &Address) -> Option<Self> {
        let is_session = address.is_elsewhere() && address.kind == ADDRESS;
        is_session.then(|| Self {
            computer: ComputerId::new(address.computer.as_str()),
            session: SessionId::new(address.local_id.as_str()),
        })
    }
}

/// The rows of a batch of events, and what they depend on.
struct RemoteEffects<'a> {
    before: Option<&'a Conversation>,
    after: Option<&'a Conversation>,
    /// The participants that are sessions of other computers, at the event that is handled now.
    members: BTreeMap<ParticipantId, MemberElsewhere>,
    /// The sessions of other computers that left in this batch. Their turns end after they left.
    departed: BTreeMap<ParticipantId, MemberElsewhere>,
    /// The sessions of other computers that have to get their membership anew, because it has
    /// changed.
    stale: BTreeSet<ParticipantId>,
    /// The positions of the answers, in this batch, of turns that are taken for other computers.
    words: BTreeMap<TurnNo, Seq>,
    rows: Vec<NewDelivery>,
}

impl RemoteEffects<'_> {
    /// Adds the rows of one event, and follows the changes that later events depend on.
    fn hear(&mut self, recorded: &RecordedEvent) {
        let at = recorded.seq;
        match &recorded.event {
            Event::Controlled { changes, .. } => {
                changes.iter().for_each(|change| self.change(change, at));
            }
            Event::Renamed { .. } | Event::Unarchived { .. } => self.all_are_stale(),
            Event::Archived { .. } => self.leave_idle(at),
            Event::Deleted { .. } => {
                for (_, member) in std::mem::take(&mut self.members) {
                    self.leave(&member, PartReason::Closed, at);
                }
            }
            Event::Posted(Posted { turn: Some(turn), hosted: Some(_), .. }) => {
                self.words.insert(*turn, at);
            }
            Event::Suppressed { turn: Some(turn), .. } => {
                self.words.entry(*turn).or_insert(at);
            }
            Event::TurnStarted { turn, hosted: Some(key), .. } => self.begin(*turn, key, at),
            Event::TurnEnded { turn, hosted: Some(key), .. } => {
                let said = self.words.remove(turn);
                self.end_hosted(key, said, at);
            }
            Event::Skipped { hosted: Some(key), why_not: WhyNot::OverBudget, .. } => {
                self.end_hosted(key, None, at);
            }
            Event::PermissionRequested { turn, .. } => {
                if let Some(key) = self.turn(*turn).and_then(|turn| turn.hosted.clone()) {
                    self.owe(&key.computer, &PostCommand::Asked { hosted: *key.clone() }, at);
                }
            }
            Event::PermissionAnswered { permission, .. } => {
                self.end_question(permission, WithdrawalReason::Gone, at);
                self.answer(permission, at);
            }
            Event::PermissionExpired { permission } => {
                self.end_question(permission, WithdrawalReason::GaveUp, at);
            }
            Event::PermissionWithdrawn { permission, because } => {
                self.end_question(permission, *because, at);
            }
            Event::TurnEnded { turn, participant, attempt, outcome, .. } => {
                let is_answered = matches!(outcome, Outcome::Spoke | Outcome::Passed);
                let member = self.members.get(participant).or(self.departed.get(participant));
                if let Some(member) = member.cloned() {
                    let lapse = *outcome == Outcome::Expired;
                    if !is_answered {
                        self.end_offer((*turn, *attempt), &member, lapse, at);
                    }
                    self.leave_closed(participant, &member, at);
                }
            }
            _ => {}
        }
    }

    /// Follows a change of the participants. For a removed session of another computer, adds a row
    /// about the end of its membership.
    fn change(&mut self, change: &Change, at: Seq) {
        match change {
            Change::Invited { participant, address, .. } => {
                if let Some(member) = address.as_ref().and_then(MemberElsewhere::at) {
                    self.members.insert(participant.clone(), member);
                }
                self.all_are_stale();
            }
            Change::Uninvited { participant, .. } => {
                self.all_are_stale();
                if let Some(member) = self.members.remove(participant) {
                    self.stale.remove(participant);
                    self.leave(&member, PartReason::Removed, at);
                    self.departed.insert(participant.clone(), member);
                }
            }
            _ => {}
        }
    }

    /// Notes that all sessions of other computers have an old title, or an old list of members.
    fn all_are_stale(&mut self) {
        self.stale.extend(self.members.keys().cloned());
    }

    /// Sends each noted session of another computer its membership, one time for all changes of the
    /// batch. An archived conversation sends nothing.
    fn place_all(&mut self, events: &[RecordedEvent]) {
        let Some(last) = events.last() else { return };
        if self.after.is_none_or(Conversation::is_archived) {
            return;
        }
        for participant in std::mem::take(&mut self.stale) {
            if let Some(MemberElsewhere { computer, session }) =
                self.members.get(&participant).cloned()
            {
                let placed = PostCommand::Placed { participant, session };
                self.owe(&computer, &placed, last.seq);
            }
        }
    }

    /// Ends the membership of each session of another computer that has no open turn, because the
    /// conversation is archived. A session with an open turn still gets the words of that turn.
    /// (Ruling 27.)
    fn leave_idle(&mut self, at: Seq) {
        let after = self.after;
        let has_turn = |id: &ParticipantId| {
            after.is_some_and(|state| state.open_turns().any(|turn| turn.participant == *id))
        };
        let idle: Vec<MemberElsewhere> = self
            .members
            .iter()
            .filter(|(id, _)| !has_turn(id))
            .map(|(_, member)| member.clone())
            .collect();
        idle.iter().for_each(|member| self.leave(member, PartReason::Closed, at));
    }

    /// Ends a membership at the end of the last open turn, if the conversation was archived before
    /// the batch.
    fn leave_closed(&mut self, id: &ParticipantId, member: &MemberElsewhere, at: Seq) {
        let was_archived = self.before.is_some_and(Conversation::is_archived);
        let is_over = self.after.is_none_or(|state| {
            state.is_archived() && state.open_turns().all(|turn| turn.participant != *id)
        });
        if was_archived && is_over {
            self.leave(member, PartReason::Closed, at);
        }
    }

    fn leave(&mut self, member: &MemberElsewhere, why: PartReason, at: Seq) {
        let left = PostCommand::Left { session: member.session.clone(), why };
        self.owe(&member.computer, &left, at);
    }

    /// Sends the computer of a turn's participant a row that the turn is over, because the offer
    /// has perhaps arrived there.
    fn end_offer(
        &mut self,
        (turn, attempt): (TurnNo, u32),
        member: &MemberElsewhere,
        lapse: bool,
        at: Seq,
    ) {
        let session = member.session.clone();
        let off = PostCommand::Off { turn, attempt, session, lapse };
        self.owe(&member.computer, &off, at);
    }

    /// Tells the computer of the conversation that a hosted turn has begun.
    fn begin(&mut self, turn: TurnNo, key: &HostedKey, at: Seq) {
        let Some(asked) = self.turn(turn).map(|turn| turn.cause.seq) else { return };
        let begun = PostCommand::Begun { hosted: key.clone(), asked };
        self.owe(&key.computer, &begun, at);
    }

    /// Tells the computer of the conversation that a hosted turn has ended. `said` is the position
    /// of the answer.
    fn end_hosted(&mut self, key: &HostedKey, said: Option<Seq>, at: Seq) {
        let is_joined =
            |state: &Conversation| state.joined_on(&key.computer, &key.stream).is_some();
        let parted = !self.after.is_some_and(is_joined);
        let ended = PostCommand::Ended { hosted: key.clone(), said, parted };
        self.owe(&key.computer, &ended, at);
    }

    /// Tells the computer of the conversation that a question of a hosted turn is over.
    fn end_question(&mut self, permission: &PermissionId, because: WithdrawalReason, at: Seq) {
        let hosted = self.asking(permission).and_then(|turn| turn.hosted.clone());
        if let Some(hosted) = hosted {
            let over = PostCommand::AskOver {
                hosted: *hosted.clone(),
                permission: permission.clone(),
                because,
            };
            self.owe(&hosted.computer, &over, at);
        }
    }

    /// Tells the computer that asked that people answered its question.
    fn answer(&mut self, permission: &PermissionId, at: Seq) {
        let Some(turn) = self.asking(permission) else { return };
        let (no, attempt) = (turn.no, turn.attempt);
        let Some(member) = self.members.get(&turn.participant).cloned() else { return };
        let answer = PostCommand::Answer { turn: no, attempt, session: member.session };
        self.owe(&member.computer, &answer, at);
    }

    /// Returns the turn whose question is open before the batch.
    fn asking(&self, permission: &PermissionId) -> Option<&Turn> {
        self.before?.open_turns().find(|turn| turn.permissions().any(|open| open == permission))
    }

    /// Returns a turn as it was before the batch, if it was open then. Otherwise returns it as it
    /// is after the batch.
    fn turn(&self, no: TurnNo) -> Option<&Turn> {
        let open = |state: Option<&'_ Conversation>| state.is_some_and(|it| it.turn(no).is_some());
        let state = if open(self.before) { self.before } else { self.after };
        state.and_then(|state| state.turn(no))
    }

    fn owe(&mut self, to: &ComputerId, command: &PostCommand, at: Seq) {
        self.rows.push(command.entry(to).delivery(0, at));
    }
}
