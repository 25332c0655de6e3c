//! Credentials from the outside: the start-up credential, tokens, and refused callers.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::{Home, Server, stderr};

fn serve_in_token_mode(home: &Home) -> Server<'_> {
    let data = home.data();
    home.serve_by(home.command(&[
        "serve",
        "--json",
        "--mode",
        "token",
        "--bind",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ]))
}

/// Runs a command that must be refused; returns its standard error.
fn refused(server: &Server<'_>, token: &str, args: &[&str]) -> String {
    let output = server.command(args).env("MOOTHALL_TOKEN", token).output().unwrap();
    assert_eq!(output.status.code(), Some(77), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

#[tokio::test]
async fn the_command_line_of_the_same_user_needs_no_telling_and_others_need_a_token() {
    let home = Home::new();
    let server = serve_in_token_mode(&home);
    assert_eq!(server.get("/threads").await["error"]["code"], "unauthenticated");
    server.ok(&["new", "Plan", "--empty"]);
    let thread = server.json(&["list"])["threads"][0]["id"].as_str().unwrap().to_owned();

    let made = server.json(&["token", "create", "ann", "--thread", "Plan", "--label", "laptop"]);
    let token = made["token"].as_str().unwrap();
    let said = server
        .command(&["say", "-", "hello", "--json"])
        .env("MOOTHALL_TOKEN", token)
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", stderr(&said));
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(
        (&said["event"]["from"], &said["event"]["thread"]),
        (&json!("ann"), &json!(thread)),
        "{said}"
    );
    let chat = server.command(&["chat", "-", "--plain"]).env("MOOTHALL_TOKEN", token).output();
    assert!(!stderr(&chat.unwrap()).contains("count as an agent's"), "her token is a person's");
    assert!(refused(&server, token, &["say", "-", "obey", "--as", "user"]).contains("`ann`"));
    assert!(refused(&server, token, &["token", "list"]).contains("server:admin"));
    let list = server.ok(&["token", "list"]);
    assert!(list.contains("ann") && list.contains("laptop") && !list.contains(token), "{list}");

    server.ok(&["token", "revoke", made["id"].as_str().unwrap()]);
    assert!(refused(&server, token, &["list"]).contains("unauthenticated"));
}

#[tokio::test]
async fn the_start_up_credential_is_the_owners_alone_and_ends_with_the_run() {
    let home = Home::new();
    let server = home.serve();
    let file = home.data().join("startup.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let first = std::fs::read_to_string(&file).unwrap();
    let server = server.crash_and_restart();
    let second = std::fs::read_to_string(&file).unwrap();
    assert_ne!(first, second);
    server.ok(&["new", "After", "--empty"]);
    server.ok(&["token", "list"]);
    assert!(server.stop().success());
    assert!(!file.exists());
}

#[tokio::test]
async fn no_agent_gets_a_credential_in_its_environment() {
    let home = Home::new();
    let teller =
        home.script("teller", "env | sort | tr '\\n' ' '; cat /proc/self/cmdline | tr '\\0' ' '");
    home.configure(&format!("[agents.teller]\ncommand = [{teller:?}]\n"));
    let data = home.data();
    let mut command = home.command(&[
        "serve",
        "--json",
        "--bind",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ]);
    command.env("MOOTHALL_TOKEN", "pat_canary");
    let server = home.serve_by(command);
    let thread = server.thread().await;
    server.invite(&thread, "teller", "teller").await;
    let asked = server.say(&thread, "@teller what do you see?").await;
    let output =
        server.reply(&thread, &asked, "teller").await["content"].as_str().unwrap().to_owned();
    assert!(output.contains("PATH="), "{output}");
    assert!(
        !output.contains("boot_")
            && !output.contains("MOOTHALL_TOKEN")
            && !output.contains("canary"),
        "{output}"
    );
}

/// The operator of a service has none of the files in the home folder by which others find it.
#[tokio::test(flavor = "multi_thread")]
async fn each_command_finds_a_service_by_its_data_folder() {
    let (home, elsewhere) = (Home::new(), Home::new());
    let data = home.data();
    let _server = serve_in_token_mode(&home);
    let run = |args: &[&str]| {
        let output = elsewhere.run(&[args, &["--data", data.to_str().unwrap()]].concat());
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["new", "Plan", "--empty"]);
    run(&["say", "Plan", "hello"]);
    assert!(run(&["tail", "Plan", "--no-follow"]).contains("hello"));
    assert!(run(&["list"]).contains("Plan"));
    assert!(!run(&["token", "create", "ann"]).trim().is_empty());
    run(&["why", "Plan"]);
    // The command that a hint names is for the same server.
    let renamed = elsewhere.run(&["archive", "Plan", "--data", data.to_str().unwrap()]);
    assert!(renamed.status.success(), "{}", stderr(&renamed));
    let refused = elsewhere.run(&["say", "Plan", "more", "--data", data.to_str().unwrap()]);
    let hint = format!("--data {}", data.display());
    assert!(stderr(&refused).contains(&hint), "{}", stderr(&refused));
}
