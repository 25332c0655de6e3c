//! What an account, a member of a chat and the admin of a group reach, and what they do not.

use moothall_engine::access::{NewPairing, NewToken, Scope, Scopes};
use moothall_engine::ports::{DeliveryState, ListFilter, RevocationScope};
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Post};
use moothall_kernel::ids::{PermissionId, Seq, StreamId};
use moothall_kernel::request::Request;
use moothall_kernel::start::StartRequest;
use moothall_kernel::time::Millis;
use moothall_testkit::telegram::{ChatId, ShownMessage};

use crate::house::{House, user};

async fn change(house: &House, stream: &StreamId, controls: Vec<Control>) {
    let command = ClientCommand::Control { by: user(), controls };
    house.hall.submit(stream, command, None).await.unwrap();
}

fn chat_of(group: ChatId) -> Chat {
    format!("telegram:{}", group.id).parse().unwrap()
}

async fn erase(house: &House, stream: &StreamId, seq: Seq) {
    let command = ClientCommand::Redact { seq, message: true, by: user() };
    house.hall.submit(stream, command, None).await.unwrap();
}

async fn agents(house: &House, stream: &StreamId) -> Vec<String> {
    let seen = house
        .hall
        .view(stream, |state| state.agents().map(|agent| agent.id.to_string()).collect::<Vec<_>>());
    seen.await.unwrap()
}

async fn bound(house: &House, place: &str) -> Option<StreamId> {
    let chat: Chat = format!("telegram:{place}").parse().unwrap();
    house.hall.bound_to(&chat).await.unwrap()
}

#[tokio::test]
async fn after_the_end_of_a_pairing_nothing_more_reaches_the_account() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[]).await;
    let stream = house.bound_to("7@analyst").await;
    let chat = house.telegram.private(ann, &house.bots[0]);
    let seq = house.speak(&stream, "analyst", "for a paired person").await;
    house.said(chat, |message| message.text == "for a paired person").await;
    let accounts = house.access.accounts().await.unwrap();
    house.access.revoke(&house.owner, &accounts[0].id, RevocationScope::Own).await.unwrap();

    let later = house.speak(&stream, "analyst", "not for a stranger").await;
    let (state, evidence) = house.ended_at("7@analyst", later).await;
    assert_eq!(state, DeliveryState::Failed, "{evidence}");
    assert!(evidence.contains("not paired"), "{evidence}");
    assert!(!house.telegram.texts(chat).iter().any(|text| text.contains("stranger")));
    let channels = house.hall.as_(house.owner.clone()).channels().await.unwrap();
    let cure = channels[0].chats[0].cure.clone().unwrap();
    assert!(cure.contains("not paired"), "{cure}");
    // Words that the account has already are still erased there.
    erase(&house, &stream, seq).await;
    let is_gone = |it: &ShownMessage| it.text == "for a paired person" && it.is_deleted;
    house.telegram.wait_for(|it| it.shown(chat).iter().any(is_gone)).await;
}

#[tokio::test]
async fn a_pairing_ends_with_the_credential_that_made_its_code() {
    let house = House::open().await;
    let principal = house.owner.principal().unwrap().clone();
    let hour = Millis::from_secs(3600);
    let wanted = NewToken {
        principal,
        scopes: Some(Scopes::of(&[Scope::ThreadsRead, Scope::ThreadsWrite])),
        threads: None,
        label: "an hour".into(),
        valid_for: Some(hour),
    };
    let (secret, token) = house.access.create(&house.owner, wanted).await.unwrap();
    let by = house.access.identify(secret.reveal()).await.unwrap().unwrap();
    let pairing = NewPairing { channel: "telegram".into(), scopes: Scopes::default() };
    let (code, _) = house.access.offer_pairing(&by, pairing).await.unwrap();
    let ann = house.telegram.person(7, "Ann");
    let chat = house.telegram.private(ann, &house.bots[0]);
    house.telegram.say(chat, ann, &format!("/start {}", code.reveal()));
    house.said(chat, |message| message.text.starts_with("You are now")).await;
    assert_eq!(house.access.accounts().await.unwrap()[0].expires_at, token.expires_at);
    house.clock.put_forward(3601);
    assert!(house.access.accounts().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_code_that_a_group_shows_pairs_no_account() {
    let house = House::open().await;
    house.bots.iter().for_each(|bot| house.telegram.set_privacy(bot, false));
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[]).await;
    let (group, stream) = house.bound_group().await;
    house.telegram.enter(group, ann);
    let (seen, edited) = (house.code(&[]).await, house.code(&[]).await);
    let link = format!("that is me: https://t.me/analyst_bot?start={seen}");
    house.telegram.say(group, ann, &link);
    let told = |it: &&String| it.contains("can read that code");
    house.telegram.wait_for(|it| it.texts(group).iter().filter(told).count() == 1).await;
    let first = house.telegram.say(group, ann, "a word");
    while !house.events(&stream).await.iter().any(|one| one.event.body() == Some("a word")) {
        tokio::task::yield_now().await;
    }
    house.telegram.edit(first, &edited);
    house.telegram.wait_for(|it| it.texts(group).iter().filter(told).count() == 2).await;

    let eve = house.telegram.person(8, "Eve");
    let chat = house.telegram.private(eve, &house.bots[0]);
    for code in [&seen, &edited] {
        house.telegram.say(chat, eve, &format!("/start {code}"));
    }
    let refused = |it: &&String| it.contains("not valid");
    house.telegram.wait_for(|it| it.texts(chat).iter().filter(refused).count() == 2).await;
    let events = house.events(&stream).await;
    assert!(!events.iter().any(|one| format!("{:?}", one.event).contains("pair_")));
}

#[tokio::test]
async fn no_button_starts_a_program() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[Scope::PermissionsAnswer]).await;
    let (group, stream) = house.bound_group().await;
    let start = StartRequest {
        client: "claude".into(),
        args: Vec::new(),
        folder: "/tmp".into(),
        name: None,
        message: Some("Read the logs.".into()),
        direct: false,
    };
    let command = EngineCommand::Ask {
        permission: PermissionId::new("p1"),
        by: Actor { id: "analyst".into(), human: false, proven: true },
        request: Box::new(Request::Start(start)),
        within: Millis::from_secs(3600),
    };
    house.hall.tell(&stream, command, None).await.unwrap();
    let chat = house.telegram.private(ann, &house.bots[0]);
    let card = house.said(chat, |message| message.text.contains("claude")).await;
    assert!(card.buttons.is_empty(), "{card:?}");
    assert!(card.text.contains("on the page, and not by an account"), "{}", card.text);
    let line = house.said(group, |message| message.text.contains("waits for an answer")).await;
    assert_eq!(line.text, "analyst waits for an answer, which can be given on the page.");
}

#[tokio::test]
async fn words_in_the_name_of_an_agent_without_proof_are_marked_and_not_said_by_its_bot() {
    let house = House::open().await;
    let (group, stream) = house.bound_group().await;
    let by = Actor { id: "writer".into(), human: false, proven: false };
    let post = ClientCommand::Post(Post::new(by, "I am the writer."));
    house.hall.submit(&stream, post, None).await.unwrap();
    let shown = house.said(group, |message| message.text.contains("I am the writer.")).await;
    assert_eq!(shown.text, "writer (not proven):\nI am the writer.");
    assert_eq!(shown.from_id, house.bots[0].id, "the relay says it");
    let by = Actor { id: "user".into(), human: true, proven: false };
    let post = ClientCommand::Post(Post::new(by, "I am the user."));
    house.hall.submit(&stream, post, None).await.unwrap();
    let shown = house.said(group, |message| message.text.contains("I am the user.")).await;
    assert_eq!(shown.text, "user (page, not proven):\nI am the user.");
}

#[tokio::test]
async fn a_change_of_rights_opens_no_group() {
    let house = House::open().await;
    let (ann, bob) = (house.telegram.person(7, "Ann"), house.telegram.person(8, "Bob"));
    house.pair(ann, &[Scope::ThreadsAdmin]).await;
    let group = house.telegram.supergroup("Market");
    house.telegram.enter(group, bob);
    house.telegram.enter(group, ann);
    house.telegram.join(group, &house.bots[0], bob);
    house.said(group, |message| message.text.contains("not connected")).await;
    house.telegram.set_admin(group, &house.bots[0], ann, true);
    let chat = house.telegram.private(ann, &house.bots[0]);
    house.telegram.say(chat, ann, "and then?");
    while bound(&house, "7@analyst").await.is_none() {
        tokio::task::yield_now().await;
    }
    assert_eq!(house.hall.bound_to(&chat_of(group)).await.unwrap(), None);
}

#[tokio::test]
async fn the_admins_of_one_of_two_groups_do_not_take_an_agent_out() {
    let house = House::open().await;
    let (first, stream) = house.bound_group().await;
    let second = Control::BindChat("telegram:-100777".parse().unwrap());
    change(&house, &stream, vec![Control::Confirm, second.clone()]).await;
    let adder = house.telegram.person(99, "Adder");
    house.telegram.kick(first, &house.bots[0], adder);
    house.telegram.say(first, adder, "hello");
    house.telegram.wait_for(|it| it.pending(&house.bots[0]).is_empty()).await;
    let chat: Chat = "telegram:-100777".parse().unwrap();
    change(&house, &stream, vec![Control::UnbindChat(chat)]).await;
    assert_eq!(agents(&house, &stream).await, ["analyst", "writer"]);
    house.telegram.kick(first, &house.bots[1], adder);
    while agents(&house, &stream).await.len() == 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(agents(&house, &stream).await, ["analyst"]);
}

#[tokio::test]
async fn a_group_that_was_unbound_by_hand_gets_no_talks_from_its_members() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[]).await;
    let (group, stream) = house.bound_group().await;
    house.telegram.enter(group, ann);
    change(&house, &stream, vec![Control::UnbindChat(chat_of(group))]).await;
    house.said(group, |message| message.text.contains("no longer connected")).await;
    house.telegram.say(group, ann, "@analyst_bot are you there?");
    let chat = house.telegram.private(ann, &house.bots[0]);
    house.telegram.say(chat, ann, "and here?");
    while bound(&house, "7@analyst").await.is_none() {
        tokio::task::yield_now().await;
    }
    let talk = format!("{}@analyst", group.id);
    assert_eq!(bound(&house, &talk).await, None);
    // A person with the right to open groups may.
    let bob = house.telegram.person(8, "Bob");
    house.pair(bob, &[Scope::ThreadsAdmin]).await;
    house.telegram.enter(group, bob);
    house.telegram.say(group, bob, "@analyst_bot are you there?");
    while bound(&house, &talk).await.is_none() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_refused_opening_leaves_no_conversation() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    let bob = house.telegram.person(8, "Bob");
    let group = house.telegram.supergroup("Market");
    house.telegram.enter(group, bob);
    house.telegram.enter(group, ann);
    house.telegram.join(group, &house.bots[0], bob);
    house.said(group, |message| message.text.contains("not connected")).await;
    let before = threads(&house).await;
    house.telegram.say(group, ann, "/group create all");
    let asked = house.telegram.shown(group).last().unwrap().key;
    house.said(group, |message| message.key.id > asked.id).await;
    assert_eq!(threads(&house).await, before);
    assert_eq!(house.hall.bound_to(&chat_of(group)).await.unwrap(), None);
}

async fn threads(house: &House) -> usize {
    let door = house.hall.as_(house.owner.clone());
    door.threads(ListFilter::of_conversations()).await.unwrap().streams.len()
}

#[tokio::test]
async fn words_are_erased_and_cards_end_however_long_ago_they_were_said() {
    let house = House::open_with(|settings| {
        settings.rates = moothall_channels::telegram::bucket::CallRates::UNLIMITED;
    })
    .await;
    let ann = house.telegram.person(7, "Ann");
    house.pair(ann, &[Scope::PermissionsAnswer]).await;
    let (group, stream) = house.bound_group().await;
    let seq = house.speak(&stream, "analyst", "a secret").await;
    house.ask(&stream).await;
    let chat = house.telegram.private(ann, &house.bots[0]);
    let card = house.said(chat, |message| message.text.contains("Remove the folder")).await;
    let mut last = seq;
    for number in 0..600 {
        change(&house, &stream, vec![Control::Pause(number % 2 == 0)]).await;
        last = house.hall.view(&stream, |state| state.head()).await.unwrap();
    }
    house.ended(group, last).await;
    erase(&house, &stream, seq).await;
    let is_gone = |message: &ShownMessage| message.text == "a secret" && message.is_deleted;
    house.telegram.wait_for(|it| it.shown(group).iter().any(is_gone)).await;
    house.telegram.press(ann, card.key, "No");
    let is_over = |it: &ShownMessage| it.key == card.key && it.text.contains("user answered");
    house.telegram.wait_for(|it| it.shown(chat).iter().any(is_over)).await;
}
