//! Obstacles to a server's start, and its shutdown.

use std::fs::File;
use std::io::Read;
use std::process::Stdio;
use std::sync::mpsc;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use serde_json::json;

use crate::harness::{Home, PATIENCE, RunningProcess, stderr};

#[test]
fn a_data_folder_has_one_server() {
    let home = Home::new();
    let _first = home.serve();
    let data = home.data();
    let second = home.run(&["serve", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    assert_eq!(second.status.code(), Some(75));
    assert!(stderr(&second).contains("another server is using"), "{}", stderr(&second));
    assert!(stderr(&second).contains("--data"));
}

#[test]
fn a_taken_port_is_named() {
    let home = Home::new();
    let first = home.serve();
    let bind = first.address().to_string();
    let second = home.run(&["serve", "--bind", &bind, "--data", "other"]);
    assert_eq!(second.status.code(), Some(69));
    assert!(stderr(&second).contains(&bind), "{}", stderr(&second));
}

#[test]
fn other_computers_are_kept_out() {
    let home = Home::new();
    let refused = home.run(&["serve", "--bind", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(78));
    assert!(stderr(&refused).contains("local mode"), "{}", stderr(&refused));
}

#[test]
fn a_mistyped_key_is_found() {
    let home = Home::new();
    home.configure(
        "# Ours\n[server]\nbind = \"127.0.0.1:0\"\n\n[defaults]\nmax_agent_turn_per_message = 4\n",
    );
    for args in [&["serve"][..], &["serve", "--config", "moothall.toml"]] {
        let refused = home.run(args);
        assert_eq!(refused.status.code(), Some(78));
        let said = stderr(&refused);
        assert!(
            said.contains("moothall.toml:6:1: unknown key `max_agent_turn_per_message`"),
            "{said}"
        );
        assert!(said.contains("did you mean `max_agent_turns_per_message`?"), "{said}");
    }
    let doctor = home.run(&["doctor", "--json"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("max_agent_turns_per_message"));
}

#[test]
fn without_a_server_commands_say_how_to_start_one() {
    let home = Home::new();
    let server = home.serve();
    let url = server.url.clone();
    server.kill();
    let refused = home.run(&["list", "--server", &url]);
    assert_eq!(refused.status.code(), Some(69));
    assert!(stderr(&refused).contains("moothall serve"), "{}", stderr(&refused));
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_ends_well_and_keeps_everything() {
    let home = Home::new();
    let server = home.serve();
    let thread = server.thread().await;
    let said = server.say(&thread, "before").await;
    assert_eq!(server.stop().code(), Some(0));
    let server = home.serve();
    assert!(server.events(&thread).await.contains(&said));
    assert_eq!(
        server.accepted(&format!("/threads/{thread}/stop"), json!({})).await["stopped"],
        true
    );
}

#[tokio::test]
async fn a_server_takes_the_programs_that_it_runs_with_it() {
    let home = Home::new();
    let pipe = home.path().join("alive");
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let busy = home.script("busy", &format!("exec 3>{}; exec sleep 600", pipe.display()));
    home.configure(&format!("[agents.busy]\ncommand = [\"{busy}\"]\n"));
    let server = home.serve();
    let thread = server.thread().await;
    server.invite(&thread, "busy", "busy").await;
    server.say(&thread, "@busy work").await;

    let (opened, open) = mpsc::channel();
    let (closed, end) = mpsc::channel();
    std::thread::spawn(move || {
        let mut alive = File::open(pipe).unwrap();
        opened.send(()).unwrap();
        closed.send(alive.read_to_end(&mut Vec::new()).unwrap()).unwrap();
    });
    open.recv_timeout(PATIENCE).expect("the program never began");
    assert_eq!(server.stop().code(), Some(0));
    end.recv_timeout(PATIENCE).expect("the program goes on without its server");
}

#[test]
fn ctrl_c_ends_a_command_with_its_own_code() {
    let home = Home::new();
    let server = home.serve();
    server.ok(&["new", "Talk", "--empty"]);
    server.ok(&["say", "-", "hello"]);
    let tail = server
        .command(&["tail", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let tail = RunningProcess::of(tail);
    tail.line();
    tail.signal(Signal::SIGINT);
    assert_eq!(tail.end().code(), Some(130));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new();
    let server = home.serve();
    let mut agents =
        server.command(&["agents"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(agents.stdout.take());
    let output = agents.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}
