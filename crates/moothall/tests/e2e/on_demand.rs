//! Configured agents that run in terminals on demand, and are asked like all others.

use std::path::Path;

use serde_json::json;

use crate::harness::stderr;
use crate::links::{Hall, start, state, until};
use crate::terminal::{Terminal, is_possible};

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_with_a_terminal_agent_of_the_configuration_works_from_the_first_word() {
    let hall = Hall::new();
    let server = hall.serve();
    let folder = hall.home.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    let mut new = server.command(&["new", "Two", "--with", "fake"]);
    assert!(new.current_dir(&folder).output().unwrap().status.success());
    let answered = server.ok(&["say", "-", "@fake hello [say:here I am]", "--wait"]);
    assert!(answered.contains("here I am"), "{answered}");
    let session = &server.get("/sessions").await["sessions"][0];
    assert_eq!((&session["name"], &session["client"]), (&json!("fake"), &json!("fake")));
    assert_eq!(session["cwd"], json!(folder.canonicalize().unwrap()), "it works in the folder");
    let again = server.ok(&["say", "-", "@fake and now? [say:still here]", "--wait"]);
    assert!(again.contains("still here"), "{again}");
    assert_eq!(
        server.get("/sessions").await["sessions"].as_array().unwrap().len(),
        1,
        "it is the same one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_an_answer_hears_it_or_what_is_asked_first() {
    let hall = Hall::new();
    let server = hall.serve();
    start(&server, &hall, "ada").await;
    let answered = server.ok(&["send", "ada", "[say:as you wish]", "--wait"]);
    assert!(answered.contains("as you wish"), "{answered}");
    let asked = server
        .command(&["send", "ada", "[ask:rm -r build] [say:done]", "--wait"])
        .output()
        .unwrap();
    let (shown, errors) = (String::from_utf8_lossy(&asked.stdout).into_owned(), stderr(&asked));
    assert_eq!(asked.status.code(), Some(6), "{shown}{errors}");
    assert!(shown.contains("rm -r build") && errors.contains("moothall permit"), "{shown}{errors}");
    let read = server.ok(&["tail", "ada", "--no-follow"]);
    assert!(
        read.contains("asks for permission: $ rm")
            && read.contains("rm -r build")
            && read.contains("moothall permit"),
        "{read}"
    );
    server.ok(&["permit", "ada", "allow"]);
    until("it is done", async || server.ok(&["tail", "ada", "--no-follow"]).contains("done")).await;
    assert!(server.ok(&["tail", "ada", "--no-follow"]).contains("answered: "));
    let asked = server.command(&["say", "ada", "[ask:rm -r all]", "--wait"]).output().unwrap();
    assert_eq!(asked.status.code(), Some(6), "{}", stderr(&asked));
    if is_possible() {
        let terminal = Terminal::start(&server, "permit", 120, 30);
        terminal.see("Answer (Enter leaves it open):");
        terminal.write("allow").press(&["Enter"]);
        terminal.see("Answered ada: ");
    }
}

/// True if the process does not exist, or is a zombie.
fn is_gone(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status
        .rsplit(')')
        .next()
        .is_none_or(|rest| rest.trim().is_empty() || rest.trim().starts_with('Z'))
}

#[tokio::test]
async fn a_program_that_outlives_its_terminal_is_ended_by_the_next_server() {
    let hall = Hall::new();
    let (home, pid) = (&hall.home, hall.home.path().join("pid"));
    let written = pid.display();
    let stubborn = format!(
        "trap '' HUP TERM\necho $$ > {written}.new\nmv {written}.new {written}\nwhile :; do sleep 1 </dev/null; done"
    );
    let script = home.script("stubborn", &stubborn);
    home.configure(&format!(
        "[agents.stubborn]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"{script}\"]\n"
    ));
    let server = hall.serve();
    let started =
        server.accepted("/sessions", json!({"client": "stubborn", "cwd": home.path()})).await;
    until("it runs", async || pid.exists()).await;
    let pid = std::fs::read_to_string(Path::new(&pid)).unwrap().trim().to_owned();
    server.accepted(&format!("/sessions/{}/end", started["id"].as_str().unwrap()), json!({})).await;
    server.kill();
    assert!(!is_gone(&pid), "it does not care");
    let _server = hall.serve();
    until("it is gone", async || is_gone(&pid)).await;
}

#[tokio::test]
async fn a_program_that_died_says_how_and_leaves_no_terminal() {
    let hall = Hall::new();
    let server = hall.serve();
    let ada = start(&server, &hall, "ada").await;
    let thread = server.thread().await;
    server.ok(&["invite", &thread, "ada", "--session", "ada"]);
    server.say(&thread, "@ada the secret of the screen [die:3]").await;
    until("the session is over", async || state(&server, &ada).await == "ended").await;
    let listed = server.get("/sessions?ended=true").await;
    let why = listed["sessions"][0]["ended"]["why"].as_str().unwrap();
    assert!(why.contains("with exit status 3"), "{why}");
    let panes = async || {
        String::from_utf8(hall.tmux(&["list-panes", "-a", "-F", "#{window_name}"]).stdout).unwrap()
    };
    until("nothing shows it any more", async || {
        !panes().await.contains("ada") && !panes().await.contains("ended")
    })
    .await;
    assert!(server.ok(&["sessions", "--ended"]).contains("with exit status 3"));
    // All participants can read how the program ended. Only readers of its screen see the screen's
    // text.
    let notice = server.wait_for(&thread, 0, |seen| !seen["meta"]["error"].is_null()).await;
    let message = notice["meta"]["error"]["message"].as_str().unwrap();
    assert_eq!(message, "its session has ended: its program ended with exit status 3");
    assert!(why.contains("with exit status 3: ") && why.contains("a stand-in"), "{why}");
}
