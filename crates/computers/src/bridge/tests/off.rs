//! A computer whose log was restored exchanges nothing until a person resumes that.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use moothall_engine::MemoryLog;
use moothall_engine::answers::Idempotency;
use moothall_engine::computers::{
    ComputerDirectory, ComputerError, ComputerStatus, ComputersStatus, NewComputer, PairedComputer,
    RemoteQuestion, RemoteSession,
};
use moothall_engine::hall::Hall;
use moothall_engine::outbox::PostCommand;
use moothall_engine::ports::{Deliveries, Target};
use moothall_kernel::command::{Actor, ClientCommand, Control, Post as Said};
use moothall_kernel::ids::StreamId;
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use tempfile::TempDir;

use super::faults::until;
use super::pair::{Side, hall_over};
use crate::bridge::run::kernel_id;
use crate::bridge::{Computers, lock};
use crate::id::{ComputerId, LogId};
use crate::invitation::Pair;
use crate::keys::PairKey;
use crate::memory_post::{MemoryServer, PostFaults};
use crate::pairs::{OwnComputer, Pairs};
use crate::post::Post;

/// A computer with its whole directory, as a server has it.
struct Workstation {
    folder: TempDir,
    server: Arc<MemoryServer>,
    laptop: ComputerId,
    log: Arc<MemoryLog>,
    process: Option<Process>,
    requests: u64,
}

struct Process {
    hall: Hall,
    computers: Computers,
    stream: StreamId,
}

/// Makes a workstation and a laptop that run.
async fn computers() -> (Workstation, Side) {
    let server = MemoryServer::new(7, PostFaults::default());
    let (own, laptop) = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
    let key = PairKey::random();
    let folder = TempDir::new().unwrap();
    let redis = "redis://127.0.0.1".parse().unwrap();
    let named = OwnComputer { id: own, name: "workstation".parse().unwrap(), redis, ca: None };
    let pairs = Pairs::create(folder.path(), named).unwrap();
    let name = "laptop".parse().unwrap();
    pairs.add(Pair { id: laptop, name, key: key.clone() }).unwrap();
    let mut other = Side::new(&server, (laptop, "laptop"), (own, "workstation"), &key);
    other.start().await;
    let (log, process) = <_>::default();
    let mut workstation = Workstation { folder, server, laptop, log, process, requests: 0 };
    workstation.start().await;
    (workstation, other)
}

impl Workstation {
    async fn start(&mut self) {
        let hall = hall_over(self.log.clone()).await;
        let by = Actor::human("user");
        let stream = hall.create("owes".into(), Policy::default(), by, None).await.unwrap().stream;
        let server = self.server.clone();
        let posts = Arc::new(move |own| Arc::new(server.post(own)) as Arc<dyn Post>);
        let folder = self.folder.path().to_owned();
        let computers = Computers::open_with(posts, &hall, <_>::default(), folder).await.unwrap();
        self.process = Some(Process { hall, computers, stream });
    }

    async fn stop(&mut self) {
        self.process.take().unwrap().computers.close().await;
    }

    async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// Goes on with a backup of the log that is made now.
    async fn restore(&mut self) {
        self.stop().await;
        self.log = Arc::new(self.log.restored());
        self.start().await;
    }

    fn process(&self) -> &Process {
        self.process.as_ref().unwrap()
    }

    fn directory(&self) -> Arc<dyn ComputerDirectory> {
        self.process().computers.directory()
    }

    /// Owes the laptop a row with a number of its own.
    async fn owe(&mut self, serial: u64) {
        self.requests += 1;
        let (code, message) = ("serial".into(), serial.to_string());
        let row = PostCommand::Refused { number: serial, code, message, about: None };
        let key = self.requests.to_string();
        let once = Idempotency { principal: "test".into(), key, fingerprint: String::new() };
        let Process { hall, stream, .. } = self.process();
        let entries = vec![row.entry(&kernel_id(self.laptop))];
        hall.weak().enter().unwrap().owe(stream, entries, once).await.unwrap();
    }

    /// Returns the rows that the laptop is owed.
    async fn open_rows(&self) -> Vec<PostCommand> {
        let target = Target::Computer(kernel_id(self.laptop));
        let rows = self.log.pending_deliveries(&target, 0, usize::MAX).await.unwrap();
        rows.iter().map(|row| row.carried().unwrap()).collect()
    }

    async fn statuses(&self) -> Vec<ComputerStatus> {
        let ComputersStatus { computers, .. } = self.directory().computers().await;
        computers
    }
}

/// Owes a row, and then restores the log of the workstation.
async fn restored() -> (Workstation, Side) {
    let (mut workstation, mut laptop) = computers().await;
    workstation.owe(1).await;
    until("a row arrives", async || workstation.open_rows().await.is_empty()).await;
    laptop.stop().await;
    let is_away = async || workstation.statuses().await[1].state.to_string() == "away";
    until("the laptop is away", is_away).await;
    workstation.owe(2).await;
    workstation.restore().await;
    laptop.start().await;
    (workstation, laptop)
}

#[tokio::test(start_paused = true)]
async fn after_a_restore_nothing_is_sent_or_taken_until_a_person_resumes_that() {
    let (mut workstation, mut laptop) = restored().await;
    assert_eq!(workstation.open_rows().await, [], "what was owed may have arrived");
    workstation.owe(3).await;
    laptop.owe(0).await;
    // The stop outlives the server, and later rows are not doubted.
    for _ in 0..2 {
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert_eq!((workstation.open_rows().await.len(), laptop.open_rows().await), (1, 1));
        assert_eq!(laptop.state().0, "away", "it has no lease");
        workstation.restart().await;
    }
    assert!(workstation.directory().resume().await.unwrap());
    assert!(!workstation.directory().resume().await.unwrap(), "they are on");
    let is_done =
        async || workstation.open_rows().await.is_empty() && laptop.open_rows().await == 0;
    until("both arrive", is_done).await;
    let notices = laptop.notices().await;
    assert!(notices.iter().all(|notice| !notice.contains("row 2 of")), "{notices:?}");
    assert!(notices.iter().any(|notice| notice.contains("row 3 of")), "{notices:?}");
    workstation.restart().await;
    assert!(workstation.directory().must_be_on().is_ok());
    workstation.owe(4).await;
    until("it arrives", async || workstation.open_rows().await.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn computers_that_are_off_say_so_and_what_to_do() {
    let (workstation, _laptop) = restored().await;
    let statuses = workstation.statuses().await;
    assert_eq!(statuses.len(), 2);
    for status in statuses {
        assert_eq!(status.state.to_string(), "off", "{}", status.name);
        assert!(status.cure.unwrap().contains("moothall computers resume"));
    }
    let directory = workstation.directory();
    let (id, name) = (kernel_id(workstation.laptop), "laptop".to_owned());
    let laptop = PairedComputer { id, name };
    assert_eq!(directory.presence(&laptop).0.to_string(), "off");
    let asked = directory.ask(&laptop, RemoteQuestion::List).await;
    assert_eq!(asked, Err(ComputerError::Off));
    let new = NewComputer::default();
    assert_eq!(directory.invite(new.clone()).await, Err(ComputerError::Off));
    assert_eq!(directory.join("moothall-join-1:x", new).await, Err(ComputerError::Off));
}

#[tokio::test(start_paused = true)]
async fn without_a_pair_there_is_nothing_to_resume() {
    let (mut workstation, _laptop) = restored().await;
    assert!(workstation.directory().forget("laptop").await.unwrap());
    assert!(workstation.directory().must_be_on().is_ok());
    assert!(!workstation.directory().resume().await.unwrap());
    // Neither does a later restore stop what is paired after it.
    workstation.restore().await;
    let book = book(workstation.folder.path());
    let name = "laptop".parse().unwrap();
    book.add(Pair { id: workstation.laptop, name, key: PairKey::random() }).unwrap();
    workstation.restart().await;
    assert!(workstation.directory().must_be_on().is_ok());
}

fn book(folder: &Path) -> Pairs {
    Pairs::open(folder).unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_is_owed_each_way_is_told() {
    let (mut workstation, mut laptop) = computers().await;
    let owed = async |workstation: &Workstation| {
        let laptop = workstation.statuses().await.remove(1);
        (laptop.owed_to, laptop.owed_by)
    };
    until("they meet", async || owed(&workstation).await == (0, Some(0))).await;
    laptop.crash();
    workstation.restart().await;
    workstation.owe(1).await;
    assert_eq!(owed(&workstation).await, (1, None), "it has said nothing yet");
    laptop.start().await;
    until("all arrives", async || owed(&workstation).await == (0, Some(0))).await;
}

/// Begins a turn of a session of the laptop.
async fn offer(workstation: &Workstation) {
    let Process { hall, stream, .. } = workstation.process();
    let session = RemoteSession {
        id: "ses_builder".into(),
        name: "builder".into(),
        client: "fake".into(),
        state: "idle".into(),
        waiting: 0,
        origin: "started".into(),
        started_at: Timestamp::default(),
    };
    let computer = PairedComputer { id: kernel_id(workstation.laptop), name: "laptop".to_owned() };
    let by = || Actor::human("user");
    let invite = Control::Invite(session.invitation(&computer));
    let invite = ClientCommand::Control { controls: vec![invite], by: by() };
    hall.submit(stream, invite, None).await.unwrap();
    let ask = ClientCommand::Post(Said::new(by(), "@builder@laptop build it"));
    hall.submit(stream, ask, None).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_waits_for_another_computer_is_asked_for_after_the_resume() {
    let (mut workstation, mut laptop) = computers().await;
    laptop.crash();
    offer(&workstation).await;
    let count = async |workstation: &Workstation, is_it: fn(&PostCommand) -> bool| {
        workstation.open_rows().await.into_iter().filter(is_it).count()
    };
    let is_offer = |row: &PostCommand| matches!(row, PostCommand::Turn { .. });
    let is_probe = |row: &PostCommand| matches!(row, PostCommand::Probe { .. });
    until("it is offered", async || count(&workstation, is_offer).await == 1).await;
    workstation.restore().await;
    assert_eq!(count(&workstation, is_offer).await, 0, "the offer may have arrived");
    assert!(workstation.directory().resume().await.unwrap());
    until("it is asked for", async || count(&workstation, is_probe).await == 1).await;
    workstation.restart().await;
    laptop.start().await;
    until("all is taken", async || workstation.open_rows().await.is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_resume_that_fails_can_be_repeated() {
    let folder = TempDir::new().unwrap();
    let ca = folder.path().join("ca.pem");
    let (own, laptop) = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
    // The Redis accepts connections and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let redis = format!("rediss://{}", silent.local_addr().unwrap()).parse().unwrap();
    let name = "workstation".parse().unwrap();
    let named = OwnComputer { id: own, name, redis, ca: Some(ca.clone()) };
    let pairs = Pairs::create(folder.path(), named).unwrap();
    let name = "laptop".parse().unwrap();
    pairs.add(Pair { id: laptop, name, key: PairKey::random() }).unwrap();
    pairs.set_log(LogId::random(), false).unwrap();
    let hall = hall_over(Arc::default()).await;
    let place = folder.path().to_owned();
    let computers = Computers::open(&hall, <_>::default(), place).await.unwrap();
    let directory = computers.directory();
    for _ in 0..2 {
        let failed = directory.resume().await;
        assert!(matches!(failed, Err(ComputerError::Invalid(_))), "{failed:?}");
        assert_eq!(directory.must_be_on(), Err(ComputerError::Off));
        assert!(book(folder.path()).is_stopped());
    }
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&ca, signed.cert.pem()).unwrap();
    assert!(directory.resume().await.unwrap());
    assert!(directory.must_be_on().is_ok());
    assert!(lock(&computers.inner.tasks).is_some(), "the tasks run");
}
