//! One run: two or three computers, the post between them, and the people who use them.

use std::sync::Arc;
use std::time::Duration;

use moothall_computers::id::ComputerId;
use moothall_computers::invitation::Pair;
use moothall_computers::keys::PairKey;
use moothall_computers::memory_post::{MemoryServer, PostFaults};

use super::super::Report;
use super::super::check::Objection;
use super::super::rng::Rng;
use super::super::story::Story;
use super::hall::{SimComputer, name};
use super::ledger::{RowLedger, SharedLedger, lock};
use super::terminal::Terminal;

/// Letters of an id that are drawn from the seed.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Time after which a sound post owes nothing. A computer that is away is tried after a minute.
const REST_SECS_MAX: u64 = 600;

pub(super) struct ComputersWorld {
    pub(super) rng: Rng,
    pub(super) server: Arc<MemoryServer>,
    pub(super) ledger: SharedLedger,
    pub(super) computers: Vec<SimComputer>,
    /// Number of rows that were owed, and of words that were said.
    pub(super) serial: u64,
    /// Randomness for conversations, in the worlds that have them. It is separate, so that the
    /// other worlds stay as they are.
    pub(super) talk: Option<Rng>,
}

/// Draws the id of a computer.
fn id(rng: &mut Rng) -> ComputerId {
    let mut bytes = [0; moothall_computers::id::COMPUTER_ID_LEN];
    bytes.fill_with(|| LETTERS[rng.below(32) as usize]);
    bytes[0] = b'1' + rng.below(9) as u8;
    ComputerId::from_bytes(bytes).unwrap_or_else(|error| unreachable!("a legal id: {error}"))
}

impl ComputersWorld {
    pub(super) fn new(seed: u64, with_story: bool) -> Self {
        let mut rng = Rng::new(seed ^ 0x636f_6d70);
        let count = 2 + usize::from(rng.chance(40));
        let ids: Vec<ComputerId> = (0..count).map(|_| id(&mut rng)).collect();
        let ledger = RowLedger::new(ids, Story::new(with_story));
        let ledger = Arc::new(std::sync::Mutex::new(ledger));
        let server = MemoryServer::new(rng.below(u64::MAX), faults(&mut rng));
        let mut talk = (seed % 3 != 1).then(|| Rng::new(seed ^ 0x7461_6c6b));
        let computer = |place| {
            let terminal = talk.as_mut().map(|rng| Arc::new(Terminal::new(rng.below(u64::MAX))));
            SimComputer::new(place, server.clone(), ledger.clone(), terminal)
        };
        let computers = (0..count).map(computer).collect();
        Self { rng, server, ledger, computers, serial: 0, talk }
    }

    pub(super) fn report(self, seed: u64, objection: Option<Objection>) -> Report {
        let mut ledger = lock(&self.ledger);
        let story = std::mem::replace(&mut ledger.story, Story::new(false)).into_lines();
        Report { seed, stats: ledger.stats, objection, story }
    }

    pub(super) fn tell(&self, line: impl FnOnce() -> String) {
        lock(&self.ledger).story.tell(line);
    }

    /// Lives with faults for a while, then without until nothing is owed.
    pub(super) async fn live(&mut self) -> Result<(), Objection> {
        self.begin().await;
        for _ in 0..self.rng.between(20, 90) {
            lock(&self.ledger).stats.steps += 1;
            self.act().await;
            self.converse().await;
            self.see_broken_rules().await;
            self.bury();
            self.check()?;
        }
        self.rest().await
    }

    /// Pairs all computers, and starts them.
    async fn begin(&mut self) {
        for (one, other) in self.all_pairs() {
            let key = PairKey::random();
            lock(&self.ledger).pair(one, other, key.clone());
            self.know(one, other, key.clone());
            self.know(other, one, key);
        }
        for computer in &mut self.computers {
            computer.start(None).await;
        }
    }

    fn know(&self, own: usize, other: usize, key: PairKey) {
        let id = self.computers[other].id;
        if let Ok(name) = name(other).parse() {
            let _ = self.computers[own].book().add(Pair { id, name, key });
        }
    }

    /// Returns each two computers once.
    fn all_pairs(&self) -> Vec<(usize, usize)> {
        let count = self.computers.len();
        (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))).collect()
    }

    /// Draws two computers.
    pub(super) fn two(&mut self) -> (usize, usize) {
        let count = self.computers.len() as u64;
        let one = self.rng.below(count);
        let other = (one + self.rng.between(1, count - 1)) % count;
        (one as usize, other as usize)
    }

    /// Removes processes that have died.
    pub(super) fn bury(&mut self) {
        for computer in &mut self.computers {
            let died = computer.process.as_ref().filter(|process| process.life.is_dead());
            if let Some(process) = died {
                let (place, step) = (computer.place, process.life.died_at());
                let mut ledger = lock(&self.ledger);
                ledger.story.tell(|| match step {
                    Some(step) => format!("c{place} died {step}"),
                    None => format!("c{place} was killed"),
                });
                ledger.stats.crashes += 1;
                drop(ledger);
                computer.crash();
            }
        }
    }

    pub(super) fn check(&self) -> Result<(), Objection> {
        lock(&self.ledger).objection.clone().map_or(Ok(()), Err)
    }

    /// Heals everything, and waits until nothing is owed.
    async fn rest(&mut self) -> Result<(), Objection> {
        self.tell(|| "— rest —".into());
        self.server.set_faults(PostFaults::default());
        self.server.set_away(false);
        self.server.thaw();
        for computer in &self.computers {
            self.server.set_one_way(computer.id, false);
            if let Some(process) = &computer.process {
                process.life.spare();
                process.life.pause(false);
            }
        }
        self.bury();
        for computer in &mut self.computers {
            if !computer.is_up() {
                computer.start(None).await;
            }
        }
        for (one, other) in self.all_pairs() {
            if !self.know_each_other(one, other) {
                self.pair_anew(one, other).await;
            }
        }
        self.come_to_rest().await?;
        self.end_talk().await
    }

    /// Waits until nothing is owed.
    pub(super) async fn come_to_rest(&mut self) -> Result<(), Objection> {
        for _ in 0..REST_SECS_MAX {
            self.see_broken_rules().await;
            self.check()?;
            // A log that was restored learns of the rows that it lost by an introduction.
            if self.owed().await.is_empty() && self.untaken().await.is_none() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let owed = self.owed().await;
        let lost = self.untaken().await.filter(|_| owed.is_empty());
        let rest = || Objection { checker: "rest", message: format!("still owed are {owed:?}") };
        Err(lost.map_or_else(rest, |message| Objection { checker: "lost", message }))
    }

    /// True if two computers are paired, with one key.
    pub(super) fn know_each_other(&self, one: usize, other: usize) -> bool {
        let key = |own: usize, of: usize| {
            let pair = self.computers[own].pair_with(self.computers[of].id);
            pair.map(|pair| String::from(pair.key))
        };
        let own = key(one, other);
        own.is_some() && own == key(other, one)
    }

    /// Returns the computers that are owed rows, with their number.
    async fn owed(&self) -> Vec<(usize, usize, usize)> {
        let mut owed = Vec::new();
        for sender in &self.computers {
            for receiver in &self.computers {
                let open = sender.open_rows(receiver.id).await;
                if open > 0 {
                    owed.push((sender.place, receiver.place, open));
                }
            }
        }
        owed
    }

    /// Returns the first direction in which not every row that the log ever owed was taken.
    async fn untaken(&self) -> Option<String> {
        for sender in &self.computers {
            let owed = lock(&self.ledger).owed[sender.place].clone();
            for (receiver, rows) in owed {
                let channel = lock(&self.ledger).channel((sender.place, receiver));
                let mark = match channel {
                    Some(channel) => self.computers[receiver].mark(&channel).await,
                    None => 0,
                };
                if mark != rows.len() as u64 {
                    let (place, owed) = (sender.place, rows.len());
                    return Some(format!("c{receiver} took {mark} of {owed} rows of c{place}"));
                }
            }
        }
        None
    }
}

/// Draws the faults of the post.
pub(super) fn faults(rng: &mut Rng) -> PostFaults {
    let mut percent = || if rng.chance(30) { 0 } else { rng.below(40) };
    PostFaults { lost: percent(), repeated: percent(), delayed: percent() }
}
