//! The directory of connected agents, of the streams followed for them, and of the apps whose
//! manager is connected.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::time::Millis;
use tokio::sync::{Notify, watch};

use super::attendance::{AgentConnection, NoticeQueue};
use super::manager::App;
use super::notice::{Notice, SharedNotice};
use super::rates::Rates;
use crate::hall::presences::Presences;
use crate::ports::Clock;

/// Maximum number of connections of one agent, in every mode.
pub(crate) const LINES_MAX: usize = 64;
/// Number of agents with counted requests above which the idle ones are dropped.
const RATES_KEPT: usize = 4096;

/// All facts about connected agents that are not in the log.
pub(crate) struct TaskDirectory {
    state: Mutex<State>,
    presences: Arc<Presences>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct State {
    /// The number of the newest connection.
    last: u64,
    /// The open connections (lines) of each connected agent, as queues for notices.
    lines: HashMap<ParticipantId, Vec<NoticeQueue>>,
    followed: HashMap<StreamId, FollowedStream>,
    /// The agents whose presence each connection watches.
    watching: BTreeMap<u64, BTreeSet<ParticipantId>>,
    rates: HashMap<ParticipantId, Rates>,
    apps: BTreeMap<String, App>,
}

/// A stream that is followed, because an agent in it is connected.
struct FollowedStream {
    members: BTreeSet<ParticipantId>,
    /// The agent that manages the stream for an app, if the stream is a task.
    manager: Option<ParticipantId>,
    /// The connected members, which count as present in the stream.
    present: BTreeSet<ParticipantId>,
    ready: watch::Receiver<bool>,
    /// Number of requests to follow the stream. If it grew since the follower last looked, a member
    /// may have come that the follower does not know.
    wanted: u64,
    /// Notified when a member connected or disconnected.
    changed: Arc<Notify>,
}

impl TaskDirectory {
    pub(crate) fn new(presences: Arc<Presences>, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), presences, clock })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects an agent; `None` if it has [`LINES_MAX`] connections already.
    pub(crate) fn enter(self: &Arc<Self>, agent: &ParticipantId) -> Option<AgentConnection> {
        let mut state = self.lock();
        if state.lines.get(agent).is_some_and(|lines| lines.len() >= LINES_MAX) {
            return None;
        }
        state.last += 1;
        let (id, directory, leaver) = (state.last, self.clone(), agent.clone());
        let leave = Box::new(move || directory.leave(&leaver, id));
        let (attendance, line) = AgentConnection::new(id, agent.clone(), leave);
        let lines = state.lines.entry(agent.clone()).or_default();
        lines.push(line);
        if lines.len() == 1 {
            state.announce(agent, true);
            self.settle_presence(&mut state, agent);
        }
        Some(attendance)
    }

    /// Removes a connection of the agent. No app is asked over it any more.
    fn leave(&self, agent: &ParticipantId, id: u64) {
        let mut state = self.lock();
        state.watching.remove(&id);
        state.apps.retain(|_, app| app.line != id);
        let Some(lines) = state.lines.get_mut(agent) else { return };
        lines.retain(|line| line.id != id);
        if !lines.is_empty() {
            return;
        }
        state.lines.remove(agent);
        state.announce(agent, false);
        self.settle_presence(&mut state, agent);
    }

    /// Begins to follow a stream, unless it is followed already. `start` spawns the follower. The
    /// receiver turns `true` when the follower misses no new event any more, and also if the stream
    /// cannot be followed.
    pub(crate) fn follow(
        &self,
        stream: &StreamId,
        start: impl FnOnce(watch::Sender<bool>, Arc<Notify>),
    ) -> watch::Receiver<bool> {
        let mut state = self.lock();
        if let Some(followed) = state.followed.get_mut(stream) {
            followed.wanted += 1;
            return followed.ready.clone();
        }
        let (sign, ready) = watch::channel(false);
        let (members, manager, present, wanted, changed) = <_>::default();
        let followed =
            FollowedStream { members, manager, present, ready: ready.clone(), wanted, changed };
        // The lock is held, so the follower finds its entry when it first looks.
        start(sign, followed.changed.clone());
        state.followed.insert(stream.clone(), followed);
        ready
    }

    /// Sets the members of a followed stream, and the agent that manages it for an app. Returns
    /// true if a member is connected.
    pub(super) fn set_members(
        &self,
        stream: &StreamId,
        members: &BTreeSet<ParticipantId>,
        manager: Option<&ParticipantId>,
    ) -> bool {
        let mut state = self.lock();
        let Some(followed) = state.followed.get_mut(stream) else { return false };
        followed.members.clone_from(members);
        followed.manager = manager.cloned();
        self.mark_present(&mut state, stream);
        state.followed.get(stream).is_some_and(|followed| state.is_heard(followed))
    }

    /// Returns the agent that manages a task for an app, if the task is followed.
    pub(super) fn manager(&self, task: &StreamId) -> Option<ParticipantId> {
        self.lock().followed.get(task)?.manager.clone()
    }

    /// Returns the connected members of a followed stream.
    pub(super) fn present(&self, stream: &StreamId) -> BTreeSet<ParticipantId> {
        self.lock().followed.get(stream).map_or_else(<_>::default, |one| one.present.clone())
    }

    /// Returns the number of requests to follow a stream.
    pub(super) fn wanted(&self, stream: &StreamId) -> u64 {
        self.lock().followed.get(stream).map_or(0, |followed| followed.wanted)
    }

    /// Stops following a stream, unless another request to follow it came since `wanted` was read.
    /// Returns true if it is not followed any more.
    pub(super) fn leave_unwanted(&self, stream: &StreamId, wanted: u64) -> bool {
        let mut state = self.lock();
        if state.followed.get(stream).is_some_and(|followed| followed.wanted != wanted) {
            return false;
        }
        state.followed.remove(stream);
        true
    }

    /// Stops following a stream, and marks its members as absent in it.
    pub(super) fn forget(&self, stream: &StreamId) {
        let mut state = self.lock();
        if let Some(followed) = state.followed.get_mut(stream) {
            followed.members.clear();
            self.mark_present(&mut state, stream);
            state.followed.remove(stream);
        }
    }

    /// Sends a notice to these agents, over each of their connections.
    pub(crate) fn tell<'a>(
        &self,
        agents: impl IntoIterator<Item = &'a ParticipantId>,
        notice: impl FnOnce() -> Notice,
    ) {
        let state = self.lock();
        let lines: Vec<&NoticeQueue> =
            agents.into_iter().filter_map(|agent| state.lines.get(agent)).flatten().collect();
        if lines.is_empty() {
            return;
        }
        let shared = SharedNotice::new(notice());
        lines.into_iter().for_each(|line| line.tell(&shared));
    }

    /// True if the agent is connected.
    pub(crate) fn is_online(&self, agent: &ParticipantId) -> bool {
        self.lock().lines.contains_key(agent)
    }

    /// Returns the connected agents.
    pub(crate) fn online(&self) -> Vec<ParticipantId> {
        self.lock().lines.keys().cloned().collect()
    }

    /// Sets the agents whose presence a connection watches. Returns each with true if it is
    /// connected now.
    pub(crate) fn watch(
        &self,
        line: u64,
        agents: Vec<ParticipantId>,
    ) -> Vec<(ParticipantId, bool)> {
        let mut state = self.lock();
        let now = agents.iter().map(|agent| (agent.clone(), state.lines.contains_key(agent)));
        let now = now.collect();
        state.watching.insert(line, agents.into_iter().collect());
        now
    }

    /// Records the connection over which the manager of an app is asked. The log decides which
    /// agent manages the app.
    pub(crate) fn register(&self, app: App) {
        self.lock().apps.insert(app.manifest.id.clone(), app);
    }

    /// Returns the app with its connection, if its manager is this agent and connected.
    pub(crate) fn app(&self, id: &str, manager: &ParticipantId) -> Option<App> {
        self.lock().apps.get(id).filter(|app| app.agent == *manager).cloned()
    }

    /// Counts a request of an agent against its rate limit.
    ///
    /// # Errors
    /// The time to wait, if the limit is reached.
    pub(crate) fn take_request(
        &self,
        agent: &ParticipantId,
        is_message: bool,
    ) -> Result<(), Millis> {
        let now = self.clock.now();
        let mut state = self.lock();
        if state.rates.len() > RATES_KEPT {
            state.rates.retain(|_, rates| !rates.is_over(now));
        }
        state.rates.entry(agent.clone()).or_default().take(is_message, now)
    }

    /// Updates the presence of an agent in all followed streams, after it connected or
    /// disconnected.
    fn settle_presence(&self, state: &mut State, agent: &ParticipantId) {
        let streams: Vec<StreamId> = state
            .followed
            .iter()
            .filter(|(_, followed)| followed.members.contains(agent))
            .map(|(stream, _)| stream.clone())
            .collect();
        streams.iter().for_each(|stream| self.mark_present(state, stream));
    }

    /// Updates the presences of a stream to its connected members.
    fn mark_present(&self, state: &mut State, stream: &StreamId) {
        let State { lines, followed, .. } = state;
        let Some(FollowedStream { members, present, changed, .. }) = followed.get_mut(stream)
        else {
            return;
        };
        let here: BTreeSet<ParticipantId> =
            members.iter().filter(|member| lines.contains_key(*member)).cloned().collect();
        for came in here.difference(present) {
            self.presences.connect(stream, came, false);
        }
        for went in present.difference(&here) {
            self.presences.disconnect(stream, went, false, self.clock.now());
        }
        if *present != here {
            *present = here;
            changed.notify_one();
        }
    }
}

impl State {
    /// Sends the new presence of an agent to each connection that watches that agent.
    fn announce(&self, agent: &ParticipantId, online: bool) {
        let watchers =
            self.watching.iter().filter(|(_, watched)| watched.contains(agent)).map(|(id, _)| id);
        let watchers: BTreeSet<u64> = watchers.copied().collect();
        if watchers.is_empty() {
            return;
        }
        let shared = SharedNotice::new(Notice::Presence { agent: agent.clone(), online });
        let lines = self.lines.values().flatten().filter(|line| watchers.contains(&line.id));
        lines.for_each(|line| line.tell(&shared));
    }

    /// True if a member of the stream is connected.
    fn is_heard(&self, followed: &FollowedStream) -> bool {
        followed.members.iter().any(|member| self.lines.contains_key(member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::SystemClock;

    #[test]
    fn who_comes_while_a_stream_is_let_go_keeps_it_followed() {
        let clock = Arc::new(SystemClock);
        let directory = TaskDirectory::new(Arc::new(Presences::since(clock.now())), clock);
        let (stream, mut begun) = (StreamId::new("s"), 0);
        directory.follow(&stream, |_, _| begun += 1);
        let before = directory.wanted(&stream);
        directory.follow(&stream, |_, _| begun += 1);
        assert!(!directory.leave_unwanted(&stream, before), "somebody came");
        assert!(directory.leave_unwanted(&stream, directory.wanted(&stream)));
        directory.follow(&stream, |_, _| begun += 1);
        assert_eq!(begun, 2, "it is followed anew");
    }
}
