//! Commands that change a conversation, and conversations of one name.

use serde_json::{Value, json};

use crate::harness::{Home, Server, stderr};
use crate::terminal::{Terminal, is_possible};

/// Runs a command that must fail; returns its exit code and its error.
fn refused(server: &Server<'_>, args: &[&str]) -> (Option<i32>, String) {
    let output = server.command(args).output().unwrap();
    assert!(!output.status.success(), "{args:?}");
    (output.status.code(), stderr(&output))
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_change_a_conversation_as_slash_commands_do() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.ok(&["new", "Plan", "--with", "critic"]).trim().to_owned();
    let state = async || server.get(&format!("/threads/{thread}/state")).await;
    server.ok(&["rename", "Plan", "Launch", "plan"]);
    server.ok(&["policy", "Launch plan", "mention_only"]);
    server.ok(&["mute", "-", "critic"]);
    server.ok(&["pause", "-"]);
    let changed = state().await;
    assert_eq!(changed["name"], "Launch plan");
    assert_eq!(changed["state"]["policy"]["name"], "mention_only", "{changed}");
    assert_eq!(changed["state"]["paused"], true);
    server.ok(&["continue", "-"]);
    server.ok(&["unmute", "-", "critic"]);
    assert_eq!(state().await["state"]["paused"], false);
    assert!(server.ok(&["group", "-", "list"]).contains("critic"));
    let answered = server.ok(&["ask", "-", "critic", "--wait", "--", "Is", "it good?"]);
    assert!(!answered.is_empty(), "the answer is printed");
    let deletion = server.ok(&["delete", "-", "--dry-run"]);
    assert_eq!(deletion, "Delete \"Launch plan\" permanently, with all its messages.\n");
    server.ok(&["uninvite", "-", "critic"]);
    server.ok(&["uninvite", "-", "critic"]);
    assert_eq!(refused(&server, &["uninvite", "-", "critc"]).0, Some(1), "a slip is an error");
    server.ok(&["archive", "-"]);
    let again = server.command(&["archive", "-"]).output().unwrap();
    assert!(stderr(&again).contains("nothing was changed"), "{}", stderr(&again));
    let (code, error) = refused(&server, &["say", "Launch plan", "hello"]);
    assert!(code == Some(1) && error.contains("try: moothall unarchive "), "{error}");
    server.ok(&["unarchive", "Launch plan"]);
    server.ok(&["say", "Launch plan", "hello"]);
}

#[test]
fn a_typed_slash_command_tells_that_it_was_one() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Plan", "--empty"]);
    for (typed, told) in [
        ("/pause", "The command /pause ran (see: moothall help pause)."),
        ("/resume", "The command /resume ran (see: moothall help continue)."),
        ("/archive", "The command /archive ran (see: moothall help archive)."),
    ] {
        let output = server.command(&["say", "Plan", typed]).output().unwrap();
        assert!(output.status.success() && stderr(&output).contains(told), "{}", stderr(&output));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_conversation_of_a_name_is_told_and_a_refused_one_leaves_nothing() {
    let home = Home::new();
    home.configure("[agents.bob]\ncommand = [\"true\"]\n");
    let server = home.serve();
    let first = server.command(&["new", "Plan", "--empty"]).output().unwrap();
    assert!(!stderr(&first).contains("warning"), "{}", stderr(&first));
    assert!(server.ok(&["list"]).contains(" 1 event,  last "), "one is not several");
    let second = server.command(&["new", "Plan", "--empty"]).output().unwrap();
    assert!(stderr(&second).contains("another conversation has this name"), "{}", stderr(&second));
    // A person of this name makes the agent's invitation fail.
    server.ok(&["token", "create", "bob"]);
    let (_, error) = refused(&server, &["new", "Council", "--with", "analyst", "--with", "bob"]);
    assert!(error.contains("bob"), "{error}");
    let names = server.json(&["list", "--all"]);
    let names: Vec<&Value> =
        names["threads"].as_array().unwrap().iter().map(|thread| &thread["name"]).collect();
    assert_eq!(json!(names), json!(["Plan", "Plan"]));
}

#[test]
fn the_text_that_would_be_erased_is_shown_before_the_question() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Plan", "--empty"]);
    let said = server.json(&["say", "Plan", "the wrong password"])["event"]["seq"].to_string();
    let terminal = Terminal::start(&server, &format!("redact Plan {said}"), 120, 30);
    terminal.see("user: the wrong password");
    terminal.see(&format!("Erase the text of message {said} permanently? [y/N]"));
    terminal.write("n").press(&["Enter"]);
    terminal.see("not confirmed");
    assert!(server.ok(&["tail", "Plan", "--no-follow"]).contains("the wrong password"));
}
