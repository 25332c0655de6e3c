//! Real programs after a restart of the computer: each continues with its memory, or starts fresh
//! if there is none.

use std::process::Command;

use moothall_testkit::model_server::{Reply, Request};
use serde_json::{Value, json};

use crate::harness::Server;
use crate::house::{House, in_state, until};

/// Kills everything at once, as with the computer, and restarts only the server.
async fn reboot<'a>(house: &'a House, server: Server<'a>, sessions: &[&str]) -> Server<'a> {
    let socket = house.home.data().join("tmux/tmux.sock");
    let mut kill = Command::new("tmux");
    let killed = kill.arg("-S").arg(socket).arg("kill-server").env_remove("TMUX").status().unwrap();
    assert!(killed.success());
    let server = house.crash_and_restart(server);
    for session in sessions {
        in_state(&server, session, "ended").await;
        let ended = server.get(&format!("/sessions/{session}")).await["ended"].clone();
        assert_eq!(ended["why"], "the computer, or tmux, was restarted");
    }
    server
}

/// Resumes a session; returns true if its program continues with its memory.
fn resume(server: &Server<'_>, session: &str) -> bool {
    let resumed: Value = serde_json::from_str(&server.ok(&["resume", session, "--json"])).unwrap();
    resumed["remembers"].as_bool().unwrap()
}

/// Sends a message to a session at its home, and waits for its program's answer.
async fn answered(house: &House, server: &Server<'_>, client: &str, session: &str, words: &str) {
    let answer = format!("{words}-answered");
    house.model(client).when(words, Reply::text(&answer));
    server.say(session, words).await;
    until(server, session, &format!("{client} answers {words}"), async || {
        let events = server.events(session).await;
        events.iter().any(|event| event["from"] == client && event["content"] == answer.as_str())
    })
    .await;
    in_state(server, session, "idle").await;
}

/// Returns the model's request for these words.
fn asked(house: &House, client: &str, words: &str) -> Request {
    let requests = house.model(client).requests();
    let about = requests.into_iter().rfind(|request| request.newest.contains(words));
    about.unwrap_or_else(|| panic!("{client} was not asked {words}"))
}

/// True if the model's request for `words` contains `earlier`.
fn remembers(house: &House, client: &str, words: &str, earlier: &str) -> bool {
    asked(house, client, words).body.to_string().contains(earlier)
}

async fn goes_on(client: &str) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    answered(&house, &server, client, &session, "the-zebra").await;
    let mut server = reboot(&house, server, &[&session]).await;
    for (words, earlier) in [("the-lion", "the-zebra-answered"), ("the-ape", "the-lion-answered")] {
        assert!(resume(&server, &session), "{client} has something to go on with");
        answered(&house, &server, client, &session, words).await;
        assert!(remembers(&house, client, words, earlier), "{client} forgot {earlier}");
        server = reboot(&house, server, &[&session]).await;
    }
    assert!(resume(&server, &session));
    let server = reboot(&house, server, &[&session]).await;
    assert!(resume(&server, &session), "{client} was resumed without a word in between");
    answered(&house, &server, client, &session, "the-gnu").await;
    assert!(remembers(&house, client, "the-gnu", "the-zebra-answered"));
    let server = reboot(&house, server, &[&session]).await;
    for records in [".claude/projects", ".codex/sessions", ".gemini/tmp"] {
        let records = house.home.path().join(records);
        assert!(!records.exists() || std::fs::remove_dir_all(records).is_ok());
    }
    assert!(resume(&server, &session));
    in_state(&server, &session, "ended").await;
    assert!(!resume(&server, &session), "{client} does not know its conversation any more");
    in_state(&server, &session, "idle").await;
}

/// Checks that a program starts fresh if it had no prompt: until then, it stores nothing.
async fn begins_anew(client: &str) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    in_state(&server, &session, "idle").await;
    let server = reboot(&house, server, &[&session]).await;
    assert!(!resume(&server, &session), "{client} has nothing to go on with");
    answered(&house, &server, client, &session, "the-zebra").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_goes_on_after_a_restart_of_the_computer() {
    goes_on("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_goes_on_after_a_restart_of_the_computer() {
    goes_on("codex").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_goes_on_after_a_restart_of_the_computer() {
    goes_on("gemini").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_without_a_turn_begins_anew() {
    begins_anew("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_without_a_turn_begins_anew() {
    begins_anew("codex").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_without_a_turn_begins_anew() {
    begins_anew("gemini").await;
}

/// Messages cross the link again once both programs are back.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn a_link_of_two_programs_carries_words_after_a_restart_of_the_computer() {
    let house = House::new().await;
    let server = house.serve();
    let (claude, codex) =
        (house.run(&server, "claude", &[]).await, house.run(&server, "codex", &[]).await);
    let members = json!({"members": [{"session": claude}, {"session": codex}]});
    let link = server.accepted("/links", members).await["link"]["id"].clone();
    let link = link.as_str().unwrap();
    house.when("-has-answered", &Reply::text("[PASS]"));
    for (words, client) in [("the-zebra", "claude"), ("the-lion", "codex")] {
        answered(&house, &server, client, if client == "claude" { &claude } else { &codex }, words)
            .await;
    }
    let server = reboot(&house, server, &[&claude, &codex]).await;
    server.ok(&["resume", "--all"]);
    house.model("claude").when("the-question", Reply::text("claude-has-answered"));
    house.model("codex").when("the-question", Reply::text("[PASS]"));
    server.say(link, "the-question").await;
    until(&server, &codex, "codex hears claude", async || {
        let requests = house.model("codex").requests();
        requests.iter().any(|request| request.newest.contains("claude:\n\nclaude-has-answered"))
    })
    .await;
    assert!(remembers(&house, "codex", "claude-has-answered", "the-lion-answered"));
    in_state(&server, &claude, "idle").await;
}
