//! A private Redis as a post of computers, and certificates for it.

use std::net::TcpListener;
use std::path::PathBuf;

use moothall_computers::id::ComputerId;
use moothall_computers::redis_post::{RedisAddress, RedisPost};
pub use moothall_testkit::redis::RedisServer;
use tempfile::TempDir;

/// A server as the tests of a post use it.
pub trait PostServer {
    /// Returns the address, with this query, such as `?pass=x`.
    fn address(&self, query: &str) -> RedisAddress;
    /// Makes the post of a computer at this server.
    fn post(&self, own: ComputerId) -> RedisPost;
    /// Runs a command at the server with a connection of its own.
    fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T;
}

impl PostServer for RedisServer {
    fn address(&self, query: &str) -> RedisAddress {
        format!("{}{query}", self.url()).parse().unwrap()
    }

    fn post(&self, own: ComputerId) -> RedisPost {
        RedisPost::new(own, self.address(""), None).unwrap()
    }

    fn command<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let client = redis::Client::open(self.address("").secret_url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let (name, arguments) = words.split_first().unwrap();
        redis::cmd(name).arg(arguments).query(&mut connection).unwrap()
    }
}

/// Starts a server with TLS on a port of the loopback, with a certificate for `localhost`. The
/// certificates are written into its folder.
pub fn start_with_tls(made: &Certificates) -> Option<(RedisServer, RedisAddress)> {
    // The port may be taken by another process before the server has it, then it is not ready.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let file = |path: &PathBuf| path.to_string_lossy().into_owned();
    let (port_word, certificate) = (port.to_string(), file(&made.certificate));
    let (key, ca) = (file(&made.key), file(&made.ca));
    let server = RedisServer::start(&[
        "--tls-port",
        &port_word,
        "--bind",
        "127.0.0.1",
        "--tls-cert-file",
        &certificate,
        "--tls-key-file",
        &key,
        "--tls-ca-cert-file",
        &ca,
        "--tls-auth-clients",
        "no",
    ])?;
    Some((server, format!("rediss://localhost:{port}").parse().unwrap()))
}

/// An authority of its own, and a certificate of it for `localhost`, as files.
pub struct Certificates {
    _folder: TempDir,
    pub ca: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Certificates {
    /// Makes the certificate of a server for this name.
    pub fn of(name: &str) -> Self {
        use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
        let folder = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca_key = KeyPair::generate().unwrap();
        let ca = params.self_signed(&ca_key).unwrap();
        let issuer = Issuer::new(params, ca_key);
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap();
        let write = |name: &str, text: String| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        Self {
            ca: write("ca.pem", ca.pem()),
            certificate: write("leaf.pem", leaf.pem()),
            key: write("key.pem", key.serialize_pem()),
            _folder: folder,
        }
    }
}
