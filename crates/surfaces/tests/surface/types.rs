//! The types of events that a reader gets.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Frames, Server, answer, soon};

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// Reads without a list of types.
async fn read(server: &Server, path: &str) -> Value {
    let (status, page) = server.get(path).await;
    assert_eq!(status, 200, "{page}");
    page
}

async fn follow(server: &Server, path: &str) -> Frames {
    Frames::of(soon(server.client.get(server.url(path)).send()).await.unwrap())
}

/// Returns a thread, and its head, in which an offline agent was asked three times. Events of turns
/// follow each message.
async fn thread(server: &Server) -> (String, u64) {
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "far", "elsewhere").await;
    for word in ["@far one", "@far two", "@far three"] {
        server.say(&thread, "user", word).await;
    }
    let head = server.events(&thread, "").await.last().unwrap()["seq"].as_u64().unwrap();
    (thread, head)
}

#[tokio::test]
async fn a_client_that_asks_for_no_types_gets_what_clients_of_the_origin_know() {
    let server = Server::start().await;
    let (thread, head) = thread(&server).await;
    let page = read(&server, &format!("/threads/{thread}/events")).await;
    assert_eq!(
        kinds(page["events"].as_array().unwrap()),
        ["thread.created", "control", "message", "message", "message"]
    );
    assert_eq!(
        (&page["through"], &page["head"]),
        (&json!(head), &json!(head)),
        "positions rise over what is left out"
    );
    let mut stream = follow(&server, &format!("/threads/{thread}/events/stream?after=0")).await;
    let events = [
        stream.event().await,
        stream.event().await,
        stream.event().await,
        stream.event().await,
        stream.event().await,
    ];
    assert_eq!(kinds(&events), ["thread.created", "control", "message", "message", "message"]);
    server.say(&thread, "user", "@far four").await;
    server.take(&thread, json!({"type": "task", "from": "user", "content": {"mine": true}})).await;
    assert_eq!(
        kinds(&[stream.event().await, stream.event().await]),
        ["message", "task"],
        "live as well"
    );
}

#[tokio::test]
async fn types_say_what_is_wanted_and_a_limit_counts_only_that() {
    let server = Server::start().await;
    let (thread, head) = thread(&server).await;
    server.take(&thread, json!({"type": "task", "from": "user", "content": null})).await;
    let two = read(&server, &format!("/threads/{thread}/events?types=message&limit=2")).await;
    assert_eq!(kinds(two["events"].as_array().unwrap()), ["message", "message"]);
    let on = read(
        &server,
        &format!("/threads/{thread}/events?types=message&limit=2&after={}", two["through"]),
    )
    .await;
    assert_eq!(
        (kinds(on["events"].as_array().unwrap()), &on["through"]),
        (vec!["message"], &json!(head + 1))
    );
    let newest = read(
        &server,
        &format!("/threads/{thread}/events?types=message,control&limit=4&before={}", head + 1),
    )
    .await;
    assert_eq!(
        kinds(newest["events"].as_array().unwrap()),
        ["control", "message", "message", "message"]
    );
    let own = read(&server, &format!("/threads/{thread}/events?types=other")).await;
    assert_eq!(kinds(own["events"].as_array().unwrap()), ["task"]);
    let turns = read(&server, &format!("/threads/{thread}/events?types=turn")).await;
    assert!(
        turns["count"].as_u64().unwrap() >= 3
            && kinds(turns["events"].as_array().unwrap()).iter().all(|kind| *kind == "turn")
    );
}

#[tokio::test]
async fn a_stream_goes_on_over_what_it_does_not_show() {
    let server = Server::start().await;
    let (thread, head) = thread(&server).await;
    let path = format!("/threads/{thread}/events/stream?types=message");
    let mut stream = follow(&server, &format!("{path}&after=0")).await;
    let seqs = [stream.event().await, stream.event().await, stream.event().await]
        .map(|event| event["seq"].as_u64().unwrap());
    assert!(seqs.windows(2).all(|pair| pair[1] > pair[0] + 1), "{seqs:?}");
    server.say(&thread, "user", "later").await;
    let mut resumed = follow(&server, &format!("{path}&after={head}")).await;
    assert_eq!(
        (stream.event().await["content"].clone(), resumed.event().await["content"].clone()),
        (json!("later"), json!("later"))
    );
}

#[tokio::test]
async fn who_takes_turns_gets_the_events_of_turns_too() {
    let server = Server::start().await;
    let (thread, head) = thread(&server).await;
    for query in ["turns=1", "turns=true&types=message", "types=message,turn"] {
        let mut stream =
            follow(&server, &format!("/threads/{thread}/events/stream?after={}&{query}", head - 1))
                .await;
        assert_eq!(stream.event().await["type"], "turn", "{query}");
    }
    let (status, refused) =
        server.get(&format!("/threads/{thread}/events/stream?turns=perhaps")).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid_parameter")));
}

#[tokio::test]
async fn a_type_that_there_is_not_is_refused_with_those_there_are() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for path in [
        "events?types=message,mesage",
        "events?types=",
        "events/stream?types=mesage",
        "events/stream?types=turn,,control",
    ] {
        let asked = server
            .client
            .request(Method::GET, server.url(&format!("/threads/{thread}/{path}")))
            .send();
        let (status, refused) = answer(soon(asked).await.unwrap()).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!("unknown_type")), "{path}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("message,observation,control,turn") && message.contains("other"),
            "{message}"
        );
    }
}
