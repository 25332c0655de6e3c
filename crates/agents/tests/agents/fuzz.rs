//! Screens and reports of programs, damaged at random. The screens were captured from the real
//! programs.

use std::path::Path;

use moothall_agents::terminal::Vendor;
use moothall_agents::terminal::hooks::{HookEvent, Note};
use moothall_agents::terminal::screen::Screen;
use moothall_engine::sessions::{HookNews, PaneState, ReportedQuestion, View};
use moothall_kernel::text::for_terminal;
use moothall_testkit::fuzz;
use strum::VariantArray;

fn corpus(folder: &str) -> Vec<Vec<u8>> {
    fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder))
}

fn holds_together(view: &View) {
    assert_eq!(view.dialog.is_some(), view.state == PaneState::Asking, "{view:?}");
    assert!(
        view.composer.is_none() || matches!(view.state, PaneState::Idle | PaneState::Busy),
        "{view:?}"
    );
    assert!(!view.text.contains(|c: char| c.is_control() && c != '\n'), "{view:?}");
    if let Some(dialog) = &view.dialog {
        let numbers: Vec<String> = dialog.options.iter().map(|option| option.id.clone()).collect();
        let counted: Vec<String> = (1..=numbers.len()).map(|number| number.to_string()).collect();
        // A page that shows given answers again has one button.
        let is_whole = numbers.len() > 1 || dialog.pointer == Some(0);
        assert!(is_whole && numbers == counted, "{numbers:?}");
    }
}

#[test]
fn fuzzed_screens_are_read_as_something_that_holds_together() {
    let words = [
        "❯ ",
        "› ",
        "1. Yes",
        "2. No",
        "\x1b[2m",
        "\x1b[7m",
        "\x1b[0m",
        "\x1b]8;;",
        "\x1b[38;5;",
        "esc to interrupt",
        "─────────────",
        "\n",
        "│",
        "…",
    ];
    fuzz::texts("screens", &corpus("agents/screens"), &words, |text| {
        let screen =
            Screen { lines: text.lines().map(str::to_owned).collect(), command: "node".to_owned() };
        for &vendor in Vendor::VARIANTS {
            let view = screen.read(vendor);
            holds_together(&view);
            assert!(
                view.text.len() <= text.len()
                    && view.composer.as_ref().is_none_or(|words| words.len() <= text.len())
            );
        }
        let shell = Screen { command: "-bash".to_owned(), ..screen };
        assert_eq!(
            shell.read(Vendor::Claude).state,
            PaneState::Shell,
            "nothing is typed into a shell"
        );
    });
}

/// Returns the texts of a report that people and agents see.
fn said(news: &HookNews) -> Vec<&str> {
    match news {
        HookNews::Prompt { text } | HookNews::Failed { message: text } => vec![text],
        HookNews::Stopped { text, .. } => text.iter().map(String::as_str).collect(),
        // An action is shown unchanged; its display escapes deceptive characters.
        HookNews::Began | HookNews::Asks(_) | HookNews::Uses(_) | HookNews::Ended => Vec::new(),
    }
}

fn reported(program: &str, event: &str, payload: &str, cut: bool) -> HookEvent {
    HookEvent::of(&Note {
        id: "01980000-0000-7000-8000-00000000000a".into(),
        session: "01980000-0000-7000-8000-000000000001".into(),
        token: "secret".into(),
        program: program.into(),
        event: event.into(),
        payload: payload.into(),
        cut,
        recorded: None,
        trouble: None,
        before_pass: None,
    })
}

#[test]
fn fuzzed_reports_command_no_terminal_and_say_when_they_are_not_whole() {
    const EVENTS: [(&str, &[&str]); 3] = [
        (
            "claude",
            &[
                "SessionStart",
                "UserPromptSubmit",
                "PermissionRequest",
                "Stop",
                "StopFailure",
                "Notification",
                "SessionEnd",
            ],
        ),
        ("codex", &["notify", "SessionStart", "PermissionRequest", "Stop"]),
        ("gemini", &["SessionStart", "BeforeAgent", "AfterAgent", "Notification", "SessionEnd"]),
    ];
    let words = [
        "\\ud83d",
        "\\u001b[2J",
        "\\u202e",
        "\"prompt\": ",
        "\"last_assistant_message\": ",
        "\"session_id\": ",
        "null",
        "{",
        "[",
        "\"",
    ];
    fuzz::texts("reports", &corpus("corpus/reports"), &words, |payload| {
        let cut = payload.len().is_multiple_of(2);
        for (program, events) in EVENTS {
            for event in events {
                let news = reported(program, event, payload, cut);
                let HookEvent::Heard { native, news } = news else { continue };
                assert!(native.is_none_or(|id| !id.trim().is_empty()));
                assert!(said(&news).iter().all(|text| for_terminal(text) == **text), "{news:?}");
                assert!(
                    !cut || !matches!(
                        news,
                        HookNews::Asks(ReportedQuestion { partial: false, .. })
                    ),
                    "what was cut is no whole action: {news:?}"
                );
            }
        }
    });
}
