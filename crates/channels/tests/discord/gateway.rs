//! Lost connections, silence, and other faults of the gateway: nothing is lost, and nothing enters
//! twice.

use std::time::Duration;

use moothall_engine::channels::BotState;
use moothall_testkit::discord::{ChannelId, DiscordPerson, GatewayFault, RestFault};
use serde_json::json;

use crate::house::House;

/// Says words and waits until they are in the conversation, once.
async fn heard(
    house: &House,
    stream: &moothall_kernel::ids::StreamId,
    person: DiscordPerson,
    text: &str,
) {
    house.discord.say(house.channel, person, text);
    house.until_entered(stream, text).await;
}

#[tokio::test]
async fn a_lost_connection_is_resumed_and_nothing_is_lost() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    house.connected().await;
    for (number, fault) in [GatewayFault::Cut, GatewayFault::Reconnect, GatewayFault::Close(4000)]
        .into_iter()
        .enumerate()
    {
        house.bots.iter().for_each(|bot| house.discord.gateway_fault(bot, fault.clone()));
        let text = format!("meanwhile {number}");
        heard(&house, &stream, ann, &text).await;
        house.discord.wait_for(|it| it.resumed() >= 2 * (number + 1)).await;
        house.connected().await;
        assert_eq!(house.entered(&stream, &text).await, 1);
    }
    assert!(house.bots.iter().all(|bot| house.discord.identified(bot) == 1), "none began anew");
}

#[tokio::test]
async fn an_invalid_session_begins_anew_and_reads_back_what_was_missed() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    house.connected().await;
    heard(&house, &stream, ann, "before").await;
    let invalid = GatewayFault::InvalidSession(false);
    house.bots.iter().for_each(|bot| house.discord.gateway_fault(bot, invalid.clone()));
    for number in 0..120 {
        house.discord.say(house.channel, ann, &format!("missed {number}"));
    }
    house.until_entered(&stream, "missed 119").await;
    let bodies: Vec<String> = house
        .events(&stream)
        .await
        .iter()
        .filter_map(|one| one.event.body().map(str::to_owned))
        .filter(|body| body.starts_with("missed"))
        .collect();
    let wanted: Vec<String> = (0..120).map(|number| format!("missed {number}")).collect();
    assert_eq!(bodies, wanted);
}

#[tokio::test]
async fn silence_is_noticed_and_ended() {
    let house = House::open_with(|before, settings| {
        settings.bots.clear();
        settings.silence_max = Duration::from_secs(1);
        before.discord.gateway_fault(&before.bots[0], GatewayFault::Mute);
    })
    .await;
    // The first connection says nothing at all, not even hello.
    house.until_bot("moothall", |bot| bot.state == BotState::Unreachable).await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    house.discord.gateway_fault(&house.bots[0], GatewayFault::Silence);
    heard(&house, &stream, ann, "into the silence").await;
    house.until_bot("moothall", |bot| bot.state == BotState::Hearing).await;
    assert_eq!(house.entered(&stream, "into the silence").await, 1);
}

#[tokio::test]
async fn events_that_cannot_be_read_cost_themselves_only() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    house.connected().await;
    for bot in &house.bots {
        for fault in [
            GatewayFault::Raw("{".into()),
            GatewayFault::Raw("[]".into()),
            GatewayFault::Raw(json!({"op": 99, "d": {"x": [1]}}).to_string()),
            GatewayFault::Event("THOUGHT_CREATE".into(), json!({"depth": 7})),
            GatewayFault::Event("MESSAGE_CREATE".into(), json!({"id": 7, "content": []})),
            GatewayFault::Event("GUILD_CREATE".into(), json!("nothing")),
            GatewayFault::Event("INTERACTION_CREATE".into(), json!({"type": 3, "id": "x"})),
            GatewayFault::Event("CHANNEL_UPDATE".into(), json!({"id": "1", "guild_id": null})),
        ] {
            house.discord.gateway_fault(bot, fault);
        }
    }
    heard(&house, &stream, ann, "still here").await;
    assert_eq!(house.entered(&stream, "still here").await, 1);
}

#[tokio::test]
async fn without_the_content_of_messages_a_bot_says_what_it_needs() {
    let house = House::open_with(|before, settings| {
        settings.bots.clear();
        settings.silence_max = Duration::from_secs(1);
        before.discord.set_reads_content(&before.bots[0], false);
    })
    .await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    let bot = house.until_bot("moothall", |bot| bot.is_private && bot.cure.is_some()).await;
    assert!(bot.cure.unwrap().contains("Message Content Intent"));
    house.until_chat(|chat| chat.deaf.len() == 1).await;
    house.discord.say(house.channel, ann, "unheard");
    let mention = format!("<@{}> heard", house.bots[0].id);
    house.discord.say(house.channel, ann, &mention);
    house.until_entered(&stream, "heard").await;
    assert_eq!(house.entered(&stream, "unheard").await, 0);
    house.discord.set_reads_content(&house.bots[0], true);
    house.until_bot("moothall", |bot| !bot.is_private && bot.state == BotState::Hearing).await;
    heard(&house, &stream, ann, "all is heard").await;
}

#[tokio::test]
async fn a_denied_intent_is_no_end() {
    let house = House::open().await;
    house.connected().await;
    house.discord.gateway_fault(&house.bots[0], GatewayFault::Close(4014));
    house.discord.wait_for(|it| it.identified(&house.bots[0]) == 2).await;
    house.until_bot("moothall", |bot| bot.state == BotState::Hearing).await;
}

#[tokio::test]
async fn a_revoked_token_is_told() {
    let house = House::open().await;
    house.connected().await;
    house.discord.revoke(&house.bots[1]);
    let bot = house.until_bot("analyst", |bot| bot.state == BotState::Revoked).await;
    assert!(bot.cure.unwrap().contains("Reset Token"));
    // The words of its agent go by the webhook of the server's bot.
    let stream = house.bound(house.channel).await;
    house.speak(&stream, "analyst", "by another way").await;
    let shown = house.said(house.channel, |it| it.text == "by another way").await;
    assert_eq!((shown.from.as_str(), shown.is_webhook), ("analyst", true));
}

#[tokio::test]
async fn what_is_written_while_the_server_is_away_is_read_back_once() {
    let mut house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    house.discord.say(house.channel, ann, "before it was bound");
    for bot in ["moothall", "analyst"] {
        house.until_bot(bot, |bot| bot.heard_at.is_some()).await;
    }
    // What the bots heard last is what they take first.
    house.discord.say(house.channel, ann, &format!("<@{}>", house.bots[0].id));
    house.said(house.channel, |it| it.text.contains("not connected")).await;
    let stream = house.bound(house.channel).await;
    heard(&house, &stream, ann, "the newest").await;
    // The file of what was taken may be behind at a crash.
    house.stop().await;
    for number in 0..3 {
        house.discord.say(house.channel, ann, &format!("away {number}"));
    }
    house.discord.fault("GET /channels/{}/messages", RestFault::BadGateway);
    house.start().await;
    house.until_entered(&stream, "away 2").await;
    heard(&house, &stream, ann, "the last").await;
    for text in ["the newest", "away 0", "away 1", "away 2", "the last"] {
        assert_eq!(house.entered(&stream, text).await, 1, "{text}");
    }
    assert_eq!(house.entered(&stream, "before it was bound").await, 0);
}

#[tokio::test]
async fn two_servers_with_one_token_are_told() {
    let house = House::open().await;
    let other = House::beside(&house).await;
    house.discord.wait_for(|it| house.bots.iter().all(|bot| it.connected(bot) == 2)).await;
    let channel: ChannelId = house.discord.text_channel(house.guild, "theirs");
    let stream = other.bound(channel).await;
    other.speak(&stream, "analyst", "Which of us am I?").await;
    let bot = house.until_bot("analyst", |bot| bot.state == BotState::Foreign).await;
    assert!(bot.cure.unwrap().contains("Another program speaks as Analyst"));
    assert_eq!(other.bot("analyst").await.state, BotState::Hearing);
}
