//! Output about a gathering, and the results of waiting for one.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;

/// Returns a running gathering of three members, with the given keys replaced.
pub(crate) fn answer(change: Value) -> GatheringAnswer {
    let member = |name: &str, number: u32, role: &str, kind: &str, id: &str| json!({"name": name, "number": number, "role": role, "kind": kind, "participant_id": id});
    let mut whole = json!({"id": "g", "thread": "g", "title": "Gathering: daily", "status": "active", "rhythm": "daily",
        "opening_question": "What now?", "breath": [1, 2, 1], "beats_per_turn": 3, "beat_interval_seconds": 60.0,
        "last_word_seconds": 20.0, "delivery": "live", "phase": "hold", "rule": "Question.", "round": 1, "rounds": 2,
        "holder": {"name": "Ann", "number": 1, "participant_id": "user"}, "since": "2026-01-01T09:00:00Z", "beat": 1,
        "beats": 3, "last_word": false, "pass_asked": false, "next_beat_at": "2026-01-01T09:02:00Z", "stopped": false, "order": ["bob"],
        "participants": [member("Ann", 1, "speaker", "human", "user"), member("Bob", 2, "speaker", "agent", "bob"),
            member("Hal", 3, "harvester", "agent", "hal")],
        "harvest": null, "closed_because": null, "seed": null, "pulse": null});
    for (key, value) in change.as_object().unwrap() {
        whole[key] = value.clone();
    }
    serde_json::from_value(whole).unwrap()
}

fn event(kind: &str, content: Value, meta: Value) -> Envelope {
    serde_json::from_value(
        json!({"id": "x", "seq": 1, "ts": "2026-01-01T00:00:00.000Z", "thread": "g",
        "type": kind, "from": "moothall", "to": "all", "content": content, "meta": meta}),
    )
    .unwrap()
}

#[test]
fn one_line_says_where_a_gathering_is() {
    let rows = [
        (json!({}), "hold, round 1 of 2; Ann (1) has the piece, beat 1 of 3"),
        (json!({"stopped": true, "holder": null}), "hold, round 1 of 2; stopped by a person"),
        (json!({"phase": "close", "holder": null}), "close, Hal (3) writes the harvest"),
        (json!({"status": "closed", "closed_because": "ended"}), "closed: a person ended it"),
        (json!({"status": "seeding", "phase": null}), "seeding"),
    ];
    for (change, words) in rows {
        assert_eq!(standing(&answer(change)), words);
    }
}

#[test]
fn the_details_say_who_comes_when_and_what_came_of_it() {
    let now: Timestamp = "2026-01-01T09:01:18Z".parse().unwrap();
    let shown = details(&answer(json!({})), now);
    let lines: Vec<_> = shown.iter().map(|(label, words)| format!("{label}: {words}")).collect();
    assert_eq!(
        lines,
        [
            "question: What now?",
            "rule: Question.",
            "piece: Ann (1) since 09:00:00Z: beat 1 of 3, next beat at 09:02:00Z (in 42 s)",
            "to come: Bob (2)",
            "speaker: Ann (1), a person, as user",
            "speaker: Bob (2), an agent, as bob",
            "harvester: Hal (3), an agent, as hal",
        ]
    );
    let own = answer(json!({"seed": "You are Ann (1).\n", "pulse": "hold round 1/2"}));
    let own = details(&own, now);
    let expected =
        [("pulse", "hold round 1/2".to_owned()), ("your seed", "You are Ann (1).".into())];
    assert!(own.ends_with(&expected), "{own:?}");
    let closed = json!({"status": "closed", "holder": null, "order": [], "rule": null,
        "harvest": {"text": "All of it.\n", "event": "e"}});
    let shown = details(&answer(closed), now);
    assert_eq!(shown.last().unwrap(), &("harvest", "All of it.".to_owned()));
    assert!(!shown.iter().any(|(label, _)| *label == "piece"));
    let last = answer(json!({"last_word": true}));
    assert!(piece(&last, now).unwrap().contains("time for a last word ends at 09:02:00Z"));
}

#[test]
fn waiting_ends_with_the_gathering_and_says_why_there_is_no_harvest() {
    let gathering = |content: Value| event("gathering", content, json!({}));
    let mut heard = GatheringProgress::default();
    let given = gathering(json!({"event": "piece_given", "holder": "bob", "note": null}));
    assert_eq!(heard.take(&given).as_deref(), Some("The piece is now with bob."));
    assert_eq!(heard.take(&gathering(json!({"event": "beat", "number": 1}))), None);
    let asked =
        json!({"event": "harvest_asked", "harvester": "hal", "because": "done", "until": null});
    heard.take(&gathering(asked));
    assert!(!heard.is_over);
    heard.take(&gathering(json!({"event": "closed", "because": "ended"})));
    assert!(heard.is_over);
    let ended = answer(json!({"status": "closed", "closed_because": "ended"}));
    let fault = heard.without_harvest(&ended);
    assert_eq!((fault.exit, fault.why.as_deref()), (Exit::Unanswered, Some("a person ended it")));
    let error = json!({"error": {"code": "broken", "message": "it broke"}});
    heard.take(&event("message", json!("[hal failed]"), error));
    let fault = heard.without_harvest(&ended);
    assert_eq!((fault.exit, fault.why.as_deref()), (Exit::AgentFailed, Some("it broke")));
}
