//! Questions of agents as cards: who may press, which card a press is for, and how often it counts.

use moothall_engine::access::Scope;
use moothall_kernel::command::EngineCommand;
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::{OptionKind, PermissionOption, Question};

use crate::house::House;

#[tokio::test]
async fn a_question_is_answered_by_a_button_and_only_by_a_person_with_the_right() {
    let house = House::open().await;
    let (ann, bob) = (house.telegram.person(7, "Ann"), house.telegram.person(8, "Bob"));
    let (group, stream) = house.bound_group().await;
    house.pair(ann, &[Scope::PermissionsAnswer]).await;
    house.pair(bob, &[]).await;
    house.ask(&stream).await;

    let chat = house.telegram.private(ann, &house.bots[0]);
    let card = house.said(chat, |message| message.text.contains("Remove the folder")).await;
    let line = house.said(group, |message| message.text.contains("waits for an answer")).await;
    assert!(!line.text.contains("folder"), "{}", line.text);
    let labels: Vec<&str> = card.buttons.iter().flatten().map(|one| one.text.as_str()).collect();
    assert_eq!(labels, ["Yes, this once", "No"]);

    // A person without the right is refused, also with the data of the card.
    let bobs = house.telegram.private(bob, &house.bots[0]);
    let own = house.said(bobs, |message| message.text.starts_with("You are now")).await;
    let press = house.telegram.press_data(bob, own.key, &card.buttons[0][0].data);
    let refused = house.answer(&press).await;
    assert!(refused.contains("permissions:answer"), "{refused}");
    // Data that the server did not make means nothing.
    let press = house.telegram.press_data(ann, card.key, "0.1.0.abcdef");
    assert!(house.answer(&press).await.contains("no meaning"));

    let press = house.telegram.press(ann, card.key, "Yes, this once");
    assert_eq!(house.answer(&press).await, "Answered: Yes, this once");
    let over = house.said(chat, |message| message.text.contains("user answered")).await;
    assert_eq!((over.key, over.buttons.len()), (card.key, 0));
    let answered = |one: &RecordedEvent| matches!(one.event, Event::PermissionAnswered { .. });
    assert_eq!(house.events(&stream).await.iter().filter(|one| answered(one)).count(), 1);
    // The record has no words of the agent's program.
    let rows = house.access.audit(None, 20).await.unwrap();
    let pressed = rows.iter().find(|row| row.entry.detail.starts_with("pressed")).unwrap();
    assert_eq!(pressed.entry.detail, "pressed allow_once for p1 by telegram:7");
    // A second press does not change the answer.
    let press = house.telegram.press_data(ann, over.key, &card.buttons[1][0].data);
    assert_ne!(house.answer(&press).await, "Answered: No");
}

#[tokio::test]
async fn the_record_of_an_unknown_command_has_none_of_its_words() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    let (group, _) = house.bound_group().await;
    house.telegram.enter(group, ann);
    house.pair(ann, &[]).await;
    house.telegram.say(group, ann, "/hunter2 opens it");
    house.said(group, |message| message.text.starts_with("Unknown command")).await;
    let rows = house.access.audit(None, 20).await.unwrap();
    let details: Vec<_> = rows.into_iter().map(|row| row.entry.detail).collect();
    assert!(details[0].starts_with("an unknown command in telegram:"), "{details:?}");
}

/// Asks a question by the analyst.
async fn ask(house: &House, stream: &StreamId, id: &str, action: &str) {
    let options = vec![
        PermissionOption::new("yes", "Yes", OptionKind::AllowOnce),
        PermissionOption::new("no", "No", OptionKind::RejectOnce),
    ];
    let command = EngineCommand::AskQuestion {
        permission: PermissionId::new(id),
        participant: "analyst".into(),
        question: Box::new(Question::new(action, options)),
    };
    house.hall.tell(stream, command, None).await.unwrap();
}

#[tokio::test]
async fn a_press_is_for_the_card_of_its_data_and_counts_once() {
    let house = House::open().await;
    let ann = house.telegram.person(7, "Ann");
    let (_, stream) = house.bound_group().await;
    house.pair(ann, &[Scope::PermissionsAnswer]).await;
    ask(&house, &stream, "p1", "Remove the folder").await;
    ask(&house, &stream, "p2", "Send the letter").await;
    let chat = house.telegram.private(ann, &house.bots[0]);
    let first = house.said(chat, |message| message.text.contains("Remove the folder")).await;
    let second = house.said(chat, |message| message.text.contains("Send the letter")).await;
    let yes_to_second = second.buttons[0][0].data.clone();

    // The data of the second card on the first one, and with a changed number.
    let press = house.telegram.press_data(ann, first.key, &yes_to_second);
    assert_eq!(house.answer(&press).await, "Answered: Yes");
    house.said(chat, |it| it.key == second.key && it.text.contains("user answered: Yes")).await;
    let still = house.said(chat, |it| it.key == first.key).await;
    assert_eq!(still.buttons.len(), 2, "the first card is open");
    let changed = yes_to_second.replacen(".0.", ".1.", 1);
    assert_ne!(changed, yes_to_second);
    let press = house.telegram.press_data(ann, first.key, &changed);
    assert!(house.answer(&press).await.contains("no meaning"));
    // Twice, and by another bot.
    let press = house.telegram.press_data(ann, second.key, &yes_to_second);
    let again = house.answer(&press).await;
    assert!(!again.starts_with("Answered"), "{again}");
    let other = house.telegram.private(ann, &house.bots[1]);
    house.telegram.say(other, ann, "/start");
    let of_other = house.said(other, |message| message.from_id == house.bots[1].id).await;
    let press = house.telegram.press_data(ann, of_other.key, &first.buttons[0][0].data);
    assert!(house.answer(&press).await.contains("no meaning"));

    let press = house.telegram.press(ann, first.key, "No");
    assert_eq!(house.answer(&press).await, "Answered: No");
    let is_answer = |one: &RecordedEvent| matches!(one.event, Event::PermissionAnswered { .. });
    let events = house.events(&stream).await;
    assert_eq!(events.iter().filter(|one| is_answer(one)).count(), 2);
}
