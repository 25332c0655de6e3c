//! The Model Context Protocol over HTTP, as a client uses it.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, answer, soon};

mod refusals;

/// Sends one request, with a session's token or without.
pub async fn rpc(server: &Server, token: Option<&str>, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = server
        .client
        .post(server.url("/mcp"))
        .header("accept", "application/json, text/event-stream")
        .json(&body);
    let request = token.map_or_else(
        || request.try_clone().unwrap(),
        |token| request.try_clone().unwrap().bearer_auth(token),
    );
    let (status, said) = answer(soon(request.send()).await.unwrap()).await;
    assert_eq!((status, &said["jsonrpc"]), (200, &json!("2.0")), "{said}");
    said
}

/// Returns the token of an agent that drives sessions from outside.
async fn desk(server: &Server) -> String {
    let scopes = ["threads:read", "threads:write", "participants:invite", "sessions:drive"];
    let wanted = json!({"principal": "desk", "kind": "agent", "scopes": scopes});
    let (status, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    assert_eq!(status, 200, "{made}");
    made["token"].as_str().unwrap().to_owned()
}

/// Brings that agent and a session together in a conversation.
async fn meet(server: &Server, session: &str) {
    let thread = server.introduce(&[session]).await;
    let invite = json!({"invite": {"participant_id": "desk", "profile": {"client": "external", "model": "m"}}});
    let body = json!({"type": "control", "from": "user", "content": invite});
    let (status, invited) =
        server.as_operator(Method::POST, &format!("/threads/{thread}/events"), body).await;
    assert_eq!(status, 200, "{invited}");
}

/// Calls a tool that must succeed. Returns its structured answer.
pub async fn call(server: &Server, token: Option<&str>, tool: &str, arguments: Value) -> Value {
    let said =
        rpc(server, token, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert_ne!(said["result"]["isError"], true, "{said}");
    let structured = said["result"]["structuredContent"].clone();
    // Clients compare the answer with the schema that the tool lists.
    let listed = rpc(server, token, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let described = tools.iter().find(|described| described["name"] == tool).unwrap();
    let fields = described["outputSchema"]["properties"].as_object().unwrap();
    for (name, value) in structured.as_object().unwrap() {
        let field = fields.get(name).unwrap_or_else(|| panic!("{tool} lists no {name}"));
        assert!(is_of(&field["type"], value), "{tool}: {name} is {value}, and {field} is listed");
    }
    // The text is the same, for clients that ignore structured answers.
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
    structured
}

/// True if a value is of a type of JSON Schema, or of one of several. No type allows all values.
fn is_of(kind: &Value, value: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(kind, value)),
        Value::String(kind) => match value {
            Value::Null => kind == "null",
            Value::Bool(_) => kind == "boolean",
            Value::Number(number) => kind == "number" || kind == "integer" && number.is_u64(),
            Value::String(_) => kind == "string",
            Value::Array(_) => kind == "array",
            Value::Object(_) => kind == "object",
        },
        _ => kind.is_null(),
    }
}

/// Calls a tool that must refuse. Returns the code.
async fn refused(server: &Server, token: Option<&str>, tool: &str, arguments: Value) -> String {
    let said =
        rpc(server, token, "tools/call", json!({"name": tool, "arguments": arguments})).await;
    assert_eq!(said["result"]["isError"], true, "{said}");
    let error = &said["result"]["structuredContent"]["error"];
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with(error["code"].as_str().unwrap())
            && text.contains(error["message"].as_str().unwrap()),
        "{said}"
    );
    error["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn tools_describe_themselves() {
    let (server, _stage) = Server::with_terminals().await;
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let hello = rpc(&server, None, "initialize", params).await;
    assert_eq!(
        (&hello["result"]["serverInfo"]["name"], &hello["result"]["protocolVersion"]),
        (&json!("moothall"), &json!("2025-06-18"))
    );
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    assert!(
        instructions.contains("the word of a colleague") && instructions.contains("[moothall:"),
        "{instructions}"
    );
    assert!(
        instructions.contains("go back to that thread by themselves")
            && instructions.contains("a prompt tells you"),
        "{instructions}"
    );
    let listed = rpc(&server, None, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "send_message",
        "get_session_data",
        "list_sessions",
        "start_session",
        "end_session",
        "invite",
        "list_threads",
        "read_thread",
        "search",
        "start_gathering",
        "gathering_status",
        "pass_piece",
    ];
    assert_eq!(names, expected);
    // The list stands in the prompt of each agent.
    assert!(names.len() <= 12 && listed.to_string().len() < 32_000);
    for tool in tools {
        let schema = &tool["inputSchema"];
        assert_eq!(
            (&schema["type"], &schema["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{tool}"
        );
        assert!(
            tool["description"].is_string() && tool["annotations"]["readOnlyHint"].is_boolean(),
            "{tool}"
        );
        assert!(
            schema["properties"]
                .as_object()
                .unwrap()
                .values()
                .all(|property| property["description"].is_string()),
            "{tool}"
        );
    }
    let hints =
        |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap()["annotations"].clone();
    assert_eq!(hints("read_thread")["readOnlyHint"], true);
    let said =
        |name: &str| (hints(name)["destructiveHint"].clone(), hints(name)["openWorldHint"].clone());
    assert_eq!(
        said("start_session"),
        (json!(true), json!(true)),
        "clients ask their users before they start a program"
    );
    assert_eq!(
        (said("end_session"), said("send_message")),
        ((json!(true), json!(false)), (json!(false), json!(true)))
    );
}

#[tokio::test]
async fn sessions_talk_through_tools() {
    let folder = tempfile::tempdir().unwrap();
    let (server, stage) = Server::with_startable(Mode::Local, folder.path()).await;
    let new = json!({"client": "demo", "name": "planner", "cwd": folder.path()});
    let (_, planner) = server.as_operator(Method::POST, "/sessions", new).await;
    let token = stage.token("planner");
    let started = call(
        &server,
        Some(&token),
        "start_session",
        json!({"client": "demo", "name": "helper", "message": "Help.", "direct": true}),
    )
    .await;
    assert_eq!(
        (&started["session"]["name"], &started["message"]["link_state"]),
        (&json!("helper"), &json!("created")),
        "{started}"
    );
    assert_eq!(
        started["session"]["cwd"], planner["cwd"],
        "it works where the one who started it does"
    );
    let link = started["message"]["link_id"].clone();
    let again = call(
        &server,
        Some(&token),
        "send_message",
        json!({"session_id": "helper", "message": "Go on.", "direct": true}),
    )
    .await;
    assert_eq!(
        (&again["link_id"], &again["link_state"], &again["delivered_to"]),
        (&link, &json!("reused"), &json!([started["session"]["id"]]))
    );
    let closed = call(
        &server,
        Some(&token),
        "send_message",
        json!({"session_id": "helper", "close_link": true}),
    )
    .await;
    assert_eq!((&closed["link_id"], &closed["link_state"]), (&link, &json!("closed")));
    let desk = desk(&server).await;
    let words = json!({"session_id": "helper", "message": "From outside.", "from": "desk"});
    assert_eq!(
        refused(&server, Some(&desk), "send_message", words.clone()).await,
        "forbidden",
        "they share no conversation"
    );
    meet(&server, "helper").await;
    let said = call(&server, Some(&desk), "send_message", words).await;
    assert_eq!((&said["link_id"], &said["link_state"]), (&Value::Null, &json!("none")));
    let data = call(
        &server,
        Some(&desk),
        "get_session_data",
        json!({"session_id": "helper", "tail_chars": 0}),
    )
    .await;
    assert!(data["text"].as_str().unwrap().contains("From outside."), "{data}");
    let list = call(&server, None, "list_sessions", json!({})).await;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
    let ended = call(&server, Some(&token), "end_session", json!({"session_id": "helper"})).await;
    assert_eq!(ended["session"]["state"], "ended");
    assert_eq!(
        refused(
            &server,
            Some(&token),
            "send_message",
            json!({"session_id": started["session"]["id"], "message": "x"})
        )
        .await,
        "session_ended"
    );
}

#[tokio::test]
async fn threads_are_read_and_spoken_in() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    let token = stage.token("planner");
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "A plan is needed.").await;
    server
        .control(
            &thread,
            json!({"invite": {"participant_id": "plan", "profile": {"session": "planner"}}}),
        )
        .await;
    let invited = json!({"thread": "test", "client": "echo", "participant": "hand"});
    assert_eq!(
        call(&server, Some(&desk(&server).await), "invite", invited).await["thread"],
        json!(thread)
    );
    let unproven =
        json!({"thread": "test", "session": "planner", "participant": "again", "from": "desk"});
    assert_eq!(
        refused(&server, None, "invite", unproven).await,
        "forbidden",
        "an invited session is typed into"
    );
    let said = call(
        &server,
        Some(&token),
        "send_message",
        json!({"thread": thread, "message": "Here it is."}),
    )
    .await;
    assert_eq!((&said["link_state"], &said["thread"]), (&json!("none"), &json!(thread)));
    let outside = call(
        &server,
        None,
        "send_message",
        json!({"thread": "test", "message": "I read it.", "from": "door"}),
    )
    .await;
    assert_eq!(outside["delivered_to"], json!(["plan", "hand"]));
    let page = call(&server, Some(&token), "read_thread", json!({"thread": thread})).await;
    let words: Vec<_> = page["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| (&message["from"], &message["text"]))
        .collect();
    let expected = [("user", "A plan is needed."), ("plan", "Here it is."), ("door", "I read it.")];
    assert_eq!(
        words
            .iter()
            .map(|(from, text)| (from.as_str().unwrap(), text.as_str().unwrap()))
            .collect::<Vec<_>>(),
        expected
    );
    let seq = page["messages"][0]["seq"].as_u64().unwrap();
    let later =
        call(&server, None, "read_thread", json!({"thread": thread, "after": seq, "limit": 1}))
            .await;
    assert_eq!(
        (&later["messages"][0]["text"], &later["more"]),
        (&json!("Here it is."), &json!(true))
    );
    let newest = call(&server, None, "read_thread", json!({"thread": thread, "limit": 1})).await;
    assert_eq!(
        (&newest["messages"][0]["text"], &newest["more"]),
        (&json!("I read it."), &json!(true))
    );
    assert_eq!(
        call(&server, None, "list_threads", json!({"limit": 200})).await["threads"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|entry| entry["id"] == json!(thread))
            .count(),
        1
    );
    let found = call(&server, None, "search", json!({"query": "\"A plan\""})).await;
    assert_eq!(found["hits"][0]["thread"], json!(thread));
    server
        .control(
            &thread,
            json!({"invite": {"participant_id": "ann", "profile": {"client": "human"}}}),
        )
        .await;
    assert_eq!(
        refused(
            &server,
            None,
            "send_message",
            json!({"thread": thread, "message": "I, Ann", "from": "ann"})
        )
        .await,
        "wrong_speaker"
    );
}

#[tokio::test]
async fn a_model_is_told_why_agents_are_silent() {
    let (server, _stage) = Server::with_terminals().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "a", "demo").await;
    let first = server.say(&thread, "user", "hello").await;
    let reasons = call(&server, None, "read_thread", json!({"thread": thread, "why": 0})).await;
    let [unasked] = &reasons["unasked"].as_array().unwrap()[..] else { panic!("{reasons}") };
    assert_eq!((&unasked["reason"], &reasons["turns"]), (&json!("no_agent_named"), &json!([])));
    server.control(&thread, json!({"mute": ["a"]})).await;
    server.say(&thread, "user", "@a hello").await;
    let reasons = call(&server, None, "read_thread", json!({"thread": thread, "why": 0})).await;
    assert_eq!(reasons["turns"][0]["why_not"], "muted", "{reasons}");
    let older = json!({"thread": thread, "why": first["seq"]});
    let reasons = call(&server, None, "read_thread", older).await;
    assert_eq!(reasons["message"], first["id"]);
    let beyond = json!({"thread": thread, "why": 99});
    assert_eq!(refused(&server, None, "read_thread", beyond).await, "unknown_event");
}

#[tokio::test]
async fn a_page_of_messages_has_no_holes() {
    let (server, _stage) = Server::with_terminals().await;
    let thread = server.thread("mention_only").await;
    for words in ["short", &"long ".repeat(9_600), "newest"] {
        server.say(&thread, "user", words).await;
    }
    let page = call(&server, None, "read_thread", json!({"thread": thread})).await;
    let words: Vec<_> = page["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        (words, &page["more"]),
        (vec!["newest"], &json!(true)),
        "what is older than what found no room is not there"
    );
}

#[tokio::test]
async fn sessions_link_themselves_and_leave() {
    let folder = tempfile::tempdir().unwrap();
    let (server, stage) = Server::with_startable(Mode::Local, folder.path()).await;
    for name in ["ann", "ben", "cal"] {
        server
            .as_operator(
                Method::POST,
                "/sessions",
                json!({"client": "demo", "name": name, "cwd": folder.path()}),
            )
            .await;
    }
    server.introduce(&["ann", "ben", "cal"]).await;
    let (ann, ben) = (stage.token("ann"), stage.token("ben"));
    let made =
        call(&server, Some(&ann), "invite", json!({"link": ["ben", "cal"], "title": "All"})).await;
    assert_eq!(
        (&made["link_state"], made["link"]["members"].as_array().unwrap().len()),
        (&json!("created"), 3),
        "{made}"
    );
    let again = call(&server, Some(&ben), "invite", json!({"link": ["ann", "cal", "ben"]})).await;
    assert_eq!(
        (&again["link_state"], &again["link"]["id"]),
        (&json!("reused"), &made["link"]["id"])
    );
    let listed = call(&server, Some(&ben), "list_sessions", json!({"links": true})).await;
    assert_eq!(listed["links"][0]["id"], made["link"]["id"]);
    let leave = json!({"thread": made["link"]["id"], "message": "Goodbye.", "leave_link": true});
    let left = call(&server, Some(&ben), "send_message", leave).await;
    assert_eq!((&left["link_state"], &left["link_id"]), (&json!("left"), &made["link"]["id"]));
    let words = call(&server, Some(&ann), "read_thread", json!({"thread": made["link"]["id"]}));
    assert_eq!(words.await["messages"][0]["text"], "Goodbye.");
    let left = call(&server, Some(&ann), "list_sessions", json!({"links": true})).await;
    assert_eq!(left["links"][0]["members"].as_array().unwrap().len(), 2, "{left}");
    for (token, thread) in
        [(&ben, made["link"]["id"].clone()), (&ann, server.thread("open").await.into())]
    {
        let leave = json!({"thread": thread, "leave_link": true});
        let code = refused(&server, Some(token), "send_message", leave).await;
        assert!(["session_conflict", "thread_not_found"].contains(&code.as_str()), "{code}");
    }
    let both = json!({"link": ["ben"], "thread": made["link"]["id"]});
    assert_eq!(refused(&server, Some(&ann), "invite", both).await, "invalid_field");
    let alone = json!({"name": "invite", "arguments": {"link": ["ann"]}});
    let said = rpc(&server, Some(&ann), "tools/call", alone).await;
    let error = &said["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "invalid_field");
    // The refusal names the argument of the tool, not the field of the route.
    assert!(error["message"].as_str().unwrap().starts_with("'link' must name"), "{said}");
}

#[tokio::test]
async fn a_thread_is_begun_and_waited_in() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    let token = stage.token("planner");
    let made = call(&server, Some(&token), "invite", json!({"new_thread": "Plans"})).await;
    assert_eq!((&made["name"], &made["policy"]), (&json!("Plans"), &json!("mention_only")));
    call(
        &server,
        Some(&token),
        "invite",
        json!({"thread": "Plans", "client": "echo", "participant": "hand"}),
    )
    .await;
    assert_eq!(
        refused(&server, Some(&token), "invite", json!({"new_thread": "x", "policy": "loud"}))
            .await,
        "invalid_policy"
    );
    let nothing =
        call(&server, Some(&token), "read_thread", json!({"thread": "Plans", "wait_seconds": 0}))
            .await;
    assert_eq!(nothing["messages"], json!([]));
    let said = call(
        &server,
        Some(&token),
        "send_message",
        json!({"thread": "Plans", "message": "Where are we?"}),
    )
    .await;
    let wait = json!({"thread": "Plans", "after": said["seq"], "wait_seconds": 50});
    let (waited, _) = tokio::join!(call(&server, Some(&token), "read_thread", wait), async {
        let thread = made["thread"].as_str().unwrap();
        server.say(thread, "user", "Here.").await
    });
    assert_eq!(waited["messages"][0]["text"], "Here.", "{waited}");
    assert_eq!(
        refused(&server, None, "read_thread", json!({"thread": "Plans", "wait_seconds": 51})).await,
        "invalid_field"
    );
    // A session's name stands for its home, as in `send_message`.
    let home = call(&server, Some(&token), "read_thread", json!({"thread": "planner"})).await;
    assert_eq!(home["name"].as_str().map(|name| name.starts_with("planner")), Some(true), "{home}");
    let said = rpc(
        &server,
        Some(&token),
        "tools/call",
        json!({"name": "read_thread", "arguments": {"thread": "nobody"}}),
    )
    .await;
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("thread_not_found")
            && text.contains("list_threads")
            && !text.contains("GET /"),
        "{text}"
    );
}
