//! Turns for conversations of other computers, between words of the session's own conversation and
//! of each other, in any order: no answer ever belongs to two conversations.
#![allow(clippy::unwrap_used, missing_docs)]

mod home;

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Control, EngineCommand, Invite, Post, ShownAnswer,
};
use moothall_kernel::event::{
    Event, Fault, Outcome, Posted, RecordedEvent, SuppressedBecause, TurnKind, Usage,
};
use moothall_kernel::hosted::{FarOrigin, HOSTED_MAX, HostedKey, HostedTurn, HostedWords};
use moothall_kernel::ids::{Seq, TurnNo};
use moothall_kernel::link::{FarMember, JoinedConversation};
use moothall_kernel::message_part::Span;
use moothall_kernel::participant::{Address, AgentFacts, Kind, Profile};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::state::Turn;
use moothall_kernel::time::Timestamp;
use moothall_kernel::view::is_owed_to_chats;
use moothall_kernel::voices::Voices;
use proptest::prelude::*;

use home::*;

/// Checks the log: each hosted turn has its own post as its only cause and at most one answer, each
/// answer belongs to its turn, and no other event is about one of these messages.
fn check_log(log: &[RecordedEvent]) {
    let mut turns: BTreeMap<TurnNo, Option<HostedKey>> = BTreeMap::new();
    let mut posts: BTreeMap<Seq, HostedKey> = BTreeMap::new();
    let mut answered = BTreeSet::new();
    for recorded in log {
        match &recorded.event {
            Event::TurnGranted { turn, cause, hosted, .. } => {
                assert_eq!(hosted.as_deref(), posts.get(&cause.seq), "the cause of turn {turn}");
                turns.insert(*turn, hosted.as_deref().cloned());
            }
            Event::TurnWidened { turn, cause, .. } => {
                assert_eq!((&turns[turn], posts.get(&cause.seq)), (&None, None), "turn {turn}");
            }
            Event::TurnStarted { turn, hosted, .. } => {
                assert_eq!(hosted.as_deref(), turns[turn].as_ref(), "turn {turn}");
            }
            Event::TurnEnded { turn, hosted, fault, .. } => {
                assert_eq!(hosted.as_deref(), turns[turn].as_ref(), "turn {turn}");
                let joined = |fault: &Fault| matches!(fault.code.as_str(), "covered" | "merged");
                let joined = fault.as_ref().is_some_and(joined);
                assert!(hosted.is_none() || !joined, "another turn ended turn {turn}");
            }
            Event::Skipped { cause, hosted, .. } => {
                assert_eq!(hosted.as_deref(), posts.get(&cause.seq));
            }
            Event::RoundOpened { cause, .. } => assert!(!posts.contains_key(&cause.seq)),
            Event::Posted(posted) => {
                check_posted(posted, &turns);
                if let Some(words) = &posted.hosted {
                    posts.insert(recorded.seq, words.key().clone());
                    assert!(!recorded.event.is_in_prompts() && !is_owed_to_chats(&recorded.event));
                }
                let answer = posted.turn.filter(|_| posted.hosted.is_some());
                assert!(answer.is_none_or(|turn| answered.insert(turn)), "{answer:?} twice");
            }
            _ => {}
        }
    }
}

/// Checks that an answer belongs to the conversation of its turn.
fn check_posted(posted: &Posted, turns: &BTreeMap<TurnNo, Option<HostedKey>>) {
    match (posted.hosted.as_deref(), posted.turn) {
        (Some(HostedWords::Asks(_)), turn) => assert!(turn.is_none()),
        (Some(HostedWords::Answers(key)), Some(turn)) => {
            assert_eq!(Some(&**key), turns[&turn].as_ref());
            assert!(posted.mentions.is_empty(), "its names are those of another conversation");
        }
        (Some(HostedWords::Answers(_)), None) => panic!("an answer without a turn"),
        (None, Some(turn)) => assert_eq!(turns[&turn], None, "an answer of turn {turn} is local"),
        (None, None) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_answer_has_one_cause_and_one_conversation(
        policy in policies(),
        steps in prop::collection::vec(moves(), 1..70),
    ) {
        let mut home = Home::new(policy);
        steps.into_iter().for_each(|step| home.play(step));
        check_log(&home.log);
        let turns = |log: &[RecordedEvent]| Conversation::fold("home".into(), log);
        prop_assert_eq!(turns(&home.log), home.state);
    }

    /// Hosted turns that come and go while the session is idle change nothing of what is decided
    /// about the conversation's own words: no guard, no cursor, no cooldown and no budget of it.
    #[test]
    fn a_conversation_goes_on_as_if_there_were_no_hosted_turns(
        policy in policies(),
        steps in prop::collection::vec((moves(), 0..3_usize), 1..50),
    ) {
        let (mut alone, mut hosting) = (Home::new(policy.clone()), Home::new(policy));
        for (number, (step, from)) in steps.into_iter().enumerate() {
            let is_local = !matches!(
                step,
                Move::Host { .. }
                    | Move::Unhost(..)
                    | Move::Join(_)
                    | Move::Part(_)
                    | Move::Reply(_)
                    | Move::Erase(_)
                    | Move::Pass(_)
            );
            // A prompt may lack the newest events, and those are others here.
            let step = if let Move::Start(turn, _) = step { Move::Start(turn, 0) } else { step };
            if is_local {
                (alone.now, hosting.now) = (alone.now + 50, hosting.now + 50);
                alone.play(step.clone());
                hosting.play(step);
            }
            let is_idle = hosting.state.open_turns().next().is_none();
            if is_idle && !hosting.state.is_paused() {
                hosting.host(from, number as u64, number % 5 == 0);
                hosting.play(Move::Start(0, 0));
                hosting.play(Move::Finish(0, Some(["same", "@scribe see", "[PASS]"][number % 3])));
                assert!(hosting.state.open_turns().next().is_none());
            }
        }
        let (alone, hosting) = (outline(&alone.log), outline(&hosting.log));
        let first = alone.iter().zip(&hosting).find(|(one, other)| one != other);
        prop_assert_eq!(first, None);
        prop_assert_eq!(alone.len(), hosting.len());
    }
}

/// Returns the events without those of hosted turns. Turns are numbered and events placed as if
/// there were none, and sentences with such numbers are left out.
fn outline(log: &[RecordedEvent]) -> Vec<String> {
    let is_hosted = |event: &Event| match event {
        Event::Posted(posted) => posted.hosted.is_some(),
        Event::TurnGranted { hosted, .. }
        | Event::TurnStarted { hosted, .. }
        | Event::TurnEnded { hosted, .. } => hosted.is_some(),
        Event::Suppressed { because, .. } => because.to_string() == "listening",
        _ => false,
    };
    let own: Vec<&RecordedEvent> = log.iter().filter(|one| !is_hosted(&one.event)).collect();
    let place = |seq: u64| own.iter().take_while(|one| one.seq.0 <= seq).count();
    let turns: Vec<u64> = own
        .iter()
        .filter_map(|one| match &one.event {
            Event::TurnGranted { turn, .. } => Some(turn.0),
            _ => None,
        })
        .collect();
    let number = |turn: u64| turns.iter().position(|own| *own == turn).unwrap_or(usize::MAX);
    own.iter()
        .map(|one| {
            let mut event = serde_json::to_value(&one.event).unwrap();
            renumber(&mut event, &place, &number);
            event.to_string()
        })
        .collect()
}

fn renumber(
    value: &mut serde_json::Value,
    place: &dyn Fn(u64) -> usize,
    number: &dyn Fn(u64) -> usize,
) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|key, _| {
                !matches!(key.as_str(), "id" | "expires" | "deadline" | "message")
            });
            for (key, value) in fields.iter_mut() {
                match (key.as_str(), value.as_u64()) {
                    ("turn", Some(turn)) => *value = number(turn).into(),
                    ("seq" | "from_seq" | "through_seq" | "late" | "reply", Some(seq)) => {
                        *value = place(seq).into();
                    }
                    _ => renumber(value, place, number),
                }
            }
        }
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(|item| renumber(item, place, number));
        }
        _ => {}
    }
}

#[test]
fn an_offer_that_could_not_be_typed_as_it_stands_is_refused() {
    let offer = |label: &str, text: &str, bodies: &[(usize, usize)]| {
        let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
        let spans = serde_json::to_value(bodies).unwrap();
        let hosted = Box::new(HostedTurn {
            key: HostedKey {
                computer: "2a".into(),
                stream: "lunch".into(),
                turn: TurnNo(1),
                attempt: 1,
            },
            through: Seq(1),
            label: label.into(),
            kind: TurnKind::Reply,
            may_pass: false,
            bodies: serde_json::from_value::<Vec<Span>>(spans).unwrap().into(),
        });
        let host = EngineCommand::Host { hosted, text: text.into() };
        let decision = home.state.decide(Timestamp::from_millis(9), host, &home.facts);
        decision.outcome.map_err(|rejection| rejection.code)
    };
    assert_eq!(offer("a", "grüß", &[(0, 2), (2, 4)]), Ok(()));
    let long = "x".repeat(512 * 1024 + 1);
    for (label, text, bodies) in [
        ("a", "grüß", &[(0, 3)][..]),
        ("a", "words", &[(2, 4), (0, 1)]),
        ("a", "words", &[(0, 6)]),
        ("a", "words", &[(3, 2)]),
        ("a", "two\r\nlines\u{7}", &[]),
        ("a", " ", &[]),
        ("A b", "words", &[]),
        ("a", &long, &[]),
    ] {
        let code = offer(label, text, bodies).unwrap_err();
        assert_eq!(code, "invalid_hosted", "{label} {bodies:?}");
    }
}

#[test]
fn a_hosted_turn_ends_by_itself_only_long_after_its_home_would_have_ended_it() {
    let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
    home.host(0, 1, false);
    home.host(2, 1, false);
    home.play(Move::Start(0, 0));
    let hours = |hours: i64| hours * 3_600_000;
    home.now += hours(47);
    home.command(EngineCommand::Tick);
    assert_eq!(home.state.open_turns().count(), 2);
    home.now += hours(1) + 10;
    home.command(EngineCommand::Tick);
    let open: Vec<&Turn> = home.state.open_turns().collect();
    assert_eq!(open.len(), 0, "{open:?}");
    assert_eq!(home.state.waits_for_people(), 0);
    let said = home.log.iter().filter(|one| matches!(one.event, Event::Posted(_))).count();
    assert_eq!(said, 2, "the failure is told where the turn was asked");
}

#[test]
fn words_of_other_computers_are_not_compared_with_those_here() {
    let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
    let mut voices = Voices::default();
    home.host(0, 1, false);
    home.play(Move::Start(0, 0));
    home.play(Move::Finish(0, Some("same")));
    home.log.iter().for_each(|recorded| voices.note(&home.state, recorded));
    assert_eq!(voices, Voices::default());
    home.post("codex", "same");
    home.log.iter().for_each(|recorded| voices.note(&home.state, recorded));
    assert_ne!(voices, Voices::default());
}

#[test]
fn a_session_takes_part_in_a_bounded_number_of_conversations_elsewhere() {
    let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
    let mut join = |computer: &str, stream: &str, members: usize, name: &str| {
        let address = |number: usize| Address {
            computer: computer.into(),
            kind: "session".into(),
            local_id: number.to_string(),
        };
        let member = |number| FarMember {
            address: address(number),
            name: name.to_owned(),
            number: None,
            part: None,
        };
        let joined = JoinedConversation {
            created_at: Timestamp::default(),
            computer: computer.into(),
            stream: stream.into(),
            title: "  two\nlines ".into(),
            link: false,
            participant: "codex.laptop".into(),
            members: (0..members).map(member).collect(),
        };
        let join = EngineCommand::Join(Box::new(joined));
        let decision = home.state.decide(Timestamp::from_millis(9), join, &home.facts);
        decision.outcome.map(|()| decision.events.len()).map_err(|rejection| rejection.code)
    };
    for number in 3..64 {
        assert_eq!(join("2a", &number.to_string(), 2, "Ann"), Ok(1));
    }
    assert_eq!(join("2a", "3", 2, "Ann"), Ok(0), "nothing changed");
    assert_eq!(join("2a", "3", 200, "Ann"), Ok(1), "one that is known may change");
    assert_eq!(join("2b", "3", 2, "Ann").unwrap_err(), "too_many_joined");
    assert_eq!(join("2a", "3", 201, "Ann").unwrap_err(), "invalid_joined");
    assert_eq!(join("2a", "3", 1, "moothall").unwrap_err(), "invalid_joined");
    assert_eq!(join("", "3", 1, "Ann").unwrap_err(), "invalid_joined");
    let long = "x".repeat(65);
    assert_eq!(join("2a", &long, 1, "Ann").unwrap_err(), "invalid_joined");
    let one = home.state.joined_on(&"2a".into(), &"3".into()).unwrap();
    assert_eq!((one.title.as_str(), one.members.len()), ("two lines", 200));
    assert_eq!(home.state.joined().count(), 64);
}

#[test]
fn words_of_a_session_elsewhere_are_charged_to_its_computer_and_counted_there() {
    let mut home = Home::new(Policy::named(PolicyName::Open));
    let far = FarOrigin { computer: "2a".into(), label: "a".into(), session: Some("s".into()) };
    let by = Actor::named("builder.a");
    let post = Post { far: Some(Box::new(far.clone())), ..Post::new(by, "the build is green") };
    home.command(ClientCommand::Post(post));
    let accounts: Vec<_> = home.state.open_turns().map(|turn| turn.account().clone()).collect();
    assert_eq!(accounts.len(), 2);
    for account in accounts {
        assert_eq!((account.by.as_str(), account.attended), ("computer:a", false));
    }
    let mut voices = Voices::default();
    home.log.iter().for_each(|recorded| voices.note(&home.state, recorded));
    assert_eq!(voices, Voices::default());
    let told = home.log.iter().find_map(|one| match &one.event {
        Event::Posted(posted) => posted.far.as_deref(),
        _ => None,
    });
    assert_eq!(told, Some(&far));
}

#[test]
fn the_other_conversation_judges_an_empty_answer_by_what_it_asked() {
    for (may_pass, outcome) in [(2, Outcome::Passed), (1, Outcome::Failed)] {
        for policy in [PolicyName::Open, PolicyName::MentionOnly] {
            let mut home = Home::new(Policy::named(policy));
            home.host(0, may_pass, false);
            home.play(Move::Start(0, 0));
            home.play(Move::Finish(0, Some("")));
            let Event::TurnEnded { outcome: ended, .. } = &home.log.last().unwrap().event else {
                panic!("{:?}", home.log.last());
            };
            assert_eq!(*ended, outcome, "{policy}");
        }
    }
}

#[test]
fn what_comes_after_a_stop_cannot_be_published() {
    let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
    home.host(0, 1, false);
    home.play(Move::Start(0, 0));
    let turn = home.open(0).unwrap().no;
    let shown = ShownAnswer { attempt: 1, text: "so far".into(), ..ShownAnswer::default() };
    home.facts.shown.insert(turn, shown);
    home.play(Move::Stop);
    let (result, usage) = (Ok("so far and further".into()), Usage::default());
    home.command(EngineCommand::Finished { turn, attempt: 1, result, usage });
    let kept = home.log.iter().find_map(|one| match &one.event {
        Event::Suppressed { because, .. } => Some(*because),
        _ => None,
    });
    assert_eq!(kept, Some(SuppressedBecause::Stopped));
}

#[test]
fn many_offers_within_a_minute_are_not_two_agents_who_answer_each_other() {
    let mut home = Home::new(Policy::named(PolicyName::Open));
    for turn in 1..30 {
        home.host(0, turn, false);
        home.play(Move::Start(0, 0));
        home.play(Move::Finish(0, Some("same")));
    }
    home.post("scribe", "other words");
    assert_eq!(home.state.holding_guard(), None);
}

#[test]
fn a_hosted_turn_that_a_restart_lost_is_run_and_charged_again_beside_a_local_one() {
    let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
    home.host(0, 1, false);
    home.play(Move::Start(0, 0));
    home.post("user", "@codex go");
    let (turn, now) = (home.open(0).unwrap().no, Timestamp::from_millis(home.now));
    let lost = EngineCommand::Lost { turn, attempt: 1 };
    let decision = home.state.decide(now, lost, &home.facts);
    let charged: Vec<_> =
        decision.charges.iter().map(|charge| (charge.account.by.as_str(), charge.turns)).collect();
    assert_eq!(charged, [("computer:a", 1)]);
    let again = home.state.turn(turn).unwrap();
    assert_eq!((again.attempt, again.is_hosted()), (2, true));
    assert!(again.deadline.since(now) >= HOSTED_MAX);
}

#[test]
fn words_of_another_computer_are_an_agents_under_any_name() {
    let mut home = Home::new(Policy::named(PolicyName::MentionOnly));
    let word = || Some("human".to_owned());
    let profile = Profile { client: word(), model: word(), ..Profile::default() };
    let ann = Control::Invite(Invite::new("ann.laptop", profile, AgentFacts::external()));
    home.command(ClientCommand::Control { by: Actor::human("user"), controls: vec![ann] });
    assert!(home.state.is_human(&"ann.laptop".into()));
    for by in ["ann.laptop", "user.laptop"] {
        let far = FarOrigin { computer: "2abc".into(), label: "laptop".into(), session: None };
        let post = Post { far: Some(Box::new(far)), ..Post::new(Actor::named(by), "hi") };
        home.command(ClientCommand::Post(post));
        let Some(Event::Posted(posted)) = home.log.last().map(|last| &last.event) else {
            panic!("{by}: {:?}", home.log.last())
        };
        assert_eq!((posted.from.as_str(), posted.kind), (by, Kind::Agent));
    }
}
