//! A post in memory with the faults of a real one, drawn from a seed, for tests.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::id::{BootId, ComputerId};
use crate::post::{LEASE, LeaseAnswer, Post, PostBatch, PostEntry, PostError, PostId};

/// Most words that wait for a computer. If more come, the oldest are lost.
const WORDS_MAX: usize = 256;

/// Faults that a post has by chance, each in percent of the entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostFaults {
    /// Entries that are lost although the put succeeds.
    pub lost: u64,
    /// Entries that are there twice.
    pub repeated: u64,
    /// Entries that arrive after 1 to 8 later ones.
    pub delayed: u64,
}

/// A server at which the posts of several computers meet.
#[derive(Debug, Default)]
pub struct MemoryServer {
    state: Mutex<ServerState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct ServerState {
    streams: BTreeMap<ComputerId, VecDeque<StoredEntry>>,
    words: BTreeMap<ComputerId, VecDeque<Vec<u8>>>,
    leases: BTreeMap<ComputerId, (BootId, Instant)>,
    /// Boots that asked for a lease which another boot had.
    rivals: BTreeMap<ComputerId, (BootId, Instant)>,
    /// Entries that arrive later, with the number of puts until then.
    delayed: Vec<(u64, ComputerId, Vec<u8>)>,
    /// Entries that were put while the server was frozen.
    held: Vec<(ComputerId, Vec<u8>)>,
    /// Computers whose entries and words are lost.
    one_way: BTreeSet<ComputerId>,
    faults: PostFaults,
    random: u64,
    last_id: u64,
    /// Rises with every loss of connections.
    connections: u64,
    away: bool,
    frozen: bool,
}

#[derive(Clone, Debug)]
struct StoredEntry {
    id: u64,
    bytes: Vec<u8>,
}

impl MemoryServer {
    /// Makes a server whose faults are drawn from a seed.
    pub fn new(seed: u64, faults: PostFaults) -> Arc<Self> {
        let state = ServerState { random: seed, faults, ..ServerState::default() };
        Arc::new(Self { state: Mutex::new(state), changed: Notify::new() })
    }

    /// Makes the post of a computer.
    pub fn post(self: &Arc<Self>, own: ComputerId) -> MemoryPost {
        MemoryPost { server: self.clone(), own, reader: Mutex::new(ReaderState::default()) }
    }

    /// Replaces the faults.
    pub fn set_faults(&self, faults: PostFaults) {
        self.change(|state| state.faults = faults);
    }

    /// Ends all connections, and refuses new ones while `away` is true.
    pub fn set_away(&self, away: bool) {
        self.change(|state| {
            state.connections += 1;
            state.away = away;
        });
    }

    /// Loses all entries that are stored, and all leases. Connections stay.
    pub fn flush(&self) {
        self.change(|state| {
            state.streams.clear();
            state.leases.clear();
            state.rivals.clear();
        });
    }

    /// Stops all answers. Entries that are put from now on arrive after [`Self::thaw`].
    pub fn freeze(&self) {
        self.change(|state| state.frozen = true);
    }

    /// Answers again.
    pub fn thaw(&self) {
        self.change(|state| {
            state.frozen = false;
            for (to, bytes) in std::mem::take(&mut state.held) {
                state.store(to, bytes);
            }
        });
    }

    /// Loses the entries and words of a computer while `lost` is true; it still receives.
    pub fn set_one_way(&self, from: ComputerId, lost: bool) {
        self.change(|state| {
            if lost {
                state.one_way.insert(from)
            } else {
                state.one_way.remove(&from)
            };
        });
    }

    /// Returns the number of entries that wait for a computer.
    pub fn waiting(&self, of: ComputerId) -> usize {
        self.lock().streams.get(&of).map_or(0, VecDeque::len)
    }

    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut ServerState) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.notify_waiters();
        changed
    }

    /// Makes a change if the server answers.
    fn ask<T>(&self, change: impl FnOnce(&mut ServerState) -> T) -> Result<T, PostError> {
        self.change(|state| {
            if state.away || state.frozen {
                return Err(away());
            }
            Ok(change(state))
        })
    }
}

impl ServerState {
    /// Draws a number below a limit, by splitmix64.
    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }

    /// Puts an entry. By chance it is lost, repeated or delayed.
    fn put(&mut self, to: ComputerId, bytes: Vec<u8>) {
        if self.draw(100) < self.faults.lost {
            return;
        }
        let copies = 1 + usize::from(self.draw(100) < self.faults.repeated);
        for _ in 0..copies {
            if self.draw(100) < self.faults.delayed {
                let puts = 1 + self.draw(8);
                self.delayed.push((puts, to, bytes.clone()));
            } else {
                self.store(to, bytes.clone());
            }
        }
        self.arrive();
    }

    /// Brings the delayed entries nearer, and stores those that are due.
    fn arrive(&mut self) {
        for (puts, to, bytes) in std::mem::take(&mut self.delayed) {
            match puts.checked_sub(1) {
                None => self.store(to, bytes),
                Some(puts) => self.delayed.push((puts, to, bytes)),
            }
        }
    }

    fn store(&mut self, to: ComputerId, bytes: Vec<u8>) {
        self.last_id += 1;
        self.streams.entry(to).or_default().push_back(StoredEntry { id: self.last_id, bytes });
    }

    fn lease(&self, of: ComputerId, now: Instant) -> Option<BootId> {
        self.leases.get(&of).filter(|(_, until)| *until > now).map(|(boot, _)| *boot)
    }
}

fn away() -> PostError {
    PostError::Away("no answer".into())
}

/// The post of one computer at a [`MemoryServer`].
#[derive(Debug)]
pub struct MemoryPost {
    server: Arc<MemoryServer>,
    own: ComputerId,
    reader: Mutex<ReaderState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ReaderState {
    /// Connection of the reader, if it had one.
    connection: Option<u64>,
    last: u64,
}

impl MemoryPost {
    /// Returns the next batch or error; `None` if the caller has to wait. A connection that ended
    /// is an error one time, and the next call connects again.
    fn poll(&self) -> Option<Result<PostBatch, PostError>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.server.lock();
        if state.frozen {
            return None;
        }
        let lost = reader.connection.is_some_and(|connection| connection != state.connections);
        if state.away || lost {
            *reader = ReaderState::default();
            return Some(Err(away()));
        }
        let fresh = reader.connection.is_none();
        let stream = state.streams.get(&self.own).into_iter().flatten();
        let found: Vec<StoredEntry> =
            stream.filter(|entry| entry.id > reader.last).cloned().collect();
        if !fresh && found.is_empty() {
            return None;
        }
        let last = found.last().map_or(reader.last, |entry| entry.id);
        *reader = ReaderState { connection: Some(state.connections), last };
        let named = |entry: StoredEntry| PostEntry {
            id: PostId::from(entry.id.to_string().as_str()),
            bytes: entry.bytes,
        };
        Some(Ok(PostBatch { fresh, entries: found.into_iter().map(named).collect() }))
    }
}

#[async_trait]
impl Post for MemoryPost {
    async fn put(&self, to: ComputerId, entry: &[u8]) -> Result<(), PostError> {
        self.server.change(|state| {
            if state.away {
                return Err(away());
            }
            let lost = state.one_way.contains(&self.own);
            if state.frozen && !lost {
                state.held.push((to, entry.to_vec()));
            }
            if state.frozen {
                return Err(away());
            }
            if !lost {
                state.put(to, entry.to_vec());
            }
            Ok(())
        })
    }

    async fn next(&self) -> Result<PostBatch, PostError> {
        loop {
            let changed = self.server.changed.notified();
            if let Some(answer) = self.poll() {
                return answer;
            }
            changed.await;
        }
    }

    async fn done(&self, ids: &[PostId]) -> Result<(), PostError> {
        self.server.ask(|state| {
            let done: BTreeSet<&str> = ids.iter().map(PostId::as_str).collect();
            if let Some(stream) = state.streams.get_mut(&self.own) {
                stream.retain(|entry| !done.contains(entry.id.to_string().as_str()));
            }
        })
    }

    async fn say(&self, to: ComputerId, words: &[u8]) -> Result<(), PostError> {
        self.server.ask(|state| {
            if state.one_way.contains(&self.own) {
                return;
            }
            let queue = state.words.entry(to).or_default();
            queue.push_back(words.to_vec());
            if queue.len() > WORDS_MAX {
                queue.pop_front();
            }
        })
    }

    async fn hear(&self) -> Result<Vec<u8>, PostError> {
        loop {
            let changed = self.server.changed.notified();
            let heard = {
                let mut state = self.server.lock();
                if state.away {
                    return Err(away());
                }
                let frozen = state.frozen;
                state.words.get_mut(&self.own).filter(|_| !frozen).and_then(VecDeque::pop_front)
            };
            if let Some(words) = heard {
                return Ok(words);
            }
            changed.await;
        }
    }

    async fn renew(&self, boot: BootId, peers: &[ComputerId]) -> Result<LeaseAnswer, PostError> {
        let now = Instant::now();
        self.server.ask(|state| {
            let former = state.lease(self.own, now);
            if former.is_none() {
                state.rivals.remove(&self.own);
            }
            let holder = former.unwrap_or(boot);
            let asked = (boot, now + LEASE);
            match holder == boot {
                true => state.leases.insert(self.own, asked),
                false => state.rivals.insert(self.own, asked),
            };
            let rival = state.rivals.get(&self.own).filter(|(_, until)| *until > now);
            let rival = rival.map(|(rival, _)| *rival);
            let there = |peer: &ComputerId| state.lease(*peer, now).map(|boot| (*peer, boot));
            LeaseAnswer { holder, rival, peers: peers.iter().filter_map(there).collect() }
        })
    }

    async fn release(&self, boot: BootId) -> Result<(), PostError> {
        self.server.ask(|state| {
            if state.leases.get(&self.own).is_some_and(|(holder, _)| *holder == boot) {
                state.leases.remove(&self.own);
            }
        })
    }
}

#[cfg(test)]
mod story;
#[cfg(test)]
mod tests;
