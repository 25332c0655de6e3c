//! Rooms: how they open, who is in them, and those that are refused.

use moothall_engine::access::Scope;
use moothall_engine::channels::ChatState;
use moothall_engine::ports::DeliveryState;

use super::house::House;

#[tokio::test]
async fn a_room_waits_for_a_person_with_the_right_and_opens_by_a_command() {
    let house = House::open().await;
    let bob = house.homeserver.user("bob");
    let room = house.homeserver.room(&bob, &["moothall_analyst"]);
    house.said(&room, |shown| shown.body.contains("not connected")).await;
    house.homeserver.say(&room, &bob, "Is anybody here?");
    house.homeserver.say(&room, &bob, "!help");
    house.said(&room, |shown| shown.body.contains("whose account is paired")).await;
    assert_eq!(house.channel().await.chats[0].state, ChatState::Waiting);
    house.pair(&[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    house.homeserver.invite(&room, &bob, "ann");
    assert!(house.homeserver.join(&room, &house.ann));
    assert_eq!(house.bound(&room).await, None);
    house.homeserver.say(&room, &house.ann, "!group create analyst writer");
    house.said(&room, |shown| shown.body.starts_with("This chat is connected")).await;
    let stream = house.bound(&room).await.unwrap();
    house.homeserver.wait_for(|it| it.is_in(&room, "moothall_writer")).await;
    // The words of a stranger are dropped and counted.
    house.homeserver.say(&room, &bob, "@analyst tell me all");
    house.homeserver.say(&room, &house.ann, "hello");
    house.entered(&stream, "hello").await;
    assert!(!house.words(&stream).await.iter().any(|text| text.contains("tell me")));
    let chats = house.channel().await.chats;
    let open = chats.iter().find(|chat| chat.stream.is_some()).unwrap();
    assert_eq!((open.state, open.dropped), (ChatState::Bound, 3));
}

#[tokio::test]
async fn a_private_room_is_a_talk_with_one_agent() {
    let house = House::open().await;
    house.pair(&[]).await;
    let room = house.homeserver.private_room(&house.ann, "moothall_analyst");
    house.homeserver.wait_for(|it| it.is_in(&room, "moothall_analyst")).await;
    house.homeserver.say(&room, &house.ann, "How are earnings?");
    let place = format!("{room}@analyst");
    while house.bound(&place).await.is_none() {
        tokio::task::yield_now().await;
    }
    let stream = house.bound(&place).await.unwrap();
    house.entered(&stream, "How are earnings?").await;
    house.speak(&stream, "analyst", "They grew.").await;
    house.said(&room, |shown| shown.body == "They grew.").await;
    house.speak_as_person(&stream, "Thanks.").await;
    let shown = house.said(&room, |shown| shown.body.contains("Thanks.")).await;
    assert_eq!(shown.body, "user (page):\nThanks.");
    assert_eq!(shown.sender, "@moothall_analyst:example.org");
}

#[tokio::test]
async fn an_agent_that_is_removed_leaves_and_the_relay_speaks_if_an_account_may_not() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.homeserver.kick(&room, &house.ann, "moothall_writer");
    house.said(&room, |shown| shown.body == "writer left.").await;
    assert!(!house.homeserver.is_in(&room, "moothall_writer"));
    house.speak(&stream, "analyst", "still here").await;
    house.said(&room, |shown| shown.body == "still here").await;
    house.homeserver.mute(&room, "moothall_analyst");
    house.speak(&stream, "analyst", "by another mouth").await;
    let shown = house.said(&room, |shown| shown.body.contains("by another mouth")).await;
    assert_eq!(shown.sender, "@moothall:example.org");
    assert_eq!(shown.body, "analyst:\nby another mouth");
}

#[tokio::test]
async fn an_upgraded_room_keeps_its_conversation() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    let new = house.homeserver.upgrade(&room, &house.ann);
    while house.bound(&new).await.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(house.bound(&new).await.as_ref(), Some(&stream));
    assert_eq!(house.bound(&room).await, None);
    house.speak(&stream, "analyst", "in the new room").await;
    house.said(&new, |shown| shown.body == "in the new room").await;
    // A room that only claims to follow moves nothing.
    let bob = house.homeserver.user("bob");
    let claimed = house.homeserver.claim_upgrade(&new, &bob);
    house.homeserver.invite(&claimed, &bob, "moothall_analyst");
    house.said(&claimed, |shown| shown.body.contains("not connected")).await;
    assert_eq!(house.bound(&new).await, Some(stream));
}

#[tokio::test]
async fn an_encrypted_room_is_refused_with_a_word() {
    let house = House::open().await;
    let (room, _) = house.open_room().await;
    house.homeserver.encrypt(&room, &house.ann);
    house.said(&room, |shown| shown.body.starts_with("This room is encrypted")).await;
    house.homeserver.wait_for(|it| !it.is_in(&room, "moothall_analyst")).await;
    assert_eq!(house.bound(&room).await, None);
    let other = house.homeserver.room(&house.ann, &[]);
    house.homeserver.encrypt(&other, &house.ann);
    house.homeserver.invite(&other, &house.ann, "moothall_analyst");
    house.said(&other, |shown| shown.body.starts_with("This room is encrypted")).await;
    house.homeserver.wait_for(|it| !it.is_in(&other, "moothall_analyst")).await;
}

#[tokio::test]
async fn the_room_of_a_conversation_is_made_by_its_alias_for_those_who_may_open_it() {
    let house = House::open().await;
    let created = house.hall.create("Launch".into(), Default::default(), super::user(), None).await;
    let stream = created.unwrap().stream;
    let alias = format!("moothall_{stream}");
    assert_eq!(house.homeserver.ask_for_alias(&alias).await, 404, "no account may open it");
    let private = house.pair(&[Scope::ThreadsAdmin]).await;
    assert_eq!(house.homeserver.ask_for_alias("moothall_nothing").await, 404);
    assert_eq!(house.homeserver.ask_for_alias(&alias).await, 200);
    let rooms = house.homeserver.rooms_of(&house.ann, "@moothall:example.org");
    let room = rooms.into_iter().find(|room| *room != private).unwrap();
    assert!(!house.homeserver.join(&room, &house.homeserver.user("bob")));
    assert_eq!(house.bound(&room).await, None);
    assert!(house.homeserver.join(&room, &house.ann));
    house.said(&room, |shown| shown.body.starts_with("This chat is connected")).await;
    assert_eq!(house.bound(&room).await, Some(stream));
}

#[tokio::test]
async fn a_room_without_accounts_is_away_and_says_the_next_step() {
    let house = House::open().await;
    let stream = house.bind("!nowhere:example.org").await;
    let seq = house.speak(&stream, "analyst", "Is anybody there?").await;
    let (state, evidence) = house.ended("!nowhere:example.org", seq).await;
    assert_eq!(state, DeliveryState::Failed, "{evidence}");
    assert!(evidence.contains("Invite one"), "{evidence}");
    let chat = house.channel().await.chats.remove(0);
    assert_eq!(chat.state, ChatState::Away);
    assert!(chat.cure.unwrap().contains("Invite one"));
}

#[tokio::test]
async fn a_chat_that_is_bound_by_hand_gets_its_accounts() {
    let house = House::open().await;
    house.pair(&[]).await;
    let room = house.homeserver.room(&house.ann, &["moothall"]);
    house.said(&room, |shown| shown.body.contains("not connected")).await;
    let stream = house.bind(&room).await;
    house.said(&room, |shown| shown.body.starts_with("This chat is connected")).await;
    house.homeserver.wait_for(|it| it.is_in(&room, "moothall_writer")).await;
    house.speak(&stream, "writer", "A draft.").await;
    let shown = house.said(&room, |shown| shown.body == "A draft.").await;
    assert_eq!(shown.sender, "@moothall_writer:example.org");
}
