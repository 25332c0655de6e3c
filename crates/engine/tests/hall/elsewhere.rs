//! Conversations with sessions of other computers, and homes of sessions that take turns for them:
//! the rows that their events owe.

use moothall_engine::computers::{HostedState, PairedComputer, RemoteSession, RemoteTurn};
use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::{Deliveries, PostBook, PostChannel, Target};
use moothall_engine::residents::TakenRow;
use moothall_engine::sessions::{ADDRESS, SessionId};
use moothall_engine::stream::{ItemBody, Taking};
use moothall_kernel::command::{Actor, ClientCommand, Command, Control, EngineCommand, Invite};
use moothall_kernel::event::{TurnKind, Usage};
use moothall_kernel::hosted::{HostedKey, HostedTurn};
use moothall_kernel::ids::{ComputerId, ParticipantId, Seq, StreamId, TurnNo};
use moothall_kernel::link::{JoinedConversation, PartReason};
use moothall_kernel::participant::{Address, AgentFacts, Profile, Runtime};
use moothall_kernel::policy::PolicyName;
use moothall_kernel::state::LINK_KEY;
use moothall_kernel::time::Timestamp;

use crate::common::{World, eventually, post};

fn workstation() -> ComputerId {
    ComputerId::new("1workstation")
}

fn builder() -> SessionId {
    SessionId::new("ses_builder")
}

/// Returns the invitation of a session of the workstation.
fn invitation() -> Invite {
    let session = RemoteSession {
        id: builder().to_string(),
        name: "builder".into(),
        client: "fake".into(),
        state: "idle".into(),
        waiting: 0,
        origin: "started".into(),
        started_at: Timestamp::default(),
    };
    session.invitation(&PairedComputer { id: workstation(), name: "workstation".into() })
}

fn control(control: Control) -> ClientCommand {
    let by = Actor::human(ParticipantId::USER);
    ClientCommand::Control { controls: vec![control], by }
}

fn archive(on: bool) -> ClientCommand {
    ClientCommand::Archive { on, by: Actor::human(ParticipantId::USER) }
}

impl World {
    async fn order(&self, stream: &StreamId, command: impl Into<Command>) {
        self.hall.weak().enter().unwrap().submit(stream, command, None).await.unwrap();
    }

    /// Takes a row of the workstation.
    async fn take_row(&self, stream: &StreamId, number: u64, wanted: ItemBody) {
        let channel = PostChannel { sender: workstation(), log: "0a".into() };
        let taking = Taking::row(channel, number).without_refusal();
        let row =
            TakenRow { stream: Some(stream.clone()), wanted, ..TakenRow::without_effect(taking) };
        let verdicts = self.hall.weak().enter().unwrap().take(vec![row]).await;
        assert!(verdicts.iter().all(Result::is_ok), "{verdicts:?}");
    }

    /// Returns the rows that are owed to the workstation.
    async fn rows(&self) -> Vec<PostCommand> {
        let target = Target::Computer(workstation());
        let rows = self.log.inner.pending_deliveries(&target, 0, 100).await.unwrap();
        rows.iter().map(|row| row.carried().unwrap()).collect()
    }

    /// Waits until this number of rows is owed, and returns the newest.
    async fn newest(&self, count: usize) -> PostCommand {
        eventually(async || (self.rows().await.len() >= count).then_some(())).await;
        let mut rows = self.rows().await;
        assert_eq!(rows.len(), count, "{rows:?}");
        rows.pop().unwrap()
    }

    /// Owes anew what a computer has to hear of its turns, and returns all rows that the
    /// workstation is owed.
    async fn offered_again(&self, computer: &ComputerId) -> Vec<PostCommand> {
        self.hall.weak().enter().unwrap().offer_again(computer).await.unwrap();
        self.rows().await
    }

    /// Doubts all rows, as a start on a restored log does.
    async fn doubt(&self) {
        self.log.inner.doubt_all("it was restored").await.unwrap();
    }

    /// Makes a conversation with the session of the workstation, whose turn 1 is offered.
    async fn offering(&self) -> StreamId {
        let stream = self.create().await;
        self.order(&stream, control(Control::Invite(invitation()))).await;
        let placed =
            PostCommand::Placed { participant: "builder.workstation".into(), session: builder() };
        assert_eq!(self.newest(1).await, placed);
        self.order(&stream, post("@builder@workstation build it")).await;
        assert_eq!(self.newest(2).await, offer());
        stream
    }
}

fn offer() -> PostCommand {
    PostCommand::Turn { turn: TurnNo(1), attempt: 1, session: builder() }
}

fn probe() -> PostCommand {
    PostCommand::Probe { turn: TurnNo(1), attempt: 1, session: builder() }
}

fn off(lapse: bool) -> PostCommand {
    PostCommand::Off { turn: TurnNo(1), attempt: 1, session: builder(), lapse }
}

fn finished(result: &str) -> ItemBody {
    let (turn, attempt, result) = (TurnNo(1), 1, Ok(result.to_owned()));
    let usage = Usage::default();
    ItemBody::Decision(EngineCommand::Finished { turn, attempt, result, usage }.into())
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_offered_once_and_its_answer_owes_nothing() {
    let world = World::new().await;
    let stream = world.offering().await;
    // A second cause is in the prompt of the same offer.
    world.order(&stream, post("@builder@workstation and test it")).await;
    world.take_row(&stream, 1, finished("done")).await;
    assert_eq!(world.rows().await.len(), 2);
    let said = world.said(&stream).await;
    assert!(said.contains(&("builder.workstation".into(), "done".into())), "{said:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_ended_here_is_ended_there() {
    let world = World::new().await;
    let stream = world.offering().await;
    let stop = ClientCommand::Stop { by: Actor::human(ParticipantId::USER) };
    world.order(&stream, stop).await;
    assert_eq!(world.newest(3).await, off(false));
}

#[tokio::test(start_paused = true)]
async fn the_turn_of_a_member_that_is_removed_ends_there_too() {
    let world = World::new().await;
    let stream = world.offering().await;
    world.order(&stream, control(Control::Uninvite("builder.workstation".into()))).await;
    let rows = world.rows().await.split_off(2);
    let left = PostCommand::Left { session: builder(), why: PartReason::Removed };
    assert!(rows.contains(&left) && rows.contains(&off(false)), "{rows:?}");
    assert_eq!(rows.len(), 2, "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn an_archived_conversation_is_left_at_once_and_joined_again() {
    let world = World::new().await;
    let stream = world.create().await;
    world.order(&stream, control(Control::Invite(invitation()))).await;
    world.order(&stream, archive(true)).await;
    let closed = PostCommand::Left { session: builder(), why: PartReason::Closed };
    assert_eq!(world.newest(2).await, closed);
    world.order(&stream, archive(false)).await;
    let placed =
        PostCommand::Placed { participant: "builder.workstation".into(), session: builder() };
    assert_eq!(world.newest(3).await, placed);
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_closed_is_left_with_the_last_turn() {
    let world = World::new().await;
    let stream = world.create_as(PolicyName::LINK).await;
    world.order(&stream, control(Control::Hold(format!("{LINK_KEY}test")))).await;
    world.order(&stream, control(Control::Invite(invitation()))).await;
    world.order(&stream, post("build it")).await;
    assert_eq!(world.newest(2).await, offer());
    world.order(&stream, archive(true)).await;
    assert_eq!(world.rows().await.len(), 2, "the words of its turn are still delivered");
    // The answer is not said any more, so the turn counts as ended here.
    world.take_row(&stream, 1, finished("done")).await;
    let closed = PostCommand::Left { session: builder(), why: PartReason::Closed };
    assert_eq!(world.newest(4).await, closed);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_its_computer_does_not_know_is_offered_again_or_was_lost() {
    let world = World::new().await;
    let stream = world.offering().await;
    let missing = || ItemBody::Missing { turn: TurnNo(1), attempt: 1 };
    world.take_row(&stream, 1, missing()).await;
    assert_eq!(world.newest(3).await, offer());
    let started = EngineCommand::Started { turn: TurnNo(1), attempt: 1, through: Seq(3) };
    world.take_row(&stream, 2, ItemBody::Decision(started.into())).await;
    world.take_row(&stream, 3, missing()).await;
    let said = world.said(&stream).await;
    assert!(said.iter().any(|(_, words)| words.contains("was interrupted")), "{said:?}");
    world.take_row(&stream, 4, missing()).await;
    let rows = world.rows().await;
    assert_eq!(rows.iter().filter(|row| **row == offer()).count(), 2, "{rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_starts_again_asks_for_the_turns_that_it_had_offered() {
    let world = World::new().await;
    let stream = world.offering().await;
    let world = world.restart(&[]).await;
    world.hall.weak().enter().unwrap().view(&stream, |_| ()).await.unwrap();
    assert_eq!(world.newest(3).await, probe());
}

#[tokio::test(start_paused = true)]
async fn turns_whose_rows_were_doubted_are_asked_for_once() {
    let world = World::new().await;
    let stream = world.offering().await;
    let workstation = workstation();
    assert_eq!(world.offered_again(&workstation).await.len(), 2, "its offer is still owed");
    world.doubt().await;
    assert_eq!(world.offered_again(&ComputerId::new("2other")).await, []);
    for _ in 0..2 {
        assert_eq!(world.offered_again(&workstation).await, [probe()]);
    }

    // One that has begun there is asked for too, whichever process saw it begin.
    let started = EngineCommand::Started { turn: TurnNo(1), attempt: 1, through: Seq(3) };
    world.take_row(&stream, 1, ItemBody::Decision(started.into())).await;
    world.doubt().await;
    assert_eq!(world.offered_again(&workstation).await, [probe()]);
    let world = world.restart(&[]).await;
    world.doubt().await;
    world.hall.weak().enter().unwrap().view(&stream, |_| ()).await.unwrap();
    eventually(async || (world.offered_again(&workstation).await == [probe()]).then_some(())).await;
    world.take_row(&stream, 2, finished("done")).await;
    world.doubt().await;
    assert_eq!(world.offered_again(&workstation).await, [], "it is over");
}

/// Makes the home of a session here, which takes part in a conversation of the workstation.
async fn home(world: &World) -> StreamId {
    let stream = world.create().await;
    let facts = AgentFacts::of_runtime(Runtime::TERMINAL);
    let client = Some("fake".to_owned());
    let profile = Profile { client: client.clone(), model: client, ..Profile::default() };
    let address =
        Address { computer: String::new(), kind: ADDRESS.into(), local_id: stream.to_string() };
    let invite = Invite { address: Some(address), ..Invite::new("planner", profile, facts) };
    world.order(&stream, control(Control::Invite(invite))).await;
    let joined = JoinedConversation {
        computer: workstation(),
        stream: "there".into(),
        title: "talk".into(),
        link: false,
        created_at: Timestamp::default(),
        participant: "planner.laptop".into(),
        members: Vec::new(),
    };
    world.order(&stream, EngineCommand::Join(Box::new(joined))).await;
    // In a pause its turns wait, because no terminal takes them here.
    world.order(&stream, control(Control::Pause(true))).await;
    stream
}

fn key(turn: u64) -> HostedKey {
    let turn = RemoteTurn { stream: "there".into(), turn: TurnNo(turn), attempt: 1 };
    turn.hosted(&workstation())
}

fn host(turn: u64) -> EngineCommand {
    let hosted = HostedTurn {
        key: key(turn),
        through: Seq(7),
        label: "workstation".into(),
        kind: TurnKind::Reply,
        may_pass: false,
        bodies: Box::default(),
    };
    EngineCommand::Host { hosted: Box::new(hosted), text: "build it".into() }
}

#[tokio::test(start_paused = true)]
async fn a_hosted_turn_tells_its_home_how_it_stands_and_that_it_ended() {
    let world = World::new().await;
    let home = home(&world).await;
    let state = async |number: u64| {
        let rows = world.rows().await.len();
        world.take_row(&home, number, ItemBody::Probing(key(1))).await;
        let PostCommand::State { state, .. } = world.newest(rows + 1).await else { panic!() };
        state
    };
    assert_eq!(state(1).await, HostedState::Unknown);
    world.order(&home, host(1)).await;
    assert_eq!(state(2).await, HostedState::Waiting);
    world.order(&home, EngineCommand::Unhost { key: key(1), lapse: false }).await;
    let ended = PostCommand::Ended { hosted: key(1), said: None, parted: false };
    assert_eq!(world.newest(3).await, ended);
    assert_eq!(state(3).await, HostedState::Unknown);
}

#[tokio::test(start_paused = true)]
async fn turns_of_a_conversation_that_the_session_left_end_without_words() {
    let world = World::new().await;
    let home = home(&world).await;
    world.order(&home, host(1)).await;
    let (computer, stream) = (workstation(), StreamId::new("there"));
    let why = PartReason::Closed;
    world.order(&home, EngineCommand::Part { computer, stream, why }).await;
    let ended = PostCommand::Ended { hosted: key(1), said: None, parted: true };
    assert_eq!(world.newest(1).await, ended);
}
