//! Real programs, most of them misbehaving.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use moothall_agents::command::{CommandSpec, Stdin};
use moothall_engine::agent::{Agent, Job, Probe, Report, Reporter};
use moothall_engine::run_once::{RunOnce, Work};
use moothall_kernel::event::{Change, Event, Fault, RecordedEvent, TurnReason};
use moothall_kernel::ids::Seq;
use moothall_kernel::time::{Millis, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Notes, SilentReporter, job, post, reply, until};

mod users;

/// A shell script under test; `$1` is a path in a fresh folder.
struct Shell {
    spec: CommandSpec,
    job: Job,
    folder: TempDir,
}

impl Shell {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let spec = CommandSpec::new(["/bin/sh", "-c", script, "sh", note.to_str().unwrap()]);
        let mut job = job("codex", TurnReason::Forced, &[post(1, "user", "Hello")]);
        // Marks go by conversation: concurrent tests must not end each other's programs.
        job.key.stream = folder.path().to_str().unwrap().into();
        Self { spec, job, folder }
    }

    fn limited(mut self, limit: Millis) -> Self {
        self.job.limit = limit;
        self
    }

    fn with_prompt(mut self, bytes: usize) -> Self {
        self.job.prompt.standalone = "x".repeat(bytes);
        self
    }

    fn note(&self) -> PathBuf {
        self.folder.path().join("note")
    }

    async fn run(&self) -> Result<String, Fault> {
        self.spec.run(&self.job, &SilentReporter).await.0
    }

    async fn fault(&self) -> Fault {
        self.run().await.unwrap_err()
    }

    /// True if a process of this turn still exists anywhere.
    fn is_anybody_left(&self) -> bool {
        let mark = format!("MOOTHALL_TURN={}/", self.job.key.stream);
        let environments =
            std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("environ"));
        environments
            .filter_map(|file| std::fs::read(file).ok())
            .any(|bytes| String::from_utf8_lossy(&bytes).contains(&mark))
    }
}

/// Returns the process number in this file, once it is written.
fn noted(file: &Path) -> Option<String> {
    std::fs::read_to_string(file)
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// True if a process runs. A zombie does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().next())
        .is_some_and(|state| state != "Z" && state != "X")
}

/// Writes a program that prints the folder in which it runs, and returns its file.
fn folder_printer(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, "#!/bin/sh\ncat >/dev/null\npwd -P\n").unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
    file
}

#[tokio::test]
async fn a_known_program_works_in_the_folder_of_its_conversation() {
    let (programs, room) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let own = std::env::current_dir().unwrap();
    let path = |folder: &Path| folder.canonicalize().unwrap().display().to_string();
    for (name, cwd, room, expected) in [
        ("claude", None, Some(room.path()), room.path()),
        ("claude", None, None, &*own),
        ("claude", Some(programs.path()), Some(room.path()), programs.path()),
        ("claude-wrapper", None, Some(room.path()), &*own),
    ] {
        let program = folder_printer(programs.path(), name);
        let mut shell = Shell::new("");
        shell.spec = CommandSpec::new([program.to_str().unwrap()]);
        shell.spec.cwd = cwd.map(Path::to_owned);
        shell.job.folder = room.map(path);
        assert_eq!(shell.run().await.unwrap(), path(expected), "{name} {cwd:?} {room:?}");
    }
    let mut shell = Shell::new("");
    shell.spec = CommandSpec::new([folder_printer(programs.path(), "codex").to_str().unwrap()]);
    shell.job.folder = Some("/none/such".to_owned());
    let fault = shell.fault().await.message;
    assert!(fault.starts_with("The directory /none/such does not exist. Create it"), "{fault}");
}

#[tokio::test]
async fn a_reply_is_what_it_prints() {
    assert_eq!(
        Shell::new("echo; echo '  Hello there. '; echo").run().await.unwrap(),
        "Hello there."
    );
}

#[tokio::test]
async fn what_a_program_thinks_is_not_what_it_says() {
    let hm = "<think>hm</think>\\n\\n[PASS]";
    for (prints, said, thoughts) in [(hm, "[PASS]", "hm"), ("so <think>", "so <think>", "")] {
        let (notes, shell) = (Notes::default(), Shell::new(&format!("printf '{prints}'")));
        let (result, _) = shell.spec.run(&shell.job, &notes).await;
        assert_eq!((result.as_deref(), notes.thoughts().as_str()), (Ok(said), thoughts));
    }
}

#[tokio::test]
async fn the_output_of_a_program_that_fails_is_told_for_the_trace() {
    for script in ["echo half; exit 3", "echo half; sleep 60"] {
        let (notes, shell) = (Notes::default(), Shell::new(script).limited(Millis(300)));
        let (result, _) = shell.spec.run(&shell.job, &notes).await;
        assert!(result.is_err());
        assert_eq!(notes.printed().last().map(String::as_str), Some("half"));
    }
}

#[tokio::test]
async fn it_reads_one_json_document() {
    let mut shell = Shell::new("cat");
    shell.spec.bridge_url = "http://127.0.0.1:5111".into();
    let asked = post(3, "user", "Hello @codex");
    let answered = reply(4, "bob", "Hi", &asked);
    shell.job.key.stream = "t".into();
    let stream = shell.job.key.stream.clone();
    shell.job.window = vec![asked.clone(), answered.clone()];
    shell.job.trigger = asked.clone();
    let read: Value = serde_json::from_str(&shell.run().await.unwrap()).unwrap();
    let trigger = json!({
        "id": asked.id(&stream).to_string(), "ts": "2025-11-21T02:59:59.003Z", "type": "message",
        "from": "user", "to": "all", "content": "Hello @codex",
    });
    let mut first = trigger.clone();
    first["seq"] = 3.into();
    first["thread"] = stream.as_str().into();
    let second = json!({
        "id": answered.id(&stream).to_string(), "seq": 4, "ts": "2025-11-21T02:59:59.004Z", "thread": stream.as_str(), "type": "message",
        "from": "bob", "to": "all", "content": "Hi",
        "meta": { "reply_to": asked.id(&stream).to_string(), "tags": ["coordinator"], "via": "moothall" },
    });
    let expected = json!({
        "bridge": { "url": "http://127.0.0.1:5111" },
        "thread": { "id": stream.as_str() },
        "participant": { "id": "codex", "profile": { "client": "codex", "model": "m" } },
        "trigger": trigger,
        "context_window": [first, second],
        "prompt": "You are here.\n\nWhat now?",
    });
    assert_eq!(read, expected);
}

#[tokio::test]
async fn the_window_holds_what_the_job_carries_oldest_first() {
    let mut shell = Shell::new("cat");
    shell.job.window = (1..=25).map(|seq| post(seq, "user", "x")).collect();
    let read: Value = serde_json::from_str(&shell.run().await.unwrap()).unwrap();
    let window = read["context_window"].as_array().unwrap();
    assert_eq!((window.len(), &window[0]["seq"], &window[24]["seq"]), (25, &json!(1), &json!(25)));
}

#[tokio::test]
async fn a_prod_is_a_control() {
    let mut shell = Shell::new("cat");
    let changes = vec![Change::Prodded { targets: vec!["codex".into()] }];
    shell.job.trigger = RecordedEvent {
        seq: Seq(2),
        ts: Timestamp::from_millis(2),
        event: Event::Controlled { by: "user".into(), changes, unproven: false },
    };
    let read: Value = serde_json::from_str(&shell.run().await.unwrap()).unwrap();
    assert_eq!(
        (&read["trigger"]["type"], &read["trigger"]["content"]),
        (&json!("control"), &json!({ "prod": ["codex"] }))
    );
}

#[tokio::test]
async fn the_prompt_can_come_as_text_or_as_an_argument() {
    let mut shell = Shell::new("cat");
    shell.spec.stdin = Stdin::Prompt;
    assert_eq!(shell.run().await.unwrap(), "You are here.\n\nWhat now?");
    shell.spec.argv = vec!["/bin/echo".into(), "-n".into(), "<{prompt}>".into()];
    shell.job.prompt.standalone = "$(echo run) `x` \"'; {prompt}".into();
    assert_eq!(
        shell.run().await.unwrap(),
        "<You are here.\n\n$(echo run) `x` \"'; {prompt}>",
        "no shell looks at it"
    );
}

#[tokio::test]
async fn a_hanging_program_is_ended_at_its_time_limit() {
    let shell = Shell::new("sleep 1000; echo too late").limited(Millis(300));
    let (result, usage) = shell.spec.run(&shell.job, &SilentReporter).await;
    let fault = result.unwrap_err();
    assert_eq!(
        (fault.code.as_str(), fault.message.as_str()),
        ("timeout", "/bin/sh gave no answer within 0.3 s.")
    );
    assert!(usage.ms >= 300);
    assert!(!shell.is_anybody_left());
}

#[tokio::test]
async fn a_program_that_closes_its_pipes_and_hangs_is_ended_too() {
    let shell = Shell::new("exec <&- >&- 2>&-; sleep 1000").limited(Millis(300));
    assert_eq!(shell.fault().await.code, "timeout");
    assert!(!shell.is_anybody_left());
}

#[tokio::test]
async fn a_program_that_ignores_sigterm_is_killed() {
    let shell = Shell::new("trap '' TERM; while :; do sleep 1000; done").limited(Millis(500));
    assert_eq!(shell.fault().await.code, "timeout");
    assert!(!shell.is_anybody_left());
}

#[tokio::test]
async fn a_flood_is_cut_off() {
    let shell = Shell::new("yes 'spam spam spam' | head -c 1073741824");
    let fault = shell.fault().await;
    assert_eq!(
        (fault.code.as_str(), fault.message.as_str()),
        ("output_too_large", "/bin/sh wrote more than 256 KiB and was ended.")
    );
    assert!(!shell.is_anybody_left());
}

#[tokio::test]
async fn an_answer_may_be_as_long_as_a_message() {
    let shell = Shell::new("head -c 262144 /dev/zero | tr '\\0' x");
    assert_eq!(shell.run().await.unwrap().len(), 262_144);
    let shell = Shell::new("head -c 262145 /dev/zero | tr '\\0' x");
    assert_eq!(shell.fault().await.code, "output_too_large");
}

#[tokio::test]
async fn a_flood_of_complaints_costs_nothing() {
    let shell = Shell::new("head -c 50000000 /dev/zero >&2; echo fine");
    assert_eq!(shell.run().await.unwrap(), "fine");
}

#[tokio::test]
async fn invalid_utf8_and_colours_become_readable() {
    let shell = Shell::new(
        r"printf '\033[31mred\033[0m \377\376 \033]0;title\007shalom \342\200\217\n\000end\r\n'",
    );
    assert_eq!(shell.run().await.unwrap(), "red \u{fffd}\u{fffd} shalom \u{200f}\nend");
}

#[tokio::test]
async fn a_failure_says_its_code_and_the_end_of_its_complaint() {
    let shell = Shell::new(
        "echo partial; head -c 100000 /dev/zero | tr '\\0' x >&2; printf '\\033[1mno key\\033[0m\\n' >&2; exit 3",
    );
    let fault = shell.fault().await;
    assert_eq!(fault.code, "exit_status");
    assert!(
        fault.message.starts_with("/bin/sh ended with exit status: 3. It said: … xxx"),
        "{}",
        fault.message
    );
    assert!(fault.message.ends_with("xxxno key"), "{}", fault.message);
    assert!(fault.message.len() < 1_100);
}

#[tokio::test]
async fn a_complaint_on_standard_output_is_shown_when_there_is_no_other() {
    let fault = Shell::new("echo 'Not logged in'; exit 1").fault().await;
    assert_eq!(fault.message, "/bin/sh ended with exit status: 1. It said: Not logged in");
    let fault = Shell::new("echo answer; echo 'the reason' >&2; exit 1").fault().await;
    assert_eq!(fault.message, "/bin/sh ended with exit status: 1. It said: the reason");
}

#[tokio::test]
async fn a_failure_never_pours_the_prompt_into_the_room() {
    let mut shell = Shell::new(
        "echo header >&2; cat >&2; echo >&2; seq 1 40 >&2; echo 'ERROR: no such model' >&2; exit 1",
    );
    shell.spec.stdin = Stdin::Prompt;
    shell.job.prompt.standalone = "The whole conversation\n  user: what of the zebra?".into();
    let message = shell.fault().await.message;
    assert!(
        message.ends_with("39\n40\nERROR: no such model") && message.contains("It said: … 32\n"),
        "{message}"
    );
    let shell = Shell {
        spec: CommandSpec::new([
            "/bin/sh",
            "-c",
            "cat >&2; echo >&2; echo 'ERROR: no such model' >&2; exit 1",
        ]),
        ..shell
    };
    let shell = Shell { spec: CommandSpec { stdin: Stdin::Prompt, ..shell.spec }, ..shell };
    assert_eq!(
        shell.fault().await.message,
        "/bin/sh ended with exit status: 1. It said: ERROR: no such model"
    );
}

#[tokio::test]
async fn a_death_by_signal_is_a_failure() {
    let fault = Shell::new("kill -9 $$").fault().await;
    assert_eq!(fault, Fault::new("exit_status", "/bin/sh ended with signal: 9 (SIGKILL)."));
}

#[tokio::test]
async fn silence_is_an_empty_answer() {
    assert_eq!(Shell::new("exit 0").run().await, Ok(String::new()));
}

#[tokio::test]
async fn a_program_need_not_read_a_large_document() {
    let shell = Shell::new("echo did not read").with_prompt(4 << 20);
    assert_eq!(shell.run().await.unwrap(), "did not read");
    let shell = Shell::new("exec <&-; echo closed it").with_prompt(4 << 20);
    assert_eq!(shell.run().await.unwrap(), "closed it");
}

#[tokio::test]
async fn a_program_may_write_before_it_reads() {
    let shell = Shell::new("head -c 200000 /dev/zero | tr '\\0' x; wc -c").with_prompt(1 << 20);
    let answer = shell.run().await.unwrap();
    let read: usize = answer.trim_start_matches('x').trim().parse().unwrap();
    assert!(read > 1 << 20);
}

#[tokio::test]
async fn a_child_that_holds_the_pipes_neither_hangs_the_turn_nor_outlives_it() {
    let shell = Shell::new("sleep 1000 & echo $! > \"$1\"; echo done");
    assert_eq!(shell.run().await.unwrap(), "done");
    let child = noted(&shell.note()).unwrap();
    until("the child is gone", || !runs(&child)).await;
}

#[tokio::test]
async fn a_child_without_a_mark_is_ended_with_its_group() {
    let shell = Shell::new("env -i sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! > \"$1\"");
    assert_eq!(shell.run().await.unwrap(), "");
    let child = noted(&shell.note()).unwrap();
    until("the child is gone", || !runs(&child)).await;
}

#[tokio::test]
async fn a_child_without_a_mark_that_ignores_sigterm_is_ended_with_its_group() {
    let script = "(trap '' TERM; env -i PATH=\"$PATH\" sh -c 'echo $$ > \"$0\"; while :; do sleep 1000; done' \"$1\") > /dev/null 2>&1 &
        until [ -s \"$1\" ]; do sleep 0.01; done; echo done";
    let shell = Shell::new(script);
    assert_eq!(shell.run().await.unwrap(), "done");
    let child = noted(&shell.note()).unwrap();
    until("the child is gone", || !runs(&child)).await;
    assert!(!shell.is_anybody_left());
}

#[tokio::test]
async fn a_child_that_leaves_the_group_is_found_by_its_mark() {
    let script = "setsid sh -c 'echo $$ > \"$0\"; sleep 1000' \"$1\" > /dev/null 2>&1 < /dev/null &
        until [ -s \"$1\" ]; do sleep 0.01; done; echo done";
    let shell = Shell::new(script);
    assert_eq!(shell.run().await.unwrap(), "done");
    let child = noted(&shell.note()).unwrap();
    until("the child is gone", || !runs(&child)).await;
    assert!(!shell.is_anybody_left());
}

#[tokio::test]
async fn the_next_attempt_ends_what_a_dead_server_left() {
    let mut shell = Shell::new("echo again");
    let mark = format!("{}/{}/1", shell.job.key.stream, shell.job.key.turn);
    let mut left = Command::new("sleep").arg("1000").env("MOOTHALL_TURN", mark).spawn().unwrap();
    shell.job.key.attempt = 2;
    assert_eq!(shell.run().await.unwrap(), "again");
    until("the first attempt is gone", || left.try_wait().unwrap().is_some()).await;
}

/// A restored backup may run beside its origin, with turns of the same names.
#[tokio::test]
async fn the_next_attempt_leaves_what_another_server_works_on() {
    let mut shell = Shell::new("echo again");
    let other = Command::new("sleep").arg("1000").spawn().unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", other.id())).unwrap();
    let begun = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
    let servers = [format!("{}.{begun}", other.id()), format!("{}.1", other.id())];
    let mark = format!("{}/{}/1", shell.job.key.stream, shell.job.key.turn);
    let mut programs = servers.map(|server| {
        let mut program = Command::new("sleep");
        program.arg("1000").env("MOOTHALL_TURN", &mark).env("MOOTHALL_TURN_SERVER", server);
        program.spawn().unwrap()
    });
    shell.job.key.attempt = 2;
    assert_eq!(shell.run().await.unwrap(), "again");
    let [theirs, of_the_dead] = &mut programs;
    until("that of a dead server is gone", || of_the_dead.try_wait().unwrap().is_some()).await;
    assert!(theirs.try_wait().unwrap().is_none(), "that of a living one goes on");
    for mut process in [other].into_iter().chain(programs) {
        let _ = process.kill();
        process.wait().unwrap();
    }
}

#[tokio::test]
async fn no_zombie_stays() {
    let shell = Shell::new("echo $$ > \"$1\"");
    shell.run().await.unwrap();
    let program = noted(&shell.note()).unwrap();
    until("it is reaped", || !Path::new("/proc").join(&program).exists()).await;
}

#[tokio::test]
async fn only_the_allowed_environment_is_handed_on() {
    let mut shell = Shell::new("");
    shell.spec.argv = vec!["env".into()];
    shell.spec.env.insert("GREETING".into(), "hello world".into());
    shell.spec.env.insert("MOOTHALL_TOKEN".into(), "canary".into());
    assert!(
        std::env::var("CARGO_MANIFEST_DIR").is_ok(),
        "the canary: it is in the environment of every test"
    );
    let answer = shell.run().await.unwrap();
    let allowed = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM TMPDIR TZ XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME \
        GREETING MOOTHALL_TURN MOOTHALL_TURN_SERVER";
    for line in answer.lines() {
        let name = line.split('=').next().unwrap();
        assert!(
            allowed.split_whitespace().any(|word| word == name) || name.starts_with("LC_"),
            "{name} leaked"
        );
    }
    assert!(answer.contains("GREETING=hello world") && answer.contains("PATH="));
    assert!(!answer.contains("canary"));
}

#[tokio::test]
async fn a_secret_is_not_told_again() {
    let mut shell =
        Shell::new("echo \"I was given $API_KEY in $MODE mode\" | tee /dev/stderr; exit $CODE");
    for (name, value) in [("API_KEY", "canary-123456"), ("MODE", "quiet"), ("CODE", "0")] {
        shell.spec.env.insert(name.into(), value.into());
    }
    assert_eq!(shell.run().await.unwrap(), "I was given [API_KEY hidden] in quiet mode");
    shell.spec.env.insert("CODE".into(), "1".into());
    assert!(
        shell
            .fault()
            .await
            .message
            .ends_with("It said: I was given [API_KEY hidden] in quiet mode")
    );
}

#[tokio::test]
async fn a_prompt_that_no_argument_holds_belongs_on_standard_input() {
    let mut shell = Shell::new("").with_prompt(200_000);
    shell.spec.argv = vec!["/bin/echo".into(), "{prompt}".into()];
    let fault = shell.fault().await;
    assert_eq!(fault.code, "spawn_failed");
    assert!(fault.message.contains("stdin = \"prompt\""), "{}", fault.message);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let mut shell = Shell::new("");
    shell.spec.argv = vec!["no-such-program-here".into()];
    let fault = shell.fault().await;
    assert_eq!(fault.code, "spawn_failed");
    assert!(
        fault
            .message
            .starts_with("The program no-such-program-here is not installed: it is in none of /"),
        "{}",
        fault.message
    );
    assert_eq!(shell.spec.check(), Err(fault));
    shell.spec.argv = vec![shell.note().to_str().unwrap().into()];
    assert!(shell.fault().await.message.ends_with("does not exist or may not be executed."));
    shell.spec = CommandSpec { cwd: Some(shell.note()), ..CommandSpec::new(["sh"]) };
    assert!(shell.fault().await.message.starts_with("The directory "));
    assert_eq!(CommandSpec::new(Vec::<String>::new()).check().unwrap_err().code, "spawn_failed");
    assert!(CommandSpec::new(["sh"]).check().unwrap().is_absolute());
}

#[tokio::test]
async fn it_runs_where_it_is_told_to() {
    let mut shell = Shell::new("pwd -P");
    shell.spec.cwd = Some(shell.folder.path().to_owned());
    let answer = shell.run().await.unwrap();
    assert_eq!(Path::new(&answer), shell.folder.path().canonicalize().unwrap());
    std::os::unix::fs::symlink("/bin/pwd", shell.folder.path().join("where")).unwrap();
    shell.spec.argv = vec!["./where".into()];
    assert_eq!(shell.run().await.unwrap(), answer, "a relative program counts from there too");
}

/// A reporter that stores the reports.
#[derive(Default)]
struct ReportList(Mutex<Vec<Report>>);

impl Reporter for ReportList {
    fn report(&self, report: Report) {
        self.0.lock().unwrap().push(report);
    }
}

const LONG: &str = "echo $$ > \"$1\"; sleep 1000; echo too late";

#[tokio::test]
async fn a_cancelled_turn_ends_its_program() {
    let shell = Shell::new(LONG);
    let (agent, kept) = (RunOnce::new(shell.spec.clone()), Arc::new(ReportList::default()));
    agent.ensure(shell.job.clone(), kept.clone());
    until("it runs", || noted(&shell.note()).is_some()).await;
    assert_eq!(agent.probe(&shell.job.key).await, Probe::Running);
    agent.cancel(&shell.job.key);
    until("nobody is left", || !shell.is_anybody_left()).await;
    assert_eq!(*kept.0.lock().unwrap(), [Report::Started { through: shell.job.through }]);
}

/// A stopped turn has no later moment to report its output.
#[tokio::test]
async fn the_output_of_a_program_is_told_before_it_is_stopped() {
    let shell = Shell::new("echo $$ > \"$1\"; echo one; printf tw; sleep 1000");
    let (agent, kept) = (RunOnce::new(shell.spec.clone()), Arc::new(ReportList::default()));
    agent.ensure(shell.job.clone(), kept.clone());
    let all = Report::Printed("one\ntw".into());
    until("it is told", || kept.0.lock().unwrap().contains(&all)).await;
    let last = Report::LastLines("one\ntw".into());
    assert!(kept.0.lock().unwrap().contains(&last), "for a turn that runs out of time");
    agent.cancel(&shell.job.key);
    until("its processes are gone", || !shell.is_anybody_left()).await;
    assert_eq!(kept.0.lock().unwrap().last(), Some(&all));
}

#[tokio::test]
async fn a_cancelled_turn_ends_a_program_that_ignores_sigterm() {
    let shell = Shell::new("trap '' TERM; echo $$ > \"$1\"; while :; do sleep 1000; done");
    let agent = RunOnce::new(shell.spec.clone());
    agent.ensure(shell.job.clone(), Arc::new(ReportList::default()));
    until("it runs", || noted(&shell.note()).is_some()).await;
    drop(agent);
    until("nobody is left", || !shell.is_anybody_left()).await;
}

#[test]
fn the_end_of_the_server_ends_its_programs() {
    let shell = Shell::new("trap '' TERM; echo $$ > \"$1\"; while :; do sleep 1000; done");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let agent = RunOnce::new(shell.spec.clone());
    runtime.block_on(async {
        agent.ensure(shell.job.clone(), Arc::new(ReportList::default()));
        until("it runs", || noted(&shell.note()).is_some()).await;
    });
    drop(runtime);
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(until("nobody is left", || !shell.is_anybody_left()));
}
