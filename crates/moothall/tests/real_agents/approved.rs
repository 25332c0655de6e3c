//! Tools of this server: a program asks before it uses one that changes something, and a person
//! allows the use.

use moothall_testkit::model_server::Reply;
use serde_json::json;

use crate::driven::{outcomes, question};
use crate::house::{House, until};

/// Checks that a program asks before it uses a tool of this server, and continues once allowed.
async fn a_tool_is_allowed(client: &str, tool: &str, allow: &str) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    let arguments = json!({"session_id": "no-such-session", "message": "hello from a tool"});
    house.when("tool-tag", &Reply::tool(tool, arguments));
    house.when("session_not_found", &Reply::text("It is not there."));
    let said = server.say(&session, "Please tool-tag").await;
    let question = question(&server, &session).await;
    let action = question["action"].as_str().unwrap();
    assert!(action.contains("send_message") && action.contains("hello from a tool"), "{question}");
    let options = question["options"].as_array().unwrap();
    let allow = options
        .iter()
        .find(|option| option["label"].as_str().unwrap().starts_with(allow))
        .unwrap_or_else(|| panic!("{question}"));
    assert_eq!(allow["kind"], "allow_once", "{question}");
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    let answer = json!({"thread": session, "option": allow["id"]});
    assert_eq!(house.post_as_owner(&server, &path, &answer).await, 200);
    until(&server, &session, "it is done", async || outcomes(&server, &session).await == ["spoke"])
        .await;
    let heard = house.model(client).requests().into_iter().map(|request| request.body.to_string());
    assert!(heard.into_iter().any(|body| body.contains("no-such-session") && body.contains("not")));
    assert!(!server.reply(&session, &said, client).await["content"].is_null());
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_uses_a_tool_that_a_person_allowed() {
    a_tool_is_allowed("claude", "mcp__moothall__send_message", "allow").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_uses_a_tool_that_a_person_allowed() {
    a_tool_is_allowed("codex", "mcp__moothall__send_message", "Allow: ").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_uses_a_tool_that_a_person_allowed() {
    a_tool_is_allowed("gemini", "mcp_moothall_send_message", "Allow once").await;
}

/// Checks that a program uses a tool that only reads without asking.
async fn a_reading_tool_asks_nobody(client: &str, tool: &str, result: &str) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("read-tag", &Reply::tool(tool, json!({})));
    let said = server.say(&session, "Please read-tag").await;
    server.reply(&session, &said, client).await;
    let events = server.events(&session).await;
    assert!(events.iter().all(|event| event["type"] != "permission"), "{events:#?}");
    let heard = house.model(client).requests().into_iter().map(|request| request.body.to_string());
    let heard: Vec<String> = heard.filter(|body| body.contains(result)).collect();
    assert!(
        heard.iter().any(|body| body.contains("next_after") || body.contains("archived")),
        "{heard:?}"
    );
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_reads_unasked() {
    a_reading_tool_asks_nobody("claude", "mcp__moothall__list_threads", "tool_result").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_reads_unasked() {
    a_reading_tool_asks_nobody("gemini", "mcp_moothall_list_threads", "functionResponse").await;
}
