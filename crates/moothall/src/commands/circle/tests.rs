//! Descriptions of a gathering, and the calls to its members.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;
use crate::fault::Exit;

fn event(second: u32, content: Value) -> Envelope {
    serde_json::from_value(json!({"id": format!("id{second}"), "seq": second + 1, "thread": "t",
        "ts": format!("2026-01-01T00:00:{second:02}.000Z"), "type": "gathering", "from": "moothall",
        "to": "all", "content": content, "meta": {}}))
    .unwrap()
}

fn opened_event() -> Envelope {
    let member = |name: &str, number: u32, role: &str, id: &str| json!({"name": name, "number": number, "role": role, "kind": "human", "participant_id": id});
    let participants = [
        member("Ann", 1, "speaker", "user"),
        member("Bob", 2, "speaker", "bob"),
        member("Hal", 3, "harvester", "hal"),
    ];
    let plan = json!({"rhythm": "daily", "breath": [1, 2, 1], "beats_per_turn": 3, "beat_interval_seconds": 40.0,
        "last_word_seconds": 20.0, "opening_question": "What now?", "delivery": "live"});
    event(0, json!({"event": "opened", "by": "user", "plan": plan, "participants": participants}))
}

fn circle() -> Circle {
    let mut circle = Circle::default();
    circle.hear(&opened_event());
    circle
}

fn at(second: u32) -> Timestamp {
    format!("2026-01-01T00:00:{second:02}.200Z").parse().unwrap()
}

/// Applies an event and returns its description.
fn words(circle: &mut Circle, content: Value) -> String {
    let step = circle.hear(&event(1, content)).unwrap();
    circle.words(&step)
}

#[test]
fn steps_are_read_as_sentences() {
    let mut circle = Circle::default();
    let step = circle.hear(&opened_event()).unwrap();
    assert_eq!(
        circle.words(&step),
        "Ann (1) began a gathering (daily): Ann (1), Bob (2); Hal (3) writes the harvest.\nWhat now?"
    );
    let rows = [
        (
            json!({"event": "round_opened", "phase": "hold", "rule": "Question.", "round": 1, "order": ["user"]}),
            "--- Phase: HOLD (round 1/2) ---\nQuestion.",
        ),
        (
            json!({"event": "piece_given", "holder": "bob", "note": "Hal does not hold it."}),
            "The piece is now with Bob (2). Hal does not hold it.",
        ),
        (json!({"event": "beat", "number": 1}), "beat 1 of Bob (2)"),
        (json!({"event": "last_word_asked"}), "Bob (2) is asked for a last word."),
        (
            json!({"event": "piece_released", "holder": "bob", "because": "grace", "next": null, "note": null}),
            "Bob (2) said no last word in time.",
        ),
        (json!({"event": "beat", "number": 1}), "beat 1 of the holder"),
        (
            json!({"event": "harvest_asked", "harvester": "hal", "because": "done", "until": null}),
            "--- Phase: CLOSE ---\nHal (3) writes the harvest.",
        ),
        (
            json!({"event": "harvested", "harvester": "hal", "message": "x"}),
            "Hal (3) wrote the harvest.",
        ),
        (
            json!({"event": "closed", "because": "ended"}),
            "The gathering is closed: a person ended it.",
        ),
    ];
    for (content, expected) in rows {
        assert_eq!(words(&mut circle, content), expected);
    }
    assert!(step_of_another_version().is_none());
}

fn step_of_another_version() -> Option<GatheringStep> {
    step(&event(1, json!({"event": "sung"})))
}

#[test]
fn beats_are_for_the_one_who_has_the_piece() {
    let mut circle = circle();
    let given = event(1, json!({"event": "piece_given", "holder": "user", "note": null}));
    let step = circle.hear(&given).unwrap();
    assert_eq!(
        circle.call(&step, "user").as_deref(),
        Some(
            "You have the piece: beat 0 of 3, one every 40 s. Write what you see; /pass or /pass NAME passes it on."
        )
    );
    assert_eq!(circle.call(&step, "bob"), None);
    assert_eq!(circle.standing("bob", at(2)).as_deref(), Some("Ann (1) has the piece"));
    let beat = event(41, json!({"event": "beat", "number": 1}));
    assert!(!is_shown(&beat) && is_shown(&given));
    let step = circle.hear(&beat).unwrap();
    assert_eq!(circle.beat_of(&step, "user").as_deref(), Some("Beat 1 of 3: you have the piece."));
    assert_eq!(circle.beat_of(&step, "bob"), None);
}

#[test]
fn the_line_counts_down_to_the_next_beat_and_to_the_end() {
    let mut circle = circle();
    circle.hear(&event(1, json!({"event": "piece_given", "holder": "user", "note": null})));
    let shown = |circle: &Circle, second| circle.standing("user", at(second)).unwrap();
    assert_eq!(shown(&circle, 1), "you have the piece, next beat in 40 s");
    assert_eq!(shown(&circle, 31), "you have the piece, next beat in 10 s");
    assert_eq!(shown(&circle, 59), "you have the piece, next beat in 0 s", "it is late");
    circle.hear(&event(33, json!({"event": "beat", "number": 3})));
    let step = circle.hear(&event(33, json!({"event": "last_word_asked"}))).unwrap();
    assert_eq!(
        circle.call(&step, "user").as_deref(),
        Some("Your turn is up. What would you like to say last?")
    );
    assert_eq!(shown(&circle, 41), "your turn is up, 12 s for a last word");
    assert!(circle.is_on("user") && !circle.is_on("bob"));
}

#[test]
fn the_harvester_is_asked_and_everybody_else_is_told() {
    let mut circle = circle();
    let asked =
        json!({"event": "harvest_asked", "harvester": "hal", "because": "done", "until": null});
    let step = circle.hear(&event(1, asked)).unwrap();
    assert!(circle.call(&step, "hal").unwrap().starts_with("You write the harvest"));
    assert_eq!(circle.call_now("hal"), circle.call(&step, "hal"));
    assert_eq!(circle.standing("user", at(1)).as_deref(), Some("Hal (3) writes the harvest"));
    circle.hear(&event(2, json!({"event": "closed", "because": "done"})));
    assert_eq!((circle.standing("user", at(2)), circle.call_now("hal")), (None, None));
}

#[test]
fn a_refusal_says_who_is_heard_instead() {
    let mut circle = circle();
    let refused = Fault::new(Exit::Failure, "no").coded("not_your_piece");
    assert_eq!(
        circle.refusal(&refused).as_deref(),
        Some("another participant has the piece: others cannot speak now")
    );
    circle.hear(&event(1, json!({"event": "piece_given", "holder": "bob", "note": null})));
    assert_eq!(
        circle.refusal(&refused).as_deref(),
        Some("Bob (2) has the piece: others cannot speak now")
    );
    assert_eq!(circle.refusal(&Fault::new(Exit::Failure, "no").coded("thread_paused")), None);
}
