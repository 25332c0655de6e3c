//! Data folder and listen address of a server. A flag comes before the configuration, and the
//! configuration before the default.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use crate::cli::{DataFolder, LocationOptions};
use crate::config::{self, Config, Mode, TlsConfig, Variables, usual_data_folder};
use crate::fault::{Exit, Fault};

/// Default listen address.
pub const USUAL_BIND: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5111);

/// Default address for clients.
pub const USUAL_SERVER: &str = "http://127.0.0.1:5111";

/// Settings a server needs to start.
#[derive(Debug)]
pub struct StartupSettings {
    /// Configuration from files and variables.
    pub config: Config,
    /// Data folder.
    pub data: PathBuf,
    /// Address and port to listen on.
    pub bind: SocketAddr,
    /// Access mode, which decides the rights of a caller without a credential.
    pub mode: Mode,
    /// Certificate, if the server uses TLS.
    pub tls: Option<TlsConfig>,
}

/// Resolves the settings of a server.
///
/// # Errors
/// The configuration is invalid, the data folder is unknown, the listen address is invalid or
/// forbidden, or TLS has a certificate without a key or a key without a certificate.
pub fn settle(place: &LocationOptions, variables: &Variables) -> Result<StartupSettings, Fault> {
    settled(Config::find(place.config.as_deref(), variables)?, place, variables)
}

/// Resolves the settings as [`settle`] does, but runs no command of the configuration, because the
/// configuration of the current folder may come from other people.
///
/// # Errors
/// As [`settle`].
pub fn look(place: &LocationOptions, variables: &Variables) -> Result<StartupSettings, Fault> {
    settled(Config::inspect(place.config.as_deref(), variables)?, place, variables)
}

/// Resolves the settings from the flags and a configuration that was read.
fn settled(
    config: Config,
    place: &LocationOptions,
    variables: &Variables,
) -> Result<StartupSettings, Fault> {
    let data = data_folder(place, &config, variables)?;
    let mode = place.mode.unwrap_or(config.server.mode);
    let bind = match place.bind.as_ref().or(config.server.bind.as_ref()) {
        Some(text) => bind_address(text, mode)?,
        None => USUAL_BIND,
    };
    let tls = certificate(place, &config)?;
    Ok(StartupSettings { config, data, bind, mode, tls })
}

/// Returns the files of the certificate and of its key, each from its flag or else from the
/// configuration. `None` if neither is set; an error if only one is.
fn certificate(place: &LocationOptions, config: &Config) -> Result<Option<TlsConfig>, Fault> {
    let configured = config.server.tls.as_ref();
    let cert = place.tls_cert.clone().or_else(|| configured.map(|tls| tls.cert.clone()));
    let key = place.tls_key.clone().or_else(|| configured.map(|tls| tls.key.clone()));
    match (cert, key) {
        (None, None) => Ok(None),
        (Some(cert), Some(key)) => Ok(Some(TlsConfig { cert, key })),
        (Some(_), None) | (None, Some(_)) => Err(Fault::new(
            Exit::Config,
            "TLS needs a certificate and its key, but only one of them is set",
        )
        .try_this("set --tls-cert FILE and --tls-key FILE, or both keys of [server.tls]")),
    }
}

/// Returns the configured listen address. `None` if it is not set, is invalid, or has the port 0.
/// The other values of the configuration need not be valid.
pub fn usual_bind(variables: &Variables) -> Option<SocketAddr> {
    let text = config::usual_bind(variables)?;
    plain_address(&text).parse().ok().filter(|bind: &SocketAddr| bind.port() != 0)
}

/// Returns the data folder. If `--data` names it, the configuration is not read.
///
/// # Errors
/// The configuration is needed and is invalid, or the data folder is unknown.
pub fn data_folder_of(named: &DataFolder, variables: &Variables) -> Result<PathBuf, Fault> {
    if let Some(data) = &named.data {
        return Ok(data.clone());
    }
    let place = LocationOptions { config: named.config.clone(), ..LocationOptions::default() };
    look(&place, variables).map(|settled| settled.data)
}

/// Returns the data folder of the flag, of the configuration, or the default one. Fails if the
/// default one is needed and the variables do not give its path.
fn data_folder(
    place: &LocationOptions,
    config: &Config,
    variables: &Variables,
) -> Result<PathBuf, Fault> {
    let chosen = place.data.clone().or_else(|| config.server.data.clone());
    chosen.or_else(|| usual_data_folder(variables)).ok_or_else(|| {
        Fault::new(
            Exit::Config,
            "the data folder is unknown, because HOME and XDG_DATA_HOME are not set",
        )
        .try_this("name the data folder with --data DIR")
    })
}

/// Replaces the host name `localhost` of an address by `127.0.0.1`.
fn plain_address(text: &str) -> String {
    text.strip_prefix("localhost:")
        .map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"))
}

/// Parses the listen address. Local mode requires a loopback address, since its callers need no
/// credential.
fn bind_address(text: &str, mode: Mode) -> Result<SocketAddr, Fault> {
    let Ok(address) = plain_address(text).parse::<SocketAddr>() else {
        return Err(Fault::new(Exit::Config, format!("{text:?} is not an address and a port"))
            .try_this("write it like 127.0.0.1:5111"));
    };
    if mode == Mode::Local && !address.ip().is_loopback() {
        return Err(Fault::new(Exit::Config, format!("cannot listen on {address} in local mode"))
            .because("local mode needs no credential, so other computers must not reach the server")
            .try_this(format!(
                "listen on 127.0.0.1:{} and use a tunnel such as ssh -L, or use --mode token",
                address.port()
            )));
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_this_computer_is_listened_to() {
        for good in ["127.0.0.1:0", "127.1.2.3:80", "[::1]:5111", "localhost:5111"] {
            assert!(bind_address(good, Mode::Local).is_ok(), "{good}");
        }
        assert!(bind_address("0.0.0.0:5111", Mode::Token).is_ok());
        for bad in ["0.0.0.0:5111", "[::]:5111", "192.168.1.4:5111", "example.org:80", "5111", ""] {
            assert_eq!(bind_address(bad, Mode::Local).unwrap_err().exit, Exit::Config, "{bad}");
        }
    }

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.toml");
        std::fs::write(&file, "[server]\nbind = \"127.0.0.1:1\"\ndata = \"from-file\"\n").unwrap();
        let variables = Variables::from([("XDG_DATA_HOME".to_owned(), "/data".to_owned())]);
        let mut place = LocationOptions { config: Some(file), ..LocationOptions::default() };
        let settled = settle(&place, &variables).unwrap();
        assert_eq!((settled.bind.port(), settled.data), (1, "from-file".into()));
        place.bind = Some("127.0.0.1:2".into());
        place.data = Some("from-flag".into());
        let settled = settle(&place, &variables).unwrap();
        assert_eq!((settled.bind.port(), settled.data), (2, "from-flag".into()));
    }

    #[test]
    fn without_home_a_data_folder_must_be_named() {
        assert_eq!(
            data_folder(&LocationOptions::default(), &Config::default(), &Variables::new())
                .unwrap_err()
                .exit,
            Exit::Config
        );
    }
}
