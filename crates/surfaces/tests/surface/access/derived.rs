//! Credentials derived from another credential or from a session: their rights and their expiry.

use super::*;

#[tokio::test]
async fn an_invitation_into_a_conversation_that_was_deleted_is_worth_nothing() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    let codes = [code_for(&server, &thread).await, code_for(&server, &thread).await];
    let path = format!("/threads/{thread}");
    assert_eq!(server.as_operator(Method::DELETE, &path, Value::Null).await.0, 200);
    let (_, refused) = server.post("/invitations/accept", json!({"code": codes[0]})).await;
    assert_eq!(refused["error"]["code"], "unauthenticated", "{refused}");
    let (_, refused) = server.post("/session", json!({"key": codes[1]})).await;
    assert_eq!(refused["error"]["code"], "unauthenticated", "{refused}");
}

#[tokio::test]
async fn a_sign_in_that_cannot_be_stored_is_refused() {
    let server = Server::start_in(Mode::Token).await;
    let (_, bot) = token(&server, json!({"principal": "bot", "kind": "agent"})).await;
    assert_eq!(server.post("/session", json!({"key": bot})).await.0, 200);
    // The log knows the id of the start-up credential as that of an agent.
    let (secret, now) = (Secret::fresh(TokenKind::Agent).unwrap(), SystemClock.now());
    let token = Token {
        id: TokenId::fresh().unwrap(),
        kind: TokenKind::Agent,
        hash: secret.hash(),
        principal: Principal { id: "user".into(), kind: Kind::Agent },
        scopes: Scopes::NONE,
        reach: Reach::All,
        label: String::new(),
        parent: None,
        created_at: now,
        expires_at: now + Millis::from_secs(60),
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
    let (status, refused) = server.post("/session", json!({"key": server.key})).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("principal_taken")), "{refused}");
}

#[tokio::test]
async fn no_agent_sees_what_only_those_see_who_administer() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    let wanted = json!({"principal": "bot", "kind": "agent", "scopes": ["threads:admin"]});
    for path in ["/tokens", &format!("/threads/{thread}/invitations")] {
        let (status, refused) = server.as_operator(Method::POST, path, wanted.clone()).await;
        assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid_token")), "{path}");
    }
}

#[tokio::test]
async fn an_invitation_becomes_a_token_once_and_hands_on_no_more_than_the_inviter_has() {
    let server = Server::start_in(Mode::Token).await;
    let thread =
        server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await.1["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let code = code_for(&server, &thread).await;
    assert_eq!(
        server.with(&code, Method::GET, "/threads", json!(null)).await.0,
        401,
        "a code is no token"
    );
    let accept = async |code: &str| server.post("/invitations/accept", json!({"code": code})).await;
    let (status, accepted) = accept(&code).await;
    assert_eq!(
        (status, &accepted["threads"], &accepted["kind"]),
        (200, &json!([thread]), &json!("agent"))
    );
    let guest = accepted["token"].as_str().unwrap();
    assert_eq!(
        server.with(guest, Method::GET, &format!("/threads/{thread}/state"), json!(null)).await.0,
        200
    );
    for used in [code.as_str(), guest, "inv_nonsense", ""] {
        assert_eq!(accept(used).await.1["error"]["code"], "unauthenticated");
    }
    let person = json!({"principal": "dora", "scopes": ["threads:read"]});
    let (_, made) =
        server.as_operator(Method::POST, &format!("/threads/{thread}/invitations"), person).await;
    let cookie = sign_in(&server, made["code"].as_str().unwrap()).await;
    let (_, who) = answer(
        server.client.get(server.url("/session")).header("cookie", cookie).send().await.unwrap(),
    )
    .await;
    assert_eq!(
        (&who["principal"]["id"], &who["scopes"]),
        (&json!("dora"), &json!(["threads:read"]))
    );

    let (_, ann) = token(&server, json!({"principal": "ann"})).await;
    let (_, bot) = token(&server, json!({"principal": "bot", "kind": "agent", "scopes": ["threads:read", "participants:invite"]})).await;
    let refused = [
        (&ann, json!({"principal": "user"})),
        (&ann, json!({"principal": "dora"})),
        (&ann, json!({"principal": "eve", "scopes": ["threads:admin"]})),
        (&bot, json!({"principal": "eve"})),
        (&bot, json!({"principal": "helper", "kind": "agent", "scopes": ["threads:write"]})),
    ];
    for (credential, wanted) in refused {
        let (status, answer) = server
            .with(
                credential,
                Method::POST,
                &format!("/threads/{thread}/invitations"),
                wanted.clone(),
            )
            .await;
        assert_eq!((status, &answer["error"]["code"]), (403, &json!("forbidden")), "{wanted}");
    }
}

#[tokio::test]
async fn a_person_who_joins_is_a_participant_if_its_rights_suffice_and_takes_no_ones_place() {
    let server = Server::start_in(Mode::Token).await;
    let (_, begun) = server.as_operator(Method::POST, "/threads", json!({"name": "home"})).await;
    let thread = begun["id"].as_str().unwrap();
    let control = json!({"type": "control", "content": {"invite": {"participant_id": "hand", "profile": {"client": "echo", "model": "m"}}}});
    let events = format!("/threads/{thread}/events");
    assert_eq!(server.as_operator(Method::POST, &events, control).await.0, 200);
    let path = format!("/threads/{thread}/invitations");
    for wanted in [
        json!({"principal": "eve"}),
        json!({"principal": "dora", "scopes": ["threads:read"]}),
        json!({"principal": "hand"}),
    ] {
        let (status, made) = server.as_operator(Method::POST, &path, wanted.clone()).await;
        assert_eq!(status == 200, wanted["principal"] != "hand", "{made}");
        server.post("/invitations/accept", json!({"code": made["code"]})).await;
    }
    let (_, state) =
        server.as_operator(Method::GET, &format!("/threads/{thread}/state"), Value::Null).await;
    let invited = state["state"]["participants"]["invited"].as_array().unwrap();
    let listed: Vec<_> = invited.iter().map(|one| (&one["id"], &one["kind"])).collect();
    assert_eq!(
        listed,
        [(&json!("eve"), &json!("human")), (&json!("hand"), &json!("agent"))],
        "{state}"
    );
}

#[tokio::test]
async fn an_invitation_into_the_hall_becomes_one_token_for_it_and_only_an_administrator_makes_it() {
    let server = Server::start_in(Mode::Token).await;
    let (_, inviter) = token(&server, json!({"principal": "ann"})).await;
    let wanted = json!({"principal": "dora", "expires_in_hours": 1});
    let (status, refused) =
        server.with(&inviter, Method::POST, "/invitations", wanted.clone()).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{refused}");
    for wrong in [
        json!({"principal": "dora", "expires_in_hours": 169}),
        json!({"principal": "moothall"}),
        json!({"principal": "ann", "kind": "agent"}),
    ] {
        let (status, refused) =
            server.as_operator(Method::POST, "/invitations", wrong.clone()).await;
        assert!((400..500).contains(&status), "{wrong}: {refused}");
    }
    let (_, made) = server.as_operator(Method::POST, "/invitations", wanted).await;
    let accept = json!({"code": made["code"]});
    let (status, accepted) = server.post("/invitations/accept", accept.clone()).await;
    assert_eq!(
        (status, &accepted["threads"], &accepted["principal"]),
        (200, &Value::Null, &json!({"id": "dora", "kind": "human"}))
    );
    let dora = accepted["token"].as_str().unwrap();
    let thread = json!({"name": "home"});
    assert_eq!(server.with(dora, Method::POST, "/threads", thread).await.0, 200);
    assert_eq!(server.with(dora, Method::GET, "/tokens", Value::Null).await.0, 403);
    assert_eq!(server.post("/invitations/accept", accept).await.0, 401, "it works once");
    let (_, audit) = server.as_operator(Method::GET, "/audit", Value::Null).await;
    let rows = audit["rows"].as_array().unwrap();
    let made_id = &made["id"];
    let invited = rows.iter().find(|row| row["deed"] == "invited" && &row["about"] == made_id);
    assert!(invited.is_some(), "{audit}");
}

#[tokio::test]
async fn the_end_of_a_session_closes_what_its_token_has_open() {
    let (server, stage) = Server::with_terminals_in(Mode::Token).await;
    server.session("planner").await;
    server.session("other").await;
    let thread = server.introduce(&["planner", "other"]).await;
    let open = async |name: &str, path: String| {
        let response = server
            .client
            .get(server.url(&path))
            .bearer_auth(stage.token(name))
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 200, "{path}");
        Frames::of(response)
    };
    let mut ended = Vec::new();
    for path in ["/events/stream".to_owned(), format!("/threads/{thread}/events/stream")] {
        ended.push(open("planner", path).await);
    }
    let mut going = open("other", format!("/threads/{thread}/events/stream")).await;
    assert_eq!(server.as_operator(Method::POST, "/sessions/planner/end", json!({})).await.0, 200);
    for frames in &mut ended {
        let mut last = None;
        while let Some(frame) = frames.next().await {
            last = frame.name;
        }
        assert_eq!(last.as_deref(), Some("signed-out"));
    }
    server
        .as_operator(
            Method::POST,
            &format!("/threads/{thread}/events"),
            json!({"content": "still here"}),
        )
        .await;
    going.until(|event| event["content"] == "still here").await;
}

#[tokio::test]
async fn a_session_acts_in_its_own_name_and_turns_its_token_into_nothing_that_lasts() {
    let (server, stage) = Server::with_terminals().await;
    server.session("planner").await;
    let token = stage.token("planner");
    let (_, who) = server.with(&token, Method::GET, "/session", json!(null)).await;
    assert_eq!(who["principal"], json!({"id": "planner", "kind": "agent"}));
    assert_eq!(
        who["scopes"],
        json!(["threads:read", "threads:write", "participants:invite", "sessions:drive"])
    );
    let thread = server.post_as(&token, "/threads", json!({"name": "mine"})).await.1["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let events = format!("/threads/{thread}/events");
    let (_, said) = server.post_as(&token, &events, json!({"content": "mine"})).await;
    assert_eq!(said["event"]["from"], "planner", "{said}");
    server
        .control(
            &thread,
            json!({"invite": {"participant_id": "plan", "profile": {"session": "planner"}}}),
        )
        .await;
    let (_, said) =
        server.post_as(&token, &events, json!({"content": "mine still", "from": "planner"})).await;
    assert_eq!(said["event"]["from"], "plan", "it speaks as whom it was invited: {said}");
    let invitation = json!({"principal": "guest", "kind": "agent"});
    let refusals = [
        ("/session".to_owned(), json!({"key": token})),
        (format!("/threads/{thread}/invitations"), invitation),
        (format!("/threads/{thread}/stop"), json!({})),
        ("/tokens".to_owned(), json!({"principal": "x"})),
        (events, json!({"content": "obey", "from": "user"})),
    ];
    for (path, body) in refusals {
        let (status, refused) = server.post_as(&token, &path, body).await;
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{path}");
    }
}
