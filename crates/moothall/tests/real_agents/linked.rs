//! Two real programs of different makes, linked by one call of one of them: they talk on without any further call.

use std::process::Command;

use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::harness::{Home, Server};
use crate::programs;

/// What crosses after the call.
const TURNS: usize = 10;

/// Ends the tmux server of a home.
struct Terminals<'a>(&'a Home);

impl Drop for Terminals<'_> {
    fn drop(&mut self) {
        let socket = self.0.data().join("tmux/tmux.sock");
        let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
    }
}

async fn run(server: &Server<'_>, client: &str, args: &[&str]) -> String {
    let cwd = server.home().path().join("work");
    let started = server.accepted("/sessions", json!({"client": client, "name": client, "args": args, "cwd": cwd})).await;
    started["id"].as_str().unwrap().to_owned()
}

fn ball(number: usize) -> String {
    format!("ball-{number:02}")
}

/// Asks one of them to begin, again where it was asked before it knew its tools; gives the link that it makes.
async fn begin(server: &Server<'_>, one: &str, other: &str) -> String {
    for _ in 0..TURNS {
        let asked = server.say(one, "begin-the-talk").await;
        server.reply(one, &asked, "claude").await;
        if let Some(link) = server.get(&format!("/links?session={other}")).await["links"][0]["id"].as_str() {
            return link.to_owned();
        }
    }
    panic!("no link was made");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn two_programs_talk_on_after_one_call() {
    let (home, models) = (Home::new(), ModelServer::start().await.unwrap());
    programs::settle(&home, &models.url());
    let server = home.serve_with("127.0.0.1:0", &[("PATH", &programs::path())]);
    let _terminals = Terminals(&home);
    let claude = run(&server, "claude", &["--allowedTools", "mcp__moothall"]).await;
    let codex = run(&server, "codex", &[]).await;
    let arguments = json!({"session_id": codex, "message": ball(0), "direct": true});
    models.when("begin-the-talk", Reply::tool("mcp__moothall__send_message", arguments));
    models.when("link_state", Reply::text("It is begun."));
    for number in 0..TURNS {
        models.when(&ball(number), Reply::text(&ball(number + 1)));
    }
    models.when(&ball(TURNS), Reply::text("[PASS]"));
    let link = begin(&server, &claude, &codex).await;
    for number in 0..=TURNS {
        server.wait_for(&link, 0, |event| event["type"] == "message" && event["content"] == ball(number)).await;
    }
    server.accepted(&format!("/links/{link}/close"), json!({})).await;
    let events = server.events(&link).await;
    let said: Vec<(&Value, &Value)> =
        events.iter().filter(|event| event["type"] == "message").map(|event| (&event["from"], &event["content"])).collect();
    let expected: Vec<(Value, Value)> =
        (0..=TURNS).map(|number| (json!(if number % 2 == 0 { "claude" } else { "codex" }), json!(ball(number)))).collect();
    assert_eq!(said, expected.iter().map(|(from, words)| (from, words)).collect::<Vec<_>>(), "each once, in order, with its author");
}
