//! Calls on servers that answer, refuse, break off or are silent, and the faults that follow.

mod methods;
mod rich;
mod server;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use server::{Reply, TestServer};

const SECRET: &str = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

fn token() -> BotToken {
    format!("110201543:{SECRET}").parse().unwrap()
}

fn client_of(base_url: &str) -> Client {
    Client::new(connector(base_url).unwrap(), base_url, token())
}

/// Calls `sendMessage` once on a server that gives this reply.
async fn answer_to(reply: Reply) -> Result<Value, CallFault> {
    let server = TestServer::start([reply]).await;
    let answer = client_of(server.url()).call(Method::SendMessage, &json!({ "text": "x" })).await;
    if let Err(fault) = &answer {
        assert!(!format!("{fault} {fault:?}").contains(SECRET), "{fault}");
    }
    assert_eq!(server.calls().len(), 1);
    answer
}

fn refused(code: u16, text: &str) -> CallFault {
    CallFault::Refused { code, text: text.into(), retry_after: None, migrate_to: None }
}

fn is_maybe(answer: &Result<Value, CallFault>) -> bool {
    matches!(answer, Err(CallFault::Maybe { .. }))
}

fn is_not_sent(answer: &Result<Value, CallFault>) -> bool {
    matches!(answer, Err(CallFault::NotSent { .. }))
}

#[test]
fn a_token_is_a_number_and_a_secret() {
    assert_eq!(token().bot_id(), 110_201_543);
    assert_eq!(format!(" 7:{SECRET}\n").parse::<BotToken>().unwrap().bot_id(), 7);
    let wrong = [
        String::new(),
        SECRET.into(),
        format!(":{SECRET}"),
        format!("+7:{SECRET}"),
        format!("-7:{SECRET}"),
        format!("07:{SECRET}"),
        format!("7a:{SECRET}"),
        format!("99999999999999999999:{SECRET}"),
        "7:short".into(),
        format!("7:{SECRET}/getMe"),
        format!("7:{SECRET}%2F"),
        format!("7:{SECRET}é"),
        format!("7:{}", "a".repeat(65)),
    ];
    for text in wrong {
        let error = text.parse::<BotToken>().unwrap_err();
        assert!(!error.to_string().contains(SECRET), "{text}");
    }
}

#[test]
fn a_token_is_not_shown() {
    assert_eq!(format!("{:?}", token()), "BotToken(110201543:…)");
    let client = client_of("http://user:word@127.0.0.1:1");
    assert_eq!(format!("{client:?}"), "Client { token: BotToken(110201543:…), .. }");
}

#[tokio::test]
async fn a_call_posts_its_body_to_the_path_of_the_method() {
    let server = TestServer::start([Reply::ok(&json!(7))]).await;
    let client = client_of(&format!("{}/", server.url()));
    let body = json!({ "chat_id": 3 });
    assert_eq!(client.call(Method::LeaveChat, &body).await, Ok(json!(7)));
    let path = format!("/bot110201543:{SECRET}/leaveChat");
    assert_eq!(server.calls(), [(path, body)]);
}

#[tokio::test]
async fn unknown_words_in_an_answer_do_not_undo_it() {
    let message = json!({ "message_id": 9, "rich_message": { "blocks": [{ "type": "hologram" }] },
                          "telepathy": true });
    assert_eq!(answer_to(Reply::ok(&message)).await, Ok(message));
}

#[tokio::test]
async fn an_answer_of_success_that_cannot_be_read_was_sent() {
    let unread = [
        Reply::status(200, "<html>fine</html>"),
        Reply::status(200, r#"{"ok":true,"result":{"message_id":"#),
        Reply::status(200, r#"{"result":{}}"#),
        Reply::status(204, ""),
        Reply::Torn,
    ];
    for reply in unread {
        assert_eq!(answer_to(reply).await, Ok(Value::Null));
    }
    let torn_letters = [br#"{"ok":true,"result":{"a":""#.as_slice(), &[0xff], br#""}}"#].concat();
    assert_eq!(answer_to(Reply::Status(200, torn_letters)).await, Ok(json!({ "a": "\u{fffd}" })));
}

#[tokio::test]
async fn a_failed_server_may_have_sent_it() {
    let failed = [
        Reply::status(502, "<html><h1>502 Bad Gateway</h1></html>"),
        Reply::status(500, r#"{"ok":false,"error_code":500,"description":"restart"}"#),
        Reply::status(200, r#"{"ok":false,"error_code":504,"description":"timed out"}"#),
    ];
    for reply in failed {
        let answer = answer_to(reply).await;
        assert!(is_maybe(&answer), "{answer:?}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_request_leaves_it_open() {
    for reply in [Reply::Reset, Reply::Close] {
        let answer = answer_to(reply).await;
        assert!(is_maybe(&answer), "{answer:?}");
    }
}

#[tokio::test]
async fn a_call_that_reached_no_server_was_not_sent() {
    let url = server::unused_url().await;
    let answer = client_of(&url).call(Method::SendMessage, &json!({})).await;
    assert!(is_not_sent(&answer), "{answer:?}");
    let shown = format!("{answer:?} {}", answer.as_ref().unwrap_err());
    assert!(!shown.contains(SECRET) && !shown.contains("127.0.0.1"), "{shown}");
    let no_address = client_of("http://").call(Method::SendMessage, &json!({})).await;
    assert!(is_not_sent(&no_address), "{no_address:?}");
    assert!(!format!("{no_address:?}").contains(SECRET));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = TestServer::start([Reply::ok(&json!(1))]).await;
    let reply = Reply::Redirect(other.url().to_owned());
    let answer = answer_to(reply).await;
    assert!(is_not_sent(&answer), "{answer:?}");
    assert_eq!(other.calls(), []);
}

#[tokio::test]
async fn refusals_are_read_with_their_parameters() {
    let refusal = |parameters: Value| {
        let body = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests",
                           "parameters": parameters });
        Reply::status(429, &body.to_string())
    };
    let waits = [
        (json!(86_400), Some(Duration::from_secs(86_400))),
        (json!(13_938), Some(Duration::from_secs(13_938))),
        (json!(2.5), Some(Duration::from_millis(2_500))),
        (json!("5"), Some(Duration::from_secs(5))),
        (json!(0), Some(Duration::ZERO)),
        (json!(u64::MAX), Some(Duration::from_secs(366 * 86_400))),
        (json!(-1), None),
        (json!("soon"), None),
        (Value::Null, None),
    ];
    for (wait, expected) in waits {
        let answer = answer_to(refusal(json!({ "retry_after": wait }))).await;
        let Err(CallFault::Refused { code: 429, retry_after, .. }) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(retry_after, expected, "{wait}");
        let _fits_the_clock = Instant::now() + retry_after.unwrap_or_default();
    }
    let moved = answer_to(refusal(json!({ "migrate_to_chat_id": -1_005 }))).await;
    assert!(matches!(moved, Err(CallFault::Refused { migrate_to: Some(-1_005), .. })));
}

#[tokio::test]
async fn a_refusal_without_words_has_its_status() {
    let bare = answer_to(Reply::status(403, r#"{"ok":false}"#)).await;
    assert_eq!(bare, Err(refused(403, "no description")));
    let page = answer_to(Reply::status(413, "<html>too large</html>")).await;
    assert!(is_not_sent(&page), "{page:?}");
}

#[tokio::test]
async fn a_server_that_repeats_the_token_does_not_show_it() {
    let text = format!("no path /bot110201543:{SECRET}/x \u{1b}[31m{}", "é".repeat(1_000));
    let body = json!({ "ok": false, "error_code": 404, "description": text });
    let answer = answer_to(Reply::status(404, &body.to_string())).await;
    let Err(CallFault::Refused { text, .. }) = answer else { panic!("{answer:?}") };
    assert!(text.starts_with("no path /bot110201543:…/x"), "{text}");
    assert!(!text.contains('\u{1b}') && text.len() <= WHY_BYTES_MAX);
}

#[tokio::test]
async fn an_answer_is_read_up_to_its_limit() {
    let long = format!("{{\"ok\":true,\"result\":\"{}\"}}", "a".repeat(ANSWER_BYTES_MAX));
    assert_eq!(answer_to(Reply::status(200, &long)).await, Ok(Value::Null));
}

/// Calls a server that never answers, and returns how long the call waited in the tests' clock.
async fn wait_for_silence(method: Method, body: Value) -> Duration {
    let server = TestServer::start([Reply::Silence]).await;
    let client = client_of(server.url());
    let call = tokio::spawn(async move { client.call(method, &body).await });
    server.taken().await;
    // From here on the clock runs to the next timer as soon as all tasks wait.
    tokio::time::pause();
    let begin = Instant::now();
    let answer = call.await.unwrap();
    assert!(is_maybe(&answer), "{answer:?}");
    begin.elapsed()
}

#[tokio::test]
async fn silence_ends_a_call() {
    let waited = wait_for_silence(Method::SendMessage, json!({})).await;
    assert!((28..=30).contains(&waited.as_secs()), "{waited:?}");
}

#[tokio::test]
async fn silence_ends_a_poll_after_its_own_time() {
    let waited = wait_for_silence(Method::GetUpdates, json!({ "timeout": 50 })).await;
    assert!((63..=65).contains(&waited.as_secs()), "{waited:?}");
}

#[test]
fn faults_are_told_by_the_words_of_telegram() {
    type Question = fn(&CallFault) -> bool;
    let questions: [(&str, Question); 8] = [
        ("not modified", CallFault::is_not_modified),
        ("already deleted", CallFault::is_already_deleted),
        ("gone", CallFault::is_gone),
        ("thread", CallFault::is_thread_not_found),
        ("unauthorised", CallFault::is_unauthorised),
        ("conflict", CallFault::is_conflict),
        ("entity", CallFault::is_entity_fault),
        ("too long", CallFault::is_too_long),
    ];
    let cases: [(u16, &str, &str); 24] = [
        (
            400,
            "Bad Request: message is not modified: specified new message content",
            "not modified",
        ),
        (400, "Bad Request: message to delete not found", "already deleted"),
        (400, "Bad Request: message can't be deleted for everyone", ""),
        (400, "Bad Request: chat not found", "gone"),
        (403, "Forbidden: bot was kicked from the supergroup chat", "gone"),
        (403, "Forbidden: bot was blocked by the user", "gone"),
        (403, "Forbidden: user is deactivated", "gone"),
        (403, "Forbidden: the group chat was deleted", "gone"),
        (403, "Forbidden: bot is not a member of the supergroup chat", "gone"),
        (403, "Forbidden: not enough rights to send text messages to the chat", ""),
        (400, "Bad Request: message thread not found", "thread"),
        (401, "Unauthorized", "unauthorised"),
        (404, "Not Found", "unauthorised"),
        (421, "Misdirected Request", "unauthorised"),
        (404, "Not Found: method not found", ""),
        (409, "Conflict: terminated by other getUpdates request", "conflict"),
        (409, "Conflict: can't use getUpdates method while webhook is active", "conflict"),
        (400, "Bad Request: can't parse entities: unsupported start tag", "entity"),
        (400, "Bad Request: ENTITY_BOUNDS_INVALID", "entity"),
        (400, "Bad Request: ENTITIES_TOO_LONG", "entity"),
        (400, "Bad Request: message is too long", "too long"),
        (400, "Bad Request: MESSAGE_TOO_LONG", "too long"),
        (413, "Request Entity Too Large", "too long"),
        (429, "Too Many Requests: retry after 5", ""),
    ];
    for (code, text, expected) in cases {
        let fault = refused(code, text);
        let found = questions.iter().filter(|(_, is)| is(&fault)).map(|(name, _)| *name);
        assert_eq!(found.collect::<Vec<_>>().join(", "), expected, "{code} {text}");
    }
    let unsent = CallFault::NotSent { why: "chat not found".into() };
    assert!(questions.iter().all(|(_, is)| !is(&unsent)));
}
