//! Sessions resumed after a restart of the computer.

use super::*;

/// Server and tmux die together, as with the computer.
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
    let before = standing(&server, &[&ada, &bob]).await;
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
    assert_eq!(standing(&server, &[&ada, &bob]).await, before);
    server.say(&ada.id, "[say:here again]").await;
    until("ada answers at home", async || {
        said(&server, &ada.id).await.contains(&("ada".into(), "here again".into()))
    })
    .await;
    assert_eq!(server.ok(&["resume"]), "", "nothing is left to be resumed");
}

/// Returns the home of each session, which has its id, and its name and its folder.
async fn standing(server: &Server<'_>, agents: &[&Agent]) -> Vec<Value> {
    let mut found = Vec::new();
    for agent in agents {
        let session = server.get(&format!("/sessions/{}", agent.name)).await;
        found.push(json!([session["id"], session["name"], session["cwd"]]));
    }
    found
}

/// Each reader is told about a member that is not resumed. Ending that member restores the link.
#[tokio::test]
async fn a_link_comes_back_without_a_member_that_is_ended_instead_of_resumed() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let cyd = start(&server, &hall, "cyd").await;
    let members: Vec<_> =
        [&ada, &bob, &cyd].iter().map(|agent| json!({ "session": agent.id })).collect();
    let made = server.accepted("/links", json!({ "members": members })).await;
    hall.tmux(&["kill-server"]);
    let server = server.crash_and_restart();
    for agent in [&ada, &bob, &cyd] {
        until("all are over", async || state(&server, agent).await == "ended").await;
    }
    server.ok(&["resume", "ada"]);
    let resumed = server.command(&["resume", "bob"]).output().unwrap();
    let errors = String::from_utf8(resumed.stderr).unwrap();
    let wanted = "A link of bob waits for cyd, which is not resumed yet: moothall resume cyd   or: moothall end cyd";
    assert!(errors.contains(wanted), "{errors}");
    assert_eq!(server.get("/sessions/ada").await["waits_for"], json!(["cyd"]));
    let listed = server.get("/sessions").await["sessions"].clone();
    let waits = |entry: &Value| entry["waits_for"] == json!(["cyd"]);
    assert!(listed.as_array().unwrap().iter().all(waits), "{listed}");
    assert!(links(&server, &ada).await.is_empty());
    let id = &made["link"]["id"];
    let link = server.get(&format!("/links/{}", id.as_str().unwrap())).await;
    assert_eq!((&link["active"], &link["waits_for"]), (&json!(false), &json!(["cyd"])));
    for path in ["/links", "/links?session=bob"] {
        let waiting = server.get(path).await["waiting"].clone();
        assert_eq!((&waiting[0]["id"], &waiting[0]["waits_for"]), (id, &json!(["cyd"])), "{path}");
    }
    let listed = server.command(&["link", "list"]).output().unwrap();
    let errors = String::from_utf8(listed.stderr).unwrap();
    assert!(
        errors.contains("waits for cyd, which is not resumed yet: moothall resume cyd"),
        "{errors}"
    );
    server.ok(&["end", "cyd", "--yes"]);
    assert_eq!(server.get("/links").await["waiting"], Value::Null);
    assert_eq!(links(&server, &ada).await[0]["id"], made["link"]["id"]);
    assert_eq!(server.get("/sessions/ada").await["waits_for"], Value::Null);
    assert_eq!(server.ok(&["resume"]), "", "nothing is left to be resumed");
}

/// The server dies at each point of a resume. The session then runs or can be resumed, its link is
/// complete or closed, and no extra program runs.
#[cfg(feature = "crash-points")]
#[tokio::test]
async fn a_session_runs_or_can_be_resumed_wherever_the_server_dies() {
    for (point, runs) in [
        ("session_revived", false),
        ("program_in_terminal", false),
        ("session_started", true),
        ("link_reopened", true),
        ("link_rejoined", true),
    ] {
        let hall = Hall::new();
        let server = hall.serve();
        let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
        let link = direct(&server, &ada, &bob, "hello").await["link_id"].clone();
        until("bob heard it", async || screen_shows(&server, &bob, "hello").await).await;
        hall.tmux(&["kill-server"]);
        let server = server.crash_and_restart();
        let address = server.address().to_string();
        for agent in [&ada, &bob] {
            until(point, async || state(&server, agent).await == "ended").await;
        }
        server.ok(&["resume", "ada"]);
        until(point, async || state(&server, &ada).await == "idle").await;
        assert!(server.stop().success());
        let server = dying(&hall, &address, point);
        let resume = format!("/sessions/{}/resume", bob.id);
        assert!(server.try_post(&resume, &json!({})).await.is_err(), "{point}: it was answered");
        assert!(!server.end().success(), "{point}: the server goes on");
        let server = hall.home.serve_on(&address);
        if !runs {
            until(point, async || state(&server, &bob).await == "ended").await;
            until(point, async || programs(&hall) == 1).await;
            assert!(links(&server, &ada).await.is_empty(), "{point}: half a link");
            server.ok(&["resume", "--all"]);
        }
        until(point, async || state(&server, &bob).await == "idle").await;
        until(point, async || {
            let links = links(&server, &ada).await;
            links.len() == 1 && links[0]["id"] == link && members(&links[0]).len() == 2
        })
        .await;
        assert_eq!(programs(&hall), 2, "{point}");
    }
}
