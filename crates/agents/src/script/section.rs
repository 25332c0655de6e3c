//! Agents of `[agents.<client>]` that recite a script.

use std::sync::Arc;

use moothall_engine::run_once::RunOnce;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};

use crate::config::{AgentConfig, ConfigFault};
use crate::runtimes::RuntimeEntry;
use crate::script::ScriptSpec;

pub(crate) static RUNTIME: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::SCRIPT,
    abilities: Abilities::PLAIN,
    implied_by: Some("replies"),
    keys: &["replies"],
    refuses_on_lost: |on_lost| {
        (on_lost == OnLost::Fail)
            .then_some("A script agent always gives the same answer, so it is always rerun.")
    },
    build: |config, _, _| Ok(Arc::new(RunOnce::new(config.script_spec()?))),
    describe: |_| "Answers with the texts of its script.".to_owned(),
};

impl AgentConfig {
    /// Returns the answers of a `script` agent. Fails if there are none, or if the time limit is
    /// not valid.
    fn script_spec(&self) -> Result<ScriptSpec, ConfigFault> {
        match self.replies.as_deref() {
            None | Some([]) => Err(ConfigFault::new(
                "replies",
                "A script agent needs answers: replies = [\"first\", \"[PASS]\"].",
            )),
            Some(replies) => {
                Ok(ScriptSpec { replies: replies.to_vec(), timeout: self.time_limit()? })
            }
        }
    }
}
