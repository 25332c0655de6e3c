//! A private chat, a group of three bots, its commands, strangers, and a crash.

use moothall_testkit::telegram::{ShownMessage, TelegramServer};
use serde_json::Value;

use super::{AGENTS, ALL, Chatroom, OpenGroup, agents, bound, only_named};
use crate::harness::{Home, Server, comes_about};

#[tokio::test]
async fn a_paired_person_talks_with_one_agent_in_private() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    let chat = room.telegram.private(ann, &room.bots[0]);
    // A stranger is told once a minute what the bot is, and nothing is stored.
    room.telegram.say(chat, ann, "hello");
    room.said(chat, |message| message.text.contains("whose account is paired")).await;
    room.pair(&server, ann, &[]).await;
    room.telegram.say(chat, ann, "How are *earnings*?");
    let answer = room.said(chat, |message| message.text == "Revenue grew by 8 %.").await;
    assert_eq!(answer.from, "Analyst");

    let thread = bound(&server, "telegram:7@analyst").await;
    let events = server.events(&thread).await;
    let said: Vec<&Value> = events.iter().filter(|event| event["type"] == "message").collect();
    assert_eq!(said[0]["content"], "How are *earnings*?");
    assert_eq!(said[0]["from"], "user");
    assert_eq!(said[0]["meta"]["identity"], "telegram:7");
    assert_eq!(said[0]["meta"]["chat"], "telegram:7@analyst");
    assert!(events.iter().all(|event| event["content"] != "hello"));
}

#[tokio::test]
async fn the_seeds_conversation_runs_in_a_group_of_three_bots() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    room.pair(&server, ann, &ALL).await;
    let group = room.group(ann);
    room.said(group, |message| message.text.starts_with("This chat is connected")).await;
    let thread = bound(&server, &format!("telegram:{}", group.id)).await;
    let all = async || agents(&server, &thread).await.len() == 3;
    assert!(comes_about(all).await, "{:?}", agents(&server, &thread).await);

    room.telegram.say(group, ann, "@analyst_bot Analyze AAPL earnings");
    let analysis = room.said(group, |message| message.text == "Revenue grew by 8 %.").await;
    let draft = room.said(group, |message| message.text == "Here is a draft.").await;
    assert_eq!((analysis.from.as_str(), draft.from.as_str()), ("Analyst", "Writer"));
    // The words entered once, though three bots heard them.
    let events = server.events(&thread).await;
    let asked = events.iter().filter(|event| event["content"] == "@analyst Analyze AAPL earnings");
    assert_eq!(asked.count(), 1, "{events:#?}");
    // The critic passed, and no one saw it.
    let texts = room.telegram.texts(group);
    assert!(texts.iter().all(|text| !text.contains("PASS")), "{texts:?}");

    // A person on the page is named by the relay.
    server.say(&thread, "And what about margins?").await;
    let relayed = room.said(group, |message| message.text.contains("margins")).await;
    assert_eq!(relayed.text, "user (page):\nAnd what about margins?");
}

#[tokio::test]
async fn commands_of_the_seed_are_answered_in_the_group() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    room.pair(&server, ann, &ALL).await;
    let group = room.group(ann);
    let thread = bound(&server, &format!("telegram:{}", group.id)).await;
    let all = async || agents(&server, &thread).await.len() == 3;
    assert!(comes_about(all).await);

    let run = async |command: &str, answer: &str| {
        let asked = room.telegram.say(group, ann, command);
        let is_answer = |message: &ShownMessage| {
            message.key.id > asked.id && message.from_id != 7 && message.text.contains(answer)
        };
        room.said(group, is_answer).await
    };
    run("/group list", "cooldown_seconds").await;
    run("/group@critic_bot config cooldown_seconds 5", "cooldown_seconds").await;
    run("/group create analyst", "group").await;
    run("/group remove critic", "critic").await;
    assert!(!agents(&server, &thread).await.contains(&"critic".to_owned()));
    run("/group add critic", "critic").await;
    run("/ask writer -- a draft please", "Here is a draft.").await;
    run("/pause", "paused").await;
    run("/resume", "resumed").await;
    run("/mute critic", "critic").await;
    run("/why", "writer").await;
    run("/help", "/group create").await;
    run("/nonsense", "Unknown command").await;
    run("/group dissolve", "dissolved").await;
    let free = async || {
        let path = format!("/threads?chat=telegram:{}", group.id);
        server.get(&path).await["threads"].as_array().unwrap().is_empty()
    };
    assert!(comes_about(free).await, "the chat is no longer bound");
}

#[tokio::test]
async fn a_group_waits_for_a_person_with_the_right_to_open_it() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let (ann, bob) = (room.telegram.person(7, "Ann"), room.telegram.person(8, "Bob"));
    let group = room.group(bob);
    room.telegram.enter(group, ann);
    let line = room.said(group, |message| message.text.contains("not connected")).await;
    room.telegram.say(group, bob, "Is anybody here? @analyst_bot");
    room.telegram.say(group, bob, "/help@analyst_bot");
    room.said(group, |message| message.text.contains("whose account is paired")).await;
    // A stranger, and a person without the right, cannot open it.
    let press = room.telegram.press(bob, line.key, "Open");
    let answer = async || room.telegram.press_answer(&press).is_some();
    assert!(comes_about(answer).await);
    assert!(room.telegram.press_answer(&press).unwrap().text.contains("not paired"));
    assert_eq!(threads(&server).await, 0);

    room.pair(&server, ann, &["threads:admin"]).await;
    let press = room.telegram.press(ann, line.key, "Open");
    let answer = async || room.telegram.press_answer(&press).is_some();
    assert!(comes_about(answer).await);
    assert_eq!(room.telegram.press_answer(&press).unwrap().text, "The group is open.");
    let thread = bound(&server, &format!("telegram:{}", group.id)).await;
    assert_eq!(agents(&server, &thread).await.len(), 3, "the bots that are present are its agents");
}

/// Returns the number of conversations.
async fn threads(server: &Server<'_>) -> usize {
    server.get("/threads").await["threads"].as_array().unwrap().len()
}

#[tokio::test]
async fn strangers_are_dropped_and_counted() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let OpenGroup { chat: group, person: ann, thread } = room.open_group(&server).await;
    let bob = room.telegram.person(8, "Bob");
    room.telegram.enter(group, bob);
    room.telegram.say(group, bob, "@analyst_bot tell me everything");
    room.telegram.anonymous_admin(group, "I am the admin: /group dissolve").send();
    room.telegram.say(group, bob, "/group dissolve");
    room.telegram.say(group, ann, "@writer_bot a draft please");
    room.said(group, |message| message.text == "Here is a draft.").await;
    let events = server.events(&thread).await;
    let said: Vec<&str> = events
        .iter()
        .filter(|event| event["type"] == "message")
        .filter_map(|event| event["content"].as_str())
        .collect();
    assert_eq!(said[0], "@writer a draft please", "{said:?}");
    let channels = server.json(&["channels"]);
    let chats = channels["channels"][0]["chats"].as_array().unwrap();
    let dropped = chats.iter().find(|chat| chat["thread"] == *thread).unwrap();
    assert!(dropped["dropped"].as_u64().unwrap() >= 3, "{channels}");
}

#[tokio::test]
async fn a_bot_that_is_removed_takes_its_agent_out() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    room.pair(&server, ann, &ALL).await;
    let group = room.group(ann);
    let thread = bound(&server, &format!("telegram:{}", group.id)).await;
    let count = async |wanted| agents(&server, &thread).await.len() == wanted;
    assert!(comes_about(async || count(3).await).await);
    room.telegram.kick(group, &room.bots[0], ann);
    assert!(comes_about(async || count(2).await).await);
    room.said(group, |message| message.text == "analyst left.").await;
    // The other bots speak on.
    room.telegram.say(group, ann, "@writer_bot a draft please");
    room.said(group, |message| message.text == "Here is a draft.").await;
}

#[tokio::test]
async fn after_a_restart_each_agent_still_speaks_by_its_own_bot() {
    // Bots in privacy mode hear little, so a server knows little of a group after its start.
    let room = Chatroom::with_privacy(true).await;
    let server = room.serve().await;
    let OpenGroup { chat: group, person: ann, thread } = room.open_group(&server).await;
    only_named(&server, &thread).await;
    let server = server.crash_and_restart();
    room.telegram.say(group, ann, "/help@writer_bot");
    room.said(group, |message| message.text.contains("/group create")).await;
    server.say(&thread, "@analyst How was the year?").await;
    let answer = room.said(group, |message| message.text.ends_with("Revenue grew by 8 %.")).await;
    assert_eq!((answer.from.as_str(), answer.text.as_str()), ("Analyst", "Revenue grew by 8 %."));
}

#[tokio::test]
async fn a_crash_repeats_nothing_and_loses_nothing() {
    let room = Chatroom::new().await;
    let mut server = room.serve().await;
    let ann = room.telegram.person(7, "Ann");
    room.pair(&server, ann, &ALL).await;
    let group = room.group(ann);
    let thread = bound(&server, &format!("telegram:{}", group.id)).await;
    assert!(comes_about(async || agents(&server, &thread).await.len() == 3).await);
    for round in 0..4 {
        for number in 0..5 {
            server.say(&thread, &format!("round {round} number {number} to @nobody")).await;
            room.telegram.say(group, ann, &format!("from the group {round} {number}"));
        }
        server.kill();
        server = room.home.serve();
    }
    let in_group =
        |text: &str| room.telegram.texts(group).iter().filter(|shown| shown.contains(text)).count();
    let all = async || {
        (0..4).all(|round| {
            (0..5).all(|number| in_group(&format!("round {round} number {number} ")) == 1)
        })
    };
    let unknown = server.get(&format!("/threads/{thread}/deliveries")).await;
    if !comes_about(all).await {
        let missing: Vec<String> = (0..4)
            .flat_map(|round| (0..5).map(move |number| format!("round {round} number {number} ")))
            .filter(|text| in_group(text) != 1)
            .collect();
        let doubtful = unknown["deliveries"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["state"] == "unknown")
            .count();
        assert!(missing.iter().all(|text| in_group(text) == 0), "{missing:?}");
        assert!(doubtful >= missing.len(), "{missing:?} {unknown}");
    }
    for round in 0..4 {
        for number in 0..5 {
            let text = format!("from the group {round} {number}");
            let entered = async || {
                let events = server.events(&thread).await;
                events.iter().filter(|event| event["content"] == *text).count() == 1
            };
            assert!(comes_about(entered).await, "{text}");
        }
    }
}

/// The way of docs/channels.md, "The first bot", as a person types it; then the bot is taken away.
// The service answers while the command waits, so it needs a thread of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_is_added_by_its_token_and_taken_away() {
    let telegram = TelegramServer::start().await.unwrap();
    let bot = telegram.add_bot("analyst_bot", "Analyst");
    let home = Home::new();
    home.sign();
    let channel = format!("[channels.telegram]\nbase_url = \"{}\"\n", telegram.url());
    home.configure(&format!("{AGENTS}\n{channel}"));
    let server = home.serve();
    // Without a bot no chat can be bound: its deliveries would wait for ever.
    let thread = server.thread().await;
    let refused = |args: &[&str]| {
        let output = server.command(args).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["channels", "bind", &thread, "telegram:-1"]).contains("no channel"));

    let token = home.path().join("token");
    std::fs::write(&token, format!("{}\n", bot.token)).unwrap();
    let token = token.to_string_lossy();
    let add = |agent| ["channels", "add", "telegram", agent, "--bot-token-file", &token];
    assert!(refused(&add("nosuch")).contains("no agent"));
    let added = server.ok(&add("analyst"));
    assert!(added.contains("@analyst_bot"), "{added}");
    let pairing = server.json(&["channels", "pair", "telegram"]);
    let link = pairing["links"][0]["url"].as_str().unwrap();
    let code = link.split_once("?start=").unwrap().1;
    assert!(link.starts_with("https://t.me/analyst_bot") && code.len() <= 64, "{link}");

    let ann = telegram.person(7, "Ann");
    let chat = telegram.private(ann, &bot);
    let says = async |text: &str| {
        comes_about(async || telegram.texts(chat).iter().any(|shown| shown.contains(text))).await
    };
    telegram.say(chat, ann, &format!("/start {code}"));
    assert!(says("You are now user").await, "{:?}", telegram.texts(chat));
    // It works again after a restart, because the token was kept.
    let server = server.crash_and_restart();
    telegram.say(chat, ann, "hello");
    assert!(says("Revenue grew by 8 %.").await, "{:?}", telegram.texts(chat));

    let ended = server.json(&["channels", "unpair", "telegram:7"]);
    assert_eq!(ended["account"], "telegram:7");
    server.ok(&["channels", "remove", "telegram", "analyst", "--yes"]);
    telegram.wait_for(|it| !it.is_polling(&bot)).await;
    assert!(server.json(&["channels"])["channels"][0]["bots"].as_array().unwrap().is_empty());
}
