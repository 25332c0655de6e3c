//! The channel to Matrix in a hall, against a small homeserver.
#![allow(clippy::unwrap_used)]

mod cards;
mod house;
mod rooms;

use moothall_engine::channels::BotState;
use moothall_engine::ports::DeliveryState;
use moothall_kernel::command::ClientCommand;
use moothall_kernel::event::Event;
use moothall_testkit::matrix::{HomeserverFault, ShownEvent};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use house::{House, user};

#[tokio::test]
async fn each_agent_speaks_under_its_own_name_and_people_enter_once() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.speak(&stream, "analyst", "It is **done**.").await;
    let shown = house.said(&room, |shown| shown.body == "It is done.").await;
    assert_eq!(shown.sender, "@moothall_analyst:example.org");
    assert_eq!(shown.content["formatted_body"], "It is <strong>done</strong>.");
    assert_eq!(shown.content["m.mentions"], json!({}), "no person is pinged");
    house.speak_as_person(&stream, "And margins?").await;
    let shown = house.said(&room, |shown| shown.body == "And margins?").await;
    assert_eq!(shown.sender, "@moothall_person_user:example.org");
    // A mention by the account, and by its shown name with the list of mentions.
    let mention = json!({"msgtype": "m.text", "body": "analyst: how are earnings?",
        "m.mentions": {"user_ids": ["@moothall_analyst:example.org"]}});
    house.homeserver.send(&room, &house.ann, "m.room.message", mention);
    house.entered(&stream, "@analyst: how are earnings?").await;
    house.hall.set_presence(&stream, "analyst".into(), "thinking".into(), None).await.unwrap();
    house.homeserver.wait_for(|it| it.has_typed("moothall_analyst")).await;
    let events = house.events(&stream).await;
    let posted = events.iter().find_map(|one| match &one.event {
        Event::Posted(posted) if posted.body.starts_with("@analyst") => Some(posted),
        _ => None,
    });
    let origin = posted.unwrap().origin.as_ref().unwrap();
    assert_eq!(origin.identity.as_deref(), Some("matrix:@ann:example.org"));
    // A reply to an agent's message is for the agent.
    let reply = json!({"msgtype": "m.text", "body": "> <@x:y> It is done.\n\nReally?",
        "m.relates_to": {"m.in_reply_to": {"event_id": first_of(&house, &room, "It is done.")}}});
    house.homeserver.send(&room, &house.ann, "m.room.message", reply);
    house.entered(&stream, "Really?").await;
    let events = house.events(&stream).await;
    let reply = events.iter().find(|one| one.event.body() == Some("Really?")).unwrap();
    let Event::Posted(posted) = &reply.event else { panic!("{reply:?}") };
    assert!(format!("{:?}", posted.to).contains("analyst"), "{posted:?}");
    assert!(posted.reply_to.is_some());
}

fn first_of(house: &House, room: &str, text: &str) -> String {
    house.homeserver.shown(room).into_iter().find(|shown| shown.body == text).unwrap().id
}

#[tokio::test]
async fn a_send_in_doubt_is_settled_by_the_room_or_sent_again() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    for (fault, text) in [
        (HomeserverFault::ResetAfter, "sent, and reset"),
        (HomeserverFault::BadGatewayAfter, "sent, and a page of a proxy"),
        (HomeserverFault::ResetBefore, "reset before it was sent"),
        (HomeserverFault::TooMany(20), "a rate"),
    ] {
        house.homeserver.fault(fault);
        let seq = house.speak(&stream, "analyst", text).await;
        let (state, evidence) = house.ended(&room, seq).await;
        assert_eq!(state, DeliveryState::Done, "{text}: {evidence}");
        let shown = house.homeserver.texts(&room).into_iter().filter(|shown| shown == text);
        assert_eq!(shown.count(), 1, "{text}");
    }
}

#[tokio::test]
async fn a_doubt_that_outlives_the_homeservers_memory_is_unknown_unless_the_room_shows_it() {
    let mut house = House::open().await;
    let (room, stream) = house.open_room().await;
    for (fault, text, wanted) in [
        (HomeserverFault::Vanish { sent: true }, "it arrived", DeliveryState::Done),
        (HomeserverFault::Vanish { sent: false }, "it did not", DeliveryState::Unknown),
    ] {
        house.homeserver.fault(fault);
        let seq = house.speak(&stream, "analyst", text).await;
        // The channel is killed before it can settle the doubt.
        house.homeserver.wait_for(|it| it.faults_left() == 0).await;
        house.stop();
        // A member who writes the mark of the message does not settle the doubt.
        let forged = json!({"msgtype": "m.text", "body": "forged",
            "org.moothall.txn": house.homeserver.newest_txn()});
        house.homeserver.send(&room, &house.ann, "m.room.message", forged);
        house.homeserver.restart();
        house.homeserver.set_away(false);
        house.clock.put_forward(3_600);
        house.start().await;
        let (state, evidence) = house.ended(&room, seq).await;
        assert_eq!(state, wanted, "{text}: {evidence}");
        let shown = house.homeserver.texts(&room).into_iter().filter(|shown| shown == text);
        assert_eq!(shown.count(), usize::from(wanted == DeliveryState::Done), "{text}");
    }
    // What follows is not held up.
    let seq = house.speak(&stream, "analyst", "and on").await;
    assert_eq!(house.ended(&room, seq).await.0, DeliveryState::Done);
}

#[tokio::test]
async fn repeated_and_reordered_transactions_enter_once() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.homeserver.hold_events(true);
    for number in 0..500 {
        house.homeserver.say(&room, &house.ann, &format!("message {number}"));
    }
    house.homeserver.hold_events(false);
    house.homeserver.wait_for(|it| it.is_idle()).await;
    let mut again = house.homeserver.pushed();
    again.reverse();
    house.homeserver.repeat(again.clone());
    house.homeserver.wait_for(|it| it.is_idle()).await;
    let said = house.words(&stream).await;
    let wanted: Vec<String> = (0..500).map(|number| format!("message {number}")).collect();
    let entered: Vec<String> =
        said.iter().filter(|text| text.starts_with("message ")).cloned().collect();
    assert_eq!(entered, wanted);
    // A server that forgot what it received takes each of them once too.
    let mut house = house;
    house.stop();
    house.start().await;
    house.homeserver.repeat(again);
    house.homeserver.wait_for(|it| it.is_idle()).await;
    assert_eq!(house.words(&stream).await, said);
}

#[tokio::test]
async fn edits_and_redactions_go_both_ways() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    let event = house.homeserver.say(&room, &house.ann, "frist words");
    house.entered(&stream, "frist words").await;
    let edit = house.homeserver.edit(&room, &house.ann, &event, "first words");
    let told = async || {
        let events = house.events(&stream).await;
        format!("{events:?}").contains("first words")
    };
    while !told().await {
        tokio::task::yield_now().await;
    }
    assert!(!house.homeserver.shown(&room).iter().any(|shown| shown.id == edit));
    let other = house.homeserver.say(&room, &house.ann, "a secret of mine");
    house.entered(&stream, "a secret of mine").await;
    house.homeserver.redact(&room, &house.ann, &other);
    while house.words(&stream).await.iter().any(|text| text == "a secret of mine") {
        tokio::task::yield_now().await;
    }
    let seq = house.speak(&stream, "analyst", "a secret of the analyst").await;
    house.ended(&room, seq).await;
    let command = ClientCommand::Redact { seq, message: true, by: user() };
    house.hall.submit(&stream, command, None).await.unwrap();
    let is_gone =
        |shown: &ShownEvent| shown.is_redacted && shown.sender == "@moothall_analyst:example.org";
    house.said(&room, is_gone).await;
}

#[tokio::test]
async fn an_outage_loses_nothing_and_is_shown() {
    let mut house = House::open().await;
    let (room, stream) = house.open_room().await;
    house.homeserver.set_away(true);
    let mut last = house.speak(&stream, "analyst", "while it was away 0").await;
    for number in 1..5 {
        last = house.speak(&stream, "analyst", &format!("while it was away {number}")).await;
    }
    while house.channel().await.bots[0].state != BotState::Unreachable {
        tokio::task::yield_now().await;
    }
    assert!(house.channel().await.bots[0].cure.as_ref().unwrap().contains("cannot be reached"));
    house.stop();
    house.homeserver.set_away(false);
    house.start().await;
    assert_eq!(house.ended(&room, last).await.0, DeliveryState::Done);
    let texts = house.homeserver.texts(&room);
    let said: Vec<&String> =
        texts.iter().filter(|it| it.starts_with("while it was away")).collect();
    assert_eq!(said.len(), 5, "{said:?}");
    assert!(said.is_sorted(), "{said:?}");
}

#[tokio::test]
async fn requests_without_the_token_do_nothing() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    let forged = json!({"events": [{"event_id": "$forged", "room_id": room, "type":
        "m.room.message", "sender": house.ann, "content": {"msgtype": "m.text", "body": "forged"}}]});
    let http = reqwest::Client::builder().tls_certs_only([]).build().unwrap();
    let url =
        format!("{}/_matrix/app/v1/transactions/1?access_token=x", house.homeserver.service());
    for token in ["", "hs-0123456789abcdef0123456789abcdeX"] {
        let answer = http.put(&url).bearer_auth(token).json(&forged).send().await.unwrap();
        assert_eq!(answer.status(), 403);
    }
    house.homeserver.say(&room, &house.ann, "after it");
    house.entered(&stream, "after it").await;
    assert!(!house.words(&stream).await.iter().any(|text| text == "forged"));
}

#[tokio::test]
async fn connections_without_the_token_give_way_and_the_homeserver_is_heard() {
    let house = House::open().await;
    let (room, stream) = house.open_room().await;
    let address = house.homeserver.service().replace("http://", "");
    let mut silent = Vec::new();
    for _ in 0..200 {
        silent.push(TcpStream::connect(&address).await.unwrap());
    }
    house.homeserver.say(&room, &house.ann, "through the crowd");
    house.entered(&stream, "through the crowd").await;
    let ended = silent[0].read(&mut [0]).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "the oldest gave way: {ended:?}");
    assert!(silent[199].try_read(&mut [0]).is_err(), "the newest stays open");
}
