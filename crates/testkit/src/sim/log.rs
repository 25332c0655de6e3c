//! A log with its stages in the open: what is on disk, who may write, who holds which key.

use std::collections::BTreeMap;

use moothall_engine::codec;
use moothall_kernel::event::Recorded;
use moothall_kernel::ids::Seq;

use super::bug::Bug;

/// A key that an append takes.
#[derive(Clone, Debug)]
pub(crate) struct Take {
    pub(crate) key: String,
    /// The event that answered the request.
    pub(crate) answer: Option<Seq>,
}

/// What one writer wants to append.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) room: usize,
    pub(crate) epoch: u64,
    pub(crate) expected_head: Seq,
    pub(crate) events: Vec<Recorded>,
    pub(crate) takes: Vec<Take>,
    pub(crate) releases: Vec<String>,
}

/// Why nothing was appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Fenced,
    Conflict,
    /// The key that somebody else holds.
    Claimed(String),
    Full,
}

#[derive(Default)]
struct Stream {
    /// As they come back from what was written: read once, looked at often. What cannot be read is missing.
    rows: Vec<Option<Recorded>>,
    epoch: u64,
}

/// The disk: it outlives every crash.
pub(crate) struct ModelLog {
    streams: Vec<Stream>,
    holders: BTreeMap<String, (usize, Option<Seq>)>,
    pub(crate) full: bool,
    bug: Option<Bug>,
}

impl ModelLog {
    pub(crate) fn new(rooms: usize, bug: Option<Bug>) -> Self {
        Self { streams: (0..rooms).map(|_| Stream::default()).collect(), holders: BTreeMap::new(), full: false, bug }
    }

    /// Becomes the writer of a stream.
    pub(crate) fn acquire(&mut self, room: usize) -> u64 {
        self.streams[room].epoch += 1;
        self.streams[room].epoch
    }

    /// Who holds a key, and what answered the request that took it.
    pub(crate) fn holder(&self, key: &str) -> Option<(usize, Option<Seq>)> {
        self.holders.get(key).copied()
    }

    pub(crate) fn head(&self, room: usize) -> Seq {
        Seq(self.streams[room].rows.len() as u64)
    }

    pub(crate) fn append(&mut self, batch: &Batch) -> Result<(), Refused> {
        let fenced = batch.epoch != self.streams[batch.room].epoch && self.bug != Some(Bug::NoEpochFencing);
        if fenced {
            return Err(Refused::Fenced);
        }
        if self.full {
            return Err(Refused::Full);
        }
        if batch.expected_head != self.head(batch.room) && self.bug != Some(Bug::NoEpochFencing) {
            return Err(Refused::Conflict);
        }
        self.check_claims(batch)?;
        for key in &batch.releases {
            if self.holders.get(key).is_some_and(|(holder, _)| *holder == batch.room) {
                self.holders.remove(key);
            }
        }
        for take in &batch.takes {
            self.holders.insert(take.key.clone(), (batch.room, take.answer));
        }
        let rows = &mut self.streams[batch.room].rows;
        for recorded in &batch.events {
            let body = recorded.event.body().map(str::to_owned);
            rows.push(codec::decode(recorded.seq, recorded.ts, &codec::envelope(&recorded.event), body).event());
        }
        Ok(())
    }

    fn check_claims(&self, batch: &Batch) -> Result<(), Refused> {
        if self.bug == Some(Bug::DuplicateClaim) {
            return Ok(());
        }
        for take in &batch.takes {
            let free = batch.releases.contains(&take.key) || !self.holders.contains_key(&take.key);
            if !free {
                return Err(Refused::Claimed(take.key.clone()));
            }
        }
        Ok(())
    }

    /// Everything after a position, as this version reads it.
    pub(crate) fn read(&self, room: usize, after: Seq) -> Vec<Recorded> {
        self.streams[room].rows.iter().skip(after.0 as usize).flatten().cloned().collect()
    }
}
