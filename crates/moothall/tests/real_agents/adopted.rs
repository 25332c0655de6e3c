//! Programs that a person started in their own tmux, adopted while they run. They send no reports.

use std::fs;

use moothall_testkit::model_server::{Gate, Reply};
use serde_json::{Value, json};

use crate::harness::Server;
use crate::house::{House, in_state};
use crate::programs;
use crate::terminal::Terminal;

/// Several paragraphs, a list and code, as a model writes them.
const LONG: &str = "There are two ways.\n\nThe first is *short*, and it is written in one line that is longer than any \
    terminal is wide, so that every program has to break it somewhere in its middle.\n\n\
    - one\n- two, with `code`\n  1. nested\n\n```rust\nfn main() {\n    println!(\"● ✻ ─── >\");\n}\n```\n\n\
    ---\n\n> quoted\n\nThat is all.";

/// Starts a program as people do: typed at a shell's prompt, in a tmux with few colours.
fn by_hand(house: &House, client: &str, ready: &str) -> Terminal {
    let mut env = programs::variables(&house.home);
    env.remove("COLORTERM");
    let terminal = Terminal::start(&["/bin/sh".to_owned()], &env, &house.home.path().join("work"));
    let trusting = if client == "gemini" { " --skip-trust" } else { "" };
    terminal.typed(&format!("{}{trusting}", programs::file(client)));
    terminal.drawn(&[ready]);
    terminal
}

async fn adopt(server: &Server<'_>, terminal: &Terminal, client: &str) -> String {
    let adopt = json!({"socket": terminal.socket(), "pane": "0:0.0"});
    let adopt = json!({"client": client, "name": client, "adopt": adopt});
    server.accepted("/sessions", adopt).await["id"].as_str().unwrap().to_owned()
}

/// Checks that a program's answers arrive verbatim, at any speed of its model.
async fn answers(client: &str, ready: &str) {
    let house = House::new().await;
    let terminal = by_hand(&house, client, ready);
    let server = house.serve();
    let session = adopt(&server, &terminal, client).await;
    in_state(&server, &session, "idle").await;
    let gate = Gate::default();
    let turns = [
        ("quick-tag", "At once.", Reply::text("At once.")),
        ("long-tag", LONG, Reply::text(LONG)),
        ("slow-tag", "Later.", Reply::text("Later.").gated(&gate)),
        ("again-tag", "At once again.", Reply::text("At once again.")),
    ];
    for (key, answer, reply) in turns {
        house.when(key, &reply);
        let said = server.say(&session, &format!("Please {key}")).await;
        if key == "slow-tag" {
            house.model(client).asked_about(key).await;
            in_state(&server, &session, "busy").await;
            gate.open(1000);
        }
        let reply = server.reply(&session, &said, client).await;
        assert_eq!(reply["content"], answer, "{key}");
    }
    house.when("limit-tag", &Reply::refusal(400, "a request that is not valid"));
    let said = server.say(&session, "Please limit-tag").await;
    let failed = |event: &Value| !event["meta"]["error"].is_null();
    let fault = server.wait_for(&session, said["seq"].as_u64().unwrap(), failed).await;
    let fault = &fault["meta"]["error"];
    assert_eq!(fault["code"], "program_failed", "{fault}");
    assert!(fault["message"].as_str().unwrap().contains("a request that is not valid"), "{fault}");
    let work = fs::canonicalize(house.home.path().join("work")).unwrap();
    assert_eq!(server.get(&format!("/sessions/{session}")).await["cwd"], json!(work));
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_adopted() {
    answers("claude", "❯").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_is_adopted() {
    answers("codex", "›").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_is_adopted() {
    answers("gemini", "Type your message").await;
}
