//! What an account, and a member of a channel, reach and do not reach.

use moothall_engine::ports::{DeliveryState, RevocationScope};
use moothall_testkit::discord::{ChannelMessage, RestFault};

use crate::house::House;

const READ_CHANNEL: &str = "GET /channels/{}";

#[tokio::test]
async fn a_code_that_a_channel_shows_pairs_no_account() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let stream = house.bound(house.channel).await;
    let (seen, edited) = (house.code(&[]).await, house.code(&[]).await);
    house.discord.say(house.channel, ann, &format!("`/start {seen}`"));
    let told = |it: &&ChannelMessage| it.text.contains("can read that code");
    house.said(house.channel, |it| told(&it)).await;
    let first = house.discord.say(house.channel, ann, "a word");
    house.until_entered(&stream, "a word").await;
    house.discord.edit(house.channel, first, &edited);
    house.discord.wait_for(|it| it.shown(house.channel).iter().filter(told).count() == 2).await;

    let eve = house.discord.person("Eve");
    let chat = house.discord.direct(eve, &house.bots[0]);
    for code in [&seen, &edited] {
        house.discord.say(chat, eve, code);
    }
    let refused = |it: &&ChannelMessage| it.text.contains("not valid");
    house.discord.wait_for(|it| it.shown(chat).iter().filter(refused).count() == 2).await;
    let events = house.events(&stream).await;
    assert!(!events.iter().any(|one| format!("{:?}", one.event).contains("pair_")));
}

#[tokio::test]
async fn a_direct_chat_without_a_paired_person_gets_no_words() {
    let mut house = House::open().await;
    let ann = house.paired("Ann", &[]).await;
    let chat = house.discord.direct(ann, &house.bots[1]);
    house.discord.say(chat, ann, "Between us.");
    let place = format!("discord:{}@analyst", chat.0);
    let stream = house.until_bound(&place).await;
    house.until_entered(&stream, "Between us.").await;
    let seq = house.speak(&stream, "analyst", "Understood.").await;
    assert_eq!(house.ended_at(&place, seq).await.0, DeliveryState::Done);
    // A server that began anew asks Discord for the person, and says nothing without an answer.
    house.stop().await;
    house.discord.fault(READ_CHANNEL, RestFault::Refuse(403, 50001, "Missing Access".into()));
    house.start().await;
    let seq = house.speak(&stream, "analyst", "for an unknown person").await;
    let (state, evidence) = house.ended_at(&place, seq).await;
    assert_eq!(state, DeliveryState::Failed, "{evidence}");
    let seq = house.speak(&stream, "analyst", "for a paired person").await;
    assert_eq!(house.ended_at(&place, seq).await.0, DeliveryState::Done);

    let accounts = house.access.accounts().await.unwrap();
    house.access.revoke(&house.owner, &accounts[0].id, RevocationScope::Own).await.unwrap();
    let seq = house.speak(&stream, "analyst", "not for a stranger").await;
    let (state, evidence) = house.ended_at(&place, seq).await;
    assert_eq!(state, DeliveryState::Failed, "{evidence}");
    assert!(evidence.contains("not paired"), "{evidence}");
    let texts = house.discord.texts(chat);
    assert_eq!(texts.iter().filter(|text| text.contains("for a")).count(), 1, "{texts:?}");
}
