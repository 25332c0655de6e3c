//! Sessions that run again after a restart of the computer.

use super::*;

/// The server and tmux die at once, as with the computer.
#[tokio::test]
async fn after_a_restart_of_the_computer_sessions_run_again_with_their_links() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let link =
        direct(&server, &ada, &bob, "[say:heard]").await["link_id"].as_str().unwrap().to_owned();
    until("bob answers", async || {
        said(&server, &link).await.contains(&("bob".into(), "heard".into()))
    })
    .await;
    hall.tmux(&["kill-server"]);
    let server = server.crash_and_restart();
    until("both are over", async || {
        state(&server, &ada).await == "ended" && state(&server, &bob).await == "ended"
    })
    .await;
    let ended = server.get("/sessions/ada").await["ended"].clone();
    assert_eq!(
        (&ended["why"], &ended["lost"]),
        (&json!("the computer, or tmux, was restarted"), &json!(true))
    );
    let refused = server.command(&["send", "ada", "hello"]).output().unwrap();
    let refused = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.contains("`moothall resume ada` runs it again"), "{refused}");
    let listed = server.ok(&["resume"]);
    assert!(listed.contains("ada") && listed.contains("bob"), "{listed}");
    assert_eq!(server.ok(&["resume", "--all"]).lines().count(), 2);
    assert_eq!(links(&server, &ada).await[0]["id"], link.as_str());
    assert_eq!(server.get("/sessions/bob").await["id"], bob.id.as_str());
    server.say(&ada.id, "[say:here again]").await;
    until("ada answers at home", async || {
        said(&server, &ada.id).await.contains(&("ada".into(), "here again".into()))
    })
    .await;
    assert_eq!(server.ok(&["resume"]), "", "nothing is left to be resumed");
}
