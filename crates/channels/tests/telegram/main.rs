//! Telegram's bots in a hall, against the fake service.
#![allow(clippy::unwrap_used)]

mod cards;
mod drafts;
mod ephemeral;
mod house;
mod managed;
mod pollers;
mod rich;
mod rights;

use std::time::Duration;

use moothall_channels::telegram::bucket::Limit;
use moothall_engine::access::Scope;
use moothall_engine::channels::BotState;
use moothall_engine::ports::DeliveryState;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::ClientCommand;
use moothall_kernel::event::RecordedEvent;
use moothall_testkit::telegram::{ShownMessage, TelegramFault};
use serde_json::json;

use house::{House, user};

#[tokio::test]
async fn refused_formatting_becomes_plain_and_a_refused_rate_waits() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    let fault = TelegramFault::Refuse(400, "Bad Request: can't parse entities".into());
    house.telegram.fault(&house.bots[0], "sendMessage", fault);
    house.speak(&stream, "analyst", "It is **bold**.").await;
    let shown = house.said(group, |message| message.text == "It is bold.").await;
    assert!(shown.entities.is_empty(), "{shown:?}");

    house.telegram.fault(&house.bots[0], "sendMessage", TelegramFault::TooMany(json!(1)));
    house.speak(&stream, "analyst", "It is *late*.").await;
    let shown = house.said(group, |message| message.text == "It is late.").await;
    assert_eq!(shown.covered("italic"), ["late"]);
    let sent = house.telegram.texts(group).into_iter().filter(|text| text == "It is late.");
    assert_eq!(sent.count(), 1);
}

#[tokio::test]
async fn a_send_in_doubt_is_unknown_and_not_repeated() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    for (fault, text) in [
        (TelegramFault::ResetAfter, "sent, and reset"),
        (TelegramFault::BadGatewayAfter, "sent, and a page of HTML"),
    ] {
        house.telegram.fault(&house.bots[0], "sendMessage", fault);
        let seq = house.speak(&stream, "analyst", text).await;
        let (state, evidence) = house.ended(group, seq).await;
        assert_eq!(state, DeliveryState::Unknown, "{evidence}");
        let shown = house.telegram.texts(group).into_iter().filter(|shown| shown == text);
        assert_eq!(shown.count(), 1);
    }
    // What follows is not held up, and an odd answer means that it was sent.
    house.telegram.fault(&house.bots[0], "sendMessage", TelegramFault::OddAnswer);
    let seq = house.speak(&stream, "analyst", "and on").await;
    assert_eq!(house.ended(group, seq).await.0, DeliveryState::Done);
}

#[tokio::test]
async fn a_text_whose_second_part_waits_long_goes_on_where_it_was() {
    let slow = Limit { calls: 1, span: Duration::from_millis(5_500) };
    let house = House::open_with(|settings| settings.rates.chat = slow).await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[]).await;
    let stream = house.bound_to("7@analyst").await;
    let seq = house.speak(&stream, "analyst", &"word ".repeat(1_200)).await;
    let (state, evidence) = house.ended_at("7@analyst", seq).await;
    assert_eq!(state, DeliveryState::Done, "{evidence}");
    let texts = house.telegram.texts(house.telegram.private(ann, &house.bots[0]));
    assert_eq!(texts.iter().filter(|text| text.starts_with("word")).count(), 2);
}

#[tokio::test]
async fn a_group_that_moves_keeps_its_conversation() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    let group = house.telegram.group("Small");
    house.telegram.enter(group, ann);
    house.telegram.join(group, &house.bots[0], ann);
    house.said(group, |message| message.text.starts_with("This chat is connected")).await;
    let chat = |id: i64| -> Chat { format!("telegram:{id}").parse().unwrap() };
    let stream = house.hall.bound_to(&chat(group.id)).await.unwrap().unwrap();
    let moved = house.telegram.migrate(group);
    house.speak_as_person(&stream, "Are you there?").await;
    house.said(moved, |message| message.text.contains("Are you there?")).await;
    assert_eq!(house.hall.bound_to(&chat(moved.id)).await.unwrap(), Some(stream));
    assert_eq!(house.hall.bound_to(&chat(group.id)).await.unwrap(), None);
}

#[tokio::test]
async fn a_basic_group_is_heard_by_another_bot_if_one_stops_and_nothing_enters_twice() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    let group = house.telegram.group("Small");
    house.telegram.enter(group, ann);
    house.bots.iter().for_each(|bot| house.telegram.join(group, bot, ann));
    house.said(group, |message| message.text.starts_with("This chat is connected")).await;
    let chat: Chat = format!("telegram:{}", group.id).parse().unwrap();
    let stream = house.hall.bound_to(&chat).await.unwrap().unwrap();
    let entered = async |text: &str| {
        let events = house.events(&stream).await;
        events.iter().filter(|one| one.event.body() == Some(text)).count()
    };
    let until = async |text: &str, count: usize| {
        while entered(text).await < count {
            tokio::task::yield_now().await;
        }
    };
    for _ in 0..4 {
        let refused = TelegramFault::Refuse(401, "Unauthorized".into());
        house.telegram.fault(&house.bots[0], "getUpdates", refused);
    }
    house.telegram.say(group, ann, "by the first");
    until("by the first", 1).await;
    while house.first_bot().await.state != BotState::Revoked {
        tokio::task::yield_now().await;
    }
    house.telegram.say(group, ann, "equal");
    house.telegram.say(group, ann, "equal");
    until("equal", 2).await;
    assert_eq!(house.first_bot().await.state, BotState::Revoked);
    // The first bot hears them too when it is back, under other numbers.
    house.telegram.wait_for(|it| it.pending(&house.bots[0]).is_empty()).await;
    house.telegram.say(group, ann, "the last");
    until("the last", 1).await;
    assert_eq!((entered("by the first").await, entered("equal").await), (1, 2));
}

#[tokio::test]
async fn each_message_enters_once_whatever_the_network_does() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[]).await;
    let (group, stream) = house.bound_group().await;
    house.telegram.enter(group, ann);
    for bot in &house.bots {
        house.telegram.fault(bot, "getUpdates", TelegramFault::DuplicateUpdates);
        house.telegram.fault(bot, "getUpdates", TelegramFault::UnknownUpdate);
        house.telegram.fault(bot, "getUpdates", TelegramFault::Drop);
        house.telegram.fault(bot, "getUpdates", TelegramFault::BadGateway);
    }
    for number in 0..20 {
        house.telegram.say(group, ann, &format!("message {number}"));
    }
    let words = |events: &[RecordedEvent]| -> Vec<String> {
        let body = |one: &RecordedEvent| one.event.body().map(str::to_owned);
        events.iter().filter_map(body).filter(|text| text.starts_with("message ")).collect()
    };
    let mut entered = Vec::new();
    while entered.len() < 20 {
        entered = words(&house.events(&stream).await);
        tokio::task::yield_now().await;
    }
    let wanted: Vec<String> = (0..20).map(|number| format!("message {number}")).collect();
    assert_eq!(entered, wanted);
}

#[tokio::test]
async fn erased_words_are_deleted_in_the_chat() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    let seq = house.speak(&stream, "analyst", "a secret").await;
    house.ended(group, seq).await;
    let command = ClientCommand::Redact { seq, message: true, by: user() };
    house.hall.submit(&stream, command, None).await.unwrap();
    let is_gone = |message: &ShownMessage| message.text == "a secret" && message.is_deleted;
    house.telegram.wait_for(|it| it.shown(group).iter().any(is_gone)).await;
}
