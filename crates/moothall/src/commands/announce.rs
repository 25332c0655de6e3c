//! The output of `serve` at its start: addresses, data folder, agents and next steps.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use moothall_engine::access::Secret;
use serde_json::json;

use crate::config::Mode;
use crate::credential::key_file;
use crate::fault::Fault;
use crate::paint::{Printer, Style};
use crate::place::USUAL_BIND;
use crate::reach::Reach;

/// Returns the file of this program if cargo built it, because then it is on no search path.
fn built_here() -> Option<PathBuf> {
    std::env::current_exe().ok().filter(|program| program.with_file_name(".cargo-lock").exists())
}

/// Facts about a starting server, for its announcement.
pub struct Doors<'a> {
    /// Address and port on which the server listens.
    pub address: SocketAddr,
    /// Addresses under which clients reach the server.
    pub reach: &'a Reach,
    /// Access mode.
    pub mode: Mode,
    /// True if the server speaks TLS.
    pub tls: bool,
    /// Data folder of the server.
    pub data: &'a Path,
    /// Names of the agents.
    pub agents: &'a [String],
    /// Start-up credential of this run.
    pub key: &'a Secret,
}

impl Doors<'_> {
    /// Prints the announcement. The start-up credential is shown only on a terminal, because other
    /// output may end up in logs.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn announce(&self, printer: &Printer) -> Result<(), Fault> {
        let data = std::path::absolute(self.data).unwrap_or_else(|_| self.data.to_owned());
        let here = &self.reach.here;
        let shown = std::io::stdout().is_terminal();
        // The credential is in the fragment, which a browser does not send, so neither requests nor
        // logs contain it.
        let page =
            if shown { format!("{here}/#key={}", self.key.reveal()) } else { format!("{here}/") };
        if printer.json {
            // Programs on this computer may use the address under "here" without TLS.
            let listening =
                if self.tls { here.replacen("http:", "https:", 1) } else { here.clone() };
            return printer.object(&json!({
                "listening": listening, "here": here, "bound": self.address, "others": self.reach.others, "page": page, "key_file": key_file(&data),
                "data": data, "agents": self.agents, "version": env!("CARGO_PKG_VERSION"),
            }));
        }
        let row =
            |name: &str, value: &str| format!("  {name:<7} {}", printer.paint(Style::Plain, value));
        let mut lines = vec![
            format!("Moothall listens on {}", printer.paint(Style::Bold, here)),
            row("page", &page),
        ];
        if !shown {
            lines.push(row(
                "key",
                &format!("in {}; `moothall page` prints a sign-in link", key_file(&data).display()),
            ));
        }
        lines.extend(self.reach.others.iter().map(|other| row("others", other)));
        lines.extend([
            row("data", &data.display().to_string()),
            row("agents", &self.agents.join(", ")),
        ]);
        lines.extend(self.next_steps());
        lines.iter().try_for_each(|line| printer.line(line))
    }

    /// Returns lines with the commands to try next. The commands name the server if its port is not
    /// the usual one.
    fn next_steps(&self) -> Vec<String> {
        let elsewhere = if self.address.port() == USUAL_BIND.port() {
            String::new()
        } else {
            format!(" --server {}", self.reach.here)
        };
        let next = match built_here() {
            Some(program) => {
                format!("Next, in another terminal (replace moothall with {}):", program.display())
            }
            None => "Next, in another terminal:".to_owned(),
        };
        let mut steps = vec![
            next,
            format!("  moothall{elsewhere} new \"First talk\""),
            format!("  moothall{elsewhere} say - \"@analyst where do we begin?\" --wait"),
        ];
        if self.mode == Mode::Token {
            steps.push(
                "Other users need an invitation, into the hall or one conversation:".to_owned(),
            );
            steps.push(format!("  moothall{elsewhere} invitation create --for ann"));
            steps.push(format!("  moothall{elsewhere} invitation create \"First talk\" --for bea"));
        }
        steps
    }

    /// Returns a warning if the server listens on another address than loopback without TLS.
    pub fn warning(&self) -> Option<String> {
        let open = !self.address.ip().is_loopback() && !self.tls;
        open.then(|| {
            format!(
                "the server listens on {} without TLS, so tokens and messages cross the network \
                 unencrypted; use --tls-cert FILE --tls-key FILE, or a proxy with TLS in front",
                self.address
            )
        })
    }
}
