//! Answers that no report carries, and ends that no report tells: the programs' own records have
//! them.

use std::process::Command;

use moothall_testkit::model_server::Reply;
use serde_json::Value;

use crate::harness::Server;
use crate::house::{House, until};

/// Returns a text of this length with these words at its end. Nothing is said twice in it, which
/// Gemini CLI would take for a loop.
fn long(chars: usize, end: &str) -> String {
    let words: String = (1..=chars as u32 / 4)
        .map(|number| format!("{:x} ", number.wrapping_mul(0x9e37_79b1)))
        .collect();
    format!("{} {end}", &words[..chars])
}

/// Each of these prompts is answered with these words.
async fn answers(client: &str, turns: &[(String, String)]) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    for (prompt, answer) in turns {
        let key = prompt.rsplit(' ').next().unwrap();
        let pieces: Vec<&str> = answer.split_inclusive('7').collect();
        house.when(key, &Reply::pieces(pieces));
        let said = server.say(&session, prompt).await;
        let reply = server.reply(&session, &said, client).await;
        assert!(reply["content"] == answer.as_str(), "{key}: {}", cut(&reply));
    }
}

fn cut(reply: &Value) -> String {
    reply.to_string().chars().take(600).collect()
}

/// Codex tells all prompts of its thread in one argument, and the system takes no longer one than
/// 128 KiB.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_answers_after_many_long_prompts() {
    let turn =
        |number: usize| (long(34_000, &format!("long-tag-{number}")), format!("Reply {number}."));
    let mut turns: Vec<(String, String)> = (1..=4).map(turn).collect();
    turns.push(("And a short-tag".into(), "Reply to the short one.".into()));
    answers("codex", &turns).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_gives_a_long_answer() {
    gives_a_long_answer("codex").await;
}

async fn gives_a_long_answer(client: &str) {
    let turns = [
        ("Please say-much".into(), long(140_000, "the end.")),
        ("And a short-tag".into(), "Reply to the short one.".into()),
    ];
    answers(client, &turns).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_gives_a_long_answer() {
    gives_a_long_answer("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_gives_a_long_answer() {
    gives_a_long_answer("gemini").await;
}

/// A person types a command of the program's at its terminal.
async fn commanded(house: &House, server: &Server<'_>, session: &str, command: &str) {
    let socket = house.home.data().join("tmux/tmux.sock");
    let tmux = |words: &[&str]| {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&socket).args(words).env_remove("TMUX");
        let done = command.output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let panes = tmux(&["list-panes", "-a", "-F", "#{pane_id} #{session_name}"]);
    let own = panes.lines().find(|line| line.contains(" moothall-")).expect("its pane");
    let pane = own.split(' ').next().unwrap();
    tmux(&["send-keys", "-t", pane, "-l", command]);
    until(server, session, "it is typed", async || {
        let screen = server.get(&format!("/sessions/{session}/screen")).await;
        screen["text"].as_str().unwrap_or_default().contains(command)
    })
    .await;
    tmux(&["send-keys", "-t", pane, "Enter"]);
}

/// Answers arrive after a command that begins another conversation, or gives it a name.
async fn answers_after(client: &str, commands: &[&str]) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    for (number, command) in [""].iter().chain(commands).enumerate() {
        if !command.is_empty() {
            commanded(&house, &server, &session, command).await;
        }
        let (key, answer) = (format!("tag-{number}"), format!("Reply {number}."));
        house.when(&key, &Reply::text(&answer));
        let said = server.say(&session, &format!("Please {key}")).await;
        let reply = server.reply(&session, &said, client).await;
        assert_eq!(reply["content"], answer.as_str(), "{command}: {}", cut(&reply));
    }
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_answers_in_a_new_conversation() {
    answers_after("codex", &["/new", "/clear"]).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_answers_in_a_new_conversation_and_under_a_name() {
    answers_after("claude", &["/rename my plan", "/clear"]).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_answers_in_a_new_conversation() {
    answers_after("gemini", &["/clear"]).await;
}
