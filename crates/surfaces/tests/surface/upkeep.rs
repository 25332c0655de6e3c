//! Erased words, read marks, and the server's metrics.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, answer, every_type, soon};

const CANARY: &str = "canary-4471";

async fn redact(server: &Server, thread: &str, event: &Value, body: Value) -> (u16, Value) {
    server
        .as_operator(
            Method::POST,
            &format!("/threads/{thread}/events/{}/redact", event["id"].as_str().unwrap()),
            body,
        )
        .await
}

async fn text(server: &Server, path: &str) -> String {
    soon(soon(server.client.get(server.url(path)).send()).await.unwrap().text()).await.unwrap()
}

/// Sends a request of the operator with an idempotency key.
async fn keyed(server: &Server, path: &str, body: Value) -> (u16, Value) {
    let request = server
        .client
        .post(server.url(path))
        .bearer_auth(&server.key)
        .header("idempotency-key", "k1")
        .json(&body);
    answer(soon(request.send()).await.unwrap()).await
}

#[tokio::test]
async fn erased_words_are_gone_and_the_message_stays() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let said = server.say(&thread, "user", &format!("my password is {CANARY}")).await;
    server.say(&thread, "user", "the next one").await;
    let (status, answer) = redact(&server, &thread, &said, json!({})).await;
    assert_eq!((status, &answer["redacted"]), (200, &json!(true)), "{answer}");
    assert_eq!(
        (&answer["event"]["type"], &answer["event"]["content"]["seq"]),
        (&json!("notice"), &said["seq"])
    );

    let (_, page) = server.get(&every_type(&format!("/threads/{thread}/events"))).await;
    let now =
        page["events"].as_array().unwrap().iter().find(|event| event["id"] == said["id"]).unwrap();
    let mut expected = said.clone();
    expected["content"] = json!("");
    expected["meta"]["redacted"] = json!(true);
    assert_eq!(now, &expected);
    assert!(!page.to_string().contains(CANARY));
    let (_, found) = server.get(&format!("/search?q={CANARY}")).await;
    assert_eq!(found["hits"], json!([]));
    // A reader who resumes before the erased event also gets it without words.
    let mut resumed = server.stream(&format!("/threads/{thread}/events/stream?after=1")).await;
    assert_eq!(&resumed.event().await, now);
    assert_eq!(resumed.event().await["content"], "the next one");
}

#[tokio::test]
async fn only_people_erase_and_only_words() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.control(&thread, json!({"invite": {"participant_id": "bot", "profile": {"client": "stuck", "model": "m"}}})).await;
    let said = server.say(&thread, "user", "hello").await;
    let (status, refused) = redact(&server, &thread, &said, json!({"from": "bot"})).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("humans_only")));
    let (_, page) = server.get(&format!("/threads/{thread}/events?limit=1")).await;
    let (status, refused) = redact(&server, &thread, &page["events"][0], json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("nothing_to_erase")));
    let other = server.thread("mention_only").await;
    let theirs = server.say(&other, "user", "hello").await;
    for unknown in [
        &theirs,
        &json!({"id": "nonsense"}),
        &json!({"id": "018f0000-0000-7000-8000-000000000000"}),
    ] {
        let (status, refused) = redact(&server, &thread, unknown, json!({})).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (404, &json!("unknown_event")),
            "{unknown}"
        );
    }
    assert_eq!(server.say(&thread, "user", "still here").await["content"], "still here");
}

#[tokio::test]
async fn erasing_twice_is_erasing_once() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let said = server.say(&thread, "user", CANARY).await;
    let path = format!("/threads/{thread}/events/{}/redact", said["id"].as_str().unwrap());
    let first = keyed(&server, &path, json!({})).await;
    assert_eq!(keyed(&server, &path, json!({})).await, first);
    assert_eq!(
        server.as_operator(Method::POST, &path, json!({})).await,
        (200, json!({"redacted": true, "event": null}))
    );
    assert_eq!(
        keyed(&server, &path, json!({"from": "ann"})).await.0,
        200,
        "another sender's key is another key"
    );
    let (_, page) = server.get(&every_type(&format!("/threads/{thread}/events"))).await;
    assert_eq!(page["head"], 3);
}

/// An agent's kept text that a person published is erased in both places.
#[tokio::test]
async fn published_words_are_erased_where_they_came_from() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let invite = json!({"invite": {"participant_id": "bot", "profile": {"client": "outside", "model": "m"}}});
    server.control(&thread, invite).await;
    server.control(&thread, json!({"mute": {"targets": ["bot"]}})).await;
    let (_, refused) = server.refuse(&thread, json!({"from": "bot", "content": CANARY})).await;
    assert_eq!(refused["code"], "participant_muted");
    let (_, page) = server.get(&every_type(&format!("/threads/{thread}/events"))).await;
    let kept = page["events"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["content"]["event"] == "kept")
        .unwrap()
        .clone();
    let publish = format!("/threads/{thread}/kept/{}/publish", kept["seq"]);
    let (status, published) = server.post(&publish, json!({})).await;
    assert_eq!(status, 200, "{published}");
    let (status, _) = redact(&server, &thread, &published["event"], json!({})).await;
    assert_eq!(status, 200);
    let (_, page) = server.get(&every_type(&format!("/threads/{thread}/events"))).await;
    assert!(!page.to_string().contains(CANARY), "{page}");
    let (status, refused) = server.post(&publish, json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("erased")));
}

#[tokio::test]
async fn readers_know_what_is_new_to_them() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let first = server.say(&thread, "user", "one").await;
    server.say(&thread, "ann", "two").await;
    let entry = |list: &Value| list["threads"][0].clone();
    let (_, list) = server.get("/threads").await;
    assert_eq!((entry(&list).get("unread"), entry(&list).get("read")), (None, None));
    let (_, list) = server.get("/threads?as=ann").await;
    assert_eq!((&entry(&list)["read"], &entry(&list)["unread"]), (&json!(0), &json!(1)));

    let mark = |body: Value| {
        let request = server.client.put(server.url(&format!("/threads/{thread}/read"))).json(&body);
        async move {
            let answer = soon(request.send()).await.unwrap();
            (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
        }
    };
    let at = |read: u64, unread: u64| {
        (200, json!({"thread": thread, "reader": "ann", "read": read, "unread": unread}))
    };
    assert_eq!(mark(json!({"from": "ann", "seq": first["seq"]})).await, at(2, 0));
    assert_eq!(mark(json!({"from": "ann", "seq": 1})).await, at(2, 0), "a mark never goes back");
    assert_eq!(
        mark(json!({"from": "ann", "seq": 99})).await,
        at(3, 0),
        "nor past the newest event"
    );
    server.say(&thread, "user", "three").await;
    let (_, list) = server.get("/threads?as=ann").await;
    assert_eq!((&entry(&list)["read"], &entry(&list)["unread"]), (&json!(3), &json!(1)));
    for wrong in [
        json!({"from": "ann"}),
        json!({"seq": -1}),
        json!({"seq": 1.5}),
        json!({"seq": 1, "more": 1}),
        json!({"seq": 1, "from": "moothall"}),
    ] {
        let (status, answer) = mark(wrong.clone()).await;
        assert!((400..500).contains(&status), "{wrong}: {answer}");
    }
    assert_eq!(server.get("/threads?as=../x").await.0, 422);
}

/// Returns the value of the first line with this beginning.
fn value(page: &str, begin: &str) -> Option<f64> {
    let line = page.lines().find(|line| line.starts_with(begin))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[tokio::test]
async fn the_server_counts_and_names_nobody() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.control(&thread, json!({"invite": {"participant_id": "bot-canary", "profile": {"client": "echo", "model": "m"}}})).await;
    server.control(&thread, json!({"invite": {"participant_id": "sluggard", "profile": {"client": "stuck", "model": "m"}}})).await;
    let mut reading = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
    server.say(&thread, "user", &format!("@bot-canary {CANARY} @sluggard")).await;
    reading.until(|event| event["type"] == "message" && event["from"] == "bot-canary").await;
    server.get(&format!("/nothing/{CANARY}")).await;
    server.get(&format!("/threads/{CANARY}/state")).await;

    let page = text(&server, "/metrics").await;
    let expected = [
        ("moothall_turns_total{runtime=\"script\",outcome=\"spoke\"}", 1.0),
        ("moothall_turns_open{runtime=\"script\"}", 1.0),
        ("moothall_live_threads", 1.0),
        ("moothall_queue_length{queue=\"threads\"}", 0.0),
        ("moothall_queue_length{queue=\"log\"}", 0.0),
        ("moothall_sse_readers", 1.0),
        ("moothall_sse_resyncs_total", 0.0),
        ("moothall_http_requests_total{method=\"POST\",route=\"/threads\",status=\"200\"}", 1.0),
        (
            "moothall_http_requests_total{method=\"GET\",route=\"/threads/{id}/state\",status=\"404\"}",
            1.0,
        ),
        ("moothall_http_requests_total{method=\"GET\",route=\"none\",status=\"404\"}", 1.0),
    ];
    for (begin, wanted) in expected {
        assert_eq!(value(&page, begin), Some(wanted), "{begin} in\n{page}");
    }
    let appends = value(&page, "moothall_appends_total{result=\"ok\"}").unwrap();
    assert_eq!(value(&page, "moothall_append_seconds_count"), Some(appends));
    assert!(value(&page, "moothall_events_appended_total").unwrap() >= appends);
    for secret in [CANARY, "bot-canary", thread.as_str(), "sluggard"] {
        assert!(!page.contains(secret), "{secret} in\n{page}");
    }
    drop(reading);
}

/// Every line is valid for Prometheus: a comment, or a name, labels and a number.
#[tokio::test]
async fn the_numbers_are_in_the_format_of_prometheus() {
    let server = Server::start().await;
    server.thread("hybrid").await;
    let page = text(&server, "/metrics").await;
    let mut typed = Vec::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            typed.push(rest.split(' ').next().unwrap());
        } else if !line.starts_with("# HELP ") {
            let (name, number) = line.rsplit_once(' ').unwrap();
            assert!(number.parse::<f64>().is_ok(), "{line}");
            let name = name.split('{').next().unwrap();
            let family = ["_bucket", "_sum", "_count"]
                .iter()
                .find_map(|end| name.strip_suffix(end))
                .unwrap_or(name);
            assert!(typed.contains(&name) || typed.contains(&family), "{line} has no type");
        }
    }
    let bound = page.lines().filter(|line| line.starts_with("moothall_append_seconds_bucket"));
    let counts: Vec<f64> =
        bound.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    assert!(counts.len() > 5 && counts.is_sorted());
}

/// Every way to a deleted thread gives the same answer, listeners are notified, and a repetition
/// changes nothing.
#[tokio::test]
async fn a_deleted_thread_is_gone_for_everybody() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.control(&thread, json!({"invite": {"participant_id": "bot", "profile": {"client": "stuck", "model": "m"}}})).await;
    let said = server.say(&thread, "user", &format!("@bot {CANARY}")).await;
    let mut listening = server.stream(&format!("/threads/{thread}/events/stream")).await;
    let path = format!("/threads/{thread}");
    let (status, refused) = server.unproven(Method::DELETE, &path, json!({})).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (403, &json!("forbidden")),
        "a person has to prove who they are"
    );
    let (status, answer) = server.as_operator(Method::DELETE, &path, json!({})).await;
    assert_eq!(
        (status, &answer["deleted"], &answer["erased"]),
        (200, &json!(true), &json!(true)),
        "{answer}"
    );
    assert!(answer["backups"].as_str().unwrap().contains("still contain it"));

    let mut types = Vec::new();
    loop {
        let event = listening.event().await;
        types.push(event["type"].clone());
        if event["type"] == "thread.deleted" {
            break;
        }
    }
    assert!(types.contains(&json!("thread.archived")), "{types:?}");
    let event = said["id"].as_str().unwrap();
    for (method, rest, body) in [
        (Method::GET, "/events".to_owned(), json!({})),
        (Method::GET, "/events?before=3".to_owned(), json!({})),
        (Method::GET, "/events/stream".to_owned(), json!({})),
        (Method::GET, "/state".to_owned(), json!({})),
        (Method::GET, "/presence".to_owned(), json!({})),
        (Method::GET, "/turns".to_owned(), json!({})),
        (Method::POST, "/events".to_owned(), json!({"from": "user", "content": "hello?"})),
        (Method::POST, "/preview".to_owned(), json!({"content": "hello?"})),
        (Method::POST, "/presence".to_owned(), json!({"from": "user", "state": "typing"})),
        (Method::PUT, "/read".to_owned(), json!({"seq": 1})),
        (Method::POST, "/commands".to_owned(), json!({"from": "user", "text": "/unarchive"})),
        (Method::POST, "/stop".to_owned(), json!({})),
        (Method::POST, format!("/events/{event}/redact"), json!({})),
    ] {
        let (status, refused) =
            server.as_operator(method.clone(), &format!("{path}{rest}"), body).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (410, &json!("thread_deleted")),
            "{method} {rest}: {refused}"
        );
    }
    let (_, all) = server.get("/threads").await;
    assert!(!all.to_string().contains(&thread));
    assert_eq!(server.get(&format!("/search?q={CANARY}")).await.1["hits"], json!([]));
    assert_eq!(server.as_operator(Method::DELETE, &path, json!({})).await.0, 200);
    let (status, _) = server
        .as_operator(Method::DELETE, "/threads/01a2b3c4-0000-7000-8000-000000000000", json!({}))
        .await;
    assert_eq!(status, 404);
}
