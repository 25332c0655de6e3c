//! Deaths of the server at each point of a prompt, a link and a session.

use super::*;

/// The server dies at each point of a prompt's way into a terminal and back. The prompt is typed
/// once, and answered once.
#[cfg(feature = "crash-points")]
#[tokio::test]
async fn a_prompt_is_typed_once_wherever_the_server_dies() {
    for point in [
        "delivery_sending",
        "paste_done",
        "enter_pressed",
        "delivery_accepted",
        "hook_heard",
        "turn_answered",
    ] {
        let hall = Hall::new();
        let server = hall.serve();
        let ada = start(&server, &hall, "ada").await;
        let address = server.address().to_string();
        assert!(server.stop().success());
        let server = dying(&hall, &address, point);
        let body =
            json!({"type": "message", "from": "user", "to": "all", "content": "[say:it is done]"});
        // The response may be lost with the server, but the message is stored.
        let _ = server.try_post(&format!("/threads/{}/events", ada.id), &body).await;
        assert!(!server.end().success(), "{point}: the server goes on");
        let server = hall.home.serve_on(&address);
        until(point, async || said(&server, &ada.id).await.iter().any(|(from, _)| from != "user"))
            .await;
        let answers: Vec<_> =
            said(&server, &ada.id).await.into_iter().filter(|(from, _)| from != "user").collect();
        assert_eq!(answers, [("ada".to_owned(), "it is done".to_owned())], "{point}");
        assert_eq!(hall.taken().len(), 1, "{point}: it was typed once");
    }
}

/// The server dies while an unprompted message is on its way to a link. The message arrives there
/// once.
#[cfg(feature = "crash-points")]
#[tokio::test]
async fn words_cross_a_link_once_wherever_the_server_dies() {
    for point in ["delivery_taken", "delivery_carried"] {
        let hall = Hall::new();
        let server = hall.serve();
        let address = server.address().to_string();
        let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
        let link =
            direct(&server, &ada, &bob, "hello").await["link_id"].as_str().unwrap().to_owned();
        until("bob heard it", async || {
            state(&server, &bob).await == "idle" && screen_shows(&server, &bob, "hello").await
        })
        .await;
        let before = said(&server, &link).await.len();
        assert!(server.stop().success());
        let server = dying(&hall, &address, point);
        types(&hall, &ada, "[say:the result]");
        assert!(!server.end().success(), "{point}: the server goes on");
        let server = hall.home.serve_on(&address);
        until(point, async || said(&server, &link).await.len() > before).await;
        // Once the answer is at home, all other deliveries after the restart are done.
        until(point, async || {
            said(&server, &ada.id).await.contains(&("ada".into(), "the result".into()))
        })
        .await;
        let crossed = said(&server, &link).await.split_off(before);
        let typed = ("user".to_owned(), "[say:the result]".to_owned());
        assert_eq!(
            crossed.iter().filter(|words| **words == typed).count(),
            1,
            "{point}: {crossed:?}"
        );
    }
}

/// The server dies while a session starts or ends. Afterwards the session runs or has ended, and
/// reports which.
#[cfg(feature = "crash-points")]
#[tokio::test]
async fn a_session_lives_or_has_ended_wherever_the_server_dies() {
    for (point, state) in [
        ("session_kept", "ended"),
        ("program_in_terminal", "ended"),
        ("session_started", "idle"),
        ("session_ending", "ended"),
    ] {
        let hall = Hall::new();
        let server = hall.serve();
        let address = server.address().to_string();
        let old =
            if point == "session_ending" { Some(start(&server, &hall, "ada").await) } else { None };
        assert!(server.stop().success());
        let server = dying(&hall, &address, point);
        let asked = match &old {
            Some(ada) => (format!("/sessions/{}/end", ada.id), json!({})),
            None => (
                "/sessions".to_owned(),
                json!({"client": "fake", "name": "ada", "cwd": hall.home.path()}),
            ),
        };
        assert!(
            server.try_post(&asked.0, &asked.1).await.is_err(),
            "{point}: nobody was told that it was done"
        );
        assert!(!server.end().success(), "{point}: the server goes on");
        let server = hall.home.serve_on(&address);
        let now = async || server.get("/sessions?ended=true").await["sessions"][0]["state"].clone();
        until(point, async || now().await == state).await;
        until(point, async || programs(&hall) == usize::from(state == "idle")).await;
    }
}
