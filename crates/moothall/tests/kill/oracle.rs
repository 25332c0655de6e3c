//! Invariants of a thread at rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use crate::ledger::KeyedRequest;
use crate::world::Floor;

/// Returns the faults of a thread: from its whole log as operators see it, its turns, and the
/// acknowledged requests.
pub fn faults(
    floor: Floor,
    events: &[Value],
    turns: &[Value],
    asked: &[Arc<KeyedRequest>],
) -> Vec<String> {
    let mut faults = Vec::new();
    in_order(events, &mut faults);
    kept(events, asked, &mut faults);
    nothing_twice(events, asked, &mut faults);
    replies(events, turns, &mut faults);
    turns_over(floor, turns, &mut faults);
    ranges(turns, &mut faults);
    match floor {
        Floor::Hybrid => rounds(events, turns, &mut faults),
        Floor::Asked => each_named_answered(events, turns, &mut faults),
    }
    faults
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn step(event: &Value) -> &str {
    if event["type"] == "turn" { text(&event["content"], "event") } else { "" }
}

fn is_stop(event: &Value) -> bool {
    event["type"] == "notice" && event["content"]["code"] == "stopped"
}

fn is_human_message(event: &Value) -> bool {
    event["type"] == "message" && event["from"] == "user"
}

/// Checks that positions have no gap, ids are unique, and times rise.
fn in_order(events: &[Value], faults: &mut Vec<String>) {
    for (place, event) in events.iter().enumerate() {
        if number(event, "seq") != place as u64 + 1 {
            faults.push(format!("event {} stands at place {}", event["seq"], place + 1));
        }
    }
    for pair in events.windows(2) {
        if text(&pair[0], "ts") >= text(&pair[1], "ts") {
            faults.push(format!("time stands still or goes back: {} and {}", pair[0], pair[1]));
        }
    }
    let ids: BTreeSet<&str> = events.iter().map(|event| text(event, "id")).collect();
    if ids.len() != events.len() {
        faults.push("two events have the same id".into());
    }
}

/// Checks that every acknowledged event is there, unchanged.
fn kept(events: &[Value], asked: &[Arc<KeyedRequest>], faults: &mut Vec<String>) {
    for event in asked.iter().filter_map(|asked| asked.event()) {
        let found = usize::try_from(number(event, "seq")).ok().and_then(|seq| events.get(seq - 1));
        if found != Some(event) {
            faults.push(format!("acknowledged was {event}, and there is {found:?}"));
        }
    }
}

/// Checks that each request had its effect once, however often it was sent.
fn nothing_twice(events: &[Value], asked: &[Arc<KeyedRequest>], faults: &mut Vec<String>) {
    let caused = |event: &&Value| match text(event, "type") {
        "message" => matches!(text(event, "from"), "user" | "guest"),
        "control" | "thread.renamed" | "thread.created" => true,
        _ => is_stop(event),
    };
    let there: Vec<&str> = events.iter().filter(caused).map(|event| text(event, "id")).collect();
    let acknowledged: BTreeSet<&str> =
        asked.iter().filter_map(|asked| asked.event()).map(|event| text(event, "id")).collect();
    let unasked: Vec<_> = there.iter().filter(|id| !acknowledged.contains(*id)).collect();
    if !unasked.is_empty() || there.len() != acknowledged.len() {
        faults.push(format!(
            "{} events of clients for {} requests; nobody asked for {unasked:?}",
            there.len(),
            acknowledged.len()
        ));
    }
}

/// Checks that each turn has at most one visible reply, and exactly one if it spoke.
fn replies(events: &[Value], turns: &[Value], faults: &mut Vec<String>) {
    let mut by_turn: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for event in events
        .iter()
        .filter(|event| event["type"] == "message" && event["meta"]["turn"].is_string())
    {
        by_turn.entry(text(&event["meta"], "turn")).or_default().push(text(event, "id"));
    }
    for turn in turns.iter().filter(|turn| turn["id"].is_string()) {
        let replies = by_turn.remove(text(turn, "id")).unwrap_or_default();
        let wanted = usize::from(turn["outcome"] == "spoke");
        if replies.len() != wanted {
            faults.push(format!("{} replies of a turn: {turn}", replies.len()));
        }
    }
    faults.extend(
        by_turn.into_keys().map(|turn| format!("a reply of a turn that is not there: {turn}")),
    );
}

/// Checks that every turn ended well: no agent here fails by itself.
fn turns_over(floor: Floor, turns: &[Value], faults: &mut Vec<String>) {
    for turn in turns.iter().filter(|turn| turn["id"].is_string()) {
        let well = match text(turn, "outcome") {
            "spoke" => true,
            // In the other mode, agents answer in parallel and are never stopped or muted, and none
            // passes.
            "passed" | "cancelled" => floor == Floor::Hybrid || is_merged(turn),
            _ => false,
        };
        if !well {
            faults.push(format!("a turn that did not end well: {turn}"));
        }
    }
}

/// True if a restart lost the turn while another one waited behind it, which answers for both.
fn is_merged(turn: &Value) -> bool {
    turn["outcome"] == "cancelled" && turn["fault"]["code"] == "merged"
}

/// Checks that each cause is covered by at most one finished turn of a participant.
fn ranges(turns: &[Value], faults: &mut Vec<String>) {
    let mut covered: BTreeMap<&str, u64> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| matches!(text(turn, "outcome"), "spoke" | "passed")) {
        let (from, through) = (number(turn, "from_seq"), number(turn, "through_seq"));
        let before = covered.insert(text(turn, "participant"), through).unwrap_or(0);
        if from < before {
            faults.push(format!("events up to {before} were covered before this turn: {turn}"));
        }
    }
}

/// Checks that each human message has a round, which was closed or stopped, or that it was stopped
/// in the queue. In a closed round, every named agent answered, or there is a reason.
fn rounds(events: &[Value], turns: &[Value], faults: &mut Vec<String>) {
    let mut ends = BTreeMap::new();
    let mut open = None;
    for event in events {
        match step(event) {
            "round_opened" => {
                let cause = number(&event["content"]["cause"], "seq");
                if let Some(before) = open.replace(cause) {
                    faults.push(format!(
                        "the round about {cause} opened while that about {before} was open"
                    ));
                }
                if ends.insert(cause, "").is_some() {
                    faults.push(format!("a second round about {cause}"));
                }
            }
            "round_closed" => drop(open.take().map(|cause| ends.insert(cause, "closed"))),
            _ if is_stop(event) => drop(open.take().map(|cause| ends.insert(cause, "stopped"))),
            _ => {}
        }
    }
    for message in events.iter().filter(|event| is_human_message(event)) {
        let seq = number(message, "seq");
        let stopped_later =
            || events.iter().any(|event| is_stop(event) && number(event, "seq") > seq);
        match ends.get(&seq) {
            Some(&"closed") => each_has_a_reason(message, events, turns, faults),
            Some(&"stopped") => {}
            None if message["meta"]["queued"] == true && stopped_later() => {}
            other => faults
                .push(format!("neither answered nor explained, its round is {other:?}: {message}")),
        }
    }
}

fn each_has_a_reason(message: &Value, events: &[Value], turns: &[Value], faults: &mut Vec<String>) {
    // A waiting turn also takes up later messages, and its entry then names the newest.
    let asked_first = |turn: &Value| {
        let granted =
            |event: &&Value| step(event) == "granted" && event["content"]["turn"] == turn["id"];
        events
            .iter()
            .find(granted)
            .is_some_and(|event| event["content"]["cause"]["id"] == message["id"])
    };
    for named in message["meta"]["mentions"].as_array().into_iter().flatten() {
        let about_it = |turn: &&Value| turn["message"] == message["id"] || asked_first(turn);
        if !turns.iter().filter(|turn| turn["participant"] == *named).any(|turn| about_it(&turn)) {
            faults.push(format!("{named} neither answered nor is there a reason: {message}"));
        }
    }
}

/// Checks that each named agent has a turn that spoke and covers the message, or a reason for not
/// being asked.
fn each_named_answered(events: &[Value], turns: &[Value], faults: &mut Vec<String>) {
    for message in events.iter().filter(|event| is_human_message(event)) {
        let seq = number(message, "seq");
        let to = Some(&message["to"]).filter(|to| *to != "all");
        let mentions = message["meta"]["mentions"].as_array().into_iter().flatten();
        for named in mentions.chain(to).filter(|named| *named != "user") {
            if !turns.iter().any(|turn| turn["participant"] == *named && explains(turn, seq)) {
                faults.push(format!("{named} neither answered nor is there a reason: {message}"));
            }
        }
    }
}

fn explains(turn: &Value, seq: u64) -> bool {
    if turn["id"].is_null() {
        return turn["cause"]["seq"] == seq;
    }
    turn["outcome"] == "spoke"
        && number(turn, "from_seq") < seq
        && seq <= number(turn, "through_seq")
}
