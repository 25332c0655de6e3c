//! The meaning of programs' reports. The payloads are those of the programs, shortened.

use moothall_agents::terminal::hooks::{HookEvent, Note};
use moothall_engine::sessions::{HookNews, ReportedQuestion};
use moothall_kernel::permission::{ActionDetail, ActionPart, PartRole};
use proptest::prelude::*;
use serde_json::{Value, json};

fn note(program: &str, event: &str, payload: &str) -> Note {
    Note {
        id: "01980000-0000-7000-8000-00000000000a".into(),
        session: "01980000-0000-7000-8000-000000000001".into(),
        token: "secret".into(),
        program: program.into(),
        event: event.into(),
        payload: payload.into(),
        cut: false,
        recorded: None,
        trouble: None,
        before_pass: None,
    }
}

fn read(program: &str, event: &str, payload: Value) -> HookEvent {
    HookEvent::of(&note(program, event, &payload.to_string()))
}

fn heard(native: &str, news: HookNews) -> HookEvent {
    HookEvent::Heard { native: Some(native.to_owned()), news }
}

fn stopped(text: Option<&str>, inputs: Option<&[&str]>, interrupted: bool) -> HookNews {
    let inputs = inputs.map(|inputs| inputs.iter().map(|input| (*input).to_owned()).collect());
    HookNews::Stopped { text: text.map(str::to_owned), inputs, interrupted }
}

#[test]
fn claude_says_what_it_was_asked_and_what_it_said() {
    let prompt = json!({"session_id": "n", "hook_event_name": "UserPromptSubmit", "prompt": "Hello\n[moothall:1a2b3c4d]", "new_field": [1]});
    assert_eq!(
        read("claude", "UserPromptSubmit", prompt),
        heard("n", HookNews::Prompt { text: "Hello\n[moothall:1a2b3c4d]".into() })
    );
    let stop =
        json!({"session_id": "n", "stop_hook_active": false, "last_assistant_message": "Done."});
    assert_eq!(read("claude", "Stop", stop), heard("n", stopped(Some("Done."), None, true)));
    for silent in
        [json!({"session_id": "n", "last_assistant_message": " \n"}), json!({"session_id": "n"})]
    {
        assert_eq!(read("claude", "Stop", silent), heard("n", stopped(None, None, true)));
    }
    let failed = json!({"session_id": "n", "error": "server_error", "last_assistant_message": "API Error: 500"});
    assert_eq!(
        read("claude", "StopFailure", failed),
        heard("n", HookNews::Failed { message: "API Error: 500".into() })
    );
    let failed = json!({"session_id": "n", "error": "server_error"});
    assert_eq!(
        read("claude", "StopFailure", failed),
        heard("n", HookNews::Failed { message: "server_error".into() })
    );
}

#[test]
fn claude_goes_on_after_it_was_cleared() {
    assert_eq!(
        read("claude", "SessionStart", json!({"session_id": "n", "source": "startup"})),
        heard("n", HookNews::Began)
    );
    assert_eq!(
        read("claude", "SessionStart", json!({"session_id": "n", "source": "compact"})),
        HookEvent::Nothing
    );
    assert_eq!(
        read("claude", "SessionEnd", json!({"session_id": "n", "reason": "clear"})),
        HookEvent::Nothing
    );
    assert_eq!(
        read("claude", "SessionStart", json!({"session_id": "m", "source": "clear"})),
        heard("m", HookNews::Began)
    );
    assert_eq!(
        read("claude", "SessionEnd", json!({"session_id": "m", "reason": "prompt_input_exit"})),
        heard("m", HookNews::Ended)
    );
    assert_eq!(
        read(
            "claude",
            "SubagentStop",
            json!({"session_id": "m", "last_assistant_message": "part"})
        ),
        HookEvent::Nothing
    );
}

#[test]
fn a_permission_names_the_exact_action_and_not_its_title() {
    let input = json!({"command": "rm -rf build", "description": "List files"});
    let asked = json!({"session_id": "n", "tool_name": "Bash", "tool_input": input, "permission_suggestions": []});
    let action = r#"Bash {"command":"rm -rf build","description":"List files"}"#.to_owned();
    let part =
        |role, name: &str, text: &str| ActionPart { role, name: name.into(), text: text.into() };
    let detail = Some(ActionDetail {
        tool: "Bash".into(),
        parts: vec![
            part(PartRole::Command, "command", "rm -rf build"),
            part(PartRole::Claim, "description", "List files"),
        ],
        screen: None,
        step: None,
    });
    assert_eq!(
        read("claude", "PermissionRequest", asked),
        heard(
            "n",
            HookNews::Asks(ReportedQuestion { detail, ..ReportedQuestion::new(action, false) })
        )
    );
    let reminder = json!({"session_id": "n", "notification_type": "permission_prompt", "message": "Claude needs your permission"});
    assert_eq!(
        read("claude", "Notification", reminder),
        heard("n", HookNews::Asks(ReportedQuestion::new("Claude needs your permission", true)))
    );
    assert_eq!(
        read(
            "claude",
            "Notification",
            json!({"session_id": "n", "notification_type": "idle_prompt"})
        ),
        HookEvent::Nothing
    );
    let gemini = json!({"session_id": "n", "notification_type": "ToolPermission", "message": "run it?", "details": {"command": "ls"}});
    assert_eq!(
        read("gemini", "Notification", gemini),
        heard(
            "n",
            HookNews::Asks(ReportedQuestion {
                detail: Some(ActionDetail {
                    tool: String::new(),
                    parts: vec![part(PartRole::Command, "command", "ls")],
                    screen: None,
                    step: None,
                }),
                ..ReportedQuestion::new(r#"{"command":"ls"}"#, false)
            })
        )
    );
}

#[test]
fn codex_tells_all_its_inputs_and_keeps_its_titles_to_itself() {
    let end = json!({"type": "agent-turn-complete", "thread-id": "t", "turn-id": "u", "input-messages": ["one", "two"],
        "last-assistant-message": "Both done."});
    assert_eq!(
        read("codex", "notify", end),
        heard("t", stopped(Some("Both done."), Some(&["one", "two"]), true))
    );
    let silent = json!({"type": "agent-turn-complete", "thread-id": "t", "input-messages": ["one"], "last-assistant-message": null});
    assert_eq!(read("codex", "notify", silent), heard("t", stopped(None, Some(&["one"]), true)));
    let title = json!({"type": "agent-turn-complete", "thread-id": "other", "last-assistant-message": "Greeting",
        "input-messages": ["Generate a concise, single-line task title for this:\none [moothall:1a2b3c4d]"]});
    assert_eq!(read("codex", "notify", title), HookEvent::Nothing);
    assert_eq!(
        read("codex", "notify", json!({"type": "something-new", "thread-id": "t"})),
        HookEvent::Nothing
    );
}

/// The report of a broken stream holds its words, once for each attempt.
#[test]
fn gemini_fails_if_its_record_has_an_error_and_no_words() {
    let payload = json!({"session_id": "g", "prompt": "Hi", "prompt_response": "Begun  Begun "});
    let end = |recorded: Option<&str>| {
        let note = note("gemini", "AfterAgent", &payload.to_string());
        let (recorded, trouble) = (recorded.map(str::to_owned), Some("terminated".to_owned()));
        HookEvent::of(&Note { recorded, trouble, ..note })
    };
    let failed = HookNews::Failed { message: "terminated".into() };
    assert_eq!(end(None), heard("g", failed));
    assert_eq!(end(Some("Begun")), heard("g", stopped(Some("Begun"), None, false)));
}

#[test]
fn gemini_ends_an_interrupted_turn_without_words() {
    assert_eq!(
        read("gemini", "BeforeAgent", json!({"session_id": "g", "prompt": "Hi"})),
        heard("g", HookNews::Prompt { text: "Hi".into() })
    );
    let end = |text: &str| {
        read(
            "gemini",
            "AfterAgent",
            json!({"session_id": "g", "prompt": "Hi", "prompt_response": text}),
        )
    };
    assert_eq!(end("Hello."), heard("g", stopped(Some("Hello."), None, false)));
    assert_eq!(end("[no response text]"), heard("g", stopped(None, None, false)));
    assert_eq!(
        read("gemini", "SessionStart", json!({"session_id": "g", "source": "startup"})),
        heard("g", HookNews::Began)
    );
    assert_eq!(
        read("gemini", "SessionEnd", json!({"session_id": "g", "reason": "exit"})),
        heard("g", HookNews::Ended)
    );
}

#[test]
fn the_words_of_gemini_are_those_of_its_record() {
    let garbled = json!({"session_id": "g", "prompt_response": "I looked. Done, *all* of it. *all*  of it. "}).to_string();
    let said = |recorded: Option<&str>| match HookEvent::of(&Note {
        recorded: recorded.map(str::to_owned),
        ..note("gemini", "AfterAgent", &garbled)
    }) {
        HookEvent::Heard { news: HookNews::Stopped { text, .. }, .. } => text.unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(said(Some("Done, *all* of it.")), "Done, *all* of it.");
    for of_another_turn in [None, Some("Something else.")] {
        assert_eq!(said(of_another_turn), "I looked. Done, *all* of it. *all*  of it. ");
    }
}

#[test]
fn what_cannot_be_read_is_not_taken_for_something_else() {
    assert_eq!(HookEvent::of(&note("claude", "Stop", "")), HookEvent::Garbled);
    assert_eq!(HookEvent::of(&note("codex", "notify", "[1, 2]")), HookEvent::Garbled);
    assert_eq!(HookEvent::of(&note("unheard-of", "Stop", "whatever")), HookEvent::Nothing);
    let half = r#"{"session_id": "n", "last_assistant_message": "cut \ud83d"}"#;
    assert_eq!(
        HookEvent::of(&note("claude", "Stop", half)),
        heard("n", stopped(Some("cut \u{fffd}"), None, true))
    );
    let cut = Note {
        cut: true,
        ..note("claude", "Stop", r#"{"session_id": "n", "last_assistant_message": "a long st"#)
    };
    assert_eq!(HookEvent::of(&cut), heard("n", stopped(Some("a long st"), None, true)));
}

const EVENTS: [&str; 10] = [
    "Stop",
    "StopFailure",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Notification",
    "PermissionRequest",
    "BeforeAgent",
    "AfterAgent",
    "notify",
];

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..4).prop_map(|map| json!(map)),
        ]
    })
}

fn payload() -> impl Strategy<Value = Value> {
    let names = prop::sample::select(vec![
        "session_id",
        "thread-id",
        "type",
        "prompt",
        "prompt_response",
        "last_assistant_message",
        "last-assistant-message",
        "input-messages",
        "reason",
        "source",
        "notification_type",
        "tool_name",
        "tool_input",
        "details",
        "message",
    ]);
    let known = prop::sample::select(vec![
        "agent-turn-complete",
        "permission_prompt",
        "ToolPermission",
        "clear",
    ])
    .prop_map(Value::from);
    prop::collection::btree_map(names, prop_oneof![anything(), known], 0..8)
        .prop_map(|map| json!(map))
}

proptest! {
    #[test]
    fn no_payload_makes_it_panic(
        program in prop::sample::select(vec!["claude", "codex", "gemini", "other"]),
        event in prop::sample::select(EVENTS.to_vec()),
        payload in payload(),
        raw in ".{0,80}",
        end in 0..300usize,
        cut: bool,
    ) {
        let text = payload.to_string();
        let mut ends = (0..=end.min(text.len())).rev();
        let end = ends.find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        for payload in [text.as_str(), &text[..end], &raw] {
            HookEvent::of(&Note { cut, ..note(program, event, payload) });
        }
    }
}
