//! A computer whose log was restored from a backup: it is off until a person resumes it.

use std::fs;

use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};

use super::{computer, computers, paired, until_state};
use crate::harness::{Server, stderr};
use crate::links::{Hall, said, start, until};

/// Makes a backup of a server's data while it runs.
fn back_up(server: &Server<'_>, hall: &Hall) {
    let (copy, data) = (hall.home.path().join("copy"), hall.home.data());
    server.ok(&["backup", copy.to_str().unwrap(), "--data", data.to_str().unwrap()]);
}

/// Puts the backup in the place of the data, with the pairs, and starts the server on it.
fn restore(hall: &Hall) -> Server<'_> {
    let (copy, data, before) =
        (hall.home.path().join("copy"), hall.home.data(), hall.home.path().join("before"));
    fs::rename(&data, &before).unwrap();
    fs::rename(&copy, &data).unwrap();
    // A backup has no keys.
    assert!(!data.join("computers.json").exists());
    fs::copy(before.join("computers.json"), data.join("computers.json")).unwrap();
    hall.serve()
}

/// Returns the report of the doctor about a server.
fn doctor(server: &Server<'_>) -> String {
    let args = ["doctor", "--json", "--bind", "127.0.0.1:0", "--data", "none", "--server"];
    let output = server.command(&[&args[..], &[&server.url]].concat()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A workstation whose sessions may be invited from the laptop.
fn hosting() -> Hall {
    let rights = r#"["list", "message", "link", "read", "invite"]"#;
    Hall::with(&format!("[computers.laptop]\nallow = {rights}\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_computer_is_off_until_it_is_resumed_and_then_asks_for_its_turns() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let listed = computer(&laptop, "workstation");
    assert_eq!((&listed["sessions"], &listed["owed_to"]), (&json!(1), &json!(0)), "{listed}");
    let told = doctor(&laptop);
    for words in ["a round trip takes", "`noeviction`", "keeps nothing over a restart"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let thread = laptop.thread().await;
    let invite = json!({"invite": {"profile": {"session": "builder@workstation"}}});
    laptop.control(&thread, invite).await;
    workstation.stop();
    until_state(&laptop, "workstation", "away").await;
    laptop.say(&thread, "@builder@workstation [say:one]").await;
    laptop.json(&["send", "builder@workstation", "sent before the restore"]);
    let owed = async || computer(&laptop, "workstation")["owed_to"].as_u64().unwrap();
    until("both are owed", async || owed().await >= 2).await;
    assert_eq!(computer(&laptop, "workstation")["sessions"], Value::Null, "it is not asked");
    back_up(&laptop, &other);
    laptop.stop();

    let workstation = one.serve();
    let laptop = restore(&other);
    // A second start stays off.
    let laptop = laptop.crash_and_restart();
    for name in ["laptop", "workstation"] {
        let status = computer(&laptop, name);
        assert_eq!(status["state"], "off", "{status}");
        assert!(status["cure"].as_str().unwrap().contains("moothall computers resume"));
    }
    assert_eq!(computer(&workstation, "laptop")["state"], "away");
    let body = json!({"message": "hello"});
    let (status, off) = laptop.post("/sessions/builder@workstation/messages", body).await;
    assert_eq!((status, &off["error"]["code"]), (503, &json!("computers_off")), "{off}");
    let turns = laptop.get(&format!("/threads/{thread}/turns")).await;
    assert!(turns.to_string().contains("until the computers are resumed"), "{turns}");
    let told = doctor(&laptop);
    assert!(told.contains("laptop (this one) is off"), "{told}");

    let resumed = computers(&laptop, &["resume"], "");
    assert!(stderr(&resumed).contains("on again"), "{}", stderr(&resumed));
    until_state(&laptop, "workstation", "up").await;
    let answers = async || {
        let said = said(&laptop, &thread).await;
        said.into_iter().filter(|(from, _)| from == "builder.workstation").count()
    };
    until("it answers", async || answers().await == 1).await;
    let prompts = one.taken();
    assert_eq!(prompts.iter().filter(|prompt| prompt.contains("[say:one]")).count(), 1);
    assert!(prompts.iter().all(|prompt| !prompt.contains("sent before")), "{prompts:?}");
    let resumed = laptop.json(&["computers", "resume"]);
    assert_eq!(resumed, json!({"resumed": false}));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_a_restored_computer_has_lost_ends_where_it_was_asked() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (hosting(), Hall::new());
    let (workstation, laptop) = paired(&one, &other, &redis).await;
    start(&workstation, &one, "builder").await;
    let thread = laptop.thread().await;
    let invite = json!({"invite": {"profile": {"session": "builder@workstation"}}});
    laptop.control(&thread, invite).await;
    laptop.say(&thread, "@builder@workstation [say:first]").await;
    let answered = async || said(&laptop, &thread).await.iter().any(|(_, words)| words == "first");
    until("it answers", answered).await;
    back_up(&workstation, &one);
    laptop.say(&thread, "@builder@workstation [work:hold] [say:second]").await;
    until("it works", async || one.taken().iter().any(|prompt| prompt.contains("[say:second]")))
        .await;
    let begun = async || {
        let events = laptop.events(&thread).await;
        events.iter().filter(|event| event["content"]["event"] == "started").count() == 2
    };
    until("the turn has begun", begun).await;
    workstation.stop();

    let workstation = restore(&one);
    assert_eq!(computer(&workstation, "laptop")["state"], "off");
    computers(&workstation, &["resume"], "");
    let failed = async || laptop.evidence(&thread).await.contains("interrupted");
    until("the turn ends", failed).await;
}
