//! The programs on the server's own terminals: started, prompted and ended through the host.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use moothall_agents::terminal::{Program, TmuxHost};
use moothall_engine::sessions::{
    HookNews, Key, Launch, Pane, PaneState, Paste, Permit, SessionHost, SessionId,
};
use moothall_testkit::model_server::{ModelServer, Reply};

use crate::harness::comes_about;
use crate::harness::{Home, PATIENCE};
use crate::programs;
use crate::world::{SESSION, SpoolListener, TOKEN};

/// The tmux server of a data folder. Dropping this ends it.
struct Server(PathBuf);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(&self.0)
            .arg("kill-server")
            .env_remove("TMUX")
            .output();
    }
}

/// Waits until a program accepts input and shows a text. Looks whenever the program has drawn
/// something.
async fn idle(host: &TmuxHost, pane: &Pane, client: &str) {
    let mut news = host.watch(pane, client).await.unwrap();
    loop {
        let view = host.view(pane, client).await.unwrap();
        if view.state == PaneState::Idle {
            return;
        }
        let drawn = tokio::time::timeout(PATIENCE, news.recv()).await;
        drawn.unwrap_or_else(|_| panic!("it draws nothing more:\n{}", view.text)).unwrap();
    }
}

/// Returns the text at the end of the first prompt's turn.
async fn end_of_turn(listening: &mut SpoolListener) -> Option<String> {
    loop {
        match listening.news().await {
            HookNews::Began | HookNews::Uses(_) => {}
            HookNews::Prompt { text } => assert!(text.contains("tag-one"), "{text}"),
            HookNews::Stopped { text, .. } => return text,
            other @ (HookNews::Asks(_) | HookNews::Failed { .. } | HookNews::Ended) => {
                panic!("{other:?}")
            }
        }
    }
}

async fn takes_a_turn(client: &str, args: &[&str]) {
    let (home, models) = (Home::new(), ModelServer::start().await.unwrap());
    let cwd = programs::settle(&home, &models.url());
    let mut listening = SpoolListener::new(Permit::Undecided);
    let mut known = Program::known_programs();
    known.values_mut().for_each(|program| program.env = programs::variables(&home));
    let folder = home.path().join("terminals");
    let _server = Server(folder.join("tmux.sock"));
    let host = TmuxHost::new(&folder, known, Arc::new(listening.injector.clone())).unwrap();
    let env = BTreeMap::from([("MOOTHALL_SESSION_TOKEN".to_owned(), TOKEN.to_owned())]);
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let launch = Launch {
        session: SessionId::new(SESSION),
        name: client.to_owned(),
        client: client.to_owned(),
        args,
        cwd,
        exact: false,
        env,
        run_as: None,
    };
    let pane = host.start(&launch).await.unwrap();
    idle(&host, &pane, client).await;
    models.when("tag-one", Reply::text("Reply to one."));
    let text = "First line\nand tag-one".to_owned();
    let paste = Paste { session: launch.session, text, bodies: Vec::new() };
    host.paste(&pane, client, &paste).await.unwrap();
    // The program may be drawing its composer: then no key was pressed, and it is tried again.
    let pressed = async || host.press(&pane, Key::Enter).await.is_ok();
    assert!(comes_about(pressed).await);
    let Ok(said) = tokio::time::timeout(PATIENCE, end_of_turn(&mut listening)).await else {
        panic!("no end of the turn:\n{}", host.view(&pane, client).await.unwrap().text);
    };
    assert_eq!(said.as_deref(), Some("Reply to one."));
    idle(&host, &pane, client).await;
    host.end(&pane).await.unwrap();
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_takes_a_turn_on_the_host() {
    takes_a_turn("claude", &[]).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_takes_a_turn_on_the_host() {
    takes_a_turn("codex", &[]).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_takes_a_turn_on_the_host() {
    takes_a_turn("gemini", &["--skip-trust"]).await;
}
