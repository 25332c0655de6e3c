//! Deliberately malformed frames, and connections that do not intend to talk.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;

use super::client::{closed_server, let_in, saying};
use super::{Agent, Client, agent, agents, open_server, register};
use crate::server::Server;

/// Returns a frame as on the wire, masked with zeros. Its header states the given length.
fn raw_frame(first: u8, said: u64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first, 0x80 | 127];
    bytes.extend(said.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

async fn raw(client: &mut Client, bytes: &[u8]) {
    // The server may have closed the connection already.
    let _ = client.socket.get_mut().write_all(bytes).await;
}

async fn lives(client: &mut Client) {
    client.done("network/ping", json!({})).await;
}

/// Revokes an agent's keys.
pub async fn revoke(server: &Server, agent: &Agent) {
    let (_, list) = server.as_operator(Method::GET, "/tokens", json!(null)).await;
    let tokens = list["tokens"].as_array().unwrap().iter();
    let of_agent = tokens.filter(|token| token["principal"]["id"] == json!(agent.id));
    for token in of_agent {
        let path = format!("/tokens/{}/revoke", token["id"].as_str().unwrap());
        assert_eq!(server.as_operator(Method::POST, &path, json!({})).await.0, 200);
    }
}

#[tokio::test]
async fn a_batch_of_any_length_is_one_refusal() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    for many in [0, 1, 100_000] {
        let batch = vec!["1"; many].join(",");
        ann.send(format!("[{batch}]")).await;
        let refused = ann.wanted(|frame| frame["id"].is_null()).await;
        assert_eq!(refused["error"]["code"], -32600);
    }
    lives(&mut ann).await;
    assert!(ann.settle().await.is_empty());
}

#[tokio::test]
async fn bytes_are_read_as_text_where_they_are_text() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    let ping = r#"{"jsonrpc":"2.0","id":"é","method":"network/ping"}"#;
    ann.message(Message::binary(ping.as_bytes().to_vec())).await;
    assert!(ann.answer("é").await["result"]["ts"].is_string());
    ann.message(Message::binary(vec![0xff, 0xfe, b'{'])).await;
    let refused = ann.wanted(|frame| frame["id"].is_null()).await;
    assert_eq!(refused["error"]["code"], -32700);
    lives(&mut ann).await;
}

#[tokio::test]
async fn a_call_that_is_too_long_is_refused_by_its_id_and_the_next_one_is_heard() {
    let server = open_server().await;
    let ([_, bob], [mut ann, _]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    let part = json!({"type": "text", "text": "w".repeat(30_000)});
    let mut long = saying(&place, "");
    long["parts"] = json!([part, part, part]);
    let refused = ann.refused("messages/send", long).await;
    assert_eq!(refused.0, -32602, "{refused:?}");
    ann.say(&place, "short").await;
    let list = json!({"taskId": place.0, "conversationId": place.1});
    let kept = ann.done("messages/list", list).await["messages"].clone();
    assert_eq!(kept.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn frames_that_break_the_protocol_end_the_connection_and_only_that() {
    let server = open_server().await;
    let (bob, mut other) = agent(&server, "bob").await;
    let text = |first: u8, bytes: &[u8]| raw_frame(first, bytes.len() as u64, bytes);
    let unmasked = vec![0x81, 2, b'{', b'}'];
    let bad: [(&str, Vec<u8>, u16); 10] = [
        ("a gigabyte is announced", raw_frame(0x81, 1 << 30, b"{"), 1009),
        ("more than there is memory is announced", raw_frame(0x81, u64::MAX >> 1, b"{"), 1009),
        ("no UTF-8", text(0x81, &[b'{', 0xff, b'}']), 1007),
        ("half a letter", text(0x81, &[0xc3]), 1007),
        ("a compressed frame", text(0xc1, b"{}"), 1002),
        ("an unknown kind of frame", text(0x83, b"{}"), 1002),
        ("no mask", unmasked, 1002),
        ("a ping that is too long", text(0x89, &[0; 126]), 1002),
        ("a ping in pieces", text(0x09, b"a"), 1002),
        ("a piece of nothing", text(0x80, b"a"), 1002),
    ];
    for (what, bytes, code) in bad {
        let mut client = Client::of(&server, &bob).await;
        raw(&mut client, &bytes).await;
        client.closed().await;
        assert_eq!(client.end.as_ref().map(|(code, _)| *code), Some(code), "{what}");
        lives(&mut other).await;
    }
}

#[tokio::test]
async fn a_message_that_never_ends_ends_the_connection() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    let piece = vec![b'a'; 60_000];
    raw(&mut ann, &raw_frame(0x01, piece.len() as u64, &piece)).await;
    for _ in 0..10 {
        raw(&mut ann, &raw_frame(0x00, piece.len() as u64, &piece)).await;
    }
    let end = ann.closed().await;
    assert!(matches!(end, Some((1009, _))), "{end:?}");
    let (_, mut bob) = agent(&server, "bob").await;
    lives(&mut bob).await;
}

#[tokio::test]
async fn a_message_in_pieces_is_one_message() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    let ping = br#"{"jsonrpc":"2.0","id":"p","method":"network/ping"}"#;
    for (at, byte) in ping.iter().enumerate() {
        let (begins, ends) = (at == 0, at + 1 == ping.len());
        raw(&mut ann, &raw_frame(u8::from(begins) | (u8::from(ends) << 7), 1, &[*byte])).await;
    }
    assert!(ann.answer("p").await["result"]["ts"].is_string());
}

#[tokio::test]
async fn a_flood_of_frames_that_bring_nothing_is_cut() {
    let server = open_server().await;
    let ([ann, _], [_, mut bob]) = agents(&server, ["ann", "bob"]).await;
    let kinds: [(&str, &[u8]); 4] = [
        ("pings", &[0x89, 0x80, 0, 0, 0, 0]),
        ("pongs", &[0x8a, 0x80, 0, 0, 0, 0]),
        ("empty pieces", &[0x00, 0x80, 0, 0, 0, 0]),
        ("small pieces", &[0x00, 0x81, 0, 0, 0, 0, b'a']),
    ];
    for (what, kind) in kinds {
        for known in [false, true] {
            let mut client =
                if known { Client::of(&server, &ann).await } else { Client::open(&server).await };
            raw(&mut client, &[0x01, 0x80, 0, 0, 0, 0]).await;
            raw(&mut client, &kind.repeat(20)).await;
            raw(&mut client, &kind.repeat(20_000)).await;
            lives(&mut bob).await;
            client.closed().await;
            let code = client.end.as_ref().map(|(code, _)| *code);
            assert_eq!(code, Some(1008), "{what}, {known}");
        }
    }
}

#[tokio::test]
async fn before_a_key_was_shown_messages_are_small_and_answers_count() {
    let server = open_server().await;
    let (bob, mut other) = agent(&server, "bob").await;
    let piece = vec![b'a'; 5_000];
    for announced in [8_193, 100_000] {
        let mut guest = Client::open(&server).await;
        raw(&mut guest, &raw_frame(0x81, announced, &piece)).await;
        assert!(matches!(guest.closed().await, Some((1009, _))), "{:?}", guest.end);
    }
    let mut guest = Client::open(&server).await;
    raw(&mut guest, &raw_frame(0x01, 5_000, &piece)).await;
    raw(&mut guest, &raw_frame(0x00, 5_000, &piece)).await;
    assert!(matches!(guest.closed().await, Some((1009, _))), "{:?}", guest.end);
    // Unexpected answers count as nonsense as well.
    let mut guest = Client::open(&server).await;
    for _ in 0..40 {
        guest.send(r#"{"jsonrpc":"2.0","id":"server-1","result":{}}"#).await;
    }
    assert!(matches!(guest.closed().await, Some((1008, _))), "{:?}", guest.end);
    // Frames of an agent with a key may be as large as before.
    let mut known = Client::of(&server, &bob).await;
    known.send(format!("[{}]", vec!["1"; 100_000].join(","))).await;
    assert_eq!(known.wanted(|frame| frame["id"].is_null()).await["error"]["code"], -32600);
    lives(&mut other).await;
}

#[tokio::test]
async fn a_client_that_closes_is_answered_with_its_code() {
    let server = open_server().await;
    let mut guest = Client::open(&server).await;
    raw(&mut guest, &[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]).await;
    assert!(matches!(guest.closed().await, Some((1000, _))), "{:?}", guest.end);
}

#[tokio::test]
async fn two_requests_of_one_id_are_both_answered() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    let ping = r#"{"jsonrpc":"2.0","id":"x","method":"network/ping"}"#;
    ann.send(ping).await;
    ann.send(r#"{"jsonrpc":"2.0","id":"x","method":"task/list"}"#).await;
    ann.send(ping).await;
    let mut results = Vec::new();
    for _ in 0..3 {
        let result = ann.answer("x").await["result"].clone();
        results.push(result.as_object().unwrap().keys().next().unwrap().clone());
    }
    results.sort();
    assert_eq!(results, ["tasks", "ts", "ts"]);
    assert!(ann.settle().await.is_empty());
}

/// Returns the status of an upgrade with this header.
async fn upgraded(server: &Server, header: &str) -> u16 {
    let port = server.address.port();
    let host = if header.starts_with("Host") { "" } else { &format!("Host: localhost:{port}\r\n") };
    let request = format!(
        "GET /ws HTTP/1.1\r\n{host}{header}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut tcp = tokio::net::TcpStream::connect(server.address).await.unwrap();
    tcp.write_all(request.as_bytes()).await.unwrap();
    let mut begin = [0; 12];
    let read = tokio::io::AsyncReadExt::read_exact(&mut tcp, &mut begin);
    crate::server::soon(read).await.unwrap();
    std::str::from_utf8(&begin[9..]).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_page_of_another_site_cannot_connect() {
    let server = open_server().await;
    let port = server.address.port();
    assert_eq!(upgraded(&server, &format!("Origin: http://localhost:{port}")).await, 101);
    assert_eq!(upgraded(&server, "X-Nothing: 1").await, 101);
    for foreign in [
        "https://evil.example",
        "null",
        &format!("http://localhost.evil.example:{port}"),
        &format!("http://localhost:{}", port - 1),
        &format!("https://localhost:{port}x"),
        "",
    ] {
        assert_eq!(upgraded(&server, &format!("Origin: {foreign}")).await, 403, "{foreign:?}");
    }
    for foreign in ["evil.example", &format!("localhost.evil.example:{port}")] {
        let status = upgraded(&server, &format!("Host: {foreign}")).await;
        assert!([400, 403, 421].contains(&status), "{foreign}: {status}");
    }
    let (status, _) =
        server.raw("GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    assert!((400..500).contains(&status), "{status}");
}

#[tokio::test]
async fn a_revoked_key_ends_its_connections_and_opens_none() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut one]) = agents(&server, ["ann", "bob"]).await;
    let mut two = Client::of(&server, &bob).await;
    let place = ann.task_with(&[&bob]).await;
    ann.say(&place, "before").await;
    one.next_notice("messages/received").await;
    revoke(&server, &bob).await;
    let reason = (1008, "the key is no longer valid".to_owned());
    for client in [&mut one, &mut two] {
        let mut heard = Vec::new();
        while let Some(text) = client.frame().await {
            heard.push(text);
        }
        assert_eq!(client.end, Some(reason.clone()));
        assert!(heard.iter().all(|text| !text.contains("after")), "{heard:?}");
    }
    ann.say(&place, "after").await;
    let mut again = Client::open(&server).await;
    assert_eq!(again.connect(&bob.key).await["error"]["code"], -32000);
    lives(&mut ann).await;
}

#[tokio::test]
async fn a_connection_hears_nothing_after_its_key_was_revoked() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut one]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    revoke(&server, &bob).await;
    // The message is sent at once, possibly before the connection notices the revocation.
    ann.say(&place, "secret").await;
    while let Some(text) = one.frame().await {
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn an_agents_key_opens_its_own_tasks_and_nothing_of_the_rest() {
    let server = closed_server().await;
    let home = json!({"name": "home"});
    let (_, thread) = server.as_operator(Method::POST, "/threads", home).await;
    let key = let_in(&server, "ann").await.key;
    let id = thread["id"].as_str().unwrap();
    for (method, path, body) in [
        (Method::GET, format!("/threads/{id}/events"), Value::Null),
        (Method::POST, format!("/threads/{id}/events"), json!({"from": "user", "content": "x"})),
        (Method::GET, "/tokens".into(), Value::Null),
        (Method::POST, "/tokens".into(), json!({"principal": "ann"})),
        (Method::GET, "/audit".into(), Value::Null),
    ] {
        let (status, answer) = server.with(&key, method, &path, body).await;
        assert!([401, 403, 404].contains(&status), "{path}: {answer}");
    }
    let mut ann = Client::open(&server).await;
    ann.connect(&key).await;
    let place = (id.to_owned(), id.to_owned());
    assert_eq!(ann.refused("messages/send", saying(&place, "x")).await.0, -32002);
    let list = json!({"taskId": id, "conversationId": id});
    assert_eq!(ann.refused("messages/list", list).await.0, -32002);
    assert_eq!(ann.refused("task/close", json!({"taskId": id})).await.0, -32002);
}

#[tokio::test]
async fn a_conversation_takes_as_many_as_it_says() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    let most = 200;
    let mut crowd = Vec::new();
    for number in 0..most {
        crowd.push(register(&server, &format!("agent-{number}")).await.id);
    }
    let wish = json!({"appId": super::client::DEFAULT_APP, "invitedAgentIds": crowd});
    let task = ann.done("task/request", wish).await["task"]["id"].clone();
    let all = json!({"taskId": task, "participants": crowd});
    assert_eq!(ann.refused("task/conversation/create", all).await.0, -32007);
    let fits = json!({"taskId": task, "participants": crowd[1..]});
    let made = ann.done("task/conversation/create", fits).await;
    let one = json!({"taskId": task, "conversationId": made["conversation"]["id"],
        "agentId": crowd[0]});
    assert_eq!(ann.refused("task/conversation/participants/add", one).await.0, -32007);
    let wish = json!({"appId": super::client::DEFAULT_APP, "invitedAgentIds": crowd,
        "initialConversation": {}});
    assert_eq!(ann.refused("task/request", wish).await.0, -32007);
}
