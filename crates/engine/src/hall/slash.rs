//! Parses slash commands, and makes the commands of the hall that they stand for. Their grammar is
//! the kernel's, and its rules decide about permissions.

use moothall_kernel::Conversation;
use moothall_kernel::chat::Chat;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post, Refusal, Rejection};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::mentions::{self, CommandNames, NameError};
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::PolicyName;
use moothall_kernel::slash::{self, Slash};
use serde_json::Value;

use crate::answers::HallError;
use crate::hall::Hall;

/// The result of parsing a slash command.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Answer with this text.
    Tell(String),
    /// Answer with the agents that were asked about the latest message, and the reasons.
    Why,
    /// Submit this command, then answer with this text.
    Do(Box<ClientCommand>, String),
}

impl Hall {
    /// Parses a slash command without running it, so that the caller can check permissions first.
    ///
    /// # Errors
    /// [`HallError::Rejected`] with code `bad_command` and one useful line if the command cannot be
    /// understood.
    pub(crate) async fn read_slash(
        &self,
        stream: &StreamId,
        by: Actor,
        text: &str,
    ) -> Result<Step, HallError> {
        let slash = slash::parse(text).map_err(|line| bad_command(&line))?;
        self.step(stream, by, slash).await
    }

    /// Turns a parsed slash command into the step to take. Submits nothing, and reads the
    /// conversation to resolve names.
    async fn step(&self, stream: &StreamId, by: Actor, slash: Slash) -> Result<Step, HallError> {
        let one = |control: Control, text: String| controls(by.clone(), vec![control], text);
        Ok(match slash {
            Slash::Help => Step::Tell(slash::help()),
            Slash::Why => Step::Why,
            Slash::GroupList => Step::Tell(self.view(stream, group_list).await?),
            Slash::GroupCreate(agents) => self.create_group(stream, by, &agents).await?,
            Slash::GroupDissolve => self.dissolve(stream, by).await?,
            Slash::GroupAdd(agent) => self.invite(stream, by, &agent, &[]).await?,
            Slash::Invite { client, options } => self.invite(stream, by, &client, &options).await?,
            Slash::GroupRemove(name) | Slash::Uninvite(name) => {
                let id = self.resolve_participant(stream, &name).await?;
                one(Control::Uninvite(id.to_string()), format!("{id} was removed."))
            }
            Slash::GroupConfig { key, value } => {
                let text = format!("{key} is now {value}.");
                one(Control::Config([(key, value)].into_iter().collect()), text)
            }
            Slash::Mute(names) => {
                let ids = self.names_all(stream, &names).await?;
                one(Control::Mute(ids.clone()), format!("Muted: {}.", ids.join(", ")))
            }
            Slash::Unmute(names) => {
                let ids = self.resolve_muted(stream, &names).await?;
                one(Control::Unmute(ids.clone()), format!("No longer muted: {}.", ids.join(", ")))
            }
            Slash::Pause => one(Control::Pause(true), "Paused.".into()),
            Slash::Resume => one(Control::Resume, "Resumed.".into()),
            Slash::Policy(name, confirmed) => {
                let confirm = confirmed.then_some(Control::Confirm);
                let controls = [Control::PolicyNamed(policy_named(&name)?)].into_iter();
                let controls = controls.chain(confirm).collect();
                let text = if confirmed {
                    format!(
                        "The policy is {name}. If a gathering is open here, the policy changes \
                         after its harvest."
                    )
                } else {
                    format!("The policy is now {name}.")
                };
                Step::Do(Box::new(ClientCommand::Control { by, controls }), text)
            }
            Slash::Ask { names, text } => self.ask(stream, by, names, text).await?,
            Slash::Stop => {
                Step::Do(Box::new(ClientCommand::Stop { by }), "Everything was stopped.".into())
            }
            Slash::Pass(to) => Step::Do(
                Box::new(ClientCommand::Pass { by, to, reply_to: None, at_once: false }),
                "Passed.".into(),
            ),
            Slash::Rename(name) => {
                Step::Do(Box::new(ClientCommand::Rename { name, by }), "Renamed.".into())
            }
            Slash::Archive => {
                Step::Do(Box::new(ClientCommand::Archive { on: true, by }), "Archived.".into())
            }
            Slash::Unarchive => {
                Step::Do(Box::new(ClientCommand::Archive { on: false, by }), "Unarchived.".into())
            }
        })
    }

    /// Makes a message that asks these participants, which answer one after the other. Without a
    /// text, the message only mentions them. (Ruling 17.)
    async fn ask(
        &self,
        stream: &StreamId,
        by: Actor,
        names: String,
        text: Option<String>,
    ) -> Result<Step, HallError> {
        let CommandNames { participants: asks, rest } = self.names_in(stream, &names).await?;
        if !rest.is_empty() && text.is_some() {
            return Err(nobody(&rest, None));
        }
        let mentions: Vec<_> = asks.iter().map(|id| format!("@{id}")).collect();
        let words = format!("{} {}", mentions.join(" "), text.unwrap_or(rest));
        let asked: Vec<_> = asks.iter().map(ToString::to_string).collect();
        let post = Post { asks, ..Post::new(by, words.trim()) };
        Ok(Step::Do(Box::new(ClientCommand::Post(post)), format!("Asked: {}.", asked.join(", "))))
    }

    /// Resolves the names at the beginning of a text. Also returns the rest of the text.
    async fn names_in(&self, stream: &StreamId, names: &str) -> Result<CommandNames, HallError> {
        let names = names.to_owned();
        let meant = move |state: &Conversation| {
            let invited = state.participants();
            mentions::parse_names(&names, invited).map_err(|fault| match fault {
                NameError::Nobody(name) => {
                    let nearest = mentions::nearest(&name, invited, &ParticipantId::moothall());
                    nobody(&name, nearest.as_ref())
                }
                several => unclear(several),
            })
        };
        self.view(stream, meant).await?
    }

    /// Resolves a text that contains only names. Returns an error if it has other words.
    async fn names_all(&self, stream: &StreamId, names: &str) -> Result<Vec<String>, HallError> {
        let CommandNames { participants, rest } = self.names_in(stream, names).await?;
        if rest.is_empty() {
            Ok(participants.iter().map(ToString::to_string).collect())
        } else {
            Err(nobody(&rest, None))
        }
    }

    /// Resolves the names of participants to unmute. The ids of muted participants count even if
    /// these participants have left. If one of the names is not such an id, all have to name
    /// present participants.
    async fn resolve_muted(
        &self,
        stream: &StreamId,
        names: &str,
    ) -> Result<Vec<String>, HallError> {
        let muted: Vec<String> =
            self.view(stream, |state| state.muted().map(ToString::to_string).collect()).await?;
        let given: Vec<String> =
            names.split_whitespace().map(|name| name.trim_matches(['@', ',']).to_owned()).collect();
        if given.iter().all(|name| muted.contains(name)) {
            Ok(given)
        } else {
            self.names_all(stream, names).await
        }
    }

    /// Resolves a text that names exactly one participant. Returns an error if it names several, or
    /// has other words after the name.
    async fn resolve_participant(
        &self,
        stream: &StreamId,
        name: &str,
    ) -> Result<ParticipantId, HallError> {
        let CommandNames { participants, rest } = self.names_in(stream, name).await?;
        match participants.as_slice() {
            [one] if rest.is_empty() => Ok(one.clone()),
            [_] => Err(nobody(&rest, None)),
            several => Err(unclear(NameError::Several(name.to_owned(), several.to_vec()))),
        }
    }

    /// Makes the step that invites a client. If the participant is in the conversation already, the
    /// step changes the given fields of its profile. Without such fields, the step is only an
    /// answer that the participant is there already.
    async fn invite(
        &self,
        stream: &StreamId,
        by: Actor,
        client: &str,
        options: &[(String, String)],
    ) -> Result<Step, HallError> {
        let id = id_of(client, options);
        let here = self.are_here(stream, vec![id.clone()]).await?;
        match here.is_empty() {
            true => Ok(controls(
                by,
                vec![self.invitation(client, options)],
                format!("{id} was invited."),
            )),
            false if options.iter().all(|(key, _)| key == "id") => {
                Ok(Step::Tell(format!("{id} is already here.")))
            }
            false => {
                let given = |key: &str| {
                    options.iter().find(|(given, _)| given == key).map(|(_, value)| value.clone())
                };
                let profile = Profile {
                    client: Some(client.to_owned()),
                    model: given("model"),
                    roles: roles(options),
                    nickname: given("nickname"),
                };
                let changed = Control::Invite(Invite::new(
                    id.clone(),
                    profile,
                    self.registry().facts(client),
                ));
                Ok(controls(
                    by,
                    vec![changed],
                    format!("{id} was already here; the profile was changed."),
                ))
            }
        }
    }

    /// Returns those of the ids that are invited.
    async fn are_here(
        &self,
        stream: &StreamId,
        ids: Vec<String>,
    ) -> Result<Vec<String>, HallError> {
        let is_here = |state: &Conversation, id: &String| {
            state.participant(&ParticipantId::new(id)).is_some()
        };
        self.view(stream, move |state| ids.into_iter().filter(|id| is_here(state, id)).collect())
            .await
    }

    /// Makes the step of `/group create`. It sets the group policy and invites the named agents
    /// that are not in the conversation yet. All other agents stay, and the answer lists them.
    /// Rejects the command in a conversation that is bound to a chat and is a group already,
    /// because its members would not expect another one.
    async fn create_group(
        &self,
        stream: &StreamId,
        by: Actor,
        agents: &[String],
    ) -> Result<Step, HallError> {
        self.view(stream, check_no_group).await??;
        let here = self.are_here(stream, agents.to_vec()).await?;
        let others: Vec<String> = self
            .view(stream, |state| state.agents().map(|agent| agent.id.to_string()).collect())
            .await?;
        let others: Vec<String> = others.into_iter().filter(|id| !agents.contains(id)).collect();
        let new = agents
            .iter()
            .filter(|agent| !here.contains(agent))
            .map(|agent| self.invitation(agent, &[]));
        let all = std::iter::once(Control::PolicyNamed(PolicyName::GROUP)).chain(new).collect();
        let stay = if others.is_empty() {
            String::new()
        } else {
            format!(" Other participants stay: {}.", others.join(", "))
        };
        Ok(controls(by, all, format!("This is now a group with {}.{stay}", agents.join(", "))))
    }

    /// Makes the step of `/group dissolve`: removes all agents, sets the plain policy and unbinds
    /// all chats. The answer lists the chats.
    async fn dissolve(&self, stream: &StreamId, by: Actor) -> Result<Step, HallError> {
        let (agents, chats) = self
            .view(stream, |state| {
                let agents = state.agents().map(|agent| agent.id.to_string());
                (agents.collect::<Vec<_>>(), state.chats().collect::<Vec<_>>())
            })
            .await?;
        let unbound = if chats.is_empty() {
            String::new()
        } else {
            format!(" It is no longer bound to {}.", keys(&chats))
        };
        let all = agents
            .into_iter()
            .map(Control::Uninvite)
            .chain([Control::PolicyNamed(PolicyName::PLAIN)])
            .chain(chats.into_iter().map(Control::UnbindChat))
            .collect();
        Ok(controls(by, all, format!("The group was dissolved.{unbound}")))
    }

    /// Makes the invitation of a registry client, under its own name unless another id is given.
    fn invitation(&self, client: &str, options: &[(String, String)]) -> Control {
        let option = |key: &str| {
            options.iter().find(|(given, _)| given == key).map(|(_, value)| value.clone())
        };
        let base = self.registry().get(client).map(|spec| spec.profile.clone()).unwrap_or_default();
        let model = option("model").or(base.model).or_else(|| Some("default".into()));
        let roles = roles(options).or(base.roles);
        let profile = Profile {
            client: Some(client.to_owned()),
            model,
            roles,
            nickname: option("nickname").or(base.nickname),
        };
        Control::Invite(Invite::new(id_of(client, options), profile, self.registry().facts(client)))
    }
}

/// Makes a step of controls, with the text to answer when they are done.
fn controls(by: Actor, controls: Vec<Control>, text: String) -> Step {
    Step::Do(Box::new(ClientCommand::Control { by, controls }), text)
}

/// Rejects `/group create` if the conversation is bound to a chat and is a group with agents.
fn check_no_group(state: &Conversation) -> Result<(), HallError> {
    let chats: Vec<Chat> = state.chats().collect();
    let agents: Vec<&str> = state.agents().map(|agent| agent.id.as_str()).collect();
    if chats.is_empty() || agents.is_empty() || state.policy().name != PolicyName::GROUP {
        return Ok(());
    }
    let message = format!(
        "{} already has a group, with {}. Add an agent with /group add, or end the group with \
         /group dissolve.",
        keys(&chats),
        agents.join(", ")
    );
    let refused = Rejection::new(Refusal::Conflict, "group_exists", message);
    Err(HallError::Rejected(Box::new(refused)))
}

/// Returns the chats as words of a sentence.
pub(crate) fn keys(chats: &[Chat]) -> String {
    chats.iter().map(Chat::key).collect::<Vec<_>>().join(" and ")
}

/// Returns the id of the invited participant.
fn id_of(client: &str, options: &[(String, String)]) -> String {
    options
        .iter()
        .find(|(given, _)| given == "id")
        .map_or_else(|| client.to_owned(), |(_, id)| id.clone())
}

fn roles(options: &[(String, String)]) -> Option<Vec<String>> {
    let (_, given) = options.iter().find(|(given, _)| given == "roles")?;
    Some(given.split(',').map(|role| role.trim().to_owned()).collect())
}

/// Parses the name of a policy. The error lists the policies that people can choose.
fn policy_named(name: &str) -> Result<PolicyName, HallError> {
    name.parse().map_err(|_| bad_command(&format!("The policies are {}.", policies())))
}

/// Returns the question about an ambiguous name, or the error for an unknown one.
fn unclear(unclear: NameError) -> HallError {
    match unclear {
        NameError::Nobody(name) => nobody(&name, None),
        NameError::Several(name, ids) => {
            let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
            let message = format!(
                "Several participants have the name {name}. Which one do you mean: {}?",
                ids.join(", ")
            );
            HallError::Rejected(Box::new(Rejection::new(
                Refusal::Invalid,
                "ambiguous_name",
                message,
            )))
        }
    }
}

/// Returns the error for a name that no participant has, with the nearest name if there is one.
fn nobody(name: &str, nearest: Option<&ParticipantId>) -> HallError {
    let shown: String = name.chars().take(64).collect();
    let nearest = nearest.map_or_else(String::new, |id| format!(" The nearest name is @{id}."));
    let message =
        format!("{shown} is not a participant here.{nearest} /group list shows the participants.");
    HallError::Rejected(Box::new(Rejection::new(Refusal::NotFound, "not_invited", message)))
}

/// Lists the policies that people can choose, as words of a sentence.
fn policies() -> String {
    let names: Vec<_> = PolicyName::chosen().map(<&str>::from).collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} and {last}", others.join(", "))
}

fn bad_command(line: &str) -> HallError {
    HallError::Rejected(Box::new(Rejection::new(Refusal::Invalid, "bad_command", line)))
}

/// Returns the participants, one on a line with name, client and muting, and then the settings of
/// the policy.
fn group_list(state: &Conversation) -> String {
    let people = state.participants().iter().map(|participant| {
        let id = participant.id.as_str();
        let mut words = vec![participant.name()];
        words.extend(participant.profile.client.as_deref());
        // A name or client that equals the id is not repeated.
        words.dedup();
        words.retain(|word| *word != id);
        words.extend(state.muted().any(|muted| *muted == participant.id).then_some("muted"));
        if words.is_empty() { format!("{id}\n") } else { format!("{id} ({})\n", words.join(", ")) }
    });
    let mut text: String = people.collect();
    if text.is_empty() {
        text.push_str("This conversation has no participants. Invite one with /invite <client>.\n");
    }
    if let Value::Object(settings) = state.policy().to_json() {
        text.extend(settings.iter().map(|(key, value)| format!("{key}: {value}\n")));
    }
    text
}
