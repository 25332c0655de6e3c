//! Time limits run from the start, pause while a permission is open or the server is down, and are
//! kept.

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::Conversation;
use moothall_kernel::event::{Change, Event, Outcome, RecordedEvent, TurnKind, TurnReason};
use moothall_kernel::gathering::{GatheringEvent, GatheringPlan};
use moothall_kernel::ids::{ParticipantId, PermissionId, TurnNo};
use moothall_kernel::time::{Millis, Timestamp};

use super::patience::RoundPatience;
use super::{Checker, ConversationModel, Scene, Verdict};

/// Longest time that a turn may wait for a runtime.
const WAIT: Millis = Millis::from_secs(3600);
/// Longest duration of a decision, in stream time.
const SLACK: Millis = Millis::from_secs(2);

#[derive(Default)]
pub(super) struct Deadlines {
    turns: BTreeMap<TurnNo, DeadlineClock>,
    /// Deadlines for people's answers to start requests.
    starts: BTreeMap<PermissionId, Timestamp>,
    plan: Option<GatheringPlan>,
    /// The turn that a round waits for, and its deadline.
    patience: Option<(TurnNo, Timestamp)>,
    round: RoundPatience,
    /// Time of the next beat, or of the end of the grace period.
    beat: Option<Timestamp>,
    /// Start of the current hold.
    held_since: Timestamp,
    /// True if the current hold has not had a beat yet.
    first_beat: bool,
}

struct DeadlineClock {
    participant: ParticipantId,
    deadline: Timestamp,
    permissions: BTreeSet<PermissionId>,
    frozen_since: Option<Timestamp>,
}

impl Checker for Deadlines {
    fn name(&self) -> &'static str {
        "deadlines"
    }

    fn event(
        &mut self,
        room: &ConversationModel,
        scene: &Scene<'_>,
        recorded: &RecordedEvent,
    ) -> Verdict {
        let ts = recorded.ts;
        if scene.place == 0 {
            self.resumed(room, scene, &recorded.event)?;
        }
        self.round.observe(room, recorded)?;
        match &recorded.event {
            Event::TurnGranted { turn, participant, expires, patience, .. } => {
                let clock = DeadlineClock {
                    participant: participant.clone(),
                    deadline: *expires,
                    permissions: BTreeSet::new(),
                    frozen_since: None,
                };
                self.turns.insert(*turn, clock);
                self.patience = patience.map(|until| (*turn, until));
                patience.map_or(Ok(()), |until| within(until, ts, room.policy.patience))?;
                within(*expires, ts, WAIT)
            }
            Event::TurnReleased { turn } => {
                let busy = room.turns.get(turn).is_some_and(|open| {
                    room.open_of(&open.participant).count() > 1 || open.released
                });
                let asks = self.is_asking(room, *turn);
                let goes_on = busy || asks || self.round.is_over(room, ts);
                match self.patience.take_if(|(awaited, _)| awaited == turn) {
                    Some((_, until)) if ts < until && !goes_on => {
                        Err(format!("turn {turn} was given up {} ms too soon", until.since(ts).0))
                    }
                    _ => Ok(()),
                }
            }
            Event::Controlled { changes, .. } => {
                let other = |change: &Change| {
                    matches!(
                        change,
                        Change::PolicySet { policy, .. } if policy.name != room.policy.name
                    )
                };
                self.patience.take_if(|_| changes.iter().any(other));
                Ok(())
            }
            Event::RoundClosed | Event::Stopped { .. } | Event::Archived { .. } => {
                self.patience = None;
                Ok(())
            }
            Event::TurnStarted { turn, attempt, deadline, .. } => {
                self.begins(room, *turn, *attempt, ts);
                if let Some(clock) = self.turns.get_mut(turn) {
                    clock.deadline = *deadline;
                }
                limit_of(room, *turn).map_or(Ok(()), |limit| within(*deadline, ts, limit))
            }
            Event::TurnLost { turn, expires, .. } => {
                self.thaw(room, *turn, ts);
                if let Some(clock) = self.turns.get_mut(turn) {
                    clock.permissions.clear();
                    clock.deadline = expires.unwrap_or(ts + WAIT);
                }
                expires.map_or(Ok(()), |expires| within(expires, ts, WAIT))
            }
            Event::TurnEnded { turn, outcome, .. } => {
                self.thaw(room, *turn, ts);
                self.patience.take_if(|(awaited, _)| awaited == turn);
                match self.turns.remove(turn) {
                    Some(clock) if *outcome == Outcome::Expired && ts < clock.deadline => Err(
                        format!("turn {turn} expired {} ms too soon", clock.deadline.since(ts).0),
                    ),
                    _ => Ok(()),
                }
            }
            Event::PermissionRequested { permission, turn, .. } => {
                if let Some(clock) = self.turns.get_mut(turn) {
                    clock.permissions.insert(permission.clone());
                    clock.frozen_since.get_or_insert(ts);
                }
                Ok(())
            }
            Event::StartRequested { permission, expires, .. }
            | Event::TalkRequested { permission, expires, .. } => {
                self.starts.insert(permission.clone(), *expires);
                Ok(())
            }
            Event::PermissionExpired { permission }
                if self.starts.get(permission).is_some_and(|until| ts < *until) =>
            {
                Err(format!("the time to answer {permission} was over too soon"))
            }
            Event::PermissionAnswered { permission, .. }
            | Event::PermissionExpired { permission }
            | Event::PermissionWithdrawn { permission, .. } => {
                self.starts.remove(permission);
                self.closed(room, permission, ts);
                Ok(())
            }
            Event::Gathering(step) => {
                self.moved(step, ts);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn step(&mut self, room: &ConversationModel, state: &Conversation) -> Verdict {
        let wakes = state.duties().wake_at;
        let asking = self.patience.filter(|(turn, _)| room.in_round && self.is_asking(room, *turn));
        if let Some((turn, _)) = asking {
            return Err(format!("the floor waits for turn {turn}, which waits for a person"));
        }
        let end = self.round.end(room);
        let awaited =
            self.patience.map(|(turn, until)| (turn, end.map_or(until, |end| end.min(until))));
        if let Some((turn, until)) =
            awaited.filter(|(_, until)| room.in_round && wakes.is_none_or(|at| at > *until))
        {
            return Err(format!(
                "nobody looks at {until} whether turn {turn} is still waited for; the next look is at {wakes:?}"
            ));
        }
        for turn in state.open_turns() {
            let Some(clock) = self.turns.get(&turn.no) else {
                return Err(format!("turn {} has no clock", turn.no));
            };
            if turn.deadline != clock.deadline {
                return Err(format!(
                    "turn {} ends at {}, not at {}",
                    turn.no, turn.deadline, clock.deadline
                ));
            }
        }
        let beat = state
            .gathering()
            .and_then(|gathering| gathering.tenure.as_ref())
            .map(|tenure| tenure.next_at);
        if beat != self.beat {
            return Err(format!("the next beat is at {beat:?}, not at {:?}", self.beat));
        }
        Ok(())
    }
}

impl Deadlines {
    /// Checks that everything that waits was moved by the downtime.
    fn resumed(&mut self, room: &ConversationModel, scene: &Scene<'_>, event: &Event) -> Verdict {
        let logged =
            if let Event::ClockShifted { downtime } = event { Some(*downtime) } else { None };
        let owed = scene.downtime.filter(|downtime| *downtime > Millis(0) && room.waits());
        if logged != owed {
            return Err(format!("the server was down for {owed:?}, and the log says {logged:?}"));
        }
        let Some(downtime) = logged else { return Ok(()) };
        for clock in self.turns.values_mut() {
            clock.deadline = clock.deadline + downtime;
            clock.frozen_since = clock.frozen_since.map(|since| since + downtime);
        }
        self.patience = self.patience.map(|(turn, until)| (turn, until + downtime));
        self.starts.values_mut().for_each(|until| *until = *until + downtime);
        self.beat = self.beat.map(|at| at + downtime);
        Ok(())
    }

    /// True if the program of a turn's participant waits for a person.
    fn is_asking(&self, room: &ConversationModel, turn: TurnNo) -> bool {
        let Some(DeadlineClock { participant, .. }) = self.turns.get(&turn) else { return false };
        let mut clocks = self.turns.values();
        clocks.any(|clock| clock.participant == *participant && clock.frozen_since.is_some())
            || room.questions.values().any(|asker| asker == participant)
    }

    fn closed(&mut self, room: &ConversationModel, permission: &PermissionId, ts: Timestamp) {
        let mut clocks = self.turns.iter_mut();
        let last = clocks.find_map(|(no, clock)| {
            (clock.permissions.remove(permission) && clock.permissions.is_empty()).then_some(*no)
        });
        if let Some(no) = last {
            self.thaw(room, no, ts);
        }
    }

    /// Resumes the clocks of a turn and of the hold it belongs to.
    fn thaw(&mut self, room: &ConversationModel, no: TurnNo, ts: Timestamp) {
        let Some(clock) = self.turns.get_mut(&no) else { return };
        let Some(since) = clock.frozen_since.take() else { return };
        let stood = ts.since(since);
        clock.deadline = clock.deadline + stood;
        if room.holder.as_ref() == Some(&clock.participant) {
            let stood = ts.since(since.max(self.held_since));
            self.beat = self.beat.map(|at| at + stood);
        }
    }

    /// Restarts the first beat when the holder begins its turn.
    fn begins(&mut self, room: &ConversationModel, turn: TurnNo, attempt: u32, ts: Timestamp) {
        let piece = room.turns.get(&turn).is_some_and(|open| {
            open.why == TurnReason::Piece
                && open.kind == TurnKind::Reply
                && room.holder.as_ref() == Some(&open.participant)
        });
        if piece && attempt == 1 && self.first_beat && self.beat.is_some() {
            self.beat = self.plan.as_ref().map(|plan| ts + plan.beat_interval);
        }
    }

    fn moved(&mut self, step: &GatheringEvent, ts: Timestamp) {
        match step {
            GatheringEvent::Opened { plan, .. } => self.plan = Some(plan.clone()),
            GatheringEvent::PieceGiven { .. } | GatheringEvent::Beat { .. } => {
                self.first_beat = matches!(step, GatheringEvent::PieceGiven { .. });
                if self.first_beat {
                    self.held_since = ts;
                }
                self.beat = self.plan.as_ref().map(|plan| ts + plan.beat_interval);
            }
            GatheringEvent::LastWordAsked => {
                self.beat = self.plan.as_ref().map(|plan| ts + plan.last_word)
            }
            GatheringEvent::PieceReleased { .. }
            | GatheringEvent::HarvestAsked { .. }
            | GatheringEvent::Closed { .. } => self.beat = None,
            GatheringEvent::RoundOpened { .. }
            | GatheringEvent::PassAsked { .. }
            | GatheringEvent::Harvested { .. } => {}
        }
    }
}

fn within(deadline: Timestamp, ts: Timestamp, limit: Millis) -> Verdict {
    let latest = ts + limit;
    if deadline > latest || deadline + SLACK < latest {
        return Err(format!("a limit of {} ms ends at {deadline}, counted from {ts}", limit.0));
    }
    Ok(())
}

/// Returns the time limit of a turn that starts now. (Ruling 12.)
fn limit_of(room: &ConversationModel, no: TurnNo) -> Option<Millis> {
    let turn = room.turns.get(&no)?;
    let facts = &room.members.get(&turn.participant)?.facts;
    let limit = room.policy.agent_reply_timeout.unwrap_or_else(|| facts.limit());
    if !turn.may_pass || turn.kind == TurnKind::Listen {
        return Some(limit);
    }
    let many = room.agents().count() >= 5;
    Some(
        room.policy
            .voluntary_timeout
            .map_or(if many { limit.half() } else { limit }, |voluntary| voluntary.min(limit)),
    )
}
