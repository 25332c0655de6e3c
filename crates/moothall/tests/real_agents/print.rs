//! Programs run once per turn, as found on the search path: without configuration except their own
//! login.

use moothall_testkit::model_server::{ModelServer, Reply};

use crate::harness::Home;
use crate::programs;

async fn answers(client: &str) {
    let (home, models) = (Home::new(), ModelServer::start().await.unwrap());
    programs::settle(&home, &models.url());
    models.when("zebra", Reply::text("It has *stripes*."));
    let server = home.serve_with("127.0.0.1:0", &[("PATH", &programs::path())]);
    let thread = server.thread().await;
    server.invite(&thread, client, client).await;
    let asked = server.say(&thread, &format!("@{client} what has a zebra?")).await;
    let reply = server.reply(&thread, &asked, client).await;
    assert_eq!(reply["content"], "It has *stripes*.");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_answers_a_turn() {
    answers("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_answers_a_turn() {
    answers("codex").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_answers_a_turn() {
    answers("gemini").await;
}
