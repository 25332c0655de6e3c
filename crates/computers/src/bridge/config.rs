//! `[computers]`: the rights that each other computer has here.

use std::collections::BTreeMap;

use moothall_engine::access::RemoteRights;
use serde::Deserialize;

use crate::id::ComputerName;

/// `[computers]`: other computers, by their names here.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct ComputersConfig(BTreeMap<ComputerName, ComputerConfig>);

/// `[computers.<name>]`: another computer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ComputerConfig {
    /// The rights of that computer here.
    pub allow: RemoteRights,
}

impl ComputersConfig {
    /// Returns the rights of the computer with a name. A computer that is not mentioned has those
    /// of `ComputerConfig::default`.
    pub fn rights_of(&self, name: &ComputerName) -> RemoteRights {
        self.0.get(name).map_or_else(RemoteRights::default, |config| config.allow.clone())
    }
}
