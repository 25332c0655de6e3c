//! Questions of agents, and slash commands: who may press, and what is done.

use moothall_engine::access::Scope;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_testkit::discord::{DiscordPerson, RestFault};

use crate::house::House;

const CALLBACK: &str = "POST /interactions/{}/{}/callback";

/// Waits for the server's bot, and gives it a command.
async fn give(house: &House, person: DiscordPerson, name: &str, text: &str) -> String {
    house.connected().await;
    let bot = &house.bots[0];
    let given = house.discord.slash(person, house.channel, bot, name, text);
    house.answer(given).await
}

#[tokio::test]
async fn a_question_is_shown_to_and_answered_by_those_with_the_right() {
    let house = House::open().await;
    let (ann, bob) =
        (house.paired("Ann", &[Scope::PermissionsAnswer]).await, house.paired("Bob", &[]).await);
    let stranger = house.discord.person("Eve");
    let stream = house.bound(house.channel).await;
    house.ask(&stream).await;
    let line = house.said(house.channel, |it| it.text.contains("waits for an answer")).await;
    assert!(!line.text.contains("folder"), "{}", line.text);
    assert_eq!(line.buttons.len(), 1);

    let channel = house.channel;
    let refused = house.discord.press(bob, channel, line.id, "Show the question");
    assert!(house.answer(refused).await.contains("permissions:answer"));
    let refused = house.discord.press(stranger, channel, line.id, "Show the question");
    assert!(house.answer(refused).await.contains("not paired"));
    let shown = house.discord.press(ann, channel, line.id, "Show the question");
    assert!(house.answer(shown).await.contains("Remove the folder"));
    let card = house.said(channel, |it| it.text.contains("Remove the folder")).await;
    assert_eq!(card.only_to, Some(ann), "nobody else sees it");
    let labels: Vec<&str> = card.buttons.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["Yes, this once", "No"]);

    // A person without the right cannot use the ids of the card's buttons.
    let stolen = house.discord.press_id(bob, channel, line.id, &card.buttons[0].id);
    assert!(house.answer(stolen).await.contains("permissions:answer"));
    let made_up = house.discord.press_id(ann, channel, line.id, "0.1.0.abcdef");
    assert!(house.answer(made_up).await.contains("no meaning"));

    let press = house.discord.press(ann, channel, card.id, "Yes, this once");
    assert_eq!(house.answer(press).await, "Answered: Yes, this once");
    let over = house.said(channel, |it| it.text.contains("is over")).await;
    assert_eq!((over.id, over.buttons.len()), (line.id, 0));
    let answered = |one: &RecordedEvent| matches!(one.event, Event::PermissionAnswered { .. });
    assert_eq!(house.events(&stream).await.iter().filter(|one| answered(one)).count(), 1);
    let late = house.discord.press(ann, channel, card.id, "No");
    assert!(!house.answer(late).await.starts_with("Answered"));
}

#[tokio::test]
async fn a_press_is_acknowledged_before_anything_else() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[Scope::PermissionsAnswer]).await;
    let stream = house.bound(house.channel).await;
    house.ask(&stream).await;
    let line = house.said(house.channel, |it| !it.buttons.is_empty()).await;
    let before = house.discord.calls().len();
    let press = house.discord.press(ann, house.channel, line.id, "Show the question");
    house.answer(press).await;
    let calls = house.discord.calls();
    assert_eq!(calls[before].route, CALLBACK);
    assert!(house.discord.interaction(press).is_ephemeral);

    // A person whose press was too late, or whose press another program took, is told by Discord,
    // so nothing is done.
    let card = house.said(house.channel, |it| it.text.contains("Remove the folder")).await;
    let gone = RestFault::Refuse(404, 10_062, "Unknown interaction".into());
    let taken = RestFault::Refuse(400, 40_060, "already acknowledged".into());
    for fault in [gone, taken, RestFault::BadGateway] {
        house.discord.fault(CALLBACK, fault);
    }
    for _ in 0..2 {
        house.discord.press(ann, house.channel, card.id, "No");
    }
    house.discord.wait_for(|it| it.calls_of(CALLBACK).len() == 3).await;
    let is_answered = |one: &RecordedEvent| matches!(one.event, Event::PermissionAnswered { .. });
    assert!(!house.events(&stream).await.iter().any(is_answered));
}

#[tokio::test]
async fn slash_commands_need_the_rights_of_their_words() {
    let house = House::open().await;
    let ann = house.paired("Ann", &[Scope::TurnsControl]).await;
    let bob = house.paired("Bob", &[]).await;
    let unbound = give(&house, ann, "stop", "").await;
    assert!(unbound.contains("not connected"), "{unbound}");
    let stream = house.bound(house.channel).await;
    let refused = give(&house, bob, "stop", "").await;
    assert!(refused.contains("turns:control"), "{refused}");
    give(&house, ann, "stop", "").await;
    house.said(house.channel, |it| it.text.contains("stopped the agents")).await;
    let listed = give(&house, bob, "group", "list").await;
    assert!(listed.contains("analyst") && listed.contains("writer"), "{listed}");
    let stopped = |one: &RecordedEvent| matches!(one.event, Event::Stopped { .. });
    assert_eq!(house.events(&stream).await.iter().filter(|one| stopped(one)).count(), 1);
}

#[tokio::test]
async fn a_slash_command_pairs_and_opens() {
    let house = House::open().await;
    let eve = house.discord.person("Eve");
    let told = give(&house, eve, "help", "").await;
    assert!(told.contains("not paired"), "{told}");
    let wrong = give(&house, eve, "start", "pair_nonsense").await;
    assert!(wrong.contains("not valid"), "{wrong}");
    let code = house.code(&[Scope::ThreadsAdmin, Scope::ParticipantsInvite]).await;
    let paired = give(&house, eve, "start", &code).await;
    assert!(paired.starts_with("You are now user here"), "{paired}");
    assert!(house.discord.texts(house.channel).is_empty(), "the channel sees nothing of it");
    let opened = give(&house, eve, "group", "create analyst").await;
    assert_eq!(opened, "The channel is open.");
    house.said(house.channel, |it| it.text.starts_with("This chat is connected")).await;
}
