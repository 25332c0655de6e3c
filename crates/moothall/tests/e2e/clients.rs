//! Programs of others: the generated clients, and the bots of `examples/`. What they need is
//! installed by `./scripts/test clients`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Home, Running, Server};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Python with what the generated client imports.
fn python(script: &str) -> Command {
    let mut command = Command::new(root().join("target/clients/python/bin/python"));
    command
        .arg(root().join(script))
        .env("PYTHONPATH", root().join("clients/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Node with what runs TypeScript.
fn tsx(script: &str) -> Command {
    // The command of that name starts a process of its own, which would outlive the test.
    let mut command = Command::new("node");
    command.arg("--import").arg(root().join("clients/typescript/node_modules/tsx/dist/loader.mjs"));
    command.arg(root().join(script));
    command
}

fn talks(mut program: Command) {
    let home = Home::new();
    let server = home.serve();
    let output = program.arg(&server.url).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && said.starts_with("said: "),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "needs what ./scripts/test clients installs"]
fn the_generated_python_client_has_a_conversation() {
    talks(python("clients/python/tests/talk.py"));
}

#[test]
#[ignore = "needs what ./scripts/test clients installs"]
fn the_generated_typescript_client_has_a_conversation() {
    talks(tsx("clients/typescript/tests/talk.ts"));
}

/// A bot that listens.
fn started(
    mut program: Command,
    server: &Server<'_>,
    thread: &str,
    token: Option<&str>,
) -> Running {
    program.arg(format!("{}/threads/{thread}", server.url)).arg("ada").env_remove("MOOTHALL_TOKEN");
    if let Some(token) = token {
        program.env("MOOTHALL_TOKEN", token);
    }
    let bot = Running::of(program.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap());
    assert_eq!(bot.line(), "ada listens");
    bot
}

/// Asks the bot, which answers with the last line of what it was given to read.
async fn asked(server: &Server<'_>, thread: &str, words: &str) {
    let asked = server.say(thread, &format!("@ada {words}")).await;
    let reply = server.reply(thread, &asked, "ada").await;
    assert_eq!(
        reply["content"],
        format!("I have read: The user's latest message (unproven): \"@ada {words}\"")
    );
    assert!(reply["meta"]["turn"].is_string(), "{reply}");
}

async fn takes_turns_and_comes_back(program: Command) {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let bot = started(program, &server, &thread, None);
    asked(&server, &thread, "are you there?").await;
    let server = server.crash_and_restart();
    assert_eq!(bot.line(), "ada listens");
    asked(&server, &thread, "and now?").await;
}

/// In token mode a person invites it and makes its token.
async fn takes_turns_with_a_token(program: Command) {
    let home = Home::new();
    let data = home.data();
    let server = home.serve_by(home.command(&[
        "serve",
        "--json",
        "--mode",
        "token",
        "--bind",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ]));
    server.ok(&["new", "Room", "--empty"]);
    server.ok(&["invite", "Room", "ada", "--client", "bot"]);
    let token = server.json(&["token", "create", "ada", "--agent", "--thread", "Room"])["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let thread = server.json(&["list"])["threads"][0]["id"].as_str().unwrap().to_owned();
    let _bot = started(program, &server, &thread, Some(&token));
    let said = server.ok(&["say", "Room", "@ada are you there?", "--wait"]);
    assert!(said.contains("I have read: "), "{said}");
}

#[tokio::test]
#[ignore = "needs what ./scripts/test clients installs"]
async fn the_bot_in_python_takes_its_turns_and_comes_back() {
    takes_turns_and_comes_back(python("examples/bot.py")).await;
    takes_turns_with_a_token(python("examples/bot.py")).await;
}

#[tokio::test]
#[ignore = "needs what ./scripts/test clients installs"]
async fn the_bot_in_typescript_takes_its_turns_and_comes_back() {
    takes_turns_and_comes_back(tsx("examples/bot.ts")).await;
    takes_turns_with_a_token(tsx("examples/bot.ts")).await;
}

/// The example of the guide, as it stands there.
#[tokio::test]
async fn the_pass_of_the_guide_is_taken_as_it_is_written() {
    let guide = std::fs::read_to_string(root().join("docs/agents.md")).unwrap();
    let line = guide.lines().find(|line| line.contains("\"pass\": true")).unwrap();
    let body: Value = serde_json::from_str(line.trim_matches(['`', ' ', ';', ','])).unwrap();
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let ada = body["from"].as_str().unwrap();
    server.invite(&thread, ada, "elsewhere").await;
    server
        .accepted(
            &format!("/threads/{thread}/presence"),
            json!({"from": ada, "state": "listening", "details": {"takes_turns": true}}),
        )
        .await;
    server.say(&thread, &format!("@{ada} anything?")).await;
    let passed = server.accepted(&format!("/threads/{thread}/events"), body.clone()).await;
    assert_eq!(passed["event"]["content"]["outcome"], "passed");
}
