//! Questions of agents in private rooms with the relay.

use moothall_engine::access::Scope;
use moothall_kernel::event::Event;
use serde_json::json;

use super::house::House;

#[tokio::test]
async fn a_question_is_answered_by_a_reaction_in_a_private_room() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.ask(&stream).await;
    house.said(&room, |shown| shown.body == "analyst waits for an answer.").await;
    let private = private_room(&house, &room);
    let card = house.said(&private, |shown| shown.body.contains("Remove the folder")).await;
    assert!(card.body.contains("1. Yes, this once"), "{}", card.body);
    assert!(!house.homeserver.texts(&room).iter().any(|text| text.contains("Remove")));
    // Another person's reaction answers nothing, nor does a number without an option.
    let bob = house.homeserver.user("bob");
    house.homeserver.invite(&private, &house.ann, "bob");
    assert!(house.homeserver.join(&private, &bob));
    house.homeserver.react(&private, &bob, &card.id, "1\u{fe0f}\u{20e3}");
    house.said(&private, |shown| shown.body.contains("not paired")).await;
    house.homeserver.react(&private, &house.ann, &card.id, "7");
    house.said(&private, |shown| shown.body.contains("no meaning")).await;
    house.homeserver.react(&private, &house.ann, &card.id, "1\u{fe0f}\u{20e3}");
    house.said(&private, |shown| shown.body == "Answered: Yes, this once").await;
    house.said(&private, |shown| shown.id == card.id && shown.body.contains("user answered")).await;
    let events = house.events(&stream).await;
    let answered = |event: &Event| matches!(event, Event::PermissionAnswered { option, .. } if option == "yes");
    assert!(events.iter().any(|one| answered(&one.event)));
}

#[tokio::test]
async fn a_reply_with_a_number_answers_and_a_forged_card_does_not() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.ask(&stream).await;
    house.said(&room, |shown| shown.body == "analyst waits for an answer.").await;
    let private = private_room(&house, &room);
    let card = house.said(&private, |shown| shown.body.contains("Remove the folder")).await;
    let mut forged =
        json!({"msgtype": "m.text", "body": "a card", "org.moothall.card": "0.1.0.00"});
    let forged_id = house.homeserver.send(&private, &house.ann, "m.room.message", forged.clone());
    house.homeserver.react(&private, &house.ann, &forged_id, "1");
    forged["body"] = "2".into();
    forged["m.relates_to"] = json!({"m.in_reply_to": {"event_id": card.id}});
    house.homeserver.send(&private, &house.ann, "m.room.message", forged);
    house.said(&private, |shown| shown.body == "Answered: No").await;
    assert!(!house.homeserver.texts(&private).iter().any(|text| text.contains("Answered: Yes")));
}

/// Another member of the room copies the code of a card below harmless words.
#[tokio::test]
async fn a_copied_card_answers_nothing() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.ask(&stream).await;
    house.said(&room, |shown| shown.body == "analyst waits for an answer.").await;
    let private = private_room(&house, &room);
    let card = house.said(&private, |shown| shown.body.contains("Remove the folder")).await;
    let bob = house.homeserver.user("bob");
    house.homeserver.invite(&private, &house.ann, "bob");
    assert!(house.homeserver.join(&private, &bob));
    let copied = json!({"msgtype": "m.text", "body": "Lunch? 1. Yes",
        "org.moothall.card": card.content["org.moothall.card"]});
    let copied = house.homeserver.send(&private, &bob, "m.room.message", copied);
    house.homeserver.react(&private, &house.ann, &copied, "1");
    house.homeserver.react(&private, &house.ann, &card.id, "2");
    house.said(&private, |shown| shown.body == "Answered: No").await;
}

#[tokio::test]
async fn a_homeserver_that_is_not_trusted_answers_no_question() {
    let house = House::open_with(|settings| settings.trusted = false).await;
    let (room, stream) = house.open_room().await;
    house.ask(&stream).await;
    let line = "analyst waits for an answer, which can be given on the page.";
    house.said(&room, |shown| shown.body == line).await;
    let private = private_room(&house, &room);
    assert!(!house.homeserver.texts(&private).iter().any(|text| text.contains("Remove")));
}

#[tokio::test]
async fn a_code_in_a_room_of_several_pairs_no_account() {
    let house = House::open().await;
    let room = house.homeserver.room(&house.ann, &["moothall", "moothall_analyst"]);
    house.homeserver.wait_for(|it| it.is_in(&room, "moothall_analyst")).await;
    let (seen, edited) = (house.code(&[]).await, house.code(&[]).await);
    house.homeserver.say(&room, &house.ann, &format!("my code is {seen}, is it not?"));
    house.said(&room, |shown| shown.body.contains("can read that code")).await;
    let first = house.homeserver.say(&room, &house.ann, "a word");
    house.homeserver.edit(&room, &house.ann, &first, &edited);
    let told = |it: &&String| it.contains("can read that code");
    house.homeserver.wait_for(|it| it.texts(&room).iter().filter(told).count() == 2).await;
    // Each member who read a code is too late.
    let eve = house.homeserver.user("eve");
    let private = house.homeserver.private_room(&eve, "moothall");
    house.homeserver.wait_for(|it| it.is_in(&private, "moothall")).await;
    for code in [seen, edited] {
        house.homeserver.say(&private, &eve, &format!("/start {code}"));
    }
    let refused = |it: &&String| it.contains("not valid");
    house.homeserver.wait_for(|it| it.texts(&private).iter().filter(refused).count() == 2).await;
    house.pair(&[Scope::ThreadsAdmin]).await;
}

/// Returns Ann's private room with the relay.
fn private_room(house: &House, other: &str) -> String {
    let rooms = house.homeserver.rooms_of(&house.ann, "@moothall:example.org");
    rooms.into_iter().find(|room| room != other).unwrap()
}
