//! Messages that Telegram numbers for each bot apart, and chats of which a server knows little.

use moothall_testkit::telegram::ShownMessage;
use serde_json::{Value, json};

use super::{Chatroom, OpenGroup, bound, only_named};
use crate::harness::{Server, comes_about};

/// Returns what the notices of edits in a conversation say.
async fn edits(server: &Server<'_>, thread: &str) -> Vec<String> {
    let events = server.events(thread).await;
    let notices = events.iter().filter(|event| event["type"] == "notice");
    let edited = notices.filter(|notice| notice["content"]["code"] == "edited");
    edited.map(|notice| notice["content"].to_string()).collect()
}

async fn messages(server: &Server<'_>, thread: &str) -> Vec<Value> {
    let events = server.events(thread).await;
    events.into_iter().filter(|event| event["type"] == "message").collect()
}

/// Returns what the server knows of the first chat: its title, its state, the agents whose bots are
/// there, and those that hear little.
fn first_chat(server: &Server<'_>) -> [Value; 4] {
    let chat = server.json(&["channels"])["channels"][0]["chats"][0].clone();
    ["title", "state", "agents", "deaf"].map(|key| chat[key].clone())
}

#[tokio::test]
async fn private_chats_with_two_bots_have_the_same_numbers_and_are_kept_apart() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    let [first, second] = [0, 1].map(|number| room.telegram.private(ann, &room.bots[number]));
    room.pair(&server, ann, &[]).await;
    let sent = room.telegram.say(first, ann, "How was the year?");
    room.said(first, |message| message.text == "Revenue grew by 8 %.").await;
    // The second chat goes on until the same number stands for a message of it too.
    let number = |bot: usize, key| room.telegram.id_for(&room.bots[bot], key);
    let mut last = 0;
    while last < number(0, sent) {
        let shown = room.telegram.texts(second).len();
        last = number(1, room.telegram.say(second, ann, "A letter, please."));
        assert!(comes_about(async || room.telegram.texts(second).len() >= shown + 2).await);
    }
    let thread = bound(&server, "telegram:7@analyst").await;
    let writers = bound(&server, "telegram:7@writer").await;
    room.telegram.edit(sent, "How was the last year?");
    assert!(comes_about(async || edits(&server, &thread).await.len() == 1).await);
    assert!(edits(&server, &thread).await[0].contains("the last year"));
    room.telegram.draft(first, ann, "This one?").reply_to(sent).send();
    let replied = async || {
        let said = messages(&server, &thread).await;
        said.into_iter().find(|message| message["content"] == "This one?")
    };
    assert!(comes_about(async || replied().await.is_some()).await);
    let all = messages(&server, &thread).await;
    let is_meant = |said: &&Value| said["from"] == "user" && said["content"] != "This one?";
    let meant = all.iter().rev().find(is_meant).unwrap();
    assert_eq!(replied().await.unwrap()["meta"]["reply_to"], meant["id"], "{all:#?}");
    assert!(edits(&server, &writers).await.is_empty());
}

#[tokio::test]
async fn an_edit_in_a_talk_with_one_agent_of_a_dissolved_group_is_followed() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let OpenGroup { chat, person, thread } = room.open_group(&server).await;
    only_named(&server, &thread).await;
    let earlier = room.telegram.say(chat, person, "Before the end.");
    assert!(comes_about(async || !messages(&server, &thread).await.is_empty()).await);
    room.telegram.say(chat, person, "/group dissolve");
    room.said(chat, |message| message.text.contains("dissolved")).await;
    let said = room.telegram.say(chat, person, "@analyst_bot How was the year?");
    room.said(chat, |message| message.text.contains("Revenue grew by 8 %.")).await;
    let talk = bound(&server, &format!("telegram:{}@analyst", chat.id)).await;
    room.telegram.edit(said, "@analyst_bot How was the last year?");
    assert!(comes_about(async || edits(&server, &talk).await.len() == 1).await);
    // A reply to words of the dissolved conversation names no event of this one.
    room.telegram.draft(chat, person, "@analyst_bot And this?").reply_to(earlier).send();
    let asked = async || {
        let said = messages(&server, &talk).await;
        said.into_iter().find(|message| message["content"] == "@analyst And this?")
    };
    assert!(comes_about(async || asked().await.is_some()).await);
    assert_eq!(asked().await.unwrap()["meta"]["reply_to"], Value::Null);
    // Words of the dissolved conversation are in no other one, also after a restart.
    let server = server.crash_and_restart();
    room.telegram.wait_for(|it| room.bots.iter().all(|bot| it.is_polling(bot))).await;
    room.telegram.edit(earlier, "@analyst_bot Before it all ended.");
    room.telegram.say(chat, person, "@analyst_bot And now?");
    let asked = async || {
        let said = messages(&server, &talk).await;
        said.iter().any(|message| message["content"] == "@analyst And now?")
    };
    assert!(comes_about(asked).await);
    assert_eq!(edits(&server, &talk).await.len(), 1);
    assert!(edits(&server, &thread).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_the_bots_of_a_silent_group_are_known() {
    let room = Chatroom::with_privacy(true).await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    room.telegram.set_admin(group.chat, &room.bots[0], group.person, true);
    room.telegram.kick(group.chat, &room.bots[2], group.person);
    room.said(group.chat, |message| message.text == "critic left.").await;
    let settled = async || first_chat(&server)[3] == json!(["writer"]);
    assert!(comes_about(settled).await, "{:?}", first_chat(&server));
    let before = first_chat(&server);
    assert_eq!(before[2], json!(["analyst", "writer"]));
    let server = server.crash_and_restart();
    assert!(
        comes_about(async || first_chat(&server) == before).await,
        "{:?} {before:?}",
        first_chat(&server)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_is_bound_by_hand_tells_at_once_what_its_bots_hear() {
    let room = Chatroom::with_privacy(true).await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    let group = room.group(ann);
    assert!(
        comes_about(async || room.count(group, |one| one.text.contains("not connected")) > 0).await
    );
    // The server forgets what updates told it.
    let server = server.crash_and_restart();
    room.telegram.wait_for(|it| room.bots.iter().all(|bot| it.is_polling(bot))).await;
    let thread = server.thread().await;
    let place = format!("telegram:{}", group.id);
    server.ok(&["channels", "bind", &thread, &place]);
    let is_opening = |message: &ShownMessage| {
        message.text.starts_with("This chat is connected") && message.text.contains("can hear only")
    };
    room.said(group, is_opening).await;
}
