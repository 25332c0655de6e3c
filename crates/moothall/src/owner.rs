//! The check that the system can identify the process at the other end of a connection, which local
//! mode needs. `serve` warns of a system that cannot, before the first connection.

use moothall_surfaces::{UnknownPeer, try_to_ask};

use crate::config::{self, Mode};
use crate::place::StartupSettings;

/// Advice for an operator whose system does not identify the calling process.
pub const CURE: &str = "allow the server to query it (a systemd service needs AF_NETLINK in \
                        RestrictAddressFamilies), use --mode token, or set unasked = \"converse\" \
                        in [server], which lets all users of this computer converse";

/// Returns the reason why the system does not identify callers. `None` if it does, or if this
/// configuration does not need it: in token mode, and with `other_users`.
pub fn unknown(settled: &StartupSettings) -> Option<UnknownPeer> {
    let needed = settled.mode == Mode::Local && !settled.config.server.other_users;
    needed.then(try_to_ask).and_then(Result::err)
}

/// Returns the warning that `serve` prints if the system does not identify callers and this
/// configuration needs it.
pub fn warning(settled: &StartupSettings) -> Option<String> {
    let why = unknown(settled)?;
    Some(match settled.config.server.unasked {
        config::UnknownPeerRule::Refuse => format!(
            "warning: {why}; therefore every request needs a credential. `moothall` finds it if \
             this user runs it, and `moothall page` prints a sign-in link. To change that, {CURE}"
        ),
        config::UnknownPeerRule::Converse => format!(
            "warning: {why}; therefore all users of this computer may converse here and speak as \
             any person (unasked = \"converse\" in [server])"
        ),
    })
}
