//! A person and the demo agents, from the command line.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Home, RunningProcess, stderr};

#[test]
fn the_demo_agents_answer() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.ok(&["new", "First talk"]);
    let answers = server.ok(&["say", "-", "@analyst where do we begin?", "--wait"]);
    assert!(answers.lines().next().unwrap().contains("  analyst  "), "{answers}");

    let why = server.ok(&["why", "-"]);
    let says = |words: &[&str]| {
        why.lines().any(|line| line.split_whitespace().take(words.len()).eq(words.iter().copied()))
    };
    assert!(says(&["analyst", "forced", "spoke"]), "{why}");
    assert!(says(&["writer", "polled"]) && says(&["critic", "polled"]), "{why}");

    let tail = server.ok(&["tail", thread.trim(), "--no-follow"]);
    assert!(tail.contains("user") && tail.contains("@analyst where do we begin?"), "{tail}");
    assert!(!tail.contains("[PASS]"), "{tail}");
    assert!(server.ok(&["list"]).contains("First talk"));
}

#[test]
fn a_name_stands_for_an_id() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Talk", "--empty"]);
    for id in ["p1", "p2"] {
        server.ok(&["invite", "-", id, "--client", "critic", "--nickname", &format!("Zoë {id}")]);
    }
    let said = server.json(&["say", "-", "well?", "--to", "zoe\u{308} P1"]);
    assert_eq!(said["event"]["to"], "p1");
    let refused = server.command(&["say", "-", "well?", "--to", "Zoë"]).output().unwrap();
    assert!(stderr(&refused).contains("p1, p2"), "{}", stderr(&refused));
    let refused = server.command(&["uninvite", "-", "Nora Lee"]).output().unwrap();
    assert!(stderr(&refused).contains("participants: p1, p2"), "{}", stderr(&refused));
    server.ok(&["uninvite", "-", "Zoë p2"]);
    let said = server.json(&["say", "-", "well?", "--to", "Zoë"]);
    assert_eq!(said["event"]["to"], "p1", "one is left");
}

#[test]
fn every_command_speaks_json() {
    let home = Home::new();
    let server = home.serve();
    let created = server.json(&["new", "Talk", "--with", "critic"]);
    let id = created["thread"]["id"].as_str().unwrap();
    assert_eq!(created["invited"], serde_json::json!(["critic"]));
    assert_eq!(server.json(&["list"])["threads"][0]["id"], id);
    assert_eq!(server.json(&["agents"])["agents"].as_array().unwrap().len(), 3);
    assert_eq!(
        server.json(&["say", &id[..13], "Hello", "there"])["event"]["content"],
        "Hello there"
    );
    assert!(
        server.json(&["invite", "Talk", "second", "--client", "writer"])["received"]
            .as_bool()
            .unwrap()
    );
    assert_eq!(server.json(&["uninvite", "-", "second"])["event"]["type"], "control");
    assert_eq!(server.json(&["stop", "-"])["stopped"], true);
    assert_eq!(server.json(&["why", "-"])["messages"][0]["message"]["content"], "Hello there");
    for line in server.ok(&["tail", "-", "--all", "--no-follow", "--json"]).lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["thread"], id);
    }
    let bind = server.address().to_string();
    let data = home.data();
    let doctor = server.json(&["doctor", "--bind", &bind, "--data", data.to_str().unwrap()]);
    assert_eq!(doctor["ok"], true, "{doctor}");
}

#[test]
fn words_come_from_standard_input() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Notes", "--empty"]);
    let mut child = server
        .command(&["say", "Notes", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("one\ntwo ü\n".as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let tail = server.ok(&["tail", "-", "--no-follow", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(tail.trim()).unwrap()["content"], "one\ntwo ü\n");
}

#[test]
fn what_agents_write_cannot_reach_the_terminal() {
    let home = Home::new();
    let evil =
        home.script("evil", "cat >/dev/null; printf 'safe \\033]52;c;aGk=\\007\\033[2Jtext'");
    home.configure(&format!("[agents.evil]\ncommand = [\"{evil}\"]\n"));
    let server = home.serve();
    server.ok(&["new", "Talk", "--with", "evil"]);
    let answers = server.ok(&["say", "-", "@evil go", "--wait"]);
    assert!(answers.contains("safe"), "{answers:?}");
    assert!(!answers.contains(['\u{1b}', '\u{7}']), "{answers:?}");
}

#[test]
fn what_does_not_exist_is_said_with_a_way_forward() {
    let home = Home::new();
    let server = home.serve();
    let refused = |args: &[&str]| {
        let output = server.command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty());
        stderr(&output)
    };
    assert!(refused(&["tail", "-"]).contains("moothall new"));
    assert!(refused(&["tail", "nowhere"]).contains("moothall list"));
    assert!(refused(&["new", "X", "--with", "critik"]).contains("did you mean critic?"));
    assert!(refused(&["tail", "00000000-0000-7000-8000-000000000000"]).contains("404"));
    assert_eq!(home.run(&["sai"]).status.code(), Some(2));
}

#[test]
fn tail_goes_on_after_a_crash_without_loss() {
    let home = Home::new();
    let mut server = home.serve();
    server.ok(&["new", "Talk", "--empty"]);
    server.ok(&["say", "-", "message 0"]);
    let child = server
        .command(&["tail", "Talk", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let tail = RunningProcess::of(child);
    let mut heard = vec![tail.line()];
    for round in 1..4 {
        server = server.crash_and_restart();
        server.ok(&["say", "Talk", &format!("message {round}")]);
        heard.push(tail.line());
    }
    for (round, line) in heard.iter().enumerate() {
        assert_eq!(
            serde_json::from_str::<Value>(line).unwrap()["content"],
            format!("message {round}")
        );
    }
}

#[test]
fn the_agents_of_the_guide_can_be_brought_in() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/agents.md"))
            .unwrap();
    let blocks = guide.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let home = Home::new();
    home.configure(&blocks.collect::<String>());
    let server = home.serve_with("127.0.0.1:0", &[("ANTHROPIC_API_KEY", "none")]);
    server.ok(&[
        "new",
        "Test",
        "--policy",
        "mention_only",
        "--with",
        "counter",
        "--with",
        "parrot",
    ]);
    assert!(server.ok(&["say", "-", "@counter how many?", "--wait"]).contains("I have read "));
    // The second turn of the conversation gets the second line, a pass, and the third turn the
    // third line.
    let passed = server.command(&["say", "-", "@parrot hello", "--wait"]).output().unwrap();
    assert_eq!(passed.status.code(), Some(4), "{}", stderr(&passed));
    assert!(
        stderr(&passed).contains("all agents that were asked passed")
            && !String::from_utf8_lossy(&passed.stdout).contains("parrot  ")
    );
    assert!(server.ok(&["say", "-", "@parrot hello", "--wait"]).contains("Let me think."));
}

#[test]
fn waiting_says_what_came_of_a_message_and_exits_with_a_code_for_it() {
    let home = Home::new();
    let bad = home.script("bad", "echo broken >&2; exit 3");
    let slow = home.script("slow", "sleep 60");
    home.configure(&format!(
        "[agents.bad]\ncommand = [{bad:?}]\n[agents.slow]\ncommand = [{slow:?}]\ntimeout = 0.2\n[agents.good]\ncommand = [\"echo\", \"yes\"]\n"
    ));
    let server = home.serve();
    server.ok(&[
        "new",
        "Ask",
        "--policy",
        "mention_only",
        "--with",
        "bad",
        "--with",
        "slow",
        "--with",
        "good",
    ]);
    let rows = [
        ("@good well?", 0, ""),
        ("@good and @godo?", 0, "warning: One name reaches no participant: nobody here is called"),
        ("hello all", 3, "no_agent_named: nobody was named. Name an agent"),
        ("@godo well?", 3, "nobody here is called @godo; the nearest name is @good"),
        ("@slwo well?", 3, "unknown_name: nobody here is called @slwo; the nearest name is slow"),
        ("not `@good`", 3, "name_in_code: good is named only in code or a quote"),
        ("@bad go", 5, "bad did not answer"),
        ("@slow go", 5, "slow: timed out"),
    ];
    for (words, code, expected) in rows {
        let done = server.command(&["say", "Ask", words, "--wait"]).output().unwrap();
        assert_eq!(done.status.code(), Some(code), "{words}: {}", stderr(&done));
        assert!(stderr(&done).contains(expected), "{words}: {}", stderr(&done));
    }
}

#[test]
fn why_names_the_turn_that_answers_a_message_that_came_while_it_waited() {
    let home = Home::new();
    let gate = home.path().join("gate");
    let slow = home.script(
        "slow",
        &format!("while [ ! -e {} ]; do sleep 0.05; done; echo done", gate.display()),
    );
    home.configure(&format!(
        "[agents.slow]\ncommand = [{slow:?}]\n[agents.good]\ncommand = [\"echo\", \"yes\"]\n"
    ));
    let server = home.serve();
    server.ok(&["new", "Ask", "--policy", "mention_only", "--with", "slow", "--with", "good"]);
    let said = ["@slow one", "@slow two", "@slow three"]
        .map(|words| server.json(&["say", "Ask", words])["event"]["seq"].to_string());
    std::fs::write(&gate, "").unwrap();
    server.ok(&["say", "Ask", "@good well?", "--wait"]);
    let why = server.ok(&["why", "Ask", &said[1]]);
    assert!(why.contains("slow") && why.contains("forced") && why.contains("spoke"), "{why}");
}

#[test]
fn a_dash_is_the_conversation_that_one_used_oneself_and_is_named() {
    let home = Home::new();
    let server = home.serve();
    let other = server.ok(&["new", "Theirs", "--empty"]);
    server.ok(&["new", "Mine", "--empty"]);
    // Another person, with a home of their own.
    let stranger = Home::new();
    let said = server
        .command(&["say", other.trim(), "hello"])
        .env("HOME", stranger.path())
        .output()
        .unwrap();
    assert!(said.status.success(), "{}", stderr(&said));
    let mine = server.command(&["say", "-", "for my own"]).output().unwrap();
    assert!(stderr(&mine).contains("\"Mine\""), "{}", stderr(&mine));
    assert!(server.ok(&["tail", "Mine", "--no-follow"]).contains("for my own"));
    let quiet = server.command(&["say", "-", "again", "--quiet"]).output().unwrap();
    assert_eq!(stderr(&quiet), "");
    // A message for a missing conversation is not sent to another one.
    assert!(
        !server
            .command(&["tail", "01a2058d-0000-7cd6-9eec-cbacb96ad5dc", "--no-follow"])
            .output()
            .unwrap()
            .status
            .success()
    );
    let lost = server.command(&["say", "-", "not for them"]).output().unwrap();
    assert!(!lost.status.success() && stderr(&lost).contains("used last"), "{}", stderr(&lost));
}

#[tokio::test]
async fn whoever_connects_by_itself_is_listed_and_invited_like_others() {
    let home = Home::new();
    home.configure("[agents.coder]\nruntime = \"remote\"\n");
    let server = home.serve();
    let listed = server.ok(&["agents"]);
    assert!(listed.contains("coder") && listed.contains("connects by itself"), "{listed}");
    server.ok(&["new", "Room", "--with", "coder"]);
    let said = server.command(&["say", "Room", "@coder hello", "--wait"]).output().unwrap();
    assert_eq!(said.status.code(), Some(3), "{}", stderr(&said));
    assert!(stderr(&said).contains("coder: not asked: is not connected"), "{}", stderr(&said));

    // The same if another agent answers.
    server.ok(&["invite", "Room", "analyst"]);
    let said = server.command(&["say", "Room", "@coder and @analyst?", "--wait"]).output().unwrap();
    assert!(
        said.status.success() && stderr(&said).contains("coder: not asked: is not connected"),
        "{}",
        stderr(&said)
    );
}

#[tokio::test]
async fn to_wait_is_to_wait_for_the_answers_to_these_words() {
    let home = Home::new();
    let gate = home.path().join("gate");
    let slow = home.script(
        "slow",
        &format!("while [ ! -e {} ]; do sleep 0.05; done; echo to the first", gate.display()),
    );
    let quick = home.script("quick", "echo to the second");
    home.configure(&format!(
        "[agents.slow]\ncommand = [{slow:?}]\n[agents.quick]\ncommand = [{quick:?}]\n"
    ));
    let server = home.serve();
    server.ok(&["new", "Ask", "--policy", "mention_only", "--with", "slow", "--with", "quick"]);
    server.ok(&["say", "Ask", "@slow one"]);
    // The other agent works until the gate opens, so the conversation is busy meanwhile.
    let said = server.ok(&["say", "Ask", "@quick two", "--wait"]);
    assert!(said.contains("to the second"), "{said}");
    let mut waiting = server.command(&["say", "Ask", "@slow three", "--wait"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let thread = server.json(&["list"])["threads"][0]["id"].as_str().unwrap().to_owned();
    server.wait_for(&thread, 0, |event| event["content"] == "@slow three").await;
    server.ok(&["say", "Ask", "@quick four", "--wait"]);
    std::fs::write(&gate, "").unwrap();
    let done = waiting.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", stderr(&done));
    let printed = String::from_utf8(done.stdout).unwrap();
    assert_eq!(printed.lines().count(), 1, "only the answer to three: {printed}");
    assert!(printed.contains("to the first"), "{printed}");
}

#[tokio::test]
async fn an_agent_that_takes_no_turns_is_waited_for() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Room", "--policy", "mention_only", "--empty"]);
    let thread = server.json(&["list"])["threads"][0]["id"].as_str().unwrap().to_owned();
    server.invite(&thread, "ada", "elsewhere").await;
    let here = serde_json::json!({"from": "ada", "state": "listening"});
    server.accepted(&format!("/threads/{thread}/presence"), here).await;
    let mut waiting = server.command(&["say", "Room", "@ada are you there?", "--wait"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let asked =
        server.wait_for(&thread, 0, |event| event["content"] == "@ada are you there?").await;
    let answer =
        serde_json::json!({"from": "ada", "content": "I am.", "meta": {"reply_to": asked["id"]}});
    server.accepted(&format!("/threads/{thread}/events"), answer).await;
    let done = waiting.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(String::from_utf8(done.stdout).unwrap().contains("I am."));
}

/// A typed command is run, and its answer is printed. Text from standard input is a message.
#[test]
fn a_typed_command_is_run() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Room", "--policy", "mention_only", "--with", "critic"]);
    assert_eq!(server.ok(&["say", "Room", "/pause"]), "Paused.\n");
    assert!(server.ok(&["say", "Room", " /Group list "]).contains("critic"));
    let ran = server.json(&["say", "Room", "/resume"]);
    assert_eq!((&ran["text"], &ran["event"]["type"]), (&"Resumed.".into(), &"control".into()));
    assert!(server.ok(&["say", "Room", "/ask critic and/or you?", "--wait"]).contains("Asked"));
    for (words, said) in [
        ("//pause", "/pause"),
        ("/etc/hosts is wrong", "/etc/hosts is wrong"),
        ("// a comment", "// a comment"),
        ("either/or", "either/or"),
    ] {
        assert_eq!(server.json(&["say", "Room", words])["event"]["content"], said);
    }
    let mut command = server.command(&["say", "Room", "-", "--json"]);
    let mut piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"/pause").unwrap();
    let said: Value = serde_json::from_slice(&piped.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        (&said["event"]["type"], &said["event"]["content"]),
        (&"message".into(), &"/pause".into())
    );
}

#[test]
fn a_command_that_cannot_be_run_says_what_to_write() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Room", "--policy", "mention_only", "--with", "critic"]);
    for (args, status, help) in [
        (&["/grup list"][..], 1, "Did you mean /group?"),
        (&["/grup list"], 1, "begin with two slashes: //grup"),
        (&["/mute"], 1, "for example /mute critic"),
        (&["/mute nosuch"], 1, "nosuch is not a participant"),
        (&["/pause", "--as", "critic"], 77, "humans_only"),
        (&["/pause", "--to", "critic"], 2, "leave out --to"),
    ] {
        let refused = server.command(&[&["say", "Room"], args].concat()).output().unwrap();
        let errors = stderr(&refused);
        assert_eq!(refused.status.code(), Some(status), "{args:?}: {errors}");
        assert!(errors.contains(help), "{args:?}: {errors}");
    }
}
