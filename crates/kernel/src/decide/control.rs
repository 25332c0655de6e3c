//! Controls: they change the participants and the settings of a conversation.

use std::iter;

use crate::decide::Decider;
use crate::decide::control::chats::checked_key;
use crate::model::command::{Actor, Control, Invite, NameConflict, Refusal, Rejection};
use crate::model::event::{Change, Event, TurnKind, TurnReason, WhyNot};
use crate::model::ids::ParticipantId;
use crate::model::participant::{Kind, Profile};
use crate::planted::{self, Bypass};
use crate::policy::{Policy, PolicyFault, PolicyName};
use crate::text;
use crate::text::names::{self, NameFault};

mod chats;
mod meant;
mod reach;

/// Most participants of one conversation.
pub const PARTICIPANTS_MAX: usize = 200;
/// Longest client, model or role, in characters.
const WORD_CHARS_MAX: usize = 128;
/// The client and model of a person.
const HUMAN: &str = "human";
/// Most roles of one participant.
const ROLES_MAX: usize = 20;

impl Decider<'_> {
    /// Applies all controls or none: their changes become one event, and `follow` carries out the
    /// consequences of each. A policy that replaces the policy of an open gathering takes effect
    /// after the harvest, if there is a harvest.
    pub(crate) fn control(&mut self, by: &Actor, controls: Vec<Control>) -> Result<(), Rejection> {
        self.check_speaker(by)?;
        self.check_open()?;
        let confirmed = controls.contains(&Control::Confirm);
        let mut changes = Vec::with_capacity(controls.len());
        for control in controls {
            if !matches!(control, Control::Invite(_) | Control::Uninvite(_)) {
                self.check_human(by)?;
            }
            let change = self.change(by, control, &changes)?;
            self.check_gathers(&change)?;
            changes.extend(change);
        }
        if changes.is_empty() {
            return Err(Rejection::new(
                Refusal::Invalid,
                "empty_control",
                "This control has no known key. Give at least one.",
            ));
        }
        self.check_audiences(&changes, confirmed)?;
        let replaced = self.check_gathering(by, &changes, confirmed)?;
        if replaced {
            // The policy waits for the harvest, unless `end_gathering_for` returns it.
            let policy = self.policy_after(&changes).clone();
            changes.retain(|change| !matches!(change, Change::PolicySet { .. }));
            let now = self.end_gathering_for(by, policy);
            changes.extend(now.map(|policy| Change::PolicySet { policy, patch: None }));
        }
        // The policy was the only change, and waits for the harvest.
        if changes.is_empty() {
            return Ok(());
        }
        let cause = self.emit(Event::Controlled {
            by: by.id.clone(),
            changes: changes.clone(),
            unproven: !by.proven,
        });
        for change in changes {
            self.follow(change, &cause);
        }
        Ok(())
    }

    /// Returns the changes that a control makes. `before` has the changes of the earlier controls
    /// of the same command, which are not applied yet. Rejects a caller without the right or the
    /// proof.
    pub(crate) fn change(
        &self,
        by: &Actor,
        control: Control,
        before: &[Change],
    ) -> Result<Vec<Change>, Rejection> {
        Ok(match control {
            Control::Invite(invite) => vec![self.invite(by, invite, before)?],
            Control::Uninvite(id) => {
                let participant = self.leaving(by, &id, before)?;
                let key = self.member_key(&participant).map(|target| Change::Unbound { target });
                iter::once(Change::Uninvited { participant, left: false }).chain(key).collect()
            }
            Control::Mute(ids) => vec![Change::Muted { targets: self.targets(ids, true)? }],
            Control::Unmute(ids) => vec![Change::Unmuted { targets: self.unmuted(by, ids)? }],
            Control::Pause(on) => {
                self.check_may_unpause(by, on)?;
                vec![Change::Paused { on }]
            }
            Control::Resume => self.resumed(by)?,
            Control::Discussion { on, allow_agent_mentions } => {
                vec![Change::Discussion { on, allow_agent_mentions }]
            }
            Control::InvitedAuto(on) => vec![Change::InvitedAuto { on }],
            Control::Prod(ids) => {
                let targets: Result<Vec<_>, _> =
                    ids.iter().map(|id| self.invited(id, before)).collect();
                vec![Change::Prodded { targets: targets? }]
            }
            // Without proof only the policy's name changes: raising its limits needs a proven
            // person.
            Control::Policy(given) if !by.proven => {
                self.check_may_replace(given.name)?;
                vec![Change::PolicySet {
                    policy: Policy { name: given.name, ..self.policy_after(before).clone() },
                    patch: None,
                }]
            }
            Control::Confirm => Vec::new(),
            Control::Policy(policy) => vec![Change::PolicySet { policy, patch: None }],
            Control::PolicyNamed(name) => {
                if !by.proven {
                    self.check_may_replace(name)?;
                }
                vec![Change::PolicySet {
                    policy: Policy { name, ..self.policy_after(before).clone() },
                    patch: None,
                }]
            }
            Control::Config(keys) => {
                let current = self.policy_after(before);
                let policy = current.patched(&keys).map_err(policy_fault)?;
                if let Some(key) = current.raised_by(&policy).filter(|_| !by.proven) {
                    return Err(needs_proof(&format!("Raising `{key}`")));
                }
                if !by.proven {
                    self.check_may_replace(policy.name)?;
                }
                vec![Change::PolicySet { policy, patch: Some(keys) }]
            }
            Control::Hold(key) => vec![Change::Bound { target: checked_key(key)? }],
            Control::Release(key) => vec![Change::Unbound { target: checked_key(key)? }],
            Control::BindChat(chat) => self.bind_chat(by, &chat)?,
            Control::UnbindChat(chat) => self.unbind_chat(by, &chat)?,
            Control::RaiseBudget { .. } if !by.proven => {
                return Err(needs_proof("Raising a budget"));
            }
            Control::RaiseBudget { turns, micros, within } => {
                vec![self.raise(turns, micros, within)?]
            }
        })
    }

    /// Rejects a policy under which only a gathering lets agents speak, unless a gathering is open.
    fn check_gathers(&self, changes: &[Change]) -> Result<(), Rejection> {
        let chosen = |change: &Change| match change {
            Change::PolicySet { policy, .. } => {
                policy.name != self.state.policy.name && policy.is_of_gatherings()
            }
            _ => false,
        };
        if self.state.gathering().is_none() && changes.iter().any(chosen) {
            return Err(needs_gathering());
        }
        Ok(())
    }

    /// Returns the changes of a resume. Only proof lifts a guard or ends the pause of a proven
    /// person. Without proof, a resume is rejected while a guard holds. Otherwise it ends the pause
    /// alone, so a guard that trips at the same moment keeps holding.
    fn resumed(&self, by: &Actor) -> Result<Vec<Change>, Rejection> {
        if by.proven {
            return Ok(vec![Change::GuardLifted, Change::Paused { on: false }]);
        }
        if self.state.holding_guard().is_some() {
            return Err(needs_proof("Going on while a guard holds"));
        }
        self.check_may_unpause(by, false)?;
        Ok(vec![Change::Paused { on: false }])
    }

    /// Rejects another policy while a guard holds, because it would be a way around the guard.
    fn check_may_replace(&self, name: PolicyName) -> Result<(), Rejection> {
        if self.state.holding_guard().is_none() || name == self.state.policy.name {
            return Ok(());
        }
        Err(needs_proof("Another policy while a guard holds"))
    }

    /// Rejects a caller without proof that ends the pause of a proven person.
    fn check_may_unpause(&self, by: &Actor, on: bool) -> Result<(), Rejection> {
        if on || by.proven || !self.state.paused_by_proof {
            return Ok(());
        }
        Err(needs_proof("Ending the pause of a person who could prove it"))
    }

    /// Returns the participants to unmute. A mute by a proven person is only lifted with proof.
    fn unmuted(&self, by: &Actor, ids: Vec<String>) -> Result<Vec<ParticipantId>, Rejection> {
        let targets = self.targets(ids, false)?;
        match targets.iter().find(|id| !by.proven && self.state.muted_by_proof.contains(*id)) {
            None => Ok(targets),
            Some(id) => {
                Err(needs_proof(&format!("Unmuting {id}, whom a person muted who could prove it,"))
                    .about(id))
            }
        }
    }

    /// Returns the participant to take out. Only a person takes out another person.
    fn leaving(&self, by: &Actor, id: &str, before: &[Change]) -> Result<ParticipantId, Rejection> {
        let id = self.invited(id, before)?;
        if id != by.id && self.state.is_human(&id) && !self.is_person(by) {
            let message = "Only people can remove people. Agents can remove agents.";
            return Err(Rejection::new(Refusal::Forbidden, "humans_only", message).about(&id));
        }
        Ok(id)
    }

    /// Returns the policy after these changes, which are not applied yet.
    fn policy_after<'b>(&'b self, before: &'b [Change]) -> &'b Policy {
        let set = before.iter().rev().find_map(|change| match change {
            Change::PolicySet { policy, .. } => Some(policy),
            _ => None,
        });
        set.unwrap_or(&self.state.policy)
    }

    /// Returns the change that invites a participant or updates a known one. Rejects an invalid or
    /// confusable name, an incomplete profile, and a new participant in a full conversation.
    pub(crate) fn invite(
        &self,
        by: &Actor,
        invite: Invite,
        before: &[Change],
    ) -> Result<Change, Rejection> {
        let id = invite.participant.trim();
        let known = self.state.participant(&ParticipantId::new(id));
        let is_known = known.is_some() || invite.principal == Some(Kind::Human);
        // `user` is a reserved name, but the local person joins a gathering under that id.
        let sits = id == ParticipantId::USER && invite.part.is_some() && is_known;
        if !sits {
            names::check_name_of(id, is_known)
                .map_err(|fault| name_fault("participant_id", id, fault))?;
        }
        let id = ParticipantId::new(id);
        let given = self.checked_profile(invite.profile.clone(), &id)?;
        let mut profile =
            known.map_or_else(Profile::default, |known| known.profile.clone()).merged(&given);
        let kind = self.kind_of(by, &id, &given, &profile, invite.principal)?;
        if kind == Kind::Human {
            profile.client = Some(HUMAN.into());
            profile.model.get_or_insert_with(|| HUMAN.into());
        }
        self.check_complete(&profile, &id)?;
        if known.is_none() && self.count_after(before) >= PARTICIPANTS_MAX {
            let message = format!(
                "A conversation has at most {PARTICIPANTS_MAX} participants. Uninvite a \
                 participant first."
            );
            return Err(
                Rejection::new(Refusal::Conflict, "too_many_participants", message).about(&id)
            );
        }
        let name = profile.nickname.as_deref().unwrap_or(id.as_str());
        let reach = self.reach(&id, &invite, known)?;
        if let Some(resembled) = &invite.resembles
            && known.is_none_or(|known| known.name() != name)
        {
            let NameConflict { name: own, taken } = &**resembled;
            let message = format!(
                "The name {own:?} looks like {taken:?}, which is another's on this server. Choose another id or nickname."
            );
            return Err(Rejection::new(Refusal::Conflict, "name_taken", message).about(&id));
        }
        self.check_unlike(&id, name, before)?;
        let skeleton = names::skeleton(name);
        Ok(Change::Invited {
            kind,
            participant: id,
            given,
            profile,
            facts: invite.facts,
            skeleton,
            address: invite.address,
            full_name: invite.full_name,
            number: invite.number,
            part: invite.part,
            reach,
        })
    }

    /// Returns the kind that an invitation gives a participant. The server's principal decides
    /// first, and a person stays a person. An agent cannot change who is a person, nor the client
    /// of another agent.
    fn kind_of(
        &self,
        by: &Actor,
        id: &ParticipantId,
        given: &Profile,
        after: &Profile,
        principal: Option<Kind>,
    ) -> Result<Kind, Rejection> {
        let was_person = self.state.is_human(id);
        let fixed = principal.or(was_person.then_some(Kind::Human));
        let says = given
            .client
            .as_deref()
            .map(|client| if client == HUMAN { Kind::Human } else { Kind::Agent });
        let refused = |message: String| {
            Err(Rejection::new(Refusal::Forbidden, "kind_is_the_servers", message).about(id))
        };
        match (fixed, says) {
            (Some(Kind::Human), Some(Kind::Agent)) => {
                return refused(format!(
                    "{id} is a person here, and this cannot change. Choose another id."
                ));
            }
            (Some(Kind::Agent), Some(Kind::Human)) => {
                return refused(format!("The server knows {id} as an agent. Choose another id."));
            }
            (Some(_) | None, Some(_) | None) => {}
        }
        let merged = if after.client.as_deref() == Some(HUMAN) { Kind::Human } else { Kind::Agent };
        let kind = fixed.unwrap_or(merged);
        if self.is_person(by) {
            return Ok(kind);
        }
        if says == Some(Kind::Human) {
            return refused(
                "Only people can invite people. Invite with the name of an agent as `client`."
                    .into(),
            );
        }
        let known = self.state.participant(id).filter(|_| *id != by.id);
        // Readers know an id by its former client, so uninviting it first does not free the id for
        // another client.
        let before = || self.state.tombstones.get(id).and_then(|gone| gone.client.as_ref());
        let client_before = known.map_or_else(before, |known| known.profile.client.as_ref());
        let is_other =
            |client: &String| *id != by.id && client_before.is_some_and(|known| known != client);
        if known.is_some() && was_person {
            return Err(Rejection::new(
                Refusal::Forbidden,
                "humans_only",
                "Only people can change the profile of a person.",
            )
            .about(id));
        }
        let adds_person = kind == Kind::Human && known.is_none() && *id != by.id;
        if adds_person && !planted::is_open(Bypass::Seating) {
            let message = format!(
                "Only people can bring people. Leave {id} out, and ask {id} or a person here to \
                 do it."
            );
            return Err(Rejection::new(Refusal::Forbidden, "humans_only", message).about(id));
        }
        if given.client.as_ref().is_some_and(is_other) {
            let message = format!(
                "Only people can invite {id} again under another client. Choose another id."
            );
            return Err(Rejection::new(Refusal::Forbidden, "humans_only", message).about(id));
        }
        Ok(kind)
    }

    /// Counts the participants after these changes; removed ones still count.
    fn count_after(&self, before: &[Change]) -> usize {
        let new = before.iter().filter(|change| match change {
            Change::Invited { participant, .. } => self.state.participant(participant).is_none(),
            _ => false,
        });
        self.state.participants.len() + new.count()
    }

    /// Returns a profile with its words cleaned. Rejects invalid ones. An empty nickname stays,
    /// because it removes the former one.
    fn checked_profile(&self, given: Profile, id: &ParticipantId) -> Result<Profile, Rejection> {
        let nickname = match given.nickname {
            Some(nickname) if nickname.is_empty() => Some(nickname),
            Some(nickname) => Some(
                names::nickname(&nickname)
                    .map_err(|fault| name_fault("nickname", &nickname, fault).about(id))?,
            ),
            None => None,
        };
        let roles = match given.roles {
            Some(roles) if roles.len() > ROLES_MAX => {
                return Err(Rejection::new(
                    Refusal::Invalid,
                    "too_many_roles",
                    format!("A profile has at most {ROLES_MAX} roles."),
                )
                .about(id));
            }
            Some(roles) => Some(
                roles
                    .iter()
                    .map(|role| checked_word("roles", role, id))
                    .collect::<Result<_, _>>()?,
            ),
            None => None,
        };
        let word = |key, given: Option<String>| {
            given.map(|given| checked_word(key, &given, id)).transpose()
        };
        Ok(Profile {
            client: word("client", given.client)?,
            model: word("model", given.model)?,
            roles,
            nickname,
        })
    }

    /// Rejects a profile that lacks a client or a model after an invitation.
    fn check_complete(&self, profile: &Profile, id: &ParticipantId) -> Result<(), Rejection> {
        let missing = match (&profile.client, &profile.model) {
            (None, _) => "client",
            (_, None) => "model",
            _ => return Ok(()),
        };
        let message = format!("The first invite of {id} needs `profile.{missing}`.");
        Err(Rejection::new(Refusal::Invalid, "incomplete_profile", message).about(id))
    }

    /// Rejects a nickname or an id that looks like another participant's. (Ruling 6.)
    fn check_unlike(
        &self,
        id: &ParticipantId,
        name: &str,
        before: &[Change],
    ) -> Result<(), Rejection> {
        let here = self.state.participants.iter().map(|p| (&p.id, p.name()));
        let new = before.iter().filter_map(|change| match change {
            Change::Invited { participant, profile, .. } => {
                Some((participant, profile.nickname.as_deref().unwrap_or(participant.as_str())))
            }
            _ => None,
        });
        for (other, taken) in here.chain(new).filter(|(other, _)| *other != id) {
            for own in [name, id.as_str()] {
                if let Some(like) =
                    [taken, other.as_str()].into_iter().find(|like| names::are_alike(own, like))
                {
                    let message = format!(
                        "The name {own:?} looks like {like:?}, which is {other}'s. Choose another id or nickname."
                    );
                    return Err(
                        Rejection::new(Refusal::Conflict, "name_taken", message).about(other)
                    );
                }
            }
        }
        Ok(())
    }

    /// Closes a link with fewer than two agents. (Ruling 27.)
    fn end_lonely_link(&mut self) {
        if self.state.is_link() && !self.state.archived && self.state.agents().count() < 2 {
            self.close(&ParticipantId::moothall());
        }
    }

    /// Ends the turns (running ones too), requests and questions of a participant that takes no
    /// more turns, and closes a link with too few agents.
    fn lose_agent(&mut self, participant: &ParticipantId, code: &str, message: &str) {
        self.end_turns_of(participant, false, code, message);
        self.withdraw_asked(Some(participant));
        self.end_lonely_link();
    }

    /// Carries out the consequences of a change: turns are cancelled or granted, and the requests
    /// and questions of a participant that takes no more turns are withdrawn. A link with fewer
    /// than two agents is closed.
    pub(crate) fn follow(&mut self, change: Change, cause: &crate::model::event::Cause) {
        match change {
            Change::Uninvited { participant, .. } => {
                self.lose_agent(&participant, "uninvited", "it was uninvited")
            }
            // The agent of that name must not go on: its later output would count as a person's
            // words.
            Change::Invited { participant, kind: Kind::Human, .. } => {
                self.lose_agent(&participant, "became_person", "it is a person's name now");
            }
            Change::Muted { targets } => {
                for target in &targets {
                    // Waiting turns only (`true`). A running turn continues, and its words are kept
                    // in the trace.
                    self.end_turns_of(target, true, "muted", "it was muted before it began");
                }
            }
            Change::Prodded { targets } => {
                for target in &targets {
                    if self.has_no_piece(target) {
                        self.skip(
                            target,
                            WhyNot::Held,
                            cause,
                            Some("somebody else holds the talking piece"),
                        );
                    } else if self.can_be_named(target, cause) {
                        self.grant(target, TurnReason::Prod, TurnKind::Reply, false, cause);
                    }
                }
            }
            Change::Invited { .. }
            | Change::Unmuted { .. }
            | Change::Paused { .. }
            | Change::Discussion { .. }
            | Change::InvitedAuto { .. }
            | Change::PolicySet { .. }
            | Change::GuardLifted
            | Change::Bound { .. }
            | Change::Unbound { .. }
            | Change::BudgetRaised(_) => {}
        }
    }
}

/// Returns the rejection of a caller without proof, with the ways to prove it.
fn needs_proof(what: &str) -> Rejection {
    let message = format!(
        "{what} needs a person with a credential, also on this computer. Use the page at the \
         address that `moothall serve` prints, `moothall` as the user who runs the server, or a \
         person's token: Authorization: Bearer …"
    );
    Rejection::new(Refusal::Forbidden, "needs_proof", message)
}

/// Returns a client, model or role as it is stored: on one line, without characters that could
/// deceive. Rejects an empty word and a word that is too long.
fn checked_word(key: &str, given: &str, id: &ParticipantId) -> Result<String, Rejection> {
    let word = text::for_terminal(given).split_whitespace().collect::<Vec<_>>().join(" ");
    if word.is_empty() || word.chars().count() > WORD_CHARS_MAX {
        let message = format!("`profile.{key}` takes 1 to {WORD_CHARS_MAX} characters.");
        return Err(Rejection::new(Refusal::Invalid, "invalid_profile", message).about(id));
    }
    Ok(word)
}

/// Returns the rejection of a faulty name. `key` is the field that the name was given in.
fn name_fault(key: &str, name: &str, fault: NameFault) -> Rejection {
    let code = match fault {
        NameFault::Reserved | NameFault::Resembles(_) => "reserved_name",
        NameFault::Empty | NameFault::TooLong | NameFault::Character(_) => "invalid_name",
    };
    let shown = text::cut(name, 80);
    Rejection::new(
        Refusal::Invalid,
        code,
        format!("`{key}` {shown:?} {}. Choose another.", fault.explain()),
    )
}

/// Returns the rejection of a policy under which no agent answers without a gathering.
pub fn needs_gathering() -> Rejection {
    let names: Vec<_> = PolicyName::chosen().map(<&str>::from).collect();
    let message = format!(
        "Without a gathering, no agent answers under this policy. Choose {}.",
        names.join(", ")
    );
    Rejection::new(Refusal::Conflict, "needs_gathering", message)
}

/// Returns the rejection of an invalid policy setting.
pub fn policy_fault(fault: PolicyFault) -> Rejection {
    Rejection::new(
        Refusal::Invalid,
        "invalid_policy",
        format!("`{}` takes {}.", fault.key, fault.expected),
    )
}
