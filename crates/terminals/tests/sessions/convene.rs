//! Bringing sessions together: all of them come, or none and no trace is left.

use moothall_engine::ports::{Claim, Deliveries, EventLog, Session};
use moothall_kernel::command::{Control, Invite};
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::participant::SeatRole;
use moothall_kernel::policy::PolicyName;
use moothall_kernel::time::Millis;
use moothall_terminals::{ConversationPlan, JoiningSession, SessionSource};

use moothall_engine::sessions::GatheringPlace;

use super::*;

fn as_itself(session: &Session, room: &Sessions) -> Invite {
    room.invite(&session.id).unwrap()
}

fn joining_session(room: &Room, who: SessionSource) -> JoiningSession {
    let sessions = room.sessions().clone();
    JoiningSession { who, invite: Box::new(move |session| as_itself(session, &sessions)) }
}

fn started(name: &str) -> SessionSource {
    let by = Actor::human("user");
    let name = Some(name.to_owned());
    SessionSource::Started(NewSession {
        client: "claude".into(),
        cwd: "/".into(),
        args: Vec::new(),
        name,
        by,
        session: None,
        place: None,
    })
}

fn convening(joining: Vec<JoiningSession>, claims: &[&str]) -> ConversationPlan {
    let claims = claims.iter().map(|claim| (*claim).to_owned()).collect();
    ConversationPlan {
        title: "A gathering".into(),
        policy: Policy::default(),
        by: Actor::human("user"),
        joining,
        others: Vec::new(),
        claims,
        gathering: None,
        keep: false,
    }
}

/// Returns the names of the living sessions.
fn living(room: &Room) -> Vec<String> {
    let mut names: Vec<_> = room
        .sessions()
        .list(false)
        .into_iter()
        .map(|status| status.session.name.to_string())
        .collect();
    names.sort();
    names
}

/// Waits until no delivery is owed. Returns the titles and ids of all conversations.
async fn at_rest(room: &Room) -> Vec<(String, StreamId)> {
    eventually(async || room.log.heads().await.unwrap().is_empty().then_some(())).await;
    let all = room.hall.list(Default::default()).await.unwrap().streams.into_iter();
    all.map(|listed| (listed.catalog.title, listed.stream)).collect()
}

/// Waits until no delivery is owed. Returns the titles of all conversations.
async fn titles_at_rest(room: &Room) -> Vec<String> {
    at_rest(room).await.into_iter().map(|(title, _)| title).collect()
}

#[tokio::test(start_paused = true)]
async fn all_come_and_the_keys_are_taken_with_them() {
    let mut room = Room::new().await;
    let here = room.start().await;
    let joining = vec![
        joining_session(&room, SessionSource::Living(here.clone())),
        joining_session(&room, started("one")),
        joining_session(&room, started("two")),
    ];
    let stream =
        room.sessions().convene(convening(joining, &["circle:a", "circle:b"])).await.unwrap();
    for round in ["at once", "after a restart"] {
        let gathering = ("A gathering".to_owned(), stream.clone());
        assert!(at_rest(&room).await.contains(&gathering), "{round}");
        assert_eq!(living(&room), ["claude", "one", "two"], "{round}");
        let named = |state: &moothall_kernel::Conversation| {
            state.agents().map(|one| one.id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            room.hall.view(&stream, named).await.unwrap(),
            ["claude", "one", "two"],
            "{round}"
        );
        let claims = room.log.claims("circle", room.hall.now()).await.unwrap();
        assert!(
            matches!(
                &claims[..],
                [Claim { stream: a, .. }, Claim { stream: b, .. }] if *a == stream && *b == stream
            ),
            "{round}"
        );
        room.restart().await;
    }
}

#[tokio::test(start_paused = true)]
async fn when_one_cannot_be_started_those_that_were_end() {
    let mut room = Room::new().await;
    let here = room.start().await;
    let before = titles_at_rest(&room).await;
    room.bench.fates.lock().unwrap().insert("two".into(), Fate::Fails);
    let joining = vec![
        joining_session(&room, SessionSource::Living(here)),
        joining_session(&room, started("one")),
        joining_session(&room, started("two")),
    ];
    let error = room.sessions().convene(convening(joining, &[])).await.unwrap_err();
    assert_eq!(error, SessionError::Host("it fell over".into()));
    assert_eq!(living(&room), ["claude"], "a session that lived before lives on");
    for round in ["at once", "after a restart"] {
        assert_eq!(titles_at_rest(&room).await, before, "{round}");
        assert_eq!(room.sessions().list(true).len(), 1, "{round}");
        room.restart().await;
    }
}

#[tokio::test(start_paused = true)]
async fn when_a_key_is_taken_nobody_comes() {
    let room = Room::new().await;
    let other = room
        .hall
        .create("other".into(), Policy::default(), Actor::human("user"), None)
        .await
        .unwrap()
        .stream;
    let bind = ClientCommand::Control {
        by: Actor::human("user"),
        controls: vec![Control::Hold("circle:a".into())],
    };
    room.hall.submit(&other, bind, None).await.unwrap();
    let error = room
        .sessions()
        .convene(convening(vec![joining_session(&room, started("one"))], &["circle:a"]))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("belongs to conversation"), "{error}");
    assert_eq!(living(&room), [""; 0]);
    assert_eq!(titles_at_rest(&room).await, ["other"]);
}

/// The server dies during the second start, and is away for days.
#[tokio::test(start_paused = true)]
async fn what_was_started_before_the_server_died_is_ended_after() {
    let mut room = Room::new().await;
    room.bench.fates.lock().unwrap().insert("two".into(), Fate::Hangs);
    let sessions = room.sessions().clone();
    let joining =
        vec![joining_session(&room, started("one")), joining_session(&room, started("two"))];
    tokio::spawn(async move { sessions.convene(convening(joining, &[])).await });
    eventually(async || Some(()).filter(|()| living(&room) == ["one"])).await;
    tokio::time::sleep(std::time::Duration::from_secs(3 * 24 * 3600)).await;
    room.restart().await;
    eventually(async || Some(()).filter(|()| living(&room).is_empty())).await;
    eventually(async || titles_at_rest(&room).await.is_empty().then_some(())).await;
}

/// The caller cancels during the second start.
#[tokio::test(start_paused = true)]
async fn what_nobody_waits_for_any_more_is_undone() {
    let room = Room::new().await;
    room.bench.fates.lock().unwrap().insert("two".into(), Fate::Hangs);
    let joining =
        vec![joining_session(&room, started("one")), joining_session(&room, started("two"))];
    let asked = tokio::spawn({
        let sessions = room.sessions().clone();
        async move { sessions.convene(convening(joining, &[])).await }
    });
    eventually(async || Some(()).filter(|()| living(&room) == ["one"])).await;
    asked.abort();
    eventually(async || Some(()).filter(|()| living(&room).is_empty())).await;
    // The home of the start that hangs goes with its session, as after a crash.
    eventually(async || {
        let titles = titles_at_rest(&room).await;
        (!titles.iter().any(|title| title == "A gathering")).then_some(())
    })
    .await;
}

/// Creates a gathering of programs that are started for it, under these names. The last one
/// harvests.
async fn gathering(room: &Room, names: [&str; 3], keep: bool) -> StreamId {
    let joining = names.into_iter().enumerate().map(|(at, name)| {
        let SessionSource::Started(mut new) = started(name) else { panic!("a program is started") };
        (new.name, new.place) = (None, Some(GatheringPlace { name: name.into(), until: None }));
        let JoiningSession { who, invite } = joining_session(room, SessionSource::Started(new));
        let part = if at == 2 { SeatRole::Harvester } else { SeatRole::Speaker };
        let number = Some(at as u32 + 1);
        let invite =
            move |session: &Session| Invite { number, part: Some(part), ..invite(session) };
        JoiningSession { who, invite: Box::new(invite) }
    });
    let plan = GatheringPlan {
        rhythm: "daily".into(),
        breath: [1, 1, 1],
        beats_per_turn: 3,
        beat_interval: Millis(60_000),
        last_word: Millis(20_000),
        opening_question: String::new(),
        hearing: DeliveryMode::OnTurn,
        pulse: Vec::new(),
        signals: Vec::new(),
    };
    let policy = Policy { name: PolicyName::GATHERING, ..Policy::default() };
    let joining = joining.collect();
    let new = ConversationPlan { policy, keep, gathering: Some(plan), ..convening(joining, &[]) };
    room.sessions().convene(new).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn programs_of_a_gathering_bear_its_seats_names_and_end_with_it_unless_they_are_kept() {
    let mut room = Room::new().await;
    let here = room.start().await;
    let kept = gathering(&room, ["Ann", "Bob", "Hal"], true).await;
    let stream = gathering(&room, ["Ann", "Bo Diddley", "claude"], false).await;
    assert_eq!(living(&room), ["Ann", "Ann-2", "Bob", "Hal", "claude", "claude-2", "session"]);
    room.restart().await;
    for gathering in [&kept, &stream] {
        for _ in 0..2 {
            let close = ClientCommand::CloseGathering { by: Actor::human("user") };
            room.hall.submit(gathering, close, None).await.unwrap();
        }
    }
    let left = ["Ann", "Bob", "Hal", "claude"];
    eventually(async || (living(&room) == left).then_some(())).await;
    let ended = room.sessions().list(true).into_iter().filter_map(|one| one.session.ended);
    let whys: Vec<_> = ended.map(|(_, why)| why).collect();
    assert_eq!(whys, ["the gathering that it was started for is over"; 3]);
    assert!(room.sessions().list(false).iter().any(|one| one.session.id == here));
}
