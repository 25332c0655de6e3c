//! Slash commands, each as `POST /threads/{id}/commands` runs it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::chats::{CHAT, bound_to, control, with_channel};
use crate::mcp::call;
use crate::rpc::{agents, open_server, saying};
use crate::server::Server;

/// Runs a command of the operator; returns the status and the answer.
async fn run(server: &Server, thread: &str, text: &str) -> (u16, Value) {
    let path = format!("/threads/{thread}/commands");
    server.as_operator(Method::POST, &path, json!({"text": text})).await
}

/// Runs a command that succeeds; returns its text.
async fn ran(server: &Server, thread: &str, text: &str) -> String {
    let (status, answer) = run(server, thread, text).await;
    assert_eq!(status, 200, "{text}: {answer}");
    answer["text"].as_str().unwrap().to_owned()
}

/// Returns the ids of the invited participants, and the name of the policy.
async fn group(server: &Server, thread: &str) -> (Vec<String>, String) {
    let state = server.state(thread).await;
    let invited = state["participants"]["invited"].as_array().unwrap();
    let ids = invited.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    (ids, state["policy"]["name"].as_str().unwrap().to_owned())
}

/// Waits for a message with these words.
async fn until_said(server: &Server, thread: &str, words: &str) {
    let mut frames = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
    frames.until(|event| event["type"] == "message" && event["content"] == words).await;
}

#[tokio::test]
async fn a_chat_has_one_group() {
    let (server, _carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    assert_eq!(control(&server, &thread, json!({"bind": CHAT})).await.0, 200);
    ran(&server, &thread, "/group create echo quiet").await;

    let (status, refused) = run(&server, &thread, "/group create ping").await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("group_exists")), "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    for named in ["echo", "quiet", "/group add", "/group dissolve"] {
        assert!(message.contains(named), "{message}");
    }
    assert_eq!(
        group(&server, &thread).await,
        (vec!["echo".into(), "quiet".into()], "hybrid".into())
    );

    ran(&server, &thread, "/group remove quiet").await;
    ran(&server, &thread, "/group remove echo").await;
    ran(&server, &thread, "/group create ping").await;
    assert_eq!(group(&server, &thread).await.0, ["ping"], "a chat without agents has no group");
}

#[tokio::test]
async fn a_dissolved_group_is_bound_to_no_chat() {
    let (server, _carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    assert_eq!(control(&server, &thread, json!({"bind": CHAT})).await.0, 200);
    let second = json!({"bind": "telegram:-7", "confirm": true});
    assert_eq!(control(&server, &thread, second).await.0, 200);
    ran(&server, &thread, "/group create echo").await;
    let before = server.events(&thread, "").await.len();

    let text = ran(&server, &thread, "/group dissolve").await;
    assert!(text.contains(CHAT) && text.contains("telegram:-7"), "{text}");
    assert_eq!(server.events(&thread, "").await.len(), before + 1, "one decision");
    assert_eq!(group(&server, &thread).await, (vec![], "mention_only".into()));
    for chat in [CHAT, "telegram:-7"] {
        assert!(bound_to(&server, &format!("chat={chat}")).await.is_empty());
    }
    let (_, audit) = server.as_operator(Method::GET, "/audit?limit=2", json!(null)).await;
    let rows = audit["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["deed"] == "chat_unbound"), "{audit}");
}

/// The right to unbind is needed as well, and without it nothing is done.
#[tokio::test]
async fn a_bound_group_is_dissolved_with_the_right_to_unbind() {
    let (server, _carried) = with_channel().await;
    let thread = server.thread("mention_only").await;
    assert_eq!(control(&server, &thread, json!({"bind": CHAT})).await.0, 200);
    ran(&server, &thread, "/group create echo").await;
    let scopes = ["threads:read", "threads:write", "turns:control", "participants:invite"];
    let (_, key) = token(&server, json!({"principal": "ann", "scopes": scopes})).await;
    let path = format!("/threads/{thread}/commands");
    let dissolve = json!({"text": "/group dissolve"});
    for (status, refused) in [
        server.with(&key, Method::POST, &path, dissolve.clone()).await,
        server.unproven(Method::POST, &path, dissolve.clone()).await,
    ] {
        assert_eq!((status, &refused["error"]["code"]), (403, &json!("forbidden")), "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(CHAT) && message.contains("`threads:admin`"), "{message}");
    }
    assert_eq!(group(&server, &thread).await, (vec!["echo".into()], "hybrid".into()));
    assert_eq!(bound_to(&server, &format!("chat={CHAT}")).await, [thread.as_str()]);

    assert_eq!(control(&server, &thread, json!({"unbind": CHAT})).await.0, 200);
    assert_eq!(server.with(&key, Method::POST, &path, dissolve).await.0, 200);
    assert_eq!(group(&server, &thread).await.0, Vec::<String>::new());
}

#[tokio::test]
async fn a_group_is_made_and_changed() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let text = ran(&server, &thread, "/group create echo quiet").await;
    assert_eq!(text, "This is now a group with echo, quiet.");
    assert_eq!(
        group(&server, &thread).await,
        (vec!["echo".into(), "quiet".into()], "hybrid".into())
    );

    assert_eq!(ran(&server, &thread, "/group add ping").await, "ping was invited.");
    assert_eq!(ran(&server, &thread, "/group remove quiet").await, "quiet was removed.");
    assert_eq!(group(&server, &thread).await.0, ["echo", "ping"]);

    let config = "/group config max_agent_turns_per_message 1";
    assert_eq!(ran(&server, &thread, config).await, "max_agent_turns_per_message is now 1.");
    assert_eq!(server.state(&thread).await["policy"]["max_agent_turns_per_message"], 1);
    let (status, refused) = run(&server, &thread, "/group config nosuch 1").await;
    assert_eq!(status, 422, "{refused}");

    let list = ran(&server, &thread, "/group list").await;
    for shown in ["echo\n", "ping\n", "name: \"hybrid\"", "max_agent_turns_per_message: 1"] {
        assert!(list.contains(shown), "{shown}: {list}");
    }
    assert_eq!(ran(&server, &thread, "/group dissolve").await, "The group was dissolved.");
    assert_eq!(group(&server, &thread).await, (vec![], "mention_only".into()));
    let list = ran(&server, &thread, "/group list").await;
    assert!(list.starts_with("This conversation has no participants."), "{list}");
}

#[tokio::test]
async fn ask_has_each_named_agent_answer() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    for agent in ["ping", "echo", "quiet"] {
        server.invite(&thread, agent, agent).await;
    }
    assert_eq!(ran(&server, &thread, "/ask echo quiet").await, "Asked: echo, quiet.");
    until_said(&server, &thread, "I heard you.").await;
    let asked: Vec<_> = server.turns(&thread, "").await;
    let names: Vec<_> = asked.iter().map(|turn| (&turn["participant"], &turn["why"])).collect();
    assert_eq!(names[0], (&json!("echo"), &json!("forced")));
    assert!(names.iter().all(|(who, _)| **who != json!("ping")), "{names:?}");
}

#[tokio::test]
async fn people_steer_agents_with_commands() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.invite(&thread, "stuck", "stuck").await;
    assert_eq!(ran(&server, &thread, "/pause").await, "Paused.");
    assert_eq!(server.state(&thread).await["paused"], true);
    assert_eq!(ran(&server, &thread, "/resume").await, "Resumed.");
    assert_eq!(server.state(&thread).await["paused"], false);

    server.say(&thread, "user", "@stuck hello").await;
    assert_eq!(ran(&server, &thread, "/stop").await, "Everything was stopped.");
    assert_eq!(server.state(&thread).await["turns"], json!([]));

    assert_eq!(ran(&server, &thread, "/mute stuck").await, "Muted: stuck.");
    assert_eq!(server.state(&thread).await["muted"], json!(["stuck"]));
    assert_eq!(ran(&server, &thread, "/unmute stuck").await, "No longer muted: stuck.");

    let help = ran(&server, &thread, "/help").await;
    for name in ["/group dissolve", "/ask", "/why", "/help"] {
        assert!(help.contains(name), "{help}");
    }
}

#[tokio::test]
async fn why_answers_as_text() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    let none = "This conversation has no messages from people yet.";
    assert_eq!(ran(&server, &thread, "/why").await, none);
    server.invite(&thread, "quiet", "quiet").await;
    server.invite(&thread, "a", "echo").await;
    server.say(&thread, "user", "hello").await;
    let text = ran(&server, &thread, "/why").await;
    assert!(
        text.starts_with("No agent was asked about the latest message: nobody was named. Name")
    );
    server.control(&thread, json!({"mute": ["quiet"]})).await;
    server.say(&thread, "user", "@a @quiet hello").await;
    until_said(&server, &thread, "I heard you.").await;
    let text = ran(&server, &thread, "/why").await;
    assert!(text.contains("a: asked (forced), spoke\n"), "{text}");
    assert!(text.contains("quiet: not asked (muted)\n"), "{text}");
}

/// Programs speak through tools and calls, which never read words as commands.
#[tokio::test]
async fn words_of_programs_are_never_commands() {
    let server = open_server().await;
    let thread = server.thread("mention_only").await;
    let (_, key) = token(&server, json!({"principal": "ann", "kind": "agent"})).await;
    let said = json!({"thread": thread, "message": "/pause"});
    call(&server, Some(&key), "send_message", said).await;
    until_said(&server, &thread, "/pause").await;
    assert_eq!(server.state(&thread).await["paused"], false);

    let ([_, bob], [mut cato, _bob]) = agents(&server, ["cato", "bob"]).await;
    let place = cato.task_with(&[&bob]).await;
    cato.done("messages/send", saying(&place, "/pause")).await;
    until_said(&server, &place.1, "/pause").await;
    assert_eq!(server.state(&place.1).await["paused"], false);
}
