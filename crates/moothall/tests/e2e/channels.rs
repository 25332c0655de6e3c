//! The states of channels, as the command line and `doctor` show them.

use moothall_testkit::telegram::TelegramFault;
use serde_json::{Value, json};

use crate::harness::{Server, comes_about};
use crate::telegram::{Chatroom, bound};

/// Returns the listed chat of a conversation.
fn chat_of(server: &Server<'_>, thread: &str) -> Value {
    let listed = server.json(&["channels"]);
    let chats = listed["channels"][0]["chats"].as_array().unwrap();
    chats
        .iter()
        .find(|chat| chat["thread"] == *thread)
        .unwrap_or_else(|| panic!("{listed}"))
        .clone()
}

/// Returns the findings of `doctor` about a server, of one check.
fn findings(server: &Server<'_>, check: &str) -> Vec<Value> {
    let args = ["--server", &server.url, "doctor", "--json", "--bind", "127.0.0.1:0"];
    let output = server.home().command(&args).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    checks.filter(|finding| finding["check"] == check).cloned().collect()
}

#[tokio::test]
async fn a_bound_chat_is_listed_with_its_work_also_before_anything_is_heard() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    room.pair(&server, ann, &["threads:admin", "participants:invite"]).await;
    let group = room.group(ann);
    let chat = format!("telegram:{}", group.id);
    let thread = bound(&server, &chat).await;
    let state = server.get(&format!("/threads/{thread}/state")).await["state"].clone();
    assert_eq!(state["chats"], json!([chat]));
    let agents = async || chat_of(&server, &thread)["agents"].as_array().unwrap().len() == 3;
    assert!(comes_about(agents).await);
    room.telegram.say(group, ann, "@analyst_bot how are earnings?");
    room.said(group, |message| message.text == "Revenue grew by 8 %.").await;
    let listed = chat_of(&server, &thread);
    assert_eq!((&listed["title"], &listed["state"]), (&json!("Market"), &json!("bound")));
    assert_eq!(listed["agents"], json!(["analyst", "critic", "writer"]));
    assert!(listed["turns_today"].as_u64().unwrap() >= 1, "{listed}");

    // What Telegram does not take now stays owed.
    for bot in &room.bots {
        room.telegram.fault(bot, "sendMessage", TelegramFault::TooMany(json!(3000)));
    }
    server.say(&thread, "A word from the page, to be kept.").await;
    let owed = async || chat_of(&server, &thread)["owed"].as_u64().unwrap() > 0;
    assert!(comes_about(owed).await);
    let finding = findings(&server, "chat").remove(0);
    assert!(finding["found"].as_str().unwrap().ends_with("on the way"), "{finding}");

    let server = server.crash_and_restart();
    let listed = chat_of(&server, &thread);
    assert_eq!((&listed["state"], &listed["title"]), (&json!("bound"), &json!("")));
    assert_eq!((&listed["agents"], &listed["cure"]), (&json!([]), &Value::Null));
    assert!(listed["turns_today"].as_u64().unwrap() >= 1, "{listed}");
    let words = server.ok(&["channels"]);
    assert!(words.contains(&chat) && words.contains("nothing arrived"), "{words}");
}

#[tokio::test]
async fn deaf_bots_and_groups_that_wait_are_named_with_their_cure() {
    let room = Chatroom::with_privacy(true).await;
    let server = room.serve().await;
    let (ann, bob) = (room.telegram.person(7, "Ann"), room.telegram.person(8, "Bob"));
    room.group(bob);
    room.pair(&server, ann, &["threads:admin"]).await;
    let group = room.group(ann);
    let thread = bound(&server, &format!("telegram:{}", group.id)).await;
    let all_deaf = async || chat_of(&server, &thread)["deaf"].as_array().unwrap().len() == 3;
    assert!(comes_about(all_deaf).await);
    let cure = chat_of(&server, &thread)["cure"].as_str().unwrap().to_owned();
    assert!(
        cure.starts_with("@analyst_bot, @critic_bot, @writer_bot hear only commands"),
        "{cure}"
    );

    let bots = findings(&server, "bot");
    assert_eq!(bots.len(), 3, "{bots:?}");
    assert_eq!(bots[0]["found"], "telegram: analyst, @analyst_bot is hearing");
    let chats = findings(&server, "chat");
    let about = |words: &str| {
        chats.iter().find(|chat| chat["found"].as_str().unwrap().contains(words)).unwrap()
    };
    assert_eq!(about("its bots are deaf")["verdict"], "warn");
    assert_eq!(about("its bots are deaf")["fix"], cure);
    assert_eq!(about("waits for a person")["verdict"], "info");
    // One bot that hears everything is enough for all agents.
    room.telegram.set_admin(group, &room.bots[1], ann, true);
    let is_cured = async || chat_of(&server, &thread)["cure"] == Value::Null;
    assert!(comes_about(is_cured).await);
}
