//! Limits of concurrent work: further work waits, and says so.

use serde_json::Value;

use crate::harness::{Home, comes_about};

#[tokio::test]
async fn a_program_that_finds_no_place_waits_says_so_and_runs_when_there_is_one() {
    let home = Home::new();
    let (going, go) = (home.path().join("going"), home.path().join("go"));
    let script = format!(
        "echo x >> {}\nwhile [ ! -e {} ]; do sleep 0.05; done\necho done",
        going.display(),
        go.display()
    );
    let program = home.script("agent", &script);
    home.configure(&format!(
        "[limits]\nprograms = 1\n\n[agents.slow]\ncommand = [\"{program}\"]\ntimeout = 30\n"
    ));
    let server = home.serve();
    let (one, two) = (server.thread().await, server.thread().await);
    for thread in [&one, &two] {
        server.invite(thread, "slow", "slow").await;
    }
    server.say(&one, "@slow one").await;
    assert!(comes_about(async || going.exists()).await);
    server.say(&two, "@slow two").await;
    let detail = async |thread: &str| {
        let turns = server.get(&format!("/threads/{thread}/turns")).await;
        turns["turns"][0]["detail"].as_str().unwrap_or_default().to_owned()
    };
    assert!(
        comes_about(async || detail(&two).await == "waits for a free slot: 1 program is running")
            .await
    );
    assert_eq!(detail(&one).await, "");
    let listed = async || {
        let list = server.ok(&["list"]);
        list.contains("slow thinking") && list.contains("slow next")
    };
    assert!(comes_about(listed).await, "{}", server.ok(&["list"]));
    let state = server.get(&format!("/threads/{two}/turns")).await;
    assert_eq!(state["turns"][0]["started_at"], Value::Null, "its time does not run");
    assert_eq!(std::fs::read_to_string(&going).unwrap().lines().count(), 1);
    std::fs::write(&go, "").unwrap();
    for thread in [&one, &two] {
        let spoke = async || {
            server.get(&format!("/threads/{thread}/turns")).await["turns"][0]["outcome"] == "spoke"
        };
        assert!(comes_about(spoke).await);
    }
    assert!(server.stop().success());
}

#[tokio::test]
async fn a_program_that_runs_out_of_time_shows_the_end_of_what_it_printed() {
    let home = Home::new();
    let slow = home.script(
        "slow",
        r"echo thought; printf 'first\n\033[31mwaiting for the network\n' >&2; sleep 1000",
    );
    home.configure(&format!("[agents.slow]\ncommand = [\"{slow}\"]\ntimeout = 3\n"));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "slow", "slow").await;
    let asked = server.say(&thread, "@slow well?").await;
    let seq = asked["seq"].as_u64().unwrap();
    let failed = server.wait_for(&thread, seq, |event| !event["meta"]["error"].is_null()).await;
    let message = failed["meta"]["error"]["message"].as_str().unwrap();
    assert_eq!(message, "no answer for 3 s; it printed last:\nfirst\nwaiting for the network");
    assert!(server.ok(&["why", &thread]).contains("waiting for the network"));
}
