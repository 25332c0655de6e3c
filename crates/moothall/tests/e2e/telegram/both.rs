//! A group and its conversation show the same words in the same order, from both sides; and the
//! seed's conversation with the privacy mode of the bots on.

use futures_util::StreamExt;
use moothall_testkit::telegram::ShownMessage;
use tokio::task::JoinHandle;

use super::{Chatroom, OpenGroup, entered, only_named, words};
use crate::harness::{Server, comes_about};

/// Follows the messages of a conversation as the page does.
fn follow(server: &Server<'_>, thread: &str, last: &'static str) -> JoinHandle<Vec<String>> {
    let url = format!("{}/threads/{thread}/events/stream?after=0&types=message", server.url);
    let request = server.http().get(url).bearer_auth(server.home().key());
    tokio::spawn(async move {
        let mut bytes = request.send().await.unwrap().bytes_stream();
        let (mut text, mut seen) = (String::new(), Vec::<String>::new());
        while seen.last().is_none_or(|said| said != last) {
            text.push_str(std::str::from_utf8(&bytes.next().await.unwrap().unwrap()).unwrap());
            while let Some(end) = text.find("\n\n") {
                let frame: String = text.drain(..end + 2).collect();
                let is_event = !frame.lines().any(|line| line.starts_with("event:"));
                let data = frame.lines().find_map(|line| line.strip_prefix("data:"));
                if let Some(data) = data.filter(|_| is_event) {
                    let event: serde_json::Value = serde_json::from_str(data).unwrap();
                    seen.push(event["content"].as_str().unwrap().to_owned());
                }
            }
        }
        seen
    })
}

/// Returns the words in the group, without the names that the relay puts above them.
fn in_group(room: &Chatroom, group: &OpenGroup) -> Vec<String> {
    let is_line = |message: &ShownMessage| {
        message.is_service
            || message.text.starts_with("This chat is connected")
            || message.text.ends_with(" joined.")
    };
    let shown = room.telegram.shown(group.chat).into_iter().filter(|message| !is_line(message));
    shown
        .map(|message| {
            let text = message.text.strip_prefix("user (page):\n").unwrap_or(&message.text);
            text.replace("@analyst_bot", "@analyst").replace("@writer_bot", "@writer")
        })
        .collect()
}

#[tokio::test]
async fn a_group_and_its_page_show_the_same_in_the_same_order() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let page = follow(&server, &group.thread, "The end.");
    for round in 0..6 {
        let (here, there) = (format!("{round}: in the group"), format!("{round}: on the page"));
        room.telegram.say(group.chat, group.person, &here);
        entered(&server, &group.thread, &here).await;
        server.say(&group.thread, &there).await;
        room.said(group.chat, |message| message.text.ends_with(&there)).await;
        let (asks, answer) = if round % 2 == 0 {
            (format!("@analyst_bot {round}: and?"), "Revenue grew by 8 %.")
        } else {
            (format!("@writer_bot {round}: and?"), "Here is a draft.")
        };
        let before = room.count(group.chat, |message| message.text == answer);
        room.telegram.say(group.chat, group.person, &asks);
        let comes = async || room.count(group.chat, |one| one.text == answer) == before + 1;
        assert!(comes_about(comes).await, "{asks}");
    }
    server.say(&group.thread, "The end.").await;
    room.said(group.chat, |message| message.text.ends_with("The end.")).await;
    let page = page.await.unwrap();
    assert_eq!(page, in_group(&room, &group));
    assert_eq!(page.len(), 6 * 4 + 1);
}

#[tokio::test]
async fn words_that_cross_are_the_same_on_both_sides_and_each_author_keeps_the_order() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let page = follow(&server, &group.thread, "The end.");
    for number in 0..40 {
        room.telegram.say(group.chat, group.person, &format!("group {number}"));
        server.say(&group.thread, &format!("page {number}")).await;
    }
    entered(&server, &group.thread, "group 39").await;
    server.say(&group.thread, "The end.").await;
    room.said(group.chat, |message| message.text.ends_with("The end.")).await;
    let (page, there) = (page.await.unwrap(), in_group(&room, &group));
    for side in [&page, &there] {
        for author in ["group", "page"] {
            let own: Vec<&String> = side.iter().filter(|text| text.starts_with(author)).collect();
            let wanted: Vec<String> = (0..40).map(|number| format!("{author} {number}")).collect();
            assert!(own.iter().copied().eq(&wanted), "{side:?}");
        }
    }
    assert_eq!(page.len(), there.len());
}

#[tokio::test]
async fn the_seeds_conversation_runs_with_privacy_mode_on() {
    let room = Chatroom::with_privacy(true).await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    // No bot receives a bare mention. A command for a bot, and a reply to it, arrive.
    room.telegram.say(group.chat, group.person, "@analyst_bot Does any bot hear this?");
    room.telegram.say(
        group.chat,
        group.person,
        "/ask@analyst_bot analyst -- Analyze AAPL earnings",
    );
    let analysis = room.said(group.chat, |message| message.text == "Revenue grew by 8 %.").await;
    assert_eq!(analysis.from, "Analyst");
    let reply = room.telegram.draft(group.chat, group.person, "And the margins?");
    reply.reply_to(analysis.key).send();
    entered(&server, &group.thread, "And the margins?").await;
    let again =
        async || room.count(group.chat, |message| message.text == "Revenue grew by 8 %.") == 2;
    assert!(comes_about(again).await, "the reply is for the analyst");
    let said = words(&server, &group.thread).await;
    assert!(said.iter().all(|text| !text.contains("hear this")), "{said:?}");

    // One bot that hears everything is enough for all agents.
    room.telegram.set_admin(group.chat, &room.bots[2], group.person, true);
    let hears = async || {
        let listed = server.json(&["channels"]);
        listed["channels"][0]["chats"][0]["deaf"].as_array().unwrap().len() == 2
    };
    assert!(comes_about(hears).await);
    room.telegram.say(group.chat, group.person, "@writer_bot a draft please");
    let draft = room.said(group.chat, |message| message.text == "Here is a draft.").await;
    assert_eq!(draft.from, "Writer");
    entered(&server, &group.thread, "@writer a draft please").await;
    assert!(room.telegram.texts(group.chat).iter().all(|text| !text.contains("PASS")));
}
