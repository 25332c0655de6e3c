//! Reads slash commands. What they mean is the kernel's grammar; who may do what is decided by its rules.

use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post, Refusal, Rejection};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::slash::{self, Slash};
use serde_json::Value;

use crate::answers::HallError;
use crate::hall::Hall;

/// What a command asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// To be told this.
    Tell(String),
    /// To be shown who was asked about the latest message.
    Why,
    /// To have this done, and then to be told that it was.
    Do(Box<ClientCommand>, String),
}

impl Hall {
    /// Reads a slash command and does nothing yet, so that it can be asked first whether it may be done.
    ///
    /// # Errors
    /// [`HallError::Rejected`] with code `bad_command` and one useful line when it cannot be understood.
    pub(crate) async fn read_slash(&self, stream: &StreamId, by: Actor, text: &str) -> Result<Step, HallError> {
        let slash = slash::parse(text).map_err(|line| bad_command(&line))?;
        self.step(stream, by, slash).await
    }

    async fn step(&self, stream: &StreamId, by: Actor, slash: Slash) -> Result<Step, HallError> {
        let one =
            |control: Control, text: String| Step::Do(Box::new(ClientCommand::Control { by: by.clone(), controls: vec![control] }), text);
        Ok(match slash {
            Slash::Help => Step::Tell(slash::help()),
            Slash::Why => Step::Why,
            Slash::GroupList => Step::Tell(self.view(stream, group_list).await?),
            Slash::GroupCreate(agents) => self.create_group(by, &agents)?,
            Slash::GroupDissolve => self.dissolve(stream, by).await?,
            Slash::GroupAdd(agent) => one(self.invitation(&agent, &[]), format!("{agent} was invited.")),
            Slash::Invite { client, options } => one(self.invitation(&client, &options), format!("{client} was invited.")),
            Slash::GroupRemove(id) | Slash::Uninvite(id) => one(Control::Uninvite(id.clone()), format!("{id} was removed.")),
            Slash::GroupConfig { key, value } => {
                let text = format!("{key} is now {value}.");
                one(Control::Config([(key, value)].into_iter().collect()), text)
            }
            Slash::Mute(ids) => one(Control::Mute(ids.clone()), format!("Muted: {}.", ids.join(", "))),
            Slash::Unmute(ids) => one(Control::Unmute(ids.clone()), format!("No longer muted: {}.", ids.join(", "))),
            Slash::Pause => one(Control::Pause(true), "Paused.".into()),
            Slash::Resume => one(Control::Resume, "Going on.".into()),
            Slash::Policy(name) => one(Control::Policy(self.policy_named(&name)?), format!("The policy is now {name}.")),
            Slash::Ask { agents, text: Some(words) } => {
                let mentions: Vec<_> = agents.iter().map(|agent| format!("@{agent}")).collect();
                Step::Do(Box::new(ClientCommand::Post(Post::new(by, format!("{} {words}", mentions.join(" "))))), "Asked.".into())
            }
            Slash::Ask { agents, text: None } => one(Control::Prod(agents.clone()), format!("Asked: {}.", agents.join(", "))),
            Slash::Stop => Step::Do(Box::new(ClientCommand::Stop { by }), "Everything was stopped.".into()),
            Slash::Pass(to) => Step::Do(Box::new(ClientCommand::Pass { by, to }), "Passed.".into()),
            Slash::Rename(name) => Step::Do(Box::new(ClientCommand::Rename { name, by }), "Renamed.".into()),
            Slash::Archive => Step::Do(Box::new(ClientCommand::Archive { on: true, by }), "Archived.".into()),
            Slash::Unarchive => Step::Do(Box::new(ClientCommand::Archive { on: false, by }), "Open again.".into()),
        })
    }

    fn policy_named(&self, name: &str) -> Result<Policy, HallError> {
        let unknown = || bad_command(&format!("The policies are {}.", policies()));
        let name = PolicyName::parse(name).ok_or_else(unknown)?;
        Ok(Policy { name, ..self.defaults() })
    }

    fn create_group(&self, by: Actor, agents: &[String]) -> Result<Step, HallError> {
        let mut controls = vec![Control::Policy(Policy { name: PolicyName::GROUP, ..self.defaults() })];
        for agent in agents {
            controls.push(self.invitation(agent, &[]));
        }
        Ok(Step::Do(Box::new(ClientCommand::Control { by, controls }), format!("This is a group of {} now.", agents.join(", "))))
    }

    async fn dissolve(&self, stream: &StreamId, by: Actor) -> Result<Step, HallError> {
        let agents = self.view(stream, |state| state.agents().map(|agent| agent.id.to_string()).collect::<Vec<_>>()).await?;
        let mut controls: Vec<_> = agents.into_iter().map(Control::Uninvite).collect();
        controls.push(Control::Policy(Policy { name: PolicyName::PLAIN, ..self.defaults() }));
        Ok(Step::Do(Box::new(ClientCommand::Control { by, controls }), "The group is dissolved.".into()))
    }

    /// An invitation of a registry client, under its own name unless another id is given.
    fn invitation(&self, client: &str, options: &[(String, String)]) -> Control {
        let option = |key: &str| options.iter().find(|(given, _)| given == key).map(|(_, value)| value.clone());
        let base = self.registry().get(client).map(|spec| spec.profile.clone()).unwrap_or_default();
        let model = option("model").or(base.model).or_else(|| Some("default".into()));
        let roles = option("roles").map(|roles| roles.split(',').map(|role| role.trim().to_owned()).collect()).or(base.roles);
        let profile = Profile { client: Some(client.to_owned()), model, roles, nickname: option("nickname").or(base.nickname) };
        let id = option("id").unwrap_or_else(|| client.to_owned());
        Control::Invite(Invite::new(id, profile, self.registry().facts(client)))
    }
}

/// The policies that people choose, as words of a sentence.
fn policies() -> String {
    let names: Vec<_> = PolicyName::chosen().map(PolicyName::as_str).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
}

fn bad_command(line: &str) -> HallError {
    HallError::Rejected(Box::new(Rejection::new(Refusal::Invalid, "bad_command", line)))
}

fn group_list(state: &Conversation) -> String {
    let people = state.participants().iter().map(|participant| {
        let client = participant.profile.client.as_deref().unwrap_or_default();
        let muted = if state.muted().any(|id| *id == participant.id) { ", muted" } else { "" };
        format!("{} ({}, {client}{muted})\n", participant.id, participant.name())
    });
    let mut text: String = people.collect();
    if text.is_empty() {
        text.push_str("Nobody is invited. /invite <client> changes that.\n");
    }
    if let Value::Object(settings) = state.policy().to_json() {
        text.extend(settings.iter().map(|(key, value)| format!("{key}: {value}\n")));
    }
    text
}
