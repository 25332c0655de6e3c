//! The server's TLS certificate. It is read from two files at the start. A handshake reads them
//! again if one of them has changed, so that a renewal needs no restart.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::SystemTime;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// The certificate and the TLS acceptor.
#[derive(Clone)]
pub struct Tls {
    certificate: Arc<Certificate>,
    acceptor: TlsAcceptor,
}

/// A server's certificate and its files.
struct Certificate {
    cert: PathBuf,
    key: PathBuf,
    shown: RwLock<ServedKey>,
}

/// The certificate in use, and the marks of its files when they were last read.
struct ServedKey {
    key: Arc<CertifiedKey>,
    marks: [Mark; 2],
}

/// Modification time and inode of a file, which change when it is replaced or written. `None` if
/// the file does not exist.
type Mark = Option<(SystemTime, u64)>;

/// The reason why a certificate cannot be used, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFault(String);

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Tls {
    /// Reads a certificate from two PEM files: the chain, the server's own certificate first, and
    /// its private key.
    ///
    /// # Errors
    /// A message for a file that cannot be read or has other content, or files that do not belong
    /// together.
    pub fn open(cert: &Path, key: &Path) -> Result<Self, TlsFault> {
        let marks = [mark(cert), mark(key)];
        let shown = RwLock::new(ServedKey { key: Arc::new(read(cert, key)?), marks });
        let certificate =
            Arc::new(Certificate { cert: cert.to_owned(), key: key.to_owned(), shown });
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let versions =
            versions.map_err(|error| TlsFault(format!("TLS cannot be set up: {error}")))?;
        let mut config = versions.with_no_client_auth().with_cert_resolver(certificate.clone());
        // Connections are served by HTTP/1 only, so a client must not choose HTTP/2.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { certificate, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// Returns the names in the certificate that was read last, at the start or by a handshake,
    /// without patterns such as `*.example.org` and without addresses.
    pub fn names(&self) -> Vec<String> {
        let key = self.certificate.shown.read().unwrap_or_else(PoisonError::into_inner).key.clone();
        let Some(own) = key.cert.first().and_then(|own| webpki::EndEntityCert::try_from(own).ok())
        else {
            return Vec::new();
        };
        own.valid_dns_names().filter(|name| !name.contains('*')).map(str::to_owned).collect()
    }

    /// Returns the acceptor for handshakes with this certificate.
    pub(crate) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

impl Certificate {
    /// Returns the certificate that the files contain now. If they cannot be used, e.g. between the
    /// writes of the two files, returns the last good one.
    fn current(&self) -> Arc<CertifiedKey> {
        let marks = [mark(&self.cert), mark(&self.key)];
        // The block ends the read lock, because the write below would wait for it for ever.
        {
            let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
            if shown.marks == marks {
                return shown.key.clone();
            }
        }
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        match read(&self.cert, &self.key) {
            Ok(key) => {
                tracing::info!(cert = %self.cert.display(), "the certificate was reloaded");
                shown.key = Arc::new(key);
            }
            Err(fault) => {
                tracing::warn!(%fault, "the new certificate cannot be used; the previous one stays \
                    in use")
            }
        }
        // A fault stores the marks too, so that each change is read and logged once. The marks are
        // older than the read, so that a change during it is noticed by the next handshake.
        shown.marks = marks;
        shown.key.clone()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.certificate).finish()
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("cert", &self.cert).finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

fn mark(file: &Path) -> Mark {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(file).ok()?;
    Some((found.modified().ok()?, found.ino()))
}

/// Reads the certificates and the private key. The fault names the file that cannot be used, or
/// both if they do not belong together.
fn read(cert: &Path, key: &Path) -> Result<CertifiedKey, TlsFault> {
    let fault =
        |file: &Path, what: &dyn fmt::Display| TlsFault(format!("{}: {what}", file.display()));
    let chain =
        CertificateDer::pem_file_iter(cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| fault(cert, &error))?;
    if chain.is_empty() {
        return Err(fault(cert, &"the file contains no certificate (PEM, \"BEGIN CERTIFICATE\")"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| fault(key, &error))?;
    CertifiedKey::from_der(chain, private, &rustls::crypto::ring::default_provider()).map_err(
        |error| {
            TlsFault(format!(
                "{} and {} cannot be used together: {error}",
                cert.display(),
                key.display()
            ))
        },
    )
}
