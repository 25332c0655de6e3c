//! Computers: several servers with data folders of their own, which meet at a private Redis.

mod ask;
mod envelopes;
mod faults;
mod guide;
mod links;
mod pairs;
mod restored;
mod scenarios;
mod send;
mod three;
mod turns;
mod without;

use std::io::Write;
use std::process::{Output, Stdio};

use moothall_testkit::redis::RedisServer;
use serde_json::Value;

use crate::harness::{Home, Server, comes_about, stderr};
use crate::links::Hall;

/// Runs a command of `moothall computers` with words on its standard input.
pub fn computers(server: &Server<'_>, args: &[&str], input: &str) -> Output {
    let args: Vec<&str> = ["computers"].iter().chain(args).copied().collect();
    let mut command = server.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Returns the line that a command printed.
pub fn line(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).unwrap().trim().to_owned()
}

/// Invites a computer by a server that has no id yet.
pub fn invited(server: &Server<'_>, name: &str, redis: &RedisServer) -> String {
    let args = ["invite", "--name", name, "--redis", &redis.url(), "--up", "1"];
    line(&computers(server, &args, ""))
}

/// Pairs two servers: the first invites, and the second joins.
pub fn pair(one: &Server<'_>, other: &Server<'_>, redis: &RedisServer) {
    pair_at(one, other, &redis.url(), None);
}

/// Starts two servers, pairs them at a Redis, and waits until the laptop sees the workstation.
pub async fn paired<'a>(
    workstation: &'a Hall,
    laptop: &'a Hall,
    redis: &RedisServer,
) -> (Server<'a>, Server<'a>) {
    let servers = (workstation.serve(), laptop.serve());
    pair(&servers.0, &servers.1, redis);
    until_state(&servers.1, "workstation", "up").await;
    servers
}

/// Pairs two servers. The second reaches the Redis at an address of its own, if one is given.
pub fn pair_at(one: &Server<'_>, other: &Server<'_>, redis: &str, its_own: Option<&str>) {
    let args = ["invite", "--name", "workstation", "--redis", redis, "--up", "1"];
    let invitation = line(&computers(one, &args, ""));
    let mut args = vec!["join", "-", "--name", "laptop"];
    args.extend(its_own.into_iter().flat_map(|address| ["--redis", address]));
    let answer = line(&computers(other, &args, &invitation));
    let joined = computers(one, &["join", "-"], &answer);
    assert!(joined.status.success(), "{}", stderr(&joined));
}

/// Returns what a server says of a computer.
pub fn computer(server: &Server<'_>, name: &str) -> Value {
    let list = server.json(&["computers"]);
    let all = list["computers"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
}

/// Waits until a server says that a computer has a state.
pub async fn until_state(server: &Server<'_>, name: &str, state: &str) {
    let is_so = async || computer(server, name)["state"] == state;
    assert!(comes_about(is_so).await, "{}", server.json(&["computers"]));
}

/// Returns the findings of `doctor` about the post and the computers of a server, as lines.
pub fn doctor(server: &Server<'_>) -> String {
    let args = ["--server", &server.url, "doctor", "--bind", "127.0.0.1:0"];
    let output = server.home().command(&args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the fault of the post that a server shows.
pub fn fault(server: &Server<'_>) -> String {
    let list = server.json(&["computers"]);
    list["post"]["fault"].as_str().unwrap_or_default().to_owned()
}

/// Waits until a server shows a fault of the post with these words, to a person too.
pub async fn until_fault(server: &Server<'_>, words: &str) {
    let is_so = comes_about(async || fault(server).contains(words)).await;
    assert!(is_so, "{words}: {}", server.json(&["computers"]));
    let listed = server.command(&["computers"]).output().unwrap();
    assert!(stderr(&listed).contains(words), "{}", stderr(&listed));
    let found = doctor(server);
    let is_told = |line: &str| line.starts_with("warn  post") && line.contains(words);
    assert!(found.lines().any(is_told), "{found}");
}

/// Returns the home of a server that signs its requests.
pub fn home() -> Home {
    let home = Home::new();
    home.sign();
    home
}
