//! Links of sessions on two computers: members, checkpoints, and messages without a link.

use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};

use super::links::{LinkedPair, heard, hears, linked, stage};
use super::until_state;
use crate::harness::Server;
use crate::links::{Agent, Hall, call, introduce, links, said, start, state, types, until};

/// Waits until the program of a session waits for input.
async fn until_idle(server: &Server<'_>, agent: &Agent) {
    until("it is idle", async || state(server, agent).await == "idle").await;
}

/// Returns the member of a link that is a session.
fn member(link: &Value, session: &str) -> Value {
    let members = link["members"].as_array().unwrap();
    let found = members.iter().find(|one| one["session"] == session);
    found.unwrap_or_else(|| panic!("{session}: {link}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_2_across_a_link_of_three_with_names_and_numbers() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    let editor = start(&laptop, &other, "editor").await;
    let wanted = json!({"members": [
        {"session": writer.id, "name": "Ann", "number": 1, "role": "peer"},
        {"session": editor.id, "name": "Bob", "number": 2, "role": "peer"},
        {"session": "builder@workstation", "name": "Cy", "number": 3, "role": "peer"},
    ]});
    let made = laptop.accepted("/links", wanted).await;
    let id = made["link"]["id"].as_str().unwrap().to_owned();
    // Two members need no numbers, and their link is another one.
    let pair = linked(&laptop, &writer, "builder@workstation").await["link"].clone();
    assert_ne!(pair["id"], json!(id));
    assert!(pair["members"][0].get("number").is_none_or(Value::is_null), "{pair}");

    workstation.stop();
    laptop.stop();
    let (workstation, laptop) = (one.serve(), other.serve());
    until_state(&laptop, "workstation", "up").await;
    until_state(&workstation, "laptop", "up").await;
    let numbers = [(&writer, 1), (&editor, 2), (&builder, 3)];
    for (server, agent) in [(&workstation, &builder), (&laptop, &writer), (&laptop, &editor)] {
        let of_agent = links(server, agent).await;
        let link = of_agent.iter().find(|link| link["id"] == json!(id)).unwrap();
        assert_eq!(link["members"].as_array().unwrap().len(), 3, "{link}");
        for (one, number) in numbers {
            assert_eq!(member(link, &one.id)["number"], number, "{}: {link}", agent.name);
        }
    }
    let at_home = workstation.get(&format!("/links/{id}")).await;
    for (one, _) in numbers {
        assert_eq!(member(&at_home, &one.id)["role"], "peer", "{at_home}");
    }
    // Each word reaches the two others, on either computer.
    types(&other, &editor, "words for two");
    hears(&one, "words for two").await;
    until("both on the laptop", async || heard(&other, "words for two") == 2).await;
    assert_eq!(heard(&one, "words for two"), 1, "{:?}", one.taken());
}

/// Words that are typed after a checkpoint and after an empty answer arrive. Those of the
/// checkpoint would have arrived before them.
#[tokio::test(flavor = "multi_thread")]
async fn sc_6_across_checkpoints_and_empty_output_cross_nothing() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    let made = linked(&laptop, &writer, "builder@workstation").await;
    let id = made["link"]["id"].as_str().unwrap().to_owned();
    let sides = [(&laptop, &other, &writer, &one), (&workstation, &one, &builder, &other)];
    for (server, hall, agent, peer) in sides {
        types(hall, agent, "[Checkpoint] go on if there is more [say:no more]");
        hears(hall, "[Checkpoint]").await;
        until_idle(server, agent).await;
        let silent = format!("a silent word of {} [silent]", agent.name);
        types(hall, agent, &silent);
        hears(peer, &silent).await;
        until_idle(server, agent).await;
        types(hall, agent, &format!("[say:the answer of {}]", agent.name));
        hears(peer, &format!("the answer of {}", agent.name)).await;
        // Its peer was told the same words, and answers with them.
        let answers = async || {
            let all = said(&workstation, &id).await;
            let answer = format!("the answer of {}", agent.name);
            all.iter().filter(|(_, words)| *words == answer).count()
        };
        until("both answer", async || answers().await == 2).await;
        until_idle(&laptop, &writer).await;
        until_idle(&workstation, &builder).await;
    }
    let words: Vec<String> =
        said(&workstation, &id).await.into_iter().map(|(_, words)| words).collect();
    let expected = [
        "a silent word of writer [silent]",
        "[say:the answer of writer]",
        "a silent word of builder [silent]",
        "[say:the answer of builder]",
    ];
    let answers = words.iter().filter(|words| words.starts_with("the answer of")).count();
    assert!(expected.iter().all(|typed| words.iter().any(|it| it == typed)), "{words:?}");
    assert_eq!((words.len(), answers), (expected.len() + 4, 4), "{words:?}");
    assert_eq!((heard(&one, "no more"), heard(&other, "no more")), (1, 1), "at one's own terminal");
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_9_across_worker_mode_stays() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    let editor = start(&laptop, &other, "editor").await;
    linked(&laptop, &writer, "builder@workstation").await;
    let told = async |words: &str| {
        said(&laptop, &writer.id).await.into_iter().filter(|(_, it)| it.contains(words)).collect()
    };
    // To a session of the other computer, beside the link of the two.
    let plain = json!({"session_id": "builder@workstation", "message": "[say:it is built]"});
    let sent = call(&laptop, &writer, "send_message", plain).await;
    assert_eq!(sent["link_state"], "none", "{sent}");
    let notices = async || -> Vec<(String, String)> { told("finished its turn").await };
    until("it is told", async || notices().await.len() == 1).await;
    let name = "builder@workstation";
    let notice = notices().await.remove(0).1;
    assert_eq!(
        notice,
        format!(
            "Session \"{name}\" finished its turn. Use get_session_data(session_id=\"{name}\") to \
             read what it said."
        )
    );
    let pasted = notice.split('"').nth(3).unwrap();
    let data = call(&laptop, &writer, "get_session_data", json!({"session_id": pasted})).await;
    assert!(data["text"].as_str().unwrap().contains("it is built"), "{data}");

    // To a session of the same computer, as without other computers.
    introduce(&laptop, &writer, &editor).await;
    let plain = json!({"session_id": editor.id, "message": "[say:it is edited]"});
    let sent = call(&laptop, &writer, "send_message", plain).await;
    assert_eq!(sent["link_state"], "none", "{sent}");
    until("it is told", async || notices().await.len() == 2).await;
    let (from, notice) = notices().await.remove(1);
    let id = &editor.id;
    assert_eq!(
        (from.as_str(), notice),
        (
            "editor",
            format!(
                "Session {id} \"editor\" finished its turn. Use \
                 get_session_data(session_id=\"{id}\") to read what it said."
            )
        )
    );
    let data = call(&laptop, &writer, "get_session_data", json!({"session_id": id})).await;
    assert!(data["text"].as_str().unwrap().contains("it is edited"), "{data}");
    assert!(links(&laptop, &editor).await.is_empty());
    // The link of the two is the only one.
    assert_eq!(links(&workstation, &builder).await.len(), 1);
}
