//! The operator's registry: which agents exist and how they run.

use std::collections::BTreeMap;
use std::sync::Arc;

use moothall_kernel::participant::{AgentFacts, Profile};

use crate::agent::Agent;

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
}

impl Registry {
    /// Adds an entry; one of the same name is replaced.
    pub fn insert(&mut self, spec: AgentSpec) {
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
