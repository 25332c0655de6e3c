//! The server dies at every named point on the way of a message, a turn and a reply, and is started again.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::crash::check;
use crate::harness::{Home, Server};

/// More messages than it takes to pass any point as often as asked for.
const MESSAGES_MAX: usize = 40;

/// Dies at the n-th passage of a point for some n, each time in a new home.
async fn dies_and_recovers(point: &str) {
    for count in [1, 2, 7] {
        let home = Home::new();
        home.configure("[defaults]\ncooldown_seconds = 0\n");
        let server = home.serve();
        let thread = server.ok(&["new", "Talk"]).trim().to_owned();
        assert!(server.stop().success());

        let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", &format!("{point}:{count}"))]);
        let acknowledged = speak(&server, &thread).await;
        assert!(!server.end().success(), "{point}:{count} was never passed");

        let server = home.serve();
        server.ok(&["say", &thread, "@analyst the last", "--wait"]);
        check(&server, &thread, &acknowledged).await;
    }
}

/// Speaks until the server is gone; gives the events that were acknowledged.
async fn speak(server: &Server<'_>, thread: &str) -> Vec<Value> {
    let mut acknowledged = Vec::new();
    for number in 0..MESSAGES_MAX {
        let body = json!({"type": "message", "from": "user", "to": "all", "content": format!("@analyst are {number} enough?")});
        match server.try_post(&format!("/threads/{thread}/events"), &body).await {
            Ok((200, answer)) => acknowledged.push(answer["event"].clone()),
            Ok((status, answer)) => panic!("{status}: {answer}"),
            Err(_) => break,
        }
    }
    acknowledged
}

/// The words are committed and the answer to them is lost: the command asks again under the same key and gets it.
#[tokio::test]
async fn a_command_outlives_the_server() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    assert!(server.stop().success());
    let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", "before_ack:1")]);
    let address = server.address().to_string();
    let say = server.command(&["say", &thread, "once", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(!server.end().success());
    let server = home.serve_on(&address);
    let said: Value = serde_json::from_slice(&say.wait_with_output().unwrap().stdout).unwrap();
    let events = server.events(&thread).await;
    let messages: Vec<&Value> = events.iter().filter(|event| event["type"] == "message").collect();
    assert_eq!(messages, [&said["event"]]);
}

macro_rules! points {
    ($($point:ident)*) => {
        $(
            #[tokio::test]
            async fn $point() {
                dies_and_recovers(stringify!($point)).await;
            }
        )*

        /// Every point of the engine is played here, but for those that no message passes.
        #[test]
        fn every_point_is_played() {
            let engine = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src");
            let sources = std::fs::read_dir(engine).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
            let played = [$(stringify!($point)),*, "presence", "drain"];
            for source in sources {
                for rest in source.split("crash::point(\"").skip(1) {
                    let name = rest.split('"').next().unwrap();
                    assert!(played.contains(&name), "{name} is not played");
                }
            }
        }
    };
}

points! {
    before_append
    after_append
    before_ack
    after_ack
    before_publish
    after_publish
    turn_granted
    prompt_built
    agent_started
    agent_finished
    before_finish_append
}
