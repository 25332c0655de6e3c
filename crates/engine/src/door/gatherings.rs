//! Gatherings through the door: bringing members, beginning a gathering, and passing the piece.

use std::path::PathBuf;

use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Refusal, Rejection};
use moothall_kernel::gathering::{GatheringPlan, MEMBER_KEY};
use moothall_kernel::gathering_view::GatheringView;
use moothall_kernel::gatherings::{check_circle, check_plan};
use moothall_kernel::ids::{EventId, ParticipantId, Seq, StreamId};
use moothall_kernel::names;
use moothall_kernel::participant::{AgentFacts, Kind, Profile, SeatRole};
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::say::not_your_piece;
use uuid::Uuid;

use super::sessions::check_args;
use super::{Action, Door};
use crate::access::{AccessDenial, AccessError, Scope};
use crate::answers::HallError;
use crate::sessions::{
    ConversationPlan, GatheringPlace, JoiningSession, NewSession, Session, SessionDirectory,
    SessionSource,
};

/// The namespace of the keys by which gatherings are found.
pub const GATHERING_KEY: &str = "gathering";
/// Maximum number of gatherings in a listing; the newest are listed.
const LISTED_MAX: usize = 100;
/// The client and model of a person.
const HUMAN: &str = "human";

/// A gathering to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewGathering {
    /// The participant who begins it.
    pub by: Actor,
    /// The title of the conversation; made from the rhythm if unset.
    pub title: Option<String>,
    /// The plan. The pulse and the signals are filled in here.
    pub plan: GatheringPlan,
    /// The members.
    pub members: Vec<NewMember>,
    /// True if the programs started for the gathering outlive it.
    pub keep: bool,
}

/// A member of a gathering to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMember {
    /// The member's name, as people read it.
    pub name: String,
    /// The member's number.
    pub number: u32,
    /// The member's part: speaking or harvesting.
    pub part: SeatRole,
    /// The session, agent or person that the member is.
    pub is: MemberSource,
}

/// The session, agent or person that is a member of a gathering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberSource {
    /// A living session, by its id, the beginning of its id, or its name.
    Session(String),
    /// An agent of the registry. If it can run in a terminal, it is started for the gathering.
    Agent {
        /// The agent's name in the registry.
        client: String,
        /// The folder in which the program starts; the program's default if empty.
        cwd: PathBuf,
        /// Additional arguments of the program.
        args: Vec<String>,
        /// The model; the registry's default if unset.
        model: Option<String>,
    },
    /// A person, by the id under which the person speaks. Without an id, the first such member is
    /// the person who begins the gathering, or the person at this computer if an agent begins it.
    /// Each further one gets an id made of the member's name.
    Person(Option<ParticipantId>),
}

/// A gathering and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct GatheringEntry {
    /// The id of the gathering, which is that of its conversation.
    pub id: StreamId,
    /// The state of the gathering, as one participant sees it.
    pub view: GatheringView,
    /// The harvest: the event that holds it, and its text.
    pub harvest: Option<(EventId, String)>,
}

/// The members brought so far.
#[derive(Default)]
struct ResolvedMembers {
    keep: bool,
    joining: Vec<JoiningSession>,
    others: Vec<Invite>,
    claims: Vec<String>,
}

impl Door {
    /// Begins a gathering: brings all members, or none, and gives the first of them the piece.
    ///
    /// # Errors
    /// [`AccessError`]. No open gathering is left then, unless only reading the new gathering
    /// failed.
    pub async fn gather(&self, new: NewGathering) -> Result<GatheringEntry, AccessError> {
        self.may(Action::StartGathering)?;
        let NewGathering { by, title, mut plan, members, keep } = new;
        self.hall.permit_name(&self.caller, &by.id).await?;
        let refused = |rejection| AccessError::Hall(HallError::Rejected(Box::new(rejection)));
        check_plan(&plan).map_err(refused)?;
        check_circle(members.iter().map(|m| (m.name.as_str(), m.number, m.part)))
            .map_err(refused)?;
        if let Some(own) = self.caller.session() {
            self.check_free(own.as_str(), NESTED).await?;
        }
        self.hall.may_begin(&self.caller)?;
        let mut brought = ResolvedMembers { keep, ..ResolvedMembers::default() };
        let mut first_person = true;
        for member in &members {
            self.bring(&by, member, &mut first_person, &mut brought).await?;
        }
        plan.pulse = self.hall.pulse(&self.caller).await;
        plan.signals = self.hall.signals(&self.caller, &plan.opening_question).await;
        let title = title.unwrap_or_else(|| format!("Gathering: {}", plan.rhythm));
        let policy = Policy { name: PolicyName::GATHERING, ..self.hall.defaults() };
        // Version 7, because the keys sort by time: a listing reads them newest first.
        brought.claims.push(format!("{GATHERING_KEY}:{}", Uuid::now_v7()));
        let id = self.convene(title, policy, by, brought, plan).await?;
        let you = self.own_participant(&id).await?;
        self.gathering_entry(&id, you).await
    }

    /// Creates the conversation of the gathering, invites the members and begins the gathering. If
    /// there are sessions among the members, the session directory does all of this. Otherwise an
    /// error after the creation archives the conversation.
    async fn convene(
        &self,
        title: String,
        policy: Policy,
        by: Actor,
        brought: ResolvedMembers,
        plan: GatheringPlan,
    ) -> Result<StreamId, AccessError> {
        let ResolvedMembers { keep, joining, others, claims } = brought;
        if !joining.is_empty() {
            let gathering = Some(plan);
            let new =
                ConversationPlan { title, policy, by, joining, others, claims, gathering, keep };
            let new = self.hall.permit_convening(&self.caller, new).await?;
            return Ok(self.hall.sessions()?.convene(new).await?);
        }
        let id = self.hall.create(title, policy, by.clone(), None).await?.stream;
        let invites = others.into_iter().map(Control::Invite);
        let controls = invites.chain(claims.into_iter().map(Control::Hold)).collect();
        let gather = ClientCommand::Gather { by: by.clone(), plan, controls };
        if let Err(error) = self.begin_in(&id, gather).await {
            // A conversation without its gathering is useless, so it is archived. The caller may
            // lack the right to archive, so the server does it in the caller's name.
            let archive = ClientCommand::Archive { on: true, by: Actor::human(by.id) };
            self.hall.inner.submit(&id, archive, None).await?;
            return Err(error);
        }
        Ok(id)
    }

    /// Checks and submits the command that begins the gathering in its conversation.
    async fn begin_in(&self, id: &StreamId, gather: ClientCommand) -> Result<(), AccessError> {
        let gather = self.hall.permit(&self.caller, id, gather).await?;
        self.submit(gather, None).await?;
        Ok(())
    }

    /// Adds a member to `brought` after the check that the caller may bring it. Starts no program
    /// yet. `first_person` is true until the first person without an id was added. That member is
    /// the caller, or the person at this computer if the caller is an agent.
    async fn bring(
        &self,
        by: &Actor,
        member: &NewMember,
        first_person: &mut bool,
        brought: &mut ResolvedMembers,
    ) -> Result<(), AccessError> {
        match &member.is {
            MemberSource::Session(word) => {
                let id = self.session(Action::SendMessage, word).await?.session.id;
                self.check_free(id.as_str(), &member.name).await?;
                let invite = self.hall.sessions()?.invite(&id)?;
                brought.joining.push(self.joining_session(
                    SessionSource::Living(id),
                    invite,
                    member,
                ));
            }
            MemberSource::Agent { client, cwd, args, model } => {
                let facts = self.registry().get(client).map(|spec| spec.facts());
                let Some(facts) = facts else { return Err(no_client(client, &member.name)) };
                if self.runs_in_terminal(client, &facts) {
                    // Programs of all vendors take their model in this form.
                    let model_args = model.iter().flat_map(|model| ["--model", model.as_str()]);
                    let args = args.iter().map(String::as_str).chain(model_args);
                    let new = NewSession {
                        client: client.clone(),
                        cwd: cwd.clone(),
                        args: args.map(str::to_owned).collect(),
                        name: None,
                        by: by.clone(),
                        session: self.caller.session().cloned(),
                        place: Some(GatheringPlace { name: session_name(member), until: None }),
                    };
                    self.may(Action::StartSession)?;
                    check_args(&new.args)?;
                    let who = SessionSource::Started(new);
                    let invite = Invite::new("", named(client, model.as_ref()), facts);
                    brought.joining.push(self.joining_session(who, invite, member));
                } else {
                    self.may_run(&facts)?;
                    brought.others.push(self.agent(client, model.clone(), facts, member).await?);
                }
            }
            MemberSource::Person(id) => {
                let id = match id {
                    Some(id) => id.clone(),
                    None if std::mem::take(first_person) => self.person_of(by),
                    None => slug(member),
                };
                brought.others.push(self.person(id, member).await?);
            }
        }
        Ok(())
    }

    /// True if a client of the registry is started in a terminal. Each client that can run in a
    /// terminal is started in one.
    fn runs_in_terminal(&self, client: &str, facts: &AgentFacts) -> bool {
        let programs = self.hall.sessions().map(SessionDirectory::programs).unwrap_or_default();
        facts.abilities.lives_in_session || programs.iter().any(|offer| offer.client == client)
    }

    /// Returns a member that is a session, living or not started yet. If the session gives an
    /// invitation of its own when it joins, that one replaces `invite`.
    fn joining_session(
        &self,
        who: SessionSource,
        invite: Invite,
        member: &NewMember,
    ) -> JoiningSession {
        let (hall, member) = (self.hall.clone(), member.clone());
        let known = move |session: &Session| hall.sessions().ok()?.invite(&session.id).ok();
        JoiningSession {
            who,
            invite: Box::new(move |session| {
                as_member(known(session).unwrap_or_else(|| invite.clone()), &member)
            }),
        }
    }

    /// Rejects an agent that runs programs if the caller has neither a proof nor the scope
    /// `agents:run`.
    fn may_run(&self, facts: &AgentFacts) -> Result<(), AccessDenial> {
        let needs = facts.abilities.runs_programs && !self.caller.is_proven();
        if needs && self.caller.must(Scope::AgentsRun).is_err() {
            return Err(AccessDenial::Proof(Scope::AgentsRun));
        }
        Ok(())
    }

    /// Returns the invitation of a member that answers as an agent of the registry, outside a
    /// terminal.
    async fn agent(
        &self,
        client: &str,
        model: Option<String>,
        facts: AgentFacts,
        member: &NewMember,
    ) -> Result<Invite, AccessError> {
        let id = slug(member);
        let profile = named(client, model.as_ref());
        let mut invite = as_member(Invite::new(id.as_str(), profile, facts), member);
        self.hall.learn_names(&mut invite).await?;
        Ok(invite)
    }

    /// Returns the invitation of a member that is a person.
    async fn person(&self, id: ParticipantId, member: &NewMember) -> Result<Invite, AccessError> {
        let profile =
            Profile { client: Some(HUMAN.into()), model: Some(HUMAN.into()), ..Profile::default() };
        let mut invite =
            as_member(Invite::new(id.as_str(), profile, AgentFacts::external()), member);
        self.hall.learn_names(&mut invite).await?;
        if id.as_str() == ParticipantId::USER {
            invite.principal.get_or_insert(Kind::Human);
        }
        Ok(invite)
    }

    /// Returns the person that the caller is, or the one at this computer if the caller is an
    /// agent.
    fn person_of(&self, by: &Actor) -> ParticipantId {
        if self.caller.is_agent() { ParticipantId::user() } else { by.id.clone() }
    }

    /// Returns the gathering in which a session takes part, if any.
    async fn gathering_of(&self, session: &str) -> Result<Option<StreamId>, HallError> {
        let namespace = MEMBER_KEY.trim_end_matches(':');
        let claim = self.hall.inner.store.log.claim(namespace, session, self.hall.now()).await?;
        Ok(claim.map(|claim| claim.stream))
    }

    /// Rejects a session that already takes part in a gathering.
    async fn check_free(&self, session: &str, name: &str) -> Result<(), AccessError> {
        let Some(other) = self.gathering_of(session).await? else { return Ok(()) };
        let message = if name == NESTED {
            format!(
                "Cannot start a gathering from within a gathering: this session takes part in {other}."
            )
        } else {
            format!("{name} already takes part in the gathering {other}.")
        };
        let rejection = Rejection::new(Refusal::Conflict, "nested_gathering", message);
        Err(HallError::Rejected(Box::new(rejection)).into())
    }

    /// Returns the gatherings within reach, newest first.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn gatherings(&self) -> Result<Vec<GatheringEntry>, AccessError> {
        self.may(Action::ListGatherings)?;
        let log = &self.hall.inner.store.log;
        let claims = log.claims(GATHERING_KEY, self.hall.now()).await.map_err(HallError::from)?;
        let within = claims.into_iter().rev().map(|claim| claim.stream);
        let within = within.filter(|stream| self.caller.reach.includes(stream)).take(LISTED_MAX);
        let mut entries = Vec::new();
        for stream in within.collect::<Vec<_>>() {
            match self.gathering_entry(&stream, None).await {
                Ok(entry) => entries.push(entry),
                Err(AccessError::Hall(HallError::NotFound(_) | HallError::Deleted(_))) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entries)
    }

    /// Returns the gathering in which the calling session takes part.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn own_gathering(&self) -> Result<Option<StreamId>, AccessError> {
        match self.caller.session() {
            Some(own) => Ok(self.gathering_of(own.as_str()).await?),
            None => Ok(None),
        }
    }

    /// Returns one gathering as a participant sees it. The participant is `you`, if the caller may
    /// act in that name, or otherwise the one that the caller's credential names.
    ///
    /// # Errors
    /// [`AccessError`]; `gathering_not_found` if the conversation has no gathering.
    pub async fn gathering(
        &self,
        id: &StreamId,
        you: Option<ParticipantId>,
    ) -> Result<GatheringEntry, AccessError> {
        self.enter(Action::ReadGathering, id)?;
        let you = match you {
            Some(you) => {
                // A participant sees private parts, so the caller must be allowed to act in its
                // name.
                self.named_actor(Some(you.clone()))?;
                Some(you)
            }
            None => self.own_participant(id).await?,
        };
        self.gathering_entry(id, you).await
    }

    /// Returns the state of the gathering as a participant sees it, with the text of its harvest.
    /// The error is `gathering_not_found` if the conversation has no gathering.
    async fn gathering_entry(
        &self,
        id: &StreamId,
        you: Option<ParticipantId>,
    ) -> Result<GatheringEntry, AccessError> {
        let view = self.hall.view(id, move |state| state.gathering_for(you.as_ref())).await?;
        let Some(view) = view else { return Err(not_found()) };
        let event = view.gathering.as_ref().and_then(|gathering| gathering.harvest);
        let harvest = match event {
            Some(event) => self.harvest(id, event).await?,
            None => None,
        };
        Ok(GatheringEntry { id: id.clone(), view, harvest })
    }

    /// Returns the event of the harvest with its text; `None` if the event has no text, for
    /// instance after an erasure.
    async fn harvest(
        &self,
        id: &StreamId,
        event: EventId,
    ) -> Result<Option<(EventId, String)>, AccessError> {
        let before = Seq(event.seq().0.saturating_sub(1));
        let page = self.hall.page(id, before, 1).await?;
        let text = page.events.first().and_then(|recorded| recorded.event.body());
        Ok(text.map(|text| (event, text.to_owned())))
    }

    /// Passes the piece on, to a named member or to the next one.
    ///
    /// # Errors
    /// [`AccessError`]; `not_your_piece` if the speaker does not hold it.
    pub async fn pass_piece(
        &self,
        id: &StreamId,
        by: Actor,
        to: Option<String>,
    ) -> Result<GatheringEntry, AccessError> {
        let by = self.speaker_in(id, by).await?;
        let you = Some(by.id.clone());
        // A person may pass for a holder that hangs, without waiting for its turn to end.
        let at_once = !self.caller.is_agent() && self.caller.is_proven();
        let pass = ClientCommand::Pass { by: by.clone(), to, reply_to: None, at_once };
        let permitted = self.permit(id, pass).await?;
        let holds = move |state: &moothall_kernel::Conversation| {
            (state.gathering().is_some(), state.has_piece(&by.id))
        };
        match self.hall.view(id, holds).await? {
            (true, true) => drop(self.submit(permitted, None).await?),
            (true, false) => {
                return Err(HallError::Rejected(Box::new(not_your_piece())).into());
            }
            (false, _) => return Err(no_gathering()),
        }
        self.gathering_entry(id, you).await
    }

    /// Ends a gathering and asks for its harvest immediately. A second call closes the gathering
    /// without a harvest.
    ///
    /// # Errors
    /// [`AccessError`].
    pub async fn end_gathering(
        &self,
        id: &StreamId,
        by: Actor,
    ) -> Result<GatheringEntry, AccessError> {
        let you = Some(by.id.clone());
        let permitted = self.permit(id, ClientCommand::CloseGathering { by }).await?;
        self.submit(permitted, None).await?;
        self.gathering_entry(id, you).await
    }
}

/// The name to pass when the session to check is the caller's own.
const NESTED: &str = "";

fn no_gathering() -> AccessError {
    let message = "This conversation has no open gathering.";
    let rejection = Rejection::new(Refusal::Conflict, "no_gathering", message);
    HallError::Rejected(Box::new(rejection)).into()
}

fn not_found() -> AccessError {
    let message = "No gathering has this id. `GET /gatherings` lists the gatherings.";
    let rejection = Rejection::new(Refusal::NotFound, "gathering_not_found", message);
    HallError::Rejected(Box::new(rejection)).into()
}

fn no_client(client: &str, name: &str) -> AccessError {
    let message =
        format!("{name}: the registry has no agent {client:?}. `GET /agents` lists the agents.");
    let rejection = Rejection::new(Refusal::Invalid, "invalid_gathering", message);
    HallError::Rejected(Box::new(rejection)).into()
}

/// Returns the profile of an agent of the registry.
fn named(client: &str, model: Option<&String>) -> Profile {
    let model = model.cloned().or_else(|| Some(client.to_owned()));
    Profile { client: Some(client.to_owned()), model, ..Profile::default() }
}

/// Returns the invitation with the number, the part and the name of the member.
fn as_member(mut invite: Invite, member: &NewMember) -> Invite {
    invite.number = Some(member.number);
    invite.part = Some(member.part);
    invite.profile.nickname = Some(member.name.clone()).filter(|name| *name != invite.participant);
    invite
}

/// Returns the member's name if a session can have it, otherwise its slug.
fn session_name(member: &NewMember) -> String {
    match names::check_chosen_id(&member.name) {
        Ok(()) => member.name.clone(),
        Err(_) => slug(member).to_string(),
    }
}

/// Returns an id made of a member's name: its letters and digits, or else the member's number.
fn slug(member: &NewMember) -> ParticipantId {
    let kept: String = member
        .name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let parts: Vec<&str> = kept.split('-').filter(|part| !part.is_empty()).collect();
    match parts.is_empty() {
        true => ParticipantId::new(format!("member-{}", member.number)),
        false => ParticipantId::new(parts.join("-")),
    }
}
