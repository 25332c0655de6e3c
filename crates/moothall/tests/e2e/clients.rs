//! Foreign clients: the generated ones, and the bots of `examples/`. Run `./scripts/test clients`
//! to install their dependencies.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::harness::{Home, PATIENCE, RunningProcess, Server};

/// The example itself, so that the tests run what people copy.
#[path = "../../../../examples/agent/main.rs"]
#[allow(dead_code, missing_docs)]
mod example;

use example::client::{Agent, register};
use example::hearing::text_of;

/// The default app: the requester of a task manages it.
const DEFAULT_APP: &str = "e12fe562-ed1f-4d2d-bed5-68b8edfa41cb";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs Python with the dependencies of the generated client.
fn python(script: &str) -> Command {
    let mut command = Command::new(root().join("target/clients/python/bin/python"));
    command
        .arg(root().join(script))
        .env("PYTHONPATH", root().join("clients/python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Runs a TypeScript file in Node.
fn tsx(script: &str) -> Command {
    // The `tsx` command would start a child process that outlives the test.
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

/// Runs a TypeScript file in Node, with the WebSocket class that Node 22 has by default.
fn tsx_with_sockets(script: &str) -> Command {
    let mut command = tsx(script);
    command.env("NODE_OPTIONS", "--experimental-websocket");
    command
}

/// The program requests the server's death by a line of output.
#[test]
#[ignore = "needs what ./scripts/test clients installs"]
fn agents_by_the_typescript_client_of_tasks_miss_nothing_when_the_server_dies() {
    let home = Home::new();
    let server = home.serve();
    let mut program = tsx_with_sockets("clients/typescript/tests/tasks.ts");
    program.arg(&server.url).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = program.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let agents = RunningProcess::of(child);
    assert_eq!(agents.line(), "kill");
    let _server = server.crash_and_restart();
    writeln!(input, "again").unwrap();
    assert_eq!(agents.line(), "said: 40");
    assert!(agents.end().success());
}

/// An agent that shares a task with another one.
struct Asker {
    agent: Agent,
    key: String,
    place: Value,
}

impl Asker {
    async fn with(server: &Server<'_>, other: &Value) -> Self {
        let key = register(&server.url, "asker").await.unwrap();
        let mut agent = Agent::connect(&server.url, &key).await.unwrap();
        let first = json!({"name": "Questions"});
        let wish =
            json!({"appId": DEFAULT_APP, "invitedAgentIds": [other], "initialConversation": first});
        let begun = agent.call("task/request", wish).await.unwrap();
        let (task, conversation) = (&begun["task"]["id"], &begun["conversation"]["id"]);
        Self { place: json!({"taskId": task, "conversationId": conversation}), agent, key }
    }

    async fn comes_back(&mut self, server: &Server<'_>) {
        self.agent = Agent::connect(&server.url, &self.key).await.unwrap();
    }

    async fn say(&mut self, text: &str) {
        let mut send = self.place.clone();
        send["parts"] = json!([{"type": "text", "text": text}]);
        self.agent.call("messages/send", send).await.unwrap();
    }

    async fn hears(&mut self, text: &str) {
        let heard = timeout(PATIENCE, self.agent.next()).await.expect("a message").unwrap();
        assert_eq!(text_of(&heard), text);
    }
}

/// Returns a question to ada of this many words, by which its answers can be told apart.
fn question(words: usize) -> String {
    format!("@ada{}", " and?".repeat(words - 1))
}

/// Messages sent while the server dies repeatedly are answered once, in order.
#[tokio::test]
async fn the_agent_in_rust_answers_and_comes_back() {
    let home = Home::new();
    let mut server = home.serve();
    let key = register(&server.url, "ada").await.unwrap();
    let agent = Agent::connect(&server.url, &key).await.unwrap();
    let ada = agent.id.clone();
    let taking_part = tokio::spawn(example::take_part(agent));
    let mut asker = Asker::with(&server, &ada).await;
    for round in [[2, 3, 4], [5, 6, 7], [8, 9, 10]] {
        for words in round {
            asker.say(&question(words)).await;
        }
        server = server.crash_and_restart();
        for words in round {
            asker.hears(&format!("I have read {words} words.")).await;
        }
    }
    // Agents can also look up a person who is not in any list.
    server.say(asker.place["conversationId"].as_str().unwrap(), "I read along.").await;
    let said = timeout(PATIENCE, asker.agent.next()).await.expect("a message").unwrap();
    let lookup = json!({"agentIds": [said["senderId"]]});
    let found = asker.agent.call("agents/lookup", lookup).await.unwrap();
    assert_eq!(
        (text_of(&said).as_str(), &found["agents"][0]["name"]),
        ("I read along.", &json!("user"))
    );
    // An agent with a revoked key does not come back.
    let tokens = server.json(&["token", "list"])["tokens"].as_array().unwrap().clone();
    let token =
        tokens.iter().find(|token| token["principal"]["id"] == ada).expect("a token of ada");
    server.ok(&["token", "revoke", token["id"].as_str().unwrap()]);
    let end = timeout(PATIENCE, taking_part).await.expect("an end").unwrap();
    assert!(format!("{end:?}").contains("Authentication failed"), "{end:?}");
}

/// The TypeScript agent prints its key, and once it listens, its name and id.
#[tokio::test]
#[ignore = "needs what ./scripts/test clients installs"]
async fn the_agent_in_typescript_answers_and_comes_back() {
    let home = Home::new();
    let server = home.serve();
    let mut program = tsx_with_sockets("examples/agent.ts");
    program.arg(&server.url).arg("ada").env_remove("MOOTHALL_AGENT_KEY").stdout(Stdio::piped());
    let agent = RunningProcess::of(program.stderr(Stdio::null()).spawn().unwrap());
    assert!(agent.line().starts_with("The key of ada is "));
    let line = agent.line();
    let ada = line.strip_prefix("ada is ").and_then(|rest| rest.split(',').next());
    let mut asker = Asker::with(&server, &json!(ada.expect("its id"))).await;
    asker.say("@ada are you there?").await;
    asker.hears("I have read 4 words.").await;
    let server = server.crash_and_restart();
    asker.comes_back(&server).await;
    asker.say("@ada and now?").await;
    asker.hears("I have read 3 words.").await;
}

/// Starts a bot, and waits until it listens.
fn started(
    mut program: Command,
    server: &Server<'_>,
    thread: &str,
    token: Option<&str>,
) -> RunningProcess {
    program.arg(format!("{}/threads/{thread}", server.url)).arg("ada").env_remove("MOOTHALL_TOKEN");
    if let Some(token) = token {
        program.env("MOOTHALL_TOKEN", token);
    }
    let bot = RunningProcess::of(
        program.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap(),
    );
    assert_eq!(bot.line(), "ada listens");
    bot
}

/// Asks the bot, which answers with the number of words of its prompt.
async fn asked(server: &Server<'_>, thread: &str, words: &str) {
    let asked = server.say(thread, &format!("@ada {words}")).await;
    let reply = server.reply(thread, &asked, "ada").await;
    let said = reply["content"].as_str().unwrap();
    assert!(said.starts_with("I have read ") && said.ends_with(" words."), "{said}");
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
    // A proxy answers while the server restarts.
    let address = server.address();
    server.stop();
    refuse_one(address).await;
    let server = home.serve_on(&address.to_string());
    assert_eq!(bot.line(), "ada listens");
    asked(&server, &thread, "and again?").await;
}

/// Answers one request as a proxy does whose server is away.
async fn refuse_one(address: SocketAddr) {
    let listener = TcpListener::bind(address).await.unwrap();
    let (mut caller, _) = timeout(PATIENCE, listener.accept()).await.expect("a try").unwrap();
    let mut asked = [0; 4096];
    assert!(caller.read(&mut asked).await.unwrap() > 0);
    let answer = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    caller.write_all(answer).await.unwrap();
    caller.shutdown().await.unwrap();
    // Its end is read, so that the connection is not reset before the answer is.
    let _ = caller.read(&mut asked).await;
}

/// In token mode, a person invites the bot and creates its token.
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
    assert!(said.contains("I have read "), "{said}");
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

/// The example in the guide, taken from the document.
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

/// All calls in the guide, taken from the document, in its order.
#[tokio::test]
async fn the_calls_of_the_guide_to_tasks_are_taken_as_they_are_written() {
    let guide = std::fs::read_to_string(root().join("docs/tasks.md")).unwrap();
    let home = Home::new();
    let server = home.serve();
    let id = |digit: &str| {
        let of = |count: usize| digit.repeat(count);
        format!("{}-{}-4{}-8{}-{}", of(8), of(4), of(3), of(3), of(12))
    };
    let mut agents = Vec::new();
    let mut known = Vec::new();
    for (name, digit) in [("ada", "1"), ("bob", "2"), ("cy", "5")] {
        let key = register(&server.url, &format!("{name}-1")).await.unwrap();
        let agent = Agent::connect(&server.url, &key).await.unwrap();
        known.push((id(digit), agent.id.as_str().unwrap().to_owned()));
        agents.push((agent, key));
    }
    let (ada, key) = &mut agents[0];
    known.push(("<apiKey>".to_owned(), key.clone()));
    let mut calls = 0;
    for call in guide.split("```json\n").skip(1) {
        let call = call.split("```").next().unwrap();
        let call = known.iter().fold(call.to_owned(), |call, (from, to)| call.replace(from, to));
        let call: Value = serde_json::from_str(&call).unwrap();
        let method = call["method"].as_str().unwrap();
        let result = ada.call(method, call["params"].clone()).await;
        let result = result.unwrap_or_else(|fault| panic!("{call}: {fault:?}"));
        for (digit, made) in [("3", "task"), ("4", "conversation"), ("6", "message")] {
            if let Some(id_now) = result[made]["id"].as_str() {
                known.retain(|(name, _)| *name != id(digit));
                known.push((id(digit), id_now.to_owned()));
            }
        }
        calls += 1;
    }
    assert_eq!(calls, 12);
}
