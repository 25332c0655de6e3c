//! Links between sessions over HTTP: created, listed, closed, refused.

use serde_json::{Value, json};

use crate::server::Server;

#[tokio::test]
async fn links_are_made_once_and_closed_for_all() {
    let (server, _stage) = Server::with_terminals().await;
    for name in ["ann", "ben", "cal"] {
        server.session(name).await;
    }
    let pair = json!({"members": [{"session": "ann", "number": 1, "role": "writer"}, {"session": "ben", "number": 2, "name": "Benjamin"}]});
    let (status, made) = server.post("/links", pair.clone()).await;
    assert_eq!((status, &made["link_state"]), (200, &json!("created")), "{made}");
    let members = &made["link"]["members"];
    assert_eq!(
        (&members[0]["name"], &members[0]["role"], &members[0]["number"]),
        (&json!("ann"), &json!("writer"), &json!(1))
    );
    assert_eq!((&members[1]["name"], &made["link"]["active"]), (&json!("Benjamin"), &json!(true)));
    let events = server.events(made["link"]["id"].as_str().unwrap(), "").await;
    let bound = events.iter().find(|event| event["content"].get("bind").is_some()).unwrap();
    assert_eq!(bound["content"]["bind"], "link:members", "and no key, which says nothing");
    let (_, again) = server.post("/links", pair).await;
    assert_eq!(
        (&again["link_state"], &again["link"]["id"]),
        (&json!("reused"), &made["link"]["id"])
    );
    let (_, three) =
        server.post("/links", json!({"members": [{"session": "ann"}, {"session": "ben"}, {"session": "cal"}], "title": "Three"})).await;
    assert_eq!(
        (&three["link_state"], &three["link"]["title"]),
        (&json!("created"), &json!("Three"))
    );

    let count = async |query: &str| {
        server.get(&format!("/links{query}")).await.1["links"].as_array().unwrap().len()
    };
    assert_eq!(
        (count("").await, count("?session=cal").await, count("?session=ann").await),
        (2, 1, 2)
    );
    let id = made["link"]["id"].as_str().unwrap();
    let (status, closed) = server.post(&format!("/links/{id}/close"), json!({})).await;
    assert_eq!(
        (status, &closed["link_state"], &closed["link"]["active"]),
        (200, &json!("closed"), &json!(false))
    );
    let (status, refused) = server.post(&format!("/links/{id}/close"), json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("link_not_found")));
    assert_eq!(count("").await, 1);
}

#[tokio::test]
async fn links_that_make_no_sense_are_refused() {
    let (server, _stage) = Server::with_terminals().await;
    server.session("ann").await;
    let cases = [
        (json!({}), 422, "invalid_field"),
        (json!({"members": [{"session": "ann"}]}), 422, "invalid_field"),
        (json!({"members": ["ann", "ben"]}), 422, "invalid_field"),
        (json!({"members": [{"session": "ann"}, {}]}), 422, "invalid_field"),
        (json!({"members": [{"session": "ann"}, {"session": "nobody"}]}), 404, "session_not_found"),
        (
            json!({"members": [{"session": "ann", "number": 0}, {"session": "ann"}]}),
            422,
            "invalid_field",
        ),
        (
            json!({"members": [{"session": "ann", "computer": "elsewhere"}, {"session": "ann"}]}),
            422,
            "unknown_field",
        ),
    ];
    for (body, status, code) in cases {
        let (got, refused) = server.post("/links", body.clone()).await;
        assert_eq!((got, &refused["error"]["code"]), (status, &json!(code)), "{body}");
    }
    for path in ["/links/nothing", "/links/..%2f"] {
        let (status, refused) = server.get(path).await;
        assert_eq!((status, &refused["error"]["code"]), (404, &json!("link_not_found")), "{path}");
    }
    let (status, refused) = server.get("/links?session=nobody").await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("session_not_found")));
}

#[tokio::test]
async fn who_makes_a_link_says_how_long_it_goes_on_without_a_person() {
    let (server, _stage) = Server::with_terminals().await;
    for name in ["ann", "ben", "cal"] {
        server.session(name).await;
    }
    let wish = |other: &str, limit: Value| {
        json!({"members": [{"session": "ann"}, {"session": other}],
            "max_exchanges_without_human": limit})
    };
    for limit in [json!(0), json!(201), json!(-1), json!("7")] {
        let (status, refused) = server.post("/links", wish("ben", limit)).await;
        assert_eq!((status, &refused["error"]["code"]), (422, &json!("invalid_field")));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("from 1 to 200"), "{message}");
    }
    for (other, limit, expected) in [("ben", json!(7), 7), ("cal", json!(null), 20)] {
        let (status, made) = server.post("/links", wish(other, limit)).await;
        assert_eq!(status, 200, "{made}");
        let id = made["link"]["id"].as_str().unwrap();
        let state = server.get(&format!("/threads/{id}/state")).await.1;
        assert_eq!(state["state"]["policy"]["max_exchanges_without_human"], expected, "{state}");
    }
}
