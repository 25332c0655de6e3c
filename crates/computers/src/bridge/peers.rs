//! The facts about the other computers that this server has learned since its start.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use moothall_engine::computers::{ComputerState, ComputerStatus};
use moothall_kernel::time::Timestamp;

use super::lock;
use crate::frame::Hello;
use crate::id::{BootId, ComputerId};
use crate::invitation::Pair;
use crate::post::LeaseAnswer;

/// Time after this computer's last introduction to another computer within which a further
/// introduction of the same boot is not answered. Without this time two computers would answer each
/// other for ever. After this time the answer is made again, because it may have been lost.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// Time for which a computer that is there may leave an introduction without an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// The other computers.
#[derive(Default)]
pub(super) struct Peers {
    known: Mutex<BTreeMap<ComputerId, Peer>>,
    doubled: AtomicBool,
}

/// A computer that is paired with this one.
#[derive(Default)]
struct Peer {
    /// The boot that holds its lease, and since when it is known.
    there: Option<(BootId, Instant)>,
    hello: Option<PeerHello>,
    /// Time at which this computer last introduced itself to it.
    introduced: Option<Instant>,
    seen_at: Option<Timestamp>,
    /// The reason for which it is refused, or refuses this one.
    fault: Option<&'static str>,
}

/// The introduction of a boot of a computer.
struct PeerHello {
    boot: BootId,
    version: String,
    clock_ahead: i64,
}

impl Peers {
    /// Notes the computers that are there. Returns those whose present boot has not introduced
    /// itself.
    pub(super) fn note_leases(
        &self,
        answer: &LeaseAnswer,
        now: Timestamp,
        clock: Instant,
    ) -> Vec<ComputerId> {
        let mut known = lock(&self.known);
        for (id, peer) in known.iter_mut() {
            if !answer.peers.contains_key(id) {
                peer.there = None;
            }
        }
        let mut strangers = Vec::new();
        for (id, boot) in &answer.peers {
            let peer = known.entry(*id).or_default();
            let since = peer.there.filter(|(there, _)| there == boot).map_or(clock, |it| it.1);
            peer.there = Some((*boot, since));
            peer.seen_at = Some(now);
            if peer.hello.as_ref().is_none_or(|hello| hello.boot != *boot) {
                strangers.push(*id);
            }
        }
        strangers
    }

    /// Notes that the post cannot be reached, so that every computer is away.
    pub(super) fn note_away(&self) {
        lock(&self.known).values_mut().for_each(|peer| peer.there = None);
    }

    /// Notes an introduction. Returns true if it is to be answered: it is the first of this boot,
    /// or this computer's own introduction is older than [`ANSWERED_WITHIN`] and may have been
    /// lost.
    pub(super) fn note_hello(
        &self,
        id: ComputerId,
        boot: BootId,
        hello: &Hello,
        now: Timestamp,
        clock: Instant,
    ) -> bool {
        let mut known = lock(&self.known);
        let peer = known.entry(id).or_default();
        let is_first = peer.hello.as_ref().is_none_or(|known| known.boot != boot);
        peer.hello = Some(PeerHello {
            boot,
            version: hello.program.clone(),
            clock_ahead: hello.clock_ms.saturating_sub(now.millis()),
        });
        (peer.seen_at, peer.fault) = (Some(now), None);
        // The lease of that boot is read only at the next renewal.
        if peer.there.is_none_or(|(there, _)| there != boot) {
            peer.there = Some((boot, clock));
        }
        let is_recent = |at| clock.saturating_duration_since(at) < ANSWERED_WITHIN;
        is_first || !peer.introduced.is_some_and(is_recent)
    }

    /// Notes that this computer introduces itself to another.
    pub(super) fn note_introduced(&self, id: ComputerId, clock: Instant) {
        lock(&self.known).entry(id).or_default().introduced = Some(clock);
    }

    /// Notes the reason for which a computer is refused.
    pub(super) fn note_fault(&self, id: ComputerId, fault: &'static str) {
        let mut known = lock(&self.known);
        let peer = known.entry(id).or_default();
        (peer.fault, peer.hello) = (Some(fault), None);
    }

    /// True if a computer has not introduced itself.
    pub(super) fn is_unknown(&self, id: ComputerId) -> bool {
        lock(&self.known).get(&id).is_none_or(|peer| peer.hello.is_none())
    }

    pub(super) fn forget(&self, id: ComputerId) {
        lock(&self.known).remove(&id);
    }

    /// Notes if another server has the id of this computer.
    pub(super) fn set_doubled(&self, is_doubled: bool) {
        self.doubled.store(is_doubled, Ordering::Relaxed);
    }

    pub(super) fn is_doubled(&self) -> bool {
        self.doubled.load(Ordering::Relaxed)
    }

    /// Returns a computer as surfaces show it.
    pub(super) fn status(&self, pair: &Pair) -> ComputerStatus {
        let known = lock(&self.known);
        let peer = known.get(&pair.id);
        let hello = peer.and_then(|peer| peer.hello.as_ref());
        let (state, cure) = peer.map_or((ComputerState::Away, None), Peer::state);
        ComputerStatus {
            name: pair.name.to_string(),
            id: pair.id.to_string(),
            is_this: false,
            state,
            version: hello.map(|hello| hello.version.clone()),
            seen_at: peer.and_then(|peer| peer.seen_at),
            clock_ahead: hello.map(|hello| hello.clock_ahead),
            cure,
            owed_to: 0,
            owed_by: None,
            sessions: None,
        }
    }
}

impl Peer {
    /// Returns the state, with the next step for people if it needs one.
    fn state(&self) -> (ComputerState, Option<String>) {
        // The other computer may have ended its tasks with the pair, so its lease says nothing.
        if let Some(fault) = self.fault {
            return (ComputerState::Refused, Some(fault.to_owned()));
        }
        let Some((boot, since)) = self.there else { return (ComputerState::Away, None) };
        if self.hello.as_ref().is_some_and(|hello| hello.boot == boot) {
            return (ComputerState::Up, None);
        }
        if since.elapsed() < ANSWER_WITHIN {
            return (ComputerState::Away, None);
        }
        let cure = "It is there and does not answer. If it has just accepted an invitation, join \
                    its answer here; if it has forgotten this computer, forget it here too and \
                    pair both anew.";
        (ComputerState::Refused, Some(cure.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::frame::SendingHead;
    use crate::id::LogId;
    use crate::keys::PairKey;

    fn hello() -> Hello {
        Hello {
            program: "1.0.0".into(),
            name: "workstation".parse().unwrap(),
            clock_ms: 0,
            sending: SendingHead { log: LogId::random(), first: 1, last: 0 },
            received: Vec::new(),
        }
    }

    #[test]
    fn a_lost_introduction_is_made_again_and_two_do_not_answer_each_other_for_ever() {
        let (peers, begin) = (Peers::default(), Instant::now());
        let (id, boot) = (ComputerId::random(1).unwrap(), BootId::random());
        let heard = |after: u64| {
            let clock = begin + Duration::from_secs(after);
            let is_answered = peers.note_hello(id, boot, &hello(), Timestamp::default(), clock);
            if is_answered {
                peers.note_introduced(id, clock);
            }
            is_answered
        };
        assert!(heard(0), "the first of its boot");
        assert!(!heard(1), "it answers ours");
        assert!(heard(10), "it asks again, so it has not heard ours");
        assert!(!heard(11));
    }

    #[test]
    fn a_computer_that_ended_the_pair_is_refused_after_it_is_gone_too() {
        let (peers, id) = (Peers::default(), ComputerId::random(1).unwrap());
        let pair = Pair { id, name: "workstation".parse().unwrap(), key: PairKey::random() };
        peers.note_fault(id, "It has forgotten this computer.");
        peers.note_away();
        let status = peers.status(&pair);
        assert_eq!(status.state, ComputerState::Refused);
        assert!(status.cure.is_some());
    }
}
