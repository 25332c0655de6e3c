//! Rows about turns and links from computers that have no part in them.

#![allow(clippy::unwrap_used)]
use moothall_engine::access::RemoteCaller;
use moothall_engine::computers::{PairedComputer, RemoteSession};
use moothall_engine::hall::Hall;
use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::{PostChannel, PostMark};
use moothall_kernel::command::Post;
use moothall_kernel::ids::ComputerId;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::state::LINK_KEY;
use moothall_kernel::time::{Millis, Timestamp};

use super::*;
use crate::bridge::body::Body;
use crate::bridge::tests::{allow, hall};

/// The computer of the invited session, and another one that is paired too.
const WORKSTATION: &str = "2abc";
const STRANGER: &str = "2def";

fn builder() -> RemoteSession {
    RemoteSession {
        id: "ses_builder".into(),
        name: "builder".into(),
        client: "fake".into(),
        state: "idle".into(),
        waiting: 0,
        origin: "started".into(),
        started_at: Timestamp::default(),
    }
}

fn caller(computer: &str) -> RemoteCaller {
    let computer = ComputerId::new(computer);
    RemoteCaller { computer, name: "workstation".into(), rights: Default::default() }
}

/// Makes a conversation in which a session of the workstation has turn 1.
async fn conversation(hall: &Hall) -> StreamId {
    let open = hall.weak().enter().unwrap();
    let by = Actor::human(ParticipantId::USER);
    let policy = Policy { name: PolicyName::LINK, ..Policy::default() };
    let stream = open.create("talk".into(), policy, by.clone(), None).await.unwrap().stream;
    let computer = PairedComputer { id: ComputerId::new(WORKSTATION), name: "workstation".into() };
    let invite = Control::Invite(builder().invitation(&computer));
    let hold = Control::Hold(format!("{LINK_KEY}test"));
    let controls = vec![invite, hold];
    let begin = ClientCommand::Control { controls, by: by.clone() };
    open.submit(&stream, begin, None).await.unwrap();
    let said = ClientCommand::Post(Post::new(by, "build it"));
    open.submit(&stream, said, None).await.unwrap();
    let turns = open.view(&stream, |state| state.open_turns().count()).await.unwrap();
    assert_eq!(turns, 1);
    stream
}

/// Returns the request of a row from a computer.
async fn row(hall: &Hall, from: &str, body: Body) -> TakenRow {
    row_of(hall, &caller(from), body).await
}

async fn row_of(hall: &Hall, caller: &RemoteCaller, body: Body) -> TakenRow {
    let reader = RowReader { hall, caller, own: "1own".into() };
    let channel = PostChannel { sender: caller.computer.clone(), log: "0a".into() };
    let mark = PostMark { channel, before: 4, through: 5 };
    let taking = Taking::row(mark.channel, 5);
    reader.plan(taking, &body.encode()).await.unwrap().request
}

fn refusal(row: &TakenRow) -> String {
    let [refusal] = &row.owing.owed[..] else { panic!("{row:?}") };
    let command: PostCommand = serde_json::from_value(refusal.command.clone()).unwrap();
    let PostCommand::Refused { code, .. } = command else { panic!("{command:?}") };
    code
}

fn has_no_effect(row: &TakenRow) -> bool {
    row.stream.is_none() && row.wanted == ItemBody::Owing && row.owing.owed.is_empty()
}

/// Returns all bodies that tell something about a turn.
fn about(turn: &RemoteTurn) -> Vec<Body> {
    let end = RemoteEnd {
        turn: turn.clone(),
        text: Some("done".into()),
        fault: None,
        usage: Usage::default(),
    };
    let ask = RemotePermission {
        turn: turn.clone(),
        permission: PermissionId::new("p"),
        action: "rm -r build".into(),
        detail: None,
        partial: false,
        options: vec![allow()],
        folder: None,
        session: "builder".into(),
        within: Millis(60_000),
        stands: false,
    };
    let refused = Body::Refused {
        number: 1,
        code: "no".into(),
        message: "No.".into(),
        about: Some(RefusedRow::Turn(turn.clone())),
    };
    vec![
        Body::Begun { turn: turn.clone(), through: Seq(3) },
        Body::Ended(end),
        Body::Asked(ask),
        Body::AskOver {
            turn: turn.clone(),
            permission: PermissionId::new("p"),
            because: WithdrawalReason::Gone,
        },
        Body::State { turn: turn.clone(), state: HostedState::Unknown },
        refused,
    ]
}

#[tokio::test]
async fn a_computer_ends_and_asks_in_no_turns_but_those_of_its_sessions() {
    let hall = hall().await;
    let stream = conversation(&hall).await;
    let turn = RemoteTurn { stream: stream.clone(), turn: TurnNo(1), attempt: 1 };
    for body in about(&turn) {
        let theirs = row(&hall, WORKSTATION, body.clone()).await;
        assert_eq!(theirs.stream.as_ref(), Some(&stream), "{body:?}");
        assert!(has_no_effect(&row(&hall, STRANGER, body.clone()).await), "{body:?}");
    }
    // Neither a turn that never was, nor one of a conversation that is gone.
    let never = RemoteTurn { turn: TurnNo(9), ..turn.clone() };
    let gone = RemoteTurn { stream: "gone".into(), ..turn };
    for body in about(&never).into_iter().chain(about(&gone)) {
        assert!(has_no_effect(&row(&hall, WORKSTATION, body.clone()).await), "{body:?}");
    }
}

#[tokio::test]
async fn only_a_member_speaks_in_a_link_leaves_it_or_closes_it() {
    let hall = hall().await;
    let link = conversation(&hall).await;
    let words = |session: &str| Body::Words {
        stream: link.clone(),
        session: SessionId::new(session),
        text: "hello".into(),
        typed: false,
        elsewhere: Vec::new(),
    };
    let said = row(&hall, WORKSTATION, words("ses_builder")).await;
    let ItemBody::Decision(Command::Client(ClientCommand::Post(post))) = said.wanted else {
        panic!("{said:?}")
    };
    assert_eq!((post.by.id.as_str(), post.body.as_str()), ("builder.workstation", "hello"));
    for (from, session) in [(STRANGER, "ses_builder"), (WORKSTATION, "ses_other")] {
        assert_eq!(refusal(&row(&hall, from, words(session)).await), "link_not_found");
        let session = SessionId::new(session);
        let leave = Body::Leave { stream: link.clone(), session: session.clone() };
        let close = Body::Close { stream: link.clone(), session };
        assert!(has_no_effect(&row(&hall, from, leave).await));
        assert!(has_no_effect(&row(&hall, from, close).await));
    }
    let session = SessionId::new("ses_builder");
    let close = row(&hall, WORKSTATION, Body::Close { stream: link.clone(), session }).await;
    let archives = ItemBody::Decision(
        ClientCommand::Archive { on: true, by: Actor::named("builder.workstation") }.into(),
    );
    assert_eq!(close.wanted, archives);
    // A conversation that is not a link has no words of sessions elsewhere but their answers.
    let by = Actor::human(ParticipantId::USER);
    let open = hall.weak().enter().unwrap();
    let plain = open.create("plain".into(), Policy::default(), by, None).await.unwrap().stream;
    let Body::Words { session, text, typed, elsewhere, .. } = words("ses_builder") else {
        panic!()
    };
    let words = Body::Words { stream: plain, session, text, typed, elsewhere };
    assert_eq!(refusal(&row(&hall, WORKSTATION, words).await), "link_not_found");
}

#[tokio::test]
async fn what_its_configuration_does_not_allow_is_refused() {
    let hall = hall().await;
    let place = |link| RemotePlace {
        stream: "t".into(),
        title: "talk".into(),
        link,
        created_at: Timestamp::default(),
        session: SessionId::new("ses_here"),
        participant: "here.laptop".into(),
        members: Vec::new(),
    };
    // Links are allowed without a word, and invitations are not.
    assert_eq!(
        refusal(&row(&hall, WORKSTATION, Body::Placed(place(false))).await),
        "computer_refused"
    );
    let unavailable = refusal(&row(&hall, WORKSTATION, Body::Placed(place(true))).await);
    assert_ne!(unavailable, "computer_refused");
    // A link that stands does not outlast the right to it.
    let words = Body::Words {
        stream: conversation(&hall).await,
        session: SessionId::new("ses_builder"),
        text: "hello".into(),
        typed: true,
        elsewhere: Vec::new(),
    };
    let mut without = caller(WORKSTATION);
    without.rights = serde_json::from_str(r#"["list", "message", "read"]"#).unwrap();
    assert_eq!(refusal(&row_of(&hall, &without, words).await), "computer_refused");
    let answer = Body::Answer {
        turn: RemoteTurn { stream: "t".into(), turn: TurnNo(1), attempt: 1 },
        session: SessionId::new("ses_here"),
        permission: PermissionId::new("p"),
        option: "allow".into(),
        text: None,
    };
    assert_eq!(refusal(&row(&hall, WORKSTATION, answer).await), "computer_refused");
}

#[test]
fn the_line_that_shows_a_question_is_safe_to_copy_into_a_shell() {
    let asked = |session: &str| {
        let Body::Asked(ask) =
            about(&RemoteTurn { stream: "t".into(), turn: TurnNo(1), attempt: 1 }).swap_remove(2)
        else {
            panic!()
        };
        RemotePermission { session: session.into(), ..ask }.question("workstation").look
    };
    let line = "ssh workstation moothall attach builder".to_owned();
    assert_eq!(asked("builder"), Some(line));
    for name in ["builder; rm -r ~", "$(id)", "", "a\nb"] {
        assert_eq!(asked(name), None, "{name:?}");
    }
}

#[test]
fn a_question_has_another_id_at_the_home_of_its_conversation() {
    let (own, computer) = (PermissionId::new("p.1"), ComputerId::new(WORKSTATION));
    let there = RemotePermission::id_at(&own, &computer);
    assert_eq!(RemotePermission::own_id(&there, &computer), Some(own));
    assert_eq!(RemotePermission::own_id(&there, &ComputerId::new(STRANGER)), None);
}
