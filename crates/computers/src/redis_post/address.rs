//! The address of a Redis with its secrets, which are left out of every text that is shown.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use redis::{Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, TlsCertificates};
use serde::{Deserialize, Serialize};

use crate::post::PostError;

/// Address of a Redis: `redis://`, `rediss://` (TLS) or `redis+unix://`. It may hold a user name
/// and a password, which neither `Display` nor `Debug` writes.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RedisAddress(String);

impl RedisAddress {
    /// Returns the whole address, with its password.
    pub fn secret_url(&self) -> &str {
        &self.0
    }

    /// Returns the user's password, if there is one.
    pub(super) fn password(&self) -> Option<String> {
        let info = self.info().ok()?;
        info.redis_settings().password().filter(|word| !word.is_empty()).map(str::to_owned)
    }

    pub(super) fn info(&self) -> Result<ConnectionInfo, PostError> {
        self.0.as_str().into_connection_info().map_err(|error| {
            // The details of the error may repeat parts of the address.
            let category = error.category().to_owned();
            PostError::Address(format!(
                "it is not `redis://[USER:PASSWORD@]HOST[:PORT]` or alike ({category})"
            ))
        })
    }

    /// Makes the client. `ca` is a file of certificates, in PEM, that are trusted in place of the
    /// public ones.
    pub(super) fn client(
        &self,
        info: ConnectionInfo,
        ca: Option<&Path>,
    ) -> Result<Client, PostError> {
        let wrong = |error: redis::RedisError| PostError::Address(error.category().to_owned());
        let Some(ca) = ca else {
            return Client::open(info).map_err(wrong);
        };
        if !matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            return Err(PostError::Address("a file of certificates needs `rediss://`".into()));
        }
        let unfit = |reason: String| PostError::Tls(format!("{}: {reason}", ca.display()));
        let pem = std::fs::read(ca).map_err(|error| unfit(error.to_string()))?;
        let certificates = TlsCertificates { client_tls: None, root_cert: Some(pem.clone()) };
        let client =
            Client::build_with_tls(info, certificates).map_err(|error| unfit(error.to_string()))?;
        // The client takes a file without certificates as an empty list, and would trust no server.
        if !pem.windows(11).any(|words| words == b"CERTIFICATE") {
            return Err(unfit("there is not a certificate in it".into()));
        }
        Ok(client)
    }
}

impl FromStr for RedisAddress {
    type Err = PostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const SCHEMES: [&str; 3] = ["redis://", "rediss://", "redis+unix://"];
        if !SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            let schemes = SCHEMES.join("`, `");
            return Err(PostError::Address(format!("it begins with none of `{schemes}`")));
        }
        // The client's own mark for connections that trust every certificate.
        if text.contains("#insecure") {
            let advice = "`#insecure` is not supported: give a file of certificates";
            return Err(PostError::Address(advice.into()));
        }
        let address = Self(text.to_owned());
        address.info()?;
        Ok(address)
    }
}

impl TryFrom<String> for RedisAddress {
    type Error = PostError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<RedisAddress> for String {
    fn from(address: RedisAddress) -> Self {
        address.0
    }
}

impl fmt::Display for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.split("://").next().unwrap_or_default();
        match self.info() {
            Ok(info) => write!(f, "{scheme}://{}", info.addr()),
            Err(_) => write!(f, "{scheme}://…"),
        }
    }
}

impl fmt::Debug for RedisAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        let cases = [
            ("redis://ann:s3cret@host:7000/2", "redis://host:7000"),
            ("rediss://:s3cret@host", "rediss://host:6379"),
            ("redis+unix:///run/redis.sock?pass=s3cret", "redis+unix:///run/redis.sock"),
        ];
        for (url, shown) in cases {
            let address: RedisAddress = url.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), shown);
            assert_eq!(address.secret_url(), url);
            assert_eq!(address.password().as_deref(), Some("s3cret"));
        }
    }

    #[test]
    fn other_addresses_are_refused_without_their_secrets() {
        let bad = [
            "",
            "http://host",
            "redis://:s3cret@",
            "redis://:s3cret@host:99999",
            "rediss://:s3cret@host/#insecure",
            "redis://:s3cret@host/x",
            "redis+unix://",
        ];
        for url in bad {
            let error = url.parse::<RedisAddress>().unwrap_err();
            assert!(matches!(error, PostError::Address(_)), "{url}: {error}");
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
        }
    }

    #[test]
    fn a_file_of_certificates_is_checked_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        std::fs::write(&file, "words").unwrap();
        let open = |url: &str, ca: &Path| {
            let address: RedisAddress = url.parse().unwrap();
            address.client(address.info().unwrap(), Some(ca)).map(drop)
        };
        assert!(matches!(open("rediss://host", &file), Err(PostError::Tls(_))));
        let missing = folder.path().join("missing.pem");
        assert!(matches!(open("rediss://host", &missing), Err(PostError::Tls(_))));
        assert!(matches!(open("redis://host", &file), Err(PostError::Address(_))));
    }
}
