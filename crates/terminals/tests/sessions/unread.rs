//! Notices to people about content that only a person at the terminal can read or answer.

use std::time::Duration;

use moothall_engine::sessions::Activity;

use super::*;

impl Room {
    fn draws(&self, session: &SessionId, state: PaneState, text: &str) {
        self.bench.with(session.as_str(), |screen| text.clone_into(&mut screen.drawn));
        self.bench.show(session.as_str(), state);
    }

    fn doing(&self, session: &SessionId) -> Activity {
        self.sessions()
            .list(false)
            .into_iter()
            .find(|status| status.session.id == *session)
            .unwrap()
            .doing
    }

    /// Returns the notices at a session's home.
    async fn server_notices(&self, session: &SessionId) -> Vec<String> {
        let said = self.said(session).await;
        said.into_iter().filter(|(from, _)| from == "moothall").map(|(_, text)| text).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_screen_that_nobody_can_read_is_told_to_people_once() {
    let room = Room::new().await;
    let a = room.start().await;
    room.draws(&a, PaneState::Starting, "Log in: 1) here 2) there");
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(room.server_notices(&a).await.is_empty(), "it may be drawing still");
    tokio::time::sleep(Duration::from_secs(60)).await;
    room.draws(&a, PaneState::Starting, "Log in: 1) here 2) there!");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let notices = room.server_notices(&a).await;
    assert!(
        notices.len() == 1
            && notices[0].contains("moothall attach claude")
            && notices[0].contains("Log in: 1) here"),
        "{notices:?}"
    );
    assert_eq!((room.doing(&a), room.taken(&a)), (Activity::Asking, Vec::new()));
    room.draws(&a, PaneState::Idle, "");
    eventually(async || (room.doing(&a) == Activity::Idle).then_some(())).await;
    room.draws(&a, PaneState::Starting, "Log in once more");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(room.server_notices(&a).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_empty_screen_and_one_that_comes_back_are_no_news() {
    let room = Room::new().await;
    let a = room.start().await;
    room.draws(&a, PaneState::Starting, " ");
    tokio::time::sleep(Duration::from_secs(60)).await;
    for _ in 0..4 {
        room.draws(&a, PaneState::Starting, "a page of help");
        tokio::time::sleep(Duration::from_secs(8)).await;
        room.draws(&a, PaneState::Idle, "");
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(room.server_notices(&a).await.is_empty());
}
