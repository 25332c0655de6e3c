//! Two programs that receive for the same bot: both say so, for as long as it lasts.

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
