//! What the program of a session reaches and may do, over restarts of the server.

use moothall_engine::access::{Access, Caller, Mode, Over};
use moothall_kernel::command::{Command, Control};

use super::*;

/// The program of a session, as it is known by the secret of its environment.
async fn caller(room: &Room, session: &SessionId) -> Caller {
    let token = room.desk.with(session.as_str(), |screen| screen.token.clone());
    Access::new(room.hall.clone(), Mode::Token, None).identify(&token).await.unwrap().unwrap()
}

async fn begin(room: &Room, by: Actor) -> StreamId {
    room.hall.create("a talk".into(), Policy::default(), by, None).await.unwrap().stream
}

async fn control(room: &Room, stream: &StreamId, control: Control) {
    let command = Command::Control { by: Actor::human("user"), controls: vec![control] };
    room.hall.submit(stream, command, None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_a_session_reaches_and_has_started_survives_a_restart_of_the_server() {
    let mut room = Room::new().await;
    let (own, other) = (room.start().await, room.start().await);
    let by = Actor::named("claude");
    let new = NewSession {
        client: "claude".into(),
        cwd: "/".into(),
        args: Vec::new(),
        name: Some("child".into()),
        by: by.clone(),
        session: Some(own.clone()),
    };
    let child = room.sessions().start(new).await.unwrap().session.id;
    let (joined, left, foreign) =
        (begin(&room, Actor::human("user")).await, begin(&room, Actor::human("user")).await, begin(&room, Actor::human("user")).await);
    let made = begin(&room, by).await;
    for stream in [&joined, &left] {
        control(&room, stream, Control::Invite(room.sessions().invite(&own).unwrap())).await;
    }
    control(&room, &left, Control::Uninvite("claude".into())).await;
    for round in ["as it began", "after a restart", "after another"] {
        let asks = caller(&room, &own).await;
        let reached = [&own, &joined, &made, &child].map(|stream| asks.reach.includes(stream));
        let hidden = [&left, &foreign, &other].map(|stream| asks.reach.includes(stream));
        assert_eq!((reached, hidden), ([true; 4], [false; 3]), "{round}");
        assert!(room.hall.permit_over(&asks, Over::Steering, child.as_str()).await.is_ok(), "{round}");
        assert!(room.hall.permit_over(&asks, Over::Seeing, other.as_str()).await.is_err(), "{round}");
        let asks = caller(&room, &child).await;
        assert!(room.hall.permit_over(&asks, Over::Telling, own.as_str()).await.is_ok(), "{round}: it knows who started it");
        assert!(room.hall.permit_over(&asks, Over::Steering, own.as_str()).await.is_err(), "{round}: and steers it not");
        room.restart().await;
    }
}
