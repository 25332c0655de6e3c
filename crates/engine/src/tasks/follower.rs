//! Follows one stream for the agents in it that are connected: what an event means for them, and
//! who is to hear it.

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

/// Events read at once.
const PAGE: usize = 500;
/// How often those who are connected are shown again: a presence is forgotten after two minutes.
const SHOWN_EVERY: Duration = Duration::from_secs(60);
/// The words for those who are connected, and those who are not any more.
const HERE: &str = "listening";
const GONE: &str = "offline";

/// What is known of the stream.
enum FollowedContent {
    Task(Box<Task>),
    Conversation {
        task: StreamId,
        /// It has begun, and who is in it comes next.
        beginning: Option<Beginning>,
    },
}

/// For whom a conversation began.
struct Beginning {
    name: Option<String>,
    participants: Vec<ParticipantId>,
    /// Whoever began it is told as well: it began together with its task.
    tells: Option<ParticipantId>,
}

/// What a follower is connected with.
pub(super) struct Path {
    pub(super) hall: Weak<Inner>,
    pub(super) directory: Arc<TaskDirectory>,
    /// Rings when an agent in the stream connected or disconnected.
    pub(super) changed: Arc<Notify>,
}

struct Follower {
    directory: Arc<TaskDirectory>,
    stream: StreamId,
    known: FollowedContent,
    members: BTreeSet<ParticipantId>,
    /// The members are those after this event: what is heard again up to it brought them about.
    seen: Seq,
    last: Seq,
    /// Who is shown as present to people.
    shown: BTreeSet<ParticipantId>,
}

/// Follows a stream as long as somebody in it is connected and it is there.
pub(super) async fn run(
    path: Path,
    stream: StreamId,
    from: Option<Seq>,
    ready: watch::Sender<bool>,
) {
    if let Err(error) = follow(&path, &stream, from, &ready).await {
        tracing::debug!(%stream, %error, "followed no more");
        path.directory.forget(&stream);
    }
    // Nobody waits for what cannot be followed.
    ready.send_replace(true);
}

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
        drop(hall);
        if !following.settle_members() && following.is_over(path).await? {
            return Ok(());
        }
        loop {
            let heard = tokio::select! {
                update = updates.recv() => match update {
                    Ok(Update::Events(events)) => {
                        // Each is told, whoever is left to hear it.
                        let heard: Vec<bool> =
                            events.iter().map(|event| following.hear(event)).collect();
                        !heard.contains(&false)
                    }
                    Ok(Update::Signal(_)) => true,
                    // It was too slow, or the stream was let go: the log has what came meanwhile.
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

async fn subscribe(hall: &Arc<Inner>, stream: &StreamId) -> Result<Subscription, HallError> {
    let (reply, answer) = oneshot::channel();
    hall.send(stream, Request::Subscribe(reply)).await?;
    answer.await.unwrap_or_else(|_| Err(stopped(stream)))
}

impl Follower {
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

    /// What the stream is now, who is in it, and after which event that is so.
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

    /// Whether nobody who is in the stream now is connected. Who came into it since it was looked
    /// at wanted it followed, and is looked for again.
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

    /// Hears what the log has after the last event.
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

    /// Shows people who is here: those who came or went, or all again, before that is forgotten.
    fn show_presence(&mut self, hall: &Weak<Inner>, all: bool) {
        let (FollowedContent::Conversation { .. }, Some(hall)) = (&self.known, hall.upgrade()) else {
            return;
        };
        let here = self.directory.present(&self.stream);
        let show = |agent: &ParticipantId, state: &str| {
            // There is room for each of those who are in it.
            let _ = hall.note_presence(&self.stream, agent.clone(), state.to_owned(), None);
        };
        here.iter().filter(|agent| all || !self.shown.contains(*agent)).for_each(|agent| {
            show(agent, HERE);
        });
        self.shown.difference(&here).for_each(|agent| show(agent, GONE));
        self.shown = here;
    }

    fn settle_members(&self) -> bool {
        self.directory.set_members(&self.stream, &self.hearers(), self.manager())
    }

    /// The agent that manages the task for an app, if this is a task.
    fn manager(&self) -> Option<&ParticipantId> {
        match &self.known {
            FollowedContent::Task(task) => task.app_manager(),
            FollowedContent::Conversation { .. } => None,
        }
    }

    /// The members, and the agent that manages the task for an app.
    fn hearers(&self) -> BTreeSet<ParticipantId> {
        self.members.iter().chain(self.manager()).cloned().collect()
    }

    /// Tells what an event means. Whether anybody still listens.
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
            // Where the last one leaves, the task ends with it, and that one is told.
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
                // The others hear it from the conversation.
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

    fn hear_conversation(&mut self, task: &StreamId, recorded: &RecordedEvent) -> bool {
        let (task, conversation) = (task.clone(), self.stream.clone());
        match &recorded.event {
            Event::Created { by, name, task: Some(owner), .. } => {
                let begun = Beginning {
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
                let told: BTreeSet<_> = self.members.iter().chain(&manager).collect();
                let guard = *guard;
                self.directory.tell(told, || Notice::ConversationHeld {
                    task,
                    conversation,
                    guard,
                });
            }
            // What the server itself says is for people.
            event if event.is_told() => {
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
        if let Some(Beginning { name, participants, tells }) = beginning {
            let also = tells.filter(|by| !participants.contains(by));
            let told: Vec<_> = participants.iter().cloned().chain(also).collect();
            self.directory.tell(&told, || Notice::ConversationCreated {
                task: task.clone(),
                conversation: self.stream.clone(),
                name,
                participants,
            });
        }
        self.settle_members()
    }
}
