//! A server on a restored log: its bots stay silent until the operator lets them speak.

use std::fs;

use moothall_testkit::telegram::{Bot, CallOutcome, ChatId, TelegramFault};
use serde_json::json;

use crate::harness::{Server, comes_about};
use crate::telegram::{Chatroom, bound};

/// Returns the state of the first bot, and its cure.
fn first_bot(server: &Server<'_>) -> (String, String) {
    let channels = server.json(&["channels"]);
    let bot = &channels["channels"][0]["bots"][0];
    let word = |key: &str| bot[key].as_str().unwrap_or_default().to_owned();
    (word("state"), word("cure"))
}

/// Opens a group in which no bot may send any more, and leaves words for it on the page.
async fn owing_group(room: &Chatroom, server: &Server<'_>) -> (ChatId, String) {
    let ann = room.telegram.person(7, "Ann");
    room.pair(server, ann, &["threads:admin"]).await;
    let group = room.group(ann);
    room.said(group, |message| message.text.starts_with("This chat is connected")).await;
    let joined = |text: &String| text.ends_with("joined.");
    let all = async || room.telegram.texts(group).iter().filter(|text| joined(text)).count() == 2;
    assert!(comes_about(all).await);
    let thread = bound(server, &format!("telegram:{}", group.id)).await;
    let held = TelegramFault::TooMany(json!(3600));
    room.bots.iter().for_each(|bot| room.telegram.fault(bot, "sendMessage", held.clone()));
    server.accepted(&format!("/threads/{thread}/events"), json!({"content": "before"})).await;
    let is_refused = |bot: &Bot| {
        let calls = room.telegram.calls_of(bot, "sendMessage");
        calls.iter().any(|call| matches!(call.outcome, CallOutcome::Refusal { code: 429, .. }))
    };
    assert!(comes_about(async || room.bots.iter().any(is_refused)).await);
    (group, thread)
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_the_bots_wait_for_the_operator() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    // A start on the same log changes nothing.
    server.stop();
    let server = room.serve().await;
    assert!(comes_about(async || first_bot(&server).0 == "hearing").await);
    let (group, thread) = owing_group(&room, &server).await;
    let copy = room.home.path().join("copy");
    let data = room.home.data();
    server.ok(&["backup", copy.to_str().unwrap(), "--data", data.to_str().unwrap()]);
    server.stop();
    fs::rename(&data, room.home.path().join("before")).unwrap();
    fs::rename(&copy, &data).unwrap();

    room.telegram.mend();
    let server = room.home.serve();
    let (state, cure) = first_bot(&server);
    assert_eq!(state, "stopped");
    assert!(cure.contains("moothall channels resume"), "{cure}");
    let sent = room.telegram.texts(group).len();
    // What was owed may have been sent after the backup. New words wait.
    let deliveries = server.get(&format!("/threads/{thread}/deliveries")).await;
    let last = &deliveries["deliveries"][0];
    assert_eq!(last["state"], "unknown", "{deliveries:#}");
    assert!(last["why"].as_str().unwrap().contains("restored from a backup"), "{deliveries:#}");
    server.accepted(&format!("/threads/{thread}/events"), json!({"content": "after"})).await;
    // A second start does not doubt the new words.
    let server = server.crash_and_restart();
    assert_eq!(first_bot(&server).0, "stopped");
    let deliveries = server.get(&format!("/threads/{thread}/deliveries")).await;
    assert_eq!(deliveries["deliveries"][0]["state"], "pending", "{deliveries:#}");
    assert_eq!(room.telegram.texts(group).len(), sent);

    server.ok(&["channels", "resume"]);
    room.said(group, |message| message.text.contains("after")).await;
    assert!(room.telegram.texts(group).iter().all(|text| !text.contains("before")));
    assert!(comes_about(async || first_bot(&server).0 == "hearing").await);
}
