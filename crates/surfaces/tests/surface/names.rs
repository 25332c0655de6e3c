//! Names in messages: their places, and the warning to the speaker about an unknown name.

use moothall_engine::access::Mode;
use reqwest::Method;
use serde_json::{Value, json};

use crate::access::token;
use crate::mcp::call;
use crate::server::Server;

/// Returns a conversation in which every agent may answer: `critic`, called Critic, and `小明`.
async fn room(server: &Server) -> String {
    let thread = server.thread("hybrid").await;
    for (id, nickname) in [("critic", "Critic"), ("m", "小明")] {
        let profile = json!({"client": "quiet", "model": "demo", "nickname": nickname});
        server
            .control(&thread, json!({"invite": {"participant_id": id, "profile": profile}}))
            .await;
    }
    thread
}

fn warned(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array();
    warnings.into_iter().flatten().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn a_name_that_no_participant_bears_is_told_with_the_nearest_though_agents_are_asked() {
    let server = Server::start().await;
    let thread = room(&server).await;
    let say =
        async |words: &str| server.take(&thread, json!({"from": "user", "content": words})).await;
    for (words, name, nearest) in [
        ("@critc look", "@critc", Some("@critic")),
        ("@critic and @critc", "@critc", Some("@critic")),
        ("交给＠crític处理", "＠crític", Some("@critic")),
        ("**@citric**", "@citric", Some("@critic")),
        ("@xyzzy42 hello", "@xyzzy42", None),
    ] {
        let answer = say(words).await;
        let warnings = warned(&answer);
        assert_eq!((warnings.len(), warnings[0]), (2, "unknown_name"), "{words}: {answer}");
        let near =
            nearest.is_none_or(|near| warnings[1].contains(&format!("nearest name is {near}")));
        assert!(warnings[1].contains(&format!("called {name}")) && near, "{words}: {warnings:?}");
        assert_eq!(warnings[1].contains("nearest"), nearest.is_some(), "{warnings:?}");
        assert!(!warnings[1].contains("No agent is asked"), "{words}: {warnings:?}");
    }
    for words in [
        "@critic look",
        "@openai/codex",
        "mail ann@critc.org",
        "@critc:matrix.org",
        "`@critc`",
        "> @critc",
        "\\@critc",
        "https://x.y/@critc",
        "@小明 看",
    ] {
        assert_eq!(warned(&say(words).await), Vec::<&str>::new(), "{words}");
    }
}

#[tokio::test]
async fn a_wrong_name_in_a_script_without_spaces_is_told_whole() {
    let server = Server::start().await;
    let thread = room(&server).await;
    for (words, expected) in [
        ("请@小名处理一下", "called @小名; the nearest name is @"),
        ("@大家处理一下", "called @大家处理一下."),
    ] {
        let answer = server.take(&thread, json!({"from": "user", "content": words})).await;
        assert!(warned(&answer)[1].contains(expected), "{answer}");
    }
}

#[tokio::test]
async fn a_name_for_all_is_told_once() {
    let server = Server::start().await;
    let thread = room(&server).await;
    for (from, words) in [("user", "@all hello"), ("user", "@all and @critic"), ("bot", "@all")] {
        let answer = server.take(&thread, json!({"from": from, "content": words})).await;
        let warnings = warned(&answer);
        assert_eq!(warnings[0], "broadcast", "{answer}");
        assert!(warnings[1].contains("there is no @all here"), "{answer}");
        let count = warnings.iter().filter(|text| text.contains("@all")).count();
        assert_eq!(count, 1, "{answer}");
    }
    let events = server.events(&thread, "?types=message").await;
    let of_server = events.iter().filter(|event| event["from"] == "moothall").count();
    assert_eq!(of_server, 0, "{events:?}");
}

#[tokio::test]
async fn an_agent_and_a_repeated_request_are_told_the_unknown_name_too() {
    let server = Server::start().await;
    let thread = room(&server).await;
    let own = server.take(&thread, json!({"from": "bot", "content": "@critc"})).await;
    assert!(warned(&own).contains(&"unknown_name"), "{own}");
    let path = format!("/threads/{thread}/events");
    let words = json!({"from": "user", "content": "@critc again"});
    let (_, first) = server.post_with_key(&path, "one", words.clone()).await;
    server.control(&thread, json!({"uninvite": {"participant_id": "critic"}})).await;
    let (_, again) = server.post_with_key(&path, "one", words).await;
    assert_eq!(warned(&first), warned(&again));
    let said = json!({"thread": thread, "message": "@quit hello", "from": "bot"});
    let sent = call(&server, None, "send_message", said).await;
    assert_eq!(sent["warnings"][0], "unknown_name", "{sent}");
    assert!(sent["warnings"][1].as_str().unwrap().contains("@quit"), "{sent}");
}

#[tokio::test]
async fn the_nearest_name_is_told_only_to_those_who_may_read_who_is_here() {
    let server = Server::start_in(Mode::Token).await;
    let (_, made) = server
        .as_operator(Method::POST, "/threads", json!({"name": "t", "policy": "hybrid"}))
        .await;
    let path = format!("/threads/{}/events", made["id"].as_str().unwrap());
    let profile = json!({"client": "quiet", "model": "demo"});
    let invite = json!({"invite": {"participant_id": "critic", "profile": profile}});
    server.as_operator(Method::POST, &path, json!({"type": "control", "content": invite})).await;
    for (scopes, is_shown) in
        [(json!(["threads:write"]), false), (json!(["threads:write", "threads:read"]), true)]
    {
        let principal = format!("ann{is_shown}");
        let (_, key) =
            token(&server, json!({"principal": principal, "kind": "human", "scopes": scopes}))
                .await;
        let (status, said) =
            server.with(&key, Method::POST, &path, json!({"content": "@critc hello"})).await;
        let warnings = warned(&said).join(" ");
        assert_eq!(status, 200, "{said}");
        assert!(warnings.contains("unknown_name") && warnings.contains("@critc"), "{said}");
        assert_eq!(warnings.contains("@critic"), is_shown, "{said}");
    }
}

#[tokio::test]
async fn the_places_of_names_are_counted_in_utf_16_and_go_with_the_words() {
    let server = Server::start().await;
    let thread = room(&server).await;
    let words =
        "👩\u{200d}👧 **@critic**, 交给@小明处理; not `@critic`, @openai/codex, @nosuch. @quiet";
    let said =
        server.take(&thread, json!({"from": "user", "content": words})).await["event"].clone();
    assert_eq!(said["meta"]["mentions"], json!(["critic", "m"]));
    let units: Vec<u16> = words.encode_utf16().collect();
    let places = said["meta"]["mention_places"].as_array().unwrap();
    let named = places.iter().map(|place| {
        let at = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
        let name = String::from_utf16(&units[at("start")..at("end")]).unwrap();
        (name, place["participants"].clone())
    });
    let expected = [
        ("@critic", json!(["critic"])),
        ("@小明", json!(["m"])),
        ("@quiet", json!(["critic", "m"])),
    ];
    let expected = expected.map(|(name, ids)| (name.to_owned(), ids));
    assert_eq!(named.collect::<Vec<_>>(), expected);
    let path = format!("/threads/{thread}/events/{}/redact", said["id"].as_str().unwrap());
    let (status, erased) = server.as_operator(Method::POST, &path, json!({})).await;
    assert_eq!(status, 200, "{erased}");
    let events = server.events(&thread, "").await;
    let kept = events.iter().find(|event| event["id"] == said["id"]).unwrap();
    assert_eq!(kept["meta"]["redacted"], true, "{kept}");
    assert_eq!(kept["meta"].get("mention_places"), None, "{kept}");
}

#[tokio::test]
async fn a_draft_is_told_of_a_name_that_reaches_no_participant_though_agents_answer() {
    let server = Server::start().await;
    let thread = room(&server).await;
    let path = format!("/threads/{thread}/preview");
    for (words, reason) in [
        ("@critic and @critc", Some("unknown_name")),
        ("@all", Some("broadcast")),
        ("@critic `@critc` @openai/codex", None),
    ] {
        let (_, preview) = server.post(&path, json!({"content": words})).await;
        assert_eq!(preview["stray"]["reason"].as_str(), reason, "{words}: {preview}");
        assert_eq!(preview.get("unasked"), None, "{preview}");
    }
}

/// Spellings of the nickname of `z1`, and its id.
const ZOE: [&str; 6] = ["Zoë Lee", "zoe\u{308} lee", "ＺＯË ＬＥＥ", "@Zoë Lee", "＠zoë Lee", "z1"];

#[tokio::test]
async fn a_nickname_stands_wherever_a_participant_is_meant() {
    let server = Server::start().await;
    let thread = room(&server).await;
    let profile = json!({"client": "quiet", "model": "demo", "nickname": "Zoë Lee"});
    let invite = json!({"invite": {"participant_id": "z1", "profile": profile}});
    server.control(&thread, invite.clone()).await;
    let run = async |text: String| {
        let path = format!("/threads/{thread}/commands");
        let (status, ran) = server.post(&path, json!({"text": text})).await;
        assert_eq!(status, 200, "{text}: {ran}");
        ran
    };
    let muted = async || server.state(&thread).await["muted"].clone();
    for word in ZOE {
        for kind in ["message", "note.made"] {
            let event = json!({"type": kind, "from": "user", "to": word, "content": "look"});
            assert_eq!(server.take(&thread, event).await["event"]["to"], "z1", "{word}");
        }
        let draft = json!({"content": "look", "to": word});
        let (_, preview) = server.post(&format!("/threads/{thread}/preview"), draft).await;
        assert_eq!(preview["forecast"][0]["participant"], "z1", "{word}: {preview}");
        server.control(&thread, json!({"mute": {"targets": [word]}})).await;
        assert_eq!(muted().await, json!(["z1"]), "{word}");
        server.control(&thread, json!({"unmute": [word]})).await;
        run(format!("/mute {word}")).await;
        assert_eq!(muted().await, json!(["z1"]), "{word}");
        run(format!("/unmute {word}")).await;
        assert_eq!(muted().await, json!([]), "{word}");
        let prod = server.control(&thread, json!({"prod": [word]})).await;
        assert_eq!(prod["event"]["content"]["prod"], json!(["z1"]), "{prod}");
        let asked = run(format!("/ask {word} -- well?")).await;
        assert_eq!(asked["text"], "Asked: z1.");
        server.control(&thread, json!({"uninvite": {"participant_id": word}})).await;
        server.control(&thread, invite.clone()).await;
        run(format!("/uninvite {word}")).await;
        server.control(&thread, invite.clone()).await;
        run(format!("/group remove {word}")).await;
        server.control(&thread, invite.clone()).await;
    }
}

#[tokio::test]
async fn a_role_or_a_client_is_no_name_for_a_request_and_a_wrong_name_gets_the_nearest() {
    let server = Server::start().await;
    let thread = room(&server).await;
    server.control(&thread, json!({"uninvite": {"participant_id": "m"}})).await;
    for (content, code) in [
        (json!({"uninvite": {"participant_id": "quiet"}}), "not_invited"),
        (json!({"prod": ["quiet"]}), "not_invited"),
        (json!({"mute": {"targets": ["Zoë Lee"]}}), "invalid_participant"),
    ] {
        let event = json!({"type": "control", "from": "user", "content": content});
        let (_, refused) = server.refuse(&thread, event).await;
        assert_eq!(refused["code"], code, "{content}: {refused}");
    }
    let event = json!({"from": "user", "to": "quiet", "content": "look"});
    assert_eq!(server.refuse(&thread, event).await.1["code"], "unknown_recipient");
    let path = format!("/threads/{thread}/commands");
    for text in ["/mute critc", "/ask @critc -- well?", "/uninvite Critick"] {
        let (status, refused) = server.post(&path, json!({"text": text})).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(status == 404 && message.contains("@critic"), "{text}: {refused}");
    }
}
