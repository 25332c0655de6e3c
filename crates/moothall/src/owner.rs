//! In local mode, the system identifies the process at the other end of each connection. A system
//! that cannot do this is reported before the first connection.

use moothall_surfaces::{UnknownPeer, try_to_ask};

use crate::config::{self, Mode};
use crate::place::StartupSettings;

/// Advice for an operator whose system does not identify the calling process.
pub const CURE: &str = "let the server ask it (a service of systemd needs AF_NETLINK in RestrictAddressFamilies), \
                        use --mode token, or write unasked = \"converse\" in [server], which lets every user of this computer converse";

/// Returns the reason that the system does not identify callers, if this configuration needs it to.
pub fn unknown(settled: &StartupSettings) -> Option<UnknownPeer> {
    let needed = settled.mode == Mode::Local && !settled.config.server.other_users;
    needed.then(try_to_ask).and_then(Result::err)
}

/// Returns the warning that `serve` prints for it.
pub fn warning(settled: &StartupSettings) -> Option<String> {
    let why = unknown(settled)?;
    Some(match settled.config.server.unasked {
        config::UnknownPeerRule::Refuse => format!(
            "warning: {why}; so every request needs a credential: `moothall` finds it as this user, and `moothall page` prints a link with it. \
             To change that, {CURE}"
        ),
        config::UnknownPeerRule::Converse => format!(
            "warning: {why}; so every user of this computer may converse here and speak as any person (unasked = \"converse\" in [server])"
        ),
    })
}
