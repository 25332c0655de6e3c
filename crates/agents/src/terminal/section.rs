//! Agents of `[agents.<client>]` whose programs live in terminals.

use std::sync::Arc;

use moothall_engine::sessions::OnDemand;
use moothall_kernel::participant::{Abilities, Runtime};

use crate::config::{AgentConfig, ConfigFault, NO_PROGRAM, checked_argv};
use crate::runtimes::RuntimeEntry;
use crate::terminal::{Program, Vendor};

pub(crate) static RUNTIME: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::TERMINAL,
    abilities: Abilities::TERMINAL,
    implied_by: None,
    // Keys shared with `command`, which describes a program in the same way.
    keys: &[
        "command",
        "cwd",
        "env",
        "run_as",
        "screen",
        "reach",
        "startable_by_agents",
        "price_input",
        "price_cached",
        "price_output",
    ],
    refuses_on_lost: |_| {
        Some(
            "A program in a terminal keeps running without the server, so its turns continue \
             after a restart.",
        )
    },
    build: |config, client, _| Ok(Arc::new(config.terminal_agent(client)?)),
    describe: |config| match config.program() {
        Some(program) => format!("Runs {program} in a terminal."),
        None => "Runs in a terminal.".to_owned(),
    },
};

/// The fault of a program whose screen cannot be read.
const UNREADABLE: &str = "must be `claude`, `codex` or `gemini`: the program whose screen and \
                          reports are like those of this one. The server cannot read the screens \
                          of other programs; run those once for each turn, with runtime = \
                          \"command\"";

impl AgentConfig {
    /// Returns the program of a `terminal` agent; `None` for another runtime. Without a `command`,
    /// it is the known program with the client's name.
    ///
    /// # Errors
    /// [`ConfigFault`] if the program is missing, a key belongs to another runtime, or a value
    /// makes no sense.
    pub fn terminal_program(&self, client: &str) -> Result<Option<Program>, ConfigFault> {
        if !self.lives_in_session() {
            return Ok(None);
        }
        self.refuse_keys_of_others(&RUNTIME)?;
        self.check_env()?;
        let known = Program::known_programs().remove(client);
        let mut program = match (&self.command, known) {
            (Some(argv), known) => Program {
                vendor: known.map(|program| program.vendor).unwrap_or_default(),
                ..Program::new(checked_argv(argv)?)
            },
            (None, Some(known)) => known,
            (None, None) => return Err(ConfigFault::new("command", NO_PROGRAM)),
        };
        program.summary = self.summary.clone().unwrap_or(program.summary);
        program.vendor = self.screen.unwrap_or(program.vendor);
        if program.vendor == Vendor::Other {
            return Err(ConfigFault::new("screen", UNREADABLE));
        }
        Ok(Some(Program {
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            run_as: self.run_as.clone(),
            timeout: self.time_limit()?,
            prices: self.prices()?,
            ..program
        }))
    }

    /// Returns the agent of a `terminal` section: each of its participants gets its own session.
    fn terminal_agent(&self, client: &str) -> Result<OnDemand, ConfigFault> {
        let program = self.terminal_program(client)?;
        Ok(OnDemand { timeout: program.and_then(|program| program.timeout) })
    }
}
