//! Tasks of operators: erase, back up, verify, read the log.

use std::fs::{self, File};
use std::path::Path;

use moothall_engine::crash::DELETION_POINTS;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::{Home, PATIENCE, Server, stderr};

const CANARY: &str = "CanaryWord7731";
const SECRET: &str = "CanarySecret9917";

/// Returns the files of a folder, or the file itself, that contain these bytes in any case.
pub fn holding(dir: &Path, word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let holds = |path: &Path| {
        let bytes = fs::read(path).unwrap().to_ascii_lowercase();
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    };
    if dir.is_file() {
        return holds(dir).then(|| dir.display().to_string()).into_iter().collect();
    }
    let (mut found, mut folders) = (Vec::new(), vec![dir.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && holds(&path) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn erased_words_are_nowhere_in_the_data_folder_and_in_no_later_prompt() {
    let home = Home::new();
    let parrot = home.script(
        "parrot",
        &format!(
            "tee -a {} | tail -c 200 >/dev/null; echo heard",
            home.path().join("prompts").display()
        ),
    );
    home.configure(&format!("[defaults]\ncooldown_seconds = 0\n[agents.parrot]\ncommand = [\"{parrot}\"]\nstdin = \"prompt\"\n"));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "parrot", "parrot").await;
    let before = server.say(&thread, "nothing special").await;
    let said = server.say(&thread, &format!("the word is {CANARY}")).await;
    // The index must have read the message, so that erasure has something to remove there.
    server.say(&thread, "something later").await;
    let indexed = async {
        while server.get(&format!("/search?q={CANARY}")).await["hits"]
            .as_array()
            .unwrap()
            .is_empty()
        {}
    };
    tokio::time::timeout(PATIENCE, indexed).await.expect("the index never read it");
    assert!(!holding(&home.data(), CANARY).is_empty());

    server.ok(&["redact", &thread, &said["seq"].to_string()]);
    assert_eq!(holding(&home.data(), CANARY), Vec::<String>::new());
    assert_eq!(server.get(&format!("/search?q={CANARY}")).await["hits"], json!([]));
    assert!(!server.ok(&["tail", &thread, "--no-follow", "--all"]).contains(CANARY));
    let asked = server.say(&thread, "@parrot what was the word?").await;
    server.reply(&thread, &asked, "parrot").await;
    let prompts = fs::read_to_string(home.path().join("prompts")).unwrap();
    assert!(prompts.contains("nothing special") && !prompts.contains(CANARY), "{prompts}");

    let server = server.crash_and_restart();
    let events = server.events(&thread).await;
    assert!(events.contains(&before));
    let now = events.iter().find(|event| event["id"] == said["id"]).unwrap();
    assert_eq!((&now["content"], &now["meta"]["redacted"]), (&json!(""), &json!(true)));
    assert!(server.stop().success());
    assert_eq!(holding(&home.data(), CANARY), Vec::<String>::new());
    let data = home.data();
    let verified = home.run(&["verify", "--data", data.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", stderr(&verified));
}

/// A crash during erasure leaves nothing that a repetition would not erase.
#[tokio::test]
async fn erasing_that_was_cut_off_is_made_good_by_asking_again() {
    for point in [
        "before_append:1",
        "events_written:1",
        "before_commit:2",
        "after_commit:2",
        "after_append:1",
        "before_ack:1",
    ] {
        let home = Home::new();
        let server = home.serve();
        let thread = server.thread().await;
        let said = server.say(&thread, &format!("the word is {CANARY}")).await;
        let redact = format!("/threads/{thread}/events/{}/redact", said["id"].as_str().unwrap());
        server.kill();
        let server = home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", point)]);
        assert!(server.try_post_as_operator(&redact).await.is_err(), "{point}: it lives");
        server.end();

        let server = home.serve();
        assert_eq!(server.try_post_as_operator(&redact).await.unwrap(), 200, "{point}");
        let indexed =
            async { while server.get(&format!("/search?q={CANARY}")).await["lag_events"] != 0 {} };
        tokio::time::timeout(PATIENCE, indexed).await.expect("the index never caught up");
        assert_eq!(server.get(&format!("/search?q={CANARY}")).await["hits"], json!([]), "{point}");
        assert_eq!(
            holding(&home.data().join("moothall.db"), CANARY),
            Vec::<String>::new(),
            "{point}"
        );
        assert_eq!(
            holding(&home.data().join("moothall.db-wal"), CANARY),
            Vec::<String>::new(),
            "{point}"
        );
        assert!(server.stop().success());
        assert_eq!(holding(&home.data(), CANARY), Vec::<String>::new(), "{point}");
    }
}

/// A deleted conversation stays deleted, also on the disk, if the server dies at any point. The
/// rest is undamaged.
#[tokio::test]
async fn a_conversation_that_is_deleted_stays_deleted_wherever_the_server_dies() {
    for point in DELETION_POINTS {
        let home = Home::new();
        let server = home.serve();
        let (thread, other) = (server.thread().await, server.thread().await);
        server.say(&thread, &format!("the word is {CANARY}")).await;
        server.say(&other, "something else").await;
        server.kill();
        let server =
            home.serve_with("127.0.0.1:0", &[("MOOTHALL_CRASH_AT", &format!("{point}:1"))]);
        assert!(
            !server.command(&["delete", &thread, "--yes"]).status().unwrap().success(),
            "{point}: it lives"
        );
        server.end();

        let server = home.serve();
        if *point == "before_delete_append" {
            server.ok(&["delete", &thread, "--yes"]);
        }
        let gone = server
            .http()
            .get(format!("{}/threads/{thread}/events", server.url))
            .send()
            .await
            .unwrap();
        assert_eq!(gone.status(), 410, "{point}");
        let erased = async { while !holding(&home.data(), CANARY).is_empty() {} };
        tokio::time::timeout(PATIENCE, erased)
            .await
            .unwrap_or_else(|_| panic!("{point}: {:?}", holding(&home.data(), CANARY)));
        assert_eq!(server.events(&other).await.last().unwrap()["content"], "something else");
        assert!(server.stop().success());
        assert_eq!(holding(&home.data(), CANARY), Vec::<String>::new(), "{point}");
        let data = home.data();
        let verified = home.run(&["verify", "--data", data.to_str().unwrap()]);
        assert!(verified.status.success(), "{point}: {}", stderr(&verified));
    }
}

fn served_quietly<'a>(home: &'a Home, log: &str, level: &str) -> Server<'a> {
    let data = home.data();
    let args = [
        "serve",
        "--json",
        "--log",
        "json",
        "--bind",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ];
    let mut command = home.command(&args);
    command
        .env("MOOTHALL_LOG", level)
        .env("OPENAI_API_KEY", SECRET)
        .stderr(File::create(home.path().join(log)).unwrap());
    home.serve_by(command)
}

#[tokio::test]
async fn the_log_has_a_line_for_each_request_and_turn_and_no_words_of_anybody() {
    let home = Home::new();
    let failing = home.script("failing", &format!("echo {CANARY} >&2; exit 3"));
    home.configure(&format!(
        "[agents.failing]\ncommand = [\"{failing}\"]\nenv = {{ TOKEN = \"{SECRET}\" }}\n[agents.model]\nruntime = \"llm\"\n\
         model = \"gpt-test\"\napi_key = \"{SECRET}\"\nbase_url = \"http://127.0.0.1:9/v1/\"\nprovider = \"openai\"\n"
    ));
    let server = served_quietly(&home, "log", "trace");
    let thread = server.thread().await;
    server.invite(&thread, "echo", "analyst").await;
    server.invite(&thread, "failing", "failing").await;
    let said = server.say(&thread, &format!("@echo {CANARY} and @failing")).await;
    server.reply(&thread, &said, "echo").await;
    server.wait_for(&thread, 0, |event| event["meta"]["error"].is_object()).await;
    let secrets =
        server.http().get(format!("{}/threads/{thread}/events?since={SECRET}", server.url));
    let refused = secrets
        .header("authorization", format!("Bearer {SECRET}"))
        .header("cookie", SECRET)
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 401);
    let secret = server
        .http()
        .get(format!("{}/threads/{thread}/events?since={SECRET}", server.url))
        .header("cookie", SECRET)
        .send();
    assert_eq!(secret.await.unwrap().status(), 422);
    server
        .post(
            &format!("/threads/{thread}/events"),
            json!({"from": "user", "content": CANARY, "surprise": CANARY}),
        )
        .await;
    server.get(&format!("/search?q={CANARY}")).await;
    server.ok(&["list"]);
    assert!(server.stop().success());

    let log = fs::read_to_string(home.path().join("log")).unwrap();
    for secret in [CANARY, SECRET, &CANARY.to_lowercase()] {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let one = |target: &str, wanted: &dyn Fn(&Value) -> bool| {
        assert!(
            lines.iter().any(|line| line["target"] == target && wanted(line)),
            "{target} in\n{log}"
        );
    };
    one("moothall::request", &|line| {
        line["method"] == "POST"
            && line["route"] == "/threads/{id}/events"
            && line["status"] == 200
            && line["ms"].is_number()
            && line["peer"] == "127.0.0.1"
    });
    one("moothall::request", &|line| line["route"] == "/threads" && line["caller"] == "user");
    one("moothall::request", &|line| {
        line["route"] == "/threads/{id}/events" && line["status"] == 422
    });
    one("moothall::turn", &|line| {
        line["runtime"] == "script"
            && line["outcome"] == "spoke"
            && line["thread"] == thread.as_str()
    });
    one("moothall::turn", &|line| {
        line["runtime"] == "command"
            && line["outcome"] == "failed"
            && line["fault"] == "exit_status"
    });
}

#[tokio::test]
async fn a_backup_of_a_running_server_can_be_served() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let said = server.say(&thread, "before the backup").await;
    let data = home.data();
    let data = data.to_str().unwrap();
    let made = home.run(&["backup", "copies", "--data", data, "--json"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(
        (&made["threads"], &made["events"], &made["damage"]),
        (&json!(1), &json!(2), &json!([]))
    );
    let again = home.run(&["backup", "copies", "--data", data]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("already exists"), "{}", stderr(&again));

    let running = home.run(&["verify", "--data", data]);
    assert_eq!(running.status.code(), Some(75));
    assert!(stderr(&running).contains("a server is running"), "{}", stderr(&running));
    server.say(&thread, "after the backup").await;
    server.kill();

    fs::remove_dir_all(home.data()).unwrap();
    fs::rename(home.path().join("copies"), home.data()).unwrap();
    let server = home.serve();
    let events = server.events(&thread).await;
    assert_eq!((events.len(), &events[1]), (2, &said));
    server.say(&thread, "and on").await;
}

#[tokio::test]
async fn damage_is_found_and_the_way_forward_said() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    server.say(&thread, "a word that will be changed on the disk").await;
    assert!(server.stop().success());
    let data = home.data();
    let file = data.join("moothall.db");
    let mut bytes = fs::read(&file).unwrap();
    let at = bytes.windows(6).position(|window| window == b"a word").unwrap();
    bytes[at] = b'A';
    fs::write(&file, bytes).unwrap();
    let found = home.run(&["verify", "--data", data.to_str().unwrap()]);
    assert_eq!(found.status.code(), Some(1));
    let output = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(output.contains(&thread) && output.contains("damaged at 2"), "{output}");
    assert!(stderr(&found).contains("backup"), "{}", stderr(&found));
    let nothing = home.run(&["verify", "--data", "mistyped"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(!home.path().join("mistyped").exists());
}

/// The store's own tests cover each table; this is an operator's view.
#[tokio::test]
async fn a_token_that_was_edited_and_a_record_that_was_cut_are_told_with_table_and_row() {
    let home = Home::new();
    let server = home.serve();
    let made = server.json(&["token", "create", "ann"]);
    let data = home.data();
    let run = |words: &[&str]| home.run(&[words, &["--data", data.to_str().unwrap()]].concat());
    let head = run(&["audit", "head"]);
    let anchor = String::from_utf8(head.stdout).unwrap().trim().to_owned();
    assert!(anchor.starts_with("1:"), "{anchor}: {}", String::from_utf8_lossy(&head.stderr));
    assert!(run(&["audit", "verify", "--anchor", &anchor]).status.success());
    assert!(server.stop().success());

    let whole = run(&["verify"]);
    let said = String::from_utf8(whole.stdout).unwrap();
    assert!(said.contains("tokens 1") && said.contains("without checksums: "), "{said}");
    let edit = "UPDATE tokens SET scopes = 'server:admin'";
    let conn = Connection::open(data.join("moothall.db")).unwrap();
    assert!(conn.execute(edit, []).is_err(), "another program lacks the functions of the triggers");
    conn.execute_batch(
        "DROP TRIGGER sums_tokens_seals_changed; DROP TRIGGER sums_tokens_counts_changed;
         DROP TRIGGER audit_is_not_shortened; DELETE FROM audit;",
    )
    .unwrap();
    assert_eq!(conn.execute(edit, []).unwrap(), 1);
    drop(conn);
    let damaged = run(&["verify", "--json"]);
    assert_eq!(damaged.status.code(), Some(1));
    let said = String::from_utf8(damaged.stdout).unwrap();
    let id = made["id"].as_str().unwrap();
    assert!(said.contains("table tokens, row key 1, id ") && said.contains(id), "{said}");
    assert!(said.contains("table audit, row 1: missing"), "{said}");
    for also in [vec!["audit", "verify"], vec!["audit", "verify", "--anchor", &anchor]] {
        let refused = run(&also);
        assert_eq!(refused.status.code(), Some(1), "{also:?}");
        assert!(stderr(&refused).contains("damaged"), "{}", stderr(&refused));
    }
}
