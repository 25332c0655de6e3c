//! The items that a person is shown for incoming events.
#![allow(clippy::unwrap_used)]

use super::*;
use serde_json::json;

fn event(seq: u64, kind: &str, from: &str, content: Value, meta: Value) -> Envelope {
    serde_json::from_value(json!({"id": format!("id{seq}"), "seq": seq, "ts": "2026-01-01T00:00:00.000Z", "thread": "t",
        "type": kind, "from": from, "to": "all", "content": content, "meta": meta}))
    .unwrap()
}

fn turn(seq: u64, content: Value) -> Envelope {
    event(seq, "turn", "moothall", content, json!({}))
}

fn granted(seq: u64, turn_id: &str, who: &str) -> Envelope {
    turn(
        seq,
        json!({"event": "granted", "turn": turn_id, "participant": who, "why": "forced", "kind": "reply", "may_pass": true,
        "cause": {"id": "x", "seq": 1, "from": "user", "depth": 0}, "expires": ""}),
    )
}

fn started(seq: u64, turn_id: &str) -> Envelope {
    turn(
        seq,
        json!({"event": "started", "turn": turn_id, "attempt": 1, "from_seq": 0, "through_seq": 1, "deadline": ""}),
    )
}

fn ended(seq: u64, turn_id: &str, who: &str, outcome: &str) -> Envelope {
    let usage = json!({"seconds": 0.0, "input_tokens": 0, "output_tokens": 0, "cost_micros": 0});
    turn(
        seq,
        json!({"event": "ended", "turn": turn_id, "participant": who, "attempt": 1, "outcome": outcome, "usage": usage}),
    )
}

fn delta(turn: &str, attempt: u32, offset: usize, text: &str) -> DeltaSignal {
    DeltaSignal {
        turn: turn.into(),
        attempt,
        participant: "writer".into(),
        offset,
        text: text.into(),
    }
}

fn room() -> ChatView {
    ChatView { agents: ["writer".to_owned(), "critic".to_owned()].into(), ..ChatView::default() }
}

fn status(text: &str) -> Option<Item> {
    Some(Item::Status(text.into()))
}

#[test]
fn an_answer_grows_and_settles_once() {
    let mut room = room();
    assert_eq!(room.hear(&granted(1, "t.1", "writer")), None);
    room.hear(&started(2, "t.1"));
    assert_eq!(room.doing("user", Instant::now()), ["writer is thinking"]);
    room.delta(delta("t.1", 1, 0, "Hé"));
    room.delta(delta("t.1", 1, 3, "llo"));
    room.delta(delta("t.1", 1, 3, "llo"));
    room.delta(delta("t.1", 1, 2, "?"));
    room.delta(delta("t.1", 1, 99, "?"));
    assert_eq!(room.writing().collect::<Vec<_>>(), [("writer", "Héllo")]);
    let settled = room.hear(&event(
        3,
        "message",
        "writer",
        json!("Héllo."),
        json!({"turn": "t.1", "reply_to": "id0"}),
    ));
    assert!(
        matches!(settled, Some(Item::Message(said)) if said.text == "Héllo." && said.reply.is_none())
    );
    assert_eq!(room.writing().count(), 0);
    assert_eq!(room.hear(&ended(4, "t.1", "writer", "spoke")), None);
    assert!(!room.is_busy());
}

#[test]
fn a_new_attempt_begins_anew_and_an_old_one_is_over() {
    let mut room = room();
    room.delta(delta("t.1", 1, 0, "first"));
    room.delta(delta("t.1", 2, 0, "second"));
    room.delta(delta("t.1", 1, 5, " more"));
    assert_eq!(room.writing().collect::<Vec<_>>(), [("writer", "second")]);
}

#[test]
fn what_listeners_say_is_not_shown() {
    let mut room = room();
    let mut listen = granted(1, "t.1", "writer");
    listen.content["kind"] = json!("listen");
    room.hear(&listen);
    room.hear(&started(2, "t.1"));
    room.delta(delta("t.1", 1, 0, "private"));
    assert_eq!(
        (room.writing().count(), room.doing("user", Instant::now()).len(), room.is_busy()),
        (0, 0, true)
    );
}

#[test]
fn silence_is_told_once_for_each_human_message() {
    let mut room = room();
    assert_eq!(room.hear(&ended(1, "t.1", "critic", "passed")), status("critic passed"));
    assert_eq!(room.hear(&ended(2, "t.2", "critic", "passed")), None);
    room.hear(&event(3, "message", "user", json!("well?"), json!({})));
    assert_eq!(room.hear(&ended(4, "t.3", "critic", "passed")), status("critic passed"));
    assert_eq!(room.hear(&ended(5, "t.4", "critic", "cancelled")), status("critic was stopped"));
}

#[test]
fn a_pass_that_has_a_notice_is_told_once() {
    let mut room = room();
    let mut addressed = granted(1, "t.1", "critic");
    addressed.content["may_pass"] = json!(false);
    room.hear(&addressed);
    assert_eq!(room.hear(&ended(2, "t.1", "critic", "passed")), None);
    let notice = event(
        3,
        "notice",
        "moothall",
        json!({"code": "passed", "text": "critic was addressed and passed."}),
        json!({}),
    );
    assert_eq!(room.hear(&notice), status("critic was addressed and passed."));
}

#[test]
fn replies_of_people_say_to_what() {
    let mut room = room();
    room.hear(&event(7, "message", "writer", json!("a"), json!({})));
    let answer = room.hear(&event(9, "message", "user", json!("b"), json!({"reply_to": "id7"})));
    assert!(matches!(answer, Some(Item::Message(said)) if said.reply == Some(7)));
    assert_eq!((room.id_of(7), room.id_of(8), room.heard), (Some("id7"), None, 9));
}

#[test]
fn guards_and_controls_are_said_in_words() {
    let mut room = room();
    let held = room.hear(&event(
        1,
        "notice",
        "moothall",
        json!({"code": "held", "guard": "pair", "text": "Too often."}),
        json!({}),
    ));
    assert_eq!(held, Some(Item::Alert("Too often. (type /resume)".into())));
    let control = |content: Value| event(2, "control", "user", content, json!({}));
    assert_eq!(
        room.hear(&control(json!({"mute": {"targets": ["critic", "writer"]}}))),
        status("user muted critic, writer")
    );
    assert_eq!(
        room.hear(&control(json!({"pause": {"on": false}}))),
        status("user resumed the conversation")
    );
    assert_eq!(
        room.hear(&control(json!({"config": {"cooldown_seconds": 5}}))),
        status("user set cooldown_seconds to 5")
    );
}

#[test]
fn a_permission_is_a_card_until_somebody_answers() {
    let mut room = room();
    let permission =
        |seq: u64, content: Value| event(seq, "permission", "moothall", content, json!({}));
    let asks = json!({"event": "requested", "permission": "p1", "turn": "t.1", "participant": "writer", "action": "rm -r build",
        "complete": false, "folder": "/src", "look": "moothall attach writer", "expires": "",
        "options": [{"id": "1", "label": "Yes", "kind": "allow_once"}, {"id": "2", "label": "No", "kind": "reject_once"}]});
    let card = "writer asks for permission:\nrm -r build\nin /src\nthis is only a part; read the \
                whole request first: moothall attach writer\n1. Yes\n2. No\n/permit allow 5   \
                /permit deny 5   or the number of an answer";
    assert_eq!(room.hear(&permission(5, asks.clone())), Some(Item::Alert(card.into())));
    let answered = json!({"event": "answered", "permission": "p1", "by": "user", "option": "2", "label": "No"});
    assert_eq!(room.hear(&permission(6, answered.clone())), status("user answered No to writer"));
    assert!(room.asks.all().is_empty());
    let mut late = self::room();
    late.heard = 9;
    assert_eq!(late.recall(&[permission(5, asks.clone()), permission(6, answered)]), []);
    assert_eq!(late.recall(&[permission(5, asks)]), [Item::Alert(card.into())]);
    assert_eq!(late.heard, 9);
    late.hear(&ended(10, "t.1", "writer", "cancelled"));
    assert!(late.asks.all().is_empty(), "what was asked for is of no interest any more");
}

#[test]
fn people_are_seen_typing_for_a_while() {
    let mut room = room();
    let now = Instant::now();
    let update = |who: &str| PresenceUpdate {
        thread: "t".into(),
        participant: who.into(),
        state: "typing".into(),
        updated_at: String::new(),
        details: None,
    };
    for who in ["ann", "user", "writer"] {
        room.presence(update(who), now);
    }
    assert_eq!(room.doing("user", now), ["ann is typing"]);
    assert_eq!(room.doing("user", now + PRESENCE_TTL), Vec::<String>::new());
}

fn gathering(seq: u64, content: Value) -> Envelope {
    event(seq, "gathering", "moothall", content, json!({}))
}

/// Returns a gathering of the person and Bob, with Hal as the harvester.
fn opened(seq: u64) -> Envelope {
    let member = |name: &str, number: u32, role: &str, id: &str| json!({"name": name, "number": number, "role": role, "kind": "human", "participant_id": id});
    let plan = json!({"rhythm": "daily", "breath": [1, 1, 1], "beats_per_turn": 3, "beat_interval_seconds": 60.0,
        "last_word_seconds": 20.0, "opening_question": "", "delivery": "live"});
    let participants = [
        member("Ann", 1, "speaker", "user"),
        member("Bob", 2, "speaker", "bob"),
        member("Hal", 3, "harvester", "hal"),
    ];
    let content =
        json!({"event": "opened", "by": "user", "plan": plan, "participants": participants});
    gathering(seq, content)
}

fn given(seq: u64, holder: &str) -> Envelope {
    gathering(seq, json!({"event": "piece_given", "holder": holder, "note": null}))
}

#[test]
fn the_piece_calls_whoever_gets_it_and_nobody_else() {
    let mut room = ChatView { me: "user".into(), ..room() };
    room.hear(&opened(1));
    let call = room.hear(&given(2, "user"));
    assert!(matches!(&call, Some(Item::Alert(text)) if text.starts_with("You have the piece")));
    assert!(room.is_on());
    let beat = |seq| gathering(seq, json!({"event": "beat", "number": 1}));
    let line = |text: &str| Some(Item::Told(text.into()));
    assert_eq!(room.hear(&beat(3)), line("Beat 1 of 3: you have the piece."));
    assert_eq!(room.hear(&given(4, "bob")), line("The piece is now with Bob (2)."));
    assert_eq!(room.hear(&beat(5)), None, "of the others' beats nothing is said");
    assert!(!room.is_on());
    let now = "2026-01-01T00:00:01Z".parse().unwrap();
    assert_eq!(room.piece(now).as_deref(), Some("Bob (2) has the piece"));
    let phase =
        event(6, "notice", "moothall", json!({"code": "phase", "text": "--- Phase"}), json!({}));
    assert_eq!(room.hear(&phase), None, "its round said so");
}

#[test]
fn the_seed_is_told_once_and_the_pulse_with_each_beat() {
    let mut room = ChatView { me: "user".into(), ..room() };
    let held = |change: Value| crate::commands::gather::tests::answer(change);
    let seeded = |beat: u32, pulse: Option<&str>| {
        held(json!({"seed": "You are Ann (1).\n", "beat": beat, "pulse": pulse}))
    };
    let line = |text: &str| Item::Told(text.into());
    assert_eq!(room.stands(&seeded(0, None)), [line("You are Ann (1).")]);
    assert_eq!(room.stands(&seeded(1, Some("inhale"))), [line("inhale")]);
    assert_eq!(room.stands(&seeded(1, Some("inhale"))), [], "it was told");
    assert_eq!(room.stands(&seeded(2, Some("inhale"))), [line("inhale")]);
    room.hear(&opened(1));
    assert_eq!(room.stands(&seeded(0, None)), [line("You are Ann (1).")], "of the next one");
}

#[test]
fn what_was_before_calls_nobody() {
    let mut room = ChatView { me: "user".into(), heard: 9, ..room() };
    room.hear(&opened(1));
    let line = Some(Item::Told("The piece is now with Ann (1).".into()));
    assert_eq!(room.hear(&given(2, "user")), line);
    assert!(matches!(room.call(), Some(Item::Alert(_))), "it still has it");
    let kept = |who: &str| {
        turn(10, json!({"event": "kept", "participant": who, "because": "no_piece", "text": "x"}))
    };
    assert_eq!(room.hear(&kept("user")), None, "the refusal said so");
    assert_eq!(
        room.hear(&kept("bob")),
        status("bob wrote without having the piece; the message is not shown")
    );
}
