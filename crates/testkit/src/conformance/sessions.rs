//! Sessions: one row for each, and its listeners.

use moothall_engine::ports::SessionBook;
use moothall_engine::sessions::{Origin, Pane, Session, Starter, UnixUser};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Timestamp;

use super::Subject;

fn session(id: &str) -> Session {
    Session {
        id: id.into(),
        name: ParticipantId::new("claude"),
        client: "claude".into(),
        computer: String::new(),
        cwd: "/work".into(),
        pane: None,
        native: None,
        origin: Origin::Started,
        token_hash: "00".into(),
        started_at: Timestamp::from_millis(5),
        ended: None,
        started_by: None,
        run_as: None,
        until: None,
        args: Vec::new(),
        memory: None,
        lost: false,
        left: Vec::new(),
    }
}

/// A session lists each of its own conversations once.
async fn check_rooms(book: &dyn moothall_engine::ports::SessionBook) {
    for (session, room) in [("a", "t2"), ("a", "t1"), ("a", "t1"), ("b", "t1")] {
        book.enter(&session.into(), &room.into()).await.unwrap();
    }
    book.leave(&"a".into(), &"t2".into()).await.unwrap();
    book.leave(&"a".into(), &"t3".into()).await.unwrap();
    book.enter(&"a".into(), &"t0".into()).await.unwrap();
    assert_eq!(book.rooms(&"a".into()).await.unwrap(), ["t0".into(), "t1".into()]);
    assert_eq!(book.rooms(&"b".into()).await.unwrap(), ["t1".into()]);
}

/// The last stored row counts, with every field.
pub async fn a_session_is_kept_as_it_was_last<S: Subject>(subject: S) {
    let book = subject.log();
    book.keep(&session("b")).await.unwrap();
    book.keep(&session("a")).await.unwrap();
    let pane =
        Some(Pane { socket: "work".into(), id: "%3".into(), pid: 77, server: String::new() });
    let ended = Some((Timestamp::from_millis(9), "it was over".to_owned()));
    check_rooms(book).await;
    let started_by = Some(Starter::Session("a".into()));
    let run_as = Some(UnixUser { name: "ada".into(), uid: 4711 });
    let last = Session {
        started_by,
        run_as,
        pane,
        ended,
        native: Some("n".into()),
        memory: Some("n".into()),
        origin: Origin::Observed,
        ..session("b")
    };
    book.keep(&last).await.unwrap();
    assert_eq!(book.all().await.unwrap(), [session("a"), last]);
}

/// A listener is stored once, even if noted repeatedly, and removed alone.
pub async fn who_waits_for_whom_is_noted_once<S: Subject>(subject: S) {
    let book = subject.log();
    for caller in ["y", "x", "x"] {
        book.listen(&"a".into(), &caller.into()).await.unwrap();
    }
    book.listen(&"b".into(), &"x".into()).await.unwrap();
    assert_eq!(book.listeners(&"a".into()).await.unwrap(), ["x".into(), "y".into()]);
    book.unlisten(&"a".into(), &"x".into()).await.unwrap();
    book.unlisten(&"a".into(), &"nobody".into()).await.unwrap();
    assert_eq!(book.listeners(&"a".into()).await.unwrap(), ["y".into()]);
    assert_eq!(book.listeners(&"b".into()).await.unwrap(), ["x".into()]);
}

/// Sessions and listeners survive a restart.
pub async fn sessions_last<S: Subject>(subject: S) {
    let book = subject.log();
    book.keep(&session("a")).await.unwrap();
    book.listen(&"a".into(), &"x".into()).await.unwrap();
    let Some(again) = subject.reopen().await else { return };
    let book = again.log();
    assert_eq!(book.all().await.unwrap(), [session("a")]);
    assert_eq!(book.listeners(&"a".into()).await.unwrap(), ["x".into()]);
}
