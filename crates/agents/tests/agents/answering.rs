//! Answers to a program's question to its user: by a key, and in words.

use moothall_engine::sessions::{Dialog, HostFault, Key, PaneState, SessionHost};

use super::terminal::{StartedProgram, Terminals};

/// Starts a stand-in that asks which database to take.
async fn asked(terminals: &Terminals) -> (StartedProgram<'_>, Dialog) {
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    ann.paste("[choose:Which database?|SQLite|Postgres]").await.unwrap();
    ann.press(Key::Enter).await;
    let asking = ann.until("a question", |view| view.state == PaneState::Asking).await;
    (ann, asking.dialog.unwrap())
}

/// Returns the fault of an answer in words.
async fn refusal(
    terminals: &Terminals,
    ann: &StartedProgram<'_>,
    dialog: &Dialog,
    option: usize,
    text: Option<&str>,
) -> String {
    match terminals.host.choose(&ann.pane, "fake", dialog, &[option], text).await {
        Err(HostFault::Refused(why)) => why,
        other => panic!("not refused: {other:?}"),
    }
}

fn type_by_hand(terminals: &Terminals, ann: &StartedProgram<'_>, keys: &[&str]) {
    terminals.tmux(&[&["send-keys", "-t", &ann.pane.id], keys].concat());
}

#[tokio::test]
async fn words_are_typed_into_the_field_of_their_dialog_and_nowhere_else() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let (mut ann, dialog) = asked(&terminals).await;
    let takes: Vec<_> = dialog.options.iter().map(|option| option.takes_text).collect();
    assert_eq!(takes, [false, false, true, false]);
    assert!(refusal(&terminals, &ann, &dialog, 0, Some("x")).await.contains("takes no text"));
    assert!(refusal(&terminals, &ann, &dialog, 2, None).await.contains("needs a text"));
    assert!(
        refusal(&terminals, &ann, &dialog, 2, Some(" \u{1b}[0m")).await.contains("text is empty")
    );
    let other = Dialog { action: "Which other?".into(), ..dialog.clone() };
    assert!(refusal(&terminals, &ann, &other, 2, Some("x")).await.contains("another dialog"));
    assert_eq!(ann.view().await.dialog, Some(dialog.clone()), "nothing was typed so far");
    let words = "/srv: MariaDB\u{1b}[201~\r1. it is there";
    terminals.host.choose(&ann.pane, "fake", &dialog, &[2], Some(words)).await.unwrap();
    let idle = ann
        .until("its answer", |view| view.state == PaneState::Idle && view.text.contains("Chosen:"))
        .await;
    assert!(idle.text.contains("Chosen: /srv: MariaDB\n  1. it is there"), "{}", idle.text);
}

/// Text with more rows than the screen: only its end can be read back.
#[tokio::test]
async fn long_words_are_typed_whole() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let (mut ann, dialog) = asked(&terminals).await;
    let words: Vec<String> = (0..120).map(|line| format!("{line}: the quick brown fox")).collect();
    terminals.host.choose(&ann.pane, "fake", &dialog, &[2], Some(&words.join("\n"))).await.unwrap();
    ann.until("its answer", |view| {
        view.state == PaneState::Idle && view.text.contains("119: the quick brown fox")
    })
    .await;
}

/// A person at the terminal has moved into the field: a digit would be typed there.
#[tokio::test]
async fn an_option_is_chosen_out_of_a_field_that_nobody_uses() {
    chosen_out_of_a_field(&[]).await;
}

/// Half of a question, as a busy computer shows it, does not count as another one.
#[tokio::test]
async fn half_a_question_is_waited_for() {
    chosen_out_of_a_field(&["--half-arrow", "700"]).await;
}

async fn chosen_out_of_a_field(options: &[&str]) {
    let Some(terminals) = Terminals::with_stand_in(options) else { return };
    let (mut ann, dialog) = asked(&terminals).await;
    type_by_hand(&terminals, &ann, &["3"]);
    let focused = |dialog: &Dialog| dialog.field.as_ref().is_some_and(|field| field.is_focused);
    ann.until("a field", |view| view.dialog.as_ref().is_some_and(focused)).await;
    terminals.host.choose(&ann.pane, "fake", &dialog, &[0], None).await.unwrap();
    ann.until("its answer", |view| {
        view.state == PaneState::Idle && view.text.contains("Chosen: SQLite")
    })
    .await;
}

/// A person's text in the field stays. The answer's own text, left by a crash, is only submitted.
#[tokio::test]
async fn what_stands_in_a_field_is_not_typed_over() {
    for left in [false, true] {
        let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
        let (mut ann, dialog) = asked(&terminals).await;
        type_by_hand(&terminals, &ann, &["3"]);
        type_by_hand(&terminals, &ann, &["-l", "Maria DB"]);
        let filled =
            |dialog: &Dialog| dialog.field.as_ref().is_some_and(|field| field.words == "Maria DB");
        ann.until("words", |view| view.dialog.as_ref().is_some_and(filled)).await;
        assert!(refusal(&terminals, &ann, &dialog, 0, None).await.contains("person is typing"));
        assert!(refusal(&terminals, &ann, &dialog, 2, Some("Oracle")).await.contains("not empty"));
        if left {
            type_by_hand(&terminals, &ann, &["Up"]);
            let left =
                |dialog: &Dialog| dialog.field.as_ref().is_some_and(|field| !field.is_focused);
            ann.until("the focus elsewhere", |view| view.dialog.as_ref().is_some_and(left)).await;
        }
        terminals.host.choose(&ann.pane, "fake", &dialog, &[2], Some("Maria DB")).await.unwrap();
        let idle = ann
            .until("its answer", |view| {
                view.state == PaneState::Idle && view.text.contains("Chosen:")
            })
            .await;
        assert!(idle.text.contains("Chosen: Maria DB\n"), "once: {}", idle.text);
    }
}
