//! TLS: the names and origins it allows, the access left to plain HTTP, and renewed certificates.

use std::fs;
use std::path::{Path, PathBuf};

use moothall_engine::access::Mode;
use moothall_surfaces::{HttpOptions, Tls};
use reqwest::{Certificate, Client};
use serde_json::Value;
use tempfile::TempDir;

use crate::server::{Server, soon};

/// Two files, as a renewal program writes them.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        files.renew();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces both files with those of a new certificate.
    fn renew(&self) {
        let made = rcgen::generate_simple_self_signed([
            "moothall.test".to_owned(),
            "localhost".to_owned(),
            "*.lan".to_owned(),
        ])
        .unwrap();
        replace(&self.path("key.pem"), &made.signing_key.serialize_pem());
        replace(&self.path("cert.pem"), &made.cert.pem());
    }

    fn tls(&self) -> Tls {
        Tls::open(&self.path("cert.pem"), &self.path("key.pem")).unwrap()
    }

    /// Returns a client that trusts only the current certificate.
    fn client(&self, server: &Server) -> Client {
        let own = Certificate::from_pem(&fs::read(self.path("cert.pem")).unwrap()).unwrap();
        let client = Client::builder()
            .no_proxy()
            .tls_certs_only([own])
            .resolve("moothall.test", server.address);
        client.resolve("other.test", server.address).build().unwrap()
    }

    async fn serve(&self) -> Server {
        let tls = self.tls();
        Server::open_with(Mode::Local, None, |options| HttpOptions { tls: Some(tls), ..options })
            .await
    }
}

fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

#[tokio::test]
async fn the_names_of_the_certificate_are_served_with_tls_and_this_computer_without() {
    let files = Files::new();
    let server = files.serve().await;
    let (client, port) = (files.client(&server), server.address.port());
    for name in ["localhost", "moothall.test"] {
        let page = client
            .get(format!("https://{name}:{port}/threads"))
            .header("Origin", format!("https://{name}:{port}"));
        assert_eq!(soon(page.send()).await.unwrap().status(), 200, "{name}");
    }
    let foreign = client
        .get(format!("https://localhost:{port}/threads"))
        .header("Origin", "https://evil.test");
    assert_eq!(soon(foreign.send()).await.unwrap().status(), 403);
    let other =
        client.get(format!("https://localhost:{port}/threads")).header("Host", "other.test:1");
    let other = soon(other.send()).await.unwrap();
    assert_eq!(other.status(), 421);
    let message: Value = other.json().await.unwrap();
    let message = message["error"]["message"].as_str().unwrap();
    assert!(message.contains("other.test:1") && message.contains("allowed_hosts"), "{message}");
    // Hooks, bridges and the owner's command line use plain HTTP, because they have no certificate
    // to trust.
    assert_eq!(server.get("/ping").await.0, 200);
}

#[tokio::test]
async fn a_renewed_certificate_is_shown_at_once_and_a_broken_one_never() {
    let files = Files::new();
    let server = files.serve().await;
    let (old, url) =
        (files.client(&server), format!("https://localhost:{}/ping", server.address.port()));
    assert_eq!(soon(old.get(&url).send()).await.unwrap().status(), 200);
    files.renew();
    let (new, good) = (files.client(&server), fs::read_to_string(files.path("cert.pem")).unwrap());
    assert_eq!(soon(new.get(&url).send()).await.unwrap().status(), 200);
    for broken in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let fresh = files.client(&server);
        replace(&files.path("cert.pem"), broken);
        assert_eq!(soon(fresh.get(&url).send()).await.unwrap().status(), 200, "{broken:?}");
        replace(&files.path("cert.pem"), &good);
    }
    // The key does not match the certificate, as between the writes of the two files.
    let before = fs::read_to_string(files.path("key.pem")).unwrap();
    files.renew();
    let latest = files.client(&server);
    let after = fs::read_to_string(files.path("key.pem")).unwrap();
    replace(&files.path("key.pem"), &before);
    assert!(soon(latest.get(&url).send()).await.is_err(), "the one before is still shown");
    replace(&files.path("key.pem"), &after);
    assert_eq!(soon(latest.get(&url).send()).await.unwrap().status(), 200);
}

#[test]
fn a_certificate_that_cannot_be_used_is_told_with_its_file() {
    let files = Files::new();
    assert_eq!(files.tls().names(), ["moothall.test", "localhost"], "patterns are no names");
    let open = |cert: &str, key: &str| {
        Tls::open(&files.path(cert), &files.path(key)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(open("none.pem", "key.pem").contains("none.pem"));
    assert!(open("key.pem", "key.pem").contains("no certificate"));
    assert!(open("cert.pem", "cert.pem").contains("cert.pem"));
    let other = Files::new();
    replace(&files.path("other.pem"), &fs::read_to_string(other.path("key.pem")).unwrap());
    assert!(open("cert.pem", "other.pem").contains("cannot be used together"));
}
