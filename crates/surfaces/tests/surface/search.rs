//! Search over HTTP: filters, pages, and results out of reach.

use serde_json::{Value, json};

use crate::server::Server;

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn search(server: &Server, query: &str, rest: &str) -> (u16, Value) {
    server.get(&format!("/search?q={}{rest}", encoded(query))).await
}

async fn places(server: &Server, query: &str) -> Vec<(String, u64)> {
    let (status, answer) = search(server, query, "").await;
    assert_eq!(status, 200, "{query}: {answer}");
    let place = |hit: &Value| {
        (hit["thread_name"].as_str().unwrap().to_owned(), hit["seq"].as_u64().unwrap())
    };
    answer["hits"].as_array().unwrap().iter().map(place).collect()
}

async fn named_thread(server: &Server, name: &str) -> String {
    let (_, thread) = server.post("/threads", json!({"name": name})).await;
    thread["id"].as_str().unwrap().into()
}

#[tokio::test]
async fn messages_are_found_with_their_place_and_words() {
    let server = Server::start().await;
    let thread = named_thread(&server, "Launch plan").await;
    let said = server.say(&thread, "user", "Shall we\n<b>deploy</b> on Friday?").await;
    let (status, answer) = search(&server, "DEPLOY from:user in:\"launch plan\"", "").await;
    assert_eq!((status, &answer["lag_events"], answer.get("next")), (200, &json!(0), None));
    let hit = json!({
        "thread": thread, "thread_name": "Launch plan", "id": said["id"], "seq": said["seq"], "ts": said["ts"], "from": "user",
        "snippet": [{"text": "Shall we <b>"}, {"text": "deploy", "matched": true}, {"text": "</b> on Friday?"}],
    });
    assert_eq!(answer["hits"], json!([hit]));
}

#[tokio::test]
async fn filters_take_ids_and_names() {
    let server = Server::start().await;
    let (plan, other) = (named_thread(&server, "Plan").await, named_thread(&server, "Other").await);
    let profile = json!({"client": "human", "nickname": "Ann Lee"});
    server.control(&plan, json!({"invite": {"participant_id": "ann-1", "profile": profile}})).await;
    server.say(&plan, "ann-1", "word here").await;
    server.say(&other, "user", "word there").await;
    let here = vec![("Plan".to_owned(), 3)];
    for query in [
        "from:ann-1",
        "word from:\"ann lee\"",
        "in:plan word",
        &format!("in:{plan} word"),
        "word from:ANN-1 after:2020-01-01",
    ] {
        assert_eq!(places(&server, query).await, here, "{query}");
    }
    assert_eq!(places(&server, "word in:plan in:other").await.len(), 2);
    assert_eq!(places(&server, "word before:2020-01-01").await, []);
}

#[tokio::test]
async fn pages_join() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for n in 0..5 {
        server.say(&thread, "user", &format!("word {n}")).await;
    }
    let mut read = Vec::new();
    let mut cursor = String::new();
    loop {
        let (_, page) = search(&server, "word", &format!("&limit=2{cursor}")).await;
        read.extend(
            page["hits"].as_array().unwrap().iter().map(|hit| hit["seq"].as_u64().unwrap()),
        );
        let Some(next) = page.get("next") else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(read, [6, 5, 4, 3, 2]);
}

#[tokio::test]
async fn hostile_queries_get_a_sentence_or_nothing() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.say(&thread, "user", "plain words").await;
    let long = "x".repeat(10_000);
    for query in
        ["", " ", "\"", "*", "%", "\"a", "from:", "before:soon", "in:nowhere", &long, "()", "in:%"]
    {
        let (status, answer) = search(&server, query, "").await;
        assert_eq!(
            (status, answer["error"]["code"].as_str()),
            (422, Some("invalid_query")),
            "{query:.40}"
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.ends_with('.') && message.len() < 200, "{message}");
    }
    for query in [
        "NEAR(a b)",
        "'; DROP TABLE events; --",
        "a*",
        "{rowid}: plain",
        "🚀",
        "会议",
        "plain OR nothing",
        "plain AND words NOT x",
    ] {
        let (status, answer) = search(&server, query, "").await;
        assert_eq!((status, &answer["hits"]), (200, &json!([])), "{query}");
    }
    assert_eq!(server.get("/search").await.0, 422);
    for rest in ["&limit=0", "&limit=101", "&limit=x", "&cursor=-1", "&cursor=1e9", "&as=%00"] {
        assert_eq!(search(&server, "plain", rest).await.0, 422, "{rest}");
    }
    assert_eq!(search(&server, "plain", "&cursor=9007199254740991").await.0, 200);
    assert_eq!(
        search(&server, "plain", "&cursor=9007199254740992").await.0,
        422,
        "some programs would read another number"
    );
}

#[tokio::test]
async fn what_was_not_said_to_all_is_not_found() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "echo", "echo").await;
    server.control(&thread, json!({"mute": {"targets": ["echo"]}})).await;
    server.refuse(&thread, json!({"from": "echo", "content": "the hidden plan"})).await;
    let kept = server
        .events(&thread, "")
        .await
        .iter()
        .any(|event| event.to_string().contains("the hidden plan"));
    assert!(kept, "the words are in the trace");
    assert_eq!(places(&server, "hidden").await, []);
}
