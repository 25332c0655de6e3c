//! The guards of a conversation as people read them: held, refused, near its limit, and what lifts
//! it. Each count is one that decisions are made with. (Rulings 14, 16, 18, 20 and 38.)

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, Facts, Invite, Post, Rejection,
};
use moothall_kernel::event::Guard;
use moothall_kernel::guards::{Check, Count, GuardRow, GuardState, Lift, Speakers};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::{AgentFacts, Profile};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};

/// A conversation with two remote agents that only read.
struct Room {
    now: Timestamp,
    state: Conversation,
    facts: Facts,
}

fn person() -> Actor {
    Actor::human("user")
}

impl Room {
    fn of(policy: Policy) -> Self {
        let now = Timestamp::from_millis(1_763_700_000_000);
        let mut room =
            Self { now, state: Conversation::new("room".into()), facts: Facts::default() };
        room.give(ClientCommand::Create { name: "r".into(), policy, folder: None, by: person() })
            .unwrap();
        for agent in ["ada", "bob"] {
            let profile =
                Profile { client: Some("x".into()), model: Some("m".into()), ..Profile::default() };
            let invite = Invite::new(agent, profile, AgentFacts::external());
            room.control(person(), Control::Invite(invite)).unwrap();
            room.facts.readers.insert(ParticipantId::new(agent));
        }
        room
    }

    fn under(name: PolicyName) -> Self {
        Self::of(Policy::named(name))
    }

    fn give(&mut self, command: impl Into<Command>) -> Result<(), Rejection> {
        let decision = self.state.decide(self.now, command, &self.facts);
        let voices = Arc::make_mut(&mut self.facts.voices);
        decision.events.iter().for_each(|recorded| voices.note(&self.state, recorded));
        // Events are at least 1 ms apart, so the log may be ahead of the clock.
        self.now = decision.events.last().map_or(self.now, |recorded| recorded.ts);
        decision.outcome
    }

    fn control(&mut self, by: Actor, control: Control) -> Result<(), Rejection> {
        self.give(ClientCommand::Control { by, controls: vec![control] })
    }

    fn says(&mut self, who: &str, words: &str) -> Result<(), Rejection> {
        self.give(ClientCommand::Post(Post::new(Actor::unproven(who), words)))
    }

    /// Posts exchanges of two agents, which speak in turn.
    fn exchanges(&mut self, count: usize) {
        for n in 0..count {
            self.now = self.now + Millis::from_secs(20);
            let (me, other) = if n % 2 == 0 { ("ada", "bob") } else { ("bob", "ada") };
            self.says(me, &format!("@{other} and {n}")).unwrap();
        }
    }

    fn guards(&self) -> Vec<GuardRow> {
        self.state.guards(self.now)
    }

    fn row(&self, guard: &Check) -> Option<GuardRow> {
        self.guards().into_iter().find(|row| row.guard == *guard)
    }

    /// Carries out the row's action to lift the guard.
    fn lift(&mut self, row: &GuardRow) {
        match &row.lift {
            Lift::Resume => self.control(person(), Control::Resume),
            Lift::Unmute(id) => self.control(person(), Control::Unmute(vec![id.to_string()])),
            Lift::Config { key, value } => {
                let keys = serde_json::json!({ *key: value }).as_object().unwrap().clone();
                self.control(person(), Control::Config(keys))
            }
            Lift::Stop => self.give(ClientCommand::Stop { by: person() }),
            Lift::Words => self.says("user", "go on"),
            Lift::Until(at) => {
                self.now = *at;
                Ok(())
            }
        }
        .unwrap();
        assert_eq!(self.row(&row.guard).filter(|after| after.count == row.count), None, "{row:?}");
    }
}

fn count(count: u64, limit: u64) -> Option<Count> {
    Some(Count { count, limit })
}

#[test]
fn a_limit_is_near_from_three_quarters_of_it_on() {
    for (limit, near) in [(1, 1), (2, 2), (3, 2), (4, 3), (8, 6), (20, 15), (512, 384)] {
        assert!(Count { count: near, limit }.is_near(), "{near} of {limit}");
        assert!(!Count { count: near - 1, limit }.is_near(), "{} of {limit}", near - 1);
    }
}

#[test]
fn a_quiet_conversation_has_no_rows() {
    for policy in PolicyName::chosen() {
        let mut room = Room::under(policy);
        room.says("user", "good morning").unwrap();
        assert_eq!(room.guards(), vec![], "{policy}");
    }
}

#[test]
fn exchanges_are_near_from_three_quarters_on_and_then_held() {
    let mut room = Room::under(PolicyName::MentionOnly);
    room.says("user", "talk").unwrap();
    room.exchanges(14);
    assert_eq!(room.row(&Check::Exchanges), None);
    room.exchanges(1);
    let near = room.row(&Check::Exchanges).unwrap();
    assert_eq!((near.state, near.count, near.proof), (GuardState::Near, count(15, 20), true));
    room.exchanges(5);
    let [hold] = &room.guards()[..] else { panic!("{:?}", room.guards()) };
    assert_eq!((hold.guard.clone(), hold.state), (Check::Hold(Guard::Exchanges), GuardState::Held));
    assert_eq!((hold.since, hold.proof, hold.words_left), (Some(room.now), true, Some(6)));
    assert_eq!(hold.lift.command().as_deref(), Some("/resume"));
    assert!(hold.is_public() && !near.is_public());
    let hold = hold.clone();
    room.lift(&hold);
    assert_eq!(room.guards(), vec![]);
}

#[test]
fn words_without_proof_lift_a_hold_a_few_times_and_the_row_says_how_often() {
    let mut room = Room::of(Policy { max_exchanges_without_human: 2, ..Policy::default() });
    for left in (0..6).rev() {
        room.exchanges(2);
        assert_eq!(room.row(&Check::Hold(Guard::Exchanges)).unwrap().words_left, Some(left + 1));
        room.says("user", "go on").unwrap();
        assert_eq!(room.guards(), vec![]);
    }
    room.exchanges(2);
    assert_eq!(room.guards()[0].words_left, Some(0));
}

#[test]
fn a_pair_within_a_minute_is_near_until_the_minute_is_over() {
    let policy = Policy { max_exchanges_without_human: 100, ..Policy::default() };
    let mut room = Room::of(policy);
    for n in 0..15 {
        room.now = room.now + Millis::from_secs(3);
        room.says("ada", &format!("@bob and {n}")).unwrap();
    }
    let pair = Check::Pair("ada".into(), "bob".into());
    assert_eq!(room.row(&pair).unwrap().count, count(15, 20));
    room.now = room.now + Millis::from_secs(60);
    assert_eq!(room.row(&pair), None);
}

#[test]
fn repeated_words_are_near_before_they_hold_a_link() {
    let mut room = Room::under(PolicyName::Open);
    room.says("ada", "@bob ping").unwrap();
    assert_eq!(room.row(&Check::Repeat), None);
    room.now = room.now + Millis::from_secs(20);
    room.says("ada", "@bob ping").unwrap();
    let near = room.row(&Check::Repeat).unwrap();
    assert_eq!((near.state, near.count), (GuardState::Near, count(2, 3)));
    room.lift(&near);
}

#[test]
fn a_pause_a_stop_and_a_mute_say_since_when_and_whether_proof_ends_them() {
    for (by, proof) in [(person(), true), (Actor::unproven("user"), false)] {
        let mut room = Room::under(PolicyName::MentionOnly);
        room.control(by.clone(), Control::Pause(true)).unwrap();
        let since = room.now;
        room.now = since + Millis::from_secs(5);
        room.control(by.clone(), Control::Mute(vec!["ada".into()])).unwrap();
        room.control(by.clone(), Control::Pause(true)).unwrap();
        let pause = room.row(&Check::Pause).unwrap();
        assert_eq!((pause.state, pause.since, pause.proof), (GuardState::Held, Some(since), proof));
        let mute = room.row(&Check::Mute("ada".into())).unwrap();
        assert_eq!((mute.state, mute.proof), (GuardState::Refused, proof));
        assert_eq!(mute.lift.command().as_deref(), Some("/unmute ada"));
        room.says("ada", "let me speak").unwrap_err();
        let kept = room.row(&Check::Refused("ada".into())).unwrap();
        assert_eq!((kept.count, &kept.lift), (count(1, 20), &mute.lift));
        room.lift(&mute);
        room.lift(&pause);
        let kept = room.row(&Check::Refused("ada".into())).unwrap();
        room.lift(&kept);
        assert_eq!(room.guards(), vec![]);

        room.says("bob", "working on it").unwrap();
        room.give(ClientCommand::Stop { by }).unwrap();
        let stop = room.row(&Check::Stop("user".into())).unwrap();
        assert_eq!((stop.since, stop.proof), (Some(room.now), false));
        room.lift(&stop);
    }
}

#[test]
fn a_queue_and_the_share_of_one_sender_are_counted() {
    let policy = Policy { max_queued_messages: 8, ..Policy::named(PolicyName::Hybrid) };
    let mut room = Room::of(policy);
    room.control(person(), Control::Pause(true)).unwrap();
    for (who, full) in [("user", true), ("ann", true), ("cid", true)] {
        for n in 0..2 {
            let by = Actor::human(who);
            room.give(ClientCommand::Post(Post::new(by, format!("more {n}")))).unwrap();
        }
        let share = room.row(&Check::QueueShare(who.into())).unwrap();
        assert_eq!((share.state == GuardState::Refused, share.count), (full, count(2, 2)));
    }
    let queue = room.row(&Check::Queue).unwrap();
    assert_eq!((queue.state, queue.count), (GuardState::Near, count(6, 8)));
    assert_eq!(queue.lift.command().as_deref(), Some("/group config max_queued_messages 16"));
    assert_eq!(room.guards()[0].guard, Check::Pause, "what is held comes first");
    room.lift(&queue);
}

#[test]
fn replies_and_the_pace_are_near_while_agents_speak_by_themselves() {
    let mut room = Room::under(PolicyName::Hybrid);
    room.says("user", "good morning").unwrap();
    room.says("ada", "one").unwrap();
    assert_eq!(room.row(&Check::Replies), None);
    room.now = room.now + Millis::from_secs(30);
    room.says("ada", "two").unwrap();
    let replies = room.row(&Check::Replies).unwrap();
    assert_eq!((replies.state, replies.count), (GuardState::Near, count(2, 3)));
    room.lift(&replies);

    let mut room = Room::under(PolicyName::MentionOnly);
    for n in 0..23 {
        room.now = room.now + Millis::from_secs(2);
        room.says("ada", &format!("build {n} is done")).unwrap();
    }
    let pace = room.row(&Check::Pace).unwrap();
    assert_eq!((pace.state, pace.count), (GuardState::Near, count(23, 30)));
    room.lift(&pace);
}

#[test]
fn own_words_near_their_limit_of_an_hour_say_whose_they_are_and_when_there_is_room() {
    let mut room = Room::under(PolicyName::MentionOnly);
    let mut first = None;
    for n in 0..450 {
        let post = Post::new(Actor::unproven("ada"), format!("build {n} is done"));
        room.give(ClientCommand::Post(Post { credential: Some("t1".into()), ..post })).unwrap();
        first = first.or(Some(room.now));
        room.now = room.now + Millis::from_secs(7);
    }
    let rows = room.facts.voices.guards(room.now);
    let of: Vec<_> = rows.iter().map(|row| row.of.clone()).collect();
    assert_eq!(of, [Speakers::Participant("ada".into()), Speakers::Credential("t1".into())]);
    assert!(rows.iter().all(|row| Some(row.count) == count(450, 600)));
    assert_eq!(rows[0].until, first.unwrap() + Millis::from_secs(3600));
    assert_eq!(room.facts.voices.guards(room.now + Millis::from_secs(3600)), vec![]);
}

#[test]
fn an_archived_conversation_has_no_rows() {
    let mut room = Room::under(PolicyName::MentionOnly);
    room.control(person(), Control::Pause(true)).unwrap();
    room.give(ClientCommand::Archive { by: person(), on: true }).unwrap();
    assert_eq!(room.guards(), vec![]);
}
