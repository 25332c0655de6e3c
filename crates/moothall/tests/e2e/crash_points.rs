//! Deaths of the server at a named point, seen from the command line. `tests/kill` covers every
//! point.

use std::process::Stdio;

use serde_json::Value;

use crate::harness::Home;

/// The message is committed, and its answer is lost. The command repeats the request under its key,
/// and gets the answer.
#[tokio::test]
async fn a_command_outlives_the_server() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    assert!(server.stop().success());
    let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", "before_ack:1")]);
    let address = server.address().to_string();
    let say =
        server.command(&["say", &thread, "once", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(!server.end().success());
    let server = home.serve_on(&address);
    let said: Value = serde_json::from_slice(&say.wait_with_output().unwrap().stdout).unwrap();
    let events = server.events(&thread).await;
    let messages: Vec<&Value> = events.iter().filter(|event| event["type"] == "message").collect();
    assert_eq!(messages, [&said["event"]]);
}
