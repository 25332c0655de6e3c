//! Dresses the programs that are known, so that they report to this server and have its tools.

use moothall_engine::sessions::{HostFault, Launch};

use super::hooks::{HookDress, Vendor};
use super::{Dress, Parts, Program, Reads};

/// What a session's secret is called in its environment.
const TOKEN: &str = "MOOTHALL_SESSION_TOKEN";

/// Dresses each program as its kind needs it.
pub struct Tailor(pub HookDress);

/// A program that draws like one of the known ones reports like it too.
fn vendor(program: &Program) -> Vendor {
    match program.reads {
        Reads::Claude => Vendor::Claude,
        Reads::Codex => Vendor::Codex,
        Reads::Gemini => Vendor::Gemini,
        Reads::Other => Vendor::Other,
    }
}

impl Dress for Tailor {
    fn launch_parts(&self, program: &Program, launch: &Launch, mut parts: Parts) -> Result<Parts, HostFault> {
        let token = launch.env.get(TOKEN).map(String::as_str).unwrap_or_default();
        let dressed = self.0.of(vendor(program), &launch.session, token);
        let dressed = dressed.map_err(|error| HostFault::Failed(format!("Its settings cannot be written: {error}.")))?;
        parts.argv.extend(dressed.args);
        parts.env.extend(dressed.env);
        Ok(parts)
    }

    fn has_hooks(&self, program: &Program) -> bool {
        vendor(program) != Vendor::Other
    }
}
