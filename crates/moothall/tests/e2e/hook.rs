//! `moothall hook`, as programs in terminals run it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::harness::{Home, stderr};

const SESSION: &str = "01980000-0000-7000-8000-000000000001";

fn spool(home: &Home) -> PathBuf {
    home.path().join("spool").join(SESSION)
}

/// Runs the hook in a session's environment.
fn hook(home: &Home, args: &[&str], input: &[u8]) -> Output {
    fs::create_dir_all(spool(home)).unwrap();
    let mut command = home.command(&[&["hook"], args].concat());
    command
        .env("MOOTHALL_SESSION", SESSION)
        .env("MOOTHALL_SESSION_TOKEN", "CANARY")
        .env("MOOTHALL_SPOOL", spool(home));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A hook with its data in an argument does not read standard input, so the write may fail.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn notes(home: &Home) -> Vec<Value> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(spool(home)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| serde_json::from_slice(&fs::read(file).unwrap()).unwrap()).collect()
}

#[test]
fn it_leaves_a_report_that_nobody_else_may_read() {
    let home = Home::new();
    let output = hook(&home, &["claude", "Stop"], br#"{"last_assistant_message": "Done."}"#);
    assert!(
        output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
        "{}",
        stderr(&output)
    );
    let output = hook(&home, &["codex", "notify", r#"{"type": "agent-turn-complete"}"#], b"");
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    let output = hook(&home, &["gemini", "AfterAgent"], b"{}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "{}");
    let left = notes(&home);
    let reports: Vec<(&str, &str)> = left
        .iter()
        .map(|note| (note["program"].as_str().unwrap(), note["payload"].as_str().unwrap()))
        .collect();
    assert_eq!(
        reports,
        [
            ("claude", r#"{"last_assistant_message": "Done."}"#),
            ("codex", r#"{"type": "agent-turn-complete"}"#),
            ("gemini", "{}")
        ]
    );
    assert_eq!((&left[0]["session"], &left[0]["token"]), (&SESSION.into(), &"CANARY".into()));
    let file = fs::read_dir(spool(&home)).unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn it_never_stops_the_program_that_runs_it() {
    let home = Home::new();
    for args in [
        &[][..],
        &["--bogus"],
        &["claude"],
        &["claude", "Stop", "--json", "-x"],
        &["", ""],
        &["claude", "PermissionRequest"],
    ] {
        let output = hook(&home, args, b"\xff not JSON");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    let blocked = home.path().join("a file");
    fs::write(&blocked, "").unwrap();
    let mut command = home.command(&["hook", "gemini", "AfterAgent", "{}"]);
    command
        .env("MOOTHALL_SESSION", SESSION)
        .env("MOOTHALL_SESSION_TOKEN", "CANARY")
        .env("MOOTHALL_SPOOL", blocked);
    let output = command.output().unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim()),
        (Some(0), "{}")
    );
    assert!(
        stderr(&output).contains("not reported") && !stderr(&output).contains("CANARY"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_is_too_long_loses_its_end_and_says_so() {
    let home = Home::new();
    let long = vec![b'x'; 1024 * 1024 + 100_000];
    assert!(hook(&home, &["claude", "Stop"], &long).status.success());
    let note = &notes(&home)[0];
    assert_eq!(
        (note["payload"].as_str().unwrap().len(), &note["cut"]),
        (1024 * 1024, &Value::Bool(true))
    );
}

#[test]
fn outside_of_a_session_it_reports_nothing() {
    let home = Home::new();
    let output = home.run(&["hook", "gemini", "SessionStart", "{}"]);
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim()),
        (Some(0), "{}")
    );
    assert!(output.stderr.is_empty());
}

/// A report without text: the hook reads it from the program's own record. The server never reads
/// that record.
#[test]
fn words_that_a_report_lacks_are_read_from_the_programs_record() {
    let home = Home::new();
    let native = "7df0e220-879a-411d-9711-e7694ee89550";
    let record = home.path().join(format!("{native}.jsonl"));
    let lines = [
        r#"{"type": "user", "message": {"role": "user", "content": "Is it done?"}}"#,
        r#"{"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "It is."}]}}"#,
    ];
    fs::write(&record, lines.join("\n")).unwrap();
    let payload = |words: &str| {
        format!(r#"{{"session_id": "{native}", "transcript_path": "{}"{words}}}"#, record.display())
    };
    assert!(hook(&home, &["claude", "Stop"], payload("").as_bytes()).status.success());
    assert!(
        hook(
            &home,
            &["claude", "Stop"],
            payload(r#", "last_assistant_message": "Yes.""#).as_bytes()
        )
        .status
        .success()
    );
    let reports: Vec<Value> =
        notes(&home).into_iter().map(|note| note["recorded"].clone()).collect();
    assert_eq!(reports, [Value::from("It is."), Value::Null]);
}
