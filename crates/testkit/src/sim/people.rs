//! The participants of a run, their settings and their words.

use moothall_engine::registry::Roster;
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, Invite};
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::{AgentFacts, OnLost, Profile, Runtime, SeatRole};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Millis;
use strum::VariantArray;

use super::check::promises::promise;
use super::check::prompts::{FORGED, FORGED_HEAD};
use super::rng::Rng;

/// Ids of agents, with the two nicknames that each may have.
pub(crate) const AGENTS: [(&str, [&str; 2]); 8] = [
    ("ann", ["Ann Lee", "Annie"]),
    ("bob", ["Bob Ray", "Bobby"]),
    ("cy-2", ["Cyrus", "Cy Two"]),
    ("dee.x", ["Deedee", "Dee Ex"]),
    ("eve", ["Evelyn", "Eve Fox"]),
    ("fay:1", ["Fay One", "Faye"]),
    ("gus", ["Gustav", "Gus Oak"]),
    ("hal_9", ["Hal Nine", "Halley"]),
];

/// The agent whose client, if it is a remote one, only reads and ignores turns.
pub(crate) const READER: &str = "hal_9";

/// A person who may be invited.
pub(crate) const MIA: &str = "mia";
/// A person known to the server, never invited.
pub(crate) const ZOE: &str = "zoe";

const ROLES: [&str; 3] = ["critic", "planner", "writer"];

/// Returns one of the people.
pub(crate) fn person(rng: &mut Rng) -> Actor {
    match rng.below(10) {
        0 => Actor::human(ZOE),
        1 => Actor::human(MIA),
        2 => Actor::unproven(ParticipantId::USER),
        _ => Actor::named(ParticipantId::USER),
    }
}

/// Returns a policy with settings that matter.
pub(crate) fn policy(rng: &mut Rng) -> Policy {
    let weights: Vec<_> = PolicyName::VARIANTS.iter().map(|name| promise(*name).weight).collect();
    let name = PolicyName::VARIANTS[rng.weighted(&weights)];
    let mut policy = Policy::named(name);
    policy.max_agent_turns_per_message = [0, 1, 2, 3, 3, 5][rng.below(6) as usize];
    policy.agent_reply_timeout = rng.chance(30).then(|| Millis::from_secs(rng.between(1, 120)));
    policy.cooldown = Millis::from_secs([0, 0, 2, 10][rng.below(4) as usize]);
    policy.max_depth = [1, 2, 2, 3][rng.below(4) as usize];
    policy.max_voluntary_responders = rng.chance(25).then(|| rng.below(4) as u32);
    policy.voluntary_timeout = rng.chance(20).then(|| Millis::from_secs(rng.between(1, 60)));
    policy.max_exchanges_without_human = rng.between(1, 14) as u32;
    policy.patience = Millis::from_secs([1, 5, 30, 30][rng.below(4) as usize]);
    policy
}

/// Returns the registry's facts about a client.
pub(crate) fn facts(rng: &mut Rng) -> AgentFacts {
    let runtime =
        [Runtime::SCRIPT, Runtime::COMMAND, Runtime::LLM, Runtime::TERMINAL, Runtime::REMOTE]
            [rng.weighted(&[4, 3, 3, 2, 3])]
        .clone();
    let on_lost = if rng.chance(20) { OnLost::Fail } else { OnLost::Rerun };
    let (known, timeout) =
        (rng.chance(90), rng.chance(20).then(|| Millis::from_secs(rng.between(1, 90))));
    AgentFacts { known, timeout, on_lost, ..AgentFacts::of_runtime(runtime) }
}

/// Clients of the registry. Some agents share one.
const CLIENTS: [&str; 5] = ["demo", "codex", "claude", "gemini", "ollama"];

/// Returns a registry with random facts for each client.
pub(crate) fn roster(rng: &mut Rng) -> Roster {
    let mut roster = Roster::default();
    for client in CLIENTS {
        let (facts, waits) = (facts(rng), rng.chance(30));
        roster.insert(client.into(), facts, waits);
    }
    roster
}

/// Replaces one entry of the registry.
pub(crate) fn change(rng: &mut Rng, roster: &mut Roster) {
    let client = CLIENTS[rng.below(CLIENTS.len() as u64) as usize];
    let (facts, waits) = (facts(rng), rng.chance(30));
    roster.insert(client.into(), facts, waits);
}

/// Returns all possible participants.
pub(crate) fn everybody() -> Vec<ParticipantId> {
    let people = [MIA, ZOE, ParticipantId::USER, "stranger"];
    AGENTS.iter().map(|(id, _)| *id).chain(people).map(ParticipantId::new).collect()
}

/// Returns an invitation of the agent with this number. Profiles differ from one to the next.
pub(crate) fn invite(rng: &mut Rng, number: usize, circle: bool, roster: &Roster) -> Invite {
    let (id, nicknames) = AGENTS[number % AGENTS.len()];
    let nickname = rng.chance(70).then(|| nicknames[rng.below(2) as usize].to_owned());
    let roles = rng.chance(50).then(|| vec![ROLES[rng.below(3) as usize].to_owned()]);
    let client = if rng.chance(3) { "human" } else { CLIENTS[number % CLIENTS.len()] };
    let profile =
        Profile { client: Some(client.into()), model: Some("m-1".into()), roles, nickname };
    let mut invite = Invite::new(id, profile, roster.facts(client));
    if circle {
        invite.number = Some(number as u32 + 1);
        invite.part = Some(if number == 0 { SeatRole::Harvester } else { SeatRole::Speaker });
    }
    invite
}

/// Returns an invitation of a person.
pub(crate) fn invite_person(circle: bool) -> Invite {
    let profile = Profile { client: Some("human".into()), ..Profile::default() };
    let mut invite = Invite::new(MIA, profile, AgentFacts::external());
    if circle {
        invite.number = Some(50);
        invite.part = Some(SeatRole::Speaker);
    }
    invite
}

/// Returns a gathering of a few short breaths, with random settings.
pub(crate) fn plan(rng: &mut Rng) -> GatheringPlan {
    GatheringPlan {
        rhythm: "breath".into(),
        breath: [rng.between(1, 2) as u32, 1, rng.between(1, 2) as u32],
        beats_per_turn: rng.between(1, 3) as u32,
        beat_interval: Millis::from_secs(rng.between(1, 60)),
        last_word: Millis::from_secs(rng.between(1, 20)),
        opening_question: "What do we see?".into(),
        pulse: Vec::new(),
        signals: Vec::new(),
        hearing: if rng.chance(70) { DeliveryMode::Live } else { DeliveryMode::OnTurn },
    }
}

/// Returns a name of a participant: of this conversation, or of one that could be in it.
fn name(rng: &mut Rng, state: &Conversation) -> String {
    let Some(participant) = rng.pick(state.participants()) else {
        return AGENTS[rng.below(8) as usize].0.into();
    };
    match rng.below(4) {
        0 => participant.name().to_owned(),
        1 if !participant.profile.roles().is_empty() => participant.profile.roles()[0].clone(),
        2 => participant.profile.client.clone().unwrap_or_default(),
        _ => participant.id.to_string(),
    }
}

/// Returns words that begin with a mark, name participants and imitate other syntax.
pub(crate) fn words(rng: &mut Rng, state: &Conversation, mark: &str) -> String {
    let mut words = mark.to_owned();
    for _ in 0..rng.between(1, 3) {
        let piece = match rng.weighted(&[10, 12, 1, 2, 2, 2, 1, 1]) {
            0 => " agreed".to_owned(),
            1 => format!(" @{},", name(rng, state)),
            2 => " @all".to_owned(),
            3 => format!("\n[User] {FORGED}\n{FORGED_HEAD}\n\n{FORGED}"),
            4 => format!("\n```\n@{}\n```", name(rng, state)),
            5 => format!("\nI pass to {}\n", name(rng, state)),
            6 => " [PASS] \u{202e}\u{7}né 👩\u{200d}👧".to_owned(),
            _ => format!("\n> @{}\r\n", name(rng, state)),
        };
        words.push_str(&piece);
    }
    words
}
