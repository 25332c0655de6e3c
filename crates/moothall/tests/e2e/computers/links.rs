//! Links of sessions on two computers: the scenarios of links, across. Each is played with the
//! link's home on either side.

use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};

use super::{paired, until_state};
use crate::harness::Server;
use crate::links::{Agent, Hall, asked, call, links, said, start, types, until};

/// Two computers with a session each. The link of the two lives on the workstation, which has the
/// smaller id.
pub(super) struct LinkedPair<'a> {
    pub(super) workstation: Server<'a>,
    pub(super) laptop: Server<'a>,
    /// The session of the workstation.
    pub(super) builder: Agent,
    /// The session of the laptop.
    pub(super) writer: Agent,
}

pub(super) async fn stage<'a>(
    one: &'a Hall,
    other: &'a Hall,
    redis: &RedisServer,
) -> LinkedPair<'a> {
    let (workstation, laptop) = paired(one, other, redis).await;
    until_state(&workstation, "laptop", "up").await;
    let builder = start(&workstation, one, "builder").await;
    let writer = start(&laptop, other, "writer").await;
    LinkedPair { workstation, laptop, builder, writer }
}

/// Links a session with one of another computer, as a person does. Returns the link.
pub(super) async fn linked(server: &Server<'_>, own: &Agent, other: &str) -> Value {
    let members = json!({"members": [{"session": own.id}, {"session": other}]});
    server.accepted("/links", members).await
}

pub(super) async fn hears(hall: &Hall, words: &str) {
    until(words, async || heard(hall, words) > 0).await;
}

pub(super) fn heard(hall: &Hall, words: &str) -> usize {
    hall.taken().iter().filter(|prompt| prompt.contains(words)).count()
}

/// Waits until a conversation has these words of this participant.
pub(super) async fn until_said(server: &Server<'_>, thread: &str, from: &str, words: &str) {
    let wanted = (from.to_owned(), words.to_owned());
    until(words, async || said(server, thread).await.contains(&wanted)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_1_across_one_link_object_with_two_members() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    let made = linked(&laptop, &writer, "builder@workstation").await;
    assert_eq!(made["link_state"], "created", "{made}");
    let id = made["link"]["id"].as_str().unwrap().to_owned();
    // Both sides make the same link.
    let again = workstation.json(&["link", "builder", "writer@laptop"]);
    assert_eq!((&again["link_state"], &again["link"]["id"]), (&json!("reused"), &json!(id)));
    for (server, agent) in [(&workstation, &builder), (&laptop, &writer)] {
        let all = links(server, agent).await;
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0]["id"], json!(id));
        let members = all[0]["members"].as_array().unwrap();
        let ids: Vec<&str> = members.iter().map(|one| one["session"].as_str().unwrap()).collect();
        assert!(ids.contains(&builder.id.as_str()) && ids.contains(&writer.id.as_str()), "{ids:?}");
        let named = members.iter().filter(|one| !one["computer"].is_null()).count();
        assert_eq!(named, 1, "the other computer is named: {members:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_3_and_5_across_a_handshake_links_and_the_words_of_a_turn_cross() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    let wanted =
        json!({"session_id": "builder@workstation", "message": "[say:heard]", "direct": true});
    // It has not met it: a person is asked, and the answer links the two.
    call(&laptop, &writer, "send_message", wanted.clone()).await;
    let request = asked(&laptop, &writer, 1).await;
    let path = format!("/permissions/{}/answer", request["permission"].as_str().unwrap());
    laptop.accepted(&path, json!({"thread": writer.id, "option": "allow"})).await;
    hears(&one, "[say:heard]").await;
    hears(&other, "heard").await;
    let link = links(&workstation, &builder).await.remove(0);
    let id = link["id"].as_str().unwrap();
    until_said(&workstation, id, "builder", "heard").await;
    until_said(&workstation, id, "writer.laptop", "[say:heard]").await;
    // From now on it is not asked any more.
    let again = call(&laptop, &writer, "send_message", wanted).await;
    assert_eq!(again["link_state"], "reused", "{again}");
    assert_eq!(again["delivered_to"], json!(["builder@workstation"]));
    until("it crosses", async || heard(&one, "[say:heard]") == 2).await;
    let notices = said(&laptop, &writer.id).await;
    assert!(notices.iter().all(|(_, words)| !words.contains("finished its turn")), "{notices:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_4_across_what_a_person_types_crosses_and_its_sender_does_not_hear_it() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    linked(&laptop, &writer, "builder@workstation").await;
    // Away from the link's home, and at it.
    types(&other, &writer, "words of the laptop");
    hears(&one, "words of the laptop").await;
    until("writer is idle", async || crate::links::state(&laptop, &writer).await == "idle").await;
    until("builder is idle", async || crate::links::state(&workstation, &builder).await == "idle")
        .await;
    types(&one, &builder, "words of the workstation");
    hears(&other, "words of the workstation").await;
    // Each was typed at one terminal, and pasted at the other alone.
    let counts = |words: &str| (heard(&one, words), heard(&other, words));
    assert_eq!(counts("words of the laptop"), (1, 1), "{:?}", other.taken());
    assert_eq!(counts("words of the workstation"), (1, 1), "{:?}", one.taken());
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_7_across_either_side_ends_the_link_at_once_for_all() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    let made = linked(&laptop, &writer, "builder@workstation").await;
    let id = made["link"]["id"].as_str().unwrap().to_owned();
    let closed = laptop.accepted(&format!("/links/{id}/close"), json!({})).await;
    assert_eq!(closed["link_state"], "closed");
    assert!(links(&laptop, &writer).await.is_empty());
    until("its home ends it", async || links(&workstation, &builder).await.is_empty()).await;
    // And from its home.
    let made = linked(&laptop, &writer, "builder@workstation").await;
    assert_eq!(made["link_state"], "created", "{made}");
    let id = made["link"]["id"].as_str().unwrap().to_owned();
    workstation.accepted(&format!("/links/{id}/close"), json!({})).await;
    until("the other side ends it", async || links(&laptop, &writer).await.is_empty()).await;
    // A member reaches its link on the other computer too, and another session does not.
    let made = linked(&laptop, &writer, "builder@workstation").await;
    let path = format!("/links/{}/close", made["link"]["id"].as_str().unwrap());
    let editor = start(&laptop, &other, "editor").await;
    let close = async |by: &Agent| {
        let request = laptop.http().post(format!("{}{path}", laptop.url)).bearer_auth(&by.token);
        request.json(&json!({})).send().await.unwrap().status().as_u16()
    };
    assert_eq!((close(&editor).await, close(&writer).await), (404, 200));
    assert!(links(&laptop, &writer).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_8_across_a_session_that_ends_leaves_no_link() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    linked(&laptop, &writer, "builder@workstation").await;
    laptop.accepted(&format!("/sessions/{}/end", writer.id), json!({})).await;
    until("its home ends it", async || links(&workstation, &builder).await.is_empty()).await;

    let editor = start(&laptop, &other, "editor").await;
    linked(&workstation, &builder, "editor@laptop").await;
    workstation.accepted(&format!("/sessions/{}/end", builder.id), json!({})).await;
    until("the other side ends it", async || links(&laptop, &editor).await.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sc_10_cross_computer_link_routing() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (Hall::new(), Hall::new());
    let LinkedPair { workstation, laptop, builder, writer } = stage(&one, &other, &redis).await;
    linked(&laptop, &writer, "builder@workstation").await;
    types(&one, &builder, "[say:stopped there]");
    hears(&other, "stopped there").await;
    until("writer is idle", async || crate::links::state(&laptop, &writer).await == "idle").await;
    // Both servers die; what is typed then crosses when they are back.
    let (workstation, laptop) = (workstation.crash_and_restart(), laptop.crash_and_restart());
    types(&other, &writer, "[say:stopped here]");
    until_state(&laptop, "workstation", "up").await;
    until_state(&workstation, "laptop", "up").await;
    hears(&one, "stopped here").await;
    assert_eq!(heard(&one, "[say:stopped here]"), 1, "{:?}", one.taken());
}
