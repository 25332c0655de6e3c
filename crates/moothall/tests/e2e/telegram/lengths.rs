//! Long texts and odd formatting, in and out.

use moothall_testkit::telegram::{BotCall, CallOutcome, ShownMessage};

use super::{Chatroom, entered, only_named};

/// Longest text of one message, in UTF-16 units.
const UNITS_MAX: usize = 4096;

#[tokio::test]
async fn a_text_over_the_limit_enters_whole_and_leaves_in_parts() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    let long = |letter: char| -> String { (0..=UNITS_MAX).map(|_| letter).collect() };
    room.telegram.say(group.chat, group.person, &long('x'));
    entered(&server, &group.thread, &long('x')).await;

    // Letters of two units, without a place to split.
    for letter in ['ж', '🎈'] {
        server.say(&group.thread, &long(letter)).await;
        let letters = |text: &str| text.chars().filter(|it| *it == letter).count();
        room.telegram
            .wait_for(|it| {
                it.texts(group.chat).iter().map(|text| letters(text)).sum::<usize>() > UNITS_MAX
            })
            .await;
        let shown = room.telegram.shown(group.chat);
        let parts: Vec<&ShownMessage> =
            shown.iter().filter(|message| letters(&message.text) > 0).collect();
        assert!(parts.iter().all(|part| part.text.encode_utf16().count() <= UNITS_MAX));
        let whole: usize = parts.iter().map(|part| letters(&part.text)).sum();
        assert_eq!(whole, UNITS_MAX + 1);
    }
}

#[tokio::test]
async fn formatting_that_the_service_would_refuse_is_never_sent() {
    let odd = [
        "**🎈 bold 🎈** and `code 🎈` and [a link](https://example.org/a_(b)) and ~~gone~~",
        "**bold _both `code` both_ bold**",
        "> a quote\n> > in a quote\n> ```rust\n> fn f() {}\n> ```",
        "# A heading\n\n| a | b |\n|---|---|\n| 1 | 🎈 |",
        "[no scheme](example) [script](javascript:alert(1)) <b>not html</b> &amp;",
        "*unclosed **and ```unclosed",
        "** **",
        "@everyone @all [@analyst_bot](tg://user?id=7) /group dissolve",
    ];
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    only_named(&server, &group.thread).await;
    for (number, text) in odd.iter().enumerate() {
        server.say(&group.thread, &format!("{number}: {text}")).await;
        let begin = format!("user (page):\n{number}:");
        room.said(group.chat, |message| message.text.starts_with(&begin)).await;
    }
    let refused: Vec<BotCall> = room
        .telegram
        .calls()
        .into_iter()
        .filter(|call| matches!(call.outcome, CallOutcome::Refusal { .. }))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
