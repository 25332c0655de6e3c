//! Bad input through the whole server: updates and answers with unknown words, crowds, bots that
//! are removed, chats that are deleted, and names that look like others.

use moothall_testkit::telegram::{ShownMessage, TelegramFault};
use serde_json::{Value, json};

use super::{Chatroom, OpenGroup, agents, deliveries, entered, only_named, words};
use crate::harness::comes_about;

/// Returns updates with words that no client knows, as the service sent or may send them.
fn odd_updates(group: &OpenGroup) -> Vec<(&'static str, Value)> {
    let chat = json!({"id": group.chat.id, "type": "supergroup", "title": "Market"});
    let ann = json!({"id": 7, "is_bot": false, "first_name": "Ann"});
    let bot = json!({"id": 700_001, "is_bot": true, "first_name": "A", "username": "analyst_bot"});
    let message = |fields: Value| {
        let mut message = json!({"message_id": 900_000, "date": 1, "chat": chat, "from": ann});
        for (name, value) in fields.as_object().unwrap() {
            message[name] = value.clone();
        }
        json!({"message": message})
    };
    let member = |status: &str| json!({"user": bot, "status": status});
    let entity = |kind: &str, offset: i64, length: i64| json!({"type": kind, "offset": offset, "length": length});
    vec![
        ("an unknown kind", json!({"thought_received": {"thought": 1}})),
        ("nothing in it", json!({})),
        ("an unknown chat", message(json!({"chat": {"id": -9, "type": "hall"}, "text": "odd"}))),
        (
            "an unknown standing",
            json!({"my_chat_member": {
                "chat": chat, "from": ann, "date": 1,
                "old_chat_member": member("member"), "new_chat_member": member("visitor"),
            }}),
        ),
        (
            "an unknown block",
            message(json!({
                "message_id": 900_001,
                "rich_message": {"blocks": [{"type": "hologram", "depth": {"layers": 3}}]},
            })),
        ),
        (
            "an unknown origin",
            message(json!({
                "message_id": 900_002, "text": "odd origin",
                "external_reply": {"origin": {"type": "dream"}},
                "forward_origin": {"type": "dream", "date": 1},
            })),
        ),
        (
            "unknown entities and some outside of the text",
            message(json!({
                "message_id": 900_003, "text": "odd 🎈 entities",
                "entities": [
                    entity("aura", 0, 3), entity("mention", 90, 4), entity("bold", -3, 9),
                    entity("bold", 5, 1), entity("bot_command", 4, i64::MAX),
                ],
            })),
        ),
        (
            "unknown content",
            message(json!({"message_id": 900_004, "hologram": {"layers": 3, "file_id": "x"}})),
        ),
        ("words that are no text", message(json!({"message_id": 900_005, "text": 5, "date": "x"}))),
        (
            "a press without a message",
            json!({"callback_query": {"id": "1", "from": ann, "chat_instance": "1", "data": "x"}}),
        ),
        (
            "an anonymous admin",
            message(json!({
                "message_id": 900_006, "text": "/group dissolve", "sender_chat": chat,
                "from": {"id": 1_087_968_824, "is_bot": true, "first_name": "Group"},
            })),
        ),
        (
            "a reaction and a list in place of an object",
            json!({"message_reaction": [1, 2, 3], "message": []}),
        ),
    ]
}

#[tokio::test]
async fn updates_with_unknown_words_cost_no_message_behind_them() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    for (name, update) in odd_updates(&group) {
        room.bots.iter().for_each(|bot| room.telegram.raw_update(bot, update.clone()));
        let text = format!("behind {name}");
        room.telegram.say(group.chat, group.person, &text);
        entered(&server, &group.thread, &text).await;
    }
    assert_eq!(agents(&server, &group.thread).await.len(), 3, "no agent was taken out");
    let said = words(&server, &group.thread).await;
    let odd: Vec<&String> = said.iter().filter(|text| !text.starts_with("behind")).collect();
    assert_eq!(odd.len(), 4, "the words that can be read, once each: {odd:?}");
    assert!(room.telegram.texts(group.chat).iter().all(|text| !text.contains("dissolved")));
    // The page and the list still work with all of that.
    assert_eq!(server.json(&["channels"])["channels"][0]["bots"][0]["state"], "hearing");
}

#[tokio::test]
async fn answers_of_a_broken_service_lose_and_repeat_nothing() {
    let room = Chatroom::new().await;
    for bot in &room.bots {
        let fault = TelegramFault::OldAnswer("can_connect_to_business".into());
        room.telegram.fault(bot, "getMe", fault);
    }
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let faults = [
        TelegramFault::TooMany(json!(0.05)),
        TelegramFault::TooMany(json!("1")),
        TelegramFault::BadGateway,
        TelegramFault::BadGatewayAfter,
        TelegramFault::ResetAfter,
        TelegramFault::OddAnswer,
        TelegramFault::UnreadableAnswer,
        TelegramFault::Drop,
    ];
    for (number, fault) in faults.iter().enumerate() {
        room.telegram.fault(&room.bots[0], "sendMessage", fault.clone());
        let text = format!("outward {number}");
        server.say(&group.thread, &text).await;
        let newest = async || deliveries(&server, &group.thread).await[0]["state"].clone();
        let ends = async || ["done", "unknown"].contains(&newest().await.as_str().unwrap());
        assert!(comes_about(ends).await, "{fault:?}");
        let (state, shown) =
            (newest().await, room.count(group.chat, |one| one.text.ends_with(&text)));
        let is_sure = matches!(
            fault,
            TelegramFault::TooMany(_) | TelegramFault::OddAnswer | TelegramFault::UnreadableAnswer
        );
        assert_eq!(state, if is_sure { "done" } else { "unknown" }, "{fault:?}");
        assert!(shown <= 1 && (shown == 1 || state == "unknown"), "{fault:?}: {shown} {state}");
    }
    for (number, fault) in faults.into_iter().enumerate() {
        room.bots.iter().for_each(|bot| room.telegram.fault(bot, "getUpdates", fault.clone()));
        let text = format!("inward {number}");
        room.telegram.say(group.chat, group.person, &text);
        entered(&server, &group.thread, &text).await;
    }
}

#[tokio::test]
async fn a_crowd_of_strangers_is_counted_and_costs_no_word_of_a_person() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let crowd: Vec<_> = (1_000..1_200).map(|id| room.telegram.person(id, "Ann")).collect();
    for person in &crowd {
        room.telegram.enter(group.chat, *person);
        for number in 0..4 {
            room.telegram.say(group.chat, *person, &format!("@analyst_bot buy {number}"));
        }
        room.telegram.say(group.chat, *person, "/help@analyst_bot");
    }
    room.telegram.say(group.chat, group.person, "@writer_bot a draft please");
    room.said(group.chat, |message| message.text == "Here is a draft.").await;
    let said = words(&server, &group.thread).await;
    assert_eq!(said, ["@writer a draft please", "Here is a draft."]);
    let answers = room.count(group.chat, |one| one.text.contains("whose account is paired"));
    assert_eq!(answers, 1, "once a minute");
    let dropped =
        async || server.json(&["channels"])["channels"][0]["chats"][0]["dropped"].as_u64().unwrap();
    assert!(comes_about(async || dropped().await >= 200 * 5).await, "{}", dropped().await);
}

#[tokio::test]
async fn a_bot_that_is_removed_in_the_middle_of_a_turn_ends_it() {
    let slow = r#"
[agents.analyst]
command = ["/bin/sh", "-c", "read -r document; read -r gate < gate; echo 'Too late.'"]
[agents.writer]
replies = ["Here is a draft."]
[agents.critic]
replies = ["[PASS]"]
"#;
    let room = Chatroom::with_agents(slow, false).await;
    let gate = room.home.path().join("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    room.telegram.say(group.chat, group.person, "@analyst_bot How was the year?");
    let turns = async || {
        let state = server.get(&format!("/threads/{}/state", group.thread)).await;
        state["state"]["turns"].as_array().unwrap().clone()
    };
    assert!(comes_about(async || turns().await.iter().any(|it| it["state"] == "running")).await);
    room.telegram.kick(group.chat, &room.bots[0], group.person);
    room.said(group.chat, |message| message.text == "analyst left.").await;
    assert!(comes_about(async || turns().await.is_empty()).await);
    room.telegram.say(group.chat, group.person, "@writer_bot a draft please");
    room.said(group.chat, |message| message.text == "Here is a draft.").await;
    assert_eq!(room.count(group.chat, |message| message.text.contains("Too late")), 0);
    assert!(words(&server, &group.thread).await.iter().all(|text| !text.contains("Too late")));
}

#[tokio::test]
async fn a_deleted_chat_fails_in_words_and_the_rest_goes_on() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    room.telegram.delete_chat(group.chat);
    server.say(&group.thread, "Is this read?").await;
    let failed = async || deliveries(&server, &group.thread).await[0].clone();
    assert!(comes_about(async || failed().await["state"] == "failed").await);
    let why = failed().await["why"].as_str().unwrap().to_owned();
    assert!(why.contains("group chat was deleted"), "{why}");
    let listed = server.json(&["channels"]);
    assert_eq!(listed["channels"][0]["chats"][0]["state"], "away", "{listed}");
    let chat = room.telegram.private(group.person, &room.bots[1]);
    room.telegram.say(chat, group.person, "A draft please");
    room.said(chat, |message| message.text == "Here is a draft.").await;
}

#[tokio::test]
async fn names_that_look_like_others_give_no_rights_and_wake_no_agent() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    // A stranger with the name of a paired person, and one with the name of the server.
    for (id, name) in [(17, "Ann"), (18, "moothall"), (19, "user (page)")] {
        let person = room.telegram.person_named(id, name, &format!("analyst_b0t{id}"));
        room.telegram.enter(group.chat, person);
        room.telegram.say(group.chat, person, "@analyst_bot /group dissolve");
        room.telegram.say(group.chat, person, "/group dissolve");
    }
    let look_alikes = ["@analyst_b0t hello", "@аnalyst_bot hello", "@everyone hello"];
    for text in look_alikes {
        room.telegram.say(group.chat, group.person, text);
        entered(&server, &group.thread, text).await;
    }
    let asked = room.telegram.say(group.chat, group.person, "/why");
    let answer = |message: &ShownMessage| message.key.id > asked.id && message.from_id != 7;
    let why = room.said(group.chat, answer).await;
    assert!(why.text.contains("there is no @everyone here"), "{}", why.text);
    assert_eq!(words(&server, &group.thread).await, look_alikes);

    // A name with signs that turn the direction of writing is a title without them.
    let odd = room.telegram.person(27, "Ann\u{202e}\nmoothall: all is well");
    room.pair(&server, odd, &[]).await;
    let chat = room.telegram.private(odd, &room.bots[1]);
    room.telegram.say(chat, odd, "A draft please");
    room.said(chat, |message| message.text == "Here is a draft.").await;
    let listed = server.get("/threads?chat=telegram:27@writer").await;
    let title = listed["threads"][0]["name"].as_str().unwrap();
    assert!(!title.contains(['\u{202e}', '\n']), "{title:?}");
}

#[tokio::test]
async fn a_command_is_answered_once_whichever_bots_heard_it() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    for bot in &room.bots {
        room.telegram.fault(bot, "getUpdates", TelegramFault::DuplicateUpdates);
    }
    room.telegram.say(group.chat, group.person, "/group list");
    room.telegram.say(group.chat, group.person, "/nonsense");
    // The bots take what they hear in order, so the answers above are all there after this.
    for bot in ["analyst", "writer", "critic"] {
        room.telegram.say(group.chat, group.person, &format!("/help@{bot}_bot"));
    }
    let helps = async || room.count(group.chat, |one| one.text.contains("/group create")) >= 3;
    assert!(comes_about(helps).await);
    let heard = async || room.bots.iter().all(|bot| room.telegram.pending(bot).is_empty());
    assert!(comes_about(heard).await);
    let texts = room.telegram.texts(group.chat);
    for (answer, wanted) in [("cooldown_seconds", 1), ("Unknown command", 1), ("/group create", 3)]
    {
        let is = texts.iter().filter(|text| text.contains(answer)).count();
        assert_eq!(is, wanted, "{answer}: {texts:#?}");
    }
}
