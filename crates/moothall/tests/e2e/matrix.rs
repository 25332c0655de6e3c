//! Matrix: the registration, and the states of the channel as the command line shows them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use moothall_testkit::matrix::Homeserver;
use serde_json::Value;

use crate::harness::{Home, comes_about};
use crate::telegram::AGENTS;

#[test]
fn a_registration_is_written_once_and_for_this_user_alone() {
    let home = Home::new();
    let args = ["matrix", "registration", "--domain", "example.org"];
    let written = home.run(&args);
    assert!(written.status.success(), "{written:?}");
    let path = home.path().join("matrix-registration.yaml");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
    let text = fs::read_to_string(&path).unwrap();
    let registration: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(registration["namespaces"]["users"][0]["regex"], "@moothall_.*:example\\.org");
    assert_ne!(registration["as_token"], registration["hs_token"]);

    let again = home.run(&args);
    assert!(!again.status.success());
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("exists") && said.contains("--out"), "{said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let wrong = home.run(&["matrix", "registration", "--domain", "@ann:example.org"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("behind the colon"), "{wrong:?}");
}

#[test]
fn a_registration_that_cannot_be_used_is_told_at_the_start() {
    let home = Home::new();
    let weak = r#"{"id": "m", "url": "http://127.0.0.1:1", "as_token": "a", "hs_token": "a", "sender_localpart": "moothall"}"#;
    fs::write(home.path().join("weak.yaml"), weak).unwrap();
    fs::write(home.path().join("words.yaml"), "id: moothall\n").unwrap();
    for (file, told) in [
        ("missing.yaml", "moothall matrix registration"),
        ("words.yaml", "in JSON"),
        ("weak.yaml", "two different tokens"),
        ("", "are needed"),
    ] {
        home.configure(&format!(
            "[channels.matrix]\nhomeserver = \"http://127.0.0.1:1\"\nregistration = \"{file}\"\n"
        ));
        let data = home.data();
        let args = ["serve", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()];
        let refused = home.run(&args);
        assert!(!refused.status.success());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("[channels.matrix]") && said.contains(told), "{said}");
    }
}

// The command line waits for the homeserver, which runs in this process.
#[tokio::test(flavor = "multi_thread")]
async fn the_channel_is_listed_and_an_agent_needs_no_token() {
    let homeserver = Homeserver::start().await.unwrap();
    let home = Home::new();
    home.sign();
    fs::write(home.path().join("registration.yaml"), homeserver.registration()).unwrap();
    home.configure(&format!(
        "{AGENTS}\n[channels.matrix]\nhomeserver = \"{}\"\nregistration = \"registration.yaml\"\n",
        homeserver.url()
    ));
    let server = home.serve();
    let matrix = || {
        let all = server.json(&["channels"])["channels"].clone();
        let mut all = all.as_array().unwrap().iter();
        all.find(|channel| channel["name"] == "matrix").unwrap().clone()
    };
    let hears = async || matrix()["bots"][0]["state"] == "hearing";
    assert!(comes_about(hears).await, "{}", matrix());
    assert_eq!(matrix()["bots"][0]["username"], "moothall:example.org");
    let added = server.json(&["channels", "add", "matrix", "analyst"]);
    assert_eq!(added["username"], "moothall_analyst:example.org");
    let code = server.json(&["channels", "pair", "matrix"]);
    assert!(code["code"].as_str().unwrap().starts_with("pair_"), "{code}");
    let unknown = server.command(&["channels", "pair", "nothing"]).output().unwrap();
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("It has: telegram, discord, matrix."), "{said}");
}
