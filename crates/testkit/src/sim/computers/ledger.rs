//! The simulator's own record of the rows between all computers: those that each log owes, those
//! that the post carried, and those that each log took.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_computers::bridge::post_channel;
use moothall_computers::channel::ChannelKey;
use moothall_computers::envelope::{Entry, EntryHeader};
use moothall_computers::id::ComputerId;
use moothall_computers::keys::{Opener, PairKey};
use moothall_engine::ports::PostChannel;
use serde_json::Value;
use tokio::time::Instant;

use super::super::Stats;
use super::super::check::Objection;
use super::super::story::Story;
use super::turns::TurnLedger;

/// The record that the watchers of all computers share.
pub(super) type SharedLedger = Arc<Mutex<RowLedger>>;

/// Locks the record.
pub(super) fn lock(ledger: &SharedLedger) -> MutexGuard<'_, RowLedger> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A direction between two computers: the sender and the receiver.
pub(super) type Direction = (usize, usize);

/// A channel, as far as rows of it can be taken for each other: the pairing, the direction, and
/// the log that the sender names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ChannelName {
    pub(super) pairing: usize,
    pub(super) direction: Direction,
    pub(super) log: String,
}

/// The commands of the rows that one log owes, by receiver, in the order of their numbers.
pub(super) type OwedRows = BTreeMap<usize, Vec<Value>>;

pub(super) struct RowLedger {
    pub(super) ids: Vec<ComputerId>,
    pub(super) story: Story,
    pub(super) stats: Stats,
    /// The first objection.
    pub(super) objection: Option<Objection>,
    /// The keys of each two computers, by the lower place first, oldest first.
    pub(super) pairings: BTreeMap<(usize, usize), Vec<PairKey>>,
    /// The rows of the present log of each computer since its numbers began.
    pub(super) owed: Vec<OwedRows>,
    /// The channel in which a computer last put something for another.
    pub(super) sending: BTreeMap<Direction, ChannelName>,
    /// The channels in which something was put, as their receivers' logs name them.
    pub(super) channels: BTreeMap<(usize, PostChannel), ChannelName>,
    /// The bodies that the post was given.
    pub(super) posted: BTreeMap<(ChannelName, u64), Value>,
    /// The highest marks that any log of the receiver had.
    pub(super) taken: BTreeMap<ChannelName, u64>,
    /// Counters of seals, each with the keys that it was used for.
    pub(super) nonces: BTreeSet<(ComputerId, ComputerId, String, u64)>,
    /// Computers that forget another, from the request until both are paired anew: marks and
    /// numbers go at any moment, while the tasks end.
    pub(super) forgetting: BTreeSet<Direction>,
    /// The turns of all logs.
    pub(super) turns: TurnLedger,
    /// The time at which the run began.
    pub(super) began: Instant,
}

impl RowLedger {
    pub(super) fn new(ids: Vec<ComputerId>, story: Story) -> Self {
        let owed = vec![OwedRows::new(); ids.len()];
        let (stats, objection, pairings, sending, channels) = <_>::default();
        let (posted, taken, nonces, forgetting) = <_>::default();
        let turns = TurnLedger::new(ids.len());
        Self {
            ids,
            story,
            stats,
            objection,
            pairings,
            owed,
            sending,
            channels,
            posted,
            taken,
            nonces,
            forgetting,
            turns,
            began: Instant::now(),
        }
    }

    /// Notes an objection, unless an earlier one stands.
    pub(super) fn object(&mut self, checker: &'static str, message: String) {
        self.objection.get_or_insert(Objection { checker, message });
    }

    /// Returns the place of a computer.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.ids.iter().position(|known| known.to_string() == id)
    }

    /// Notes the key of a new pair, of two computers that have forgotten each other.
    pub(super) fn pair(&mut self, one: usize, other: usize, key: PairKey) {
        self.forgetting.remove(&(one, other));
        self.forgetting.remove(&(other, one));
        self.pairings.entry((one.min(other), one.max(other))).or_default().push(key);
    }

    /// Opens an entry with one of the keys of its pair, the newest first. Returns the number of
    /// the pairing too.
    pub(super) fn open(&self, direction: Direction, entry: &Entry) -> Option<(usize, Vec<u8>)> {
        let (one, other) = direction;
        let keys = self.pairings.get(&(one.min(other), one.max(other)))?;
        let opener = Opener::new(*self.ids.get(other)?);
        let open = |(pairing, key)| Some((pairing, opener.open(key, entry.clone()).ok()?.body));
        keys.iter().enumerate().rev().find_map(open)
    }

    /// Returns the direction of an entry.
    pub(super) fn direction(&self, header: &EntryHeader) -> Option<Direction> {
        let place = |id: ComputerId| self.ids.iter().position(|known| *known == id);
        Some((place(header.sender)?, place(header.receiver)?))
    }

    /// True if a computer may have forgotten the pairing of a channel that it uses still.
    pub(super) fn is_over(&self, pairing: usize, (own, other): Direction) -> bool {
        let newest = self.pairings.get(&(own.min(other), own.max(other))).map_or(0, Vec::len);
        pairing + 1 < newest || self.forgetting.contains(&(own, other))
    }

    /// Returns the present channel of a direction, as the receiver's log names it.
    pub(super) fn channel(&self, direction: Direction) -> Option<PostChannel> {
        self.post_channel(self.sending.get(&direction)?)
    }

    /// Returns a channel as its receiver's log names it.
    pub(super) fn post_channel(&self, name: &ChannelName) -> Option<PostChannel> {
        let (sender, receiver) = name.direction;
        let keys = self.pairings.get(&(sender.min(receiver), sender.max(receiver)))?;
        let (sender, receiver) = (*self.ids.get(sender)?, *self.ids.get(receiver)?);
        let key = ChannelKey { sender, log: name.log.parse().ok()?, receiver };
        Some(post_channel(key, keys.get(name.pairing)?))
    }
}
