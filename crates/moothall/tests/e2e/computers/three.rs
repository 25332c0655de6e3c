//! Three computers, each paired with the two others: links with a member on each of them.

use std::process::Output;

use moothall_testkit::redis::RedisServer;
use serde_json::{Value, json};

use super::{computers, line, pair, until_state};
use crate::harness::{Server, stderr};
use crate::links::{Agent, Hall, links, start, types, until};

/// Three computers with a session each. A link of the three lives on the workstation, and one of
/// the two others on the tower.
struct Trio<'a> {
    workstation: Server<'a>,
    laptop: Server<'a>,
    tower: Server<'a>,
    builder: Agent,
    writer: Agent,
    smith: Agent,
}

/// Pairs a computer that has an id with the tower.
fn pair_with_tower(one: &Server<'_>, tower: &Server<'_>) {
    let invitation = line(&computers(one, &["invite"], ""));
    let join = ["join", "-", "--name", "tower", "--up", "2"];
    let answer = line(&computers(tower, &join, &invitation));
    let joined: Output = computers(one, &["join", "-"], &answer);
    assert!(joined.status.success(), "{}", stderr(&joined));
}

async fn trio<'a>(halls: [&'a Hall; 3], redis: &RedisServer) -> Trio<'a> {
    let [workstation, laptop, tower] = halls.map(Hall::serve);
    pair(&workstation, &laptop, redis);
    pair_with_tower(&workstation, &tower);
    pair_with_tower(&laptop, &tower);
    for (server, others) in [
        (&workstation, ["laptop", "tower"]),
        (&laptop, ["workstation", "tower"]),
        (&tower, ["workstation", "laptop"]),
    ] {
        for other in others {
            until_state(server, other, "up").await;
        }
    }
    let builder = start(&workstation, halls[0], "builder").await;
    let writer = start(&laptop, halls[1], "writer").await;
    let smith = start(&tower, halls[2], "smith").await;
    Trio { workstation, laptop, tower, builder, writer, smith }
}

async fn linked(server: &Server<'_>, members: [&str; 3]) -> Value {
    let members: Vec<Value> = members.iter().map(|one| json!({"session": one})).collect();
    server.accepted("/links", json!({"members": members})).await
}

fn heard(hall: &Hall, words: &str) -> usize {
    hall.taken().iter().filter(|prompt| prompt.contains(words)).count()
}

/// Returns the ids of a session's links, once it has this many.
async fn links_of(server: &Server<'_>, agent: &Agent, count: usize) -> Vec<String> {
    let all = async || links(server, agent).await;
    until("a number of links", async || all().await.len() == count).await;
    all().await.iter().map(|link| link["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_three_computers_has_one_home_and_outlives_its_member() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other, third) = (Hall::new(), Hall::new(), Hall::new());
    let trio = trio([&one, &other, &third], &redis).await;
    let made = linked(&trio.laptop, ["writer", "builder@workstation", "smith@tower"]).await;
    assert_eq!(made["link_state"], "created", "{made}");
    let id = made["link"]["id"].clone();
    // Every side finds it.
    for (server, members) in [
        (&trio.tower, ["smith", "builder@workstation", "writer@laptop"]),
        (&trio.workstation, ["builder", "writer@laptop", "smith@tower"]),
    ] {
        let again = linked(server, members).await;
        assert_eq!((&again["link_state"], &again["link"]["id"]), (&json!("reused"), &id));
    }
    // Words that are typed at another computer reach the link's home, and through it the third.
    // The stand-ins say nothing: the same words from each of the three would trip a guard.
    types(&other, &trio.writer, "from the laptop");
    until("both hear it", async || {
        heard(&one, "from the laptop") > 0 && heard(&third, "from the laptop") > 0
    })
    .await;
    let writer_is_idle = async || crate::links::state(&trio.laptop, &trio.writer).await == "idle";
    until("writer is idle", writer_is_idle).await;

    // The member at its home ends. The two others keep the link, and none of them makes another.
    trio.workstation.accepted(&format!("/sessions/{}/end", trio.builder.id), json!({})).await;
    let has_two = async |server: &Server<'_>, agent: &Agent| {
        links(server, agent).await[0]["members"].as_array().unwrap().len() == 2
    };
    until("writer knows", async || has_two(&trio.laptop, &trio.writer).await).await;
    until("smith knows", async || has_two(&trio.tower, &trio.smith).await).await;
    let again = trio.tower.json(&["link", "smith", "writer@laptop"]);
    assert_eq!((&again["link_state"], &again["link"]["id"]), (&json!("reused"), &id));
    let again = trio.laptop.json(&["link", "writer", "smith@tower"]);
    assert_eq!((&again["link_state"], &again["link"]["id"]), (&json!("reused"), &id));
    let (laptop, tower) = (trio.laptop.crash_and_restart(), trio.tower.crash_and_restart());
    types(&third, &trio.smith, "from the tower");
    until("writer hears it", async || heard(&other, "from the tower") > 0).await;
    assert_eq!(heard(&other, "from the tower"), 1, "{:?}", other.taken());
    drop((laptop, tower));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_of_three_that_shrinks_to_the_members_of_another_ends() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other, third) = (Hall::new(), Hall::new(), Hall::new());
    let trio = trio([&one, &other, &third], &redis).await;
    linked(&trio.tower, ["smith", "builder@workstation", "writer@laptop"]).await;
    let made = trio.laptop.json(&["link", "writer", "smith@tower"]);
    assert_eq!(made["link_state"], "created", "{made}");
    let stays = made["link"]["id"].as_str().unwrap();
    links_of(&trio.laptop, &trio.writer, 2).await;
    trio.workstation.accepted(&format!("/sessions/{}/end", trio.builder.id), json!({})).await;
    assert_eq!(links_of(&trio.laptop, &trio.writer, 1).await, [stays]);
    assert_eq!(links_of(&trio.tower, &trio.smith, 1).await, [stays]);
    let all = async || trio.workstation.get("/links").await["links"].clone();
    until("its home ends it", async || all().await == json!([])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_does_not_vouch_for_a_third_computer() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let wary = Hall::with("[computers.workstation]\nallow = []\n");
    let (one, other) = (Hall::new(), Hall::new());
    let [workstation, laptop, tower] = [&one, &other, &wary].map(Hall::serve);
    pair(&workstation, &laptop, &redis);
    pair_with_tower(&laptop, &tower);
    until_state(&laptop, "workstation", "up").await;
    until_state(&laptop, "tower", "up").await;
    start(&workstation, &one, "builder").await;
    start(&laptop, &other, "writer").await;
    start(&tower, &wary, "smith").await;
    let members =
        ["writer", "builder@workstation", "smith@tower"].map(|one| json!({"session": one}));
    let refused = async || {
        let (status, body) = laptop.post("/links", json!({"members": members})).await;
        (status, body.to_string())
    };
    let (status, words) = refused().await;
    assert!(status == 422 && words.contains("is not paired with"), "{status} {words}");
    pair_with_tower(&workstation, &tower);
    until_state(&workstation, "tower", "up").await;
    until_state(&tower, "workstation", "up").await;
    let (status, words) = refused().await;
    assert!(status == 403 && words.contains("tower refused it"), "{status} {words}");
    assert_eq!(workstation.get("/links").await["links"], json!([]));
}
