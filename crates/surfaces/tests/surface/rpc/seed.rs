//! The page that promises group conversations, with its examples unchanged.

use serde_json::{Value, json};

use super::{Client, agents, open_server};

/// Returns the example of this number, with the ids of this run in place of its own.
fn example(number: usize, ids: &[(&str, &str)]) -> String {
    let examples = [
        r#"{
  "jsonrpc": "2.0",
  "id": "1",
  "method": "task/conversation/create",
  "params": {
    "taskId": "33333333-3333-4333-8333-333333333333",
    "name": "Project Alpha",
    "participants": [
      "11111111-1111-4111-8111-111111111111",
      "22222222-2222-4222-8222-222222222222"
    ]
  }
}"#,
        r#"{
  "jsonrpc": "2.0",
  "id": "2",
  "method": "task/conversation/participants/add",
  "params": {
    "taskId": "33333333-3333-4333-8333-333333333333",
    "conversationId": "44444444-4444-4444-8444-444444444444",
    "agentId": "55555555-5555-4555-8555-555555555555"
  }
}"#,
        r#"{
  "jsonrpc": "2.0",
  "id": "3",
  "method": "task/conversation/participants/remove",
  "params": {
    "taskId": "33333333-3333-4333-8333-333333333333",
    "conversationId": "44444444-4444-4444-8444-444444444444",
    "agentId": "55555555-5555-4555-8555-555555555555"
  }
}"#,
        r#"{
  "jsonrpc": "2.0",
  "id": "4",
  "method": "task/conversation/archive",
  "params": {
    "taskId": "33333333-3333-4333-8333-333333333333",
    "conversationId": "44444444-4444-4444-8444-444444444444"
  }
}"#,
        r#"{
  "jsonrpc": "2.0",
  "id": "5",
  "method": "task/conversation/list",
  "params": { "limit": 50 }
}"#,
    ];
    let text = examples[number - 1].to_owned();
    ids.iter().fold(text, |text, (theirs, own)| text.replace(theirs, own))
}

async fn answered(client: &mut Client, number: usize, ids: &[(&str, &str)]) -> Value {
    client.send(example(number, ids)).await;
    client.answer(&number.to_string()).await
}

#[tokio::test]
async fn the_examples_of_the_page_do_what_it_promises() {
    let server = open_server().await;
    let ([ann, bob, cid], [mut tm, mut one, mut two]) =
        agents(&server, ["ann", "bob", "cid"]).await;
    let (eve, mut third) = super::agent(&server, "eve").await;
    let wish = json!({"appId": super::client::DEFAULT_APP, "invitedAgentIds": [bob.id, cid.id]});
    let task = tm.done("task/request", wish).await["task"]["id"].as_str().unwrap().to_owned();
    let mut ids = vec![
        ("11111111-1111-4111-8111-111111111111", bob.id.as_str()),
        ("22222222-2222-4222-8222-222222222222", cid.id.as_str()),
        ("33333333-3333-4333-8333-333333333333", task.as_str()),
        ("55555555-5555-4555-8555-555555555555", eve.id.as_str()),
    ];

    let made = answered(&mut tm, 1, &ids).await;
    assert_eq!(made["result"]["conversation"]["name"], "Project Alpha", "{made}");
    let conversation = made["result"]["conversation"]["id"].as_str().unwrap().to_owned();
    for listed in [&mut one, &mut two] {
        let notice = listed.next_notice("task/conversation/created").await;
        let all = json!({"taskId": task, "conversationId": conversation, "name": "Project Alpha",
            "participants": [bob.id, cid.id]});
        assert_eq!(notice, all);
    }
    ids.push(("44444444-4444-4444-8444-444444444444", &conversation));

    // Every agent named by these calls must first be admitted to the task.
    let refused = answered(&mut tm, 2, &ids).await;
    assert_eq!(refused["error"]["code"], -32023, "{refused}");
    let admitted = json!({"taskId": task, "agentId": eve.id});
    tm.done("task/addParticipant", admitted).await;
    assert_eq!(answered(&mut tm, 2, &ids).await["result"], json!({}));
    for present in [&mut one, &mut two, &mut third] {
        let notice = present.next_notice("task/conversation/participants/added").await;
        assert_eq!(notice["addedAgentId"], eve.id);
    }

    assert_eq!(answered(&mut tm, 3, &ids).await["result"], json!({}));
    for present in [&mut one, &mut two, &mut third] {
        let notice = present.next_notice("task/conversation/participants/removed").await;
        assert_eq!(
            (&notice["removedAgentId"], &notice["reason"]),
            (&json!(eve.id), &json!("tm_remove"))
        );
    }
    // A removed agent stays in the task, and gets the messages of its other conversations.
    let wish = json!({"taskId": task, "participants": [eve.id, bob.id]});
    let made = tm.done("task/conversation/create", wish).await;
    let other = made["conversation"]["id"].as_str().unwrap().to_owned();
    tm.say(&(task.clone(), conversation.clone()), "not for eve").await;
    tm.say(&(task.clone(), other), "for eve").await;
    let notice = third.next_notice("messages/received").await;
    assert_eq!(super::client::words(&notice["message"]), "for eve");

    assert_eq!(answered(&mut tm, 4, &ids).await["result"], json!({}));
    for present in [&mut one, &mut two] {
        let notice = present.next_notice("task/conversation/archived").await;
        assert_eq!(notice["conversationId"], conversation);
    }
    let listed = answered(&mut one, 5, &ids).await["result"]["items"].clone();
    let archived = |item: &Value| item["conversation"].get("archivedAt").is_some();
    let of = |archived_ones: bool| {
        let items = listed.as_array().unwrap().iter();
        items.filter(|item| archived(item) == archived_ones).count()
    };
    assert_eq!((of(true), of(false)), (1, 1), "archived rows are included: {listed}");

    let reversed = example(4, &ids).replace("archive", "unarchive");
    tm.send(reversed.replace("\"4\"", "\"6\"")).await;
    assert_eq!(tm.answer("6").await["result"], json!({}));
    for present in [&mut one, &mut two] {
        let notice = present.next_notice("task/conversation/unarchived").await;
        assert_eq!(notice, json!({"taskId": task, "conversationId": conversation}));
    }

    // Membership is flat: every member writes and reads, and none manages.
    let place = (task.clone(), conversation.clone());
    for member in [&mut one, &mut two] {
        member.say(&place, "so do I").await;
        let list = json!({"taskId": task, "conversationId": conversation});
        assert!(member.done("messages/list", list).await["messages"].as_array().unwrap().len() > 1);
        member.send(example(4, &ids)).await;
        assert_eq!(member.answer("4").await["error"]["code"], -32001);
    }
    drop(ann);
}
