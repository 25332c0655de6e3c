//! Floor policies: one closed set, one small file each, stateless functions over the conversation's state.

mod config;

pub use config::{Policy, PolicyFault, PolicyName};
