//! Gatherings from the command line: two people and an agent that writes the harvest.

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::harness::{Home, RunningProcess, Server, stderr};

/// An agent that writes a harvest at once, and one that takes longer than any test.
const AGENTS: &str = r#"
[agents.scribe]
replies = ["What emerged: two words."]

[agents.sleeper]
replies = [{ text = "too late", delay_ms = 900000 }]
"#;

const PLAN: &str = r#"
from = "ann"
rhythm = "daily"
opening_question = "What is in the way?"
breath = "minimal"
beat_interval_seconds = 3600
last_word_seconds = 3600

[[participants]]
name = "Ann"
kind = "human"

[[participants]]
name = "Bob"
kind = "human"
participant_id = "bob"

[[participants]]
name = "Hal"
kind = "agent"
client = "scribe"
role = "harvester"
"#;

fn planned(home: &Home) -> Server<'_> {
    home.configure(AGENTS);
    fs::write(home.path().join("daily.toml"), PLAN).unwrap();
    home.serve()
}

/// Starts the gathering of the plan; returns its id.
fn begun(server: &Server<'_>) -> String {
    let answer = server.json(&["gather", "start", "--file", "daily.toml"]);
    assert_eq!(
        (&answer["status"], &answer["holder"]["name"]),
        (&"active".into(), &"Ann".into()),
        "{answer}"
    );
    answer["id"].as_str().unwrap().to_owned()
}

/// Runs a command that must fail with this code; returns its standard error.
fn fails(server: &Server<'_>, code: i32, args: &[&str]) -> String {
    let output = server.command(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
    stderr(&output)
}

/// Returns the first gathering event of this kind, from the stream.
async fn step(server: &Server<'_>, id: &str, event: &str) -> Value {
    server.wait_for(id, 0, |seen| seen["content"]["event"] == event).await
}

fn chat(server: &Server<'_>, args: &[&str], input: &str) -> Output {
    let mut command = server.command(&[&["chat", "-"], args].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[tokio::test]
async fn a_gathering_is_begun_by_a_file_passed_on_ended_and_harvested() {
    let home = Home::new();
    let server = planned(&home);
    let id = begun(&server);

    let listed = server.ok(&["gather", "list"]);
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert!(listed.starts_with(&id), "{listed}");
    let standing = "Gathering: daily  inhale, round 1 of 1; Ann (1) has the piece, beat 0 of 3";
    assert!(listed.contains(standing), "{listed}");
    let shown = server.ok(&["gather", "show", "-"]);
    for line in [
        "question    What is in the way?",
        "rule        Speak independently",
        "piece       Ann (1) since ",
        ": beat 0 of 3, next beat at ",
        "to come     Bob (2)",
        "speaker     Ann (1), a person, as ann",
        "speaker     Bob (2), a person, as bob",
        "harvester   Hal (3), an agent, as hal",
    ] {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }

    server.ok(&["say", &id, "one word", "--as", "ann"]);
    let refused = fails(&server, 1, &["say", &id, "another", "--as", "bob"]);
    assert!(refused.contains("Another speaker holds the talking piece."), "{refused}");
    let refused = fails(&server, 1, &["gather", "pass", "-", "--from", "bob"]);
    assert!(refused.contains("not_your_piece"), "{refused}");
    let passed = server.ok(&["gather", "pass", "-", "--to", "Bob", "--from", "ann"]);
    assert!(passed.contains("; Bob (2) has the piece"), "{passed}");
    server.ok(&["say", &id, "two words", "--as", "bob"]);
    let passed = server.ok(&["gather", "pass", "-", "--from", "bob"]);
    assert!(passed.contains("hold, round 1 of 1; Ann (1) has the piece"), "{passed}");

    let ended = server.json(&["gather", "end", "-"]);
    assert!(ended["closed_because"].is_null() || ended["closed_because"] == "ended", "{ended}");
    step(&server, &id, "closed").await;
    let shown = server.ok(&["gather", "show", "-"]);
    assert!(shown.contains("closed: a person ended it"), "{shown}");
    assert!(shown.contains("harvest     What emerged: two words."), "{shown}");

    let read = server.ok(&["tail", "-", "--no-follow"]);
    for words in [
        "· Ann (1) began a gathering (daily): Ann (1), Bob (2); Hal (3) writes the harvest.",
        "· --- Phase: INHALE (round 1/1) ---",
        "Speak independently",
        "· The piece is now with Bob (2).",
        "· --- Phase: HOLD (round 1/1) ---",
        "Hal (3) writes the harvest.\n",
        "· The gathering is closed: a person ended it.",
    ] {
        assert!(read.contains(words), "{words:?} is not in\n{read}");
    }
    assert_eq!(read.matches("Phase: INHALE").count(), 1, "{read}");
    let exported = server.ok(&["export", "-"]);
    assert_eq!(exported.matches("Phase").count(), 3, "{exported}");
    assert!(exported.contains(r"The piece is now with Bob \(2\)\."), "{exported}");
}

#[tokio::test]
async fn whoever_waits_gets_the_harvest() {
    let home = Home::new();
    let server = planned(&home);
    let start = |more: &[&str]| {
        let args = [&["gather", "start", "--file", "daily.toml", "--wait"], more].concat();
        let mut command = server.command(&args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        RunningProcess::of(command.spawn().unwrap())
    };
    let id_in = |hint: String| hint.rsplit(' ').next().unwrap().to_owned();

    let mut waiting = start(&["--title", "Standup"]);
    let errors = waiting.errors();
    let id = id_in(errors.recv().unwrap());
    assert_eq!(server.json(&["gather", "show", &id])["title"], "Standup");
    server.ok(&["gather", "end", &id]);
    assert_eq!(waiting.line(), "What emerged: two words.");
    assert!(waiting.end().success());
    let output: Vec<String> = errors.iter().collect();
    assert!(output.contains(&"The piece is now with Ann (1).".to_owned()), "{output:?}");

    // A second end closes the gathering without a harvest.
    let with_sleeper = PLAN.replace("scribe", "sleeper");
    fs::write(home.path().join("daily.toml"), with_sleeper).unwrap();
    let mut waiting = start(&[]);
    let errors = waiting.errors();
    let id = id_in(errors.recv().unwrap());
    let ended = server.ok(&["gather", "end", &id]);
    assert!(ended.contains("close, Hal (3) writes the harvest"), "{ended}");
    server.ok(&["gather", "end", &id]);
    assert_eq!(waiting.end().code(), Some(3));
    let output: Vec<String> = errors.iter().collect();
    assert!(output.iter().any(|line| line.contains("without a harvest")), "{output:?}");
}

#[test]
fn a_chat_says_whose_turn_it_is_and_hands_the_piece_on() {
    let home = Home::new();
    let server = planned(&home);
    // The host is the default person at this computer.
    let plan = PLAN.replace("from = \"ann\"\n", "");
    fs::write(home.path().join("daily.toml"), plan).unwrap();
    begun(&server);
    let heard = chat(&server, &[], "one word\n/pass Bob\n");
    assert!(heard.status.success(), "{}", stderr(&heard));
    let text = String::from_utf8(heard.stdout).unwrap();
    let call = "! You have the piece: beat 0 of 3, one every 3600 s. Write what you see; /pass or /pass NAME passes it on.\n";
    assert!(text.starts_with("· You are Ann (1) in this gathering."), "{text}");
    assert_eq!((text.matches("You are Ann (1)").count(), text.matches(call).count()), (1, 1));
    assert!(text.find("Now: inhale") < text.find(call), "{text}");
    assert!(text.contains("] Ann: one word\n"), "{text}");
    assert!(text.contains("· The piece is now with Bob (2).\n"), "{text}");

    let heard = chat(&server, &[], "one more\n/pass\n");
    assert_eq!(heard.status.code(), Some(1), "it was refused");
    let output = stderr(&heard);
    assert!(output.contains("Bob (2) has the piece: others cannot speak now"), "{output}");
    assert!(output.matches("not_your_piece").count() > 1, "a pass is refused as well: {output}");

    let heard = chat(&server, &["--as", "bob"], "/pass\n");
    let text = String::from_utf8(heard.stdout).unwrap();
    assert!(text.starts_with("· You are Bob (2) in this gathering."), "{text}");
    assert!(text.contains("\n! You have the piece"), "{text}");
    assert!(text.contains("· --- Phase: HOLD (round 1/1) ---\n    Let differences meet"), "{text}");
    assert!(text.contains("· The piece is now with Ann (1).\n"), "{text}");
}

/// A person reads what the page shows them, instead of an agent's prompt.
#[tokio::test]
async fn a_person_reads_their_own_seed_with_its_signals_and_the_pulse_of_each_beat() {
    let home = Home::new();
    let server = planned(&home);
    let earlier = server.thread().await;
    server.ok(&["say", &earlier, "The gate was in the way."]);
    let plan = PLAN
        .replace("from = \"ann\"\n", "")
        .replace("interval_seconds = 3600", "interval_seconds = 1\nbeats_per_turn = 100")
        .replace("What is in the way?", "Which gate stood before us?");
    fs::write(home.path().join("daily.toml"), plan).unwrap();
    let id = begun(&server);
    assert_eq!(step(&server, &id, "beat").await["content"]["number"], 1);

    let shown = server.ok(&["gather", "show", "-"]);
    let heard = String::from_utf8(chat(&server, &[], "").stdout).unwrap();
    let signal = "\"Test\", user: The gate was in the way.";
    for words in ["You are Ann (1)", "History signals:", signal, "inhale round 1/1: "] {
        for text in [&shown, &heard] {
            assert!(text.contains(words), "{words:?} is not in\n{text}");
        }
    }
    assert!(shown.contains("\npulse       inhale round 1/1: "), "{shown}");
    assert!(shown.contains("\nyour seed   You are Ann (1)"), "{shown}");
    let others = String::from_utf8(chat(&server, &["--as", "bob"], "").stdout).unwrap();
    assert!(others.contains("You are Bob (2)") && !others.contains("round 1/1: "), "{others}");
}

#[test]
fn a_wrong_plan_is_refused_with_what_is_wrong() {
    let home = Home::new();
    let server = planned(&home);
    let plan = |text: &str| fs::write(home.path().join("daily.toml"), text).unwrap();
    let start = ["gather", "start", "--file", "daily.toml"];

    plan(&PLAN.replace("opening_question", "opening_questoin"));
    let output = fails(&server, 78, &start);
    assert!(output.contains("daily.toml:4:1: unknown key `opening_questoin`"), "{output}");
    assert!(output.contains("did you mean `opening_question`?"), "{output}");

    let another = "[[participants]]\nname = \"Zoe\"\nkind = \"human\"\nrole = \"harvester\"\n";
    plan(&format!("{PLAN}\n{another}"));
    let output = fails(&server, 1, &start);
    assert!(output.contains("one harvester; Hal and Zoe both have that role"), "{output}");
    plan(PLAN);

    let output = fails(&server, 2, &[&start[..], &["--harvester", "Zoe"]].concat());
    assert!(output.contains("\"Zoe\"") && output.contains("Ann, Bob, Hal"), "{output}");
    fails(&server, 2, &["gather", "start", "--agent", "Cy"]);

    // No gathering was started. The flag then chooses the harvester.
    assert_eq!(server.ok(&["gather", "list"]), "");
    let answer = server.json(&[&start[..], &["--person", "Cyd", "--harvester", "Hal"]].concat());
    let roles: Vec<_> = answer["participants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| (member["name"].as_str().unwrap(), member["role"].as_str().unwrap()))
        .collect();
    assert_eq!(
        roles,
        [("Ann", "speaker"), ("Bob", "speaker"), ("Hal", "harvester"), ("Cyd", "speaker")]
    );
}
