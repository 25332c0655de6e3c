//! The operator's registry: which agents exist and how they run.

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
    /// Its name: what an invite's `client` says.
    pub client: String,
    /// One sentence for people.
    pub summary: String,
    /// What an invite of it starts from.
    pub profile: Profile,
    /// Where it comes from: `built-in`, `configured` or `discovered`.
    pub origin: &'static str,
    /// The user of this computer that its programs run as, where it is not the server's own.
    pub run_as: Option<String>,
    /// The implementation that its turns are given to.
    pub agent: Arc<dyn Agent>,
}

impl AgentSpec {
    /// The facts that the kernel records about its participants.
    pub fn facts(&self) -> AgentFacts {
        AgentFacts {
            runtime: self.agent.runtime(),
            known: true,
            timeout: self.agent.timeout(),
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

/// What a stream's host has to know of whatever runs a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunnerFacts {
    /// A turn that waits for it is briefed again when it gets another cause.
    pub waits: bool,
    /// What to do when a restart lost a running turn.
    pub on_lost: OnLost,
    /// Bytes of what was said that its prompts have room for.
    pub room: usize,
    /// How many of the newest messages its jobs carry.
    pub window: usize,
    /// Its turns go on when this process ends, and are taken up again by the next one.
    pub outlives: bool,
}

impl RunnerFacts {
    /// That of whoever lives in a session.
    pub const RESIDENT: RunnerFacts = RunnerFacts {
        waits: true,
        on_lost: OnLost::Fail,
        room: TRANSCRIPT_BYTES,
        window: 0,
        outlives: true,
    };
}

/// The agents as facts, without what runs them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roster(BTreeMap<String, RegisteredFacts>);

/// What is known of an agent without what runs it.
#[derive(Clone, Debug, PartialEq)]
struct RegisteredFacts {
    facts: AgentFacts,
    waits: bool,
    room: usize,
    window: usize,
}

impl Roster {
    /// Notes a client: what the kernel may know about it, and whether turns that wait for it are
    /// briefed again.
    pub fn insert(&mut self, client: String, facts: AgentFacts, waits: bool) {
        self.0.insert(client, RegisteredFacts { facts, waits, room: TRANSCRIPT_BYTES, window: WINDOW_LEN });
    }

    /// What the kernel may know about a client; an unknown one is external. (Rulings 4 and 5.)
    pub fn facts(&self, client: &str) -> AgentFacts {
        self.0.get(client).map_or_else(AgentFacts::external, |listed| listed.facts.clone())
    }

    /// What runs a participant here; nothing when it runs elsewhere and comes by itself.
    /// (Ruling 5.)
    pub fn hand(&self, participant: &Participant) -> Option<RunnerFacts> {
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
    /// Lets only so many programs run at once, of all entries together, those that come later too.
    pub fn share(&mut self, places: Arc<ProgramSlots>) {
        self.specs.values().for_each(|spec| spec.agent.share(&places));
        self.places = Some(places);
    }

    /// The places that programs share, where their number has an end.
    pub fn places(&self) -> Option<&Arc<ProgramSlots>> {
        self.places.as_ref()
    }

    /// Adds an entry; one of the same name is replaced.
    pub fn insert(&mut self, spec: AgentSpec) {
        self.places.iter().for_each(|places| spec.agent.share(places));
        self.specs.insert(spec.client.clone(), spec);
    }

    /// Keeps a name for whoever connects by it from elsewhere: nothing runs here under it.
    pub fn keep_name(&mut self, client: String) {
        self.elsewhere.insert(client);
    }

    /// The names that are kept, in their order.
    pub fn kept_names(&self) -> impl Iterator<Item = &str> {
        self.elsewhere.iter().map(String::as_str)
    }

    /// The agent of this name, unless none is registered under it.
    pub fn get(&self, client: &str) -> Option<&AgentSpec> {
        self.specs.get(client)
    }

    /// All entries, by name.
    pub fn iter(&self) -> impl Iterator<Item = &AgentSpec> {
        self.specs.values()
    }

    /// What the kernel may know about a client; an unknown one is external. (Rulings 4 and 5.)
    pub fn facts(&self, client: &str) -> AgentFacts {
        self.get(client).map_or_else(AgentFacts::external, AgentSpec::facts)
    }

    /// All of them, as facts.
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

/// What the operator says now: it can be replaced while conversations go on.
pub(crate) struct LiveRegistry(RwLock<RegistryState>);

/// What is said at one time.
struct RegistryState {
    agents: Agents,
    defaults: Arc<Policy>,
}

/// The agents at one time, and the same as facts.
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
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = RegistryState::new(registry, defaults);
    }

    /// The agents alone, as the operator said last.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.agents().registry
    }

    /// The agents, and the same as facts.
    pub(crate) fn agents(&self) -> Agents {
        self.0.read().unwrap_or_else(PoisonError::into_inner).agents.clone()
    }

    /// Settings of conversations that do not say otherwise.
    pub(crate) fn defaults(&self) -> Arc<Policy> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).defaults.clone()
    }
}
