//! Credentials: their owners, their validity, and their audit records. For the rights of each:
//! `matrix.rs`.

use std::collections::BTreeSet;

use moothall_engine::access::{
    AuditAction, AuditEntry, Mode, Principal, Principals, Reach, Scopes, Secret, Token, TokenId,
    TokenKind,
};
use moothall_engine::ports::{Clock, SystemClock};
use moothall_kernel::participant::Kind;
use moothall_kernel::time::Millis;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::matrix::code_for;
use crate::server::{Frames, Server, answer, every_type, soon};

mod derived;

/// Creates a token as an administrator; returns its id and the token.
pub async fn token(server: &Server, wanted: Value) -> (String, String) {
    let (status, made) = server.as_operator(Method::POST, "/tokens", wanted).await;
    assert_eq!(status, 200, "{made}");
    (made["id"].as_str().unwrap().into(), made["token"].as_str().unwrap().into())
}

/// Returns a token that expired a second ago.
pub async fn expired(server: &Server) -> String {
    let (secret, now) = (Secret::fresh(TokenKind::Personal).unwrap(), SystemClock.now());
    let token = Token {
        id: TokenId::fresh().unwrap(),
        kind: TokenKind::Personal,
        hash: secret.hash(),
        principal: Principal { id: "late".into(), kind: Kind::Human },
        scopes: Scopes::ALL,
        reach: Reach::All,
        label: String::new(),
        parent: None,
        created_at: now - Millis::from_secs(60),
        expires_at: now - Millis::from_secs(1),
        last_used_at: None,
        revoked_at: None,
    };
    let entry = AuditEntry {
        at: now,
        action: AuditAction::TokenCreated,
        by: None,
        token: None,
        about: None,
        detail: String::new(),
    };
    server.log.add_token(&token, &entry).await.unwrap();
    secret.reveal().into()
}

#[tokio::test]
async fn a_token_speaks_in_its_own_name_and_attempts_at_others_are_recorded() {
    let server = Server::start_in(Mode::Token).await;
    let thread =
        server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let (id, agent) =
        token(&server, json!({"principal": "critic", "kind": "agent", "threads": [thread]})).await;
    let events = format!("/threads/{thread}/events");
    for claimed in ["user", "admin"] {
        let (status, refused) = server
            .with(&agent, Method::POST, &events, json!({"from": claimed, "content": "obey"}))
            .await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{claimed}");
        let rows =
            server.as_operator(Method::GET, "/audit?limit=1", json!(null)).await.1["rows"].clone();
        let row = &rows[0];
        assert_eq!(
            (&row["deed"], &row["by"], &row["token"]),
            (&json!("denied"), &json!("critic"), &json!(id)),
            "{row}"
        );
        assert_eq!(row["detail"], format!("POST /threads/{{id}}/events: as {claimed}"));
    }
    for from in [json!({"content": "mine"}), json!({"content": "mine", "from": "critic"})] {
        let (status, accepted) = server.with(&agent, Method::POST, &events, from).await;
        assert_eq!((status, &accepted["event"]["from"]), (200, &json!("critic")), "{accepted}");
    }
    let (_, said) = server
        .with(
            &server.key,
            Method::POST,
            &events,
            json!({"content": "for critic", "from": "critic"}),
        )
        .await;
    assert_eq!(said["event"]["from"], "critic");
    let (_, ann) = token(&server, json!({"principal": "ann"})).await;
    let (status, said) =
        server.with(&ann, Method::POST, &events, json!({"content": "hello"})).await;
    assert_eq!((status, &said["event"]["from"]), (200, &json!("ann")), "{said}");
}

#[tokio::test]
async fn what_is_no_credential_is_refused_in_the_same_words() {
    let server = Server::start_in(Mode::Token).await;
    let (_, good) = token(&server, json!({"principal": "ann"})).await;
    let old = expired(&server).await;
    let unknown = Secret::fresh(TokenKind::Personal).unwrap();
    let wrong = if good.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{wrong}", &good[..good.len() - 1]);
    let host = format!("Host: localhost:{}", server.address.port());
    let headers = [
        String::new(),
        format!("authorization: bearer {good}\r\n"),
        format!("authorization: Basic {good}\r\n"),
        format!("authorization: {good}\r\n"),
        format!("authorization: Bearer {good}\r\nauthorization: Bearer {good}\r\n"),
        format!("authorization: Bearer {}\r\n", good.repeat(100)),
        format!("authorization: Bearer {old}\r\n"),
        format!("authorization: Bearer {}\r\n", unknown.reveal()),
        format!("authorization: Bearer {mistyped}\r\n"),
        "authorization: Bearer \r\n".into(),
        format!("cookie: moothall={good}\r\n"),
        "x-forwarded-user: user\r\nx-forwarded-for: 127.0.0.1\r\nx-forwarded-proto: https\r\n"
            .into(),
    ];
    let mut words = BTreeSet::new();
    for header in headers {
        let request = format!(
            "GET /threads?token={good}&access_token={good} HTTP/1.1\r\n{host}\r\n{header}Connection: close\r\n\r\n"
        );
        let (status, text) = server.raw(request).await;
        assert_eq!(status, 401, "{header}: {text}");
        assert!(text.contains("www-authenticate: Bearer"), "{text}");
        words.insert(text.split("\r\n\r\n").nth(1).unwrap().to_owned());
    }
    assert_eq!(words.len(), 1, "{words:?}");
    let request = format!(
        "GET /threads HTTP/1.1\r\n{host}\r\nauthorization: Bearer {good}\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(server.raw(request).await.0, 200);
}

/// Signs a browser in; returns its cookie as the browser sends it.
pub async fn sign_in(server: &Server, key: &str) -> String {
    let response =
        server.client.post(server.url("/session")).json(&json!({"key": key})).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let set = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    for part in ["Path=/", "HttpOnly", "SameSite=Strict"] {
        assert!(set.contains(part), "{set}");
    }
    assert!(!set.contains(key) && !set.contains("Secure"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_cookie_changes_nothing_without_the_header_and_the_origin_of_a_page_of_ours() {
    let server = Server::start_in(Mode::Token).await;
    let cookie = sign_in(&server, &server.key).await;
    let own = server.url("");
    let create = |headers: &[(&'static str, &str)]| {
        let mut request =
            server.client.post(server.url("/threads")).json(&json!({})).header("cookie", &cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request
    };
    let refused: [&[(&str, &str)]; 5] = [
        &[],
        &[("x-moothall", "1")],
        &[("origin", &own)],
        &[("x-moothall", "0"), ("origin", &own)],
        &[("x-moothall", "1"), ("origin", "http://evil.test")],
    ];
    for headers in refused {
        assert_eq!(create(headers).send().await.unwrap().status(), 403, "{headers:?}");
    }
    assert_eq!(
        create(&[("x-moothall", "1"), ("origin", &own)]).send().await.unwrap().status(),
        200
    );
    let reads = async || {
        server
            .client
            .get(server.url("/threads"))
            .header("cookie", &cookie)
            .send()
            .await
            .unwrap()
            .status()
    };
    assert_eq!(reads().await, 200);
    let end = server
        .client
        .post(server.url("/session/end"))
        .header("cookie", &cookie)
        .header("x-moothall", "1")
        .header("origin", &own);
    let ended = end.send().await.unwrap();
    assert!(ended.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(ended.json::<Value>().await.unwrap(), json!({"ended": true}));
    assert_eq!(reads().await, 401);
}

#[tokio::test]
async fn who_asks_is_told_who_they_are() {
    let server = Server::start_in(Mode::Local).await;
    let (_, nobody) = server.get("/session").await;
    assert_eq!((&nobody["mode"], &nobody["principal"]), (&json!("local"), &json!(null)));
    let scopes = nobody["scopes"].as_array().unwrap();
    assert!(
        !scopes.contains(&json!("permissions:answer")) && !scopes.contains(&json!("server:admin"))
    );
    let (_, operator) = server.as_operator(Method::GET, "/session", json!(null)).await;
    assert_eq!(operator["principal"], json!({"id": "user", "kind": "human"}));
    assert_eq!(server.with("boot_wrong", Method::GET, "/session", json!(null)).await.0, 401);
}

#[tokio::test]
async fn a_revoked_token_closes_what_it_has_open() {
    let server = Server::start_in(Mode::Token).await;
    let thread =
        server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let (id, ann) = token(&server, json!({"principal": "ann"})).await;
    let (_, other) = token(&server, json!({"principal": "bob"})).await;
    let cookie = sign_in(&server, &ann).await;
    let stream = format!("/threads/{thread}/events/stream");
    let open = async |request: RequestBuilder| Frames::of(soon(request.send()).await.unwrap());
    let get = |path: &str| server.client.get(server.url(path));
    let mut lost = vec![
        open(get(&stream).bearer_auth(&ann)).await,
        open(get("/events/stream").bearer_auth(&ann)).await,
        open(get(&stream).header("cookie", &cookie)).await,
    ];
    let mut kept = open(get(&stream).bearer_auth(&other)).await;
    let (_, revoked) =
        server.as_operator(Method::POST, &format!("/tokens/{id}/revoke"), json!({})).await;
    assert_eq!((&revoked["revoked"], &revoked["changed"]), (&json!(true), &json!(true)));
    assert_eq!(revoked["ids"].as_array().unwrap().len(), 2, "the token and the browser: {revoked}");
    for frames in &mut lost {
        assert_eq!(frames.next().await.unwrap().name.as_deref(), Some("signed-out"));
        assert_eq!(frames.next().await, None);
    }
    let (_, again) =
        server.as_operator(Method::POST, &format!("/tokens/{id}/revoke"), json!({})).await;
    assert_eq!(again["changed"], false);
    server
        .with(
            &other,
            Method::POST,
            &format!("/threads/{thread}/events"),
            json!({"content": "still here"}),
        )
        .await;
    assert_eq!(kept.event().await["content"], "still here");
    assert_eq!(server.with(&ann, Method::GET, "/threads", json!(null)).await.0, 401);
}

#[tokio::test]
async fn a_token_for_one_conversation_meets_no_other() {
    let server = Server::start_in(Mode::Token).await;
    let mut threads = Vec::new();
    for name in ["secret plan", "open house"] {
        let id = server.as_operator(Method::POST, "/threads", json!({"name": name})).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let said = json!({"from": "user", "content": format!("rockets of the {name}")});
        assert_eq!(
            server.as_operator(Method::POST, &format!("/threads/{id}/events"), said).await.0,
            200
        );
        threads.push(id);
    }
    let (_, bound) =
        token(&server, json!({"principal": "echo", "kind": "agent", "threads": [threads[1]]}))
            .await;
    let read = async |path: &str| server.with(&bound, Method::GET, path, json!(null)).await.1;
    for path in ["/threads", "/threads?limit=1", "/threads?limit=1&after=0"] {
        let listed = read(path).await["threads"].clone();
        let names: Vec<&str> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|thread| thread["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["open house"], "{path}");
    }
    let found = read("/search?q=rockets").await;
    assert!(
        found["hits"].as_array().unwrap().iter().all(|hit| hit["thread"] == threads[1].as_str()),
        "{found}"
    );
    for within in ["in:%22secret%20plan%22", &format!("in:{}", threads[0]), "in:nowhere"] {
        assert_eq!(
            read(&format!("/search?q=rockets%20{within}")).await["error"]["code"],
            "invalid_query",
            "{within}"
        );
    }
    let unknown =
        read("/threads/00000000-0000-7000-8000-000000000000/state").await["error"].clone();
    let hidden = read(&format!("/threads/{}/state", threads[0])).await["error"].clone();
    assert_eq!(
        (&hidden["code"], &unknown["code"]),
        (&json!("thread_not_found"), &json!("thread_not_found"))
    );
    let encoded = format!("/threads/%{:02x}{}/state", threads[0].as_bytes()[0], &threads[0][1..]);
    assert_eq!(read(&encoded).await["error"]["code"], "thread_not_found");
    let request = server.client.get(server.url("/events/stream")).bearer_auth(&bound);
    let mut changes = Frames::of(soon(request.send()).await.unwrap());
    for thread in &threads {
        server
            .as_operator(
                Method::POST,
                &format!("/threads/{thread}/events"),
                json!({"from": "user", "content": "ring"}),
            )
            .await;
    }
    assert_eq!(changes.next().await.unwrap().data["thread"], threads[1].as_str());
}

#[tokio::test]
async fn the_trace_is_for_operators() {
    let server = Server::start_in(Mode::Token).await;
    let thread = server
        .as_operator(Method::POST, "/threads", json!({"name": "home", "policy": "hybrid"}))
        .await
        .1["id"]
        .clone();
    let thread = thread.as_str().unwrap();
    let invite = json!({"type": "control", "from": "user", "content": {"invite": {"participant_id": "quiet", "profile": {"client": "quiet", "model": "m"}}}});
    let events = format!("/threads/{thread}/events");
    assert_eq!(server.as_operator(Method::POST, &events, invite).await.0, 200);
    server.as_operator(Method::POST, &events, json!({"from": "user", "content": "anybody?"})).await;
    let (_, ann) = token(&server, json!({"principal": "ann"})).await;
    let (_, admin) =
        token(&server, json!({"principal": "ada", "scopes": ["threads:read", "threads:admin"]}))
            .await;
    let types = async |credential: &str| {
        let page = server.with(credential, Method::GET, &every_type(&events), json!(null)).await.1;
        page["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert!(types(&admin).await.contains("turn"));
    assert!(!types(&ann).await.contains("turn"));
    assert_eq!(
        server.with(&ann, Method::GET, &format!("{events}?as=quiet"), json!(null)).await.0,
        403
    );
    assert_eq!(
        server.with(&admin, Method::GET, &format!("{events}?as=quiet"), json!(null)).await.0,
        200
    );
}

#[tokio::test]
async fn a_token_is_shown_once_and_to_nobody_else() {
    let server = Server::start_in(Mode::Local).await;
    let request = json!({"principal": "ann", "label": "laptop", "expires_in_days": 30});
    let made = async |key: &str, body: &Value| {
        let request = server
            .client
            .post(server.url("/tokens"))
            .bearer_auth(&server.key)
            .header("idempotency-key", key)
            .json(body);
        answer(soon(request.send()).await.unwrap()).await
    };
    let (_, first) = made("k", &request).await;
    let secret = first["token"].as_str().unwrap();
    assert!(secret.starts_with("pat_"));
    assert_eq!(made("k", &request).await.1["error"]["code"], "token_shown");
    assert_eq!(
        made("k", &json!({"principal": "bob"})).await.1["error"]["code"],
        "idempotency_key_reused"
    );
    server.with(secret, Method::GET, "/threads", json!(null)).await;
    for path in ["/tokens", "/audit", "/session"] {
        let (status, answer) = server.as_operator(Method::GET, path, json!(null)).await;
        let text = answer.to_string();
        assert!(
            status == 200 && !text.contains(secret) && !text.contains(&server.key),
            "{path}: {text}"
        );
    }
    let (_, list) = server.as_operator(Method::GET, "/tokens", json!(null)).await;
    assert_eq!(
        (&list["tokens"][0]["label"], &list["tokens"][0]["principal"]["id"]),
        (&json!("laptop"), &json!("ann"))
    );
    assert!(list["tokens"][0]["last_used_at"].is_string());
}

#[tokio::test]
async fn tokens_that_cannot_be_are_refused_with_the_way_forward() {
    let server = Server::start_in(Mode::Local).await;
    assert_eq!(
        server.as_operator(Method::POST, "/tokens", json!({"principal": "ann"})).await.0,
        200
    );
    let refused = [
        (json!({}), 422, "invalid_field"),
        (json!({"principal": "ann", "kind": "agent"}), 409, "principal_taken"),
        (json!({"principal": "a b"}), 422, "invalid_participant"),
        (json!({"principal": "moothall"}), 422, "invalid_participant"),
        (json!({"principal": "user", "kind": "agent"}), 422, "invalid_token"),
        (
            json!({"principal": "bot", "kind": "agent", "scopes": ["permissions:answer"]}),
            422,
            "invalid_token",
        ),
        (json!({"principal": "bot", "kind": "robot"}), 422, "invalid_field"),
        (json!({"principal": "bob", "scopes": ["files:read"]}), 422, "invalid_field"),
        (json!({"principal": "bob", "scopes": []}), 422, "invalid_token"),
        (json!({"principal": "bob", "threads": []}), 422, "invalid_field"),
        (json!({"principal": "bob", "threads": ["nowhere"]}), 404, "thread_not_found"),
        (json!({"principal": "bob", "expires_in_days": 0}), 422, "invalid_field"),
        (json!({"principal": "bob", "token": "pat_mine"}), 422, "unknown_field"),
    ];
    for (body, status, code) in refused {
        let (got, answer) = server.as_operator(Method::POST, "/tokens", body.clone()).await;
        assert_eq!((got, &answer["error"]["code"]), (status, &json!(code)), "{body}: {answer}");
    }
}

#[tokio::test]
async fn a_guard_is_lifted_by_nobody_who_cannot_show_a_credential() {
    let server = Server::start_in(Mode::Local).await;
    let policy = json!({"name": "open", "max_exchanges_without_human": 2});
    let thread = server.post("/threads", json!({"name": "loop", "policy": policy})).await.1["id"]
        .as_str()
        .unwrap()
        .to_owned();
    server.invite(&thread, "ping", "ping").await;
    server.invite(&thread, "pong", "pong").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
    server.say(&thread, "user", "@ping begin").await;
    stream.until(|event| event["type"] == "notice").await;
    assert!(server.state(&thread).await["held"].is_string());
    let resume = json!({"type": "control", "from": "user", "content": {"resume": true}});
    let slash = json!({"text": "/resume"});
    let (events, commands) =
        (format!("/threads/{thread}/events"), format!("/threads/{thread}/commands"));
    for (path, body) in [(&events, &resume), (&commands, &slash)] {
        let (status, refused) = server.post(path, body.clone()).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("needs_proof")), "{path}");
        assert!(
            refused["error"]["message"].as_str().unwrap().contains("moothall serve"),
            "{refused}"
        );
    }
    assert!(server.state(&thread).await["held"].is_string());
    assert_eq!(server.as_operator(Method::POST, &events, resume.clone()).await.0, 200);
    server.control(&thread, json!({"pause": {"on": true}})).await;
    server.control(&thread, json!({"pause": {"on": false}})).await;
}

#[tokio::test]
async fn a_key_is_its_senders_own() {
    let server = Server::start_in(Mode::Token).await;
    let thread =
        server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let path = server.url(&format!("/threads/{thread}/events"));
    let mut ids = BTreeSet::new();
    for principal in ["ann", "ben", "ann"] {
        let (_, token) = token(&server, json!({"principal": principal})).await;
        let request = server
            .client
            .post(&path)
            .bearer_auth(token)
            .header("idempotency-key", "one")
            .json(&json!({"content": "mine"}));
        let (status, said) = answer(request.send().await.unwrap()).await;
        assert_eq!((status, &said["event"]["from"]), (200, &json!(principal)), "{said}");
        ids.insert(said["event"]["id"].to_string());
    }
    assert_eq!(ids.len(), 2, "one for each of them, and the same again for who asks again");
}

#[tokio::test]
async fn no_agent_comes_to_be_called_like_a_person_or_the_server_and_one_that_is_keeps_its_name() {
    for mode in [Mode::Local, Mode::Token] {
        let server = Server::start_in(mode).await;
        let thread = server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1
            ["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let invitations = format!("/threads/{thread}/invitations");
        for name in [
            "admin", "Operator", "root", "moothall", "0perator", "M00thall", "server", "you",
            "null",
        ] {
            for path in ["/tokens", &invitations] {
                let (status, refused) = server
                    .as_operator(Method::POST, path, json!({"principal": name, "kind": "agent"}))
                    .await;
                assert_eq!(
                    (status, &refused["error"]["code"]),
                    (422, &json!("invalid_participant")),
                    "{path} {name}: {refused}"
                );
            }
        }
        assert_eq!(
            server
                .as_operator(Method::POST, "/tokens", json!({"principal": "user", "kind": "agent"}))
                .await
                .0,
            422
        );
        for name in ["a11", "adminer-bot", "admin-2", "rooter", "Ian"] {
            token(&server, json!({"principal": name, "kind": "agent"})).await;
        }
        token(&server, json!({"principal": "admin", "kind": "human"})).await;

        // This principal is older than the rule.
        let (secret, now) = (Secret::fresh(TokenKind::Agent).unwrap(), SystemClock.now());
        let (principal, until) =
            (Principal { id: "operator".into(), kind: Kind::Agent }, now + Millis::from_secs(60));
        let old = Token {
            id: TokenId::fresh().unwrap(),
            kind: TokenKind::Agent,
            hash: secret.hash(),
            principal: principal.clone(),
            scopes: Scopes::ALL,
            reach: Reach::All,
            label: String::new(),
            parent: None,
            created_at: now,
            expires_at: until,
            last_used_at: None,
            revoked_at: None,
        };
        let entry = AuditEntry {
            at: now,
            action: AuditAction::TokenCreated,
            by: None,
            token: None,
            about: None,
            detail: String::new(),
        };
        server.log.add_token(&old, &entry).await.unwrap();
        let (_, again) = token(&server, json!({"principal": "operator", "kind": "agent"})).await;
        for credential in [secret.reveal(), &again] {
            let me = server.with(credential, Method::GET, "/session", json!(null)).await;
            assert_eq!((me.0, &me.1["principal"]["id"]), (200, &json!("operator")), "{}", me.1);
        }
    }
}

#[tokio::test]
async fn a_request_that_is_repeated_at_the_limit_of_an_agent_gets_its_first_answer() {
    let server = Server::start_in(Mode::Token).await;
    let (_, bot) = token(&server, json!({"principal": "bot", "kind": "agent"})).await;
    let begin = async |key: &str, body: Value| {
        let request = server.client.post(server.url("/threads")).bearer_auth(&bot);
        answer(request.header("idempotency-key", key).json(&body).send().await.unwrap()).await
    };
    let named = |number: usize| (number.to_string(), json!({"name": format!("talk {number}")}));
    let (key, body) = named(0);
    let (_, first) = begin(&key, body.clone()).await;
    // Neither a repetition nor a request that is refused counts.
    assert_eq!(begin(&key, body.clone()).await.1["id"], first["id"]);
    let gathering = json!({"name": "talk", "policy": "talking_piece"});
    assert_eq!(begin("gathering", gathering).await.0, 409);
    for number in 1..20 {
        let (key, body) = named(number);
        let (status, begun) = begin(&key, body).await;
        assert_eq!(status, 200, "{number}: {begun}");
    }
    let (late, other) = named(20);
    assert_eq!(begin(&late, other.clone()).await.0, 403);
    let (status, again) = begin(&key, body).await;
    assert_eq!((status, &again["id"]), (200, &first["id"]), "{again}");
    assert_eq!(begin(&key, other).await.1["error"]["code"], "idempotency_key_reused");
}
