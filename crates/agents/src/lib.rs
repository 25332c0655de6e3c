//! The agents: built-in scripts that need no setup, programs run once for each turn, calls to model
//! providers, and programs that live in terminals.
//!
//! The first three do the work of a turn as one future ([`moothall_engine::run_once::Work`]). The
//! engine decides when that future runs, and drops it when the turn is taken away. `terminal` has
//! tmux, the tables of each vendor's program, and the hooks by which a program reports;
//! `moothall_terminals` decides about the turns of these programs.
//!
//! ```
//! let built_in = moothall_agents::built_in(Default::default());
//! let clients: Vec<&str> = built_in.iter().map(|spec| spec.client.as_str()).collect();
//! assert_eq!(clients, ["analyst", "writer", "critic"]);
//! ```

pub mod script;
pub mod command;
pub mod llm;
mod fingerprint;
mod spending;
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
use script::{Demo, Pace, PacedDemo};
pub use spending::Prices;

/// Returns the built-in demo agents, in the order in which they are invited.
pub fn built_in(pace: Pace) -> Vec<AgentSpec> {
    Demo::VARIANTS.iter().map(|&one| demo(one, pace)).collect()
}

/// Returns the registry's entry of a built-in agent.
fn demo(demo: Demo, pace: Pace) -> AgentSpec {
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
        agent: Arc::new(RunOnce::new(PacedDemo { demo, pace })),
    }
}
