//! Piped text reaches a program unchanged, as seen in the request to the model.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use moothall_testkit::model_server::Reply;
use serde_json::json;
use tokio::time::timeout;

use crate::driven::outcomes;
use crate::harness::{PATIENCE, Server};
use crate::house::{House, in_state};
use crate::obeyed::{SECRET, furnished, strings};

const YAML: &str =
    "on:\n  push:\n    branches: [main]\njobs:\n\n- \"#x\"\n---\nkey: |\n  a  \n\n  b\n";
const PYTHON: &str = "@property\ndef f(self):\n    # [a]\n    if x:\n        return {\n            1: 2,\n        }\n";
const TOML: &str = "[a]\n\"b\" = \"\"\"\n  c\n\"\"\"\n\n[[d]]\ne = 1\n";
const MAKEFILE: &str = "all:\n\techo $@ $(HOME)\n\t\t@echo x\n";

fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(args);
    let done = git.current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Creates a git folder with changed files, each also at its end; returns the patch.
fn changed(folder: &Path, files: &[(&str, &str)]) -> String {
    fs::create_dir(folder).unwrap();
    git(folder, &["init", "--quiet"]);
    for (name, text) in files {
        fs::write(folder.join(name), text.replace("1", "2").trim_end()).unwrap();
    }
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "--message", "one"]);
    files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    let diff = git(folder, &["diff"]);
    git(folder, &["checkout", "--quiet", "."]);
    diff
}

async fn screen(server: &Server<'_>, client: &str) -> String {
    let sessions = server.get("/sessions").await;
    let id = sessions["sessions"][0]["id"].as_str().unwrap();
    let screen = server.get(&format!("/sessions/{id}/screen")).await;
    format!("{client}: {}", screen["text"].as_str().unwrap_or_default())
}

/// Runs `… | moothall send CLIENT -`; returns the text that the model received.
async fn piped(house: &House, server: &Server<'_>, client: &str, words: &str) -> String {
    let mut send = server.command(&["send", client, "-"]);
    let mut send = send.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    send.stdin.take().unwrap().write_all(words.as_bytes()).unwrap();
    assert!(send.wait().unwrap().success());
    let first = words.lines().next().unwrap();
    let asked = timeout(PATIENCE, house.model(client).asked_about(first)).await;
    assert!(asked.is_ok(), "{first:?} did not arrive:\n{}", screen(server, client).await);
    let requests = house.model(client).requests();
    let mut newest = requests.iter().map(|request| request.newest.as_str());
    let prompt = newest.rfind(|text| text.contains("[moothall:")).unwrap();
    let prompt = &prompt[prompt.find(first).unwrap()..];
    let tag = prompt.find("[moothall:").unwrap();
    prompt[..tag].strip_suffix('\n').unwrap().to_owned()
}

/// Pipes a patch, and then the files themselves, to a program.
async fn arrives(client: &str, files: &[(&str, &str)]) {
    let house = House::new().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("", &Reply::text("It is read."));
    in_state(&server, &session, "idle").await;
    let folder = house.home.path().join("changed");
    let diff = changed(&folder, files);
    let patch = house.home.path().join("arrived.patch");
    fs::write(&patch, piped(&house, &server, client, &diff).await).unwrap();
    git(&folder, &["apply", "--whitespace=nowarn", patch.to_str().unwrap()]);
    for (name, text) in files {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), *text, "{name}");
        in_state(&server, &session, "idle").await;
        let said = format!("the file {name}\n{text}");
        assert_eq!(piped(&house, &server, client, &said).await, said);
    }
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn what_is_piped_arrives_at_claude_as_it_was_but_for_tabs() {
    arrives("claude", &[("a.yaml", YAML), ("b.py", PYTHON), ("c.toml", TOML)]).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn what_is_piped_arrives_at_codex_as_it_was() {
    let files = [("a.yaml", YAML), ("b.py", PYTHON), ("c.toml", TOML), ("Makefile", MAKEFILE)];
    arrives("codex", &files).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn what_is_piped_arrives_at_gemini_as_it_was() {
    let files = [("a.yaml", YAML), ("b.py", PYTHON), ("c.toml", TOML), ("Makefile", MAKEFILE)];
    arrives("gemini", &files).await;
}

/// Returns the file that a prompt names in place of lines.
fn file_in(prompt: &str) -> PathBuf {
    let named = prompt.split_once(" in the file ").and_then(|(_, rest)| rest.split_once(", byte"));
    named.unwrap_or_else(|| panic!("no file: {prompt}")).0.into()
}

/// Pipes text around a block. The block goes as a file, which the program reads with its own tool
/// without asking a person.
async fn goes_as_a_file(
    client: &str,
    (before, block, after): (&str, &str, &str),
    tool: impl Fn(&Path) -> Reply,
) -> (House, PathBuf) {
    let house = furnished().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("", &Reply::text("It is read."));
    in_state(&server, &session, "idle").await;
    let prompt = piped(&house, &server, client, &format!("{before}{block}{after}")).await;
    let file = file_in(&prompt);
    assert!(prompt.starts_with(before) && prompt.ends_with(after), "{prompt}");
    assert_eq!(prompt.lines().count(), format!("{before}-\n{after}").lines().count(), "{prompt}");
    assert_eq!(fs::read_to_string(&file).unwrap(), block);
    in_state(&server, &session, "idle").await;
    house.when("read-tag", &tool(&file));
    let said = server.say(&session, "Please read-tag").await;
    assert_eq!(server.reply(&session, &said, client).await["content"], "It is read.");
    assert_eq!(outcomes(&server, &session).await, ["spoke", "spoke"]);
    let requests = house.model(client).requests();
    let newest = strings(&requests.last().unwrap().body).concat();
    let last = block.lines().last().unwrap().trim_start_matches(['+', '\t']);
    assert!(newest.contains(last), "it was not given {last:?}: {newest}");
    assert!(!newest.contains(SECRET), "a file or a skill came along");
    (house, file)
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn a_patch_of_a_makefile_reaches_claude_as_a_file() {
    let made = tempfile::tempdir().unwrap();
    let folder = made.path().join("changed");
    let diff = changed(&folder, &[("Makefile", MAKEFILE)]);
    let read = |file: &Path| Reply::tool("Read", json!({"file_path": file}));
    let (_house, file) =
        goes_as_a_file("claude", ("the patch\n", &diff, "and words\n"), read).await;
    git(&folder, &["apply", "--whitespace=nowarn", file.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(folder.join("Makefile")).unwrap(), MAKEFILE);
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn code_with_the_name_of_a_skill_reaches_codex_as_a_file() {
    let words = ("the code\n```sh\n", "echo $mine\necho \"$barks\"\n", "```\n");
    let read = |file: &Path| {
        Reply::tool("exec_command", json!({"cmd": format!("cat {}", file.display())}))
    };
    goes_as_a_file("codex", words, read).await;
}
