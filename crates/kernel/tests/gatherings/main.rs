//! Gatherings under generated speech and generated trouble: no words pass the piece by accident,
//! and every gathering reaches its close.
#![allow(clippy::unwrap_used)]

mod criteria;
mod speech;
mod trouble;

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite,
};
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::ids::{ParticipantId, TurnNo};
use moothall_kernel::participant::{AgentFacts, Profile, Runtime, SeatRole};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};

/// A random generator that repeats for the same seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }
}

/// A conversation, the time, and the facts.
#[derive(Clone)]
struct Table {
    state: Conversation,
    log: Vec<RecordedEvent>,
    now: i64,
    facts: Facts,
}

impl Table {
    fn new() -> Self {
        let (state, facts) = (Conversation::new("s".into()), Facts::default());
        let mut table = Self { state, log: Vec::new(), now: 1_000_000, facts };
        let policy = Policy::named(PolicyName::TalkingPiece);
        let by = Actor::named("user");
        table.command(ClientCommand::Create { name: "t".into(), policy, folder: None, by });
        table
    }

    fn command(&mut self, command: impl Into<Command>) -> Vec<RecordedEvent> {
        let now = Timestamp::from_millis(self.now);
        let events = self.state.decide(now, command, &self.facts).events;
        self.log.extend(events.iter().cloned());
        events
    }

    fn invite(&mut self, id: &str, number: u32, part: SeatRole, runtime: Option<Runtime>) {
        let client = if runtime.is_some() { "demo" } else { "human" };
        let profile = Profile {
            client: Some(client.into()),
            model: Some("m".into()),
            roles: None,
            nickname: Some(id[..1].to_uppercase() + &id[1..]),
        };
        let facts = runtime.map_or(AgentFacts::external(), AgentFacts::of_runtime);
        let mut invite = Invite::new(id, profile, facts);
        (invite.number, invite.part) = (Some(number), Some(part));
        let controls = vec![Control::Invite(invite)];
        self.command(ClientCommand::Control { by: Actor::named("user"), controls });
    }

    fn gather(&mut self, breath: [u32; 3], beats_per_turn: u32, hearing: DeliveryMode) {
        self.begin(plan(breath, beats_per_turn, hearing));
    }

    fn begin(&mut self, plan: GatheringPlan) {
        let by = Actor::named("user");
        self.command(ClientCommand::Gather { by, plan, controls: Vec::new() });
        assert!(self.state.gathering().is_some());
    }

    fn holder(&self) -> Option<ParticipantId> {
        Some(self.state.gathering()?.tenure.as_ref()?.holder.clone())
    }

    /// Starts a participant's turn if it waits. Returns the running turn and its attempt.
    fn start_of(&mut self, id: &ParticipantId) -> Option<(TurnNo, u32)> {
        let due = self.state.duties().run;
        let run = due
            .into_iter()
            .find(|run| self.state.turn(run.turn).is_some_and(|turn| turn.participant == *id))?;
        let (turn, attempt) = (run.turn, run.attempt);
        if self.state.turn(turn)?.running.is_none() {
            let through = self.state.head();
            self.command(EngineCommand::Started { turn, attempt, through });
        }
        Some((turn, attempt))
    }
}

/// Returns the plan of a gathering of this length.
fn plan(breath: [u32; 3], beats_per_turn: u32, hearing: DeliveryMode) -> GatheringPlan {
    GatheringPlan {
        rhythm: "daily".into(),
        breath,
        beats_per_turn,
        beat_interval: Millis::from_secs(60),
        last_word: Millis::from_secs(20),
        opening_question: "What needs attention?".into(),
        hearing,
        pulse: Vec::new(),
        signals: Vec::new(),
    }
}
