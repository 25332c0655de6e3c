//! The operator's registry: which agents exist and how they run.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use moothall_kernel::participant::{AgentFacts, Profile};
use moothall_kernel::policy::Policy;

use crate::agent::Agent;
use crate::places::Places;

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
    /// What runs it.
    pub agent: Arc<dyn Agent>,
}

impl AgentSpec {
    /// The facts that the kernel records about its participants.
    pub fn facts(&self) -> AgentFacts {
        AgentFacts { runtime: self.agent.runtime(), known: true, timeout: self.agent.timeout(), on_lost: self.agent.on_lost() }
    }
}

/// All agents of this server, by client name.
#[derive(Clone, Default)]
pub struct Registry {
    specs: BTreeMap<String, AgentSpec>,
    places: Option<Arc<Places>>,
}

impl Registry {
    /// Lets only so many programs run at once, of all entries together, those that come later too.
    pub fn share(&mut self, places: Arc<Places>) {
        self.specs.values().for_each(|spec| spec.agent.share(&places));
        self.places = Some(places);
    }

    /// The places that programs share, where their number has an end.
    pub fn places(&self) -> Option<&Arc<Places>> {
        self.places.as_ref()
    }

    /// Adds an entry; one of the same name is replaced.
    pub fn insert(&mut self, spec: AgentSpec) {
        self.places.iter().for_each(|places| spec.agent.share(places));
        self.specs.insert(spec.client.clone(), spec);
    }

    /// An entry.
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
}

/// What the operator says now: it can be replaced while conversations go on.
pub(crate) struct Standing(RwLock<(Arc<Registry>, Arc<Policy>)>);

impl Standing {
    pub(crate) fn new(registry: Registry, defaults: Policy) -> Self {
        Self(RwLock::new((Arc::new(registry), Arc::new(defaults))))
    }

    pub(crate) fn replace(&self, registry: Registry, defaults: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = (Arc::new(registry), Arc::new(defaults));
    }

    /// The agents.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// Settings of conversations that do not say otherwise.
    pub(crate) fn defaults(&self) -> Arc<Policy> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}
