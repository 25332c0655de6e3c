//! After a crash, the server resumes open work by itself, without a request for the conversation.

use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::house::{PATIENCE, plain};
use crate::world::{Floor, World};

#[tokio::test]
async fn an_open_turn_is_taken_up_though_nobody_asks_for_its_conversation() {
    let mut world = World::new().await;
    let mut server = world.house.start().await;
    world.furnish(&mut server, &[Floor::Asked]).await;
    let asked = world
        .event(&mut server, 0, "gated", json!({"from": "user", "content": "@gated please"}))
        .await;
    world.running(&world.threads[0], "gated").await;
    world.house.open_gate();
    world.house.kill(server).await;
    // A reader's requests would activate the conversation.
    world.threads[0].readers.clear();

    let server = world.house.start().await;
    let answers = |event: &Value| {
        event["type"] == "message" && event["meta"]["reply_to"] == asked["event"]["id"]
    };
    let answered = async {
        let address = world.house.address.borrow().clone().unwrap();
        let http = plain().build().unwrap();
        let mut bells =
            http.get(format!("{address}/events/stream")).send().await.unwrap().bytes_stream();
        // Neither the streams of all changes nor reads of the log activate a conversation.
        while !world.get(&format!("/threads/{}/events", world.threads[0].id)).await["events"]
            .as_array()
            .unwrap()
            .iter()
            .any(answers)
        {
            bells.next().await.expect("the bells ring on").unwrap();
        }
    };
    timeout(PATIENCE, answered).await.expect("an answer, and none came");
    world.house.stop(server).await;
}
