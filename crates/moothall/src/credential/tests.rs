//! Credentials go to their own server only, and other users cannot read them.
#![allow(clippy::unwrap_used)]

use super::*;
use std::os::unix::fs::PermissionsExt;

fn home(folder: &Path) -> Variables {
    Variables::from([("XDG_STATE_HOME".to_owned(), folder.join("state").display().to_string())])
}

fn post(data: &Path, address: SocketAddr, key: &str, variables: &Variables) -> StartupKey {
    let mut posted = StartupKey::new(data, address, &[], key).unwrap();
    posted.note(data, address.port(), variables);
    posted
}

#[test]
fn the_start_up_credential_is_found_by_its_port_and_is_the_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (variables, address) = (home(folder.path()), "127.0.0.1:4711".parse().unwrap());
    let posted = post(folder.path(), address, "boot_1", &variables);
    let mode = fs::metadata(folder.path().join(KEY_FILE)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    for server in ["http://127.0.0.1:4711", "http://localhost:4711/", "http://[::1]:4711"] {
        assert_eq!(
            Credential::find(server, &variables).read().as_deref(),
            Some("boot_1"),
            "{server}"
        );
    }
    for server in
        ["http://127.0.0.1:4712", "http://moothall.test:4711", "http://10.0.0.1:4711", "nonsense"]
    {
        assert_eq!(Credential::find(server, &variables).read(), None, "{server}");
    }
    let found = Credential::find("http://127.0.0.1:4711", &variables);
    let again = post(folder.path(), address, "boot_2", &variables);
    assert_eq!(found.read().as_deref(), Some("boot_2"));
    drop((posted, again));
    assert_eq!(found.read(), None);
}

#[test]
fn a_key_is_shown_to_its_own_server_alone() {
    let folder = tempfile::tempdir().unwrap();
    let variables = home(folder.path());
    let _old = post(folder.path(), "127.0.0.1:4711".parse().unwrap(), "boot_1", &variables);
    let _new = post(folder.path(), "127.0.0.1:4712".parse().unwrap(), "boot_2", &variables);
    let shown = |server: &str| Credential::find(server, &variables).read();
    assert_eq!(
        (shown("http://127.0.0.1:4711"), shown("http://127.0.0.1:4712").as_deref()),
        (None, Some("boot_2"))
    );
}

#[test]
fn a_server_on_any_port_is_found_by_the_usual_data_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut variables = home(folder.path());
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        variables.insert(name.into(), folder.path().display().to_string());
    }
    let found = || ResolvedServer::find(&CredentialOptions::default(), &variables).unwrap();
    assert_eq!(found().server, USUAL_SERVER);
    let data = folder.path().join("moothall");
    fs::create_dir(&data).unwrap();
    let posted = post(&data, "127.0.0.1:4711".parse().unwrap(), "boot_1", &variables);
    assert_eq!(found().server, "http://127.0.0.1:4711");
    assert_eq!(found().credential.read().as_deref(), Some("boot_1"));
    drop(posted);
    assert_eq!(found().server, USUAL_SERVER, "it is gone");
}

#[test]
fn a_sessions_token_goes_to_its_own_server_only() {
    let folder = tempfile::tempdir().unwrap();
    let _posted =
        post(folder.path(), "127.0.0.1:7000".parse().unwrap(), "boot_1", &home(folder.path()));
    let ask = |server: &str, own: &str, token: &str| {
        let mut variables = home(folder.path());
        variables.extend([
            (HOME_VARIABLE.to_owned(), own.to_owned()),
            (SESSION_VARIABLE.to_owned(), token.to_owned()),
        ]);
        let meant = ResolvedServer::find(
            &CredentialOptions { server: Some(server), ..CredentialOptions::default() },
            &variables,
        )
        .unwrap();
        (meant.server.trim_end_matches('/').to_owned(), meant.credential.read())
    };
    let (usual, own, token) = (USUAL_SERVER, "http://127.0.0.1:6000/", Some("ses_x".to_owned()));
    assert_eq!(ask(usual, own, "ses_x"), ("http://127.0.0.1:6000".into(), token));
    assert_eq!(
        ask("http://127.0.0.1:7000", own, "ses_x"),
        ("http://127.0.0.1:7000".into(), None),
        "nor a person's credential"
    );
    assert_eq!(ask("http://127.0.0.1:7000", own, "").1.as_deref(), Some("boot_1"));
    // A client's configuration keeps the text of a variable that is not set.
    assert_eq!(ask(usual, "$MOOTHALL_URL", "$MOOTHALL_SESSION_TOKEN"), (usual.into(), None));
    assert_eq!(ask(usual, own, ""), ("http://127.0.0.1:6000".into(), None));
}

#[test]
fn inside_a_session_nobody_asks_for_what_is_a_persons() {
    let folder = tempfile::tempdir().unwrap();
    let mut variables = home(folder.path());
    let posted =
        StartupKey::new(folder.path(), "127.0.0.1:4711".parse().unwrap(), &[], "boot_1").unwrap();
    let token = "pat_joined".to_owned();
    let joined = Profile {
        server: "https://hall.test".into(),
        token,
        principal: "ann".into(),
        cacert: None,
    };
    joined.write("hall", &variables).unwrap();
    variables.insert(SESSION_VARIABLE.into(), "ses_x".into());
    let (bare, file) = (folder.path().join("bare"), key_file(folder.path()));
    fs::write(&bare, "boot_1\n").unwrap();
    for said in [
        CredentialOptions { data: Some(folder.path()), ..CredentialOptions::default() },
        CredentialOptions { token_file: Some(&file), ..CredentialOptions::default() },
        CredentialOptions { token_file: Some(&bare), ..CredentialOptions::default() },
        CredentialOptions { profile: Some("hall"), ..CredentialOptions::default() },
    ] {
        assert_eq!(
            ResolvedServer::find(&said, &variables).unwrap_err().exit,
            Exit::Denied,
            "{said:?}"
        );
    }
    let by_address = ResolvedServer::find(
        &CredentialOptions { server: Some("https://hall.test"), ..CredentialOptions::default() },
        &variables,
    )
    .unwrap();
    assert!(matches!(by_address.credential, Credential::Withheld));
    drop(posted);
}

#[test]
fn what_a_person_holds_is_not_given_on() {
    let startup = Credential::Startup { file: PathBuf::from("startup.key"), port: 1 };
    assert!(matches!(startup.without_person_keys(), Credential::None));
    assert!(matches!(
        Credential::Given("agt_x".into()).without_person_keys(),
        Credential::Given(_)
    ));
    assert!(
        matches!(Credential::Given("boot_x".into()).without_person_keys(), Credential::None),
        "wherever it comes from"
    );
    assert!(matches!(Credential::Joined("pat_x".into()).without_person_keys(), Credential::None));
    assert!(matches!(
        Credential::Joined("agt_x".into()).without_person_keys(),
        Credential::Joined(_)
    ));
}

#[test]
fn a_token_that_is_given_wins() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "pat_file\n").unwrap();
    let mut variables = home(folder.path());
    variables.insert(TOKEN_VARIABLE.into(), " pat_variable ".into());
    let find = |file: Option<&Path>| {
        let said = CredentialOptions {
            server: Some("http://127.0.0.1:1"),
            token_file: file,
            ..CredentialOptions::default()
        };
        ResolvedServer::find(&said, &variables).map(|meant| meant.credential.read())
    };
    assert_eq!(find(Some(&file)).unwrap().as_deref(), Some("pat_file"));
    assert_eq!(find(None).unwrap().as_deref(), Some("pat_variable"));
    assert_eq!(find(Some(&folder.path().join("none"))).unwrap_err().exit, Exit::Usage);
}

#[test]
fn the_credential_of_a_data_folder_says_where_its_server_is() {
    let folder = tempfile::tempdir().unwrap();
    let posted = StartupKey::new(
        folder.path(),
        "0.0.0.0:4711".parse().unwrap(),
        &["https://hall.test".into()],
        "boot_1",
    )
    .unwrap();
    let elsewhere = home(&folder.path().join("elsewhere"));
    let file = key_file(folder.path());
    for said in [
        CredentialOptions { data: Some(folder.path()), ..CredentialOptions::default() },
        CredentialOptions { token_file: Some(&file), ..CredentialOptions::default() },
    ] {
        let meant = ResolvedServer::find(&said, &elsewhere).unwrap();
        assert_eq!(
            (meant.server.as_str(), meant.credential.read().as_deref()),
            ("http://127.0.0.1:4711", Some("boot_1"))
        );
        assert_eq!(meant.others, ["https://hall.test"]);
    }
    drop(posted);
    let gone = ResolvedServer::find(
        &CredentialOptions { data: Some(folder.path()), ..CredentialOptions::default() },
        &elsewhere,
    )
    .unwrap_err();
    assert!(gone.exit == Exit::Denied && gone.forward.unwrap().contains("start the server"));
}

#[test]
fn who_joined_is_known_at_that_server_and_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let variables = home(folder.path());
    let token = "pat_joined".to_owned();
    let cacert = Some(PathBuf::from("/ca.pem"));
    Profile { server: "https://hall.test".into(), token, principal: "ann".into(), cacert }
        .write("hall", &variables)
        .unwrap();
    for said in [
        CredentialOptions { server: Some("https://hall.test/"), ..CredentialOptions::default() },
        CredentialOptions { profile: Some("hall"), ..CredentialOptions::default() },
    ] {
        let meant = ResolvedServer::find(&said, &variables).unwrap();
        assert_eq!(meant.server.trim_end_matches('/'), "https://hall.test");
        assert_eq!(meant.credential.read().as_deref(), Some("pat_joined"));
        assert_eq!(meant.cacert.as_deref(), Some(Path::new("/ca.pem")));
    }
    let other = ResolvedServer::find(
        &CredentialOptions {
            server: Some("https://other.test"),
            profile: Some("hall"),
            ..CredentialOptions::default()
        },
        &variables,
    )
    .unwrap();
    assert_eq!(other.credential.read(), None, "a token goes to the server that gave it");
    assert_eq!(
        ResolvedServer::find(
            &CredentialOptions { server: Some(""), ..CredentialOptions::default() },
            &variables
        )
        .unwrap()
        .server,
        USUAL_SERVER
    );
}
