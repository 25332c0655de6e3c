//! Links of real programs on two computers, each with a server of its own.

use std::io::Write;
use std::process::{Output, Stdio};

use moothall_testkit::model_server::Reply;
use moothall_testkit::redis::RedisServer;
use serde_json::json;

use crate::harness::{Server, comes_about};
use crate::house::{House, until};

fn computers(server: &Server<'_>, args: &[&str], input: &str) -> String {
    let args: Vec<&str> = ["computers"].iter().chain(args).copied().collect();
    let mut command = server.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    assert!(status.success(), "{args:?}");
    String::from_utf8(stdout).unwrap().trim().to_owned()
}

/// Pairs two servers, and waits until both see each other.
async fn pair(workstation: &Server<'_>, laptop: &Server<'_>, redis: &RedisServer) {
    let args = ["invite", "--name", "workstation", "--redis", &redis.url(), "--up", "1"];
    let invitation = computers(workstation, &args, "");
    let answer = computers(laptop, &["join", "-", "--name", "laptop"], &invitation);
    computers(workstation, &["join", "-"], &answer);
    for server in [workstation, laptop] {
        let are_up = async || {
            let list = server.json(&["computers"]);
            let all = list["computers"].as_array().unwrap();
            all.len() == 2 && all.iter().all(|one| one["state"] == "up")
        };
        assert!(comes_about(are_up).await, "{}", server.json(&["computers"]));
    }
}

/// A person speaks in a link of two programs on two computers. Each answers once, and gets the
/// other's answer.
async fn two_talk(here: &str, there: &str) {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (House::new().await, House::new().await);
    let (workstation, laptop) = (one.serve(), other.serve());
    pair(&workstation, &laptop, &redis).await;
    let near = one.run(&workstation, here, &[]).await;
    let far = other.run(&laptop, there, &[]).await;
    let members = json!({"members": [{"session": near}, {"session": format!("{there}@laptop")}]});
    let made = workstation.accepted("/links", members).await;
    let link = made["link"]["id"].as_str().unwrap().to_owned();
    for (house, client) in [(&one, here), (&other, there)] {
        house.when("-has-answered", &Reply::text("[PASS]"));
        house.when("the-question", &Reply::text(&format!("{client}-has-answered")));
    }
    workstation.say(&link, "the-question").await;
    for (server, session, from) in [(&workstation, &near, here), (&laptop, &far, there)] {
        let words = format!("{from}-has-answered");
        let said = async || {
            let events = workstation.events(&link).await;
            events.iter().any(|event| event["type"] == "message" && event["content"] == words)
        };
        until(server, session, &format!("{from} answers"), said).await;
    }
    for (house, server, session, reader, speaker) in
        [(&one, &workstation, &near, here, there), (&other, &laptop, &far, there, here)]
    {
        let words = format!("{speaker}-has-answered");
        let heard = async || {
            house.model(reader).requests().iter().any(|request| request.newest.contains(&words))
        };
        until(server, session, &format!("{reader} hears {words}"), heard).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn sc_10_cross_computer_link_routing_of_claude_and_codex() {
    two_talk("claude", "codex").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn sc_10_cross_computer_link_routing_of_codex_and_gemini() {
    two_talk("codex", "gemini").await;
}
