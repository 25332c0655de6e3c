//! Refusals over the Model Context Protocol, and the remedy that each names.

use super::*;

#[tokio::test]
async fn calls_that_may_not_be_are_refused_with_the_way_forward() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    let token = stage.token("planner");
    server.thread("mention_only").await;
    let desk = desk(&server).await;
    meet(&server, "planner").await;
    let desk = Some(desk.as_str());
    let huge = "x".repeat(300 * 1024);
    let send = "send_message";
    let cases = [
        (None, send, json!({"session_id": "planner", "message": "x", "from": "desk"}), "forbidden"),
        (None, send, json!({"thread": "test", "message": "x"}), "missing_from"),
        (None, send, json!({"thread": "test", "message": "x", "from": "user"}), "wrong_speaker"),
        (
            None,
            send,
            json!({"thread": "test", "message": "x", "from": "moothall"}),
            "reserved_sender",
        ),
        (
            None,
            send,
            json!({"thread": "test", "message": "x", "from": "a b"}),
            "invalid_participant",
        ),
        (
            desk,
            send,
            json!({"session_id": "planner", "message": "x", "direct": true}),
            "session_required",
        ),
        (desk, send, json!({"session_id": "planner", "close_link": true}), "session_required"),
        (desk, send, json!({"session_id": "nobody", "message": "x"}), "session_not_found"),
        (desk, send, json!({"session_id": "planner", "message": huge}), "too_large"),
        (
            desk,
            send,
            json!({"session_id": "planner", "thread": "t", "message": "x"}),
            "invalid_field",
        ),
        (None, send, json!({"message": "x", "from": "desk"}), "invalid_field"),
        (
            None,
            send,
            json!({"thread": "nowhere", "message": "x", "from": "desk"}),
            "thread_not_found",
        ),
        (
            desk,
            send,
            json!({"session_id": "planner", "message": "x", "command": "ls"}),
            "unknown_field",
        ),
        (desk, send, json!({"session_id": "planner", "message": ["x"]}), "invalid_field"),
        (
            Some(token.as_str()),
            send,
            json!({"session_id": "planner", "message": "x", "from": "other"}),
            "forbidden",
        ),
        (
            Some(token.as_str()),
            send,
            json!({"thread": "t", "message": "x", "direct": true}),
            "invalid_field",
        ),
        (None, "end_session", json!({"session_id": "planner", "from": "desk"}), "forbidden"),
        (None, "start_session", json!({"client": "demo", "from": "desk"}), "forbidden"),
        (None, "get_session_data", json!({"session_id": "planner"}), "forbidden"),
        (desk, "start_session", json!({}), "invalid_field"),
        (desk, "start_session", json!({"client": "demo", "cwd": "x"}), "invalid_field"),
        (
            desk,
            "start_session",
            json!({"client": "demo", "message": "x", "direct": true}),
            "session_required",
        ),
        (
            desk,
            "get_session_data",
            json!({"session_id": "planner", "tail_chars": -1}),
            "invalid_field",
        ),
        (
            desk,
            "get_session_data",
            json!({"session_id": "planner", "since": "then"}),
            "invalid_field",
        ),
        (None, "list_threads", json!({"limit": 0}), "invalid_field"),
        (None, "search", json!({"query": ""}), "invalid_field"),
    ];
    for (token, tool, arguments, code) in cases {
        let shown: String = arguments.to_string().chars().take(100).collect();
        assert_eq!(refused(&server, token, tool, arguments).await, code, "{tool} {shown}");
    }
    let forged = server
        .post_as("ses_forged", "/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .await;
    assert_eq!(
        (forged.0, &forged.1["error"]["code"]),
        (401, &json!("unauthenticated")),
        "{forged:?}"
    );
    let unknown =
        rpc(&server, None, "tools/call", json!({"name": "run_shell", "arguments": {}})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("send_message"), "{unknown}");
    assert_eq!(
        server.get("/sessions").await.1["sessions"].as_array().unwrap().len(),
        1,
        "nothing was started"
    );
}

#[tokio::test]
async fn only_our_own_pages_and_names_reach_it() {
    let (server, _stage) = Server::with_terminals().await;
    let port = server.address.port();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let with = |host: &str, more: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\n{more}Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let own = format!("localhost:{port}");
    assert_eq!(server.raw(with(&own, "")).await.0, 200);
    assert_eq!(
        server.raw(with(&own, &format!("Origin: http://localhost:{port}\r\n"))).await.0,
        200
    );
    for host in ["evil.com", &format!("evil.com:{port}"), "localhost"] {
        assert!(matches!(server.raw(with(host, "")).await.0, 400 | 421), "{host}");
    }
    for origin in [
        "http://evil.com",
        "null",
        "http://localhost:1",
        &format!("http://localhost:{port}.evil.com"),
    ] {
        assert_eq!(
            server.raw(with(&own, &format!("Origin: {origin}\r\n"))).await.0,
            403,
            "{origin}"
        );
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn what_is_not_the_protocol_is_refused() {
    let (server, _stage) = Server::with_terminals().await;
    assert_eq!(server.get("/mcp").await.0, 405);
    let broken =
        ["{", "[]x", r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#, &"[".repeat(100)];
    for body in broken {
        let (status, _) = server.post_raw("/mcp", body.to_owned()).await;
        assert_eq!(status, 400, "{body}");
    }
    let cases = [
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "a request of its own"),
        (r#"{"id":1,"method":"ping"}"#, "JSON-RPC 2.0"),
        (r#"{"jsonrpc":"2.0","id":1}"#, "JSON-RPC 2.0"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_threads","arguments":"all"}}"#,
            "must be an object",
        ),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "a whole number"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "a whole number"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "a whole number"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}"#, "unrecognized"),
    ];
    for (body, why) in cases {
        let (status, refused) = server.post_raw("/mcp", body.to_owned()).await;
        assert!(
            status == 400 && refused["error"]["message"].as_str().unwrap().contains(why),
            "{body}: {refused}"
        );
    }
    let ping = || {
        server.client.post(server.url("/mcp")).header("content-type", "application/json").body(PING)
    };
    let unknown = ping()
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "1999-01-01");
    for (request, why) in
        [(unknown, "1999-01-01"), (ping().header("accept", "text/html"), "application/json")]
    {
        let (status, refused) = answer(request.send().await.unwrap()).await;
        assert!(
            status == 400 && refused["error"]["message"].as_str().unwrap().contains(why),
            "{refused}"
        );
        assert_eq!((&refused["jsonrpc"], &refused["id"]), (&json!("2.0"), &json!(1)));
    }
    assert_eq!(server.post_raw("/mcp", format!("\"{}\"", "x".repeat(1 << 20))).await.0, 413);
    let typed = server
        .client
        .post(server.url("/mcp"))
        .header("content-type", "text/plain")
        .body("{}")
        .send()
        .await
        .unwrap();
    assert_eq!(answer(typed).await.0, 415);
}

#[tokio::test]
async fn a_tool_does_what_the_callers_token_allows_and_where() {
    let (server, stage) = Server::with_terminals_in(Mode::Token).await;
    let planner = server.session("planner").await["id"].clone();
    let begun = server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1;
    let other = server.as_operator(Method::POST, "/threads", json!({"name": "other"})).await.1;
    let token = async |wanted: Value| {
        let (status, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
        assert_eq!(status, 200, "{made}");
        made["token"].as_str().unwrap().to_owned()
    };
    let reader = token(json!({"principal": "rita", "scopes": ["threads:read"]})).await;
    let bound =
        token(json!({"principal": "critic", "kind": "agent", "threads": [begun["id"]]})).await;
    let ann = token(json!({"principal": "ann"})).await;
    let nobody =
        server.post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    assert_eq!((nobody.0, &nobody.1["error"]["code"]), (401, &json!("unauthenticated")));

    let said =
        call(&server, Some(&bound), "send_message", json!({"thread": "home", "message": "Mine."}))
            .await;
    assert_eq!(said["thread"], begun["id"]);
    let seen = call(&server, Some(&bound), "list_threads", json!({})).await;
    assert_eq!((&seen["count"], &seen["threads"][0]["id"]), (&json!(1), &begun["id"]), "{seen}");
    assert_eq!(call(&server, Some(&reader), "list_threads", json!({})).await["count"], 3);
    assert_eq!(
        call(&server, Some(&bound), "search", json!({"query": "Mine"})).await["hits"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let session = stage.token("planner");
    let send = "send_message";
    let cases = [
        (&reader, send, json!({"thread": "home", "message": "x"}), "forbidden"),
        (&reader, "get_session_data", json!({"session_id": "planner"}), "forbidden"),
        (&bound, send, json!({"thread": other["id"], "message": "x"}), "thread_not_found"),
        (&bound, "read_thread", json!({"thread": "other"}), "thread_not_found"),
        (&bound, send, json!({"session_id": "planner", "message": "x"}), "forbidden"),
        (&bound, "list_sessions", json!({}), "forbidden"),
        (&bound, send, json!({"thread": "home", "message": "x", "from": "user"}), "forbidden"),
        (&ann, send, json!({"thread": "home", "message": "x"}), "wrong_speaker"),
        (
            &server.key,
            send,
            json!({"thread": "home", "message": "x", "from": "user"}),
            "wrong_speaker",
        ),
        (&session, "read_thread", json!({"thread": "home"}), "thread_not_found"),
        (&session, send, json!({"thread": planner, "message": "x", "from": "user"}), "forbidden"),
    ];
    for (token, tool, arguments, code) in cases {
        assert_eq!(
            refused(&server, Some(token), tool, arguments.clone()).await,
            code,
            "{tool} {arguments}"
        );
    }
    let rows =
        server.as_operator(Method::GET, "/audit?limit=1", json!(null)).await.1["rows"].clone();
    assert_eq!(
        (&rows[0]["by"], &rows[0]["detail"]),
        (&json!("planner"), &json!("POST /mcp: as user")),
        "{rows}"
    );
}

#[tokio::test]
async fn what_clients_really_send_is_taken() {
    let (server, _stage) = Server::with_terminals().await;
    let post = |path: &str, accept: Option<&str>, body: &str| {
        let request = server.client.post(server.url(path)).body(body.to_owned());
        let request = request.header("content-type", "application/json");
        accept.into_iter().fold(request, |request, accept| request.header("accept", accept))
    };
    for accept in [None, Some("*/*"), Some("application/json"), Some("text/html, */*;q=0.1")] {
        let (status, said) = answer(soon(post("/mcp", accept, PING).send()).await.unwrap()).await;
        assert_eq!((status, &said["result"]), (200, &json!({})), "{accept:?}: {said}");
    }
    let whole = r#"{"jsonrpc":"2.0","id":7.0,"method":"ping","params":null}"#;
    let (_, said) = answer(soon(post("/mcp/", None, whole).send()).await.unwrap()).await;
    assert_eq!((&said["id"], &said["result"]), (&json!(7), &json!({})), "{said}");
    for params in [
        json!(null),
        json!({}),
        json!({"clientInfo": {"name": "old"}}),
        json!({"protocolVersion": "2025-03-26", "capabilities": null, "clientInfo": null}),
    ] {
        let hello = rpc(&server, None, "initialize", params.clone()).await;
        assert_eq!(hello["result"]["serverInfo"]["name"], "moothall", "{params}: {hello}");
    }
}

#[tokio::test]
async fn a_method_that_is_not_there_is_told_with_those_that_are() {
    let (server, _stage) = Server::with_terminals().await;
    let cases = [
        ("tools/lst", json!({}), -32601, "tools/list"),
        ("tools/call", json!({}), -32602, "The `params` of tools/call"),
    ];
    for (method, params, code, why) in cases {
        let said = rpc(&server, None, method, params).await;
        assert_eq!(said["error"]["code"], code, "{method}: {said}");
        assert!(said["error"]["message"].as_str().unwrap().contains(why), "{said}");
    }
}

#[tokio::test]
async fn a_value_that_a_model_wrote_as_text_is_read() {
    let (server, _stage) = Server::with_terminals().await;
    let thread = server.thread("mention_only").await;
    let read = |limit: Value| {
        call(&server, None, "read_thread", json!({"thread": thread, "limit": limit}))
    };
    let plain = read(json!(5)).await;
    for limit in [json!("5"), json!(" 5 "), json!(5.0), json!("5.0")] {
        assert_eq!(read(limit.clone()).await, plain, "{limit}");
    }
    for limit in [json!("five"), json!(""), json!(5.5), json!("-5"), json!("true"), json!("[5]")] {
        let asked = json!({"thread": thread, "limit": limit});
        assert_eq!(refused(&server, None, "read_thread", asked).await, "invalid_field", "{limit}");
    }
    let listed = call(&server, None, "list_sessions", json!({"ended": "true"})).await;
    assert_eq!(listed["sessions"], json!([]), "{listed}");
}

#[tokio::test]
async fn a_message_that_is_repeated_with_its_key_is_said_once() {
    let (server, _stage) = Server::with_terminals().await;
    let thread = server.thread("mention_only").await;
    let words = |message: &str, key: &str| json!({"thread": thread, "message": message, "from": "desk", "key": key});
    let first = call(&server, None, "send_message", words("Hello.", "k-1")).await;
    let again = call(&server, None, "send_message", words("Hello.", "k-1")).await;
    assert_eq!(again["seq"], first["seq"], "{again}");
    let second = call(&server, None, "send_message", words("Hello.", "k-2")).await;
    assert_ne!(second["seq"], first["seq"], "{second}");
    for (asked, code) in [
        (words("Other words.", "k-1"), "idempotency_key_reused"),
        (words("Hello.", "a b"), "bad_idempotency_key"),
        (words("Hello.", ""), "bad_idempotency_key"),
    ] {
        assert_eq!(refused(&server, None, "send_message", asked).await, code);
    }
}
