//! `GET /guards`: the rows for each reader, and the effect of each named remedy.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

const BOTS: [&str; 2] = ["ada", "bob"];

/// Returns a thread in which two agents exchanged this number of messages.
async fn exchanged(server: &Server, times: usize) -> String {
    let thread = server.thread("mention_only").await;
    for bot in BOTS {
        server.invite(&thread, bot, "elsewhere").await;
    }
    server.say(&thread, "user", "talk").await;
    more(server, &thread, times).await;
    thread
}

async fn more(server: &Server, thread: &str, times: usize) {
    for n in 0..times {
        server.say(thread, BOTS[n % 2], &format!("@{} and {n}", BOTS[(n + 1) % 2])).await;
    }
}

fn rows(answer: &Value) -> Vec<(String, String)> {
    let word = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let all = answer["guards"].as_array().unwrap().iter();
    all.map(|row| (word(row, "guard"), word(row, "state"))).collect()
}

fn row<'a>(answer: &'a Value, guard: &str) -> &'a Value {
    let all = answer["guards"].as_array().unwrap();
    all.iter().find(|row| row["guard"] == guard).unwrap_or_else(|| panic!("{guard}: {answer}"))
}

async fn of(server: &Server, thread: &str) -> Value {
    let (status, answer) = server.get(&format!("/guards?thread={thread}")).await;
    assert_eq!(status, 200, "{answer}");
    answer
}

#[tokio::test]
async fn a_limit_is_near_and_then_held_and_the_notice_says_what_goes_on() {
    let server = Server::start().await;
    let thread = exchanged(&server, 14).await;
    assert!(rows(&of(&server, &thread).await).iter().all(|(guard, _)| guard != "exchanges"));
    more(&server, &thread, 1).await;
    let answer = of(&server, &thread).await;
    let near = row(&answer, "exchanges");
    assert_eq!(
        (&near["state"], &near["count"], &near["limit"]),
        (&json!("near"), &json!(15), &json!(20))
    );
    assert_eq!(near["thread"], json!(thread));
    more(&server, &thread, 5).await;
    let answer = of(&server, &thread).await;
    let hold = row(&answer, "hold");
    assert_eq!((&hold["state"], &hold["hold"]), (&json!("held"), &json!("exchanges")));
    let lift = json!({"by": "resume", "command": "/resume", "proof": true, "words_left": 6});
    assert_eq!(hold["lift"], lift);
    let events = server.events(&thread, "").await;
    let notice = events.iter().find(|event| event["content"]["code"] == "held").unwrap();
    assert_eq!(hold["since"], notice["ts"]);
    let text = notice["content"]["text"].as_str().unwrap();
    assert!(text.contains("/resume") && !text.contains("moothall"), "{text}");
    // The list of all guards has the same row.
    let (_, all) = server.get("/guards").await;
    assert_eq!(row(&all, "hold"), hold);
}

#[tokio::test]
async fn the_command_of_each_row_lifts_it() {
    let server = Server::start().await;
    let policy = json!({"name": "hybrid", "max_queued_messages": 4});
    let made = server.post("/threads", json!({"name": "busy", "policy": policy})).await.1;
    let thread = made["id"].as_str().unwrap().to_owned();
    server.invite(&thread, "ada", "elsewhere").await;
    server.control(&thread, json!({"pause": true})).await;
    server.control(&thread, json!({"mute": ["ada"]})).await;
    for person in ["ann", "cid", "dan"] {
        let invite = json!({"participant_id": person, "profile": {"client": "human"}});
        server.control(&thread, json!({"invite": invite})).await;
        server.say(&thread, person, "good morning").await;
    }
    let guards_in =
        |answer: &Value| rows(answer).into_iter().map(|(guard, _)| guard).collect::<Vec<_>>();
    let answer = of(&server, &thread).await;
    assert_eq!(guards_in(&answer)[..2], ["pause", "mute"], "{answer}");
    for guard in ["queue", "mute", "pause"] {
        let answer = of(&server, &thread).await;
        let command = row(&answer, guard)["lift"]["command"].clone();
        let path = format!("/threads/{thread}/commands");
        let (status, ran) =
            server.as_operator(Method::POST, &path, json!({"from": "user", "text": command})).await;
        assert_eq!(status, 200, "{command}: {ran}");
        let after = of(&server, &thread).await;
        assert!(!guards_in(&after).contains(&guard.to_owned()), "{command}: {after}");
    }
}

#[tokio::test]
async fn an_agent_is_told_what_holds_its_own_threads_and_nothing_that_lifts_it() {
    let server = Server::start().await;
    let (own, other) = (exchanged(&server, 20).await, exchanged(&server, 20).await);
    server.control(&own, json!({"mute": ["ada"]})).await;
    // The agent must not see the thread in which it does not take part.
    server.control(&other, json!({"uninvite": {"participant_id": "ada"}})).await;
    let token = async |threads: Value| {
        let mut wanted = json!({"principal": "ada", "kind": "agent"});
        if !threads.is_null() {
            wanted["threads"] = threads;
        }
        let made = server.as_operator(Method::POST, "/tokens", wanted).await.1;
        made["token"].as_str().unwrap().to_owned()
    };
    let (free, bound) = (token(Value::Null).await, token(json!([own])).await);
    for token in [&free, &bound] {
        let (status, answer) = server.with(token, Method::GET, "/guards", json!(null)).await;
        assert_eq!(status, 200, "{answer}");
        let expected = [("hold", "held"), ("mute", "refused")];
        assert_eq!(
            rows(&answer),
            expected.map(|(guard, state)| (guard.to_owned(), state.to_owned()))
        );
        for row in answer["guards"].as_array().unwrap() {
            assert_eq!((&row["lift"], &row["thread"]), (&Value::Null, &json!(own)), "{answer}");
        }
    }
    let path = format!("/guards?thread={other}");
    assert_eq!(server.with(&bound, Method::GET, &path, json!(null)).await.0, 404);
    let (status, answer) = server.with(&free, Method::GET, &path, json!(null)).await;
    assert_eq!((status, &answer["guards"]), (200, &json!([])));
}

#[tokio::test]
async fn what_cannot_be_listed_is_said() {
    let server = Server::start().await;
    for (query, status) in [
        ("thread=nosuch", 404),
        ("thread=01a2b3c4-0000-7000-8000-000000000000", 404),
        ("limit=0", 422),
        ("limit=1001", 422),
        ("state=held", 422),
    ] {
        let (found, answer) = server.get(&format!("/guards?{query}")).await;
        assert!(
            found == status && answer["error"]["code"].is_string(),
            "{query}: {found} {answer}"
        );
    }
    let (status, answer) = server.get("/guards?cursor=zzz&limit=1").await;
    assert_eq!((status, &answer["guards"], &answer["currency"]), (200, &json!([]), &json!("USD")));
}
