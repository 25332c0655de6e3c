//! A dialog that comes between a paste and its Enter, or right after it.
#![allow(clippy::unwrap_used)]

use moothall_engine::sessions::{HostFault, Key, PaneState, SessionHost};

use super::terminal::{Terminals, prompts};

/// Returns true if a dialog that came this many ms after the paste was left alone; `None` if it
/// came after the Enter.
async fn left_alone(after: &str) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").to_str().unwrap().to_owned();
    let terminals = Terminals::with_stand_in(&["--log", &log, "--plant", after])?;
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    ann.paste("mine").await.unwrap();
    let pressed = ann.key(Key::Enter).await;
    let asking = ann.until("its dialog", |view| view.state == PaneState::Asking).await;
    let taken = prompts(&log);
    match pressed {
        Err(HostFault::Refused(why)) => assert!(why.contains("A dialog"), "{why}"),
        Ok(()) => assert_eq!(taken, ["mine"], "the key went to the words"),
        other => panic!("{other:?}"),
    }
    assert!(!asking.text.contains("Planted: yes"), "{}", asking.text);
    terminals.host.choose(&ann.pane, "fake", &asking.dialog.unwrap(), &[1], None).await.unwrap();
    ann.until("no", |view| view.text.contains("Planted: no")).await;
    if taken.is_empty() {
        ann.until("its words", |view| view.composer.as_deref() == Some("mine")).await;
        ann.press(Key::Enter).await;
    }
    ann.until("an answer", |view| view.text.contains("I was told: mine")).await;
    assert_eq!(prompts(&log), ["mine"]);
    Some(taken.is_empty())
}

#[tokio::test]
async fn no_key_goes_into_a_dialog_that_came_after_the_paste() {
    for after in ["0", "5", "10", "20", "35", "50"] {
        let Some(between) = left_alone(after).await else { return };
        assert!(between, "{after} ms: it came before the Enter");
    }
}

/// Half of a screen has no composer, and neither has a dialog.
#[tokio::test]
async fn half_a_screen_is_no_dialog() {
    let Some(terminals) = Terminals::with_stand_in(&["--half", "700"]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    ann.paste("two lines\nof mine").await.unwrap();
    ann.key(Key::Enter).await.unwrap();
    ann.until("an answer", |view| view.text.contains("I was told: two lines")).await;
}

#[tokio::test]
async fn no_second_enter_goes_into_a_dialog_that_came_after_the_first() {
    for (lost, after) in [("0", "0"), ("0", "20"), ("0", "50"), ("1", "0"), ("1", "50")] {
        let Some(terminals) =
            Terminals::with_stand_in(&["--lose-enters", lost, "--plant-enter", after])
        else {
            return;
        };
        let mut ann = terminals.start("fake").await;
        ann.idle().await;
        ann.paste("[work:hold]").await.unwrap();
        ann.press(Key::Enter).await;
        let asking = ann.until("its dialog", |view| view.state == PaneState::Asking).await;
        assert!(!asking.text.contains("Planted: yes"), "{lost} {after}: {}", asking.text);
    }
}

#[tokio::test]
async fn words_that_are_no_longer_there_are_not_sent_off() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").to_str().unwrap().to_owned();
    let Some(terminals) = Terminals::with_stand_in(&["--log", &log]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    for draft in ["", "a draft"] {
        ann.paste("mine").await.unwrap();
        terminals.tmux(&["send-keys", "-t", &ann.pane.id, "-N", "4", "BSpace"]);
        terminals.tmux(&["send-keys", "-t", &ann.pane.id, "-l", draft]);
        ann.until("a draft", |view| view.composer.as_deref() == Some(draft)).await;
        // Text that a person may have changed must not be pasted again.
        let pressed = ann.key(Key::Enter).await;
        let may_be_anew = matches!(pressed, Err(HostFault::Refused(_)));
        assert!(may_be_anew || matches!(pressed, Err(HostFault::Failed(_))), "{pressed:?}");
        assert_eq!(may_be_anew, draft.is_empty());
        assert_eq!(ann.view().await.composer.as_deref(), Some(draft));
    }
    assert!(prompts(&log).is_empty());
}
