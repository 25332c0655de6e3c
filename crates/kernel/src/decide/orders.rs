//! Carries out the orders of a conversation's task. The task has checked the caller's authority
//! already. An order that is delivered twice changes nothing the second time.

use crate::decide::{Decider, title};
use crate::model::command::{Actor, Control, Invite, Refusal, Rejection};
use crate::model::event::{Change, Event, TaskOrigin};
use crate::model::ids::{ParticipantId, Seq, StreamId};
use crate::model::participant::{AgentFacts, Kind, Profile};
use crate::model::settings::Policy;
use crate::model::state::Conversation;
use crate::model::task_command::{NamedAgent, TaskOrder};

/// The client and the model of an agent that a task brings in.
const CLIENT: (&str, &str) = ("json-rpc", "remote");
/// Highest number tried after an agent's name if the name is taken.
const NAMES_TRIED: u32 = 20;

impl Decider<'_> {
    /// Carries out an order. Rejects any but `Begin` if the conversation does not belong to this
    /// task.
    pub(crate) fn obey(&mut self, task: StreamId, order: TaskOrder) -> Result<(), Rejection> {
        if let TaskOrder::Begin { name, by, participants, first, agents, policy } = order {
            let titled = name.is_some();
            let name = name.unwrap_or_else(|| names_of(&agents));
            let origin = TaskOrigin { task, titled, participants, first };
            return self.begin_for(origin, &name, by, agents, *policy);
        }
        if self.state.task() != Some(&task) {
            return Err(not_of_task());
        }
        match order {
            TaskOrder::Begin { .. } => Ok(()),
            TaskOrder::Add { by, agent } => self.add(&by, vec![agent]),
            TaskOrder::Remove { by, agent } => self.remove(by, agent, false),
            TaskOrder::Part { agent } => self.remove(agent.clone(), agent, true),
            TaskOrder::Archive { by, on } if self.state.archived != on => {
                if on {
                    self.close(&by);
                } else {
                    self.emit(Event::Unarchived { by });
                }
                Ok(())
            }
            TaskOrder::Archive { .. } => Ok(()),
        }
    }

    /// Creates the conversation of a task and invites its agents. Changes nothing if it exists.
    fn begin_for(
        &mut self,
        origin: TaskOrigin,
        name: &str,
        by: ParticipantId,
        agents: Vec<NamedAgent>,
        policy: Policy,
    ) -> Result<(), Rejection> {
        if self.state.head != Seq(0) {
            return Ok(());
        }
        let name = title(name)?;
        self.emit(Event::Created {
            name,
            by: by.clone(),
            policy,
            task: Some(origin),
            folder: None,
        });
        self.add(&by, agents)
    }

    /// Invites the agents that are not here yet.
    fn add(&mut self, by: &ParticipantId, agents: Vec<NamedAgent>) -> Result<(), Rejection> {
        let asker = Actor::named(by.clone());
        let mut changes: Vec<Change> = Vec::with_capacity(agents.len());
        for NamedAgent { agent, name } in agents {
            if self.state.participant(&agent).is_none() {
                let change = self.invited_as(&asker, &agent, &name, &changes)?;
                changes.push(change);
            }
        }
        self.change_for(by, changes);
        Ok(())
    }

    /// Returns the invitation of an agent under its name or the first free numbered one. If none is
    /// free, the agent gets no nickname.
    fn invited_as(
        &self,
        asker: &Actor,
        agent: &ParticipantId,
        name: &str,
        before: &[Change],
    ) -> Result<Change, Rejection> {
        let (client, model) = CLIENT;
        let invite = |nickname: Option<String>| {
            let profile = Profile {
                client: Some(client.into()),
                model: Some(model.into()),
                roles: None,
                nickname,
            };
            let invite = Invite::new(agent.as_str(), profile, AgentFacts::external());
            self.invite(asker, Invite { principal: Some(Kind::Agent), ..invite }, before)
        };
        let others = (2..=NAMES_TRIED).map(|number| Some(format!("{name}-{number}")));
        let mut names = [Some(name.to_owned())].into_iter().chain(others);
        names.find_map(|name| invite(name).ok()).map_or_else(|| invite(None), Ok)
    }

    /// Takes an agent out of the conversation, if it takes part. `leaves` records that it left by
    /// itself.
    fn remove(
        &mut self,
        by: ParticipantId,
        agent: ParticipantId,
        leaves: bool,
    ) -> Result<(), Rejection> {
        if self.state.participant(&agent).is_some() {
            let control = Control::Uninvite(agent.to_string());
            let mut changes = self.change(&Actor::named(by.clone()), control, &[])?;
            for change in &mut changes {
                if let Change::Uninvited { left, .. } = change {
                    *left = leaves;
                }
            }
            self.change_for(&by, changes);
        }
        Ok(())
    }

    /// Emits changes on behalf of the task and carries out what follows from them.
    fn change_for(&mut self, by: &ParticipantId, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        let controlled =
            Event::Controlled { by: by.clone(), changes: changes.clone(), unproven: false };
        let cause = self.emit(controlled);
        for change in changes {
            self.follow(change, &cause);
        }
    }
}

impl Conversation {
    /// Checks that an agent may speak here. In a task's conversation only its participants may.
    ///
    /// # Errors
    /// `not_of_task`.
    pub fn check_in_task(&self, agent: &ParticipantId) -> Result<(), Rejection> {
        if self.task().is_none() || self.participant(agent).is_some() {
            return Ok(());
        }
        let message = "Not a participant in this conversation";
        Err(Rejection::new(Refusal::Forbidden, "not_of_task", message).about(agent))
    }
}

/// Returns a title made of the names of the first agents.
fn names_of(agents: &[NamedAgent]) -> String {
    const SHOWN: usize = 4;
    let names: Vec<&str> = agents.iter().take(SHOWN).map(|one| one.name.as_str()).collect();
    let more = if agents.len() > SHOWN { " …" } else { "" };
    format!("{}{more}", names.join(", "))
}

fn not_of_task() -> Rejection {
    let message = "Conversation does not belong to the specified task";
    Rejection::new(Refusal::Forbidden, "not_of_task", message)
}
