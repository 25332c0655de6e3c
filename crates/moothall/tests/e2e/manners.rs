//! Conventions of the command line: help, JSON, waiting with a time limit, times, and sources of
//! the configuration.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Output;

use moothall_testkit::needs;
use serde_json::{Value, json};

use crate::harness::{Home, Server, stderr};
use crate::terminal::{Terminal, is_possible};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Parses the JSON error on standard error.
fn complaint(output: &Output) -> Value {
    serde_json::from_str(&stderr(output))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(output)))
}

#[test]
fn the_bare_name_gives_an_overview_and_help_explains_commands_and_topics() {
    let home = Home::new();
    for (args, words) in [
        (&[][..], "Usage: moothall"),
        (&["help"], "Usage: moothall"),
        (&["help", "token", "create"], "PRINCIPAL"),
        (&["help", "exit-codes"], "124"),
        (&["help", "environment"], "MOOTHALL_PROFILE"),
        (&["--help"], "--cacert"),
    ] {
        let output = home.run(args);
        assert!(
            output.status.success() && stdout(&output).contains(words),
            "{args:?}: {}",
            stdout(&output)
        );
    }
    let long = stdout(&home.run(&["say", "--help"]));
    assert!(!long.contains("--cacert"), "options of all commands are told once");
    let places = ["Usage:", "Examples:", "Options:"].map(|part| long.find(part));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{long}");
    assert!(!stdout(&home.run(&["say", "-h"])).contains("Examples:"), "the short help is short");
    let meaning = stdout(&home.run(&["help", "error", "too_deep"]));
    assert!(meaning.starts_with("too_deep: The body has more than 32"), "{meaning}");
    let unknown = stderr(&home.run(&["help", "error", "to_deep"]));
    assert!(unknown.contains("try: moothall help error too_deep"), "{unknown}");
    let unknown = home.run(&["help", "tokn"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("moothall help token"), "{}", stderr(&unknown));
    let nothing = stderr(&home.run(&["help", "frobnicating"]));
    assert!(nothing.contains("archive") && !nothing.contains("pane"), "{nothing}");
}

#[test]
fn an_unknown_command_suggests_the_one_that_is_meant() {
    let home = Home::new();
    for (word, meant) in [
        ("create", "'new'"),
        ("ls", "'list'"),
        ("approve", "'permit'"),
        ("unpause", "'continue'"),
        ("archiv", "'archive'"),
    ] {
        let unknown = home.run(&[word]);
        assert_eq!(unknown.status.code(), Some(2));
        assert!(stderr(&unknown).contains(meant), "{word}: {}", stderr(&unknown));
    }
}

#[test]
fn programs_read_errors_and_the_version_as_json() {
    let home = Home::new();
    let nobody = home.run(&["list", "--server", "http://127.0.0.1:1", "--json"]);
    assert_eq!(
        (nobody.status.code(), complaint(&nobody)["error"]["code"].clone()),
        (Some(69), json!("unavailable"))
    );
    let misread = home.run(&["say", "--json"]);
    assert_eq!(
        (misread.status.code(), complaint(&misread)["error"]["exit"].clone()),
        (Some(2), json!(2))
    );
    let version: Value =
        serde_json::from_str(&stdout(&home.run(&["--version", "--json"]))).unwrap();
    assert_eq!(
        (&version["name"], &version["version"]),
        (&json!("moothall"), &json!(env!("CARGO_PKG_VERSION")))
    );
    assert!(version["features"].is_array() && version["target"].is_string(), "{version}");
    let server = home.serve();
    let thread = server.ok(&["new", "Plan", "--empty"]).trim().to_owned();
    let denied = server
        .command(&["say", &thread, "x", "--json"])
        .env("MOOTHALL_TOKEN", "pat_nonsense")
        .output()
        .unwrap();
    assert_eq!(
        (denied.status.code(), complaint(&denied)["error"]["code"].clone()),
        (Some(77), json!("unauthenticated"))
    );
    assert_eq!(server.json(&["permit", &thread]), json!({"permissions": []}));
}

#[test]
fn waiting_ends_when_its_time_is_over_and_hints_can_be_left_out() {
    let home = Home::new();
    let server = home.serve();
    let quiet = server.command(&["new", "Plan", "--empty", "--quiet"]).output().unwrap();
    assert_eq!((quiet.status.code(), stderr(&quiet).as_str()), (Some(0), ""));
    let talkative = server.command(&["list", "--verbose"]).output().unwrap();
    assert!(
        stderr(&talkative).contains("200 http://")
            && stderr(&talkative).contains("/threads after ")
            && stderr(&talkative).contains(" ms"),
        "{}",
        stderr(&talkative)
    );
    assert!(!stderr(&talkative).contains("credential"), "{}", stderr(&talkative));
    let most = stderr(&server.command(&["list", "-vv"]).output().unwrap());
    assert!(most.contains("credential: ") && !most.contains("boot_"), "{most}");
    let waited = server.command(&["tail", "Plan", "--timeout", "1"]).output().unwrap();
    assert_eq!(waited.status.code(), Some(124), "{}", stderr(&waited));
    assert!(stderr(&waited).contains("that were sent stay sent"), "{}", stderr(&waited));
}

#[test]
fn a_new_conversation_has_a_name_and_each_agent_once() {
    let home = Home::new();
    let server = home.serve();
    let unnamed = server.command(&["new", " "]).output().unwrap();
    assert_eq!(unnamed.status.code(), Some(2), "{}", stderr(&unnamed));
    assert_eq!(
        server.json(&["new", "Plan", "--with", "analyst", "--with", "analyst"])["invited"],
        json!(["analyst"])
    );
}

#[test]
fn times_are_those_of_the_place_unless_utc_is_asked_for() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.ok(&["new", "Plan", "--empty"]).trim().to_owned();
    let said = server.json(&["say", &thread, "hello"]);
    let at = said["event"]["ts"].as_str().unwrap();
    let shown = |zone: &str, more: &[&str]| {
        let args = [&["tail", &thread, "--no-follow"][..], more].concat();
        stdout(&server.command(&args).env("TZ", zone).output().unwrap())
    };
    let utc = format!("{}Z", &at[11..19]);
    assert!(shown("Etc/GMT-5", &["--utc"]).contains(&utc));
    let hours: u32 = at[11..13].parse().unwrap();
    let east = format!("{:02}{} ", (hours + 5) % 24, &at[13..19]);
    assert!(shown("<+05>-5", &[]).contains(&east), "{} has no {east}", shown("<+05>-5", &[]));
    assert!(shown("UTC", &["--since", "1h"]).contains("hello"));
    assert!(!shown("UTC", &["--since", "2099-01-01"]).contains("hello"));
    let nonsense = server.command(&["tail", &thread, "--since", "soon"]).output().unwrap();
    assert_eq!(nonsense.status.code(), Some(2), "{}", stderr(&nonsense));
}

#[test]
fn clients_find_the_server_that_the_configuration_describes() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Plan", "--empty"]);
    let bind = server.address().to_string();
    let by_variable = home.command(&["list"]).env("MOOTHALL_SERVER__BIND", &bind).output().unwrap();
    assert!(stdout(&by_variable).contains("Plan"), "{}", stderr(&by_variable));
    home.configure(&format!("[server]\nbind = {bind:?}\n"));
    let by_file = home.command(&["list"]).env("MOOTHALL_SERVER", "").output().unwrap();
    assert!(stdout(&by_file).contains("Plan"), "{}", stderr(&by_file));
}

#[test]
fn the_configuration_says_what_is_set_where_and_whether_it_is_in_order() {
    let home = Home::new();
    let user = home.path().join(".config/moothall");
    std::fs::create_dir_all(&user).unwrap();
    std::fs::write(
        user.join("moothall.toml"),
        "[server]\nbind = \"127.0.0.1:1\"\nmode = \"token\"\n",
    )
    .unwrap();
    home.configure("[server]\nbind = \"127.0.0.1:2\"\n[agents.a]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"sk-canary\"\n");
    let shown = home
        .command(&["config", "show", "--origin"])
        .env("MOOTHALL_DEFAULTS__MAX_DEPTH", "3")
        .output()
        .unwrap();
    let text = stdout(&shown);
    for row in [
        "server.bind = \"127.0.0.1:2\"  # moothall.toml:2",
        "server.mode = \"token\"",
        "defaults.max_depth = 3  # MOOTHALL_DEFAULTS__MAX_DEPTH",
    ] {
        assert!(text.contains(row), "{row} is not in {text}");
    }
    assert!(!text.contains("canary") && text.contains("(secret, hash "), "{text}");
    assert!(home.run(&["config", "check"]).status.success());
    let wrong =
        home.command(&["config", "check"]).env("MOOTHALL_SERVER__BNID", "x").output().unwrap();
    assert_eq!(wrong.status.code(), Some(78));
    assert!(
        stderr(&wrong).contains("the variable MOOTHALL_SERVER__BNID")
            && stderr(&wrong).contains("`bind`"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn a_first_configuration_is_written_once() {
    let home = Home::new();
    assert!(
        home.run(&["init", "--dry-run"]).status.success()
            && !home.path().join("moothall.toml").exists()
    );
    let written = home.command(&["init"]).env("ANTHROPIC_API_KEY", "sk-canary").output().unwrap();
    assert!(written.status.success(), "{}", stderr(&written));
    let text = std::fs::read_to_string(home.path().join("moothall.toml")).unwrap();
    assert!(
        text.contains("[server]") && text.contains("ANTHROPIC_API_KEY") && !text.contains("canary"),
        "{text}"
    );
    assert_eq!(home.run(&["init", "--defaults"]).status.code(), Some(1));
    assert!(home.run(&["config", "check"]).status.success());
}

#[test]
fn shells_and_manuals_know_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let made = home.run(&["completions", shell]);
        assert!(
            made.status.success() && stdout(&made).contains("invitation"),
            "{shell}: {}",
            stderr(&made)
        );
    }
    let made = home.run(&["man", "pages"]);
    assert!(made.status.success(), "{}", stderr(&made));
    for page in ["moothall.1", "moothall-say.1", "moothall-token-create.1"] {
        assert!(
            std::fs::read_to_string(home.path().join("pages").join(page)).unwrap().contains(".TH"),
            "{page}"
        );
    }
    assert!(!home.path().join("pages/moothall-hook.1").exists());
}

/// An address without a server.
const NOWHERE: &str = "http://127.0.0.1:1";

/// Returns a shell's completions of a line.
fn offered(server: &Server<'_>, at: &str, shell: &str, line: &str) -> Vec<String> {
    let home = server.home();
    let file = home.path().join(format!("completions.{shell}"));
    std::fs::write(&file, home.run(&["completions", shell]).stdout).unwrap();
    let script = match shell {
        "bash" => {
            "source \"$1\"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); \
                   _moothall_known moothall \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\""
        }
        // zsh adds no completions outside of its line editor, so the script prints the candidates.
        "zsh" => {
            "autoload -Uz compinit; compinit -u -D; source $1; _default() { : }; compadd() { print -rl -- \"${found[@]}\" }; \
                  LBUFFER=$2; _moothall_known"
        }
        _ => "source $argv[1]; complete -C \"$argv[2]\"",
    };
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_moothall")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let given: &[&str] = if shell == "fish" { &["-c", script] } else { &["-c", script, shell] };
    let mut command = std::process::Command::new(shell);
    command.args(given).arg(&file).arg(line).current_dir(home.path()).env_clear();
    let output =
        command.env("PATH", path).env("HOME", home.path()).env("MOOTHALL_SERVER", at).output();
    let output = output.unwrap();
    assert_eq!(stderr(&output), "", "{shell}: {line}");
    stdout(&output).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn shells_complete_what_only_the_server_knows_and_say_nothing_without_it() {
    let home = Home::new();
    home.configure("[agents.critic-two]\nreplies = [\"No.\"]\n");
    let server = home.serve();
    for name in ["Launch plan", "Lunch", "Lunch"] {
        server.accepted("/threads", json!({"name": name})).await;
    }
    for shell in ["bash", "zsh", "fish"].into_iter().filter(|shell| needs::has(shell)) {
        let offer = |line: &str| offered(&server, &server.url, shell, line);
        let found = offer("moothall say La");
        let name = if shell == "bash" { "Launch\\ plan" } else { "Launch plan" };
        assert_eq!(found, [name], "{shell}");
        assert_eq!(offer("moothall invite - critic-t"), ["critic-two"], "{shell}");
        let lunch = offer("moothall tail Lun");
        assert!(lunch.is_empty(), "{shell}: two are called so, so neither name is one: {lunch:?}");
        assert!(
            offer("moothall to").iter().all(|word| word.contains("token")),
            "{shell}: commands come from the shell's own script"
        );
        assert!(
            offered(&server, NOWHERE, shell, "moothall say La").is_empty(),
            "{shell}: no server, no names"
        );
    }
    // A server that accepts a connection and never answers does not block completion.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let output = home.run(&[
        "complete",
        "--",
        "moothall",
        "--server",
        &format!("http://{}", mute.local_addr().unwrap()),
        "say",
        "",
    ]);
    assert!(
        output.status.success() && stdout(&output).is_empty() && stderr(&output).is_empty(),
        "{}",
        stderr(&output)
    );
}

#[tokio::test]
async fn what_cannot_be_undone_is_asked_about_at_a_terminal_and_done_at_once_with_yes() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let said = server.say(&thread, "a secret").await;
    let redact = format!("redact {thread} {}", said["seq"]);
    let words =
        async || server.events(&thread).await.iter().any(|event| event["content"] == "a secret");
    {
        let terminal = Terminal::start(&server, &redact, 100, 20);
        terminal.see("permanently? [y/N]");
        terminal.press(&["Enter"]);
        terminal.see("not confirmed");
        terminal.see("left with 1");
    }
    assert!(words().await, "nothing was done");
    {
        let terminal = Terminal::start(&server, &redact, 100, 20);
        terminal.see("permanently? [y/N]");
        terminal.write("y").press(&["Enter"]);
        terminal.see("left with 0");
    }
    assert!(!words().await);
    let program = env!("CARGO_BIN_EXE_moothall");
    for (pager, wanted) in [("'sed s/^/paged:/'", "paged:"), ("none-such", "user"), ("''", "user")]
    {
        let tail = format!("--version; PAGER={pager} '{program}' tail {thread} --no-follow");
        let screen = Terminal::start(&server, &tail, 100, 20).see("left with 0");
        assert!(screen.contains(wanted), "{screen}");
        assert_eq!(screen.contains("paged:"), wanted == "paged:", "{screen}");
    }
    let made = server.json(&["token", "create", "ann"])["id"].as_str().unwrap().to_owned();
    let screen =
        Terminal::start(&server, &format!("token revoke {made} --yes"), 100, 20).see("left with 0");
    assert!(!screen.contains("[y/N]"), "{screen}");
    assert_eq!(
        server.json(&["token", "revoke", &made])["changed"],
        false,
        "and a program is not asked"
    );
}

/// Hints fit their reader: a path over HTTP, and a command on the command line.
#[tokio::test(flavor = "multi_thread")]
async fn hints_name_what_their_reader_can_run() {
    let home = Home::new();
    let server = home.serve();
    let nothing = "0190e9a0-0000-7000-8000-000000000000";
    for (path, args, wanted) in [
        ("/threads/{}/state", &["tail", nothing, "--no-follow"][..], "moothall list"),
        ("/gatherings/{}", &["gather", "show", nothing], "moothall list"),
        ("/sessions/{}", &["interrupt", nothing], "moothall sessions"),
    ] {
        let over_http = server.get(&path.replace("{}", nothing)).await.to_string();
        assert!(over_http.contains("`GET /"), "{over_http}");
        let output = stderr(&server.command(args).output().unwrap());
        assert!(output.contains(wanted) && !output.contains("GET /"), "{args:?}: {output}");
    }
    // A token is named by its holder too, if the holder has one alone.
    let made = server.json(&["token", "create", "ann"]);
    let second = server.json(&["token", "create", "ann"])["id"].as_str().unwrap().to_owned();
    let both = server.command(&["token", "revoke", "ann", "--yes"]).output().unwrap();
    assert!(stderr(&both).contains("means 2 tokens"), "{}", stderr(&both));
    assert_eq!(server.json(&["token", "revoke", &second[..10]])["ids"][0], second.as_str());
    assert_eq!(server.json(&["token", "revoke", "ann"])["ids"][0], made["id"]);
    let revoked = server.command(&["token", "revoke", nothing, "--yes"]).output().unwrap();
    assert!(stderr(&revoked).contains("`moothall token list`"), "{}", stderr(&revoked));
}

#[test]
fn a_redirect_is_told_and_not_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let _ = stream.read(&mut head).unwrap();
        let answer = "HTTP/1.1 301 Moved Permanently\r\nLocation: https://hall.test/threads\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let home = Home::new();
    let output = home.run(&["list", "--server", &format!("http://{address}")]);
    answering.join().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("https://hall.test/threads"), "{}", stderr(&output));
}
