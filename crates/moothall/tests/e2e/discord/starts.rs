//! Bots that are added and taken away, states that the doctor names, and deaths of the server.

use moothall_testkit::discord::{ChannelId, DiscordServer, GatewayFault, Permission, RestFault};

use super::{AGENTS, Channelroom, entered, listed};
use crate::harness::{Home, comes_about, stderr};

/// The way of docs/discord.md, "The first bot", as a person types it; then the bot is taken away.
// The service answers while the command waits, so it needs a thread of its own.
#[tokio::test(flavor = "multi_thread")]
async fn a_bot_is_added_by_its_token_and_taken_away() {
    let discord = DiscordServer::start().await.unwrap();
    let (bot, own) = (discord.add_bot("Moothall"), discord.add_bot("Analyst"));
    let (guild, ann) = (discord.guild("Market"), discord.person("Ann"));
    let channel = discord.text_channel(guild, "earnings");
    discord.invite(guild, &bot);
    let home = Home::new();
    home.sign();
    let addresses = (discord.url(), discord.gateway_url());
    home.configure(&format!(
        "{AGENTS}\n[channels.discord]\nrest_url = \"{}\"\ngateway_url = \"{}\"\n",
        addresses.0, addresses.1
    ));
    let server = home.serve();
    let thread = server.thread().await;
    let place = format!("discord:{}", channel.0);
    let refused = |args: &[&str]| {
        let output = server.command(args).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        stderr(&output)
    };
    assert!(refused(&["channels", "bind", &thread, &place]).contains("no channel"));
    let token = home.path().join("token");
    let token_file = token.to_string_lossy().into_owned();
    let add = |agent| ["channels", "add", "discord", agent, "--bot-token-file", &token_file];
    std::fs::write(&token, "not a token\n").unwrap();
    assert!(refused(&add("moothall")).contains("three parts"));
    std::fs::write(&token, "a.b.c\n").unwrap();
    assert!(refused(&add("moothall")).contains("does not accept"));
    std::fs::write(&token, &bot.token).unwrap();
    assert!(refused(&add("nosuch")).contains("no agent"));
    let added = server.ok(&add("moothall"));
    assert!(added.contains("Moothall"), "{added}");
    assert!(refused(&add("analyst")).contains("that of moothall already"));
    std::fs::write(&token, &own.token).unwrap();
    server.ok(&add("analyst"));
    assert!(
        refused(&["channels", "offer", "discord", "writer"]).contains("webhook")
            || refused(&["channels", "offer", "discord", "writer"])
                .contains("channels add discord")
    );

    let code = server.json(&["channels", "pair", "discord"])["code"].as_str().unwrap().to_owned();
    let chat = discord.direct(ann, &own);
    let says = async |text: &str| {
        comes_about(async || discord.texts(chat).iter().any(|shown| shown.contains(text))).await
    };
    discord.wait_for(|it| it.connected(&own) > 0).await;
    discord.say(chat, ann, &format!("/start {code}"));
    assert!(says("You are now user").await, "{:?}", discord.texts(chat));
    // It works again after a restart, because the token was kept.
    let server = server.crash_and_restart();
    discord.wait_for(|it| it.connected(&own) > 0).await;
    discord.say(chat, ann, "hello");
    assert!(says("Revenue grew by 8 %.").await, "{:?}", discord.texts(chat));
    server.ok(&["channels", "unpair", &format!("discord:{}", ann.0)]);
    server.ok(&["channels", "remove", "discord", "analyst", "--yes"]);
    discord.wait_for(|it| it.connected(&own) == 0).await;
    assert_eq!(listed(&server)["bots"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_names_tokens_intents_and_permissions() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    room.open(&server, "analyst").await;
    let doctor = || {
        let output = server
            .command(&["--server", &server.url, "doctor", "--bind", "127.0.0.1:0"])
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
    };
    let names = async |word: &str| comes_about(async || doctor().contains(word)).await;
    let denied = [Permission::ManageWebhooks, Permission::ReadHistory];
    room.discord.deny(room.channel, &room.bot, &denied);
    assert!(names("Read Message History, Manage Webhooks").await, "{}", doctor());
    room.discord.deny(room.channel, &room.bot, &[]);
    room.discord.set_reads_content(&room.bot, false);
    room.discord.gateway_fault(&room.bot, GatewayFault::Close(4014));
    assert!(names("Message Content Intent").await, "{}", doctor());
    room.discord.revoke(&room.bot);
    assert!(names("Reset Token").await, "{}", doctor());
}

#[tokio::test]
async fn a_crash_repeats_nothing_and_loses_nothing() {
    let room = Channelroom::new().await;
    let mut server = room.serve().await;
    let thread = room.open(&server, "critic").await;
    for round in 0..4 {
        for number in 0..5 {
            server.say(&thread, &format!("page {round} {number}")).await;
            room.discord.say(room.channel, room.ann, &format!("channel {round} {number}"));
        }
        server.kill();
        // What is written while no server runs is read back.
        room.discord.say(room.channel, room.ann, &format!("away {round}"));
        server = room.home.serve();
    }
    for round in 0..4 {
        for number in 0..5 {
            entered(&server, &thread, &format!("channel {round} {number}")).await;
        }
        entered(&server, &thread, &format!("away {round}")).await;
    }
    let path = format!("/threads/{thread}/deliveries");
    let settled = async || {
        let all = server.get(&path).await["deliveries"].clone();
        let is_over =
            |one: &serde_json::Value| one["state"] != "pending" && one["state"] != "sending";
        all.as_array().unwrap().iter().all(is_over)
    };
    assert!(comes_about(settled).await, "{}", server.get(&path).await);
    let deliveries = server.get(&path).await["deliveries"].clone();
    let of = |state: &str| {
        let all = deliveries.as_array().unwrap().iter();
        all.filter(|one| one["state"] == state).count()
    };
    assert_eq!(of("failed"), 0, "{deliveries}");
    let missing = (0..20)
        .filter(|at| {
            let text = format!("page {} {}", at / 5, at % 5);
            let shown = room.count(|said| said == text);
            assert!(shown <= 1, "{text} is shown {shown} times");
            shown == 0
        })
        .count();
    assert!(missing <= of("unknown"), "{missing} are missing: {deliveries}");
}

#[tokio::test]
async fn a_refusal_of_hours_holds_its_channel_and_no_other() {
    let room = Channelroom::new().await;
    let server = room.serve().await;
    let thread = room.open(&server, "analyst").await;
    let other = room.discord.text_channel(room.guild, "other");
    room.discord.say(other, room.ann, "/group create writer");
    room.discord.wait_for_message(other, |it| it.text.starts_with("This chat")).await;
    let hook = "POST /webhooks/{}/{}";
    room.discord.fault(hook, RestFault::TooMany(13_938.0));
    server.say(&thread, "held back").await;
    let is_held = async || room.discord.calls_of(hook).len() == 1;
    assert!(comes_about(is_held).await);
    room.discord.say(other, room.ann, "@writer a draft please");
    let draft = room.discord.wait_for_message(other, |it| it.text == "Here is a draft.").await;
    assert_eq!(draft.from, "writer");
    assert_eq!(room.count(|text| text == "held back"), 0);
    let chats = listed(&server)["chats"].clone();
    let of = |channel: ChannelId| {
        let key = format!("discord:{}", channel.0);
        let mut chats = chats.as_array().unwrap().iter();
        chats.find(|chat| chat["chat"] == *key).unwrap()["owed"].as_u64().unwrap()
    };
    assert!(of(room.channel) > 0 && of(other) == 0, "{chats}");
}
