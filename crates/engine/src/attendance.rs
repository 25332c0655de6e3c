//! Who is here: presences with their time to live, and open connections. Lost with the process, and meant to be.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};

use crate::presence::Presence;

/// Presences kept for one stream. There are 200 participants at most; the rest is room for guests.
pub(crate) const PRESENCES_MAX: usize = 1000;

/// How long a presence is shown, stale or not.
const REMEMBERED: Millis = Millis::from_secs(24 * 3600);

/// The state of a participant that has gone.
const OFFLINE: &str = "offline";

/// Presences and connections of all streams.
#[derive(Default)]
pub(crate) struct Attendance {
    inner: Mutex<Streams>,
}

type Streams = HashMap<StreamId, Attending>;

#[derive(Default)]
struct Attending {
    presences: BTreeMap<ParticipantId, Presence>,
    connections: BTreeMap<ParticipantId, usize>,
}

impl Attending {
    fn is_reachable(&self, id: &ParticipantId, now: Timestamp) -> bool {
        let present = |presence: &Presence| !presence.is_stale(now) && presence.state != OFFLINE;
        self.connections.contains_key(id) || self.presences.get(id).is_some_and(present)
    }
}

impl Attendance {
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a presence. `None` when the stream has too many already.
    pub(crate) fn note(
        &self,
        stream: &StreamId,
        from: ParticipantId,
        state: String,
        details: Option<Map<String, Value>>,
        now: Timestamp,
    ) -> Option<Presence> {
        let mut streams = self.lock();
        let presences = &mut streams.entry(stream.clone()).or_default().presences;
        if presences.len() >= PRESENCES_MAX && !presences.contains_key(&from) {
            presences.retain(|_, presence| !presence.is_stale(now));
            if presences.len() >= PRESENCES_MAX {
                return None;
            }
        }
        let kept = details.or_else(|| presences.get(&from).and_then(|earlier| earlier.details.clone()));
        let presence = Presence { participant: from.clone(), state, updated_at: now, details: kept };
        presences.insert(from, presence.clone());
        Some(presence)
    }

    /// Forgets those who were last heard of long ago.
    pub(crate) fn forget(&self, now: Timestamp) {
        self.lock().retain(|_, attending| {
            attending.presences.retain(|_, presence| now.since(presence.updated_at) < REMEMBERED);
            !attending.connections.is_empty() || !attending.presences.is_empty()
        });
    }

    /// All presences of a stream: those that count first, then by id.
    pub(crate) fn presences(&self, stream: &StreamId, now: Timestamp) -> Vec<Presence> {
        let streams = self.lock();
        let mut all: Vec<Presence> = streams.get(stream).map(|s| s.presences.values().cloned().collect()).unwrap_or_default();
        all.sort_by_key(|presence| presence.is_stale(now));
        all
    }

    pub(crate) fn connect(&self, stream: &StreamId, id: &ParticipantId) {
        *self.lock().entry(stream.clone()).or_default().connections.entry(id.clone()).or_default() += 1;
    }

    pub(crate) fn disconnect(&self, stream: &StreamId, id: &ParticipantId) {
        let mut streams = self.lock();
        let Some(attending) = streams.get_mut(stream) else { return };
        if let Some(count) = attending.connections.get_mut(id) {
            *count -= 1;
            if *count == 0 {
                attending.connections.remove(id);
            }
        }
        if attending.connections.is_empty() && attending.presences.is_empty() {
            streams.remove(stream);
        }
    }

    /// Who is connected or present in a stream.
    pub(crate) fn reachable(&self, stream: &StreamId, now: Timestamp) -> BTreeSet<ParticipantId> {
        let streams = self.lock();
        let Some(attending) = streams.get(stream) else { return BTreeSet::new() };
        let known = attending.presences.keys().chain(attending.connections.keys());
        known.filter(|id| attending.is_reachable(id, now)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::presence::PRESENCE_TTL;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn an_update_without_details_keeps_the_earlier_ones() {
        let attendance = Attendance::default();
        let details = Map::from_iter([("client".to_owned(), Value::from("codex"))]);
        attendance.note(&"s".into(), "a".into(), "listening".into(), Some(details.clone()), at(0)).unwrap();
        let later = attendance.note(&"s".into(), "a".into(), "thinking".into(), None, at(5)).unwrap();
        assert_eq!(later.details, Some(details));
        assert_eq!(later.updated_at, at(5));
    }

    #[test]
    fn those_that_count_come_first_then_by_id() {
        let attendance = Attendance::default();
        for (id, ts) in [("a", 0), ("c", 1000), ("b", 1000)] {
            attendance.note(&"s".into(), id.into(), "idle".into(), None, at(ts)).unwrap();
        }
        let order: Vec<_> = attendance.presences(&"s".into(), at(0) + PRESENCE_TTL).into_iter().map(|p| p.participant).collect();
        assert_eq!(order, ["b".into(), "c".into(), "a".into()] as [ParticipantId; 3]);
    }

    #[test]
    fn a_presence_is_forgotten_a_day_later() {
        let attendance = Attendance::default();
        attendance.note(&"s".into(), "a".into(), "idle".into(), None, at(0)).unwrap();
        attendance.forget(at(-1) + REMEMBERED);
        assert_eq!(attendance.presences(&"s".into(), at(0)).len(), 1);
        attendance.forget(at(0) + REMEMBERED);
        assert!(attendance.lock().is_empty());
    }

    #[test]
    fn a_flood_of_names_is_refused_until_old_ones_lapse() {
        let attendance = Attendance::default();
        let note = |id: String, ts| attendance.note(&"s".into(), ParticipantId::new(id), "idle".into(), None, ts);
        for n in 0..PRESENCES_MAX {
            note(format!("p{n}"), at(0)).unwrap();
        }
        assert_eq!(note("one-more".into(), at(1)), None);
        assert!(note("p7".into(), at(1)).is_some());
        assert!(note("one-more".into(), at(0) + PRESENCE_TTL).is_some());
    }
}
