//! One stream that follows several threads and a terminal: each event once, changed while it runs.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::server::{Frame, Frames, Server, answer, soon};

/// An open stream, and its id.
struct Follower {
    frames: Frames,
    id: String,
}

impl Follower {
    async fn open(server: &Server, query: &str) -> Self {
        let mut frames = server.stream(&format!("/events/stream?{query}")).await;
        let first = frames.next().await.unwrap();
        assert_eq!(first.name.as_deref(), Some("open"));
        Self { id: first.data["stream"].as_str().unwrap().to_owned(), frames }
    }

    /// Returns the next signal of this name, and skips all else.
    async fn signal(&mut self, name: &str) -> Value {
        self.frame(|frame| frame.name.as_deref() == Some(name)).await.data
    }

    /// Returns the next event of a thread, and skips all else.
    async fn event(&mut self) -> Value {
        self.frame(|frame| frame.id.is_some()).await.data
    }

    async fn frame(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.frames.next().await.expect("the stream ended");
            if wanted(&frame) {
                return frame;
            }
        }
    }

    async fn follow(&self, server: &Server, threads: Value) {
        let (status, answer) = change(server, &self.id, json!({ "threads": threads })).await;
        assert_eq!((status, &answer["stream"]), (200, &json!(self.id)), "{answer}");
    }
}

async fn change(server: &Server, id: &str, body: Value) -> (u16, Value) {
    let request = server.client.put(server.url(&format!("/events/stream/{id}"))).json(&body);
    answer(soon(request.send()).await.unwrap()).await
}

fn place(event: &Value) -> (&str, u64) {
    (event["thread"].as_str().unwrap(), event["seq"].as_u64().unwrap())
}

#[tokio::test]
async fn one_stream_brings_several_threads_from_their_positions() {
    let server = Server::start().await;
    let (one, two) = (server.thread("mention_only").await, server.thread("mention_only").await);
    server.say(&one, "user", "earlier").await;
    let mut stream = Follower::open(&server, &format!("follow={one}:1,{two}")).await;
    let mut followed = [stream.signal("following").await, stream.signal("following").await];
    followed.sort_by_key(|signal| signal["after"].as_u64());
    assert!(followed.iter().all(|signal| signal["after"] == 1), "{followed:?}");
    assert_eq!(place(&stream.event().await), (one.as_str(), 2));
    server.say(&two, "user", "later").await;
    assert_eq!(place(&stream.event().await), (two.as_str(), 2));
    server.say(&one, "user", "later").await;
    assert_eq!(place(&stream.event().await), (one.as_str(), 3));
}

#[tokio::test]
async fn a_followed_thread_still_rings_and_tells_presence() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let mut stream = Follower::open(&server, &format!("follow={thread}")).await;
    stream.signal("following").await;
    server.say(&thread, "user", "hello").await;
    let bell = stream.frame(|frame| frame.data.get("head").is_some()).await;
    assert_eq!((bell.id, &bell.data["thread"]), (None, &json!(thread)));
}

#[tokio::test]
async fn sources_change_while_the_stream_runs() {
    let server = Server::start().await;
    let (one, two) = (server.thread("mention_only").await, server.thread("mention_only").await);
    let mut stream = Follower::open(&server, "follow=").await;
    stream.follow(&server, json!([{"thread": one, "after": 0}])).await;
    assert_eq!(place(&stream.event().await), (one.as_str(), 1));
    stream.follow(&server, json!([{"thread": two, "after": 0}])).await;
    assert_eq!(stream.signal("following").await["thread"], two);
    server.say(&one, "user", "unheard").await;
    server.say(&two, "user", "heard").await;
    assert_eq!(place(&stream.event().await), (two.as_str(), 1));
    assert_eq!(place(&stream.event().await), (two.as_str(), 2));
}

#[tokio::test]
async fn without_a_position_a_thread_continues_and_with_one_it_begins_again() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let mut stream = Follower::open(&server, &format!("follow={thread}:0")).await;
    assert_eq!(stream.event().await["seq"], 1);
    stream.follow(&server, json!([{ "thread": thread }])).await;
    server.say(&thread, "user", "next").await;
    assert_eq!(stream.event().await["seq"], 2);
    stream.follow(&server, json!([{"thread": thread, "after": 1}])).await;
    assert_eq!(stream.event().await["seq"], 2);
}

#[tokio::test]
async fn a_source_that_cannot_be_followed_leaves_the_others_alone() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let query = format!("follow={thread}:0,nowhere&screens=nobody");
    let mut stream = Follower::open(&server, &query).await;
    let refused = [stream.signal("refused").await, stream.signal("refused").await];
    let codes: Vec<_> = refused.iter().map(|one| &one["error"]["code"]).collect();
    assert_eq!(codes, ["thread_not_found", "forbidden"]);
    assert_eq!(
        (&refused[0]["thread"], &refused[1]["session"]),
        (&json!("nowhere"), &json!("nobody"))
    );
    stream.follow(&server, json!([{"thread": thread, "after": 7}])).await;
    assert_eq!(stream.signal("refused").await["error"]["code"], "wrong_position");
    stream.follow(&server, json!([{"thread": thread, "after": 0}])).await;
    assert_eq!(stream.event().await["seq"], 1);
}

#[tokio::test]
async fn a_deleted_thread_leaves_the_stream() {
    let server = Server::start().await;
    let (one, two) = (server.thread("mention_only").await, server.thread("mention_only").await);
    let mut stream = Follower::open(&server, &format!("follow={one},{two}")).await;
    stream.signal("following").await;
    stream.signal("following").await;
    let path = format!("/threads/{one}");
    assert_eq!(server.as_operator(Method::DELETE, &path, Value::Null).await.0, 200);
    assert_eq!(stream.signal("deleted").await["thread"], one);
    assert_eq!(stream.signal("left").await["thread"], one);
    server.say(&two, "user", "still here").await;
    assert_eq!(place(&stream.event().await), (two.as_str(), 2));
}

#[tokio::test]
async fn one_stream_shows_a_terminal_too() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    let mut stream = Follower::open(&server, "screens=planner").await;
    assert_eq!(stream.signal("following").await["session"], "planner");
    assert!(stream.signal("screen").await["session"].is_string());
    stage.die();
    stream.signal("ended").await;
    assert_eq!(stream.signal("left").await["session"], "planner");
}

#[tokio::test]
async fn only_its_own_principal_changes_a_stream() {
    let server = Server::start_in(Mode::Token).await;
    let (_, ann) = token(&server, json!({"principal": "ann", "scopes": ["threads:read"]})).await;
    let (_, bob) = token(&server, json!({"principal": "bob", "scopes": ["threads:read"]})).await;
    let request = server.client.get(server.url("/events/stream?follow=")).bearer_auth(&ann);
    let mut frames = Frames::of(soon(request.send()).await.unwrap());
    let id = frames.next().await.unwrap().data["stream"].as_str().unwrap().to_owned();
    let path = format!("/events/stream/{id}");
    let (status, refused) = server.with(&bob, Method::PUT, &path, json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("unknown_stream")));
    assert_eq!(server.with(&ann, Method::PUT, &path, json!({})).await.0, 200);
}

#[tokio::test]
async fn lists_that_cannot_be_read_are_refused() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let many = vec![thread.as_str(); 17].join(",");
    for query in [format!("follow={thread}:x"), "follow=a/b".into(), format!("follow={many}")] {
        let (status, answer) = server.get(&format!("/events/stream?{query}")).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (422, &json!("invalid_parameter")),
            "{query}"
        );
    }
    let stream = Follower::open(&server, "follow=").await;
    let threads: Vec<_> = (0..17).map(|n| json!({"thread": format!("t{n}")})).collect();
    let (status, refused) = change(&server, &stream.id, json!({ "threads": threads })).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid_field")));
    let (status, refused) = change(&server, "none", json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("unknown_stream")));
}

#[tokio::test]
async fn a_position_of_another_log_is_refused_for_followed_threads_too() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let (status, _) = server.get(&format!("/events/stream?follow={thread}:1&log=other")).await;
    assert_eq!(status, 416);
}
