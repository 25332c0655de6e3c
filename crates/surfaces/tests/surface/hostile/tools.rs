//! Hostile arguments at every tool of `/mcp`, made from the tools' own descriptions.

use super::*;
use crate::mcp::rpc;

/// Returns the smallest arguments that a tool accepts. A call without any one of them must be
/// refused.
fn smallest(tool: &str, hall: &Hall) -> Value {
    let (thread, session) = (&hall.link, "ben");
    match tool {
        "send_message" => json!({"session_id": session, "message": "hello"}),
        "get_session_data" | "end_session" => json!({"session_id": session}),
        "start_session" => json!({"client": "demo"}),
        "invite" => json!({"thread": thread, "client": "echo"}),
        "read_thread" => json!({"thread": thread}),
        "start_gathering" => gathering(),
        "search" => json!({"query": "hello"}),
        "gathering_status" | "pass_piece" | "list_sessions" | "list_threads" => json!({}),
        _ => panic!("write the smallest arguments of {tool} here"),
    }
}

/// Keys of ids or names. Each is tried with ids that name nothing.
const IDS: [&str; 5] = ["session_id", "thread", "session", "link", "gathering"];

/// Returns the tools as the server lists them.
async fn tools(hall: &Hall) -> Vec<Value> {
    let listed = rpc(&hall.server, None, "tools/list", json!({})).await;
    listed["result"]["tools"].as_array().unwrap().clone()
}

/// Calls a tool as a session. Returns the answer, and the status that it stands for.
async fn call(hall: &Hall, tool: &str, arguments: Value) -> (u16, Value) {
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request =
        hall.server.client.post(hall.server.url(MCP)).bearer_auth(hall.stage.token("ann"));
    let request = request.header("accept", "application/json, text/event-stream").json(&call);
    let (status, said) = answer(soon(request.send()).await.unwrap()).await;
    if said["error"]["code"] == -32600 {
        // The code of JSON-RPC for an invalid field.
        let message = &said["error"]["message"];
        return (422, json!({"error": {"code": "invalid_field", "message": message}}));
    }
    match said["result"]["isError"].as_bool() {
        Some(true) => (422, said["result"]["structuredContent"].clone()),
        Some(false) | None => (status, said),
    }
}

/// Returns an objection to the answer of a call that must be refused.
async fn objection_to(hall: &Hall, tool: &str, attempt: HostileRequest) -> Option<String> {
    let arguments: Value = serde_json::from_slice(&attempt.body).ok()?;
    let (status, said) = call(hall, tool, arguments).await;
    objection(MCP, status, &said, &BAD_BODY)
        .map(|wrong| format!("{tool}, {}: {wrong}", attempt.name))
}

#[tokio::test]
async fn arguments_that_cannot_be_are_refused_by_every_tool_and_change_nothing() {
    let hall = Hall::open().await;
    let before = everything(&hall).await;
    let mut wrong = Vec::new();
    for described in tools(&hall).await {
        let (tool, schema) = (described["name"].as_str().unwrap(), &described["inputSchema"]);
        let smallest = smallest(tool, &hall);
        let mut attempts = impossible(&described, schema, &smallest);
        attempts.retain(|attempt| attempt.body.len() < 1 << 20);
        attempts.extend(extreme(&described, schema, &smallest));
        // For an unknown session a person is asked, so that the caller does not learn if it exists.
        let learns = |key: &&str| tool != "send_message" || *key != "session_id";
        let known = |key: &&str| schema["properties"].get(*key).is_some();
        for key in IDS.into_iter().filter(known).filter(learns) {
            attempts.extend(NOTHING.map(|id| with(&smallest, key, json!(id))));
        }
        for attempt in attempts {
            wrong.extend(objection_to(&hall, tool, attempt).await);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(everything(&hall).await, before);
}

#[tokio::test]
async fn the_smallest_arguments_are_taken_by_every_tool() {
    let hall = Hall::open().await;
    for described in tools(&hall).await {
        let tool = described["name"].as_str().unwrap();
        let (_, said) = call(&hall, tool, smallest(tool, &hall)).await;
        let code = said["error"]["code"].as_str();
        let taken = match (tool, code) {
            // A session cannot end a session that it did not start, and is not in a gathering here.
            ("end_session", Some("forbidden")) => true,
            ("gathering_status" | "pass_piece", Some("invalid_field")) => true,
            (_, code) => code.is_none(),
        };
        assert!(taken, "{tool}: {said}");
    }
}
