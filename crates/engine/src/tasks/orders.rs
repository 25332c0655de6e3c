//! Queries about the agents of tasks: their names, and the streams that they are in. Also starts
//! the followers of those streams, and makes the order that begins a conversation of a task.

use std::sync::{Arc, Weak};

use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::task_command::{NamedAgent, TaskOrder};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::follower::{self, Path};
use crate::answers::HallError;
use crate::hall::inner::Inner;
use crate::outbox::ConversationStart;
use crate::stream::effects::{management_of, membership_of};

/// Default number of messages that agents may exchange in a conversation of a task before a person
/// has to continue. (Ruling 16.)
pub const TASK_EXCHANGES_MAX: u32 = 200;

impl Inner {
    /// Returns the agents with the names that they registered under. An agent that did not register
    /// has its id as its name.
    pub(crate) async fn named_agents(
        &self,
        agents: &[ParticipantId],
    ) -> Result<Vec<NamedAgent>, HallError> {
        // A card is the entry of an agent that registered itself.
        let cards = self.store.principals.cards(agents).await?;
        let name_of = |agent: &ParticipantId| {
            let card = cards.iter().find(|card| card.id == *agent);
            card.map_or_else(|| agent.to_string(), |card| card.name.clone())
        };
        Ok(agents.iter().map(|id| NamedAgent { agent: id.clone(), name: name_of(id) }).collect())
    }

    /// Returns the order that begins a conversation of a task. Its policy asks an agent only if a
    /// message mentions it.
    pub(crate) async fn beginning(&self, start: ConversationStart) -> Result<TaskOrder, HallError> {
        let ConversationStart { by, name, participants, first, exchanges_max } = start;
        let mut all = participants.clone();
        if !all.contains(&by) {
            all.push(by.clone());
        }
        let agents = self.named_agents(&all).await?;
        let defaults = (*self.standing().defaults()).clone();
        let policy = Box::new(Policy {
            name: PolicyName::PLAIN,
            max_exchanges_without_human: exchanges_max.unwrap_or(TASK_EXCHANGES_MAX),
            ..defaults
        });
        Ok(TaskOrder::Begin { name, by, participants, first, agents, policy })
    }

    /// Returns the tasks and conversations that an agent is in, or only those of one kind.
    pub(crate) async fn memberships_of(
        &self,
        agent: &ParticipantId,
        kind: Option<&str>,
    ) -> Result<Vec<StreamId>, HallError> {
        let claims = self.store.log.claims(&membership_of(agent), self.now()).await?;
        let wanted = claims.into_iter().filter(|own| kind.is_none_or(|kind| own.outcome == kind));
        Ok(wanted.map(|claim| claim.stream).collect())
    }

    /// Returns the tasks that an agent manages for an app.
    pub(crate) async fn managed_by(
        &self,
        agent: &ParticipantId,
    ) -> Result<Vec<StreamId>, HallError> {
        let claims = self.store.log.claims(&management_of(agent), self.now()).await?;
        Ok(claims.into_iter().map(|claim| claim.stream).collect())
    }

    /// Follows a stream, unless it is followed already. Begins with its next event, or with `from`,
    /// the event that added a new member. The receiver turns `true` when no new event is missed any
    /// more.
    fn follow(self: &Arc<Self>, stream: &StreamId, from: Option<Seq>) -> watch::Receiver<bool> {
        self.tasks.follow(stream, |ready, changed| {
            let path = Path { hall: self.weak(), directory: self.tasks.clone(), changed };
            self.spawn(follower::run(path, stream.clone(), from, ready));
        })
    }

    /// Follows all streams of an agent that just connected. After this returns, no new event is
    /// missed.
    pub(crate) async fn follow_all(
        self: &Arc<Self>,
        agent: &ParticipantId,
    ) -> Result<(), HallError> {
        let mut streams = self.memberships_of(agent, None).await?;
        streams.extend(self.managed_by(agent).await?);
        let all: Vec<_> = streams.iter().map(|stream| self.follow(stream, None)).collect();
        for mut ready in all {
            // An error means that the stream cannot be followed, so no notice would come of it.
            let _ = ready.wait_for(|ready| *ready).await;
        }
        Ok(())
    }

    /// Follows each stream that a connected agent joins, from the append that added the agent. Runs
    /// until the hall is dropped. If changes were missed, follows all streams of each connected
    /// agent.
    pub(crate) async fn watch_memberships(hall: Weak<Inner>) {
        let Some(mut changes) = hall.upgrade().map(|hall| hall.memberships()) else { return };
        loop {
            let change = changes.recv().await;
            let Some(hall) = hall.upgrade() else { return };
            match change {
                Ok(change) if change.begins && hall.tasks.is_online(&change.agent) => {
                    hall.follow(&change.stream, Some(change.at));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => {
                    for agent in hall.tasks.online() {
                        if let Err(error) = hall.follow_all(&agent).await {
                            tracing::warn!(%error, %agent, "the memberships of an agent cannot be \
                                                            read");
                        }
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    }
}
