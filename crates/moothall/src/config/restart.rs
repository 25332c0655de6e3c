//! Settings that a running server does not reload. `serve` and `config check` use the same table.

use crate::place::StartupSettings;

/// A key or a section that is fixed from the start of a server to its end.
pub struct RestartKey {
    /// Key as in `config show`; a section includes everything below it.
    pub key: &'static str,
    value: fn(&StartupSettings) -> String,
}

/// All fixed settings. Every other setting is applied on reload.
pub const LASTING: [RestartKey; 10] = [
    RestartKey { key: "server.bind", value: |settled| settled.bind.to_string() },
    RestartKey { key: "server.data", value: |settled| settled.data.display().to_string() },
    RestartKey { key: "server.mode", value: |settled| format!("{:?}", settled.mode) },
    RestartKey { key: "server.tls", value: |settled| format!("{:?}", settled.tls) },
    RestartKey {
        key: "server.other_users",
        value: |settled| settled.config.server.other_users.to_string(),
    },
    RestartKey {
        key: "server.unasked",
        value: |settled| format!("{:?}", settled.config.server.unasked),
    },
    RestartKey {
        key: "server.invite_code",
        value: |settled| format!("{:?}", settled.config.server.invite_code),
    },
    RestartKey {
        key: "server.trails",
        value: |settled| format!("{:?}", settled.config.server.trails),
    },
    RestartKey {
        key: "sessions.spool",
        value: |settled| format!("{:?}", settled.config.sessions.spool),
    },
    RestartKey { key: "channels", value: |settled| settled.config.channels.fingerprint() },
];

/// The fixed settings with which a server was started.
pub struct StartupValues([String; LASTING.len()]);

impl StartupValues {
    pub fn with(settled: &StartupSettings) -> Self {
        Self(LASTING.map(|lasting| (lasting.value)(settled)))
    }

    /// Returns the fixed keys whose values in `now` differ from those at the start.
    pub fn waiting(&self, now: &StartupSettings) -> Vec<&'static str> {
        let pairs = LASTING.iter().zip(&self.0);
        pairs
            .filter(|(lasting, started)| (lasting.value)(now) != **started)
            .map(|(lasting, _)| lasting.key)
            .collect()
    }
}

/// True if a key, as in `config show`, takes effect only after a restart.
pub fn needs_restart(key: &str) -> bool {
    LASTING.iter().any(|lasting| {
        key.strip_prefix(lasting.key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_means_the_keys_below_it_and_no_others() {
        for key in ["server.bind", "server.tls", "server.tls.cert"] {
            assert!(needs_restart(key), "{key}");
        }
        for key in [
            "server",
            "server.binds",
            "server.allowed_hosts",
            "limits.sessions",
            "agents.server.bind",
        ] {
            assert!(!needs_restart(key), "{key}");
        }
    }

    #[test]
    fn the_operators_manual_names_them_all() {
        let manual = include_str!("../../../../docs/operations.md");
        for RestartKey { key, .. } in LASTING {
            assert!(manual.contains(&format!("`{key}`")), "{key}");
        }
    }
}
