//! What people complain of in chats with several bots, each as a test of the opposite.
//!
//! The others of these tests stand elsewhere: buttons in `crates/channels/tests/telegram`, refused
//! formatting there too, doubled receivers in `pollers.rs` beside it, messages after a crash in
//! `group.rs`, setting up in `guide.rs`.

use moothall_testkit::model_server::{Gate, ModelServer, Reply};
use moothall_testkit::telegram::{BotCall, CallOutcome, ShownMessage, TelegramFault};
use serde_json::{Value, json};

use super::{ALL, Chatroom, OpenGroup, bound, deliveries, entered, only_named, words};
use crate::harness::{Server, comes_about};

/// A writer that speaks only if it was told of revenue, and two agents that answer at once.
const TOLD: &str = r#"
[agents.analyst]
replies = ["Revenue grew by 8 %."]

[agents.writer]
command = ["/bin/sh", "-c", '''
read -r document
case $document in *'Revenue grew'*) echo 'So the analyst says.' ;; *) echo '[PASS]' ;; esac''']

[agents.critic]
replies = ["[PASS]"]
"#;

/// Runs a command in the group, and returns the answer.
async fn run(room: &Chatroom, group: &OpenGroup, command: &str, answer: &str) -> ShownMessage {
    let asked = room.telegram.say(group.chat, group.person, command);
    let is_answer = |message: &ShownMessage| {
        message.key.id > asked.id && message.from_id != 7 && message.text.contains(answer)
    };
    room.said(group.chat, is_answer).await
}

#[tokio::test]
async fn bots_hear_each_other_through_the_hall_and_each_word_once() {
    let room = Chatroom::with_agents(TOLD, false).await;
    // The service delivers the words of bots to bots as well; they must not enter again.
    room.telegram.let_bots_hear_bots(true);
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    room.telegram.say(group.chat, group.person, "@analyst_bot How was the year?");
    room.said(group.chat, |message| message.text == "So the analyst says.").await;
    room.telegram.say(group.chat, group.person, "Thanks.");
    entered(&server, &group.thread, "Thanks.").await;
    let said = words(&server, &group.thread).await;
    let wanted =
        ["@analyst How was the year?", "Revenue grew by 8 %.", "So the analyst says.", "Thanks."];
    assert_eq!(said[..4], wanted);
}

#[tokio::test]
async fn a_message_is_answered_by_the_named_agent_alone_and_none_sticks_to_a_chat() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    room.telegram.say(group.chat, group.person, "@writer_bot a draft please");
    let draft = room.said(group.chat, |message| message.text == "Here is a draft.").await;
    // A reply to a person, and words without a name, are for none, though the writer spoke last.
    room.telegram.say(group.chat, group.person, "And then?");
    let why = run(&room, &group, "/why", "No agent was asked").await;
    assert!(why.text.contains("names no agent") || why.text.contains("named"), "{}", why.text);
    room.telegram.say(group.chat, group.person, "@analyst_bot the numbers please");
    room.said(group.chat, |message| message.text == "Revenue grew by 8 %.").await;
    let drafts = room.count(group.chat, |message| message.text == draft.text);
    assert_eq!(drafts, 1, "{:?}", room.telegram.texts(group.chat));
}

/// Calls a method as a bot of another server.
async fn as_other(room: &Chatroom, server: &Server<'_>, token: &str, body: Value) {
    let url = format!("{}/bot{token}/sendMessage", room.telegram.url());
    let sent = server.http().post(url).json(&body).send().await.unwrap();
    assert!(sent.status().is_success());
}

#[tokio::test]
async fn replies_of_bots_wake_no_agent_and_other_bots_are_counted() {
    let room = Chatroom::new().await;
    room.telegram.let_bots_hear_bots(true);
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let other = room.telegram.add_bot("weather_bot", "Weather");
    room.telegram.join(group.chat, &other, group.person);
    room.telegram.say(group.chat, group.person, "@analyst_bot How was the year?");
    let answer = room.said(group.chat, |message| message.text.contains("8 %")).await;
    assert!(answer.reply_to.is_some(), "the answer shows what it answers");
    let body = json!({
        "chat_id": group.chat.id,
        "text": "@writer_bot It rains.",
        "reply_parameters": {"message_id": answer.key.id},
    });
    as_other(&room, &server, &other.token, body).await;
    room.telegram.say(group.chat, group.person, "@writer_bot a draft please");
    room.said(group.chat, |message| message.text == "Here is a draft.").await;
    let said = words(&server, &group.thread).await;
    assert!(said.iter().all(|text| !text.contains("rains")), "{said:?}");
    assert_eq!(said.len(), 4, "two questions and two answers: {said:?}");
    let channels = server.json(&["channels"]);
    assert_eq!(channels["channels"][0]["chats"][0]["dropped"], 3, "one for each bot: {channels}");
}

#[tokio::test]
async fn a_deaf_bot_is_named_in_the_group_and_in_the_list() {
    let room = Chatroom::with_privacy(true).await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    let named = async |name: &str| {
        let is_line = |message: &ShownMessage| {
            message.text.contains(&format!("@{name}_bot")) && message.text.contains("can hear only")
        };
        room.said(group.chat, is_line).await
    };
    for name in ["analyst", "writer", "critic"] {
        named(name).await;
    }
    // A bot that joins later is named then.
    room.telegram.kick(group.chat, &room.bots[2], group.person);
    room.said(group.chat, |message| message.text == "critic left.").await;
    let lines = || room.count(group.chat, |message| message.text.contains("can hear only"));
    let before = lines();
    room.telegram.join(group.chat, &room.bots[2], group.person);
    assert!(comes_about(async || lines() == before + 1).await);
    let deaf = async || server.json(&["channels"])["channels"][0]["chats"][0]["deaf"].clone();
    assert_eq!(deaf().await, json!(["analyst", "critic", "writer"]));
    room.telegram.set_admin(group.chat, &room.bots[0], group.person, true);
    assert!(comes_about(async || deaf().await == json!(["critic", "writer"])).await);
    room.telegram.say(group.chat, group.person, "Does a bot hear this?");
    entered(&server, &group.thread, "Does a bot hear this?").await;
}

/// A model that answers in pieces, and two scripts.
fn model(models: &ModelServer) -> String {
    format!(
        "[agents.analyst]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = {:?}\n\
         [agents.writer]\nreplies = [\"[PASS]\"]\n[agents.critic]\nreplies = [\"[PASS]\"]\n",
        models.url()
    )
}

#[tokio::test]
async fn an_answer_in_pieces_is_one_message_and_no_edit() {
    let models = ModelServer::start().await.unwrap();
    let pieces = ["Revenue ", "grew ", "by ", "8 ", "%."];
    models.always("m", Reply::pieces(pieces));
    let room = Chatroom::with_agents(&model(&models), false).await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    room.telegram.say(group.chat, group.person, "@analyst_bot How was the year?");
    room.said(group.chat, |message| message.text == "Revenue grew by 8 %.").await;
    let calls = room.telegram.calls();
    assert!(calls.iter().all(|call| !call.method.starts_with("edit")), "{calls:#?}");
    let is_part = |message: &ShownMessage| message.text.starts_with("Revenue");
    assert_eq!(room.count(group.chat, is_part), 1);
}

#[tokio::test]
async fn a_flood_wait_of_hours_holds_its_chat_and_no_other() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let to_group = |call: &BotCall| call.body["chat_id"] == json!(group.chat.id);
    room.telegram.fault(&room.bots[0], "sendMessage", TelegramFault::TooMany(json!(13_938)));
    server.say(&group.thread, "A first message").await;
    let refused = |call: &BotCall| {
        matches!(call.outcome, CallOutcome::Refusal { code: 429, .. }) && to_group(call)
    };
    room.telegram.wait_for(|it| it.calls().iter().any(refused)).await;
    server.say(&group.thread, "A second message").await;
    // The private chat with the same bot is not held.
    let chat = room.telegram.private(group.person, &room.bots[0]);
    room.telegram.say(chat, group.person, "/help");
    room.said(chat, |message| message.text.contains("/group create")).await;
    let calls = room.telegram.calls();
    assert_eq!(calls.iter().filter(|call| refused(call)).count(), 1, "it is not asked again");
    let waiting = deliveries(&server, &group.thread).await;
    let states: Vec<&str> =
        waiting.iter().take(2).map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["pending", "sending"], "{waiting:#?}");
}

/// Three messages' length of words.
fn long_answer() -> String {
    (0..1_400).map(|number| format!("word{number:04} ")).collect()
}

/// Agents of which the analyst answers at length.
fn talkative() -> String {
    format!(
        "[agents.analyst]\nreplies = [{:?}]\n[agents.writer]\nreplies = [\"[PASS]\"]\n\
         [agents.critic]\nreplies = [\"[PASS]\"]\n",
        long_answer()
    )
}

#[tokio::test]
async fn a_topic_gets_every_part_of_an_answer_and_the_general_one_no_number() {
    let room = Chatroom::with_agents(&talkative(), false).await;
    let server = room.serve_freely().await;
    let ann = room.telegram.person(7, "Ann");
    room.pair(&server, ann, &ALL).await;
    let forum = room.telegram.forum("Market");
    room.telegram.enter(forum, ann);
    room.bots.iter().for_each(|bot| room.telegram.join(forum, bot, ann));
    room.said(forum, |message| message.text.starts_with("This chat is connected")).await;
    let topic = room.telegram.topic(forum, "Earnings");
    room.telegram.draft(forum, ann, "@analyst_bot at length please").topic(topic).send();
    let thread = bound(&server, &format!("telegram:{}:{topic}", forum.id)).await;
    room.said(forum, |message| message.text.contains("word1399")).await;
    let is_part = |message: &&ShownMessage| message.text.contains("word");
    let shown = room.telegram.shown(forum);
    let parts: Vec<&ShownMessage> = shown.iter().filter(is_part).collect();
    assert_eq!(parts.len(), 4, "{}", parts.len());
    assert!(parts.iter().all(|part| part.topic == Some(topic)), "{parts:#?}");
    let typing = room.telegram.calls_of(&room.bots[0], "sendChatAction");
    assert!(typing.iter().all(|call| call.body["message_thread_id"] == topic), "{typing:#?}");
    assert_eq!(words(&server, &thread).await[0], "@analyst at length please");

    // The General topic has the number 1, which the service refuses.
    room.telegram.say(forum, ann, "@analyst_bot and here please");
    let is_here =
        |message: &ShownMessage| message.text.contains("word1399") && message.topic.is_none();
    room.said(forum, is_here).await;
    let is_refused = |call: &BotCall| matches!(call.outcome, CallOutcome::Refusal { .. });
    assert!(room.telegram.calls().iter().all(|call| !is_refused(call)));
}

#[tokio::test]
async fn a_long_answer_goes_on_after_a_crash_and_no_part_comes_twice() {
    let room = Chatroom::with_agents(&talkative(), false).await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    room.telegram.fault(&room.bots[0], "sendMessage", TelegramFault::Delay(<_>::default()));
    room.telegram.fault(&room.bots[0], "sendMessage", TelegramFault::Hold(Gate::default()));
    let is_part = |message: &ShownMessage| message.text.contains("word");
    room.telegram.say(group.chat, group.person, "@analyst_bot at length please");
    room.telegram.wait_for(|it| it.held() == 1).await;
    server.kill();
    let server = room.serve_freely().await;
    let in_doubt = async || {
        let all = deliveries(&server, &group.thread).await;
        all.into_iter().find(|one| one["state"] == "unknown")
    };
    assert!(comes_about(async || in_doubt().await.is_some()).await);
    let doubtful = in_doubt().await.unwrap();
    assert!(doubtful["why"].as_str().unwrap().contains("message 2"), "{doubtful}");
    assert_eq!(room.count(group.chat, is_part), 1, "nothing is repeated by itself");

    let again = format!("/threads/{}/deliveries/{}/again", group.thread, doubtful["id"]);
    assert_eq!(server.post(&again, json!({})).await.0, 200);
    room.said(group.chat, |message| message.text.contains("word1399")).await;
    let shown = room.telegram.shown(group.chat);
    let whole: Vec<&str> =
        shown.iter().filter(|one| is_part(one)).map(|one| one.text.as_str()).collect();
    let (is, wanted) = (whole.join(" "), long_answer());
    assert!(is.split_whitespace().eq(wanted.split_whitespace()), "{is}");
}
