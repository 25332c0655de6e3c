//! Reading a conversation from its end.

use serde_json::{Value, json};

use crate::server::Server;

fn seqs(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_page_before_a_position_holds_the_newest_events_there() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    for word in ["two", "three", "four", "five", "six"] {
        server.say(&thread, "user", word).await;
    }
    for (query, wanted) in [
        ("?before=5", vec![1, 2, 3, 4]),
        ("?before=5&limit=2", vec![3, 4]),
        ("?before=3&limit=2", vec![1, 2]),
        ("?before=1&limit=2", vec![]),
        ("?before=0", vec![]),
        ("?before=100&limit=2", vec![5, 6]),
        ("?before=6&after=2&limit=9", vec![3, 4, 5]),
        ("?before=3&after=4", vec![]),
    ] {
        assert_eq!(seqs(&server.events(&thread, query).await), wanted, "{query}");
    }
    let (_, page) = server.get(&format!("/threads/{thread}/events?before=5&limit=2")).await;
    assert_eq!(
        (&page["count"], &page["through"], &page["head"]),
        (&json!(2), &json!(4), &json!(6))
    );
}

#[tokio::test]
async fn what_the_reader_may_not_see_is_not_counted() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "far", "elsewhere").await;
    for n in 0..200 {
        server.say(&thread, "user", &format!("@far {n}?")).await;
    }
    let all = seqs(&server.events(&thread, "?as=user").await);
    let head = *all.last().unwrap();
    let (mut before, mut read) = (head + 1, Vec::new());
    loop {
        let page =
            seqs(&server.events(&thread, &format!("?as=user&limit=7&before={before}")).await);
        let Some(first) = page.first() else { break };
        before = *first;
        read.splice(0..0, page);
    }
    assert_eq!(read, all);
    assert!(head > all.len() as u64 + 150, "that nobody asked the absent is not for everyone");
}
