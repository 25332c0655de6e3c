//! Hints: each command that is printed runs in a shell as it is printed.

use std::path::Path;
use std::process::{Command, Output};

use crate::harness::{Home, stderr};

/// Exit codes of a hint that works: success, a message that no agent answers, passes, and the end
/// of the time in which a hint may follow a conversation.
const GOOD: [i32; 4] = [0, 3, 4, 124];

/// Returns the commands that a text prints as hints: after a colon, at the start of a line, or in
/// backticks.
fn hints(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        for (at, _) in line.match_indices("moothall ") {
            let before = line[..at].trim_end();
            let is_code = before.ends_with('`');
            if !(is_code || before.is_empty() || before.ends_with(':')) {
                continue;
            }
            let rest = &line[at..];
            let ends: &[&str] = if is_code { &["`"] } else { &["   ", "; "] };
            let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
            found.push(rest[..end].trim_end().to_owned());
        }
    }
    found
}

/// Runs a hint in a shell that has neither the server's address nor the caller's options.
fn in_shell(home: &Home, hint: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_moothall"));
    let paths = [program.parent().unwrap().to_owned()].into_iter();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(paths.chain(std::env::split_paths(&usual))).unwrap();
    let of_program = home.command_of(Path::new("sh"), &["-c", hint]);
    let mut shell = Command::new("sh");
    shell.args(of_program.get_args()).current_dir(home.path()).env_clear();
    shell.envs(of_program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.env("PATH", path).output().unwrap()
}

#[test]
fn each_printed_hint_runs_as_it_is_printed() {
    let home = Home::new();
    let server = home.serve();
    let mut seen = 0;
    for (args, expected) in [
        (&["list"][..], "moothall --server URL new"),
        (&["help", "tokn"], "moothall help token"),
        (&["say", "Nosuch", "hi"], "moothall --server URL list"),
        (&["new", "Empty room", "--empty"], "moothall --server URL invite -"),
        (&["new", "Launch plan", "--with", "critic"], "moothall --server URL say -"),
        (&["new", "Launch plan", "--with", "critic"], "moothall --server URL say -"),
        (&["new", "It's, \"so\"", "--with", "writer"], "moothall --server URL say -"),
        (&["invite", "-", "critic"], "moothall --server URL say "),
        (&["say", "-", "@critic hello"], "moothall --server URL why - "),
        (&["redact", "-", "999"], "moothall --server URL tail "),
        (&["why", "-", "999"], "moothall --server URL tail "),
        (&["pause", "Empty room"], ""),
        (&["say", "Empty room", "hello", "--wait"], "moothall --server URL why "),
        (&["archive", "Empty room"], ""),
        (&["say", "Empty room", "hello"], "moothall --server URL unarchive "),
        (&["sessions"], "moothall --server URL resume"),
        (&["agents"], "moothall --server URL invite -"),
        (&["link", "list"], ""),
        (&["permit"], ""),
        (&["guards"], ""),
        (&["token", "list"], "moothall --server URL token create"),
    ] {
        let given = [args, &["--server", &server.url]].concat();
        let output = home.run(&given);
        let text = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        let hints = hints(&text);
        let expected = expected.replace("URL", &server.url);
        assert!(
            expected.is_empty() || hints.iter().any(|hint| hint.starts_with(&expected)),
            "{args:?} prints no {expected:?}: {text}"
        );
        // A stand-in for a name is not a command, and `run` starts a program of this computer.
        let is_command = |hint: &&String| {
            !hint.contains("SESSION") && !hint.contains("NAME") && !hint.contains(" run ")
        };
        for hint in hints.iter().filter(is_command) {
            let timed = format!("{hint} --timeout 2");
            let ran = in_shell(&home, if hint.contains(" help ") { hint } else { &timed });
            assert!(
                ran.status.code().is_some_and(|code| GOOD.contains(&code)),
                "{args:?} prints {hint:?}: {:?} {}",
                ran.status.code(),
                stderr(&ran)
            );
            seen += 1;
        }
    }
    assert!(seen >= 15, "only {seen} hints were run");
}

#[test]
fn hints_are_found_in_a_text() {
    assert_eq!(
        hints("Sent. To follow: moothall tail -   Why: moothall why - 2\n`moothall list` shows"),
        ["moothall tail -", "moothall why - 2", "moothall list"]
    );
}
