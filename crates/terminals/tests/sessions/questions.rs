//! Questions of programs: a question is bound to its dialog, and an answer goes only there.

use std::num::NonZeroU32;
use std::time::Duration;

use moothall_kernel::command::ClientCommand;
use moothall_kernel::event::Fault;
use moothall_kernel::ids::{PermissionId, Seq};
use moothall_kernel::permission::{OptionKind, PermissionOption, WithdrawalReason};
use moothall_terminals::SessionsConfig;

use super::*;

/// The reports of Codex, at the end of a turn only.
const LATE: Reports = Reports { turns: true, prompts: false, questions: false };

/// Returns a dialog whose options have the same words as in every dialog of its program.
fn dialog(action: &str) -> Dialog {
    let option = |id: &str, label: &str, kind| PermissionOption::new(id, label, kind);
    let options = vec![
        option("1", "Yes, proceed (y)", OptionKind::AllowOnce),
        option("2", "No (esc)", OptionKind::RejectOnce),
    ];
    Dialog {
        action: action.into(),
        partial: false,
        options,
        field: None,
        pointer: None,
        whole: false,
        checked: None,
        confirms: false,
    }
}

impl Room {
    /// Starts a session at work, of a program with these reports.
    async fn at_work(reports: Reports) -> (Self, SessionId) {
        let room = Self::new().await;
        *room.bench.reports.lock().unwrap() = reports;
        let session = room.start().await;
        room.hall.submit(&session, post("hello"), None).await.unwrap();
        eventually(async || (room.taken(&session).len() == 1).then_some(())).await;
        if reports.prompts {
            let prompt = room.taken(&session).remove(0);
            room.hook(&session, HookNews::Prompt { text: prompt }).await;
        }
        room.bench.show(session.as_str(), PaneState::Busy);
        (room, session)
    }

    /// Ends the program's work, with a report that names its prompt only now.
    async fn finishes(&self, session: &SessionId, text: &str) {
        self.bench.show(session.as_str(), PaneState::Idle);
        let news = HookNews::Stopped {
            text: Some(text.into()),
            inputs: Some(self.taken(session)),
            interrupted: true,
        };
        self.hook(session, news).await;
    }

    fn shows(&self, session: &SessionId, action: &str) {
        self.bench.with(session.as_str(), |screen| screen.dialog = Some(dialog(action)));
        self.bench.show(session.as_str(), PaneState::Asking);
    }

    async fn events(&self, session: &SessionId) -> Vec<Event> {
        let page = self.hall.read(session, Seq(0), None).await.unwrap();
        page.events.iter().map(|recorded| recorded.event.clone()).collect()
    }

    /// Returns the questions asked, in order.
    async fn asked(&self, session: &SessionId) -> Vec<(PermissionId, String)> {
        let asked = |event: Event| match event {
            Event::PermissionRequested { permission, action, .. }
            | Event::QuestionAsked { permission, action, .. } => Some((permission, action)),
            _ => None,
        };
        self.events(session).await.into_iter().filter_map(asked).collect()
    }

    /// Waits for the question with this number, counted from 1, and returns it.
    async fn question(&self, session: &SessionId, number: usize) -> PermissionId {
        let asked = eventually(async || {
            Some(self.asked(session).await).filter(|asked| asked.len() >= number)
        })
        .await;
        assert_eq!(asked.len(), number, "{asked:?}");
        asked[number - 1].0.clone()
    }

    async fn withdrawn(&self, session: &SessionId, permission: &PermissionId) -> WithdrawalReason {
        let of = |event: Event| match event {
            Event::PermissionWithdrawn { permission: withdrawn, because }
                if withdrawn == *permission =>
            {
                Some(because)
            }
            _ => None,
        };
        eventually(async || self.events(session).await.into_iter().find_map(of)).await
    }

    /// Answers a question; returns the code of a refusal, or `None` if the answer was taken.
    async fn answer(
        &self,
        session: &SessionId,
        permission: &PermissionId,
        option: &str,
    ) -> Option<&'static str> {
        self.answer_with(session, permission, option, None).await
    }

    async fn answer_with(
        &self,
        session: &SessionId,
        permission: &PermissionId,
        option: &str,
        text: Option<&str>,
    ) -> Option<&'static str> {
        let (by, text) = (Actor::human("user"), text.map(str::to_owned));
        let command = ClientCommand::AnswerPermission {
            permission: permission.clone(),
            option: option.into(),
            text,
            by,
        };
        match self.hall.submit(session, command, None).await {
            Ok(_) => None,
            Err(HallError::Rejected(rejection)) => Some(rejection.code),
            Err(error) => panic!("{error}"),
        }
    }

    fn keys(&self, session: &SessionId) -> (Vec<String>, usize) {
        self.bench.with(session.as_str(), |screen| (screen.chosen.clone(), screen.escapes))
    }

    async fn fault(&self, session: &SessionId) -> Fault {
        let of = |event: Event| match event {
            Event::TurnEnded { fault: Some(fault), .. } => Some(fault),
            _ => None,
        };
        eventually(async || self.events(session).await.into_iter().find_map(of)).await
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_pressed_into_the_dialog_it_is_about() {
    let (room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    let question = room.question(&a, 1).await;
    assert_eq!(room.answer(&a, &question, "allow").await, None);
    eventually(async || (room.keys(&a).0 == ["touch harmless: Yes, proceed (y)"]).then_some(()))
        .await;
    assert_eq!(room.answer(&a, &question, "allow").await, Some("permission_closed"));
}

/// An answer's words go with the option that takes them, into its own dialog. If that fails, the
/// home gets a notice.
#[tokio::test(start_paused = true)]
async fn an_answer_in_words_goes_into_its_dialog() {
    let (room, a) = Room::at_work(LATE).await;
    let shows = |action: &str| {
        let mut options = dialog(action).options;
        options
            .push(PermissionOption::new("3", "Type something.", OptionKind::Other).taking_text());
        room.bench
            .with(a.as_str(), |screen| screen.dialog = Some(Dialog { options, ..dialog(action) }));
        room.bench.show(a.as_str(), PaneState::Asking);
    };
    shows("Which?");
    let question = room.question(&a, 1).await;
    assert_eq!(room.answer(&a, &question, "3").await, Some("text_missing"));
    assert_eq!(room.answer_with(&a, &question, "1", Some("MariaDB")).await, Some("takes_no_text"));
    assert_eq!(room.answer_with(&a, &question, "", Some("MariaDB")).await, None);
    eventually(async || (room.keys(&a).0 == ["Which?: Type something. MariaDB"]).then_some(()))
        .await;
    room.bench.hasty.store(true, Relaxed);
    shows("And where?");
    let question = room.question(&a, 2).await;
    assert_eq!(room.answer_with(&a, &question, "3", Some("here")).await, None);
    assert_eq!(room.withdrawn(&a, &question).await, WithdrawalReason::NotGiven);
    let says_not_given = |event: &Event| {
        event
            .body()
            .is_some_and(|body| body.contains("not given") && body.contains("moothall attach"))
    };
    eventually(async || room.events(&a).await.iter().any(says_not_given).then_some(())).await;
    assert_eq!(room.keys(&a).0.len(), 1);
}

/// The person at the terminal has answered, and the program's next question has the same words.
/// Only the screen shows the change.
#[tokio::test(start_paused = true)]
async fn an_answer_is_never_pressed_into_another_dialog() {
    let (room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    let harmless = room.question(&a, 1).await;
    room.bench.with(a.as_str(), |screen| screen.dialog = Some(dialog("touch DANGER")));
    assert_eq!(room.answer(&a, &harmless, "Yes, proceed (y)").await, Some("permission_withdrawn"));
    assert_eq!(room.withdrawn(&a, &harmless).await, WithdrawalReason::Replaced);
    assert_eq!(room.keys(&a), (vec![], 0));
    let danger = room.question(&a, 2).await;
    // One blank makes a different command.
    assert!(
        !dialog("rm -rf /tmp").is_same(&dialog("rm -rf / tmp"))
            && dialog("ls").is_same(&dialog("ls"))
    );
    assert_ne!(harmless, danger);
    assert_eq!(room.asked(&a).await[1].1, "touch DANGER");
    // The dialog changes between the look and the key. The log has the answer, and also that it was
    // not given.
    room.bench.hasty.store(true, Relaxed);
    assert_eq!(room.answer(&a, &danger, "1").await, None);
    assert_eq!(room.withdrawn(&a, &danger).await, WithdrawalReason::NotGiven);
    assert_eq!(room.keys(&a), (vec![], 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_answered_at_the_terminal_is_asked_no_more() {
    for reports in [LATE, Reports::ALL] {
        let (room, a) = Room::at_work(reports).await;
        room.shows(&a, "touch harmless");
        let question = room.question(&a, 1).await;
        room.bench.show(a.as_str(), PaneState::Busy);
        assert_eq!(room.withdrawn(&a, &question).await, WithdrawalReason::Gone);
        assert_eq!(room.answer(&a, &question, "allow").await, Some("permission_withdrawn"));
        // The same dialog, shown again, is another question.
        room.shows(&a, "touch harmless");
        assert_ne!(room.question(&a, 2).await, question);
    }
}

/// Ten minutes after a question was answered at the terminal, the program works on something else.
#[tokio::test(start_paused = true)]
async fn expiry_presses_no_key_into_a_program_that_works() {
    let (room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    room.question(&a, 1).await;
    room.bench.with(a.as_str(), |screen| screen.state = PaneState::Busy);
    tokio::time::sleep(Duration::from_secs(700)).await;
    assert_eq!(room.keys(&a), (vec![], 0));
    room.finishes(&a, "done in peace").await;
    assert_eq!(room.said(&a).await[1], pair("claude", "done in peace"));
}

/// An operator's limit of ten minutes.
fn limited() -> SessionsConfig {
    SessionsConfig { question_seconds: NonZeroU32::new(600), ..SessionsConfig::default() }
}

/// A question survives a long absence of the person, and the turn's time is paused meanwhile.
#[tokio::test(start_paused = true)]
async fn a_question_is_open_as_long_as_its_dialog_stands() {
    let (room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    let question = room.question(&a, 1).await;
    tokio::time::sleep(Duration::from_secs(3 * 24 * 3600)).await;
    assert_eq!((room.keys(&a), room.asked(&a).await.len()), ((vec![], 0), 1));
    assert_eq!(room.answer(&a, &question, "allow").await, None);
    eventually(async || (room.keys(&a).0 == ["touch harmless: Yes, proceed (y)"]).then_some(()))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_runs_out_is_refused_in_its_own_dialog() {
    let (room, a) = Room::at_work(LATE).await;
    room.sessions().replace(limited(), BTreeMap::new());
    room.shows(&a, "touch harmless");
    room.question(&a, 1).await;
    tokio::time::sleep(Duration::from_secs(599)).await;
    assert_eq!(room.keys(&a), (vec![], 0));
    eventually(async || {
        (room.keys(&a) == (vec!["touch harmless: No (esc)".to_owned()], 0)).then_some(())
    })
    .await;
    room.bench.show(a.as_str(), PaneState::Idle);
    let fault = room.fault(&a).await;
    assert_eq!(
        (fault.code.as_str(), fault.message.as_str()),
        ("gave_up", "Nobody answered in time what it asked: it gave up.")
    );
}

#[tokio::test(start_paused = true)]
async fn a_dialog_without_a_no_is_left_alone_when_time_runs_out() {
    let (room, a) = Room::at_work(LATE).await;
    room.sessions().replace(limited(), BTreeMap::new());
    let options = vec!["SQLite".into(), "Postgres".into()];
    room.bench.with(a.as_str(), |screen| {
        screen.dialog = Some(Dialog { options, ..dialog("Which one?") })
    });
    room.bench.show(a.as_str(), PaneState::Asking);
    room.question(&a, 1).await;
    tokio::time::sleep(Duration::from_secs(1300)).await;
    assert_eq!((room.keys(&a), room.asked(&a).await.len()), ((vec![], 0), 1));
}

/// A turn that exceeds its limit ends for its conversation, while the program works on.
#[tokio::test(start_paused = true)]
async fn the_end_of_a_turns_time_presses_no_key() {
    let (room, a) = Room::at_work(Reports::ALL).await;
    tokio::time::sleep(Duration::from_secs(1801)).await;
    assert_eq!(room.fault(&a).await.code, "timeout");
    assert_eq!(room.keys(&a), (vec![], 0));
    room.says(&a, "after forty minutes").await;
    let shown = |event: &Event| matches!(event, Event::Posted(posted) if posted.body == "after forty minutes");
    assert!(room.events(&a).await.iter().any(shown));
    // A person's cancel interrupts the program.
    room.hall.submit(&a, post("again"), None).await.unwrap();
    room.takes(&a, 2).await;
    room.bench.show(a.as_str(), PaneState::Busy);
    room.hall.submit(&a, ClientCommand::Stop { by: Actor::human("user") }, None).await.unwrap();
    eventually(async || (room.keys(&a).1 == 1).then_some(())).await;
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_the_same_dialog_is_the_same_question() {
    let (mut room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    let question = room.question(&a, 1).await;
    room.restart().await;
    assert_eq!(room.answer(&a, &question, "allow").await, None);
    eventually(async || (room.keys(&a).0 == ["touch harmless: Yes, proceed (y)"]).then_some(()))
        .await;
    assert_eq!(room.asked(&a).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_asked_after_a_restart_is_withdrawn() {
    for (dialog, because, questions) in
        [(Some("touch DANGER"), WithdrawalReason::Replaced, 2), (None, WithdrawalReason::Gone, 1)]
    {
        let (mut room, a) = Room::at_work(LATE).await;
        room.shows(&a, "touch harmless");
        let question = room.question(&a, 1).await;
        // The screen changes without an event.
        room.bench.with(a.as_str(), |screen| {
            (screen.state, screen.dialog) = (
                if dialog.is_some() { PaneState::Asking } else { PaneState::Busy },
                dialog.map(self::dialog),
            );
        });
        room.restart().await;
        assert_eq!(room.withdrawn(&a, &question).await, because);
        room.question(&a, questions).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_asks_again_after_a_restart_asks_the_same() {
    let (mut room, a) = Room::at_work(Reports::ALL).await;
    let token = room.bench.with(a.as_str(), |screen| screen.token.clone());
    let news = HookNews::Asks(ReportedQuestion::new(r#"Bash {"command":"touch harmless"}"#, false));
    let hook = Hook { id: "h".into(), session: a.clone(), token, native: None, news };
    let ask = |room: &Room| {
        let (sessions, hook) = (room.sessions().clone(), hook.clone());
        tokio::spawn(async move { sessions.ask(hook).await })
    };
    let _first = ask(&room);
    let question = room.question(&a, 1).await;
    room.shows(&a, "touch harmless");
    room.restart().await;
    let again = ask(&room);
    let refused = async || {
        let answered = room.answer_with(&a, &question, "deny-because", Some("use make")).await;
        answered.is_none().then_some(())
    };
    eventually(refused).await;
    let because = Permit::DenyBecause("use make".into());
    assert_eq!(again.await.unwrap(), because);
    // The hook did not get the answer before the server stopped; it gets the answer, with the
    // person's reason, when it asks again.
    room.restart().await;
    assert_eq!(ask(&room).await.unwrap(), because);
    assert_eq!(room.asked(&a).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_waits_no_longer_takes_its_question_along() {
    let (room, a) = Room::at_work(Reports::ALL).await;
    let token = room.bench.with(a.as_str(), |screen| screen.token.clone());
    let news = HookNews::Asks(ReportedQuestion::new("Bash {}", false));
    let hook = Hook { id: "h".into(), session: a.clone(), token, native: None, news };
    let sessions = room.sessions().clone();
    let asking = tokio::spawn(async move { sessions.ask(hook).await });
    let question = room.question(&a, 1).await;
    asking.abort();
    assert_eq!(room.withdrawn(&a, &question).await, WithdrawalReason::GaveUp);
}

/// A late report is about a closed dialog, and must not appear with the next one.
#[tokio::test(start_paused = true)]
async fn a_report_is_of_the_dialog_that_shows_it() {
    let (room, a) = Room::at_work(Reports::ALL).await;
    room.shows(&a, "Shell touch DANGER");
    let harmless =
        r#"{"type":"exec","command":"touch harmless; echo and more of it","rootCommand":"touch"}"#;
    room.hook(&a, HookNews::Asks(ReportedQuestion::new(harmless, false))).await;
    room.question(&a, 1).await;
    assert_eq!(room.asked(&a).await[0].1, "Shell touch DANGER");
    room.shows(&a, "Shell touch harmless; echo and more of …");
    room.question(&a, 2).await;
    let shown = format!("Shell touch harmless; echo and more of …\n\nIn its report:\n{harmless}");
    assert_eq!(room.asked(&a).await[1].1, shown, "what stands there, and the whole of it");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_stops_says_why() {
    // Refused by a person in the conversation.
    let (room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    let question = room.question(&a, 1).await;
    assert_eq!(room.answer(&a, &question, "deny").await, None);
    eventually(async || (room.keys(&a).0 == ["touch harmless: No (esc)"]).then_some(())).await;
    room.bench.show(a.as_str(), PaneState::Idle);
    let fault = room.fault(&a).await;
    assert_eq!(
        (fault.code.as_str(), fault.message.as_str()),
        ("refused", "You refused what it asked, and it stopped.")
    );
    let said = room.said(&a).await;
    assert_eq!(said.last().unwrap().1, "[claude was denied permission]");
    // Stopped at the terminal. The program was busy, so it had taken its prompt.
    let (room, a) = Room::at_work(LATE).await;
    room.shows(&a, "touch harmless");
    room.question(&a, 1).await;
    room.bench.show(a.as_str(), PaneState::Idle);
    assert_eq!(room.fault(&a).await.code, "interrupted");
    assert_eq!(room.said(&a).await.last().unwrap().1, "[claude was interrupted]");
}

/// A dialog before the first prompt is asked and answered at the session's home, also after a
/// restart.
#[tokio::test(start_paused = true)]
async fn what_is_asked_in_no_turn_is_answered_at_home() {
    let mut room = Room::new().await;
    let a = room.start().await;
    room.shows(&a, "Do you trust this folder?");
    let question = room.question(&a, 1).await;
    room.restart().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(room.question(&a, 1).await, question, "the same dialog is the same question");
    assert_eq!(room.answer(&a, &question, "allow").await, None);
    eventually(async || {
        (room.keys(&a).0 == ["Do you trust this folder?: Yes, proceed (y)"]).then_some(())
    })
    .await;
    room.bench.show(a.as_str(), PaneState::Idle);
    assert_eq!(room.answer(&a, &question, "allow").await, Some("permission_closed"));
    room.shows(&a, "And this one?");
    let second = room.question(&a, 2).await;
    room.restart().await;
    room.bench.with(a.as_str(), |screen| screen.dialog = None);
    room.bench.show(a.as_str(), PaneState::Idle);
    assert_eq!(room.withdrawn(&a, &second).await, WithdrawalReason::Gone);
}
