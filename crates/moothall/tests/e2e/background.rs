//! The server in the background: the first command that needs one begins it, `stop-server` ends it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::harness::{Home, comes_about, stderr};

const BEGUN: &str = "Moothall runs in the background now";

/// Returns a home whose servers take a free port, with a folder to type commands in.
fn home() -> (Home, PathBuf) {
    let home = Home::new();
    let settings = home.path().join(".config/moothall");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("moothall.toml"), "[server]\nbind = \"127.0.0.1:0\"\n").unwrap();
    let folder = home.path().join("project");
    fs::create_dir_all(&folder).unwrap();
    (home, folder)
}

fn run(home: &Home, folder: &Path, args: &[&str]) -> Output {
    home.command(args).current_dir(folder).output().unwrap()
}

/// Returns what a server wrote for the commands of its user, if one did.
fn posted(home: &Home) -> Option<Value> {
    let text = fs::read_to_string(home.path().join(".local/share/moothall/startup.key")).ok()?;
    serde_json::from_str(&text).ok()
}

fn pid(home: &Home) -> i32 {
    posted(home).unwrap()["pid"].as_i64().unwrap().try_into().unwrap()
}

/// Returns the servers of this home.
fn servers(home: &Home) -> Vec<i32> {
    let variable = format!("HOME={}", home.path().display());
    let is_server = |process: &PathBuf| {
        let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
        let (environment, words) = (read("environ"), read("cmdline"));
        environment.split(|byte| *byte == 0).any(|set| set == variable.as_bytes())
            && words.split(|byte| *byte == 0).nth(1) == Some(b"serve")
    };
    let all = fs::read_dir("/proc").unwrap().flatten().map(|process| process.path());
    all.filter(is_server).filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

#[tokio::test]
async fn the_first_command_begins_a_server_and_stop_server_ends_it() {
    let (home, folder) = home();
    let none = run(&home, &folder, &["list"]);
    assert_eq!((none.status.code(), servers(&home)), (Some(69), vec![]), "{}", stderr(&none));
    let made = run(&home, &folder, &["new", "Plan", "--with", "analyst"]);
    assert!(made.status.success() && stderr(&made).contains(BEGUN), "{}", stderr(&made));
    assert_eq!(stderr(&made).matches(BEGUN).count(), 1);
    let server = pid(&home);
    assert_eq!(servers(&home), [server]);
    // The folder is the command's, not the server's.
    assert_eq!(fs::read_link(format!("/proc/{server}/cwd")).unwrap(), home.path());
    let log = home.path().join(".local/state/moothall/server.log");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&log).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "the log has a link with a credential");
    let mut keyed = home.command(&["new", "Council", "--with", "anthropic"]);
    let keyed = keyed.current_dir(&folder).env("ANTHROPIC_API_KEY", "sk-x").output().unwrap();
    assert!(stderr(&keyed).contains("the server lacks ANTHROPIC_API_KEY"), "{}", stderr(&keyed));
    let said = run(&home, &folder, &["say", "-", "@analyst what do you make of it?", "--wait"]);
    assert!(said.status.success() && !stderr(&said).contains(BEGUN), "{}", stderr(&said));

    let stopped = run(&home, &folder, &["stop-server"]);
    assert!(stderr(&stopped).contains("has stopped"), "{}", stderr(&stopped));
    assert!(comes_about(async || servers(&home).is_empty()).await);
    assert_eq!(posted(&home), None);
    let ports = fs::read_dir(home.path().join(".local/state/moothall/servers")).unwrap();
    assert_eq!(ports.count(), 0);
    let again = run(&home, &folder, &["stop-server", "--json"]);
    assert!(again.status.success());
    assert_eq!(serde_json::from_slice::<Value>(&again.stdout).unwrap()["stopped"], false);
}

#[tokio::test]
async fn a_known_program_works_in_the_folder_of_the_command_that_made_the_conversation() {
    let (home, folder) = home();
    let claude = home.path().join("claude");
    fs::write(&claude, "#!/bin/sh\ncat >/dev/null\npwd -P\n").unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let settings = format!(
        "[server]\nbind = \"127.0.0.1:0\"\n[agents.claude]\nruntime = \"command\"\n\
         command = [{claude:?}]\n"
    );
    fs::write(home.path().join(".config/moothall/moothall.toml"), settings).unwrap();
    let path = |folder: &Path| folder.canonicalize().unwrap().display().to_string();
    let other = home.path().join("other");
    fs::create_dir(&other).unwrap();
    for (args, place) in [
        (vec!["new", "Plan", "--with", "claude"], &folder),
        (vec!["new", "Else", "--with", "claude", "--folder", "../other"], &other),
    ] {
        let made = run(&home, &folder, &args);
        assert!(stderr(&made).contains("The folder for claude: "), "{}", stderr(&made));
        // The words come from another folder: that of the conversation stays.
        let said = run(&home, home.path(), &["say", "-", "@claude go", "--wait"]);
        let shown = String::from_utf8(said.stdout).unwrap();
        assert!(shown.contains(&path(place)), "{shown}");
    }
    let wrong = run(&home, &folder, &["new", "Gone", "--folder", "gone"]);
    assert!(stderr(&wrong).contains("gone is not a folder on this computer"), "{}", stderr(&wrong));
}

#[tokio::test]
async fn two_commands_at_once_begin_one_server() {
    let (home, folder) = home();
    let new = |name: &str| {
        let mut command = home.command(&["new", name, "--empty"]);
        command.current_dir(&folder).stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let both =
        [new("One"), new("Two"), new("Three")].map(|child| child.wait_with_output().unwrap());
    let begun: usize = both.iter().map(|output| stderr(output).matches(BEGUN).count()).sum();
    for output in &both {
        assert!(output.status.success(), "{}", stderr(output));
    }
    assert_eq!(begun, 1);
    assert!(comes_about(async || servers(&home) == [pid(&home)]).await);
    let listed = String::from_utf8(run(&home, &folder, &["list"]).stdout).unwrap();
    assert!(["One", "Two", "Three"].iter().all(|name| listed.contains(name)), "{listed}");
}

#[tokio::test]
async fn a_server_that_was_killed_is_begun_anew_and_keeps_all() {
    let (home, folder) = home();
    assert!(run(&home, &folder, &["new", "Plan", "--empty"]).status.success());
    kill(Pid::from_raw(pid(&home)), Signal::SIGKILL).unwrap();
    assert!(comes_about(async || servers(&home).is_empty()).await);
    let said = run(&home, &folder, &["say", "Plan", "still here"]);
    assert!(said.status.success() && stderr(&said).contains(BEGUN), "{}", stderr(&said));
    assert_eq!(servers(&home), [pid(&home)]);
}

#[tokio::test]
async fn a_server_begins_only_for_a_person_who_names_none() {
    let (home, folder) = home();
    let named = run(&home, &folder, &["new", "Plan", "--server", "http://127.0.0.1:9"]);
    assert_eq!(named.status.code(), Some(69), "{}", stderr(&named));
    let mut inside = home.command(&["new", "Plan"]);
    let inside = inside.current_dir(&folder).env("MOOTHALL_SESSION", "0198").output().unwrap();
    assert_eq!(inside.status.code(), Some(69), "{}", stderr(&inside));
    // A folder from elsewhere does not decide which programs a server runs.
    let planted = "[agents.planted]\nruntime = \"command\"\nargv = [\"touch\", \"planted\"]\n";
    fs::write(folder.join("moothall.toml"), planted).unwrap();
    let foreign = run(&home, &folder, &["new", "Plan"]);
    assert_eq!(foreign.status.code(), Some(69), "{}", stderr(&foreign));
    assert!(stderr(&foreign).contains("moothall serve"), "{}", stderr(&foreign));
    assert!(servers(&home).is_empty());
}

#[tokio::test]
async fn a_server_that_cannot_begin_says_why() {
    let (home, folder) = home();
    fs::write(home.path().join(".config/moothall/moothall.toml"), "[server]\nbnid = 1\n").unwrap();
    let failed = run(&home, &folder, &["new", "Plan"]);
    assert_eq!(failed.status.code(), Some(78), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("bnid"), "{}", stderr(&failed));
    // Only the server can tell that its folder cannot be made.
    let data = home.path().join(".local/share/moothall");
    fs::create_dir_all(data.parent().unwrap()).unwrap();
    fs::write(&data, "a file in the place of the folder").unwrap();
    fs::write(
        home.path().join(".config/moothall/moothall.toml"),
        "[server]\nbind = \"127.0.0.1:0\"\n",
    )
    .unwrap();
    let failed = run(&home, &folder, &["new", "Plan"]);
    assert_eq!(failed.status.code(), Some(69), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("server.log ends with"), "{}", stderr(&failed));
}
