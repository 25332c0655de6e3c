//! Every gathering reaches its close, under any behaviour of twelve speakers.

use std::collections::{BTreeMap, BTreeSet};

use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Post};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::gathering::DeliveryMode;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, TurnNo};
use moothall_kernel::participant::{Kind, Runtime, SeatRole};
use moothall_kernel::permission::{PermissionOption, Question};
use moothall_kernel::time::Millis;

use super::{Chance, Table};

/// The behaviour of a member.
#[derive(Clone, Copy)]
enum Way {
    Speaks,
    Passes,
    Fails,
    /// The member starts its turn and never ends it.
    Hangs,
    /// The member never starts its turn.
    Absent,
    /// The member's turn is lost again and again.
    Lost,
    /// The member asks a person, gets no answer, and never ends its turn.
    Asks,
}

const WAYS: [Way; 7] =
    [Way::Speaks, Way::Passes, Way::Fails, Way::Hangs, Way::Absent, Way::Lost, Way::Asks];

const NAMES: [&str; 12] = [
    "alma", "bert", "cleo", "dora", "egon", "fred", "gina", "hugo", "ivan", "jane", "kurt", "lena",
];

/// Runs one step: a member behaves in its way, or time passes.
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
    (turn, attempt): (TurnNo, u32),
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

/// Advances the clock to the next due time, or to just before it.
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
            table.invite(id, number as u32 + 1, SeatRole::Speaker, runtime);
        }
        table.invite("hal", 13, SeatRole::Harvester, Some(Runtime::LLM).filter(|_| !chance.is(20)));
        let breath = [1, 2, 1].map(|most| chance.below(most) as u32 + 1);
        let hearing = chance.pick(&[DeliveryMode::Live, DeliveryMode::OnTurn]);
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
