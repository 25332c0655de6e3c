//! Limits of requests: rates, streams and slots, and the share reserved for operators.

use moothall_engine::access::Mode;
use moothall_surfaces::Limits;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::mcp::rpc;
use crate::server::{Frames, Server, answer, soon};

async fn token(server: &Server, wanted: Value) -> String {
    let (status, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    assert_eq!(status, 200, "{made}");
    made["token"].as_str().unwrap().into()
}

async fn thread(server: &Server) -> String {
    let (status, made) = server
        .as_operator(Method::POST, "/threads", json!({"name": "t", "policy": "mention_only"}))
        .await;
    assert_eq!(status, 200, "{made}");
    made["id"].as_str().unwrap().into()
}

async fn say(server: &Server, credential: &str, thread: &str, key: Option<&str>) -> Response {
    let request = server
        .client
        .post(server.url(&format!("/threads/{thread}/events")))
        .bearer_auth(credential);
    let request =
        key.map_or(request.try_clone().unwrap(), |key| request.header("idempotency-key", key));
    soon(request.json(&json!({"content": "hello"})).send()).await.unwrap()
}

/// Slows the limits down so that no budget refills while a test runs.
fn slow(limits: Limits) -> Limits {
    Limits { writes_per_second: 1, writes_burst: 5, ..limits }
}

async fn limited() -> Server {
    Server::open_with(Mode::Token, None, |options| moothall_surfaces::HttpOptions {
        limits: slow(Limits::default()),
        ..options
    })
    .await
}

#[tokio::test]
async fn whoever_writes_too_much_is_told_when_to_come_back_and_others_and_operators_are_not() {
    let server = limited().await;
    let thread = thread(&server).await;
    let (ann, bob) = (
        token(&server, json!({"principal": "ann"})).await,
        token(&server, json!({"principal": "bob"})).await,
    );
    let mut refused = None;
    for _ in 0..20 {
        let answered = say(&server, &ann, &thread, None).await;
        if answered.status() == 429 {
            refused = Some(answered);
            break;
        }
        assert_eq!(answered.status(), 200);
    }
    let refused = refused.expect("a burst has an end");
    let header = |name: &str| refused.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(
        (header("retry-after").as_str(), header("ratelimit").as_str()),
        ("1", "\"writes\";r=0;t=1")
    );
    assert_eq!(answer(refused).await.1["error"]["code"], "rate_limited");
    let read =
        server.with(&ann, Method::GET, &format!("/threads/{thread}/events"), Value::Null).await;
    assert_eq!(read.0, 200, "reading is not writing");
    assert_eq!(say(&server, &bob, &thread, None).await.status(), 200);
    for _ in 0..20 {
        assert_eq!(say(&server, &server.key, &thread, None).await.status(), 200);
    }
}

#[tokio::test]
async fn a_request_that_is_repeated_under_its_key_is_charged_once() {
    let server = limited().await;
    let thread = thread(&server).await;
    let ann = token(&server, json!({"principal": "ann"})).await;
    for _ in 0..20 {
        assert_eq!(say(&server, &ann, &thread, Some("one")).await.status(), 200);
    }
    let read =
        server.with(&ann, Method::GET, &format!("/threads/{thread}/events"), Value::Null).await.1;
    assert_eq!(
        read["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| event["type"] == "message")
            .count(),
        1
    );
}

/// Repeats a call of `send_message` with a key. Returns how many calls were not rate-limited.
async fn repeat_message(server: &Server, key: &str) -> usize {
    let thread = thread(server).await;
    let scopes = ["threads:read", "threads:write"];
    let wanted = json!({"principal": "desk", "kind": "agent", "scopes": scopes});
    let desk = token(server, wanted).await;
    let profile =
        json!({"participant_id": "desk", "profile": {"client": "external", "model": "m"}});
    let invite = json!({"type": "control", "from": "user", "content": {"invite": profile}});
    let path = format!("/threads/{thread}/events");
    assert_eq!(server.as_operator(Method::POST, &path, invite).await.0, 200);
    let mut answers = Vec::new();
    for _ in 0..REPEATS {
        let arguments = json!({"thread": thread, "message": "Hello.", "key": key});
        let call = json!({"name": "send_message", "arguments": arguments});
        let said = rpc(server, Some(&desk), "tools/call", call).await;
        let error = &said["result"]["structuredContent"]["error"]["code"];
        answers.push(error.as_str().unwrap_or_default().to_owned());
    }
    let limited = answers.iter().filter(|code| *code == "rate_limited").count();
    REPEATS - limited
}

/// Number of repeated calls: more than a burst.
const REPEATS: usize = 20;

#[tokio::test]
async fn a_tool_call_that_is_repeated_under_its_key_is_charged_once() {
    let server = limited().await;
    assert_eq!(repeat_message(&server, "one").await, REPEATS);
}

#[tokio::test]
async fn a_key_that_no_call_may_have_makes_nothing_cheaper() {
    let server = limited().await;
    assert_ne!(repeat_message(&server, "not a key").await, REPEATS);
}

#[tokio::test]
async fn inviting_and_uninviting_again_and_again_is_slowed_down() {
    let server = Server::start_in(Mode::Token).await;
    let thread = thread(&server).await;
    let ann = token(&server, json!({"principal": "ann"})).await;
    let path = format!("/threads/{thread}/events");
    let mut answers = Vec::new();
    for n in 0..24 {
        let profile =
            json!({"participant_id": "echo", "profile": {"client": "echo", "model": "m"}});
        let content = if n % 2 == 0 {
            json!({"invite": profile})
        } else {
            json!({"uninvite": {"participant_id": "echo"}})
        };
        let (status, body) = server
            .with(&ann, Method::POST, &path, json!({"type": "control", "content": content}))
            .await;
        answers.push((status, body["error"]["code"].as_str().unwrap_or_default().to_owned()));
    }
    assert_eq!(answers.iter().filter(|(status, _)| *status == 200).count(), 10, "{answers:?}");
    assert!(
        answers.iter().all(|(status, code)| *status == 200 || code == "rate_limited"),
        "{answers:?}"
    );
    let other = server.as_operator(
        Method::POST,
        &path,
        json!({"type": "control", "content": {"uninvite": {"participant_id": "echo"}}}),
    );
    assert_ne!(other.await.0, 429, "an operator may");
}

/// Sends wrong keys until the address has to wait.
async fn guess(server: &Server) {
    for path in ["/session", "/invitations/accept"] {
        let name = if path == "/session" { "key" } else { "code" };
        for _ in 0..10 {
            server.post(path, json!({name: "wrong"})).await;
        }
        let refused = server.post(path, json!({name: "wrong"})).await;
        assert_eq!((refused.0, &refused.1["error"]["code"]), (429, &json!("rate_limited")));
    }
}

#[tokio::test]
async fn wrong_keys_are_slowed_down_and_good_ones_of_the_same_address_are_not() {
    let server = Server::open_with(Mode::Token, None, |options| moothall_surfaces::HttpOptions {
        invite_code: Some("open sesame".into()),
        ..options
    })
    .await;
    let ann = token(&server, json!({"principal": "ann"})).await;
    let thread = thread(&server).await;
    let code = async |name: &str| {
        let path = format!("/threads/{thread}/invitations");
        let made = server.as_operator(Method::POST, &path, json!({"principal": name})).await;
        made.1["code"].as_str().unwrap().to_owned()
    };
    let (bob, cat) = (code("bob").await, code("cat").await);
    guess(&server).await;
    for key in [&ann, &server.key, &bob] {
        assert_eq!(server.post("/session", json!({"key": key})).await.0, 200);
    }
    assert_eq!(server.post("/invitations/accept", json!({"code": cat})).await.0, 200);
    // These two routes answer in the shape of the agents' protocol.
    let post = async |path: &str, body: Value| {
        let asked = server.client.post(server.url(path)).json(&body).send();
        let answered = soon(asked).await.unwrap();
        let status = answered.status().as_u16();
        (status, answered.json::<Value>().await.unwrap())
    };
    let register = |code: &str| json!({"name": "dan", "inviteCode": code});
    let path = "/api/v1/auth/register";
    assert_eq!(post(path, register("open barley")).await.0, 429);
    let (status, dan) = post(path, register("open sesame")).await;
    assert_eq!(status, 201, "{dan}");
    let claim = |claim: Value| {
        json!({"claimToken": claim, "inviteCode": "open sesame",
            "ownerUserId": "77777777-7777-4777-8777-777777777777"})
    };
    let path = "/api/v1/auth/claim";
    assert_eq!(post(path, claim(json!("MZAP-WRONG"))).await.0, 429);
    assert_eq!(post(path, claim(dan["claimToken"].clone())).await.0, 201);
    let mut client = crate::rpc::Client::open(&server).await;
    assert_eq!(client.connect("agt_wrong").await["error"]["code"], -32004);
    let hello = client.connect(dan["apiKey"].as_str().unwrap()).await;
    assert_eq!(hello["result"]["agentId"], dan["agentId"], "{hello}");
}

#[tokio::test]
async fn one_principal_has_so_many_streams_and_a_closed_one_makes_room() {
    let server = Server::start_in(Mode::Token).await;
    let thread = thread(&server).await;
    let (ann, bob) = (
        token(&server, json!({"principal": "ann"})).await,
        token(&server, json!({"principal": "bob"})).await,
    );
    let path = format!("/threads/{thread}/events/stream");
    let open = async |credential: &str| {
        soon(server.client.get(server.url(&path)).bearer_auth(credential).send()).await.unwrap()
    };
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(Frames::of(open(&ann).await));
    }
    let (status, refused) = answer(open(&ann).await).await;
    assert_eq!((status, refused["error"]["code"].as_str()), (429, Some("too_many_streams")));
    assert_eq!(open(&bob).await.status(), 200);
    for _ in 0..30 {
        streams.push(Frames::of(open(&server.key).await));
    }
    drop(streams);
    let again = async {
        while open(&ann).await.status() != 200 {
            tokio::task::yield_now().await;
        }
    };
    soon(again).await;
}

#[tokio::test]
async fn with_every_seat_taken_the_operator_still_gets_in() {
    let few = |options| moothall_surfaces::HttpOptions { connections_max: 16, ..options };
    let server = Server::open_with(Mode::Local, None, few).await;
    let thread = server.thread("mention_only").await;
    let mut streams = Vec::new();
    // Each stream has its own connection. A connection without a slot is told to retry.
    let refused = loop {
        let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let response =
            soon(client.get(server.url(&format!("/threads/{thread}/events/stream"))).send())
                .await
                .unwrap();
        if response.status() != 200 {
            break response;
        }
        streams.push((client, response));
        assert!(streams.len() < 20, "seats have an end");
    };
    let retry = refused.headers().contains_key("retry-after");
    assert_eq!(
        (answer(refused).await.1["error"]["code"].as_str(), retry),
        (Some("no_seats"), true)
    );
    // Idle connections do not take a slot from an active one.
    let silent: Vec<_> =
        (0..50).map(|_| std::net::TcpStream::connect(server.address).unwrap()).collect();
    let fresh = || reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let health = soon(fresh().get(server.url("/healthz")).send()).await.unwrap();
    assert_eq!(health.status(), 200);
    let audit =
        soon(fresh().get(server.url("/audit")).bearer_auth(&server.key).send()).await.unwrap();
    assert_eq!(audit.status(), 200);
    drop((streams, silent));
}

#[tokio::test]
async fn without_a_credential_bodies_are_small() {
    for mode in [Mode::Local, Mode::Token] {
        let server = Server::start_in(mode).await;
        let long = "x".repeat(8 << 10);
        for (path, field) in [
            ("/session", "key"),
            ("/invitations/accept", "code"),
            ("/api/v1/auth/register", "name"),
            ("/api/v1/auth/claim", "claimToken"),
        ] {
            let asked = server.client.post(server.url(path)).json(&json!({field: long}));
            let status = soon(asked.send()).await.unwrap().status();
            assert_eq!(status.as_u16(), 413, "{path}");
            // The server also rejects an announced length before the body arrives.
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
                 Content-Length: 980000\r\nConnection: close\r\n\r\n{{",
                server.address.port()
            );
            assert_eq!(server.raw(&head).await.0, 413, "{path}");
        }
    }
    // On all other routes the credential is checked first.
    let server = Server::start_in(Mode::Token).await;
    for path in ["/threads", "/tokens", "/sessions", "/mcp", "/permissions/x/answer"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n\
             Content-Length: 980000\r\nConnection: close\r\n\r\n{{",
            server.address.port()
        );
        assert_eq!(server.raw(&head).await.0, 401, "{path}");
    }
}

#[tokio::test]
async fn signing_in_works_with_strangers_on_all_seats() {
    let few = |options| moothall_surfaces::HttpOptions { connections_max: 16, ..options };
    let server = Server::open_with(Mode::Token, None, few).await;
    let ann = token(&server, json!({"principal": "ann"})).await;
    let host = format!("Host: localhost:{}\r\n", server.address.port());
    let opening = format!(
        "GET /ws HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut strangers = Vec::new();
    for _ in 0..20 {
        let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, opening.as_bytes()).await.unwrap();
        strangers.push(stream);
    }
    let fresh = || reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let signing = fresh().post(server.url("/session")).json(&json!({"key": ann})).send();
    assert_eq!(soon(signing).await.unwrap().status(), 200);
    // Strangers have one second to send a key. Then each of these clients finds a slot and keeps
    // it.
    let seated = async {
        let mut streams = Vec::new();
        while streams.len() < 5 {
            let (client, url) = (fresh(), server.url("/events/stream"));
            let asked = client.get(url).bearer_auth(&ann).send().await;
            streams.extend(asked.ok().filter(|answer| answer.status() == 200));
        }
    };
    soon(seated).await;
    drop(strangers);
}
