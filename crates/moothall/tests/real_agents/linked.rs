//! Linked programs of different vendors, which talk to each other without further calls.

use futures_util::future::join_all;
use moothall_testkit::model_server::Reply;
use serde_json::{Value, json};

use crate::harness::Server;
use crate::house::{House, in_state, until};

/// Messages that cross the link after the first call.
const TURNS: usize = 10;

const CLIENTS: [&str; 3] = ["claude", "codex", "gemini"];

fn ball(number: usize) -> String {
    format!("ball-{number:02}")
}

/// Returns the senders and texts of a conversation's messages.
async fn said(server: &Server<'_>, thread: &str) -> Vec<(String, String)> {
    let words = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
    let messages =
        server.events(thread).await.into_iter().filter(|event| event["type"] == "message");
    messages.map(|event| (words(&event, "from"), words(&event, "content"))).collect()
}

/// Asks one program to begin, and again if it did not know its tools yet; returns the new link.
async fn begin(server: &Server<'_>, one: &str, other: &str) -> String {
    for _ in 0..TURNS {
        let asked = server.say(one, "begin-the-talk").await;
        server.reply(one, &asked, "claude").await;
        if let Some(link) =
            server.get(&format!("/links?session={other}")).await["links"][0]["id"].as_str()
        {
            return link.to_owned();
        }
    }
    panic!("no link was made");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn two_programs_talk_on_after_one_call() {
    let house = House::new().await;
    let server = house.serve();
    let claude = house.run(&server, "claude", &["--allowedTools", "mcp__moothall"]).await;
    let codex = house.run(&server, "codex", &[]).await;
    // A session's token reaches only sessions with which it shares a conversation.
    let thread = server.thread().await;
    for session in [&claude, &codex] {
        server.control(&thread, json!({"invite": {"profile": {"session": session}}})).await;
    }
    let arguments = json!({"session_id": codex, "message": ball(0), "direct": true});
    house.when("begin-the-talk", &Reply::tool("mcp__moothall__send_message", arguments));
    house.when("link_state", &Reply::text("It is begun."));
    for number in 0..TURNS {
        house.when(&ball(number), &Reply::text(&ball(number + 1)));
    }
    house.when(&ball(TURNS), &Reply::text("[PASS]"));
    let link = begin(&server, &claude, &codex).await;
    for number in 0..=TURNS {
        server
            .wait_for(&link, 0, |event| {
                event["type"] == "message" && event["content"] == ball(number)
            })
            .await;
    }
    server.accepted(&format!("/links/{link}/close"), json!({})).await;
    let expected: Vec<_> = (0..=TURNS)
        .map(|number| (["claude", "codex"][number % 2].to_owned(), ball(number)))
        .collect();
    assert_eq!(said(&server, &link).await, expected, "each once, in order, with its author");
}

/// A person speaks to a link of all three. Each program answers once, and gets the others' messages
/// with names and numbers.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn three_programs_answer_a_person_in_one_link_and_hear_each_other() {
    let house = House::new().await;
    let server = house.serve();
    let sessions = join_all(CLIENTS.map(|client| house.run(&server, client, &[]))).await;
    let members: Vec<Value> = sessions
        .iter()
        .zip(1..)
        .map(|(session, number)| json!({"session": session, "number": number}))
        .collect();
    let made = server.accepted("/links", json!({"members": members})).await;
    let link = made["link"]["id"].as_str().unwrap().to_owned();
    // Programs pass on the others' messages; a program that gets such a message together with the
    // question answers the question.
    house.when("-has-answered", &Reply::text("[PASS]"));
    for client in CLIENTS {
        house.model(client).when("the-question", Reply::text(&format!("{client}-has-answered")));
    }
    server.say(&link, "the-question").await;
    for (client, session) in CLIENTS.iter().zip(&sessions) {
        let answered = async || said(&server, &link).await.iter().any(|(from, _)| from == client);
        until(&server, session, &format!("{client} answers"), answered).await;
    }
    for (reader, session) in CLIENTS.iter().zip(&sessions) {
        for (speaker, number) in CLIENTS.iter().zip(1..).filter(|(speaker, _)| *speaker != reader) {
            let framed = format!("{speaker} ({number}):\n\n{speaker}-has-answered");
            let heard = async || {
                house
                    .model(reader)
                    .requests()
                    .iter()
                    .any(|request| request.newest.contains(&framed))
            };
            until(&server, session, &format!("{reader} hears {framed:?}"), heard).await;
        }
        in_state(&server, session, "idle").await;
    }
    let mut said = said(&server, &link).await;
    said.sort();
    let own = CLIENTS.map(|client| (client.to_owned(), format!("{client}-has-answered")));
    let expected: Vec<_> =
        own.into_iter().chain([("user".to_owned(), "the-question".to_owned())]).collect();
    assert_eq!(said, expected, "each once, with its author");
}

/// A mention in an ordinary conversation reaches the program in its terminal.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn a_mention_reaches_gemini_in_its_terminal() {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, "gemini", &[]).await;
    let room =
        server.accepted("/threads", json!({"name": "Room", "policy": {"name": "hybrid"}})).await;
    let room = room["id"].as_str().unwrap();
    server
        .control(
            room,
            json!({"invite": {"participant_id": "gemini", "profile": {"session": session}}}),
        )
        .await;
    house.when("zebra", &Reply::text("It has *stripes*."));
    let asked = server.say(room, "@gemini what has a zebra?").await;
    assert_eq!(server.reply(room, &asked, "gemini").await["content"], "It has *stripes*.");
    let asked = house.model("gemini").requests();
    assert!(asked.iter().any(|request| request.newest.contains("[moothall:")), "it was typed");
}
