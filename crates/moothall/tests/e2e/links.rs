//! Links between agents in real terminals: one test for each design criterion, named after it.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

use moothall_testkit::fake_tui;
use serde_json::{Value, json};

use crate::harness::{RunningProcess, Server};

mod again;
mod deaths;
mod stage;

use stage::members;
pub use stage::{
    Agent, Hall, asked, call, direct, environment, introduce, links, said, screen_lines,
    screen_shows, start, start_with, state, types, until,
};

/// Entry point of the stand-in for a command-line agent, when this binary is started as one.
#[test]
fn stands_in() {
    fake_tui::act();
}

#[tokio::test]
async fn sc_1_one_link_object_with_two_members() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let made = direct(&server, &ada, &bob, "hello").await;
    assert_eq!((&made["link_state"], &made["delivered_to"]), (&json!("created"), &json!([bob.id])));
    let (of_ada, of_bob) = (links(&server, &ada).await, links(&server, &bob).await);
    assert_eq!(of_ada, of_bob);
    assert_eq!(of_ada.len(), 1);
    assert_eq!(members(&of_ada[0]), [ada.id.as_str(), &bob.id]);
    assert_eq!(direct(&server, &bob, &ada, "you too").await["link_state"], "reused");
    assert_eq!(server.get("/links").await["links"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn sc_2_a_link_of_three_and_more_with_names_numbers_and_roles() {
    let hall = Hall::new();
    let server = hall.serve();
    let mut agents = Vec::new();
    for name in ["ada", "bob", "cy"] {
        agents.push(start(&server, &hall, name).await);
    }
    let wanted: Vec<Value> = agents
        .iter()
        .enumerate()
        .map(|(at, agent)| json!({"session": agent.id, "name": (["Ada", "Bob", "Cy"][at]), "number": at + 1, "role": "peer"}))
        .collect();
    let made = server.accepted("/links", json!({"members": wanted})).await;
    let id = made["link"]["id"].as_str().unwrap().to_owned();
    let pair = json!({"members": [{"session": agents[0].id}, {"session": agents[1].id}]});
    let pair = server.accepted("/links", pair).await["link"].clone();
    let server = server.crash_and_restart();
    let link = server.get(&format!("/links/{id}")).await;
    for (member, wanted) in link["members"].as_array().unwrap().iter().zip(&wanted) {
        for key in ["session", "name", "number", "role"] {
            assert_eq!(member[key], wanted[key], "{member}");
        }
    }
    for agent in &agents {
        assert!(
            links(&server, agent).await.iter().any(|link| link["id"] == id.as_str()),
            "{}",
            agent.name
        );
    }
    assert!(
        pair["members"][0].get("number").is_none_or(Value::is_null),
        "two need no numbers: {pair}"
    );
}

#[tokio::test]
async fn sc_3_the_handshake_delivers_links_and_suppresses_the_notice() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    introduce(&server, &ada, &bob).await;
    let plain = json!({"session_id": bob.id, "message": "a job"});
    assert_eq!(call(&server, &ada, "send_message", plain).await["link_state"], "none");
    until("ada hears that bob is done", async || {
        screen_shows(&server, &ada, "finished its turn").await
    })
    .await;
    until("ada is idle again", async || state(&server, &ada).await == "idle").await;
    let first = direct(&server, &ada, &bob, "[say:heard]").await;
    assert_eq!(first["link_state"], "created");
    let link = first["link_id"].as_str().unwrap();
    until("bob answers", async || {
        said(&server, link).await.contains(&("bob".into(), "heard".into()))
    })
    .await;
    until("ada hears the answer itself", async || screen_shows(&server, &ada, "heard").await).await;
    assert_eq!(direct(&server, &ada, &bob, "once more").await["link_state"], "reused");
    let notices = said(&server, &ada.id)
        .await
        .iter()
        .filter(|(_, words)| words.contains("finished its turn"))
        .count();
    assert_eq!(notices, 1, "none since the link is there");

    // A message outside the link is reported, although the two sessions are linked.
    let plain = json!({"session_id": bob.id, "message": "[say:at home]"});
    assert_eq!(call(&server, &ada, "send_message", plain).await["link_state"], "none");
    until("ada hears that bob is done again", async || {
        let words = said(&server, &ada.id).await;
        words.iter().filter(|(_, words)| words.contains("finished its turn")).count() == 2
    })
    .await;
}

#[tokio::test]
async fn sc_4_words_go_to_all_others_and_not_to_their_sender() {
    let hall = Hall::new();
    let server = hall.serve();
    let mut agents = Vec::new();
    for name in ["ada", "bob", "cy"] {
        agents.push(start(&server, &hall, name).await);
    }
    let sessions: Vec<Value> = agents.iter().map(|agent| json!({"session": agent.id})).collect();
    let link = server.accepted("/links", json!({"members": sessions})).await["link"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let words = json!({"thread": link, "message": "the-word"});
    call(&server, &agents[0], "send_message", words).await;
    for agent in &agents[1..] {
        until("the others hear it", async || screen_shows(&server, agent, "the-word").await).await;
    }
    until("both are done", async || {
        state(&server, &agents[1]).await == "idle" && state(&server, &agents[2]).await == "idle"
    })
    .await;
    assert!(
        !screen_shows(&server, &agents[0], "the-word").await,
        "its sender does not hear it back"
    );
    assert_eq!(said(&server, &link).await.len(), 1);
}

#[tokio::test]
async fn sc_5_the_final_words_of_a_turn_cross_in_a_frame() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let link = direct(&server, &ada, &bob, "hello").await["link_id"].as_str().unwrap().to_owned();
    until("bob heard it", async || {
        state(&server, &bob).await == "idle" && screen_shows(&server, &bob, "hello").await
    })
    .await;
    types(&hall, &ada, "[say:the result]");
    until("it crosses", async || {
        said(&server, &link).await.contains(&("ada".into(), "the result".into()))
    })
    .await;
    until("bob reads it", async || screen_shows(&server, &bob, "the result").await).await;
    assert!(
        screen_lines(&server, &bob).await.iter().any(|line| line.ends_with("ada (1):")),
        "in a frame"
    );
    let crossed = said(&server, &link).await;
    let of_ada: Vec<&str> =
        crossed.iter().filter(|(from, _)| from == "ada").map(|(_, words)| words.as_str()).collect();
    assert_eq!(
        of_ada.len(),
        2,
        "the message and the final words, and nothing between: {crossed:?}"
    );
}

/// Ruling 24: a peer in two links of a session is told once about text typed at the session's
/// terminal.
#[tokio::test]
async fn a_peer_in_two_links_hears_once_what_is_typed_and_what_is_answered() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let cyd = start(&server, &hall, "cyd").await;
    server.ok(&["link", "ada", "bob"]);
    server.ok(&["link", "ada", "bob", "cyd"]);
    let both = links(&server, &ada).await;
    let both: Vec<&str> = both.iter().map(|link| link["id"].as_str().unwrap()).collect();
    assert_eq!(both.len(), 2);
    types(&hall, &ada, "a-typed-word [say:the answer]");
    for link in &both {
        until("both keep the words", async || {
            let said = said(&server, link).await;
            said.iter().any(|(_, words)| words.starts_with("a-typed-word"))
                && said.contains(&("ada".into(), "the answer".into()))
        })
        .await;
    }
    until("both heard it", async || {
        screen_shows(&server, &bob, "the answer").await
            && screen_shows(&server, &cyd, "the answer").await
    })
    .await;
    until("all are idle", async || {
        state(&server, &bob).await == "idle" && state(&server, &cyd).await == "idle"
    })
    .await;
    let prompts = hall.taken();
    let typed = prompts.iter().filter(|prompt| prompt.contains("a-typed-word")).count();
    assert_eq!(typed, 3, "ada's own, and one each: {prompts:?}");
    let mut asked = Vec::new();
    for link in &both {
        let path = format!("/threads/{link}/events?types=message,turn");
        let events = server.get(&path).await["events"].as_array().unwrap().clone();
        let is_adas = |seq: &Value| {
            events.iter().any(|event| {
                event["seq"] == *seq
                    && event["meta"]["turn"].is_null()
                    && (event["from"] == "ada" || event["meta"]["typed_at"] == "ada")
            })
        };
        asked.extend(events.iter().filter_map(|event| {
            let turn = &event["content"];
            (turn["event"] == "granted" && is_adas(&turn["cause"]["seq"]))
                .then(|| (*link, turn["participant"].as_str().unwrap().to_owned()))
        }));
    }
    let rooms = |who: &str| -> BTreeSet<&str> {
        asked.iter().filter(|(_, asked)| asked == who).map(|(link, _)| *link).collect()
    };
    assert_eq!((rooms("bob").len(), rooms("cyd").len()), (1, 1), "{asked:?}");
}

#[tokio::test]
async fn sc_6_checkpoints_and_empty_output_cross_nothing() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let link = direct(&server, &ada, &bob, "hello").await["link_id"].as_str().unwrap().to_owned();
    until("bob heard it", async || {
        state(&server, &bob).await == "idle" && screen_shows(&server, &bob, "hello").await
    })
    .await;
    let before = said(&server, &link).await.len();
    types(&hall, &ada, "[Checkpoint] go on if there is more [say:no more]");
    until("the checkpoint is answered", async || {
        screen_shows(&server, &ada, "no more").await && state(&server, &ada).await == "idle"
    })
    .await;
    types(&hall, &ada, "a-real-word");
    until("what a person types crosses", async || said(&server, &link).await.len() > before).await;
    until("ada is done", async || state(&server, &ada).await == "idle").await;
    let crossed = said(&server, &link).await;
    assert_eq!(crossed[before..], [("user".to_owned(), "a-real-word".to_owned())]);
}

#[tokio::test]
async fn sc_6_what_a_checkpoint_is_the_configuration_says() {
    let hall = Hall::with("[sessions]\ncheckpoints = [\"<reminder>\"]\n");
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let link = direct(&server, &ada, &bob, "hello").await["link_id"].as_str().unwrap().to_owned();
    until("bob heard it", async || {
        state(&server, &bob).await == "idle" && screen_shows(&server, &bob, "hello").await
    })
    .await;
    types(&hall, &ada, "[say:the answer before it]");
    until("the answer crosses", async || {
        said(&server, &link).await.contains(&("ada".into(), "the answer before it".into()))
    })
    .await;
    until("both are idle", async || {
        state(&server, &ada).await == "idle" && state(&server, &bob).await == "idle"
    })
    .await;
    let before = said(&server, &link).await.len();
    types(&hall, &ada, "<reminder> go on if there is more [say:no more]");
    until("it is answered", async || {
        screen_shows(&server, &ada, "no more").await && state(&server, &ada).await == "idle"
    })
    .await;
    types(&hall, &ada, "[Checkpoint] is a word like any other now");
    until("what a person types crosses", async || said(&server, &link).await.len() > before).await;
    assert_eq!(said(&server, &link).await[before].1, "[Checkpoint] is a word like any other now");
    assert!(!screen_shows(&server, &bob, "no more").await);
}

#[tokio::test]
async fn sc_7_one_member_ends_the_link_for_all() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    direct(&server, &ada, &bob, "hello").await;
    let closed = call(
        &server,
        &ada,
        "send_message",
        json!({"session_id": bob.id, "message": "", "close_link": true}),
    )
    .await;
    assert_eq!(closed["link_state"], "closed");
    assert_eq!((links(&server, &ada).await.len(), links(&server, &bob).await.len()), (0, 0));
    types(&hall, &ada, "[say:nobody-hears-this]");
    until("ada is done", async || {
        said(&server, &ada.id).await.iter().any(|(from, _)| from == "ada")
    })
    .await;
    server.say(&bob.id, "the-next-word").await;
    until("bob is told the next word", async || screen_shows(&server, &bob, "the-next-word").await)
        .await;
    assert!(!screen_shows(&server, &bob, "nobody-hears-this").await);
    let none = call(
        &server,
        &bob,
        "send_message",
        json!({"session_id": ada.id, "message": "", "close_link": true}),
    )
    .await;
    assert_eq!(none["link_state"], "none", "there is nothing left to close");
}

#[tokio::test]
async fn sc_7_the_end_of_a_link_delivers_its_last_words_and_interrupts_nobody() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    direct(&server, &ada, &bob, "[work:1500] [say:the long work is done]").await;
    until("bob works", async || state(&server, &bob).await == "busy").await;
    let closed = json!({"session_id": bob.id, "message": "the last words [say:goodbye]", "close_link": true});
    assert_eq!(call(&server, &ada, "send_message", closed).await["delivered_to"], json!([bob.id]));
    until("bob's work is kept, and then the answer to the last words", async || {
        let said = said(&server, &bob.id).await;
        said.contains(&("bob".into(), "the long work is done".into()))
            && said.contains(&("bob".into(), "goodbye".into()))
    })
    .await;
    assert!(
        screen_shows(&server, &bob, "the last words").await
            && !screen_shows(&server, &bob, "Interrupted").await
    );
    assert!(!screen_shows(&server, &ada, "goodbye").await && links(&server, &ada).await.is_empty());
}

#[tokio::test]
async fn sc_8_a_session_that_ends_leaves_no_link_and_nothing_is_typed_after_it() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    let link = direct(&server, &ada, &bob, "hello").await["link_id"].as_str().unwrap().to_owned();
    until("bob heard it", async || {
        state(&server, &bob).await == "idle" && screen_shows(&server, &bob, "hello").await
    })
    .await;
    server.accepted(&format!("/sessions/{}/end", bob.id), json!({})).await;
    until("the link is gone", async || links(&server, &ada).await.is_empty()).await;
    types(&hall, &ada, "[say:to nobody]");
    until("ada is done", async || {
        said(&server, &ada.id).await.iter().any(|(from, _)| from == "ada")
    })
    .await;
    let events = server.events(&link).await;
    let archived = events.iter().position(|event| event["type"] == "thread.archived").unwrap();
    assert!(events[archived..].iter().all(|event| event["type"] != "message"), "{events:?}");
    let (status, refused) = server
        .post(&format!("/sessions/{}/messages", bob.id), json!({"message": "still there?"}))
        .await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("session_ended")));
}

#[tokio::test]
async fn sc_9_worker_mode_stays() {
    let hall = Hall::new();
    let server = hall.serve();
    let (ada, bob) = (start(&server, &hall, "ada").await, start(&server, &hall, "bob").await);
    introduce(&server, &ada, &bob).await;
    call(
        &server,
        &ada,
        "send_message",
        json!({"session_id": bob.id, "message": "[say:the work is done]"}),
    )
    .await;
    until("ada is told", async || {
        said(&server, &ada.id).await.iter().any(|(from, _)| from == "bob")
    })
    .await;
    let (id, (from, notice)) = (&bob.id, said(&server, &ada.id).await[0].clone());
    let wanted = format!(
        "Session {id} \"bob\" finished its turn. Use get_session_data(session_id=\"{id}\") to read what it said."
    );
    assert_eq!((from.as_str(), &notice), ("bob", &wanted));
    // Any value in the notice can be used as a session id.
    let pasted = notice.split('"').nth(3).unwrap();
    let data = call(&server, &ada, "get_session_data", json!({"session_id": pasted})).await;
    assert_eq!(
        call(
            &server,
            &ada,
            "get_session_data",
            json!({"session_id": notice.split(' ').nth(1).unwrap()})
        )
        .await["text"],
        data["text"]
    );
    assert!(data["text"].as_str().unwrap().contains("the work is done"), "{data}");
    assert_eq!(links(&server, &ada).await.len(), 0);
}

#[tokio::test]
async fn a_restart_with_live_sessions_finds_them_again_and_types_nothing_twice() {
    let hall = Hall::new();
    let server = hall.serve();
    let ada = start(&server, &hall, "ada").await;
    server.say(&ada.id, "[work:4000] a long job [say:it is done]").await;
    until("it works", async || {
        state(&server, &ada).await == "busy" && screen_shows(&server, &ada, "a long job").await
    })
    .await;
    let server = server.crash_and_restart();
    until("it answers", async || {
        said(&server, &ada.id).await.contains(&("ada".into(), "it is done".into()))
    })
    .await;
    server.say(&ada.id, "[say:after the restart]").await;
    until("it answers again", async || {
        said(&server, &ada.id).await.contains(&("ada".into(), "after the restart".into()))
    })
    .await;
    let turns = server.get(&format!("/threads/{}/turns", ada.id)).await;
    let outcomes: Vec<&str> = turns["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["spoke", "spoke"], "each turn ended once");
}

/// A program that outlives the server finds the next one on its new port.
#[tokio::test]
async fn a_sessions_tools_find_the_server_on_another_port() {
    let hall = Hall::new();
    let server = hall.serve();
    let ada = start(&server, &hall, "ada").await;
    let mut command = hall.home.command(&["mcp"]);
    let own = environment(&hall, &ada.id);
    let own = own
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()));
    command.envs(own).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut tools = command.spawn().unwrap();
    let mut input = tools.stdin.take().unwrap();
    let running = RunningProcess::of(tools);
    let mut ask = || {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_sessions", "arguments": {}}});
        writeln!(input, "{line}").unwrap();
        let answer: Value = serde_json::from_str(&running.line()).unwrap();
        answer["result"]["structuredContent"]["sessions"][0]["name"].clone()
    };
    assert_eq!(ask(), "ada");
    let old = server.address();
    assert!(server.stop().success());
    // Another process now listens on the old port, and receives nothing.
    let stranger = std::net::TcpListener::bind(old).unwrap();
    stranger.set_nonblocking(true).unwrap();
    let server = hall.serve();
    assert_ne!(server.address(), old);
    until("ada is found again", async || state(&server, &ada).await == "idle").await;
    assert_eq!(ask(), "ada");
    // A new program still gets the old address in its environment.
    let mut late = hall.home.command(&["sessions", "--json"]);
    late.envs([
        ("MOOTHALL_URL", format!("http://{old}")),
        ("MOOTHALL_SESSION_TOKEN", ada.token.clone()),
    ]);
    late.env("MOOTHALL_SPOOL", hall.home.data().join("spool").join(&ada.id));
    let listed: Value = serde_json::from_slice(&late.output().unwrap().stdout).unwrap();
    assert_eq!(listed["sessions"][0]["name"], "ada");
    assert!(stranger.accept().is_err(), "nobody came to the old port");
    let sent =
        call(&server, &ada, "send_message", json!({"thread": ada.id, "message": "still here"}))
            .await;
    assert_eq!(sent["link_state"], "none");
}

/// A program's question survives a restart of the server: the same question is answered, and the
/// turn continues.
#[tokio::test]
async fn a_question_outlives_the_server() {
    let hall = Hall::new();
    let server = hall.serve();
    let ada = start(&server, &hall, "ada").await;
    server.say(&ada.id, "[ask:rm -r build] [say:it is done]").await;
    let first = asked(&server, &ada, 1).await;
    assert!(first["action"].as_str().unwrap().contains("rm -r build"), "{first}");
    let server = server.crash_and_restart();
    let path = format!("/permissions/{}/answer", first["permission"].as_str().unwrap());
    let (status, refused) =
        server.post(&path, json!({"thread": ada.id, "option": "allow", "from": "ada"})).await;
    assert_eq!(status, 403, "no agent answers: {refused}");
    let kept: Value =
        serde_json::from_slice(&std::fs::read(hall.home.data().join("startup.key")).unwrap())
            .unwrap();
    let answer = server
        .http()
        .post(format!("{}{path}", server.url))
        .bearer_auth(kept["key"].as_str().unwrap());
    let answer = answer.json(&json!({"thread": ada.id, "option": "allow"})).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    until("it is done", async || {
        said(&server, &ada.id).await.contains(&("ada".into(), "it is done".into()))
    })
    .await;
    asked(&server, &ada, 1).await;
}

/// Returns the number of programs in the terminals of a data folder.
#[cfg(feature = "crash-points")]
fn programs(hall: &Hall) -> usize {
    let mut list = std::process::Command::new("tmux");
    list.arg("-S").arg(hall.home.data().join("tmux/tmux.sock")).env_remove("TMUX");
    list.args(["list-panes", "-a", "-F", "#{session_name}"]);
    let listed = String::from_utf8_lossy(&list.output().unwrap().stdout).into_owned();
    let is_its = |name: &&str| name.starts_with("moothall-") && *name != "moothall-hub";
    listed.lines().filter(is_its).count()
}

#[cfg(feature = "crash-points")]
fn dying<'a>(hall: &'a Hall, address: &str, point: &str) -> Server<'a> {
    hall.home.serve_with(address, &[("MOOTHALL_CRASH_AT", &format!("{point}:1"))])
}
