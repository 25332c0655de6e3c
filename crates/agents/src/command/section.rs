//! Agents of `[agents.<client>]` that run a program for each turn.

use std::ops::RangeInclusive;
use std::sync::Arc;

use moothall_engine::run_once::RunOnce;
use moothall_kernel::compose::TRANSCRIPT_BYTES;
use moothall_kernel::participant::{Abilities, OnLost, Runtime};

use crate::command::CommandSpec;
use crate::config::{AgentConfig, ConfigFault, checked_argv};
use crate::runtimes::RuntimeEntry;

/// Lengths of a transcript that may be configured, in bytes. The transcript of each running turn is
/// in memory, so its length has a limit.
const TRANSCRIPT_RANGE: RangeInclusive<usize> = 1024..=1024 * 1024;

pub(crate) static RUNTIME: RuntimeEntry = RuntimeEntry {
    runtime: Runtime::COMMAND,
    abilities: Abilities::COMMAND,
    implied_by: Some("command"),
    keys: &[
        "command",
        "cwd",
        "env",
        "run_as",
        "stdin",
        "transcript_bytes",
        "price_input",
        "price_cached",
        "price_output",
    ],
    refuses_on_lost: |_| None,
    build: |config, _, bridge_url| Ok(Arc::new(RunOnce::new(config.command_spec(bridge_url)?))),
    describe: |config| format!("Runs {} for each turn.", config.program().unwrap_or_default()),
};

impl AgentConfig {
    /// Returns the program of a `command` agent, e.g. to check that it is installed.
    ///
    /// # Errors
    /// [`ConfigFault`] if the section names no program, or has a value that makes no sense.
    pub fn command_spec(&self, bridge_url: &str) -> Result<CommandSpec, ConfigFault> {
        let argv = checked_argv(self.command.as_deref().unwrap_or_default())?;
        self.check_env()?;
        Ok(CommandSpec {
            argv,
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            run_as: self.run_as.clone(),
            stdin: self.stdin.unwrap_or_default(),
            transcript_bytes: self.transcript_room()?,
            bridge_url: bridge_url.to_owned(),
            timeout: self.time_limit()?,
            prices: self.prices()?,
            on_lost: self.on_lost.unwrap_or(OnLost::Rerun),
        })
    }

    /// Returns the configured length of a transcript in bytes, or the default. Fails if it is
    /// outside of [`TRANSCRIPT_RANGE`].
    fn transcript_room(&self) -> Result<usize, ConfigFault> {
        match self.transcript_bytes {
            None => Ok(TRANSCRIPT_BYTES),
            Some(bytes) if TRANSCRIPT_RANGE.contains(&bytes) => Ok(bytes),
            Some(bytes) => {
                let (least, most) = (TRANSCRIPT_RANGE.start(), TRANSCRIPT_RANGE.end());
                Err(ConfigFault::new(
                    "transcript_bytes",
                    format!(
                        "{bytes} is not a valid length of a transcript; give {least} to {most} \
                         bytes."
                    ),
                ))
            }
        }
    }

    pub(crate) fn program(&self) -> Option<&str> {
        self.command.as_deref()?.first().map(String::as_str)
    }
}
