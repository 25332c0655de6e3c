//! Outcome of a message: the agents that answered, or the reason why none did.

use std::collections::BTreeSet;

use moothall_surfaces::wire::{Envelope, ThreadStateAnswer, TurnEntry, TurnList, UnaskedMessage};

use super::why::{completed, fate, goes_back_to};
use crate::client::Client;
use crate::fault::{Exit, Fault};
use crate::paint::note;
use crate::threads::{self, Faces};

/// Determines the outcome of a message as its turns are now. `heard` are the answers that were
/// received. An unanswered message is a fault, whose exit code tells the kind of reason.
///
/// # Errors
/// No agent answered, an agent failed, or the server is unreachable or refuses.
pub async fn of(
    client: &Client,
    said: &Envelope,
    state: &ThreadStateAnswer,
    heard: &[Envelope],
) -> Result<(), Fault> {
    let list: TurnList = client.get(&threads::path(&said.thread, "turns")).await?;
    let unasked = list.unasked.iter().find(|one| one.message == said.id);
    let turns: Vec<_> =
        list.turns.into_iter().filter(|turn| !turn.listens && concerns(turn, said)).collect();
    // An agent that takes no turns answers without a turn, so only its message shows the outcome.
    if turns.iter().all(|turn| turn.id.is_none())
        && let Some(done) = by_words(heard)
    {
        return done;
    }
    let (stands, faces) = (stands_still(state), Faces::of(state));
    judge(&turns, unasked, &faces, stands).map_err(|fault| {
        let forward = fault.forward.clone().unwrap_or_else(|| {
            format!("moothall why {} {}", threads::short(&said.thread), said.seq)
        });
        let why = fault.why.as_ref().map(|why| completed(why, &said.thread));
        Fault { why, ..fault.try_this(forward) }
    })?;
    silent(&turns, said, &faces).iter().for_each(|why| note(why));
    Ok(())
}

/// Returns the reasons why agents that the message names did not answer.
fn silent(turns: &[TurnEntry], said: &Envelope, faces: &Faces) -> BTreeSet<String> {
    let names = |id: &String| said.to == *id || said.meta.mentions.contains(id);
    let spoke: BTreeSet<_> = turns
        .iter()
        .filter(|turn| turn.outcome.as_deref() == Some("spoke"))
        .map(|turn| &turn.participant)
        .collect();
    let others =
        turns.iter().filter(|turn| names(&turn.participant) && !spoke.contains(&turn.participant));
    others.filter_map(|turn| reason(turn, faces)).collect()
}

/// Returns the outcome that the received messages prove without the trace; `None` without messages.
fn by_words(heard: &[Envelope]) -> Option<Result<(), Fault>> {
    if let Some(fault) = heard.iter().find_map(|event| event.meta.error.as_ref()) {
        return Some(Err(
            Fault::new(Exit::AgentFailed, "an agent did not answer").because(&fault.message)
        ));
    }
    heard.iter().any(|event| event.kind == "message").then_some(Ok(()))
}

/// True if a turn goes back to a message, or was started by a newer message and covers this one
/// too.
pub fn concerns(turn: &TurnEntry, said: &Envelope) -> bool {
    goes_back_to(turn, said) || covers(turn, said)
}

/// True if a turn that a newer message caused also covers this message.
pub fn covers(turn: &TurnEntry, said: &Envelope) -> bool {
    turn.cause.seq > said.seq
        && turn.from_seq.is_some_and(|from| from < said.seq)
        && turn.through_seq.is_some_and(|through| said.seq <= through)
}

/// Returns the reason why no agent of the conversation answers now: a guard, or a pause.
fn stands_still(state: &ThreadStateAnswer) -> Option<String> {
    match &state.state.held {
        Some(guard) => Some(format!("a guard holds the conversation ({guard})")),
        None => state.state.paused.then(|| {
            "the conversation is paused: agents do not respond until it is resumed".into()
        }),
    }
}

/// Decides the result of a message from its turns: a failed turn is an error even if other agents
/// spoke. If none spoke, the error names the first cause of these: `unasked`, `stands` (the reason
/// why the whole conversation is still), passed turns, other reasons.
fn judge(
    turns: &[TurnEntry],
    unasked: Option<&UnaskedMessage>,
    faces: &Faces,
    stands: Option<String>,
) -> Result<(), Fault> {
    let ended = |words: &[&str]| {
        turns
            .iter()
            .filter(|turn| turn.outcome.as_deref().is_some_and(|how| words.contains(&how)))
            .collect()
    };
    let reasons = || {
        turns
            .iter()
            .filter_map(|turn| reason(turn, faces))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    let failed: Vec<&TurnEntry> = ended(&["failed", "expired"]);
    let (spoke, passed): (Vec<&TurnEntry>, Vec<&TurnEntry>) =
        (ended(&["spoke"]), ended(&["passed"]));
    if !failed.is_empty() {
        let names: BTreeSet<_> = failed.iter().map(|turn| faces.name(&turn.participant)).collect();
        let what = format!("{} did not answer", names.into_iter().collect::<Vec<_>>().join(", "));
        let why = failed.iter().filter_map(|turn| reason(turn, faces)).collect::<Vec<_>>();
        return Err(Fault::new(Exit::AgentFailed, what).because(why.join("; ")));
    }
    if !spoke.is_empty() {
        return Ok(());
    }
    if let Some(one) = unasked.filter(|_| turns.iter().all(|turn| turn.id.is_none())) {
        return Err(Fault::new(Exit::Unanswered, "no agent will answer").because(fate(one)));
    }
    if let Some(why) = stands {
        return Err(Fault::new(Exit::Unanswered, "no agent answers now").because(why));
    }
    let asked = turns.iter().any(|turn| turn.id.is_some());
    if asked && passed.len() == turns.iter().filter(|turn| turn.id.is_some()).count() {
        return Err(Fault::new(Exit::Passed, "all agents that were asked passed")
            .because(reasons().join("; ")));
    }
    let fault = Fault::new(Exit::Unanswered, "no agent will answer");
    Err(match reasons() {
        none if none.is_empty() => {
            fault.because("no agent was asked (your token may not show others' turns)")
        }
        reasons => fault.because(reasons.join("; ")),
    })
}

/// Explains in words why the agent of a turn did not answer. `None` if it spoke, or if the turn has
/// no result yet.
fn reason(turn: &TurnEntry, faces: &Faces) -> Option<String> {
    let fault = turn.fault.as_ref().map(|fault| fault.message.as_str());
    let how = match (turn.outcome.as_deref(), turn.why_not.as_deref()) {
        (Some("spoke"), _) | (None, None) => return None,
        (Some("expired"), _) => "timed out".to_owned(),
        (Some(outcome), _) => outcome.to_owned(),
        (None, Some(word)) => {
            format!("not asked: {}", turn.reason.as_deref().unwrap_or(word))
        }
    };
    let more: Vec<_> = [turn.detail.as_deref(), fault].into_iter().flatten().collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    Some(format!("{}: {how}{more}", faces.name(&turn.participant)))
}
