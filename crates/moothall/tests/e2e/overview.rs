//! `moothall` without a command: an overview that stays, and a list for pipes.

use serde_json::{Value, json};

use crate::harness::{Home, Server, stderr};
use crate::links::{Agent, Hall, asked, said, start, until};
use crate::terminal::{Terminal, is_possible};

/// Starts a session that asks for a permission.
async fn asking(server: &Server<'_>, hall: &Hall, name: &str, action: &str) -> Agent {
    let agent = start(server, hall, name).await;
    server.say(&agent.id, &format!("[ask:{action}]")).await;
    asked(server, &agent, 1).await;
    agent
}

/// Returns the answer that a person gave to the session's request, if there is one.
async fn answered(server: &Server<'_>, agent: &Agent) -> Option<Value> {
    let events = server.events(&agent.id).await.into_iter();
    events
        .map(|event| event["content"].clone())
        .find(|content| content["event"] == "answered")
        .map(|content| content["option"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_answered_by_number_and_conversations_opened() {
    if !is_possible() {
        return;
    }
    let hall = Hall::new();
    let server = hall.serve();
    let ada = asking(&server, &hall, "ada", "rm -rf build").await;
    let bob = asking(&server, &hall, "bob", "git push").await;
    let terminal = Terminal::start(&server, "", 90, 40);
    let shown = terminal.wait("both wait", |screen| screen.contains("Needs you  2"));
    assert!(shown.contains("rm -rf build") && !shown.contains("git push"), "{shown}");
    assert!(shown.contains("1. allow") && shown.contains("q quit"), "{shown}");
    // A digit is for the request on the screen, and the next one opens.
    terminal.press(&["j"]);
    terminal.wait("the second", |screen| screen.contains("git push"));
    terminal.press(&["2"]);
    terminal.wait("one is left", |screen| {
        screen.contains("Needs you  1") && screen.contains("rm -rf build")
    });
    assert_eq!(
        (answered(&server, &bob).await, answered(&server, &ada).await),
        (Some(json!("deny")), None)
    );
    // The one that opened by itself takes no digit at once; the key comes again until it does.
    until("it is allowed", async || {
        terminal.press(&["1"]);
        answered(&server, &ada).await == Some(json!("allow"))
    })
    .await;
    terminal.wait("none is left", |screen| !screen.contains("Needs you"));
    // Enter opens the chosen conversation, and leaving it leads back.
    terminal.press(&["Enter"]);
    terminal.wait("a chat", |screen| screen.contains("Ctrl-D leaves"));
    terminal.write("hello [say:at your service]").press(&["Enter"]);
    terminal.wait("its answer", |screen| screen.contains("at your service"));
    terminal.press(&["C-d"]);
    terminal.wait("back", |screen| screen.trim_end().ends_with("q quit"));
    terminal.press(&["q"]);
    terminal.wait("the end", |screen| screen.contains("left with 0"));
    assert!(terminal.screen().contains("icanon"), "the terminal is as before");
    assert!(said(&server, &ada.id).await.len() + said(&server, &bob.id).await.len() > 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_shown_whole_can_only_be_refused() {
    if !is_possible() {
        return;
    }
    let hall = Hall::new();
    let server = hall.serve();
    let lines: Vec<String> = (0..40).map(|line| format!("echo {line}")).collect();
    let ada = asking(&server, &hall, "ada", &lines.join(" && ")).await;
    let terminal = Terminal::start(&server, "", 40, 40);
    terminal.wait("it waits", |screen| screen.contains("Needs you  1"));
    until("it says so", async || {
        terminal.press(&["1"]);
        terminal.screen().contains("Only a part is shown")
    })
    .await;
    assert_eq!(answered(&server, &ada).await, None);
    until("it is refused", async || {
        terminal.press(&["2"]);
        answered(&server, &ada).await == Some(json!("deny"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_a_list_and_without_a_server_the_help() {
    let home = Home::new();
    let help = home.run(&[]);
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("Usage:"));
    let hall = Hall::new();
    let server = hall.serve();
    server.ok(&["new", "Launch plan", "--empty"]);
    asking(&server, &hall, "ada", "rm -rf build").await;
    let listed = server.ok(&[]);
    assert!(listed.contains("Launch plan") && listed.contains("rm -rf build"), "{listed}");
    assert!(!listed.contains('\u{1b}'));
    assert_eq!(server.ok(&["--plain"]), listed);
    let whole = server.json(&[]);
    assert_eq!(whole["needs"][0]["kind"], "permission", "{whole}");
    let none = home.run(&["--plain"]);
    assert_eq!(none.status.code(), Some(69), "{}", stderr(&none));
}
