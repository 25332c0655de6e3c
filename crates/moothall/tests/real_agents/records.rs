//! Prompts and answers without a report: they are read from the programs' own records.

use std::process::Command;

use moothall_testkit::model_server::Reply;
use serde_json::{Value, json};

use crate::harness::Server;
use crate::house::{House, in_state, until};

/// Words per line: a prompt without line breaks keeps Gemini CLI busy for minutes.
const WORDS_IN_LINE: u32 = 12;

/// Bytes per piece of an answer.
const PIECE_BYTES: usize = 1999;

/// Returns a text of this length that ends with these words. It contains no repetition, which
/// Gemini CLI would take for a loop.
fn long(chars: usize, end: &str) -> String {
    let words: String = (1..=chars as u32 / 4)
        .map(|number| {
            let gap = if number % WORDS_IN_LINE == 0 { '\n' } else { ' ' };
            format!("{:x}{gap}", number.wrapping_mul(0x9e37_79b1))
        })
        .collect();
    format!("{} {end}", &words[..chars])
}

/// Checks that each of these prompts is answered with these words.
async fn answers(client: &str, turns: &[(String, String)]) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    for (prompt, answer) in turns {
        let key = prompt.rsplit(' ').next().unwrap();
        // Gemini CLI redraws the whole answer with each piece.
        let pieces =
            answer.as_bytes().chunks(PIECE_BYTES).map(|piece| str::from_utf8(piece).unwrap());
        house.when(key, &Reply::pieces(pieces));
        let said = server.say(&session, prompt).await;
        let reply = server.reply(&session, &said, client).await;
        assert!(reply["content"] == answer.as_str(), "{key}: {}", cut(&reply));
    }
}

fn cut(reply: &Value) -> String {
    reply.to_string().chars().take(600).collect()
}

/// Codex passes all prompts of its thread to its hook in one argument, which the system limits to
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

/// Links two programs; returns both sessions, and the link.
async fn linked(house: &House, server: &Server<'_>, clients: [&str; 2]) -> ([String; 2], String) {
    let sessions =
        [house.run(server, clients[0], &[]).await, house.run(server, clients[1], &[]).await];
    let members = sessions.each_ref().map(|session| json!({"session": session}));
    let made = server.accepted("/links", json!({"members": members})).await;
    (sessions, made["link"]["id"].as_str().unwrap().to_owned())
}

/// Checks that a prompt longer than a command-line argument may be, another program's answer, is
/// answered.
async fn takes_a_long_answer(house: &House, server: &Server<'_>, link: &str, clients: [&str; 2]) {
    let [sender, client] = clients;
    let answer = long(140_000, "the end.");
    let pieces = answer.as_bytes().chunks(PIECE_BYTES).map(|piece| str::from_utf8(piece).unwrap());
    house.model(sender).when("say-much", Reply::pieces(pieces));
    house.model(sender).when(&format!("{client}:\n\nok"), Reply::text("[PASS]"));
    house.model(client).when("say-much", Reply::text("[PASS]"));
    house.model(client).when("the end.", Reply::text("ok"));
    let said = server.say(link, "Please say-much").await;
    let is_ok = |event: &Value| event["from"] == client && event["content"] == "ok";
    server.wait_for(link, said["seq"].as_u64().unwrap(), is_ok).await;
    let requests = house.model(client).requests();
    let longest = requests.iter().map(|request| request.newest.len()).max();
    assert!(longest > Some(140_000), "in one prompt: {longest:?}");
}

async fn takes_a_long_prompt(client: &str) {
    let house = House::new().await;
    let server = house.serve();
    let sender = if client == "claude" { "codex" } else { "claude" };
    let ([_, session], link) = linked(&house, &server, [sender, client]).await;
    takes_a_long_answer(&house, &server, &link, [sender, client]).await;
    house.when("short-tag", &Reply::text("Reply to the short one."));
    let said = server.say(&session, "And a short-tag").await;
    let reply = server.reply(&session, &said, client).await;
    assert_eq!(reply["content"], "Reply to the short one.");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_takes_a_long_prompt() {
    takes_a_long_prompt("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_takes_a_long_prompt() {
    takes_a_long_prompt("codex").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_takes_a_long_prompt() {
    takes_a_long_prompt("gemini").await;
}

/// Text typed at the terminal and its answer cross the link once, even if Codex can no longer
/// report them.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_is_spoken_to_at_its_terminal_after_a_long_prompt() {
    let house = House::new().await;
    let server = house.serve();
    let ([_, session], link) = linked(&house, &server, ["claude", "codex"]).await;
    takes_a_long_answer(&house, &server, &link, ["claude", "codex"]).await;
    let mut expected = Vec::new();
    for key in ["typed-one", "typed-two"] {
        let (words, answer) = (format!("Please {key}"), format!("Reply to {key}."));
        house.model("codex").when(key, Reply::text(&answer));
        house.model("claude").when(key, Reply::text("[PASS]"));
        commanded(&house, &server, &session, &words).await;
        expected.extend([("user".to_owned(), words), ("codex".to_owned(), answer)]);
        let has_arrived = async || said(&server, &link, 3).await == expected;
        until(&server, &session, key, has_arrived).await;
    }
    house.when("last-tag", &Reply::text("Reply to the last."));
    let last = server.say(&session, "And the last-tag").await;
    assert_eq!(server.reply(&session, &last, "codex").await["content"], "Reply to the last.");
    assert_eq!(said(&server, &link, 3).await, expected, "each once");
    assert_eq!(said(&server, &session, 0).await[..4], expected);
}

/// Returns the senders and texts of a conversation's messages after the first ones.
async fn said(server: &Server<'_>, thread: &str, behind: usize) -> Vec<(String, String)> {
    let words = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
    let events = server.events(thread).await;
    let said = events.iter().filter(|event| event["type"] == "message");
    said.skip(behind).map(|event| (words(event, "from"), words(event, "content"))).collect()
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

/// Types a command of the program at its terminal.
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
    let own = panes.lines().find(|line| line.ends_with(session)).expect("its pane");
    let pane = own.split(' ').next().unwrap();
    tmux(&["send-keys", "-t", pane, "-l", command]);
    in_state(server, session, "drafting").await;
    // Gemini CLI takes an Enter soon after typed text for a part of the text.
    let is_taken = async || {
        tmux(&["send-keys", "-t", pane, "Enter"]);
        server.get(&format!("/sessions/{session}")).await["state"] != "drafting"
    };
    until(server, session, "it is taken", is_taken).await;
}

/// Checks that answers arrive after a command that starts or renames a conversation.
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
