//! Properties of a conversation under any commands in any order, and of the text functions under
//! any text.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post,
};
use moothall_kernel::compose::{Material, Story, TRANSCRIPT_BYTES, compose};
use moothall_kernel::event::{Event, Fault, Outcome, Recipient, RecordedEvent, Usage};
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::participant::{AgentFacts, Profile, Runtime, SeatRole};
use moothall_kernel::pass::{PASS, is_pass, may_become_pass};
use moothall_kernel::permission::{PermissionOption, Question, WithdrawalReason};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::text::{clean, cut, for_terminal, hang};
use moothall_kernel::time::{Millis, Timestamp};
use moothall_kernel::view::{Viewer, visible};
use moothall_kernel::{
    names,
    preview::{Draft, Forecast},
};
use proptest::prelude::*;
use strum::VariantArray;

const AGENTS: [&str; 4] = ["ann", "bob", "cy", "dee"];

/// One action. Numbers are taken modulo the number of choices.
#[derive(Clone, Debug)]
enum Move {
    Say { human: bool, who: usize, to: Option<usize>, body: String },
    Control(usize, Box<Control>),
    Start(usize, u64),
    Finish { turn: usize, text: Option<String>, stale: bool },
    Lose(usize),
    Ask(usize, u64),
    Answer,
    Withdraw,
    Pass(usize),
    Cancel(usize),
    Stop,
    Archive(bool),
    Gather,
    CloseGathering,
    Down(u64),
    Wait(i64),
    Offline(usize),
}

fn policies() -> impl Strategy<Value = Policy> {
    let names = prop::sample::select(PolicyName::VARIANTS.to_vec());
    (names, 0..4_u32, 1..4_u32, 0..4_u64, 1..6_u32, prop::option::of(0..3_u32)).prop_map(
        |(name, cap, depth, cooldown, exchanges, volunteers)| Policy {
            max_agent_turns_per_message: cap,
            max_depth: depth,
            cooldown: Millis::from_secs(cooldown),
            max_exchanges_without_human: exchanges,
            max_voluntary_responders: volunteers,
            ..Policy::named(name)
        },
    )
}

fn bodies() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "(hello|@ann|@bob|@cy,|@dee|@all|@critic|I pass to Bob|\n| ){1,6}",
        1 => Just(PASS.to_owned()),
        1 => Just("I pass".to_owned()),
        1 => any::<String>(),
    ]
}

fn invite(number: usize, remote: bool) -> Control {
    let profile = Profile {
        client: Some("demo".into()),
        model: Some("m".into()),
        roles: Some(vec!["critic".into()]),
        nickname: None,
    };
    let runtime = if remote { Runtime::REMOTE } else { Runtime::SCRIPT };
    let facts = AgentFacts::of_runtime(runtime);
    let mut invite = Invite::new(AGENTS[number % 4], profile, facts);
    invite.number = Some(number as u32 % 4 + 1);
    invite.part =
        Some(if number.is_multiple_of(4) { SeatRole::Harvester } else { SeatRole::Speaker });
    Control::Invite(invite)
}

fn controls() -> impl Strategy<Value = Control> {
    let agent = || prop::sample::select(AGENTS.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        (0..4_usize, any::<bool>()).prop_map(|(number, remote)| invite(number, remote)),
        agent().prop_map(Control::Uninvite),
        agent().prop_map(|id| Control::Mute(vec![id])),
        agent().prop_map(|id| Control::Unmute(vec![id])),
        any::<bool>().prop_map(Control::Pause),
        Just(Control::Resume),
        any::<bool>().prop_map(|on| Control::Discussion { on, allow_agent_mentions: true }),
        any::<bool>().prop_map(Control::InvitedAuto),
        agent().prop_map(|id| Control::Prod(vec![id])),
        policies().prop_map(Control::Policy),
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        8 => (any::<bool>(), 0..4_usize, prop::option::weighted(0.2, 0..4_usize), bodies())
            .prop_map(|(human, who, to, body)| Move::Say { human, who, to, body }),
        4 => (0..6_usize, controls())
            .prop_map(|(who, control)| Move::Control(who, Box::new(control))),
        8 => (0..4_usize, 0..4_u64).prop_map(|(turn, behind)| Move::Start(turn, behind)),
        8 => (0..4_usize, prop::option::weighted(0.9, bodies()), prop::bool::weighted(0.1))
            .prop_map(|(turn, text, stale)| Move::Finish { turn, text, stale }),
        2 => (0..4_usize).prop_map(Move::Lose),
        1 => (0..4_usize, 1..100_000_u64).prop_map(|(turn, within)| Move::Ask(turn, within)),
        1 => Just(Move::Answer),
        1 => Just(Move::Withdraw),
        1 => (0..4_usize).prop_map(Move::Pass),
        1 => (0..4_usize).prop_map(Move::Cancel),
        1 => Just(Move::Stop),
        1 => any::<bool>().prop_map(Move::Archive),
        1 => Just(Move::Gather),
        1 => Just(Move::CloseGathering),
        1 => (1..100_000_u64).prop_map(Move::Down),
        5 => prop_oneof![
            Just(1_i64),
            Just(700),
            Just(2500),
            Just(70_000),
            Just(4_000_000),
            Just(-9_000)
        ].prop_map(Move::Wait),
        1 => (0..4_usize).prop_map(Move::Offline),
    ]
}

/// A conversation under test, with all its events.
struct Table {
    state: Conversation,
    log: Vec<RecordedEvent>,
    now: i64,
    facts: Facts,
    permissions: u32,
}

impl Table {
    fn new(policy: Policy) -> Self {
        let state = Conversation::new("s".into());
        let mut table = Self {
            state,
            log: Vec::new(),
            now: 1_000_000,
            facts: Facts::default(),
            permissions: 0,
        };
        let user = Actor::named("user");
        table.command(ClientCommand::Create {
            name: "t".into(),
            policy,
            folder: None,
            by: user.clone(),
        });
        let controls = (0..4).map(|number| invite(number, number == 3)).collect();
        table.command(ClientCommand::Control { by: user, controls });
        table
    }

    fn command(&mut self, command: impl Into<Command>) {
        self.log.extend(
            self.state.decide(Timestamp::from_millis(self.now), command, &self.facts).events,
        );
    }

    fn turn(&self, number: usize) -> Option<(TurnNo, u32)> {
        let open: Vec<_> = self.state.open_turns().map(|turn| (turn.no, turn.attempt)).collect();
        open.get(number % open.len().max(1)).copied()
    }

    /// Returns a turn that the host would run now.
    fn due(&self, number: usize) -> Option<(TurnNo, u32)> {
        let run = self.state.duties().run;
        run.get(number % run.len().max(1)).map(|run| (run.turn, run.attempt))
    }

    fn play(&mut self, step: Move) {
        let user = Actor::named("user");
        let agent = |number: usize| Actor::named(AGENTS[number % 4]);
        match step {
            Move::Say { human, who, to, body } => {
                let by = if human { user } else { agent(who) };
                let to = to.map_or(Recipient::All, |to| Recipient::One(AGENTS[to].into()));
                self.command(ClientCommand::Post(Post { to, ..Post::new(by, body) }));
            }
            Move::Control(who, control) => {
                let by = if who < 4 { user } else { agent(who) };
                self.command(ClientCommand::Control { by, controls: vec![*control] });
            }
            Move::Start(number, behind) => {
                let Some((turn, attempt)) = self.due(number) else { return };
                let through = Seq(self.state.head().0.saturating_sub(behind));
                self.command(EngineCommand::Started { turn, attempt, through });
            }
            Move::Finish { turn, text, stale } => {
                let Some((turn, attempt)) = self.due(turn) else { return };
                let result = text.ok_or_else(|| Fault::new("x", "y"));
                self.command(EngineCommand::Finished {
                    turn,
                    attempt: attempt - u32::from(stale),
                    result,
                    usage: Usage::default(),
                });
            }
            Move::Lose(number) => {
                let Some((turn, attempt)) = self.turn(number) else { return };
                self.command(EngineCommand::Lost { turn, attempt });
            }
            Move::Ask(number, within) => {
                let Some((turn, _)) = self.turn(number) else { return };
                self.permissions += 1;
                let permission = PermissionId::new(self.permissions.to_string());
                self.command(EngineCommand::AskPermission {
                    permission,
                    turn,
                    question: Box::new(Question::new("a", PermissionOption::allow_or_deny())),
                    within: Millis(within),
                });
            }
            Move::Answer => {
                let permission = PermissionId::new(self.permissions.to_string());
                self.command(ClientCommand::AnswerPermission {
                    permission,
                    option: "allow".into(),
                    text: None,
                    by: user,
                });
            }
            Move::Withdraw => {
                let permission = PermissionId::new(self.permissions.to_string());
                self.command(EngineCommand::WithdrawPermission {
                    permission,
                    because: WithdrawalReason::Replaced,
                });
            }
            Move::Pass(who) => self.command(ClientCommand::Pass {
                by: agent(who),
                to: None,
                reply_to: None,
                at_once: false,
            }),
            Move::Cancel(number) => {
                let Some((turn, _)) = self.turn(number) else { return };
                self.command(ClientCommand::Cancel { turn, by: user });
            }
            Move::Stop => self.command(ClientCommand::Stop { by: user }),
            Move::Archive(on) => self.command(ClientCommand::Archive { on, by: user }),
            Move::Gather => {
                self.command(ClientCommand::Gather { by: user, plan: plan(), controls: Vec::new() })
            }
            Move::CloseGathering => self.command(ClientCommand::CloseGathering { by: user }),
            Move::Down(length) => {
                self.now += length as i64;
                self.command(EngineCommand::ShiftClock { downtime: Millis(length) });
            }
            Move::Wait(length) => {
                self.now += length;
                self.command(EngineCommand::Tick);
            }
            Move::Offline(who) => {
                let id = ParticipantId::new(AGENTS[who]);
                if !self.facts.offline.remove(&id) {
                    self.facts.offline.insert(id);
                }
                self.command(EngineCommand::Tick);
            }
        }
    }
}

fn plan() -> GatheringPlan {
    GatheringPlan {
        rhythm: "r".into(),
        breath: [1, 1, 1],
        beats_per_turn: 2,
        beat_interval: Millis::from_secs(2),
        last_word: Millis::from_secs(1),
        opening_question: "?".into(),
        hearing: DeliveryMode::Live,
        pulse: Vec::new(),
        signals: Vec::new(),
    }
}

/// Checks that every granted turn that is not open has ended once, with at most one visible reply.
fn check_turns(table: &Table) {
    let mut open = BTreeSet::new();
    let mut replies: BTreeMap<TurnNo, u32> = BTreeMap::new();
    for recorded in &table.log {
        match &recorded.event {
            Event::TurnGranted { turn, .. } => assert!(open.insert(*turn)),
            Event::TurnEnded { turn, outcome, .. } => {
                assert!(open.remove(turn), "turn {turn} ended twice");
                assert!(*outcome == Outcome::Spoke || !replies.contains_key(turn));
            }
            Event::Posted(posted) if posted.error.is_none() && posted.published.is_none() => {
                if let Some(turn) = posted.turn {
                    assert!(open.contains(&turn), "turn {turn} is answered after its end");
                    *replies.entry(turn).or_default() += 1;
                    assert_eq!(replies[&turn], 1);
                }
            }
            _ => {}
        }
    }
    assert!(open.into_iter().eq(table.state.open_turns().map(|turn| turn.no)));
    for agent in AGENTS {
        let own: Vec<_> =
            table.state.open_turns().filter(|turn| turn.participant == agent.into()).collect();
        assert!(own.iter().filter(|turn| turn.running.is_some()).count() <= 1, "{own:?}");
        assert!(own.iter().filter(|turn| turn.running.is_none()).count() <= 1, "{own:?}");
    }
}

fn check_order(table: &Table) {
    for (place, recorded) in table.log.iter().enumerate() {
        assert_eq!(recorded.seq, Seq(place as u64 + 1));
        let rises = place == 0 || table.log[place - 1].ts < recorded.ts;
        assert!(rises, "time does not rise at {}", recorded.seq);
    }
}

/// Checks that only operators see the trace, and that participants are not told their own words as
/// news.
fn check_prompts(table: &Table) {
    let head = table.state.head();
    for turn in table.state.open_turns() {
        let viewer = Viewer::Participant(turn.participant.clone());
        let story = Story::of(
            &table.state,
            Material::of(&table.log),
            &Viewer::Participant(turn.participant.clone()),
        );
        let prompt = compose(&table.state, turn, Seq(0), head, &story, TRANSCRIPT_BYTES);
        assert!(prompt.text.contains("## Your Turn"));
        let own = format!("\n[{}] ", table.state.name_of(&turn.participant));
        let account = prompt.text.split("## Your Turn").next().unwrap();
        assert!(!account.contains(&own), "{account}");
        assert!(
            !table.log.iter().any(|recorded| matches!(recorded.event, Event::Suppressed { .. })
                && visible(&recorded.event, &viewer))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn promises_hold_whatever_is_asked(
        policy in policies(),
        steps in prop::collection::vec(moves(), 1..80),
    ) {
        let mut table = Table::new(policy);
        for step in steps {
            table.play(step);
            let duties = table.state.duties();
            let running: BTreeSet<_> = duties.run.iter().map(|run| &run.participant).collect();
            prop_assert!(running.len() == duties.run.len());
        }
        prop_assert_eq!(&Conversation::fold("s".into(), &table.log), &table.state);
        check_order(&table);
        check_turns(&table);
        check_prompts(&table);
    }

    #[test]
    fn a_preview_decides_nothing_and_names_each_agent_once(
        policy in policies(),
        steps in prop::collection::vec(moves(), 0..20),
        body in bodies(),
    ) {
        let mut table = Table::new(policy);
        steps.into_iter().for_each(|step| table.play(step));
        let now = Timestamp::from_millis(table.now);
        let draft = Draft { body: body.clone(), ..Draft::default() };
        let forecast =
            table.state.preview(now, &ParticipantId::user(), &draft, &table.facts).forecast;
        let mut seen = BTreeSet::new();
        let once = forecast
            .into_iter()
            .all(|Forecast { participant, .. }| seen.insert(participant));
        prop_assert!(once);
        prop_assert_eq!(seen.len(), table.state.agents().count());
    }

    #[test]
    fn events_survive_their_serialisation(
        policy in policies(),
        steps in prop::collection::vec(moves(), 1..40),
    ) {
        let mut table = Table::new(policy);
        steps.into_iter().for_each(|step| table.play(step));
        for recorded in &table.log {
            let envelope = serde_json::to_string(&recorded.event).unwrap();
            let read: Event = serde_json::from_str(&envelope).unwrap();
            let read = match recorded.event.body() {
                Some(body) => read.with_body(body.to_owned()),
                None => read,
            };
            prop_assert_eq!(&read, &recorded.event);
        }
    }

    #[test]
    fn text_hygiene_is_calm_and_final(text in "(\\PC|[\\x00-\\x1f\\x7f\\u{80}-\\u{9f}\\u{200b}-\\u{200f}\\u{202a}-\\u{202e}\\u{2066}-\\u{2069}]|\\x1b[\\[\\]PX^_]|\\r\\n){0,60}") {
        let cleaned = clean(&text);
        prop_assert_eq!(&clean(&cleaned), &cleaned);
        let plain = cleaned.replace("\r\n", "\n");
        prop_assert!(plain.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        let shown = for_terminal(&text);
        prop_assert_eq!(&for_terminal(&shown), &shown);
        prop_assert!(shown.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        prop_assert!(hang(&text).lines().skip(1).all(|line| line.starts_with("  ")) || text.contains('\r'));
        for bytes in [0, 1, 5, text.len()] {
            prop_assert!(cut(&text, bytes).len() <= bytes && text.starts_with(cut(&text, bytes)));
        }
    }

    #[test]
    fn only_a_whole_pass_is_one(
        before in "\\s{0,3}",
        marks in "[*_]{0,3}",
        dot in "[.]?",
        after in "\\s{0,3}",
        other in any::<String>(),
    ) {
        let closing: String = marks.chars().rev().collect();
        let whole = format!("{before}{marks}{PASS}{dot}{closing}{after}");
        prop_assert!(is_pass(&whole));
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            prop_assert!(may_become_pass(&whole[..end]), "{:?}", &whole[..end]);
        }
        let bare: String = other.chars().filter(|c| c.is_ascii_alphabetic()).collect();
        prop_assert!(!is_pass(&other) || bare.eq_ignore_ascii_case("pass"));
        let continued = is_pass(&[&other, PASS].concat());
        prop_assert!(may_become_pass(&other) || !continued);
    }

    #[test]
    fn names_are_normalised_once_and_for_all(given in any::<String>()) {
        let _ = names::check_id(&given);
        if let Ok(name) = names::nickname(&given) {
            prop_assert_eq!(names::nickname(&name), Ok(name.clone()));
            prop_assert_eq!(names::skeleton(&name), names::skeleton(&given.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }

    #[test]
    fn mentions_name_only_the_invited_and_never_the_speaker(body in "(@|ann|bob|cy|dee|critic|demo|`|```|>|\n| |://|www\\.|\\.|,|\\PC){0,40}", who in 0..4_usize) {
        let mut table = Table::new(Policy::named(PolicyName::Open));
        table.play(Move::Say { human: false, who, to: None, body });
        if let Some(Event::Posted(posted)) = table.log.iter().map(|recorded| &recorded.event).find(|event| event.kind() == "posted") {
            let named: BTreeSet<_> = posted.mentions.iter().collect();
            prop_assert_eq!(named.len(), posted.mentions.len());
            let mut mentions = posted.mentions.iter();
            prop_assert!(mentions.all(|id| AGENTS.contains(&id.as_str()) && *id != posted.from));
        }
    }
}
