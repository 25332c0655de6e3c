//! How agents run: built-in scripts that need nothing, programs run once for each turn, calls to
//! model providers, and programs that live in terminals.
//!
//! The first three do one turn's work as one future ([`moothall_engine::run_once::Work`]); the
//! engine decides when, and drops the future when the turn is taken away. `terminal` has tmux, what
//! is known of each vendor's program, and the hooks by which it reports; what becomes of a turn
//! there `moothall_terminals` decides.
//!
//! ```
//! let built_in = moothall_agents::built_in();
//! let clients: Vec<&str> = built_in.iter().map(|spec| spec.client.as_str()).collect();
//! assert_eq!(clients, ["analyst", "writer", "critic"]);
//! ```

pub mod script;
pub mod command;
pub mod llm;
mod fingerprint;
mod runtimes;
pub mod config;
pub mod discover;
pub mod logins;
pub mod run_as;
pub mod terminal;

use std::sync::Arc;

use moothall_engine::registry::AgentSpec;
use moothall_engine::run_once::RunOnce;
use moothall_kernel::participant::Profile;
use strum::VariantArray;

pub use config::{AgentConfig, ConfigFault, ProfileConfig, ReachKey};
pub use discover::discover;
use script::Demo;

/// The agents that are there without any configuration, in the order in which they are invited.
pub fn built_in() -> Vec<AgentSpec> {
    Demo::VARIANTS.iter().copied().map(demo).collect()
}

fn demo(demo: Demo) -> AgentSpec {
    let profile = Profile {
        client: Some(demo.to_string()),
        model: Some("demo".to_owned()),
        ..Profile::default()
    };
    AgentSpec {
        client: demo.to_string(),
        summary: demo.summary().to_owned(),
        profile,
        origin: "built-in",
        run_as: None,
        agent: Arc::new(RunOnce::new(demo)),
    }
}
