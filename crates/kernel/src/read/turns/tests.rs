//! Tests that a reader gets reasons, and nothing that only others may see.

use serde_json::{Value, json};

use super::*;

/// Reads events into a log, numbered from 1.
fn log(events: Vec<Value>) -> Vec<RecordedEvent> {
    let recorded = |(place, event): (u64, Value)| RecordedEvent {
        seq: Seq(place),
        ts: Timestamp::from_millis(1_763_700_000_000 + i64::try_from(place).unwrap()),
        event: serde_json::from_value(event).unwrap(),
    };
    (1..).zip(events).map(recorded).collect()
}

fn cause(seq: u64) -> Value {
    let stream = "s".into();
    let ts = Timestamp::from_millis(1_763_700_000_000 + i64::try_from(seq).unwrap());
    let id = EventId::of(&stream, Seq(seq), ts);
    json!({"seq": seq, "id": id.to_string(), "from": "user", "depth": 0})
}

fn said(words: &str, only_for: &[&str]) -> Value {
    let mut posted =
        json!({"from": "user", "kind": "human", "to": "all", "depth": 0, "body": words});
    if !only_for.is_empty() {
        posted["only_for"] = json!(only_for);
    }
    json!({ "posted": posted })
}

fn granted(turn: u64, who: &str, about: u64) -> Value {
    json!({"turn_granted": {"turn": turn, "participant": who, "why": "forced", "may_pass": false, "cause": cause(about),
        "expires": 1763700900000_i64}})
}

fn started(turn: u64, from: u64, through: u64) -> Value {
    json!({"turn_started": {"turn": turn, "attempt": 1, "from_seq": from, "through_seq": through,
        "deadline": 1763700900000_i64}})
}

fn answer(turn: u64, who: &str, about: u64, only_for: &[&str]) -> Value {
    let mut event = said("the answer", only_for);
    event["posted"]["from"] = json!(who);
    event["posted"]["kind"] = json!("agent");
    event["posted"]["turn"] = json!(turn);
    event["posted"]["reply_to"] = cause(about);
    event
}

fn ended(turn: u64, who: &str, outcome: &str, fault: Value) -> Value {
    json!({"turn_ended": {"turn": turn, "participant": who, "attempt": 1, "outcome": outcome, "fault": fault, "usage": {"ms": 7}}})
}

fn entries_for(events: &[RecordedEvent], viewer: &Viewer) -> (Vec<TurnRecord>, Vec<SilentMessage>) {
    let mut explained = TurnFold::new("s".into(), viewer.clone(), Seq(0));
    events.iter().for_each(|recorded| explained.observe(recorded));
    explained.list(None)
}

fn eve() -> Viewer {
    Viewer::Participant("eve".into())
}

#[test]
fn nothing_of_a_message_for_others_is_told() {
    let events = log(vec![
        said("@a look", &[]),
        granted(1, "a", 1),
        said("@b the secret", &["a", "b"]),
        granted(2, "b", 3),
        json!({"turn_widened": {"turn": 1, "why": "reaction", "may_pass": true, "cause": cause(3)}}),
        json!({"skipped": {"participant": "c", "why_not": "muted", "cause": cause(3)}}),
        started(1, 0, 3),
        answer(1, "a", 1, &[]),
        ended(1, "a", "spoke", Value::Null),
        started(2, 0, 3),
        answer(2, "b", 3, &["a", "b"]),
        ended(2, "b", "spoke", Value::Null),
    ]);
    let (whole, _) = entries_for(&events, &Viewer::Operator);
    assert_eq!(whole.len(), 3, "{whole:?}");
    for viewer in [eve(), Viewer::Guest] {
        let (turns, silent) = entries_for(&events, &viewer);
        let [turn] = &turns[..] else { panic!("{turns:?}") };
        assert_eq!((turn.participant.as_str(), turn.why), ("a", Some(TurnReason::Forced)));
        assert_eq!(
            (turn.cause.seq, turn.from_seq, turn.through_seq),
            (Seq(1), Some(Seq(0)), Some(Seq(1)))
        );
        assert_eq!(turn.outcome, Some(Outcome::Spoke));
        assert!(silent.is_empty(), "{silent:?}");
        let text = format!("{turns:?}");
        let (hidden, answer) = (events[2].id(&"s".into()), events[10].id(&"s".into()));
        for word in [hidden.to_string(), answer.to_string(), "secret".into(), "reaction".into()] {
            assert!(!text.contains(&word), "{word}: {text}");
        }
    }
    let (own, _) = entries_for(&events, &Viewer::Participant("b".into()));
    assert_eq!(own.len(), 3, "{own:?}");
}

#[test]
fn a_turn_that_began_with_words_for_others_begins_with_those_that_are_seen() {
    let events = log(vec![
        said("@a the secret", &["a"]),
        granted(1, "a", 1),
        said("@a and this", &[]),
        json!({"turn_widened": {"turn": 1, "why": "forced", "may_pass": false, "cause": cause(3)}}),
        said("@c", &[]),
        granted(2, "c", 5),
        answer(2, "c", 5, &["a"]),
    ]);
    let (turns, silent) = entries_for(&events, &eve());
    let [turn] = &turns[..] else { panic!("{turns:?}") };
    assert_eq!((turn.cause.seq, turn.granted_at), (Seq(3), events[3].ts));
    // The answer to this turn is private: the reader only learns that there is one.
    let reasons: Vec<_> = silent.iter().map(|one| (one.seq.0, one.silence.reason)).collect();
    assert_eq!(reasons, [(5, Reason::AnsweredPrivately)]);
}

#[test]
fn a_programs_output_is_told_to_operators_and_to_itself() {
    let fault = |code: &str| json!({"code": code, "message": "exit 3: password hunter2"});
    let mut shown = answer(2, "moothall", 1, &[]);
    shown["posted"]["error"] = fault("exit_status");
    let events = log(vec![
        said("hello", &[]),
        granted(1, "a", 1),
        ended(1, "a", "failed", fault("exit_status")),
        granted(2, "b", 1),
        ended(2, "b", "failed", fault("exit_status")),
        shown,
    ]);
    let words = |viewer: &Viewer| -> Vec<bool> {
        let (turns, _) = entries_for(&events, viewer);
        let is_shown = |turn: &TurnRecord| turn.fault.as_ref().unwrap().message.contains("hunter2");
        turns.iter().map(is_shown).collect()
    };
    assert_eq!(words(&Viewer::Operator), [true, true]);
    assert_eq!(words(&Viewer::Participant("a".into())), [true, true]);
    assert_eq!(words(&eve()), [false, true]);
}

#[test]
fn the_same_refusal_stands_once_and_a_turn_says_what_it_asks() {
    let skipped =
        || json!({"skipped": {"participant": "a", "why_not": "capped", "cause": cause(1)}});
    let asks = json!({"permission_requested": {"permission": "p1", "turn": 1, "participant": "b", "action": "rm -rf",
        "options": [], "expires": 1763700900000_i64}});
    let withdrawn = json!({"permission_expired": {"permission": "p1"}});
    let mut events = vec![said("hello", &[]), skipped(), granted(1, "b", 1), skipped(), asks];
    let (turns, _) = entries_for(&log(events.clone()), &eve());
    assert_eq!(turns.len(), 2, "{turns:?}");
    assert_eq!(turns[0].reason(), Some("the limit of replies is reached"));
    assert_eq!(turns[1].asks.as_deref(), Some("rm -rf"));
    events.push(withdrawn);
    assert_eq!(entries_for(&log(events), &eve()).0[1].asks, None);
}

#[test]
fn a_question_that_was_given_up_stands_with_its_turn() {
    let asks = json!({"question_asked": {"permission": "p1", "participant": "b", "action": "Trust this folder?",
        "options": []}});
    let mut events = vec![said("hello", &[]), granted(1, "b", 1), granted(2, "c", 1), asks];
    let (turns, _) = entries_for(&log(events.clone()), &eve());
    let asked: Vec<_> = turns.iter().map(|turn| turn.asks.as_deref()).collect();
    assert_eq!(asked, [Some("Trust this folder?"), None], "it keeps the turn of its agent");
    events.push(json!({"permission_withdrawn": {"permission": "p1", "because": "gave_up"}}));
    let (turns, _) = entries_for(&log(events), &eve());
    assert_eq!(turns[0].asks, None);
    let detail = turns[0].detail.as_deref().unwrap();
    assert_eq!(detail, "it gave up because no person answered in time: Trust this folder?");
}

#[test]
fn a_turn_that_waits_is_about_each_message_that_it_was_widened_with() {
    let widened = |about: u64| json!({"turn_widened": {"turn": 1, "why": "forced", "may_pass": false, "cause": cause(about)}});
    let mut of_agent = said("and mine", &[]);
    of_agent["posted"]["from"] = json!("b");
    of_agent["posted"]["kind"] = json!("agent");
    let events = log(vec![
        said("@a one", &[]),
        granted(1, "a", 1),
        said("@a two", &[]),
        widened(3),
        of_agent,
        widened(5),
        said("@a three", &[]),
        widened(7),
    ]);
    let (turns, silent) = entries_for(&events, &eve());
    let [turn] = &turns[..] else { panic!("{turns:?}") };
    let id = |place: usize| events[place - 1].id(&"s".into());
    assert_eq!(turn.message, Some(id(7)));
    assert_eq!(turn.also_about, [id(1), id(3), id(5)]);
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn a_turn_in_which_an_agent_only_hears_says_so_until_it_is_asked_for_words() {
    let mut hears = granted(1, "a", 1);
    hears["turn_granted"]["kind"] = json!("listen");
    let mut events = vec![said("hello", &[]), hears];
    assert!(entries_for(&log(events.clone()), &eve()).0[0].listens);
    events.push(
        json!({"turn_widened": {"turn": 1, "why": "piece", "may_pass": false, "cause": cause(1)}}),
    );
    assert!(!entries_for(&log(events), &eve()).0[0].listens);
}

#[test]
fn what_a_turn_used_is_told_to_operators_and_to_its_agent() {
    let events = log(vec![
        said("hello", &[]),
        granted(1, "a", 1),
        answer(1, "a", 1, &[]),
        ended(1, "a", "spoke", Value::Null),
    ]);
    let is_shown = |viewer: &Viewer| entries_for(&events, viewer).0[0].usage.is_some();
    let viewers = [Viewer::Operator, Viewer::Participant("a".into()), eve(), Viewer::Guest];
    assert_eq!(viewers.map(|viewer| is_shown(&viewer)), [true, true, false, false]);
}
