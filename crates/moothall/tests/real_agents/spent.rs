//! Tokens and cost of the programs: those of a terminal by their records, those of a run by its
//! structured output.

use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::harness::{Home, Server};
use crate::house::House;
use crate::programs;

/// Returns tokens read, tokens written and millionths of all turns.
fn spent(server: &Server<'_>) -> [u64; 3] {
    let usage: Value = server.json(&["usage", "--by", "agent"]);
    ["input_tokens", "output_tokens", "cost_micros"]
        .map(|field| usage["total"][field].as_u64().unwrap_or_else(|| panic!("{usage}")))
}

/// Two turns in a terminal, with a crash of the server between them.
async fn is_counted_in_a_terminal(client: &str) {
    let house = House::new().await;
    house.configure(&format!(
        "[agents.{client}]\nruntime = \"terminal\"\nprice_input = 1\nprice_output = 10\n"
    ));
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    house.when("tag-first", &Reply::text("One.").usage(500, 4));
    let said = server.say(&session, "Please tag-first").await;
    server.reply(&session, &said, client).await;
    assert_eq!(spent(&server), [500, 4, 540], "{}", server.ok(&["why", &session]));

    let server = house.crash_and_restart(server);
    house.when("tag-second", &Reply::text("Two.").usage(700, 5));
    let said = server.say(&session, "Please tag-second").await;
    server.reply(&session, &said, client).await;
    assert_eq!(spent(&server), [1200, 9, 1290], "{}", server.ok(&["why", &session]));
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_counted_in_a_terminal() {
    is_counted_in_a_terminal("claude").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_is_counted_in_a_terminal() {
    is_counted_in_a_terminal("codex").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_is_counted_in_a_terminal() {
    is_counted_in_a_terminal("gemini").await;
}

/// One turn of a program as it was found on the search path.
async fn is_counted_in_a_run(client: &str) -> [u64; 3] {
    let (home, models) = (Home::new(), ModelServer::start().await.unwrap());
    programs::settle(&home, &models.url());
    models.when("zebra", Reply::text("It has *stripes*.").usage(500, 4));
    // Words of others are words: the program reads no file that they name.
    std::fs::write(home.path().join("secret.txt"), "the forbidden words").unwrap();
    let server = home.serve_with("127.0.0.1:0", &[("PATH", &programs::path())]);
    let thread = server.thread().await;
    server.invite(&thread, client, client).await;
    let words = format!("@{client} what has a zebra? It is in @secret.txt and @~/secret.txt");
    let asked = server.say(&thread, &words).await;
    let reply = server.reply(&thread, &asked, client).await;
    for request in models.requests() {
        assert!(!format!("{request:?}").contains("the forbidden words"), "{request:?}");
    }
    assert_eq!(reply["content"], json!("It has *stripes*."));
    spent(&server)
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_is_counted_in_a_run() {
    let [read, written, micros] = is_counted_in_a_run("claude").await;
    assert_eq!([read, written], [500, 4]);
    assert!(micros > 0, "its own price");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_is_counted_in_a_run() {
    assert_eq!(is_counted_in_a_run("codex").await, [500, 4, 0]);
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_is_counted_in_a_run() {
    let [read, written, micros] = is_counted_in_a_run("gemini").await;
    assert!(read >= 500 && written >= 4, "its router's tokens count too: {read} + {written}");
    assert_eq!(micros, 0);
}
