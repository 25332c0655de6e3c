//! Presences with their time to live, and open connections. In memory only, on purpose.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use moothall_kernel::Conversation;
use moothall_kernel::command::Facts;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Participant;
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Map, Value};

use crate::hall::presence::{PRESENCE_TTL, Presence};

/// Maximum number of presences in one stream. There are at most 200 participants; the rest is for
/// guests.
pub(crate) const PRESENCES_MAX: usize = 1000;

/// Time for which a presence is shown, stale or not.
const REMEMBERED: Millis = Millis::from_secs(24 * 3600);

/// The state of a participant that is connected and gave no other word.
const LISTENING: &str = "listening";
/// The state of a participant that has gone.
const OFFLINE: &str = "offline";
/// The field of a presence's details with which a client declares that it takes turns.
const TAKES_TURNS: &str = "takes_turns";

/// Presences and connections of all streams.
#[derive(Default)]
pub(crate) struct Presences(Mutex<PresenceTable>);

#[derive(Default)]
struct PresenceTable {
    streams: HashMap<StreamId, StreamPresences>,
    /// Start of the server. Clients cannot have come back before it.
    opened_at: Timestamp,
}

impl PresenceTable {
    /// Returns a stream's presences, after times in the future were set to `now`.
    fn stream(&mut self, stream: &StreamId, now: Timestamp) -> Option<&mut StreamPresences> {
        let attending = self.streams.get_mut(stream)?;
        attending.catch_up(now);
        Some(attending)
    }
}

#[derive(Default)]
struct StreamPresences {
    presences: BTreeMap<ParticipantId, Presence>,
    connections: BTreeMap<ParticipantId, Connections>,
    /// Time at which the last connection of a participant was closed.
    left: BTreeMap<ParticipantId, Timestamp>,
}

/// The open connections of one participant.
#[derive(Clone, Copy, Default)]
struct Connections {
    all: usize,
    /// Connections that declared that they take turns.
    taking_turns: usize,
}

/// The clients of a conversation, as far as turns depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParticipantPresence {
    /// Participants that are connected or present.
    pub reachable: BTreeSet<ParticipantId>,
    /// Reachable participants that declared that they take turns.
    pub takers: BTreeSet<ParticipantId>,
    /// Participants that left so recently that they may come back to their turns.
    pub lately: BTreeSet<ParticipantId>,
    /// Participants whose session has ended, with the name of that session.
    pub ended: BTreeMap<ParticipantId, String>,
    /// True if the server started so recently that no participant counts as gone.
    pub early: bool,
}

impl ParticipantPresence {
    /// Returns the facts for a decision about a conversation. They are about its remote clients,
    /// and about the clients that its command would invite.
    pub(crate) fn facts(&self, state: &Conversation, brings: &[&str]) -> Facts {
        let agents = state.agents().filter(|agent| agent.answers_by_posting());
        let remote: Vec<_> = agents
            .map(|agent| agent.id.clone())
            .chain(brings.iter().map(ParticipantId::new))
            .collect();
        let those = |are: &dyn Fn(&ParticipantId) -> bool| {
            remote.iter().filter(|id| are(id)).cloned().collect()
        };
        let offline = |id: &ParticipantId| !self.reachable.contains(id);
        Facts {
            offline: those(&offline),
            gone: those(&|id| offline(id) && !self.early && !self.lately.contains(id)),
            readers: those(&|id| !offline(id) && !self.takers.contains(id)),
            ended: self.ended.clone(),
            ..Facts::default()
        }
    }
}

/// Time in which a participant that left may come back to an open turn.
const COMES_BACK: Millis = Millis::from_secs(5);
/// Time in which all participants may come back after the server started.
const COMES_AGAIN: Millis = Millis::from_secs(30);

impl StreamPresences {
    /// True if the participant has an open connection, or a presence that is fresh.
    fn is_reachable(&self, id: &ParticipantId, now: Timestamp) -> bool {
        self.connections.contains_key(id)
            || self.presences.get(id).is_some_and(|presence| is_fresh(presence, now))
    }

    /// True if the participant declared that it takes turns, by an open connection or by the
    /// details of a fresh presence.
    fn takes_turns(&self, id: &ParticipantId, now: Timestamp) -> bool {
        let said = |presence: &Presence| {
            presence
                .details
                .as_ref()
                .is_some_and(|details| details.get(TAKES_TURNS) == Some(&Value::Bool(true)))
        };
        let present = || {
            self.presences.get(id).is_some_and(|presence| is_fresh(presence, now) && said(presence))
        };
        self.connections.get(id).is_some_and(|connections| connections.taking_turns > 0)
            || present()
    }

    /// Returns the time at which an absent participant was last seen.
    fn last_seen_at(&self, id: &ParticipantId) -> Option<Timestamp> {
        let until = |presence: &Presence| {
            if presence.state == OFFLINE {
                presence.updated_at
            } else {
                presence.updated_at + PRESENCE_TTL
            }
        };
        self.left.get(id).copied().max(self.presences.get(id).map(until))
    }
}

/// True if the presence is neither stale nor offline.
fn is_fresh(presence: &Presence, now: Timestamp) -> bool {
    !presence.is_stale(now) && presence.state != OFFLINE
}

impl StreamPresences {
    /// Replaces times in the future by now. They come from a clock that was set back. Clients that
    /// have gone would count as present until the clock has reached such a time.
    fn catch_up(&mut self, now: Timestamp) {
        let noted = self.presences.values_mut().map(|presence| &mut presence.updated_at);
        noted.chain(self.left.values_mut()).for_each(|at| *at = now.min(*at));
    }

    /// Returns, of the participants that `matters` selects, the reachable ones, those of them that
    /// take turns, and those that left a moment ago. `opened_at` is the start of the server.
    fn attendees(
        &self,
        now: Timestamp,
        opened_at: Timestamp,
        matters: impl Fn(&ParticipantId) -> bool,
    ) -> ParticipantPresence {
        let known =
            || self.presences.keys().chain(self.connections.keys()).filter(|id| matters(id));
        let reachable: BTreeSet<_> =
            known().filter(|id| self.is_reachable(id, now)).cloned().collect();
        let takers = reachable.iter().filter(|id| self.takes_turns(id, now)).cloned().collect();
        let away = known()
            .chain(self.left.keys().filter(|id| matters(id)))
            .filter(|id| !reachable.contains(*id));
        let lately = away
            .filter(|id| self.last_seen_at(id).is_some_and(|at| now.since(at) < COMES_BACK))
            .cloned()
            .collect();
        let early = now.since(opened_at) < COMES_AGAIN;
        ParticipantPresence { reachable, takers, lately, early, ended: BTreeMap::new() }
    }
}

impl Presences {
    /// Makes an empty set for a server that started at this time.
    pub(crate) fn since(opened_at: Timestamp) -> Self {
        Self(Mutex::new(PresenceTable { opened_at, ..PresenceTable::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, PresenceTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a presence, and returns it. `None` if the stream has too many presences already.
    pub(crate) fn note(
        &self,
        stream: &StreamId,
        from: ParticipantId,
        state: String,
        details: Option<Map<String, Value>>,
        now: Timestamp,
    ) -> Option<Presence> {
        let mut table = self.lock();
        let attending = table.streams.entry(stream.clone()).or_default();
        attending.catch_up(now);
        let presences = &mut attending.presences;
        if presences.len() >= PRESENCES_MAX && !presences.contains_key(&from) {
            presences.retain(|_, presence| !presence.is_stale(now));
            if presences.len() >= PRESENCES_MAX {
                return None;
            }
        }
        let kept =
            details.or_else(|| presences.get(&from).and_then(|earlier| earlier.details.clone()));
        let presence =
            Presence { participant: from.clone(), state, updated_at: now, details: kept };
        presences.insert(from, presence.clone());
        Some(presence)
    }

    /// Drops presences and departures that are old.
    pub(crate) fn forget(&self, now: Timestamp) {
        self.lock().streams.retain(|_, attending| {
            attending.catch_up(now);
            attending.presences.retain(|_, presence| now.since(presence.updated_at) < REMEMBERED);
            attending.left.retain(|_, at| now.since(*at) < COMES_BACK);
            !attending.connections.is_empty()
                || !attending.presences.is_empty()
                || !attending.left.is_empty()
        });
    }

    /// Returns all presences of a stream: first those that are not stale, then by id.
    pub(crate) fn presences(&self, stream: &StreamId, now: Timestamp) -> Vec<Presence> {
        let mut table = self.lock();
        let mut all: Vec<Presence> = table
            .stream(stream, now)
            .map(|s| s.presences.values().cloned().collect())
            .unwrap_or_default();
        all.sort_by_key(|presence| presence.is_stale(now));
        all
    }

    /// Returns the word for each participant that is connected or present. A participant that is
    /// only connected listens.
    pub(crate) fn words(
        &self,
        stream: &StreamId,
        now: Timestamp,
    ) -> BTreeMap<ParticipantId, String> {
        let mut table = self.lock();
        let Some(attending) = table.stream(stream, now) else { return BTreeMap::new() };
        let connected = attending.connections.keys().map(|id| (id.clone(), LISTENING.to_owned()));
        let fresh = attending.presences.values().filter(|presence| is_fresh(presence, now));
        let said = fresh.map(|one| (one.participant.clone(), one.state.clone()));
        connected.chain(said).collect()
    }

    /// Drops the presences of a deleted stream.
    pub(crate) fn forget_stream(&self, stream: &StreamId) {
        self.lock().streams.remove(stream);
    }

    /// Counts one more open connection of a participant.
    pub(crate) fn connect(&self, stream: &StreamId, id: &ParticipantId, takes_turns: bool) {
        let mut table = self.lock();
        let attending = table.streams.entry(stream.clone()).or_default();
        attending.left.remove(id);
        let connections = attending.connections.entry(id.clone()).or_default();
        connections.all += 1;
        connections.taking_turns += usize::from(takes_turns);
    }

    /// Counts one open connection less. If it was the last one, notes the time, so that the
    /// participant may come back to its turn.
    pub(crate) fn disconnect(
        &self,
        stream: &StreamId,
        id: &ParticipantId,
        takes_turns: bool,
        now: Timestamp,
    ) {
        let mut table = self.lock();
        let Some(attending) = table.stream(stream, now) else { return };
        let Some(connections) = attending.connections.get_mut(id) else { return };
        connections.all -= 1;
        connections.taking_turns -= usize::from(takes_turns);
        if connections.all == 0 {
            attending.connections.remove(id);
            attending.left.retain(|_, at| now.since(*at) < COMES_BACK);
            attending.left.insert(id.clone(), now);
        }
    }

    /// Returns the attendees of a stream, without the agents that the server runs in it. Decisions
    /// need the remote clients, and the clients that may be invited.
    pub(crate) fn attendees(
        &self,
        stream: &StreamId,
        state: Option<&Conversation>,
        now: Timestamp,
    ) -> ParticipantPresence {
        let matters = |id: &ParticipantId| {
            state
                .and_then(|state| state.participant(id))
                .is_none_or(Participant::answers_by_posting)
        };
        let mut table = self.lock();
        // A clock that was set back would keep the server `early` until it has caught up.
        table.opened_at = now.min(table.opened_at);
        let opened_at = table.opened_at;
        match table.stream(stream, now) {
            Some(attending) => attending.attendees(now, opened_at, matters),
            None => StreamPresences::default().attendees(now, opened_at, matters),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns the reachable participants, those that take turns, and those that left recently.
    fn here(presences: &Presences, now: Timestamp) -> [Vec<String>; 3] {
        let ParticipantPresence { reachable, takers, lately, .. } =
            presences.attendees(&"s".into(), None, now);
        [reachable, takers, lately].map(|ids| ids.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_client_takes_turns_when_one_of_its_connections_or_its_presence_says_so() {
        let presences = Presences::default();
        presences.connect(&"s".into(), &"a".into(), false);
        presences.connect(&"s".into(), &"b".into(), true);
        let takes = Map::from_iter([(TAKES_TURNS.to_owned(), Value::Bool(true))]);
        presences.note(&"s".into(), "c".into(), "listening".into(), Some(takes), at(0)).unwrap();
        let all = vec!["a".to_owned(), "b".into(), "c".into()];
        assert_eq!(here(&presences, at(1)), [all.clone(), vec!["b".into(), "c".into()], vec![]]);
        presences.connect(&"s".into(), &"a".into(), true);
        assert_eq!(here(&presences, at(1))[1], all);
    }

    #[test]
    fn whoever_left_may_come_back_for_a_moment() {
        let presences = Presences::default();
        presences.connect(&"s".into(), &"a".into(), true);
        presences.connect(&"s".into(), &"a".into(), false);
        presences.disconnect(&"s".into(), &"a".into(), true, at(1_000));
        assert_eq!(here(&presences, at(1_000)), [vec!["a".to_owned()], vec![], vec![]]);
        presences.disconnect(&"s".into(), &"a".into(), false, at(2_000));
        assert_eq!(here(&presences, at(6_999)), [vec![], vec![], vec!["a".to_owned()]]);
        assert_eq!(here(&presences, at(7_000)), <[Vec<String>; 3]>::default());
        presences.note(&"s".into(), "b".into(), "idle".into(), None, at(0)).unwrap();
        assert_eq!(here(&presences, at(0) + PRESENCE_TTL), [vec![], vec![], vec!["b".to_owned()]]);
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn an_update_without_details_keeps_the_earlier_ones() {
        let presences = Presences::default();
        let details = Map::from_iter([("client".to_owned(), Value::from("codex"))]);
        presences
            .note(&"s".into(), "a".into(), "listening".into(), Some(details.clone()), at(0))
            .unwrap();
        let later =
            presences.note(&"s".into(), "a".into(), "thinking".into(), None, at(5)).unwrap();
        assert_eq!(later.details, Some(details));
        assert_eq!(later.updated_at, at(5));
    }

    #[test]
    fn those_that_count_come_first_then_by_id() {
        let presences = Presences::default();
        for (id, ts) in [("a", 0), ("c", 1000), ("b", 1000)] {
            presences.note(&"s".into(), id.into(), "idle".into(), None, at(ts)).unwrap();
        }
        let order: Vec<_> = presences
            .presences(&"s".into(), at(0) + PRESENCE_TTL)
            .into_iter()
            .map(|p| p.participant)
            .collect();
        assert_eq!(order, ["b".into(), "c".into(), "a".into()] as [ParticipantId; 3]);
    }

    #[test]
    fn a_presence_is_forgotten_a_day_later() {
        let presences = Presences::default();
        presences.note(&"s".into(), "a".into(), "idle".into(), None, at(0)).unwrap();
        presences.forget(at(-1) + REMEMBERED);
        assert_eq!(presences.presences(&"s".into(), at(0)).len(), 1);
        presences.forget(at(0) + REMEMBERED);
        assert!(presences.lock().streams.is_empty());
    }

    #[test]
    fn a_clock_that_was_set_back_holds_no_client_beyond_its_time() {
        let (later, now) = (at(3_600_000), at(1_000));
        let presences = Presences::since(later);
        presences.connect(&"s".into(), &"a".into(), true);
        presences.disconnect(&"s".into(), &"a".into(), true, later);
        presences.note(&"s".into(), "b".into(), "idle".into(), None, later).unwrap();
        let early = |now| presences.attendees(&"s".into(), None, now).early;
        assert!(early(now) && !early(now + COMES_AGAIN));
        let [a, b] = ["a", "b"].map(|id| vec![id.to_owned()]);
        assert_eq!(here(&presences, now), [b.clone(), vec![], a]);
        assert_eq!(here(&presences, now + COMES_BACK), [b.clone(), vec![], vec![]]);
        assert_eq!(here(&presences, now + PRESENCE_TTL), [vec![], vec![], b]);
        assert!(
            presences.presences(&"s".into(), now + PRESENCE_TTL)[0].is_stale(now + PRESENCE_TTL)
        );
        presences.forget(now + REMEMBERED);
        assert!(presences.lock().streams.is_empty());
    }

    #[test]
    fn a_flood_of_names_is_refused_until_old_ones_lapse() {
        let presences = Presences::default();
        let note = |id: String, ts| {
            presences.note(&"s".into(), ParticipantId::new(id), "idle".into(), None, ts)
        };
        for n in 0..PRESENCES_MAX {
            note(format!("p{n}"), at(0)).unwrap();
        }
        assert_eq!(note("one-more".into(), at(1)), None);
        assert!(note("p7".into(), at(1)).is_some());
        assert!(note("one-more".into(), at(0) + PRESENCE_TTL).is_some());
    }
}
