//! Two programs that use the same bot: two that receive for it, and one that speaks as it.

use std::time::Duration;

use moothall_channels::telegram::client::{Client, SendMessage, connector};
use moothall_engine::channels::BotState;
use moothall_testkit::telegram::CallOutcome;

use crate::house::House;

/// Time after which another receiver is told of, and some.
const DOUBLED_AFTER_S: i64 = 140;

/// Waits until the first bot of both halls has this state.
async fn both(houses: [&House; 2], wanted: BotState) {
    for house in houses {
        while house.first_bot().await.state != wanted {
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the number of polls of the first bot that were refused for another one.
fn refusals(house: &House) -> usize {
    let calls = house.telegram.calls_of(&house.bots[0], "getUpdates");
    let is_refused =
        |outcome: &CallOutcome| matches!(outcome, CallOutcome::Refusal { code: 409, .. });
    calls.iter().filter(|call| is_refused(&call.outcome)).count()
}

#[tokio::test]
async fn another_receiver_is_told_of_though_messages_still_arrive_and_the_state_heals() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    let chat = house.telegram.private(ann, &house.bots[0]);
    let second = House::beside(&house).await;
    // They end each other's polls in turn, so each was refused at least once.
    house.telegram.wait_for(|_| refusals(&house) >= 3).await;
    assert_ne!(house.first_bot().await.state, BotState::Doubled, "one refusal means little");
    for refused in [5, 7] {
        for one in [&house, &second] {
            one.clock.put_forward(DOUBLED_AFTER_S / 2);
        }
        house.telegram.wait_for(|_| refusals(&house) >= refused).await;
    }
    both([&house, &second], BotState::Doubled).await;
    let cure = house.first_bot().await.cure.unwrap();
    assert!(cure.contains("Another program receives"), "{cure}");

    // A message that arrives at one of them does not mean that all do.
    let heard = async || [house.first_bot().await.heard_at, second.first_bot().await.heard_at];
    let before = heard().await;
    house.telegram.say(chat, ann, "hello");
    while heard().await == before {
        tokio::task::yield_now().await;
    }
    house.telegram.wait_for(|it| it.pending(&house.bots[0]).is_empty()).await;
    for one in [&house, &second] {
        assert_eq!(one.first_bot().await.state, BotState::Doubled);
    }

    drop(second);
    house.clock.put_forward(DOUBLED_AFTER_S);
    while house.first_bot().await.state != BotState::Hearing {
        house.telegram.say(chat, ann, "Are you alone now?");
        house.telegram.wait_for(|it| it.pending(&house.bots[0]).is_empty()).await;
    }
    assert_eq!(house.first_bot().await.cure, None);
}

#[tokio::test]
async fn a_bot_as_which_another_program_speaks_stops_and_the_chat_is_told() {
    let house = House::open().await;
    house.telegram.let_bots_hear_bots(true);
    house.telegram.limit_rates(false);
    let (group, stream) = house.bound_group().await;
    let url = house.telegram.url();
    let token = house.bots[0].token.parse().unwrap();
    let other = Client::new(connector(&url).unwrap(), &url, token);
    let words = SendMessage { chat_id: group.id, text: "not ours".into(), ..Default::default() };
    // The first seconds after a start are not judged, because clocks differ.
    let mut pause = tokio::time::interval(Duration::from_millis(500));
    // Words of the other bot are our own, and never a sign of another program.
    for number in 0..3 {
        house.speak(&stream, "writer", &format!("ours {number}")).await;
    }
    while house.first_bot().await.state != BotState::Foreign {
        pause.tick().await;
        other.send_message(&words).await.unwrap();
    }
    let cure = house.first_bot().await.cure.unwrap();
    assert!(cure.contains("Another program speaks as @analyst_bot"), "{cure}");
    let told = house.said(group, |message| message.text.starts_with("Another program")).await;
    assert_eq!(told.from, "writer");
    assert_eq!(house.bot("writer").await.state, BotState::Hearing);
    // The agent's words go through a bot that still speaks.
    house.speak(&stream, "analyst", "by another").await;
    let shown = house.said(group, |message| message.text.contains("by another")).await;
    assert_eq!(shown.from, "writer");
}
