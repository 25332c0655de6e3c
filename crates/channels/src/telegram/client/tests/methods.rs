//! The bodies of the calls with arguments of their own, and what is read of their results.

use super::*;
use crate::telegram::update::{ChatKind, MemberStatus};

/// Makes one call on a server that answers with these results, and returns the requests.
pub(super) async fn bodies<T>(
    results: impl IntoIterator<Item = Value>,
    call: impl AsyncFnOnce(&Client) -> Result<T, CallFault>,
) -> (Vec<Value>, Result<T, CallFault>) {
    let replies: Vec<Reply> = results.into_iter().map(|result| Reply::ok(&result)).collect();
    let server = TestServer::start(replies).await;
    let answer = call(&client_of(server.url())).await;
    let bodies = server.calls().into_iter().map(|(path, mut body)| {
        let method = path.rsplit('/').next().unwrap_or_default();
        body["method"] = method.into();
        body
    });
    (bodies.collect(), answer)
}

#[tokio::test]
async fn a_bot_without_newer_fields_is_read() {
    let me = json!({ "id": 7, "is_bot": true, "first_name": "Analyst", "username": "a_bot",
                     "can_join_groups": true });
    let (bodies, info) = bodies([me], Client::get_me).await;
    let expected = BotInfo {
        id: 7,
        username: "a_bot".into(),
        name: "Analyst".into(),
        can_read_all_group_messages: false,
        can_join_groups: true,
        can_manage_bots: false,
    };
    assert_eq!((bodies, info), (vec![json!({ "method": "getMe" })], Ok(expected)));
    let nothing = self::bodies([json!({})], Client::get_me).await.1;
    assert!(matches!(nothing, Err(CallFault::Maybe { .. })), "{nothing:?}");
}

#[tokio::test]
async fn a_poll_names_the_kinds_that_it_wants() {
    let poll = async |client: &Client| client.get_updates(Some(13), Duration::from_secs(50)).await;
    let (bodies, updates) = bodies([json!([{ "update_id": 13 }, 7])], poll).await;
    assert_eq!(updates, Ok(vec![json!({ "update_id": 13 }), json!(7)]));
    let body = json!({
        "timeout": 50,
        "limit": 100,
        "allowed_updates": ["message", "edited_message", "callback_query", "my_chat_member",
                            "managed_bot", "stopped_message_generation"],
        "offset": 13,
        "method": "getUpdates",
    });
    assert_eq!(bodies, [body]);
}

#[tokio::test]
async fn a_poll_that_cannot_be_read_asks_for_one_update() {
    let long = "a".repeat(ANSWER_BYTES_MAX);
    let poll = async |client: &Client| client.get_updates(None, Duration::ZERO).await;
    let (asked, updates) = bodies([json!([long]), json!([1])], poll).await;
    assert_eq!(updates, Ok(vec![json!(1)]));
    let limits: Vec<&Value> = asked.iter().map(|body| &body["limit"]).collect();
    assert_eq!(limits, [&json!(100), &json!(1)]);
    let (_, unread) = bodies([json!(true), json!(true)], poll).await;
    assert!(matches!(unread, Err(CallFault::Maybe { .. })), "{unread:?}");
}

#[tokio::test]
async fn a_message_is_sent_with_what_it_has() {
    let full = SendMessage {
        chat_id: -5,
        thread: Some(44),
        text: "Soup?".into(),
        entities: vec![json!({ "type": "bold", "offset": 0, "length": 4 })],
        reply_to: Some(3),
        buttons: vec![vec![Button { text: "Yes".into(), data: "a1".into() }]],
        silent: true,
    };
    let send = async |client: &Client| client.send_message(&full).await;
    let (bodies, id) = bodies([json!({ "message_id": 9 })], send).await;
    assert_eq!(id, Ok(Some(9)));
    let body = json!({
        "chat_id": -5,
        "text": "Soup?",
        "link_preview_options": { "is_disabled": true },
        "entities": [{ "type": "bold", "offset": 0, "length": 4 }],
        "reply_markup": { "inline_keyboard": [[{ "text": "Yes", "callback_data": "a1" }]] },
        "message_thread_id": 44,
        "reply_parameters": { "message_id": 3, "allow_sending_without_reply": true },
        "disable_notification": true,
        "method": "sendMessage",
    });
    assert_eq!(bodies, [body]);
}

#[tokio::test]
async fn a_plain_message_has_nothing_more_and_general_is_not_named() {
    let plain =
        SendMessage { chat_id: 7, thread: Some(1), text: "Soup?".into(), ..SendMessage::default() };
    let send = async |client: &Client| client.send_message(&plain).await;
    let (bodies, id) = bodies([Value::Null], send).await;
    assert_eq!(id, Ok(None));
    let body = json!({ "chat_id": 7, "text": "Soup?",
                       "link_preview_options": { "is_disabled": true }, "method": "sendMessage" });
    assert_eq!(bodies, [body]);
}

#[tokio::test]
async fn edits_and_deletions_that_change_nothing_are_done() {
    let refusal = |text: &str| {
        let body = json!({ "ok": false, "error_code": 400, "description": text });
        [Reply::status(400, &body.to_string())]
    };
    let same = "Bad Request: message is not modified: x";
    let server = TestServer::start(refusal(same)).await;
    let edit = EditMessage { chat_id: 7, message_id: 9, text: "x".into(), ..Default::default() };
    assert_eq!(client_of(server.url()).edit_message_text(&edit).await, Ok(()));
    let (_, body) = server.calls().remove(0);
    let expected = json!({ "chat_id": 7, "text": "x",
                           "link_preview_options": { "is_disabled": true }, "message_id": 9 });
    assert_eq!(body, expected);
    let server = TestServer::start(refusal(same)).await;
    assert_eq!(client_of(server.url()).edit_reply_markup(7, 9, &[]).await, Ok(()));
    let gone = "Bad Request: message to delete not found";
    let server = TestServer::start(refusal(gone)).await;
    assert_eq!(client_of(server.url()).delete_message(7, 9).await, Ok(()));
    let old = "Bad Request: message can't be deleted for everyone";
    let server = TestServer::start(refusal(old)).await;
    let kept = client_of(server.url()).delete_message(7, 9).await;
    assert_eq!(kept, Err(refused(400, old)));
}

#[tokio::test]
async fn small_calls_have_their_bodies() {
    let (typing, _) =
        bodies([json!(true)], async |it: &Client| it.send_chat_action(-5, Some(44)).await).await;
    let (general, _) =
        bodies([json!(true)], async |it: &Client| it.send_chat_action(-5, Some(1)).await).await;
    let (pressed, _) = bodies([json!(true)], async |it: &Client| {
        it.answer_callback_query("31", &"é".repeat(300), true).await
    })
    .await;
    let (left, _) = bodies([json!(true)], async |it: &Client| it.leave_chat(-5).await).await;
    let (webhook, _) = bodies([json!(true)], Client::delete_webhook).await;
    let ask = BotCommand { command: "ask".into(), description: "Asks agents".into() };
    let (commands, _) = bodies([json!(true)], async |it: &Client| {
        it.set_my_commands(std::slice::from_ref(&ask)).await
    })
    .await;
    let buttons = [vec![Button { text: "Yes".into(), data: "a1".into() }]];
    let (markup, _) =
        bodies([json!(true)], async |it: &Client| it.edit_reply_markup(7, 9, &buttons).await).await;
    let expected = [
        json!({ "chat_id": -5, "action": "typing", "message_thread_id": 44,
                "method": "sendChatAction" }),
        json!({ "chat_id": -5, "action": "typing", "method": "sendChatAction" }),
        json!({ "callback_query_id": "31", "text": "é".repeat(200), "show_alert": true,
                "method": "answerCallbackQuery" }),
        json!({ "chat_id": -5, "method": "leaveChat" }),
        json!({ "drop_pending_updates": false, "method": "deleteWebhook" }),
        json!({ "commands": [{ "command": "ask", "description": "Asks agents" }],
                "method": "setMyCommands" }),
        json!({ "chat_id": 7, "message_id": 9, "method": "editMessageReplyMarkup",
                "reply_markup": { "inline_keyboard": [[{ "text": "Yes", "callback_data": "a1" }]] } }),
    ];
    let asked = [typing, general, pressed, left, webhook, commands, markup].concat();
    assert_eq!(asked, expected);
}

#[tokio::test]
async fn a_member_is_read_by_its_status() {
    let ask = async |client: &Client| client.get_chat_member(-5, 7).await;
    let (asked, member) = bodies([json!({ "status": "administrator" })], ask).await;
    assert!(member.unwrap().is_admin());
    assert_eq!(asked, [json!({ "chat_id": -5, "user_id": 7, "method": "getChatMember" })]);
    let unknown = bodies([json!({ "status": "hovering" })], ask).await.1;
    assert_eq!(unknown, Ok(MemberStatus::Unknown("hovering".into())));
    assert!(bodies([Value::Null], ask).await.1.is_err());
}

#[tokio::test]
async fn a_chat_is_read_by_its_kind_and_title() {
    let ask = async |client: &Client| client.get_chat(-5).await;
    let (asked, chat) = bodies([json!({ "id": -5, "type": "group", "title": "Lunch" })], ask).await;
    let chat = chat.unwrap().unwrap();
    assert_eq!((chat.kind, chat.title.as_deref()), (ChatKind::Group, Some("Lunch")));
    assert_eq!(asked, [json!({ "chat_id": -5, "method": "getChat" })]);
    assert_eq!(bodies([Value::Null], ask).await.1, Ok(None));
}
