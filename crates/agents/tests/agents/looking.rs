//! Persons attached to a terminal: it takes their size meanwhile, and their typing counts.

use moothall_engine::sessions::{Launch, SessionHost};

use super::terminal::{Terminals, tmux};

#[tokio::test]
async fn a_person_can_look_and_type() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let mut ann = terminals.start("fake").await;
    ann.idle().await;
    let attach = terminals.host.attach(&ann.pane).await.unwrap();
    let socket = terminals.path("person");
    let person = ["-S", socket.as_str()];
    let mut command = vec!["new-session", "-d", "-x", "120", "-y", "40", "--", "env", "-u", "TMUX"];
    command.extend(attach.iter().map(String::as_str));
    tmux(&person, &command);
    let width =
        || terminals.tmux(&["display-message", "-p", "-t", &ann.pane.id, "#{window_width}"]);
    super::common::until("the window has the person's size", || width() == "120").await;
    tmux(&person, &["send-keys", "-l", "from a person"]);
    ann.until("the person's words", |view| view.composer.as_deref() == Some("from a person")).await;
    tmux(&person, &["kill-server"]);
}

/// A person at a terminal of 46 columns attaches, and leaves in each possible way.
#[tokio::test]
async fn a_window_has_the_size_of_those_who_look_or_its_own() {
    let Some(terminals) = Terminals::with_stand_in(&[]) else { return };
    let ann = terminals.start("fake").await;
    let second =
        Launch { session: "0190-bbbb".into(), name: "bob".into(), ..terminals.launch("fake") };
    let bob = terminals.host.start(&second).await.unwrap();
    let socket = terminals.path("person");
    let person = ["-S", socket.as_str()];
    let attach = terminals.host.attach(&ann.pane).await.unwrap();
    let look = |name: &str, width: &str| {
        let mut command = vec!["new-session", "-d", "-s", name, "-x", width, "-y", "15", "--"];
        command.extend(["env", "-u", "TMUX"]);
        command.extend(attach.iter().map(String::as_str));
        tmux(&person, &command);
    };
    let presses = |name: &str, key: &str| tmux(&person, &["send-keys", "-t", name, "C-b", key]);
    let sizes = async |of_ann: &str, of_bob: &str| {
        let width =
            |pane: &str| terminals.tmux(&["display-message", "-p", "-t", pane, "#{window_width}"]);
        let now = || (width(&ann.pane.id), width(&bob.id));
        super::common::until(&format!("widths {of_ann}, {of_bob}"), || {
            now() == (of_ann.into(), of_bob.into())
        })
        .await;
    };
    look("narrow", "46");
    sizes("46", "200").await;
    look("wide", "120");
    sizes("120", "200").await;
    presses("wide", "d");
    sizes("46", "200").await;
    presses("narrow", "d");
    sizes("200", "200").await;
    look("mover", "46");
    sizes("46", "200").await;
    presses("mover", ")");
    sizes("200", "46").await;
    presses("mover", "d");
    sizes("200", "200").await;
    look("closed", "46");
    sizes("46", "200").await;
    tmux(&person, &["kill-server"]);
    sizes("200", "200").await;
}
