//! Plans of gatherings: those that are refused, with the faulty member named, and those at the
//! bounds, which are held.

use serde_json::{Value, json};

use super::{agent, code, harvester, message, person, plain, scribe};
use crate::server::Server;

const FIELD: &str = "invalid_field";
const PLAN: &str = "invalid_gathering";
const CIRCLE: &str = "invalid_circle";

/// Returns a plan with another value at a key.
fn with(key: &str, value: Value) -> Value {
    let mut plan = plain();
    plan[key] = value;
    plan
}

/// Returns a plan with a changed second speaker.
fn bob(change: Value) -> Value {
    let mut plan = plain();
    for (key, value) in change.as_object().unwrap() {
        plan["participants"][1][key] = value.clone();
    }
    plan
}

#[tokio::test]
async fn bad_plans_are_refused_with_the_member_that_is_wrong() {
    let (server, stage) = Server::with_terminals().await;
    let circle = |members: Vec<Value>| with("participants", json!(members));
    let (ann, bo) = (|| person("Ann", 1), || person("Bob", 2));
    let of_kind = |change: Value| {
        let mut member = json!({"name": "Bob", "number": 2});
        member.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        circle(vec![ann(), member, scribe(3)])
    };
    let long = "x".repeat(65);
    let cases = [
        // Participants.
        (circle(vec![ann(), bo()]), FIELD, "participants"),
        (with("participants", json!("Ann")), FIELD, "participants"),
        (with("participants", json!(["Ann", "Bob", "Cy"])), FIELD, "participants"),
        (with("participants", json!(vec![ann(); 201])), FIELD, "participants"),
        (with("participants", Value::Null), FIELD, "participants"),
        (circle(vec![ann(), bo(), scribe(3), harvester(person("Cy", 4))]), CIRCLE, "Hal and Cy"),
        (circle(vec![ann(), bo(), person("Cy", 3)]), CIRCLE, "harvester"),
        (circle(vec![ann(), scribe(3)]), FIELD, "participants"),
        (circle(vec![ann(), scribe(3), harvester(bo())]), CIRCLE, "at least 2 speakers"),
        (bob(json!({"number": 1})), CIRCLE, "Bob and Ann have the same number, 1"),
        (bob(json!({"number": 0})), FIELD, "Bob: 'number'"),
        (bob(json!({"number": -1})), FIELD, "number"),
        (bob(json!({"number": 1.5})), FIELD, "number"),
        (bob(json!({"number": "2"})), FIELD, "number"),
        (bob(json!({"number": 4_294_967_296_u64})), FIELD, "number"),
        (bob(json!({"number": null})), FIELD, "number"),
        (bob(json!({"name": "АNN"})), CIRCLE, "looks like \"Ann\""),
        (bob(json!({"name": "Ann"})), CIRCLE, "looks like \"Ann\""),
        (bob(json!({"name": " "})), FIELD, "name"),
        (bob(json!({"name": 7})), FIELD, "name"),
        (bob(json!({"kind": "robot"})), FIELD, "Bob: 'kind'"),
        (bob(json!({"kind": null})), FIELD, "kind"),
        (bob(json!({"role": "chair"})), FIELD, "Bob: 'role'"),
        (bob(json!({"computer": "elsewhere"})), FIELD, "Bob: 'computer'"),
        // References to agents and sessions.
        (of_kind(json!({"kind": "agent"})), FIELD, "Bob: 'client' is missing"),
        (
            of_kind(json!({"kind": "agent", "client": "nobody"})),
            PLAN,
            "Bob: the registry has no agent",
        ),
        (of_kind(json!({"kind": "agent", "client": "demo", "cwd": "here"})), FIELD, "cwd"),
        (of_kind(json!({"kind": "agent", "client": "demo", "args": "-x"})), FIELD, "args"),
        (of_kind(json!({"kind": "agent", "client": "demo", "args": ["\u{0}"]})), FIELD, "args"),
        (of_kind(json!({"kind": "session"})), FIELD, "Bob: 'session_id' is missing"),
        // Fields of another kind.
        (bob(json!({"client": "echo"})), FIELD, "Bob: 'client' is only for the kind \"agent\""),
        (
            bob(json!({"session_id": "x"})),
            FIELD,
            "Bob: 'session_id' is only for the kind \"session\"",
        ),
        (bob(json!({"cwd": "/"})), FIELD, "Bob: 'cwd' is only for the kind \"agent\""),
        (bob(json!({"args": ["x"]})), FIELD, "Bob: 'args' is only for the kind \"agent\""),
        (bob(json!({"model": "m"})), FIELD, "Bob: 'model' is only for the kind \"agent\""),
        (
            of_kind(json!({"kind": "agent", "client": "echo", "participant_id": "bob"})),
            FIELD,
            "Bob: 'participant_id' is only for the kind \"human\"",
        ),
        // Settings of the gathering.
        (with("breath", json!("deep")), FIELD, "breath"),
        (with("breath", json!([1, 2])), FIELD, "breath"),
        (with("breath", json!([1, 2, 3, 4])), FIELD, "breath"),
        (with("breath", json!([1, -2, 1])), FIELD, "breath"),
        (with("breath", json!([1, 1.5, 1])), FIELD, "breath"),
        (with("breath", json!(["1", "1", "1"])), FIELD, "breath"),
        (with("breath", json!({"inhale": 1})), FIELD, "breath"),
        (with("breath", json!([1, 0, 1])), PLAN, "breath"),
        (with("breath", json!([1, 101, 1])), PLAN, "breath"),
        (with("beats_per_turn", json!(0)), PLAN, "beats_per_turn"),
        (with("beats_per_turn", json!(101)), PLAN, "beats_per_turn"),
        (with("beats_per_turn", json!(-1)), FIELD, "beats_per_turn"),
        (with("beats_per_turn", json!("3")), FIELD, "beats_per_turn"),
        (with("beat_interval_seconds", json!(0.999)), PLAN, "beat_interval_seconds"),
        (with("beat_interval_seconds", json!(86_401)), PLAN, "beat_interval_seconds"),
        (with("beat_interval_seconds", json!(-1)), FIELD, "beat_interval_seconds"),
        (with("beat_interval_seconds", json!(1e10)), FIELD, "beat_interval_seconds"),
        (with("beat_interval_seconds", json!("60")), FIELD, "beat_interval_seconds"),
        (with("last_word_seconds", json!(0)), PLAN, "last_word_seconds"),
        (with("last_word_seconds", json!(true)), FIELD, "last_word_seconds"),
        (with("delivery", json!("later")), FIELD, "delivery"),
        (with("rhythm", json!(" ")), PLAN, "rhythm"),
        (with("rhythm", json!(long)), PLAN, "rhythm"),
        (with("rhythm", json!("../daily")), PLAN, "rhythm"),
        (with("rhythm", json!("a\nb")), PLAN, "rhythm"),
        (with("opening_question", json!("x".repeat(4097))), PLAN, "opening_question"),
        (with("opening_question", json!(7)), FIELD, "opening_question"),
        // Unknown fields and fields of the server.
        (with("questoin", json!("x")), "unknown_field", "questoin"),
        (with("pulse", json!([])), "unknown_field", "pulse"),
        (with("signals", json!(["x"])), "unknown_field", "signals"),
        (bob(json!({"part": "speaker"})), "unknown_field", "part"),
        (with("id", json!("mine")), "server_field", "id"),
    ];
    for (body, word, about) in cases {
        let refused = server.post("/gatherings", body.clone()).await;
        let shown: String = body.to_string().chars().take(300).collect();
        assert_eq!(code(&refused), (422, word), "{shown}: {}", refused.1);
        assert!(message(&refused).contains(about), "{about:?}: {shown}: {}", refused.1);
    }
    let gone = of_kind(json!({"kind": "session", "session_id": "nobody"}));
    assert_eq!(code(&server.post("/gatherings", gone).await), (404, "session_not_found"));
    assert_eq!(server.get("/gatherings").await.1["gatherings"], json!([]));
    assert_eq!(stage.count(), 0);
    for body in ["[]", "", "{", "null", "\"x\""] {
        let refused = server.post_raw("/gatherings", body).await;
        assert!((400..500).contains(&refused.0), "{body}: {refused:?}");
    }
}

#[tokio::test]
async fn plans_at_their_bounds_are_held() {
    let (server, _stage) = Server::with_terminals().await;
    for (key, value) in [
        ("breath", json!([100, 1, 100])),
        ("beats_per_turn", json!(100)),
        ("beat_interval_seconds", json!(86_400.0)),
        ("last_word_seconds", json!(1.5)),
        ("rhythm", json!("ä".repeat(64))),
        ("opening_question", json!("x".repeat(4096))),
        ("delivery", json!("on_turn")),
    ] {
        let (status, answer) = server.post("/gatherings", with(key, value.clone())).await;
        assert_eq!((status, &answer[key]), (200, &value), "{answer}");
    }
    let mut bare =
        json!({"participants": [person("Ann", 7), person("Bob", 2), agent("Hal", 1, "echo")]});
    bare["participants"][2]["role"] = json!("harvester");
    let (status, answer) = server.post("/gatherings", bare).await;
    assert_eq!(status, 200, "{answer}");
    let taken =
        ["rhythm", "beats_per_turn", "beat_interval_seconds", "last_word_seconds", "delivery"]
            .map(|key| answer[key].clone());
    assert_eq!(json!(taken), json!(["gathering", 3, 60.0, 20.0, "live"]));
    assert_eq!((&answer["breath"], &answer["holder"]["name"]), (&json!([2, 2, 2]), &json!("Bob")));
}
