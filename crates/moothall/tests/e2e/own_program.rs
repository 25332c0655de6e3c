//! A program that is run from a package manager's cache, which is emptied while a session works.

use std::fs;

use serde_json::json;

use crate::links::{Hall, said, start, until};

#[tokio::test]
async fn hooks_report_after_the_programs_cache_was_deleted() {
    let hall = Hall::new();
    let cache = hall.home.path().join(".cache/uv/archive-v0/x/bin");
    fs::create_dir_all(&cache).unwrap();
    let program = cache.join("moothall");
    fs::copy(env!("CARGO_BIN_EXE_moothall"), &program).unwrap();
    let data = hall.home.data();
    let args = ["serve", "--json", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()];
    let server = hall.home.serve_by(hall.home.command_of(&program, &args));
    let ada = start(&server, &hall, "ada").await;
    fs::remove_dir_all(hall.home.path().join(".cache")).unwrap();
    let thread = server.thread().await;
    server.control(&thread, json!({"invite": {"profile": {"session": ada.id}}})).await;
    server
        .accepted(
            &format!("/threads/{thread}/events"),
            json!({"from": "user", "content": "@ada are you there? [say:Here I am.]"}),
        )
        .await;
    until("ada's answer is reported", async || {
        said(&server, &thread).await.iter().any(|(from, _)| from == "ada")
    })
    .await;
    let copies: Vec<_> =
        fs::read_dir(hall.home.path().join(".local/state/moothall/programs")).unwrap().collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
}
