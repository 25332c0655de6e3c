//! The usage of turns, and the rights to see it and to raise budgets.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::Server;

async fn spoken_in(server: &Server, words: &str) -> String {
    let thread = server.thread("mention_only").await;
    server.control(&thread, json!({"invite": {"participant_id": "bot", "profile": {"client": "echo", "model": "m"}}})).await;
    let mut reading = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
    server.say(&thread, "user", &format!("@bot {words}")).await;
    reading.until(|event| event["type"] == "message" && event["from"] == "bot").await;
    thread
}

fn turns(rows: &Value, key: &str) -> Vec<(String, u64)> {
    let row = |row: &Value| (row[key].as_str().unwrap().to_owned(), row["turns"].as_u64().unwrap());
    rows.as_array().unwrap().iter().map(row).collect()
}

#[tokio::test]
async fn sums_are_those_of_what_the_caller_reaches() {
    let server = Server::start().await;
    let (one, two) = (spoken_in(&server, "one").await, spoken_in(&server, "two").await);
    let (status, all) = server.get("/usage?by=agent").await;
    assert_eq!(
        (status, &all["currency"], &all["total"]["turns"]),
        (200, &json!("USD"), &json!(2)),
        "{all}"
    );
    assert_eq!(turns(&all["rows"], "agent"), [("echo".to_owned(), 2)]);
    let (_, by_day) = server.get("/usage?by=day").await;
    assert_eq!(
        by_day["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["turns"].as_u64().unwrap())
            .sum::<u64>(),
        2
    );
    let hall = all["budgets"].as_array().unwrap();
    assert_eq!(
        (&hall[0]["budget"], &hall[0]["measure"], &hall[0]["limit"]),
        (&json!("hall"), &json!("unattended_turns"), &json!(2000))
    );

    let wanted = json!({"principal": "echo", "kind": "agent", "threads": [one]});
    let token = server.as_operator(Method::POST, "/tokens", wanted).await.1["token"]
        .as_str()
        .unwrap()
        .to_owned();
    let (status, bound) = server.with(&token, Method::GET, "/usage?by=thread", json!(null)).await;
    assert_eq!(status, 200, "{bound}");
    assert_eq!(turns(&bound["rows"], "thread"), [(one.clone(), 1)]);
    assert_eq!((&bound["total"]["turns"], &bound["budgets"]), (&json!(1), &json!([])));
    assert_eq!(
        server.with(&token, Method::GET, &format!("/usage?thread={two}"), json!(null)).await.0,
        404
    );
    assert_eq!(
        server.with(&token, Method::GET, &format!("/usage?thread={one}"), json!(null)).await.1["total"]
            ["turns"],
        1
    );
}

#[tokio::test]
async fn what_cannot_be_summed_is_said() {
    let server = Server::start().await;
    for query in ["by=colour", "from=yesterday", "to=2026-02-30", "thread=nowhere", "limit=0"] {
        let (status, answer) = server.get(&format!("/usage?{query}")).await;
        assert!(
            (400..500).contains(&status) && answer["error"]["message"].is_string(),
            "{query}: {status} {answer}"
        );
    }
    let (status, quiet) =
        server.get("/usage?by=thread&agent=nobody&from=2026-01-31&to=2026-02-01").await;
    assert_eq!((status, &quiet["rows"], &quiet["total"]["turns"]), (200, &json!([]), &json!(0)));
}

#[tokio::test]
async fn a_budget_is_raised_by_whoever_proves_that_they_may() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let raise = json!({"budget": "hall", "turns": 100, "seconds": 60});
    assert!(matches!(
        server.unproven(Method::POST, "/budgets/raise", raise.clone()).await.0,
        401 | 403
    ));
    let (status, raised) = server.as_operator(Method::POST, "/budgets/raise", raise).await;
    assert_eq!((status, &raised["budgets"][0]["limit"]), (200, &json!(2100)), "{raised}");
    let recorded = async || {
        let rows = server.as_operator(Method::GET, "/audit", json!(null)).await.1["rows"].clone();
        let raised = |row: &&serde_json::Value| row["deed"] == "budget_raised";
        let said = |row: &serde_json::Value| {
            (row["by"].as_str().unwrap().to_owned(), row["detail"].as_str().unwrap().to_owned())
        };
        rows.as_array().unwrap().iter().filter(raised).map(said).collect::<Vec<_>>()
    };
    let rows = recorded().await;
    assert!(
        matches!(&rows[..], [(by, what)] if by == "user" && what.starts_with("the hall: 100 more turns an hour")),
        "{rows:?}"
    );
    for (body, code) in [
        (json!({"budget": "hall", "cost": 5.0}), "no_budget"),
        (json!({"budget": "hall"}), "invalid_raise"),
        (json!({"budget": "hall", "turns": 1, "seconds": 1}), "invalid_raise"),
        (json!({"budget": "conversation", "turns": 1}), "invalid_field"),
        (json!({"budget": "agent", "turns": 1}), "invalid_field"),
        (json!({"turns": 1}), "invalid_field"),
        (json!({"budget": 5}), "invalid_field"),
        (json!({"budget": "hall", "turns": -1}), "invalid_control"),
        (json!({"budget": "hall", "cost": "5"}), "invalid_control"),
        (json!({"budget": "hall", "turns": null, "seconds": null}), "invalid_raise"),
    ] {
        let (_, answer) = server.as_operator(Method::POST, "/budgets/raise", body).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    assert_eq!(recorded().await.len(), 1, "what was not raised is not recorded as raised");
    let event = json!({"type": "control", "from": "user", "content": {"budget": {"turns": 5}}});
    let path = format!("/threads/{thread}/events");
    assert!(matches!(server.unproven(Method::POST, &path, event.clone()).await.0, 401 | 403));
    assert_eq!(
        server.as_operator(Method::POST, &path, event).await.1["error"]["code"],
        "no_budget"
    );
}
