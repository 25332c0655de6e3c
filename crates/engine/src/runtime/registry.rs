//! The registry of agents that the operator has configured, and how they run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::participant::{AgentFacts, Answers, OnLost, Participant, Profile};
use moothall_kernel::policy::Policy;

use crate::runtime::agent::{Agent, WINDOW_LEN};
use crate::runtime::places::ProgramSlots;

/// An entry of the registry.
#[derive(Clone)]
pub struct AgentSpec {
    /// The name of the client, as in an invite.
    pub client: String,
    /// One sentence for people.
    pub summary: String,
    /// The default profile of an invite.
    pub profile: Profile,
    /// The origin of the entry: `built-in`, `configured` or `discovered`.
    pub origin: &'static str,
    /// The user of this computer that its programs run as, if it is not the server's own.
    pub run_as: Option<String>,
    /// The implementation that takes its turns.
    pub agent: Arc<dyn Agent>,
}

impl AgentSpec {
    /// Returns the facts that the kernel records about its participants.
    pub fn facts(&self) -> AgentFacts {
        AgentFacts {
            runtime: self.agent.runtime(),
            known: true,
            timeout: self.agent.timeout(),
            waits: None,
            on_lost: self.agent.on_lost(),
            abilities: self.agent.abilities(),
        }
    }
}

/// All agents of this server, by client name.
#[derive(Clone, Default)]
pub struct Registry {
    specs: BTreeMap<String, AgentSpec>,
    elsewhere: BTreeSet<String>,
    places: Option<Arc<ProgramSlots>>,
}

/// The part of an agent that a stream's host has to know in order to run its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunnerFacts {
    /// True if a waiting turn gets a new job when another cause is added to it.
    pub waits: bool,
    /// Handling of a running turn that a restart lost.
    pub on_lost: OnLost,
    /// Bytes of transcript for which its prompts have room.
    pub room: usize,
    /// Number of newest messages in its jobs.
    pub window: usize,
    /// True if its turns outlive this process, and the next process continues them.
    pub outlives: bool,
}

impl RunnerFacts {
    /// The facts of an agent in a session.
    pub const RESIDENT: RunnerFacts = RunnerFacts {
        waits: true,
        on_lost: OnLost::Fail,
        room: TRANSCRIPT_BYTES,
        window: 0,
        outlives: true,
    };
}

/// The agents as facts, without their implementations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster(BTreeMap<String, RegisteredFacts>);

/// The facts of one agent.
#[derive(Clone, Debug, PartialEq)]
struct RegisteredFacts {
    facts: AgentFacts,
    waits: bool,
    room: usize,
    window: usize,
}

impl Roster {
    /// Notes a client and its facts for the kernel. `waits` is true if its waiting turns get a new
    /// job.
    pub fn insert(&mut self, client: String, facts: AgentFacts, waits: bool) {
        self.0.insert(
            client,
            RegisteredFacts { facts, waits, room: TRANSCRIPT_BYTES, window: WINDOW_LEN },
        );
    }

    /// Returns the facts of a client for the kernel; an unknown one is external. (Rulings 4 and 5.)
    pub fn facts(&self, client: &str) -> AgentFacts {
        self.0.get(client).map_or_else(AgentFacts::external, |listed| listed.facts.clone())
    }

    /// Returns the facts of the runtime in this process that runs a participant's turns.
    /// `None` for a remote client, which comes for its turns. (Ruling 5.)
    pub fn runner_of(&self, participant: &Participant) -> Option<RunnerFacts> {
        if participant.facts.abilities.lives_in_session {
            return Some(RunnerFacts::RESIDENT);
        }
        let runs_here = participant.facts.abilities.answers == Answers::ByReply;
        let listed = self.0.get(participant.profile.client.as_deref()?).filter(|_| runs_here)?;
        Some(RunnerFacts {
            waits: listed.waits,
            on_lost: listed.facts.on_lost,
            room: listed.room,
            window: listed.window,
            outlives: false,
        })
    }
}

impl Registry {
    /// Limits the number of programs that run at the same time, for present and later entries
    /// together.
    pub fn share(&mut self, places: Arc<ProgramSlots>) {
        self.specs.values().for_each(|spec| spec.agent.share(&places));
        self.places = Some(places);
    }

    /// Returns the slots that programs share, if their number is limited.
    pub fn places(&self) -> Option<&Arc<ProgramSlots>> {
        self.places.as_ref()
    }

    /// Adds an entry. It replaces an entry of the same name.
    pub fn insert(&mut self, spec: AgentSpec) {
        self.places.iter().for_each(|places| spec.agent.share(places));
        self.specs.insert(spec.client.clone(), spec);
    }

    /// Reserves a name for a remote client. This server runs no agent under it.
    pub fn keep_name(&mut self, client: String) {
        self.elsewhere.insert(client);
    }

    /// Returns the names reserved for remote clients, in order.
    pub fn kept_names(&self) -> impl Iterator<Item = &str> {
        self.elsewhere.iter().map(String::as_str)
    }

    /// Returns the agent with this name, if one is registered.
    pub fn get(&self, client: &str) -> Option<&AgentSpec> {
        self.specs.get(client)
    }

    /// Returns all entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = &AgentSpec> {
        self.specs.values()
    }

    /// Returns the facts of a client for the kernel; an unknown one is external. (Rulings 4 and 5.)
    pub fn facts(&self, client: &str) -> AgentFacts {
        self.get(client).map_or_else(AgentFacts::external, AgentSpec::facts)
    }

    /// Returns the facts of all agents.
    pub fn roster(&self) -> Roster {
        let listed = |spec: &AgentSpec| RegisteredFacts {
            facts: spec.facts(),
            waits: spec.agent.waits(),
            room: spec.agent.room(),
            window: spec.agent.window(),
        };
        Roster(self.specs.iter().map(|(client, spec)| (client.clone(), listed(spec))).collect())
    }
}

/// The present configuration of agents, which can be replaced while conversations run.
pub(crate) struct LiveRegistry(RwLock<RegistryState>);

/// The configuration at one time.
struct RegistryState {
    agents: Agents,
    defaults: Arc<Policy>,
}

/// The agents at one time, and their facts.
#[derive(Clone)]
pub(crate) struct Agents {
    pub(crate) registry: Arc<Registry>,
    pub(crate) roster: Arc<Roster>,
}

impl RegistryState {
    fn new(registry: Registry, defaults: Policy) -> Self {
        let roster = Arc::new(registry.roster());
        Self {
            agents: Agents { registry: Arc::new(registry), roster },
            defaults: Arc::new(defaults),
        }
    }
}

impl LiveRegistry {
    pub(crate) fn new(registry: Registry, defaults: Policy) -> Self {
        Self(RwLock::new(RegistryState::new(registry, defaults)))
    }

    pub(crate) fn replace(&self, registry: Registry, defaults: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) =
            RegistryState::new(registry, defaults);
    }

    /// Returns the present registry.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.agents().registry
    }

    /// Returns the present agents and their facts.
    pub(crate) fn agents(&self) -> Agents {
        self.0.read().unwrap_or_else(PoisonError::into_inner).agents.clone()
    }

    /// Returns the default settings of conversations.
    pub(crate) fn defaults(&self) -> Arc<Policy> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).defaults.clone()
    }
}
