//! Controls: who is here, and how turns are given.

use crate::command::{Actor, Control, Invite, Refusal, Rejection};
use crate::decide::Decider;
use crate::event::{Change, Event, TurnKind, Why, WhyNot};
use crate::ids::ParticipantId;
use crate::names::{self, NameFault};
use crate::participant::{Kind, Profile};
use crate::policy::{Policy, PolicyFault, PolicyName};
use crate::text;

/// Most participants of one conversation.
pub const PARTICIPANTS_MAX: usize = 200;
/// Longest client, model or role, in characters.
const WORD_CHARS_MAX: usize = 128;
/// Most roles of one participant.
const ROLES_MAX: usize = 20;

impl Decider<'_> {
    /// All controls, or none: changes are collected first and become one event.
    pub(crate) fn control(&mut self, by: &Actor, controls: Vec<Control>) -> Result<(), Rejection> {
        self.check_speaker(&by.id)?;
        self.check_open()?;
        let mut changes = Vec::with_capacity(controls.len());
        for control in controls {
            if !matches!(control, Control::Invite(_) | Control::Uninvite(_)) {
                self.check_human(by)?;
            }
            let change = self.change(control, &changes)?;
            changes.extend(change);
        }
        if changes.is_empty() {
            return Err(Rejection::new(Refusal::Invalid, "empty_control", "This control asks for nothing. Give at least one known key."));
        }
        let ends = |change: &Change| match change {
            Change::PolicySet { policy, patch } => patch.is_none() || policy.name != PolicyName::TalkingPiece,
            _ => false,
        };
        let gathering_ends = self.state.gathering.is_some() && changes.iter().any(ends);
        let cause = self.emit(Event::Controlled { by: by.id.clone(), changes: changes.clone() });
        if gathering_ends {
            self.end_gathering("ended");
        }
        for change in changes {
            self.follow(change, &cause);
        }
        Ok(())
    }

    fn change(&self, control: Control, before: &[Change]) -> Result<Vec<Change>, Rejection> {
        Ok(match control {
            Control::Invite(invite) => vec![self.invite(invite, before)?],
            Control::Uninvite(id) => vec![Change::Uninvited { participant: self.invited(&id, before)? }],
            Control::Mute(ids) => vec![Change::Muted { targets: self.targets(ids, true)? }],
            Control::Unmute(ids) => vec![Change::Unmuted { targets: self.targets(ids, false)? }],
            Control::Pause(on) => vec![Change::Paused { on }],
            Control::Resume => vec![Change::Released, Change::Paused { on: false }],
            Control::Discussion { on, allow_agent_mentions } => vec![Change::Discussion { on, allow_agent_mentions }],
            Control::InvitedAuto(on) => vec![Change::InvitedAuto { on }],
            Control::Prod(ids) => {
                let targets: Result<Vec<_>, _> = ids.iter().map(|id| self.invited(id, before)).collect();
                vec![Change::Prodded { targets: targets? }]
            }
            Control::Policy(policy) => vec![Change::PolicySet { policy, patch: None }],
            Control::Config(keys) => {
                let policy = self.policy_after(before).patched(&keys).map_err(policy_fault)?;
                vec![Change::PolicySet { policy, patch: Some(keys) }]
            }
            Control::Bind(target) => vec![Change::Bound { target: check_target(target)? }],
            Control::Unbind(target) => vec![Change::Unbound { target }],
        })
    }

    fn policy_after<'b>(&'b self, before: &'b [Change]) -> &'b Policy {
        let set = before.iter().rev().find_map(|change| match change {
            Change::PolicySet { policy, .. } => Some(policy),
            _ => None,
        });
        set.unwrap_or(&self.state.policy)
    }

    fn invited(&self, id: &str, before: &[Change]) -> Result<ParticipantId, Rejection> {
        let id = ParticipantId::new(id.trim());
        let just_now = before.iter().any(|change| matches!(change, Change::Invited { participant, .. } if *participant == id));
        if just_now || self.state.participant(&id).is_some() {
            return Ok(id);
        }
        Err(Rejection::new(Refusal::NotFound, "not_invited", format!("{id} is not invited here.")).about(&id))
    }

    fn targets(&self, ids: Vec<String>, silencing: bool) -> Result<Vec<ParticipantId>, Rejection> {
        let mut targets = Vec::with_capacity(ids.len());
        for id in ids {
            let id = ParticipantId::new(id.trim());
            if silencing && self.state.is_human(&id) {
                return Err(Rejection::new(Refusal::Invalid, "cannot_mute_human", "People cannot be muted.").about(&id));
            }
            self.check_speaker(&id)?;
            targets.push(id);
        }
        if targets.is_empty() {
            return Err(Rejection::new(Refusal::Invalid, "no_targets", "`targets` has to name at least one participant."));
        }
        Ok(targets)
    }

    fn invite(&self, invite: Invite, before: &[Change]) -> Result<Change, Rejection> {
        let id = invite.participant.trim();
        names::check_id(id).map_err(|fault| name_fault("participant_id", id, fault))?;
        let id = ParticipantId::new(id);
        let given = self.checked_profile(invite.profile, &id)?;
        let known = self.state.participant(&id);
        let mut profile = known.map_or_else(|| given.clone(), |known| known.profile.merged(&given));
        let human = profile.client.as_deref() == Some("human");
        if human && profile.model.is_none() {
            profile.model = Some("human".into());
        }
        self.check_complete(&profile, &id)?;
        if known.is_none() && self.count_after(before) >= PARTICIPANTS_MAX {
            let message = format!("A conversation has at most {PARTICIPANTS_MAX} participants. Uninvite somebody first.");
            return Err(Rejection::new(Refusal::Conflict, "too_many_participants", message).about(&id));
        }
        let skeleton = names::skeleton(profile.nickname.as_deref().unwrap_or(id.as_str()));
        self.check_unlike(&id, &skeleton, before)?;
        Ok(Change::Invited {
            kind: if human { Kind::Human } else { Kind::Agent },
            participant: id,
            given,
            profile,
            facts: invite.facts,
            skeleton,
            address: invite.address,
            number: invite.number,
            part: invite.part,
        })
    }

    fn count_after(&self, before: &[Change]) -> usize {
        let new = before.iter().filter(|change| match change {
            Change::Invited { participant, .. } => self.state.participant(participant).is_none(),
            _ => false,
        });
        self.state.participants.len() + new.count()
    }

    fn checked_profile(&self, given: Profile, id: &ParticipantId) -> Result<Profile, Rejection> {
        let nickname = match given.nickname {
            Some(nickname) => Some(names::nickname(&nickname).map_err(|fault| name_fault("nickname", &nickname, fault).about(id))?),
            None => None,
        };
        let roles = match given.roles {
            Some(roles) if roles.len() > ROLES_MAX => {
                return Err(Rejection::new(Refusal::Invalid, "too_many_roles", format!("At most {ROLES_MAX} roles are taken.")).about(id));
            }
            Some(roles) => Some(roles.iter().map(|role| checked_word("roles", role, id)).collect::<Result<_, _>>()?),
            None => None,
        };
        let word = |key, given: Option<String>| given.map(|given| checked_word(key, &given, id)).transpose();
        Ok(Profile { client: word("client", given.client)?, model: word("model", given.model)?, roles, nickname })
    }

    fn check_complete(&self, profile: &Profile, id: &ParticipantId) -> Result<(), Rejection> {
        let missing = match (&profile.client, &profile.model) {
            (None, _) => "client",
            (_, None) => "model",
            _ => return Ok(()),
        };
        let message = format!("The first invite of {id} needs `profile.{missing}`.");
        Err(Rejection::new(Refusal::Invalid, "incomplete_profile", message).about(id))
    }

    /// No two participants may look alike, by nickname or by id. (Ruling 6.)
    fn check_unlike(&self, id: &ParticipantId, skeleton: &str, before: &[Change]) -> Result<(), Rejection> {
        let here = self.state.participants.iter().map(|p| (&p.id, &p.skeleton));
        let new = before.iter().filter_map(|change| match change {
            Change::Invited { participant, skeleton, .. } => Some((participant, skeleton)),
            _ => None,
        });
        let own_id = names::skeleton(id.as_str());
        for (other, taken) in here.chain(new).filter(|(other, _)| *other != id) {
            let other_id = names::skeleton(other.as_str());
            if *taken == skeleton || other_id == skeleton || *taken == own_id || other_id == own_id {
                let message = format!("This name looks like that of {other}. Choose another id or nickname.");
                return Err(Rejection::new(Refusal::Conflict, "name_taken", message).about(other));
            }
        }
        Ok(())
    }

    /// A link ends when fewer than two are left in it. (Ruling 27.)
    fn end_lonely_link(&mut self) {
        if self.state.is_link() && !self.state.archived && self.state.agents().count() < 2 {
            self.close(&ParticipantId::moothall());
        }
    }

    /// What a change brings about besides itself.
    fn follow(&mut self, change: Change, cause: &crate::event::Cause) {
        match change {
            Change::Uninvited { participant } => {
                self.end_turns_of(&participant, false, "uninvited", "it was uninvited");
                self.end_lonely_link();
            }
            Change::Muted { targets } => {
                for target in &targets {
                    self.end_turns_of(target, true, "muted", "it was muted before it began");
                }
            }
            Change::Prodded { targets } => {
                for target in &targets {
                    if self.has_no_piece(target) {
                        self.skip(target, WhyNot::Held, cause, Some("somebody else holds the talking piece"));
                    } else if self.can_take_turns(target, cause) {
                        self.grant(target, Why::Prod, TurnKind::Reply, false, cause);
                    }
                }
            }
            Change::Invited { .. }
            | Change::Unmuted { .. }
            | Change::Paused { .. }
            | Change::Discussion { .. }
            | Change::InvitedAuto { .. }
            | Change::PolicySet { .. }
            | Change::Released
            | Change::Bound { .. }
            | Change::Unbound { .. } => {}
        }
    }
}

fn checked_word(key: &str, given: &str, id: &ParticipantId) -> Result<String, Rejection> {
    let word = text::for_terminal(given).split_whitespace().collect::<Vec<_>>().join(" ");
    if word.is_empty() || word.chars().count() > WORD_CHARS_MAX {
        let message = format!("`profile.{key}` takes 1 to {WORD_CHARS_MAX} characters.");
        return Err(Rejection::new(Refusal::Invalid, "invalid_profile", message).about(id));
    }
    Ok(word)
}

fn check_target(target: String) -> Result<String, Rejection> {
    let plain = !target.is_empty() && target.len() <= 256 && target.chars().all(|c| c.is_ascii_graphic()) && target.contains(':');
    if plain {
        return Ok(target);
    }
    Err(Rejection::new(Refusal::Invalid, "invalid_target", "A target looks like `chat:telegram:-100123`, at most 256 plain characters."))
}

fn name_fault(key: &str, name: &str, fault: NameFault) -> Rejection {
    let code = match fault {
        NameFault::Reserved => "reserved_name",
        NameFault::Empty | NameFault::TooLong | NameFault::Character(_) => "invalid_name",
    };
    let shown = text::cut(name, 80);
    Rejection::new(Refusal::Invalid, code, format!("`{key}` {shown:?} {}. Choose another.", fault.explain()))
}

/// The rejection that a refused policy setting becomes.
pub fn policy_fault(fault: PolicyFault) -> Rejection {
    Rejection::new(Refusal::Invalid, "invalid_policy", format!("`{}` takes {}.", fault.key, fault.expected))
}
