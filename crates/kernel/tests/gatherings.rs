//! Gatherings under generated speech and generated trouble: no words pass the piece by accident,
//! and whatever the speakers do, the close is reached.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::Conversation;
use moothall_kernel::command::{
    Actor, ClientCommand, Command, Control, EngineCommand, Facts, Invite, Post,
};
use moothall_kernel::event::{Event, Fault, Recorded, Usage};
use moothall_kernel::gathering::{GatheringEvent, GatheringPlan, Hearing};
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq};
use moothall_kernel::participant::{AgentFacts, Kind, Part, Profile, Runtime};
use moothall_kernel::permission::{PermissionOption, Question};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::{Millis, Timestamp};

/// Chance that is the same for the same seed (SplitMix64).
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

/// A conversation, the time, and what is known beside it.
#[derive(Clone)]
struct Table {
    state: Conversation,
    now: i64,
    facts: Facts,
}

impl Table {
    fn new() -> Self {
        let (state, facts) = (Conversation::new("s".into()), Facts::default());
        let mut table = Self { state, now: 1_000_000, facts };
        let policy = Policy::named(PolicyName::TalkingPiece);
        let by = Actor::named("user");
        table.command(ClientCommand::Create { name: "t".into(), policy, by });
        table
    }

    fn command(&mut self, command: impl Into<Command>) -> Vec<Recorded> {
        self.state.decide(Timestamp::from_millis(self.now), command, &self.facts).events
    }

    fn invite(&mut self, id: &str, number: u32, part: Part, runtime: Option<Runtime>) {
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

    fn gather(&mut self, breath: [u32; 3], beats_per_turn: u32, hearing: Hearing) {
        let plan = GatheringPlan {
            rhythm: "daily".into(),
            breath,
            beats_per_turn,
            beat_interval: Millis::from_secs(60),
            last_word: Millis::from_secs(20),
            opening_question: "What needs attention?".into(),
            hearing,
            pulse: Vec::new(),
            signals: Vec::new(),
        };
        self.command(ClientCommand::Gather {
            by: Actor::named("user"),
            plan,
            controls: Vec::new(),
        });
        assert!(self.state.gathering().is_some());
    }

    fn holder(&self) -> Option<ParticipantId> {
        Some(self.state.gathering()?.tenure.as_ref()?.holder.clone())
    }

    /// The turn that runs now of somebody, or could.
    fn start_of(&mut self, id: &ParticipantId) -> Option<(moothall_kernel::ids::TurnNo, u32)> {
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

/// What a contribution does with the piece, as the grammar below labels it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Passes {
    No,
    Next,
    To(&'static str),
}

/// Speech that mentions passing and passes nothing.
const SPEECH: [&str; 30] = [
    "When I pass to production it breaks.",
    "I pass to production",
    "I pass to the next point",
    "I pass on this one",
    "I pass the salt",
    "I pass judgement on nobody.",
    "I passed to Bob yesterday",
    "I will pass to Bob once the tests are green",
    "Should I pass to Bob?",
    "If I pass to Bob, Ann has to wait",
    "I pass to Bob and Ann",
    "I pass to Bob, who knows more",
    "We pass to Bob",
    "He said: I pass to Bob",
    "\"I pass to Bob\"",
    "'I pass.'",
    "`I pass to Bob`",
    "> I pass to Bob",
    ">> passing to Ann",
    "    I pass to Bob",
    "\tI pass",
    "- I pass to Bob",
    "1. I pass",
    "passing to staging",
    "Passing to Bob was a mistake",
    "The compiler says: passing to `Bob` moves it.",
    "pass",
    "passing",
    "Bob said \"I pass the piece\".",
    "I pass to Robert",
];

/// Every form of a directive, with what it does.
const DIRECTIVES: [(&str, Passes); 18] = [
    ("I pass", Passes::Next),
    ("I pass.", Passes::Next),
    ("i pass!", Passes::Next),
    ("I pass the piece", Passes::Next),
    ("I pass the piece.", Passes::Next),
    ("  I pass the piece  ", Passes::Next),
    ("I pass to Bob", Passes::To("bob")),
    ("I pass to bob.", Passes::To("bob")),
    ("I PASS TO BOB", Passes::To("bob")),
    ("I pass to @bob", Passes::To("bob")),
    ("I pass to Cyd (3)", Passes::To("cyd")),
    ("I pass to 3", Passes::To("cyd")),
    ("I pass the piece to Cyd.", Passes::To("cyd")),
    ("passing to Cyd", Passes::To("cyd")),
    ("Passing to Bob.", Passes::To("bob")),
    // Nobody gets it whom the words name: it goes on in order, with a note.
    ("I pass to Hal", Passes::Next),
    ("I pass to Ann", Passes::Next),
    ("passing to Hal.", Passes::Next),
];

/// A contribution, and what it does: the last directive counts that stands in the open.
fn transcript(chance: &mut Chance) -> (String, Passes) {
    let (mut lines, mut passes) = (Vec::new(), Passes::No);
    for _ in 0..=chance.below(6) {
        match chance.below(10) {
            0 | 1 => {
                let (line, does) = &DIRECTIVES[chance.below(DIRECTIVES.len() as u64) as usize];
                lines.push((*line).to_owned());
                passes = does.clone();
            }
            2 => {
                let fence = chance.pick(&["```", "~~~", "````"]);
                lines.push(format!("{fence}{}", chance.pick(&["", "text", "rust"])));
                for _ in 0..=chance.below(2) {
                    let quoted = &DIRECTIVES[chance.below(DIRECTIVES.len() as u64) as usize].0;
                    lines.push((*quoted).to_owned());
                }
                lines.push(fence.to_owned());
            }
            3 => lines.push(String::new()),
            _ => lines.push(chance.pick(&SPEECH).to_owned()),
        }
    }
    (lines.join(chance.pick(&["\n", "\r\n"])), passes)
}

#[test]
fn early_pass_is_detected_and_mentions_of_passing_are_not() {
    let mut table = Table::new();
    for (number, id) in ["ann", "bob", "cyd"].into_iter().enumerate() {
        table.invite(id, number as u32 + 1, Part::Speaker, Some(Runtime::TERMINAL));
    }
    table.invite("hal", 4, Part::Harvester, Some(Runtime::LLM));
    table.gather([2, 2, 2], 3, Hearing::OnTurn);
    let ann = ParticipantId::new("ann");
    let (turn, attempt) = table.start_of(&ann).unwrap();
    let mut chance = Chance(13);
    let mut counts = [0; 3];
    for _ in 0..10_000 {
        let (words, label) = transcript(&mut chance);
        let mut played = table.clone();
        let result = Ok(words.clone());
        let usage = Usage::default();
        let events = played.command(EngineCommand::Finished { turn, attempt, result, usage });
        let found = events.iter().find_map(|recorded| match &recorded.event {
            Event::Gathering(GatheringEvent::PieceReleased { next, .. }) => Some(next.clone()),
            _ => None,
        });
        let expected = match label {
            Passes::No => None,
            Passes::Next => Some(None),
            Passes::To(id) => Some(Some(ParticipantId::new(id))),
        };
        // Blank words are a pass of the turn.
        let blank = words.trim().is_empty();
        assert!(blank || found == expected, "{words:?}: {found:?} in place of {expected:?}");
        counts[usize::from(expected.is_some()) + usize::from(expected.flatten().is_some())] += 1;
    }
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}

#[test]
fn each_directive_form_passes_the_piece_alone_and_after_speech() {
    let mut table = Table::new();
    for (number, id) in ["ann", "bob", "cyd"].into_iter().enumerate() {
        table.invite(id, number as u32 + 1, Part::Speaker, None);
    }
    table.invite("hal", 4, Part::Harvester, None);
    table.gather([1, 1, 1], 3, Hearing::OnTurn);
    for (line, does) in DIRECTIVES {
        for words in [line.to_owned(), format!("A thought.\n\n{line}\n")] {
            let mut played = table.clone();
            played.command(ClientCommand::Post(Post::new(Actor::named("ann"), words.clone())));
            let holder = played.holder().unwrap();
            let expected = if let Passes::To(id) = &does { id } else { "bob" };
            assert_eq!(holder.as_str(), expected, "{words:?}");
        }
    }
}

/// How a member behaves.
#[derive(Clone, Copy)]
enum Way {
    Speaks,
    Passes,
    Fails,
    /// It begins its turn and nothing comes of it.
    Hangs,
    /// It never begins its turn.
    Absent,
    /// Its turn is lost again and again.
    Lost,
    /// It asks a person something that nobody answers, and goes on with nothing after that.
    Asks,
}

const WAYS: [Way; 7] =
    [Way::Speaks, Way::Passes, Way::Fails, Way::Hangs, Way::Absent, Way::Lost, Way::Asks];

const NAMES: [&str; 12] = [
    "alma", "bert", "cleo", "dora", "egon", "fred", "gina", "hugo", "ivan", "jane", "kurt", "lena",
];

/// What happens in one step: somebody does what is their way, or time passes.
fn step(
    table: &mut Table,
    (ways, leaving): (&[Way], u64),
    chance: &mut Chance,
    asked: &mut BTreeSet<u64>,
) {
    if chance.is(2) {
        let id = ParticipantId::new(chance.pick(&NAMES));
        if !table.facts.offline.remove(&id) {
            table.facts.offline.insert(id);
        }
    }
    if chance.is(leaving) {
        let controls = vec![Control::Uninvite(chance.pick(&NAMES).into())];
        table.command(ClientCommand::Control { by: Actor::named("user"), controls });
    }
    if chance.is(2) {
        let downtime = Millis(chance.below(1_000_000) + 1);
        table.now += downtime.0 as i64;
        table.command(EngineCommand::ShiftClock { downtime });
    }
    let due = table.state.duties().run.into_iter();
    let due = due.filter_map(|run| Some(table.state.turn(run.turn)?.participant.clone()));
    let able: Vec<_> = due.chain(table.holder()).collect();
    let id = if able.is_empty() { ParticipantId::new("hal") } else { chance.pick(&able) };
    let who = NAMES.iter().position(|name| id.as_str() == *name).unwrap_or(NAMES.len());
    if table.state.participant(&id).is_some_and(|p| p.kind == Kind::Human) {
        if table.holder() == Some(id.clone()) && chance.is(30) {
            let words = chance.pick(&["a thought", "I pass", "I pass to lena", "I pass to Hal"]);
            table.command(ClientCommand::Post(Post::new(Actor::named(id.as_str()), words)));
        }
    } else if !matches!(ways[who], Way::Absent)
        && let Some((turn, attempt)) = table.start_of(&id)
    {
        act(table, ways[who], (turn, attempt), chance, asked);
    }
    if chance.is(85) {
        wait(table, chance);
    }
}

fn act(
    table: &mut Table,
    way: Way,
    (turn, attempt): (moothall_kernel::ids::TurnNo, u32),
    chance: &mut Chance,
    asked: &mut BTreeSet<u64>,
) {
    let usage = Usage::default();
    let finish = |table: &mut Table, result| {
        table.command(EngineCommand::Finished { turn, attempt, result, usage });
    };
    match way {
        Way::Speaks => {
            let words = chance.pick(&["a thought", "words\nI pass", "words\nI pass to Kurt"]);
            finish(table, Ok(words.to_owned()));
        }
        Way::Passes => finish(table, Ok("[PASS]".into())),
        Way::Fails => finish(table, Err(Fault::new("broken", "it broke"))),
        Way::Lost => drop(table.command(EngineCommand::Lost { turn, attempt })),
        Way::Asks if asked.insert(turn.0) => {
            table.command(EngineCommand::AskPermission {
                permission: PermissionId::new(turn.0.to_string()),
                turn,
                question: Box::new(Question::new("a", PermissionOption::allow_or_deny())),
                within: Millis::from_secs(300),
            });
        }
        Way::Asks | Way::Hangs | Way::Absent => {}
    }
}

/// To the next moment at which something is due, or a little before it.
fn wait(table: &mut Table, chance: &mut Chance) {
    let Some(due) = table.state.duties().wake_at else { return };
    let due = due.millis();
    table.now = if chance.is(95) { due.max(table.now) } else { table.now + 1000 };
    table.command(EngineCommand::Tick);
}

#[test]
fn twelve_speakers_reach_the_close_whatever_they_do() {
    let mut closed = BTreeMap::new();
    for seed in 0..1000 {
        let chance = &mut Chance(seed);
        let mut table = Table::new();
        for (number, id) in NAMES.into_iter().enumerate() {
            let runtime = chance.pick(&[Runtime::TERMINAL, Runtime::LLM, Runtime::REMOTE]);
            let runtime = Some(runtime).filter(|_| !chance.is(20));
            table.invite(id, number as u32 + 1, Part::Speaker, runtime);
        }
        table.invite("hal", 13, Part::Harvester, Some(Runtime::LLM).filter(|_| !chance.is(20)));
        let breath = [1, 2, 1].map(|most| chance.below(most) as u32 + 1);
        let hearing = chance.pick(&[Hearing::Live, Hearing::OnTurn]);
        table.gather(breath, chance.below(3) as u32 + 1, hearing);
        let ways: Vec<Way> = (0..13).map(|_| chance.pick(&WAYS)).collect();
        let leaving = chance.pick(&[0, 1, 40]);
        let mut asked = BTreeSet::new();
        let mut steps = 0;
        while table.state.gathering().is_some() {
            step(&mut table, (&ways, leaving), chance, &mut asked);
            steps += 1;
            assert!(steps < 20_000, "seed {seed}: {:?}", table.state.gathering());
        }
        let because = table.state.newest_gathering().unwrap().closed.clone().unwrap();
        *closed.entry(because).or_insert(0) += 1;
        assert!(table.state.head() > Seq(20));
    }
    assert_eq!(closed.len(), 2, "{closed:?}");
}
