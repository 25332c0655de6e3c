//! Streams of server-sent events: each event once, from the reader's position on.

use std::collections::BTreeSet;

use reqwest::header::HeaderMap;
use serde_json::json;

use crate::server::{Frames, Server, soon};

async fn status_of(
    server: &Server,
    path: &str,
    last_event_id: Option<&str>,
) -> (u16, serde_json::Value) {
    let mut headers = HeaderMap::new();
    if let Some(id) = last_event_id {
        headers.insert("last-event-id", id.parse().unwrap());
    }
    let response = soon(server.client.get(server.url(path)).headers(headers).send()).await.unwrap();
    crate::server::answer(response).await
}

#[tokio::test]
async fn without_a_position_a_stream_begins_now() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "before").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server.say(&thread, "user", "after").await;
    assert_eq!(stream.event().await["content"], "after");
    assert!(stream.comments.contains(&"head 2".into()), "{:?}", stream.comments);
}

#[tokio::test]
async fn a_stream_goes_on_where_its_reader_was() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let first = server.say(&thread, "user", "one").await;
    server.say(&thread, "user", "two").await;
    let path = format!("/threads/{thread}/events/stream");
    assert_eq!(
        server.stream(&format!("{path}?after=0")).await.event().await["type"],
        "thread.created"
    );
    assert_eq!(server.stream(&format!("{path}?after=2")).await.event().await["content"], "two");
    let since = first["ts"].as_str().unwrap();
    assert_eq!(
        server.stream(&format!("{path}?since={since}")).await.event().await["content"],
        "two"
    );
    let resumed = soon(
        server
            .client
            .get(server.url(&format!("{path}?after=0")))
            .header("last-event-id", "2")
            .send(),
    )
    .await
    .unwrap();
    assert_eq!(Frames::of(resumed).event().await["content"], "two");
}

#[tokio::test]
async fn a_position_that_cannot_be_is_refused_before_the_stream_begins() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let path = format!("/threads/{thread}/events/stream");
    for id in ["-1", "9e99", "2", "18446744073709551616", "0x1", "1 1", "abc"] {
        let (status, answer) = status_of(&server, &path, Some(id)).await;
        assert_eq!((status, &answer["error"]["code"]), (416, &json!("wrong_position")), "{id}");
    }
    assert_eq!(status_of(&server, &format!("{path}?after=2"), None).await.0, 416);
    assert_eq!(status_of(&server, &format!("{path}?after=1%0Aevent:x"), None).await.0, 416);
    assert_eq!(status_of(&server, "/threads/nowhere/events/stream", None).await.0, 404);
    assert_eq!(status_of(&server, &format!("{path}?since=yesterday"), None).await.0, 422);
}

#[tokio::test]
async fn a_poller_that_is_ahead_of_the_log_is_told_where_it_ends() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "one").await;
    let path = format!("/threads/{thread}/events");
    let (status, page) = server.get(&format!("{path}?after=2")).await;
    assert_eq!(
        (status, &page["events"], &page["head"]),
        (200, &json!([]), &json!(2)),
        "at the head there is nothing new"
    );
    for more in ["after=3", "after=9007199254740991", "after=3&limit=1", "after=3&before=2"] {
        let (status, answer) = server.get(&format!("{path}?{more}")).await;
        assert_eq!((status, &answer["error"]["code"]), (416, &json!("wrong_position")), "{more}");
        assert_eq!(answer["error"]["thread"], json!(thread));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("from 0 to 2") && message.contains("after=0"), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reader_gets_every_event_once_whenever_it_comes() {
    let server = std::sync::Arc::new(Server::start().await);
    let thread = server.thread("mention_only").await;
    let total = 400_u64;
    let writer = tokio::spawn({
        let (server, thread) = (server.clone(), thread.clone());
        async move {
            for n in 0..total {
                server.say(&thread, "user", &format!("message {n}")).await;
            }
        }
    });
    let mut readers = Vec::new();
    for _ in 0..10 {
        let mut stream = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
        readers.push(tokio::spawn(async move {
            for expected in 1..=total + 1 {
                assert_eq!(stream.event().await["seq"], expected);
            }
        }));
    }
    soon(writer).await.unwrap();
    for reader in readers {
        soon(reader).await.unwrap();
    }
}

#[tokio::test]
async fn presence_is_a_named_event_without_an_id() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    server
        .post(&format!("/threads/{thread}/presence"), json!({"from": "ann", "state": "typing"}))
        .await;
    let frame = stream.next().await.unwrap();
    assert_eq!((frame.id, frame.name.as_deref()), (None, Some("presence")));
    assert_eq!(
        (&frame.data["participant"], &frame.data["state"], &frame.data["thread"]),
        (&json!("ann"), &json!("typing"), &json!(thread))
    );
}

/// Reads the streamed text of a turn until it equals the given text; returns the text.
async fn streamed(stream: &mut Frames, until: &str) -> String {
    let mut text = String::new();
    while text != until {
        let frame = stream.next().await.unwrap();
        if frame.name.as_deref() == Some("delta") {
            assert_eq!(
                (frame.id, &frame.data["offset"], &frame.data["participant"]),
                (None, &json!(text.len()), &json!("t"))
            );
            text.push_str(frame.data["text"].as_str().unwrap());
        }
    }
    text
}

#[tokio::test]
async fn an_answer_is_streamed_to_those_who_listen_and_to_those_who_come_later() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "t", "teller").await;
    let path = format!("/threads/{thread}/events/stream");
    let mut early = server.stream(&path).await;
    server.say(&thread, "user", "@t where?").await;
    streamed(&mut early, "[PARTY] at noon").await;
    let progress = early.next().await.unwrap();
    assert_eq!(
        (progress.name.as_deref(), &progress.data["text"]),
        (Some("progress"), &json!("thinking of a place"))
    );
    assert!(progress.data["turn"].as_str().unwrap().starts_with(&thread));
    streamed(&mut server.stream(&path).await, "[PARTY] at noon").await;
}

#[tokio::test]
async fn the_hall_rings_for_every_thread() {
    let server = Server::start().await;
    let mut changes = server.stream("/events/stream").await;
    let threads = [server.thread("mention_only").await, server.thread("hybrid").await];
    let mut rung = BTreeSet::new();
    while rung.len() < 2 {
        let frame = changes.next().await.unwrap();
        assert_eq!((frame.id, frame.name), (None, None));
        assert!(frame.data["head"].is_u64());
        rung.insert(frame.data["thread"].as_str().unwrap().to_owned());
    }
    assert_eq!(rung, BTreeSet::from(threads));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_falls_behind_is_told_to_resync_and_others_do_not_notice() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let mut slow = server.stream(&format!("/threads/{thread}/events/stream")).await;
    let mut quick = server.stream(&format!("/threads/{thread}/events/stream")).await;
    let words = "w".repeat(60_000);
    let total = 500_u64;
    for seq in 2..total + 2 {
        server.say(&thread, "user", &words).await;
        assert_eq!(quick.event().await["seq"], seq);
    }
    let mut last = 1;
    let resync = loop {
        let frame = slow.next().await.expect("a slow reader is told before it is cut");
        match frame.id {
            Some(id) => {
                assert_eq!(id, last + 1);
                last = id;
            }
            None => break frame,
        }
    };
    assert_eq!(
        (resync.name.as_deref(), &resync.data),
        (Some("resync"), &json!({"thread": thread, "after": last}))
    );
    assert!(last < total && slow.next().await.is_none());
    let mut again = server.stream(&format!("/threads/{thread}/events/stream?after={last}")).await;
    assert_eq!(again.event().await["seq"], last + 1);
}

#[tokio::test]
async fn streams_are_told_when_the_server_goes_down() {
    let mut server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream")).await;
    let mut changes = server.stream("/events/stream").await;
    server.shut_down();
    for stream in [&mut stream, &mut changes] {
        assert_eq!(stream.next().await.unwrap().name.as_deref(), Some("going-away"));
        assert!(stream.next().await.is_none());
    }
    server.down().await;
}

/// In a restored log, positions are assigned again to other events.
#[tokio::test]
async fn a_position_of_another_log_is_refused_whenever_it_is_shown() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "one").await;
    let events = format!("/threads/{thread}/events");
    let ask = async |path: String, header: Option<&str>, last: Option<&str>| {
        let mut request = server.client.get(server.url(&path));
        for (name, value) in [("moothall-log", header), ("last-event-id", last)] {
            request = value.into_iter().fold(request, |request, value| request.header(name, value));
        }
        let answer = request.send().await.unwrap();
        let log = answer.headers()["moothall-log"].to_str().unwrap().to_owned();
        (answer.status().as_u16(), log)
    };
    let (status, log) = ask(format!("{events}?after=0"), None, None).await;
    assert_eq!((status, log.len()), (200, 16), "a client that says nothing reads as before");
    let own = log.as_str();
    for (path, header, last) in [
        (format!("{events}?after=1"), Some("0123456789abcdef"), None),
        (format!("{events}?after=1&log=0123456789abcdef"), None, None),
        (format!("{events}?after=1&log={own}"), Some("other"), None),
        (format!("{events}?after=1&log="), None, None),
        (format!("{events}?before=2"), Some("other"), None),
        (format!("{events}/stream"), Some("other"), Some("1")),
        (format!("{events}/stream?log=other&after=1"), None, None),
    ] {
        assert_eq!(ask(path.clone(), header, last).await, (416, log.clone()), "{path}");
    }
    for (path, header, last) in [
        (format!("{events}?after=1"), Some(own), None),
        (format!("{events}?after=1&log={own}"), None, None),
        (format!("{events}/stream"), Some(own), Some("1")),
        // Without a position the log does not matter.
        (events.clone(), Some("other"), None),
    ] {
        assert_eq!(ask(path.clone(), header, last).await, (200, log.clone()), "{path}");
    }
}
