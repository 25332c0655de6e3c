//! Remote agents are held by guards, and people are notified. (Rulings 14, 16 and 41.)

use reqwest::Method;
use serde_json::{Value, json};

use crate::rpc::{agents, open_server, saying};
use crate::server::Server;

async fn posts(server: &Server, thread: &str, from: &str, words: &str) -> (u16, Value) {
    let body = json!({"from": from, "content": words});
    server.post(&format!("/threads/{thread}/events"), body).await
}

/// Posts under a name without a credential, until a guard holds the words back. Returns the number
/// of posted messages and the last answer.
async fn until_held(
    server: &Server,
    rooms: &[String],
    say: impl Fn(usize) -> (usize, &'static str, String),
) -> (usize, Value) {
    for said in 0..100 {
        let (room, from, words) = say(said);
        let (status, answer) = posts(server, &rooms[room], from, &words).await;
        assert_eq!(status, 200, "{said}: {answer}");
        if answer["event"].is_null() {
            return (said, answer);
        }
    }
    panic!("nothing ended it");
}

#[tokio::test]
async fn two_bridges_end_by_themselves_and_are_told() {
    for policy in ["mention_only", "open"] {
        let server = Server::start().await;
        let rooms = [server.thread(policy).await, server.thread(policy).await];
        server.say(&rooms[0], "user", "hello over there").await;
        let (said, last) = until_held(&server, &rooms, |n| match n % 2 {
            0 => (1, "there", format!("[one] hello over there{}", "!".repeat(n))),
            _ => (0, "back", format!("Hello over there ({n})")),
        })
        .await;
        assert!((3..=41).contains(&said), "{policy}: {said}");
        assert_eq!((&last["received"], &last["warnings"]), (&json!(true), &json!(["held"])));
        let held = [server.state(&rooms[0]).await, server.state(&rooms[1]).await];
        assert!(held.iter().any(|state| state["held"].is_string()), "{held:?}");
    }
}

#[tokio::test]
async fn bots_in_rooms_of_their_own_report_on() {
    let server = Server::start().await;
    let rooms = [server.thread("mention_only").await, server.thread("open").await];
    for n in 0..25 {
        for (room, bot) in rooms.iter().zip(["core", "web"]) {
            server.say(room, bot, &format!("build {n} of {bot}: {} tests passed", 100 + n)).await;
        }
    }
    // Messages faster than one in two seconds have to wait.
    for n in 25..30 {
        server.say(&rooms[0], "core", &format!("build {n} of core")).await;
    }
    let path = server.url(&format!("/threads/{}/events", rooms[0]));
    let more = json!({"from": "core", "content": "build 30"});
    let refused = reqwest::Client::new().post(path).json(&more).send().await.unwrap();
    let seconds: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!(refused.status() == 429 && (1..=60).contains(&seconds), "{seconds}");
    assert_eq!(refused.json::<Value>().await.unwrap()["error"]["code"], "own_words_rate");
    server.say(&rooms[0], "user", "go on").await;
    server.say(&rooms[0], "core", "build 30").await;
}

#[tokio::test]
async fn after_a_stop_agents_own_words_wait_for_a_person() {
    let server = Server::start().await;
    let thread = server.thread("mention_only").await;
    server.say(&thread, "bot", "I begin").await;
    let stop = format!("/threads/{thread}/stop");
    assert_eq!(server.post(&stop, json!({"from": "user"})).await.0, 200);
    let (status, answer) = posts(&server, &thread, "bot", "and go on").await;
    assert_eq!(
        (status, &answer["event"], &answer["warnings"]),
        (200, &Value::Null, &json!(["stopped"])),
        "{answer}"
    );
    // A repeated request gets the same answer, even if other guards hold by then.
    let events = format!("/threads/{thread}/events");
    let more = json!({"from": "bot", "content": "and on"});
    let before = server.post_with_key(&events, "k1", more.clone()).await;
    assert_eq!((before.0, &before.1["warnings"]), (200, &json!(["stopped"])), "{before:?}");
    let said = server.events(&thread, "").await;
    assert!(said.iter().all(|event| event["content"] != "and go on"), "{said:?}");
    server.say(&thread, "user", "go on").await;
    assert_eq!(server.post_with_key(&events, "k1", more).await, before);
    server.say(&thread, "bot", "and now I do").await;
}

#[tokio::test]
async fn a_message_that_a_stop_forgot_says_who_stopped_it() {
    let server = Server::start().await;
    let thread = server.thread("hybrid").await;
    server.invite(&thread, "stuck", "stuck").await;
    server.say(&thread, "user", "@stuck first").await;
    let waiting = server.say(&thread, "user", "@stuck second").await["id"].clone();
    let stop = format!("/threads/{thread}/stop");
    assert_eq!(server.post(&stop, json!({"from": "user"})).await.0, 200);
    let path = format!("/threads/{thread}/turns?message={}", waiting.as_str().unwrap());
    let (_, listed) = server.as_operator(Method::GET, &path, Value::Null).await;
    let unasked = &listed["unasked"][0];
    assert_eq!(unasked["message"], waiting, "{listed}");
    assert_eq!(
        (&unasked["reason"], &unasked["by"]),
        (&json!("stopped"), &json!("user")),
        "{listed}"
    );
    assert_eq!(unasked["text"], "stopped by user", "{listed}");
}

#[tokio::test]
async fn a_hold_is_said_in_the_answer_the_preview_and_the_turns() {
    let server = Server::start().await;
    let policy = json!({"name": "open", "max_exchanges_without_human": 2});
    let made = server.post("/threads", json!({"name": "loop", "policy": policy})).await.1;
    let thread = made["id"].as_str().unwrap().to_owned();
    server.invite(&thread, "ping", "ping").await;
    server.invite(&thread, "pong", "pong").await;
    let mut stream = server.stream(&format!("/threads/{thread}/events/stream?after=0")).await;
    let events = format!("/threads/{thread}/events");
    let say = json!({"from": "user", "content": "go on"});
    // The first message begins; six more lift the hold.
    for lifted in 0..7 {
        let (status, answer) = server.unproven(Method::POST, &events, say.clone()).await;
        assert_eq!((status, &answer["warnings"]), (200, &Value::Null), "{lifted}: {answer}");
        stream.until(|event| event["content"]["code"] == "held").await;
    }
    let (status, answer) = server.unproven(Method::POST, &events, say.clone()).await;
    let warnings = answer["warnings"].as_array().unwrap();
    assert_eq!((status, &warnings[0]), (200, &json!("held")), "{answer}");
    let help = warnings[1].as_str().unwrap();
    assert!(help.contains("moothall chat"), "{help}");
    let draft = json!({"from": "user", "content": "and now?"});
    let preview = format!("/threads/{thread}/preview");
    let (_, forecast) = server.unproven(Method::POST, &preview, draft.clone()).await;
    for entry in forecast["forecast"].as_array().unwrap() {
        assert_eq!(entry["why_not"], "held", "{forecast}");
    }
    let (_, forecast) = server.as_operator(Method::POST, &preview, draft).await;
    assert_eq!(forecast["forecast"][0]["why"], "link", "{forecast}");
    let id = answer["event"]["id"].as_str().unwrap();
    let turns = server.turns(&thread, &format!("?message={id}")).await;
    assert_eq!(turns.len(), 2, "{turns:?}");
    assert!(turns.iter().all(|turn| turn["why_not"] == "held"), "{turns:?}");
    let (status, answer) = server.as_operator(Method::POST, &events, say).await;
    assert_eq!((status, &answer["warnings"]), (200, &Value::Null), "{answer}");
}

#[tokio::test]
async fn agents_of_a_task_talk_up_to_its_limit_and_are_told_of_it() {
    let server = open_server().await;
    let ([ada, bob, cid, dan], mut lines) = agents(&server, ["ada", "bob", "cid", "dan"]).await;
    let place = lines[0].task_with(&[&bob, &cid, &dan]).await;
    let _ = ada;
    for n in 0..200 {
        let words = format!("@ada @bob @cid @dan number {n}");
        lines[n % 4].done("messages/send", saying(&place, &words)).await;
    }
    let refused = lines[0].refused("messages/send", saying(&place, "@bob one more")).await;
    assert_eq!(refused.0, -32003, "{refused:?}");
    let path = format!("/threads/{}/events", place.1);
    let resume = json!({"type": "control", "from": "user", "content": {"resume": true}});
    assert_eq!(server.as_operator(Method::POST, &path, resume).await.0, 200);
    lines[0].done("messages/send", saying(&place, "@bob we go on")).await;
}

#[tokio::test]
async fn a_task_has_the_limit_that_was_asked_for_and_its_manager_hears_of_the_hold_too() {
    let server = open_server().await;
    let ([_, bob, _], mut lines) = agents(&server, ["ada", "bob", "mia"]).await;
    let app = "c2a3b1f4-0d5e-4f6a-8b7c-9d0e1f2a3b4c";
    let hooks = json!({"task_create": {"timeoutMs": 60_000}});
    let manifest = json!({"appId": app, "name": "Review", "hooks": hooks});
    lines[2].done("apps/register", json!({"manifest": manifest})).await;
    let wish = |limit: u32| {
        json!({"appId": app, "invitedAgentIds": [bob.id], "initialConversation": {},
            "maxExchangesWithoutHuman": limit})
    };
    for limit in [0, 201] {
        let error = lines[0].call("task/request", wish(limit)).await["error"].clone();
        assert_eq!(error["code"], -32602);
        let words = error.to_string();
        assert!(words.contains("takes 1 to 200, the operator's ceiling"), "{words}");
    }
    let id = lines[0].ask("task/request", wish(3)).await;
    let question = lines[2].wanted(|frame| frame["method"] == "task/create").await;
    assert_eq!(question["params"]["maxExchangesWithoutHuman"], 3);
    let verdict = json!({"verdict": {"decision": "accept"}});
    lines[2].decide(question["id"].as_str().unwrap(), verdict).await;
    let made = lines[0].answer(&id).await["result"].clone();
    let of = |what: &str| made[what]["id"].as_str().unwrap().to_owned();
    let place = (of("task"), of("conversation"));
    for n in 0..3 {
        lines[n % 2].done("messages/send", saying(&place, &format!("@ada @bob {n}"))).await;
    }
    let refused = lines[0].refused("messages/send", saying(&place, "@bob one more")).await;
    assert_eq!(refused.0, -32003, "{refused:?}");
    for line in &mut lines {
        let held = line.next_notice("task/conversation/held").await;
        let expected = json!({"taskId": place.0, "conversationId": place.1, "guard": "exchanges"});
        assert_eq!(held, expected);
    }
    let path = format!("/threads/{}/events", place.1);
    let resume = json!({"type": "control", "from": "user", "content": {"resume": true}});
    assert_eq!(server.as_operator(Method::POST, &path, resume).await.0, 200);
    lines[0].done("messages/send", saying(&place, "@bob we go on")).await;
}
