//! The bodies of rich messages, drafts and ephemeral messages.

use super::methods::bodies;
use super::*;
use crate::telegram::text::{TEXT_UNITS_MAX, parts};

#[tokio::test]
async fn a_rich_message_has_no_entities_of_its_own() {
    let message = SendRichMessage {
        chat_id: -5,
        thread: Some(44),
        markdown: "# Soup".into(),
        reply_to: Some(3),
    };
    let send = async |client: &Client| client.send_rich_message(&message).await;
    let (sent, id) = bodies([json!({ "message_id": 9 })], send).await;
    assert_eq!(id, Ok(Some(9)));
    let body = json!({
        "chat_id": -5,
        "rich_message": { "markdown": "# Soup", "skip_entity_detection": true },
        "message_thread_id": 44,
        "reply_parameters": { "message_id": 3, "allow_sending_without_reply": true },
        "method": "sendRichMessage",
    });
    assert_eq!(sent, [body]);
    // The General topic is not named.
    let general = SendRichMessage { thread: Some(1), ..SendRichMessage::default() };
    let send = async |client: &Client| client.send_rich_message(&general).await;
    assert!(bodies([json!({})], send).await.0[0].get("message_thread_id").is_none());
}

#[tokio::test]
async fn a_draft_goes_by_the_method_of_its_form() {
    let part = parts("**a**", None, TEXT_UNITS_MAX).remove(0);
    for (form, can_stop, body) in [
        (
            DraftForm::Text(part),
            true,
            json!({ "chat_id": 7, "draft_id": 2, "text": "a", "can_stop": true,
                    "entities": [{ "type": "bold", "offset": 0, "length": 1 }],
                    "method": "sendMessageDraft" }),
        ),
        (
            DraftForm::Rich("- a".into()),
            false,
            json!({ "chat_id": 7, "draft_id": 2,
                    "rich_message": { "markdown": "- a", "skip_entity_detection": true },
                    "method": "sendRichMessageDraft" }),
        ),
    ] {
        let draft = SendDraft { chat_id: 7, draft_id: 2, thread: None, form, can_stop };
        let send = async |client: &Client| client.send_draft(&draft).await;
        assert_eq!(bodies([json!(true)], send).await, (vec![body], Ok(())));
    }
}

#[tokio::test]
async fn an_answer_tells_who_sees_an_ephemeral_message() {
    let message = SendMessage { chat_id: -5, text: "a".into(), ..SendMessage::default() };
    let send = async |client: &Client| client.send_ephemeral(&message, 7).await;
    for (answer, id) in [
        (json!({ "message_id": 0, "ephemeral_message_id": 9 }), EphemeralId::Known(9)),
        (json!({ "message_id": 0 }), EphemeralId::Unread),
        (json!({ "message_id": 5 }), EphemeralId::Public(5)),
    ] {
        let (sent, read) = bodies([answer], send).await;
        assert_eq!(read, Ok(id));
        assert_eq!(sent[0]["ephemeral_message_parameters"], json!({ "receiver_user_id": 7 }));
    }
    let edit = EditMessage { chat_id: -5, message_id: 9, text: "b".into(), ..Default::default() };
    let change = async |client: &Client| client.edit_ephemeral_text(&edit, 7).await;
    let body = json!({ "chat_id": -5, "receiver_user_id": 7, "ephemeral_message_id": 9,
                       "text": "b", "link_preview_options": { "is_disabled": true },
                       "method": "editEphemeralMessageText" });
    assert_eq!(bodies([json!(true)], change).await, (vec![body], Ok(())));
}
