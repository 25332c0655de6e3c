//! Floods: too many calls, too much nonsense, too many unread frames. Other connections keep
//! working meanwhile.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::catch_up::after;
use super::client::{closed_server, let_in, saying, words};
use super::hostile::revoke;
use super::{Agent, Client, agent, agents, open_server};
use crate::server::{Server, soon};

/// Opens a connection with a small receive buffer, which is read only on request.
async fn narrow(server: &Server, agent: &Agent) -> Client {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let tcp = soon(socket.connect(server.address)).await.unwrap();
    let request = format!("ws://{}/ws", server.address).into_client_request().unwrap();
    let (socket, _) = soon(tokio_tungstenite::client_async(request, tcp)).await.unwrap();
    let mut client = Client::over(socket);
    let hello = client.connect(&agent.key).await;
    assert!(hello.get("result").is_some(), "{hello}");
    client
}

/// Returns a message that is nearly as large as a call may be.
pub fn big(place: &(String, String)) -> Value {
    let mut send = saying(place, "");
    let part = json!({"type": "text", "text": "w".repeat(31_000)});
    send["parts"] = json!([part, part]);
    send
}

#[tokio::test]
async fn so_many_requests_in_a_minute_and_the_connection_lives_on() {
    let server = open_server().await;
    let (_, mut ann) = agent(&server, "ann").await;
    let (_, mut bob) = agent(&server, "bob").await;
    for _ in 0..120 {
        ann.done("network/ping", json!({})).await;
    }
    let refused = ann.call("network/ping", json!({})).await["error"].clone();
    assert_eq!(
        (&refused["code"], &refused["message"]),
        (&json!(-32004), &json!("Too many requests"))
    );
    let wait = refused["data"]["retryAfterMs"].as_u64().unwrap();
    assert!((1..=60_000).contains(&wait), "{refused}");
    assert!(ann.settle().await.is_empty() && ann.end.is_none());
    // The limit is for the agent, over all its connections. Other agents are not limited.
    bob.done("network/ping", json!({})).await;
    assert_eq!(ann.refused("task/list", json!({})).await.0, -32004);
}

#[tokio::test]
async fn so_many_messages_in_a_minute_and_other_calls_go_on() {
    let server = open_server().await;
    let ([_, bob], [mut ann, _]) = agents(&server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    for _ in 0..60 {
        ann.say(&place, "more").await;
    }
    let refused = ann.call("messages/send", saying(&place, "too much")).await["error"].clone();
    assert_eq!(refused["code"], -32004);
    assert!(refused["data"]["retryAfterMs"].is_u64(), "{refused}");
    ann.done("network/ping", json!({})).await;
}

#[tokio::test]
async fn connecting_again_and_again_counts_as_well() {
    let server = open_server().await;
    let (agent, mut ann) = agent(&server, "ann").await;
    let mut refused = 0;
    for _ in 0..130 {
        refused += u32::from(ann.connect(&agent.key).await["error"]["code"] == -32004);
    }
    assert!(refused > 0, "what is asked for 130 times costs nothing");
    assert!(ann.settle().await.is_empty() && ann.end.is_none());
}

#[tokio::test]
async fn an_agent_has_so_many_connections_and_another_one_when_one_goes() {
    let server = closed_server().await;
    let agent = let_in(&server, "ann").await;
    let first = Client::of(&server, &agent).await;
    let mut lines = Vec::new();
    for _ in 1..20 {
        lines.push(Client::of(&server, &agent).await);
    }
    let mut more = Client::open(&server).await;
    assert_eq!(more.connect(&agent.key).await["error"]["code"], -32004);
    first.leave().await;
    assert_eq!(more.connect(&agent.key).await["result"]["agentId"], agent.id);
}

#[tokio::test]
async fn whoever_sends_nothing_but_nonsense_is_cut() {
    let server = open_server().await;
    let (_, mut bob) = agent(&server, "bob").await;
    let mut guest = Client::open(&server).await;
    for _ in 0..40 {
        guest.send("nonsense").await;
    }
    let wild = Some((1008, "too many frames were rejected".to_owned()));
    let mut answers = 0;
    while guest.frame().await.is_some() {
        answers += 1;
    }
    // The last frame may be lost, because the server stopped reading.
    assert!(answers <= 21 && (guest.end == wild || guest.end.is_none()), "{:?}", guest.end);
    let (_, mut ann) = agent(&server, "ann").await;
    for _ in 0..1_001 {
        ann.send("{}").await;
    }
    let mut answers = 0;
    while ann.frame().await.is_some() {
        answers += 1;
    }
    assert!(answers <= 1_001, "{answers}");
    assert_eq!(ann.end, wild);
    bob.done("network/ping", json!({})).await;
}

#[tokio::test]
async fn whoever_does_not_read_is_cut_and_others_hear_everything() {
    let server = open_server().await;
    let names = ["ann", "bob", "cid", "dan", "eve", "fay"];
    let ([_, bob, cid, dan, eve, fay], [mut ann, slow, c, d, e, f]) = agents(&server, names).await;
    slow.leave().await;
    let place = ann.task_with(&[&bob, &cid, &dan, &eve, &fay]).await;
    let mut slow = narrow(&server, &bob).await;
    ann.done("presence/subscribe", json!({"agentIds": [bob.id]})).await;
    const EACH: usize = 49;
    let talk = [c, d, e, f].map(|mut client| {
        let place = &place;
        async move {
            for _ in 0..EACH {
                client.done("messages/send", big(place)).await;
            }
            client
        }
    });
    let talks = join_all(talk);
    let hears = async {
        for _ in 0..4 * EACH {
            ann.next_notice("messages/received").await;
        }
        let gone = ann.next_notice("presence/changed").await;
        assert_eq!((&gone["agentId"], &gone["status"]), (&json!(bob.id), &json!("offline")));
        ann
    };
    let (clients, mut ann) = futures_util::future::join(talks, hears).await;
    // The slow connection gets fewer messages than were sent. Then it is closed.
    let mut heard = 0;
    while slow.frame().await.is_some() {
        heard += 1;
    }
    assert!(heard < 4 * EACH, "{heard}");
    if let Some((code, reason)) = &slow.end {
        assert_eq!(*code, 1013, "{reason}");
    }
    // The agent connects again, and reads what it missed.
    let mut back = Client::of(&server, &bob).await;
    assert_eq!(after(&mut back, &place, "0", 200).await.len(), 4 * EACH);
    ann.done("network/ping", json!({})).await;
    drop(clients);
}

/// Opens a connection of bob that asked for much and reads nothing, until its buffers are full.
async fn stuck(server: &Server) -> (Agent, Client, Client) {
    let ([_, bob], [mut ann, mut talks]) = agents(server, ["ann", "bob"]).await;
    let place = ann.task_with(&[&bob]).await;
    for _ in 0..55 {
        talks.done("messages/send", big(&place)).await;
    }
    ann.done("presence/subscribe", json!({"agentIds": [bob.id]})).await;
    let mut stuck = narrow(server, &bob).await;
    talks.leave().await;
    for _ in 0..20 {
        let list = json!({"taskId": place.0, "conversationId": place.1, "limit": 200});
        stuck.ask("messages/list", list).await;
    }
    // The first byte shows that the server is writing. The answers do not fit into the buffers.
    let mut first = [0; 1];
    soon(stuck.socket.get_mut().peek(&mut first)).await.unwrap();
    (bob, ann, stuck)
}

#[tokio::test]
async fn a_revoked_key_ends_also_a_connection_that_reads_nothing() {
    let server = open_server().await;
    let (bob, mut ann, _stuck) = stuck(&server).await;
    revoke(&server, &bob).await;
    assert_eq!(ann.next_notice("presence/changed").await["status"], "offline");
}

#[tokio::test]
async fn a_server_goes_down_though_a_connection_reads_nothing() {
    let mut server = open_server().await;
    let (_, mut ann, _stuck) = stuck(&server).await;
    server.shut_down();
    ann.closed().await;
    assert_eq!(ann.end.as_ref().map(|(code, _)| *code), Some(1001));
    server.down().await;
}

/// Registers a manager that wants to be asked about messages.
async fn moderates(manager: &mut Client, app: &str) {
    let manifest = json!({"manifest": {"appId": app, "name": "App",
        "hooks": {"message_authorize": {"timeoutMs": 60_000}}}});
    manager.done("apps/register", manifest).await;
}

async fn task_of(client: &mut Client, app: &str, with: &Agent) -> (String, String) {
    let wish = json!({"appId": app, "invitedAgentIds": [with.id], "initialConversation": {}});
    let made = client.done("task/request", wish).await;
    let id = |what: &str| made[what]["id"].as_str().unwrap().to_owned();
    (id("task"), id("conversation"))
}

/// More than the number of calls that the server handles at once for one connection.
const MANY: usize = 40;

#[tokio::test]
async fn a_silent_manager_delays_only_what_it_is_asked_about() {
    let server = open_server().await;
    let ([ann, bob, _], [mut a, mut b, mut tim]) = agents(&server, ["ann", "bob", "tim"]).await;
    let silent = "aaaaaaaa-0000-4000-8000-000000000001";
    moderates(&mut tim, silent).await;
    let held = task_of(&mut a, silent, &bob).await;
    let mut asked = Vec::new();
    for number in 0..MANY {
        asked.push(a.ask("messages/send", saying(&held, &number.to_string())).await);
    }
    a.ask("task/request", json!({"appId": silent, "invitedAgentIds": []})).await;
    // All other traffic of the connection continues: calls, pings, messages elsewhere,
    // notifications, and requests to it as a manager.
    a.done("network/ping", json!({})).await;
    a.settle().await;
    let free = a.task_with(&[&bob]).await;
    a.say(&free, "elsewhere").await;
    assert_eq!(words(&b.next_notice("messages/received").await["message"]), "elsewhere");
    let own = "aaaaaaaa-0000-4000-8000-000000000002";
    moderates(&mut a, own).await;
    let managed = task_of(&mut b, own, &ann).await;
    let sent = b.ask("messages/send", saying(&managed, "please")).await;
    let question = a.wanted(|frame| frame["method"] == "messages/authorize").await;
    let verdict = json!({"verdict": {"decision": "Forward", "recipients": [ann.id]}});
    a.decide(question["id"].as_str().unwrap(), verdict).await;
    assert!(b.answer(&sent).await.get("result").is_some());
    // When the manager answers, all messages are kept in the order in which they were sent.
    for _ in 0..MANY {
        let question = tim.wanted(|frame| frame["method"] == "messages/authorize").await;
        let verdict = json!({"verdict": {"decision": "Forward", "recipients": [bob.id]}});
        tim.decide(question["id"].as_str().unwrap(), verdict).await;
    }
    for (number, id) in asked.iter().enumerate() {
        assert!(a.answer(id).await.get("result").is_some(), "{number}");
        assert_eq!(words(&b.next_notice("messages/received").await["message"]), number.to_string());
    }
}

#[tokio::test]
async fn calls_that_wait_for_a_manager_are_bounded() {
    let server = open_server().await;
    let ([_, bob, _], [mut a, _b, mut tim]) = agents(&server, ["ann", "bob", "tim"]).await;
    let silent = "aaaaaaaa-0000-4000-8000-000000000001";
    let mut manifest = json!({"manifest": {"appId": silent, "name": "App"}});
    manifest["manifest"]["hooks"] = json!({"task_create": {"timeoutMs": 60_000}});
    tim.done("apps/register", manifest).await;
    let mut last = String::new();
    for _ in 0..65 {
        let wish = json!({"appId": silent, "invitedAgentIds": [bob.id]});
        last = a.ask("task/request", wish).await;
    }
    let refused = a.answer(&last).await;
    assert_eq!(refused["error"]["code"], -32004);
    assert_eq!(refused["error"]["data"]["retryAfterMs"], 1000);
    a.done("network/ping", json!({})).await;
}
