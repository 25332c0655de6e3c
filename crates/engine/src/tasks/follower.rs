//! A follower of one stream for its connected agents: turns events into notices, and selects the
//! agents that get them.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use moothall_kernel::Aggregate;
use moothall_kernel::event::{Change, Event, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::task::{Task, TaskEvent};
use moothall_kernel::view::{Viewer, visible};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval};

use super::directory::TaskDirectory;
use super::notice::{Notice, TaskView};
use crate::answers::{HallError, Update};
use crate::hall::inner::{Inner, stopped};
use crate::stream::mail::Request;
use crate::stream::updates::Subscription;

/// Number of events in one read.
const PAGE: usize = 500;
/// Interval at which presences are renewed. The server drops one after two minutes.
const SHOWN_EVERY: Duration = Duration::from_secs(60);
/// The presence states of connected and disconnected agents.
const HERE: &str = "listening";
const GONE: &str = "offline";

/// The followed stream, as far as its follower knows it.
enum FollowedContent {
    Task(Box<Task>),
    Conversation {
        task: StreamId,
        /// Set between the creation of the conversation and the event with its participants, which
        /// follows.
        beginning: Option<FirstParticipants>,
    },
}

/// The participants for whom a conversation began.
struct FirstParticipants {
    name: Option<String>,
    participants: Vec<ParticipantId>,
    /// The creator, if the conversation began together with its task. Then the creator gets the
    /// notice too.
    tells: Option<ParticipantId>,
}

/// The surroundings of a follower.
pub(super) struct Path {
    pub(super) hall: Weak<Inner>,
    pub(super) directory: Arc<TaskDirectory>,
    /// Notified when an agent in the stream connected or disconnected.
    pub(super) changed: Arc<Notify>,
}

struct Follower {
    directory: Arc<TaskDirectory>,
    stream: StreamId,
    known: FollowedContent,
    members: BTreeSet<ParticipantId>,
    /// The position at which `members` was read. Events up to this position may be replayed, and
    /// still produce notices.
    seen: Seq,
    last: Seq,
    /// The agents that people see as present.
    shown: BTreeSet<ParticipantId>,
}

/// Follows a stream while it exists and an agent in it is connected.
pub(super) async fn run(
    path: Path,
    stream: StreamId,
    from: Option<Seq>,
    ready: watch::Sender<bool>,
) {
    if let Err(error) = follow(&path, &stream, from, &ready).await {
        tracing::debug!(%stream, %error, "a stream is not followed any more");
        path.directory.forget(&stream);
    }
    // The sign is sent after an error too, to release the callers that wait for a stream that
    // cannot be followed.
    ready.send_replace(true);
}

/// Follows the stream until no member is connected. Subscribes, reads the events from the log that
/// it has not handled, and then handles live updates. After a lag it subscribes again.
async fn follow(
    path: &Path,
    stream: &StreamId,
    from: Option<Seq>,
    ready: &watch::Sender<bool>,
) -> Result<(), HallError> {
    let mut follower: Option<Follower> = None;
    let mut again = interval(SHOWN_EVERY);
    again.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(hall) = path.hall.upgrade() else { return Ok(()) };
        // The subscription comes before the reading of the log, so that no event is missed between
        // the two.
        let Subscription { head, mut updates, .. } = subscribe(&hall, stream).await?;
        let following = match &mut follower {
            Some(following) => following,
            None => {
                let begin = from.map_or(head, |from| Seq(from.0.saturating_sub(1)));
                let directory = path.directory.clone();
                follower.insert(Follower::begin(&hall, directory, stream, begin).await?)
            }
        };
        following.settle_members();
        following.read(&hall).await?;
        ready.send_replace(true);
        // A follower that waits must not keep the hall open.
        drop(hall);
        if !following.settle_members() && following.is_over(path).await? {
            return Ok(());
        }
        loop {
            let heard = tokio::select! {
                update = updates.recv() => match update {
                    Ok(Update::Events(events)) => {
                        // The results are collected first, because `all` would skip the events
                        // after the first `false`.
                        let heard: Vec<bool> =
                            events.iter().map(|event| following.hear(event)).collect();
                        !heard.contains(&false)
                    }
                    Ok(Update::Signal(_)) => true,
                    // The follower lagged, or the stream was unloaded. It subscribes again and
                    // reads the missed events from the log.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => break,
                },
                () = path.changed.notified() => {
                    following.show_presence(&path.hall, false);
                    following.settle_members()
                }
                _ = again.tick() => {
                    following.show_presence(&path.hall, true);
                    true
                }
            };
            if !heard && following.is_over(path).await? {
                following.show_presence(&path.hall, false);
                return Ok(());
            }
        }
    }
}

/// Subscribes to a stream, which is loaded if necessary.
async fn subscribe(hall: &Arc<Inner>, stream: &StreamId) -> Result<Subscription, HallError> {
    let (reply, answer) = oneshot::channel();
    hall.send(stream, Request::Subscribe(reply)).await?;
    answer.await.unwrap_or_else(|_| Err(stopped(stream)))
}

impl Follower {
    /// Makes a follower from the present state of the stream. `last` is the newest event that the
    /// follower does not have to handle.
    async fn begin(
        hall: &Arc<Inner>,
        directory: Arc<TaskDirectory>,
        stream: &StreamId,
        last: Seq,
    ) -> Result<Self, HallError> {
        let (known, members, seen) = Self::look(hall, stream).await?;
        let shown = BTreeSet::new();
        Ok(Self { directory, stream: stream.clone(), known, members, seen, last, shown })
    }

    /// Returns the state of the stream, its members, and the position of that state.
    async fn look(
        hall: &Arc<Inner>,
        stream: &StreamId,
    ) -> Result<(FollowedContent, BTreeSet<ParticipantId>, Seq), HallError> {
        let seen = hall.view_any(stream, |state| match state {
            Aggregate::Task(task) => {
                let members = task.admitted().cloned().collect();
                Some((FollowedContent::Task(Box::new(task.clone())), members, task.head()))
            }
            Aggregate::Conversation(conversation) => {
                let task = conversation.task()?.clone();
                let members = conversation.participants().iter().map(|one| one.id.clone());
                let known = FollowedContent::Conversation { task, beginning: None };
                Some((known, members.collect(), conversation.head()))
            }
        });
        let missing = || HallError::NotFound(stream.clone());
        seen.await?.ok_or_else(missing)
    }

    /// Reads the members again. True if no member is connected, and the stream is not followed any
    /// more. If a client asked to follow the stream in the meantime, the members are read once
    /// more, because the client may be a new member.
    async fn is_over(&mut self, path: &Path) -> Result<bool, HallError> {
        loop {
            let Some(hall) = path.hall.upgrade() else { return Ok(true) };
            let wanted = self.directory.wanted(&self.stream);
            (_, self.members, self.seen) = Self::look(&hall, &self.stream).await?;
            if self.settle_members() {
                return Ok(false);
            }
            if self.directory.leave_unwanted(&self.stream, wanted) {
                return Ok(true);
            }
        }
    }

    /// Handles the events in the log after the last one.
    async fn read(&mut self, hall: &Arc<Inner>) -> Result<(), HallError> {
        loop {
            let page = hall.store.log.read(&self.stream, self.last, PAGE).await?;
            if page.through <= self.last {
                return Ok(());
            }
            for event in &page.events {
                self.hear(event);
            }
            self.last = self.last.max(page.through);
        }
    }

    /// Shows people the presence of the connected agents in a conversation. With `all` false, shows
    /// only the changes. With `all` true, shows all of them again, so that they do not expire.
    fn show_presence(&mut self, hall: &Weak<Inner>, all: bool) {
        let (FollowedContent::Conversation { .. }, Some(hall)) = (&self.known, hall.upgrade())
        else {
            return;
        };
        let here = self.directory.present(&self.stream);
        let show = |agent: &ParticipantId, state: &str| {
            // The note cannot fail for lack of room, because there is room for the presences of all
            // participants.
            let _ = hall.note_presence(&self.stream, agent.clone(), state.to_owned(), None);
        };
        here.iter().filter(|agent| all || !self.shown.contains(*agent)).for_each(|agent| {
            show(agent, HERE);
        });
        self.shown.difference(&here).for_each(|agent| show(agent, GONE));
        self.shown = here;
    }

    /// Passes the members to the directory. Returns true if one of them, or the agent that manages
    /// the task for an app, is connected.
    fn settle_members(&self) -> bool {
        self.directory.set_members(&self.stream, &self.hearers(), self.manager())
    }

    /// Returns the agent that manages the task for an app, if the stream is a task.
    fn manager(&self) -> Option<&ParticipantId> {
        match &self.known {
            FollowedContent::Task(task) => task.app_manager(),
            FollowedContent::Conversation { .. } => None,
        }
    }

    /// Returns the members, and the agent that manages the task for an app.
    fn hearers(&self) -> BTreeSet<ParticipantId> {
        self.members.iter().chain(self.manager()).cloned().collect()
    }

    /// Sends the notices of an event. Returns false if no member is connected any more. Ignores an
    /// event that was handled before.
    fn hear(&mut self, recorded: &RecordedEvent) -> bool {
        if recorded.seq <= self.last {
            return true;
        }
        self.last = recorded.seq;
        match &mut self.known {
            FollowedContent::Task(task) => {
                if recorded.seq > task.head() {
                    task.apply(recorded);
                }
                match &recorded.event {
                    Event::Task(event) => self.hear_task(event),
                    _ => true,
                }
            }
            FollowedContent::Conversation { task, .. } => {
                let task = task.clone();
                self.hear_conversation(&task, recorded)
            }
        }
    }

    /// Sends the notices of an event of a task, and changes the members accordingly. Returns false
    /// if no member is connected any more.
    fn hear_task(&mut self, event: &TaskEvent) -> bool {
        let FollowedContent::Task(task) = &self.known else { return true };
        let id = || task.stream().clone();
        match event {
            TaskEvent::Accepted => {
                self.directory.tell(&self.hearers(), || Notice::TaskCreated(TaskView::of(task)))
            }
            TaskEvent::Rejected { reason } => {
                let notice = || Notice::TaskFailed { task: id(), reason: reason.clone() };
                self.directory.tell(&self.hearers(), notice);
            }
            TaskEvent::Requested { initiator, invited, .. } => {
                self.members.extend(invited.iter().chain([initiator]).cloned());
                return self.settle_members();
            }
            TaskEvent::Admitted { agent, .. } => {
                self.members.insert(agent.clone());
                return self.settle_members();
            }
            TaskEvent::Removed { agent } => {
                self.members.remove(agent);
                return self.settle_members();
            }
            // If the last member leaves, the task ends as well, and that member still gets the
            // notice.
            TaskEvent::Left { agent, .. } if self.members.len() > 1 => {
                self.members.remove(agent);
                return self.settle_members();
            }
            TaskEvent::Closed => {
                self.directory.tell(&self.hearers(), || Notice::TaskClosed(TaskView::of(task)));
                self.members = task.admitted().cloned().collect();
                return self.settle_members();
            }
            TaskEvent::ConversationOpened { conversation, by, .. } => {
                // The other agents get this notice from the conversation's own follower.
                let hears = |agent: &&ParticipantId| {
                    *agent != by && !conversation.participants.contains(*agent)
                };
                self.directory.tell(task.app_manager().filter(hears), || {
                    Notice::ConversationCreated {
                        task: id(),
                        conversation: conversation.id.clone(),
                        name: conversation.name.clone(),
                        participants: conversation.participants.clone(),
                    }
                });
            }
            TaskEvent::Entrusted { .. } => return self.settle_members(),
            TaskEvent::Left { .. }
            | TaskEvent::Closing { .. }
            | TaskEvent::ConversationSettled { .. } => {}
        }
        true
    }

    /// Sends the notices of an event of a conversation to those members who may see it. Returns
    /// false if no member is connected any more.
    fn hear_conversation(&mut self, task: &StreamId, recorded: &RecordedEvent) -> bool {
        let (task, conversation) = (task.clone(), self.stream.clone());
        match &recorded.event {
            Event::Created { by, name, task: Some(owner), .. } => {
                let begun = FirstParticipants {
                    name: owner.titled.then(|| name.clone()),
                    participants: owner.participants.clone(),
                    tells: owner.first.then(|| by.clone()),
                };
                self.known = FollowedContent::Conversation { task, beginning: Some(begun) };
            }
            Event::Controlled { changes, .. } => {
                return self.hear_changes(&task, changes, recorded.seq <= self.seen);
            }
            Event::Archived { .. } => self.directory.tell(&self.members, || {
                Notice::ConversationArchived { task, conversation, at: recorded.ts }
            }),
            Event::Unarchived { .. } => self
                .directory
                .tell(&self.members, || Notice::ConversationUnarchived { task, conversation }),
            Event::GuardTripped { guard } => {
                let manager = self.directory.manager(&task);
                let recipients: BTreeSet<_> = self.members.iter().chain(&manager).collect();
                let guard = *guard;
                self.directory.tell(recipients, || Notice::ConversationHeld {
                    task,
                    conversation,
                    guard,
                });
            }
            // Statements of the server itself are for people.
            event if event.is_in_prompts() => {
                let hears = |member: &&ParticipantId| {
                    visible(&recorded.event, &Viewer::Participant((*member).clone()))
                };
                let message =
                    || Notice::Received { task, conversation, message: Box::new(recorded.clone()) };
                self.directory.tell(self.members.iter().filter(hears), message);
            }
            _ => {}
        }
        true
    }

    /// Sends the notices of added and removed participants. For the first participants of a new
    /// conversation, sends one notice that the conversation began. `again` is true if `members` may
    /// have the changes already. An added participant is announced then too. Returns false if no
    /// member is connected any more.
    fn hear_changes(&mut self, task: &StreamId, changes: &[Change], again: bool) -> bool {
        let beginning = match &mut self.known {
            FollowedContent::Conversation { beginning, .. } => beginning.take(),
            FollowedContent::Task(_) => None,
        };
        for change in changes {
            let at = || (task.clone(), self.stream.clone());
            match change {
                Change::Invited { participant, .. } => {
                    let new = self.members.insert(participant.clone()) || again;
                    if beginning.is_none() && new {
                        self.directory.tell(&self.members, || {
                            let ((task, conversation), agent) = (at(), participant.clone());
                            Notice::ParticipantAdded { task, conversation, agent }
                        });
                    }
                }
                Change::Uninvited { participant, left } => {
                    // `members` is perhaps from after this event, and a removed agent still has to
                    // get the notice of its removal.
                    self.members.insert(participant.clone());
                    self.directory.tell(&self.members, || {
                        let ((task, conversation), agent) = (at(), participant.clone());
                        Notice::ParticipantRemoved { task, conversation, agent, left: *left }
                    });
                    self.members.remove(participant);
                }
                _ => {}
            }
        }
        if let Some(FirstParticipants { name, participants, tells }) = beginning {
            let also = tells.filter(|by| !participants.contains(by));
            let recipients: Vec<_> = participants.iter().cloned().chain(also).collect();
            self.directory.tell(&recipients, || Notice::ConversationCreated {
                task: task.clone(),
                conversation: self.stream.clone(),
                name,
                participants,
            });
        }
        self.settle_members()
    }
}
