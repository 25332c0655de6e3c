//! Reach and rights of a session's program, across restarts of the server.

use std::collections::{BTreeMap, BTreeSet};

use moothall_engine::access::{
    Access, AccessError, Caller, Mode, Secret, SessionAction, TokenKind,
};
use moothall_engine::hall::Idempotency;
use moothall_engine::sessions::Excerpt;
use moothall_engine::sessions::{ClientRights, FirstWords};
use moothall_kernel::command::{ClientCommand, Control};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::PermissionId;
use moothall_kernel::start::StartOutcome;
use moothall_kernel::talk::{TalkOutcome, TalkRequest};
use moothall_terminals::SessionsConfig;

use super::*;

/// Returns the caller that the program of a session is, by the secret in its environment.
async fn caller(room: &Room, session: &SessionId) -> Caller {
    let token = room.bench.with(session.as_str(), |screen| screen.token.clone());
    Access::new(room.hall.clone(), Mode::Token, None).identify(&token).await.unwrap().unwrap()
}

async fn begin(room: &Room, by: Actor) -> StreamId {
    room.hall.create("a talk".into(), Policy::default(), by, None).await.unwrap().stream
}

async fn control(room: &Room, stream: &StreamId, control: Control) {
    let command = ClientCommand::Control { by: Actor::human("user"), controls: vec![control] };
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
        place: None,
    };
    let child = room.sessions().start(new).await.unwrap().session.id;
    let (joined, left, foreign) = (
        begin(&room, Actor::human("user")).await,
        begin(&room, Actor::human("user")).await,
        begin(&room, Actor::human("user")).await,
    );
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
        assert!(
            room.hall.permit_over(&asks, SessionAction::Steering, child.as_str()).await.is_ok(),
            "{round}"
        );
        assert!(
            room.hall.permit_over(&asks, SessionAction::Seeing, other.as_str()).await.is_err(),
            "{round}"
        );
        let called = room.sessions().find(other.as_str()).unwrap().session.name.to_string();
        let refusal = room.hall.as_(asks).invitation(&called).await.unwrap_err();
        assert_eq!(
            refusal,
            AccessError::Session(SessionError::NotFound(called)),
            "{round}: its id is not for everybody"
        );
        let asks = caller(&room, &child).await;
        assert!(
            room.hall.permit_over(&asks, SessionAction::Telling, own.as_str()).await.is_ok(),
            "{round}: it knows who started it"
        );
        assert!(
            room.hall.permit_over(&asks, SessionAction::Steering, own.as_str()).await.is_err(),
            "{round}: and steers it not"
        );
        room.restart().await;
    }
}

/// Asks for the start of another session, and answers as a person.
async fn ask(room: &Room, asker: &SessionId, option: &str) -> PermissionId {
    let new = NewSession {
        client: "claude".into(),
        cwd: "/".into(),
        args: vec!["--model".into()],
        name: Some("child".into()),
        by: Actor::named("claude"),
        session: Some(asker.clone()),
        place: None,
    };
    let first = FirstWords { text: Some("Read the plan.".into()), direct: true };
    let (home, permission) = room.sessions().ask_start(None, &new, first).await.unwrap();
    assert_eq!(home, *asker);
    let answer = ClientCommand::AnswerPermission {
        permission: permission.clone(),
        option: option.into(),
        text: None,
        by: Actor::human("user"),
    };
    room.hall.submit(asker, answer, None).await.unwrap();
    permission
}

async fn outcomes(room: &Room, asker: &SessionId) -> Vec<StartOutcome> {
    let events = room.hall.read(asker, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
    let outcome = |recorded: RecordedEvent| {
        if let Event::StartSettled { outcome, .. } = recorded.event { Some(outcome) } else { None }
    };
    events.into_iter().filter_map(outcome).collect()
}

#[tokio::test(start_paused = true)]
async fn what_a_person_allowed_is_started_once_though_the_server_dies_at_once() {
    let mut room = Room::new().await;
    let asker = room.start().await;
    ask(&room, &asker, "allow").await;
    room.restart().await;
    let came =
        eventually(async || Some(outcomes(&room, &asker).await).filter(|came| !came.is_empty()))
            .await;
    assert!(
        matches!(came.as_slice(), [StartOutcome::Started { name, unsaid: None, .. }] if name.as_str() == "child"),
        "{came:?}"
    );
    for _ in 0..2 {
        room.restart().await;
        let living = room.sessions().list(false);
        let names: BTreeSet<_> = living.iter().map(|status| status.session.name.as_str()).collect();
        assert_eq!((living.len(), names), (2, ["claude", "child"].into()));
    }
    let child = room.sessions().find("child").unwrap().session.id;
    assert!(room.takes(&child, 1).await.contains("\n\nclaude (1):\n\nRead the plan.\n"));
    let text = room.takes(&asker, 1).await;
    assert!(
        text.starts_with(
            "moothall:\n\nclaude asked to start claude in /. It runs as child (session "
        ),
        "{text}"
    );
}

/// The server dies after the program started and before the outcome is reported. The folder is
/// deleted meanwhile.
#[tokio::test(start_paused = true)]
async fn a_program_that_began_before_the_server_died_is_told_of_though_its_folder_is_gone() {
    let room = Room::new().await;
    let (asker, folder) = (room.start().await, tempfile::tempdir().unwrap());
    let cwd = folder.path().canonicalize().unwrap();
    let by = Actor::named("claude");
    let new = NewSession {
        client: "claude".into(),
        cwd,
        args: Vec::new(),
        name: None,
        by,
        session: Some(asker.clone()),
        place: None,
    };
    let (_, permission) =
        room.sessions().ask_start(None, &new, FirstWords::default()).await.unwrap();
    let key = Idempotency {
        principal: "moothall:start".into(),
        key: format!("{permission}:start"),
        fingerprint: permission.to_string(),
    };
    let began = room.sessions().start_once(new, Some(key)).await.unwrap().session;
    folder.close().unwrap();
    let answer = ClientCommand::AnswerPermission {
        permission,
        option: "allow".into(),
        text: None,
        by: Actor::human("user"),
    };
    room.hall.submit(&asker, answer, None).await.unwrap();
    let came =
        eventually(async || Some(outcomes(&room, &asker).await).filter(|came| !came.is_empty()))
            .await;
    assert_eq!(
        came,
        [StartOutcome::Started { session: began.id.to_string(), name: began.name, unsaid: None }]
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_person_refused_is_not_started_and_the_asker_hears_it() {
    let room = Room::new().await;
    let asker = room.start().await;
    ask(&room, &asker, "deny").await;
    assert_eq!(outcomes(&room, &asker).await, [StartOutcome::Refused { by: "user".into() }]);
    let text = room.takes(&asker, 1).await;
    assert!(
        text.starts_with("moothall:\n\nclaude asked to start claude in /. user refused it."),
        "{text}"
    );
    assert_eq!(room.sessions().list(true).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_the_operator_says_of_sessions_can_be_said_anew_while_they_live() {
    let room = Room::new().await;
    let (own, folder) = (room.start().await, tempfile::tempdir().unwrap());
    let foreign = begin(&room, Actor::human("user")).await;
    let alone = || {
        let (client, cwd) = ("claude".into(), folder.path().to_owned());
        NewSession {
            client,
            cwd,
            args: Vec::new(),
            name: None,
            by: Actor::named("claude"),
            session: Some(own.clone()),
            place: None,
        }
    };
    let say = |config: SessionsConfig, rights: ClientRights| {
        room.sessions().replace(config, BTreeMap::from([("claude".into(), rights)]))
    };
    assert_eq!(room.sessions().starts_alone(&alone()), None);
    let config =
        SessionsConfig { folders: vec![folder.path().to_owned()], ..SessionsConfig::default() };
    let rights = ClientRights { reaches_all: true, startable_by_agents: true };
    say(config.clone(), rights);
    assert!(room.sessions().starts_alone(&alone()).is_some());

    let asks = caller(&room, &own).await;
    assert!(asks.reach.includes(&foreign));
    let open = Access::new(room.hall.clone(), Mode::Token, None).listen();
    let cut = tokio::spawn(open.wait_until_lost(asks.clone(), room.hall.now()));
    let late = Access::new(room.hall.clone(), Mode::Token, None).listen();
    say(SessionsConfig { most: 1, ..SessionsConfig::default() }, ClientRights::default());
    // Open connections that relied on the lost reach are cut, also one checked before the change
    // and opened after it.
    cut.await.unwrap();
    late.wait_until_lost(asks, room.hall.now()).await;
    assert!(!caller(&room, &own).await.reach.includes(&foreign));
    assert_eq!(room.sessions().starts_alone(&alone()), None);
    let refused = room.sessions().start(alone()).await.unwrap_err().to_string();
    assert!(refused.contains("1 sessions live") || refused.contains("Limit reached"), "{refused}");
}

/// A server with thousands of conversations must not load them to find the links.
#[tokio::test(start_paused = true)]
async fn links_are_found_by_their_members_and_no_other_conversation_is_loaded() {
    let mut room = Room::new().await;
    let [a, b, c, d] =
        [room.start().await, room.start().await, room.start().await, room.start().await];
    let of = |one: &SessionId, other: &SessionId| {
        let member = |session: &SessionId| Member {
            session: session.clone(),
            computer: String::new(),
            name: None,
            number: None,
            role: None,
        };
        NewLink {
            elsewhere: Vec::new(),
            members: vec![member(one), member(other)],
            title: None,
            by: Asker::Actor(Actor::human("user")),
            exchanges_max: None,
        }
    };
    let link = room.sessions().link(of(&a, &b)).await.unwrap().0;
    room.sessions().link(of(&c, &d)).await.unwrap();
    let closed = room.sessions().link(of(&a, &c)).await.unwrap().0;
    room.sessions().close_link(&closed.id, &Asker::Actor(Actor::human("user"))).await.unwrap();
    room.restart().await;
    assert_eq!(room.hall.live_streams(), 0);
    assert_eq!(room.sessions().links(Some(&a)).await.unwrap(), std::slice::from_ref(&link));
    // Its home tells the links of other computers that it has joined.
    assert_eq!(room.hall.live_streams(), 2, "only its own link and its home were asked");
    control(&room, &link.id, Control::Uninvite("claude".into())).await;
    assert_eq!(room.sessions().links(Some(&a)).await.unwrap(), []);
    assert_eq!(room.sessions().links(None).await.unwrap().len(), 1);
}

/// The home of a session and its active links cannot be deleted until it has ended.
#[tokio::test(start_paused = true)]
async fn what_sessions_need_is_not_deleted_under_them() {
    let room = Room::new().await;
    let (a, b) = (room.start().await, room.start().await);
    let link = room.send(&a, &b, "hello", true).await.link.unwrap();
    let key = Secret::fresh(TokenKind::Startup).unwrap();
    let operator = Access::new(room.hall.clone(), Mode::Local, Some(&key))
        .identify(key.reveal())
        .await
        .unwrap()
        .unwrap();
    let door = room.hall.as_(operator);
    let by = || Actor::human("user");
    for (kept, way) in [(&a, "`POST /sessions/claude/end`"), (&link, "`POST /links/")] {
        let refused = door.delete(kept, by()).await.unwrap_err();
        assert!(
            matches!(
                &refused,
                AccessError::Session(SessionError::Conflict(why)) if why.contains(way)
            ),
            "{refused:?}"
        );
    }
    room.sessions().close_link(&link, &Asker::Actor(by())).await.unwrap();
    assert_eq!(door.delete(&link, by()).await, Ok(true));
    room.sessions().end(&a, &by()).await.unwrap();
    assert_eq!(door.delete(&a, by()).await, Ok(true));
    assert!(matches!(room.sessions().link_of(&link).await, Err(SessionError::NoLink)));
    assert_eq!(room.sessions().links(None).await.unwrap(), []);
    assert!(matches!(room.hall.find(&a).await, Err(HallError::Deleted(_))));
}

/// A session whose conversation was deleted during its turn is free for the next one. It does not
/// reach that conversation afterwards, and is found after a restart.
#[tokio::test(start_paused = true)]
async fn a_session_outlives_the_conversation_that_it_was_asked_in() {
    for restarts in [false, true] {
        let mut room = Room::new().await;
        let a = room.start().await;
        let other = begin(&room, Actor::human("user")).await;
        control(&room, &other, Control::Invite(room.sessions().invite(&a).unwrap())).await;
        room.hall.submit(&other, post("@claude are you there?"), None).await.unwrap();
        room.takes(&a, 1).await;
        room.bench.show(a.as_str(), PaneState::Busy);
        assert_eq!(room.hall.delete(&other, Actor::human("user")).await, Ok(true));
        if restarts {
            room.restart().await;
        }
        room.says(&a, "too late").await;
        assert!(!caller(&room, &a).await.reach.includes(&other));
        let key = Secret::fresh(TokenKind::Startup).unwrap();
        let operator = Access::new(room.hall.clone(), Mode::Local, Some(&key))
            .identify(key.reveal())
            .await
            .unwrap()
            .unwrap();
        let data = room.hall.as_(operator).session_data(a.as_str(), Excerpt::default()).await;
        assert!(data.is_ok(), "what it was asked elsewhere can be read: {data:?}");
        room.hall.submit(&a, post("and now?"), None).await.unwrap();
        room.takes(&a, 2).await;
        room.says(&a, "here I am").await;
        let said = room.said(&a).await;
        assert_eq!(said.last(), Some(&pair("claude", "here I am")), "{said:?}");
        room.restart().await;
        assert_eq!(room.sessions().list(false).len(), 1);
    }
}

/// Asks to talk to another session by name, and answers as a person.
async fn ask_talk(room: &Room, asker: &SessionId, to: &str, option: &str) {
    let talk = TalkRequest { to: to.into(), message: "Are you there?".into() };
    let (home, permission) = room.sessions().ask_talk(asker, talk).await.unwrap();
    assert_eq!(home, *asker);
    let answer = ClientCommand::AnswerPermission {
        permission,
        option: option.into(),
        text: None,
        by: Actor::human("user"),
    };
    room.hall.submit(asker, answer, None).await.unwrap();
}

async fn talks(room: &Room, asker: &SessionId) -> Vec<TalkOutcome> {
    let events = room.hall.read(asker, moothall_kernel::ids::Seq(0), None).await.unwrap().events;
    let outcome = |recorded: RecordedEvent| match recorded.event {
        Event::TalkSettled { outcome, .. } => Some(outcome),
        _ => None,
    };
    events.into_iter().filter_map(outcome).collect()
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_talk_is_one_link_once_a_person_allows_it_though_the_server_dies_at_once() {
    let mut room = Room::new().await;
    let (asker, other) = (room.start().await, room.start().await);
    let name = room.sessions().find(other.as_str()).unwrap().session.name;
    ask_talk(&room, &asker, name.as_str(), "allow").await;
    room.restart().await;
    let came =
        eventually(async || Some(talks(&room, &asker).await).filter(|came| !came.is_empty())).await;
    let links = room.sessions().links(Some(&asker)).await.unwrap();
    let [link] = links.as_slice() else { panic!("{links:?}") };
    assert_eq!(came, [TalkOutcome::Linked { link: link.id.clone(), unsaid: None }]);
    let heard = room.takes(&other, 1).await;
    assert!(heard.contains("Are you there?"), "{heard}");
    let text = room.takes(&asker, 1).await;
    assert!(text.contains("asked to talk to"), "{text}");
    assert!(caller(&room, &asker).await.reach.includes(&link.id));
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_talk_to_a_name_that_no_session_bears_is_asked_alike_and_fails_when_allowed() {
    let room = Room::new().await;
    let asker = room.start().await;
    ask_talk(&room, &asker, "nowhere", "allow").await;
    let came =
        eventually(async || Some(talks(&room, &asker).await).filter(|came| !came.is_empty())).await;
    assert!(matches!(came.as_slice(), [TalkOutcome::Failed { .. }]), "{came:?}");
    assert!(room.sessions().links(Some(&asker)).await.unwrap().is_empty());
}
