//! An agent that was away reads what it missed, and gets everything that comes afterwards.

use futures_util::future::join;
use serde_json::{Value, json};

use super::client::{saying, words};
use super::floods::big;
use super::{Client, agents, open_server};

/// Returns all messages after a position, read in pages of this size.
pub async fn after(
    client: &mut Client,
    place: &(String, String),
    since: &str,
    limit: usize,
) -> Vec<Value> {
    let (mut all, mut since): (Vec<Value>, _) = (Vec::new(), since.to_owned());
    loop {
        let list = json!({"taskId": place.0, "conversationId": place.1, "sinceSeq": since,
            "limit": limit});
        let page = client.done("messages/list", list).await;
        let messages = page["messages"].as_array().unwrap();
        assert!(messages.len() <= limit);
        all.extend(messages.iter().cloned());
        match (messages.last(), page["hasMore"].as_bool().unwrap()) {
            (Some(last), true) => since = last["id"].as_str().unwrap().to_owned(),
            (None, true) => panic!("more than nothing after {since}"),
            (_, false) => return all,
        }
    }
}

#[tokio::test]
async fn whoever_comes_back_reads_each_message_once_and_in_order() {
    let server = open_server().await;
    let ([_, bob, cid], [mut ann, mut away, mut other]) =
        agents(&server, ["ann", "bob", "cid"]).await;
    let place = ann.task_with(&[&bob, &cid]).await;
    ann.say(&place, "the last that bob sees").await;
    let seen =
        away.next_notice("messages/received").await["message"]["id"].as_str().unwrap().to_owned();
    away.leave().await;
    let mut said = Vec::new();
    for number in 0..15 {
        said.push(ann.say(&place, &format!("a{number}")).await);
        said.push(other.say(&place, &format!("c{number}")).await);
    }
    let mut back = Client::of(&server, &bob).await;
    let missed = after(&mut back, &place, &seen, 7).await;
    let ids: Vec<_> = missed.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, said);
    assert_eq!(words(&missed[29]), "c14");
    assert!(after(&mut back, &place, &said[29], 7).await.is_empty());
}

#[tokio::test]
async fn nothing_that_is_said_after_hello_is_missed() {
    let server = open_server().await;
    let ([_, bob], [mut ann, away]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    away.leave().await;
    // While ann talks without a pause, bob connects and leaves. Each time bob gets every message
    // that was sent after its greeting.
    for round in 0..8 {
        let before = ann.ask("messages/send", saying(&place, "before")).await;
        let (mut back, _) = join(Client::of(&server, &bob), ann.answer(&before)).await;
        let mut said = Vec::new();
        for number in 0..3 {
            said.push(ann.say(&place, &format!("{round}.{number}")).await);
        }
        for id in said {
            let notice = back.wanted(|frame| {
                frame["method"] == "messages/received" && frame["params"]["message"]["id"] == id
            });
            notice.await;
        }
        back.leave().await;
    }
}

#[tokio::test]
async fn what_was_made_while_somebody_was_away_is_heard_from_then_on() {
    let server = open_server().await;
    let ([_, bob], [mut ann, away]) = agents(&server, ["ann", "bob"]).await;
    away.leave().await;
    let place = ann.task_with(&[&bob]).await;
    ann.say(&place, "while bob is away").await;
    let mut back = Client::of(&server, &bob).await;
    let listed = back.done("task/conversation/list", json!({})).await["items"].clone();
    assert_eq!(listed[0]["conversation"]["id"], place.1);
    let last = ann.say(&place, "now").await;
    assert_eq!(back.next_notice("messages/received").await["message"]["id"], last);
    let all = after(&mut back, &place, "0", 7).await;
    assert_eq!(all.iter().map(words).collect::<Vec<_>>(), ["while bob is away", "now"]);
}

#[tokio::test]
async fn what_is_sent_without_waiting_keeps_its_order() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut hears]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    let numbers: Vec<_> = (0..40).map(|number| number.to_string()).collect();
    let mut asked = Vec::new();
    for number in &numbers {
        asked.push(ann.ask("messages/send", saying(&place, number)).await);
    }
    for id in asked {
        let answer = ann.answer(&id).await;
        assert!(answer.get("result").is_some(), "{answer}");
    }
    let list = json!({"taskId": place.0, "conversationId": place.1, "limit": 200});
    let kept = ann.done("messages/list", list).await["messages"].clone();
    assert_eq!(kept.as_array().unwrap().iter().map(words).collect::<Vec<_>>(), numbers);
    for number in &numbers {
        assert_eq!(words(&hears.next_notice("messages/received").await["message"]), number);
    }
    assert!(ann.settle().await.iter().all(|text| !text.contains("messages/received")));
}

#[tokio::test]
async fn an_answer_is_never_larger_than_clients_can_take() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    const MANY: usize = 40;
    let mut said = Vec::new();
    for _ in 0..MANY {
        let kept = ann.done("messages/send", big(&place)).await;
        said.push(kept["message"]["id"].as_str().unwrap().to_owned());
    }
    let list = json!({"taskId": place.0, "conversationId": place.1, "limit": 200});
    let newest = other.done("messages/list", list).await;
    assert!(newest.to_string().len() < 1_300_000, "{}", newest.to_string().len());
    assert_eq!(newest["hasMore"], true);
    let id = |message: &Value| message["id"].as_str().unwrap().to_owned();
    let ids: Vec<_> = newest["messages"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(ids, said[MANY - ids.len()..]);
    let all = after(&mut other, &place, "0", 200).await;
    assert_eq!(all.iter().map(id).collect::<Vec<_>>(), said);
}

#[tokio::test]
async fn a_conversation_is_heard_of_first_and_nothing_of_it_after_the_end() {
    let server = open_server().await;
    let ([_, bob], [mut ann, mut other]) = agents(&server, ["ann", "bob"]).await;
    let (task, _) = ann.task_with(&[&bob]).await;
    other.next_notice("task/conversation/created").await;
    let mut wanted = Vec::new();
    for _ in 0..12 {
        // Bob's notifications are read at the end only: ann awaits just the answers that her next
        // call needs.
        let wish = json!({"taskId": task, "participants": [bob.id]});
        let made = ann.done("task/conversation/create", wish).await;
        let id = made["conversation"]["id"].as_str().unwrap().to_owned();
        let place = (task.clone(), id.clone());
        let heard = ann.ask("messages/send", saying(&place, "in it")).await;
        ann.answer(&heard).await;
        let about = json!({"taskId": task, "conversationId": id, "agentId": bob.id});
        ann.done("task/conversation/participants/remove", about.clone()).await;
        ann.say(&place, "without bob").await;
        ann.done("task/conversation/participants/add", about).await;
        ann.say(&place, "in it again").await;
        wanted.push(id);
    }
    for id in wanted {
        let mut words = Vec::new();
        while words.len() < 5 {
            let frame = other.wanted(|frame| {
                let params = &frame["params"];
                params["conversationId"] == *id || params["message"]["conversationId"] == *id
            });
            let frame = frame.await;
            let text = &frame["params"]["message"]["parts"][0]["text"];
            words.push(text.as_str().or(frame["method"].as_str()).unwrap().to_owned());
        }
        assert_eq!(
            words,
            [
                "task/conversation/created",
                "in it",
                "task/conversation/participants/removed",
                "task/conversation/participants/added",
                "in it again",
            ]
        );
    }
    assert!(other.settle().await.iter().all(|text| !text.contains("without bob")));
}
