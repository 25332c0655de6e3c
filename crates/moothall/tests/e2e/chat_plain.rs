//! `chat` in a pipe: lines in, blocks of text out.

use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::harness::{Home, Server, stderr};

const RECITER: &str =
    "[agents.reciter]\nreplies = [{ text = \"You said: {message}\", word_ms = 5 }]\n";

fn chat(server: &Server<'_>, args: &[&str], input: &str) -> Output {
    let mut command = server.command(&[&["chat", "-"], args].concat());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn lines_are_sent_and_answers_waited_for() {
    let home = Home::new();
    home.configure(RECITER);
    let server = home.serve();
    server.ok(&["new", "Talk", "--policy", "mention_only", "--with", "reciter"]);
    server.ok(&["invite", "-", "ann", "--client", "human"]);
    let heard =
        text(&chat(&server, &["--as", "ann"], "@reciter one\\\ntwo\n\n/help\n/group list\n"));
    assert!(heard.contains("\nreciter\nann (human)\n"), "each name once: {heard}");
    assert!(heard.contains("] ann: @reciter one\n    two\n"), "{heard}");
    assert_eq!(heard.matches("] reciter: You said: @reciter one\n    two\n").count(), 1, "{heard}");
    assert!(heard.contains("/group create") && heard.contains("/reply <number> [text]"), "{heard}");
    assert!(!heard.contains('\u{1b}'), "{heard:?}");

    assert_eq!(text(&chat(&server, &[], "")), "");

    // Earlier messages are not repeated, but can be replied to by number.
    let number: u64 = heard
        .lines()
        .find_map(|line| line.strip_prefix('[')?.split(']').next()?.parse().ok())
        .unwrap();
    let heard = text(&chat(&server, &[], &format!(">{number} indeed\n/to reciter\nand you?\n")));
    assert!(
        heard.starts_with('[') && heard.contains(&format!("] user (to {number}): indeed\n")),
        "{heard}"
    );
    assert!(heard.contains("] user → reciter: and you?\n") && !heard.contains("two"), "{heard}");
}

#[test]
fn messages_are_objects_where_json_is_asked_for() {
    let home = Home::new();
    home.configure(RECITER);
    let server = home.serve();
    server.ok(&["new", "Talk", "--policy", "mention_only", "--with", "reciter"]);
    let heard = text(&chat(&server, &["--json"], "@reciter hello\n"));
    let said: Vec<Value> = heard.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let from: Vec<_> = said.iter().map(|event| event["from"].as_str().unwrap()).collect();
    assert_eq!(from, ["user", "reciter"]);
}

#[test]
fn what_is_refused_is_said_and_told_by_the_exit_code() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Talk", "--empty"]);
    let output = chat(&server, &[], "/mut x\nstill sent\n");
    assert_eq!(output.status.code(), Some(1));
    let errors = stderr(&output);
    assert_eq!(errors.matches("Did you mean /mute?").count(), 1, "once: {errors}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("user: still sent"));
}
