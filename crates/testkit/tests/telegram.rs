//! The fake of Telegram under direct requests.
#![allow(clippy::unwrap_used)]

#[path = "telegram/polls.rs"]
mod polls;

use moothall_testkit::telegram::{Bot, ChatId, MessageKey, PersonId, TelegramServer};
use serde_json::{Value, json};

/// A supergroup with a person and a bot in privacy mode.
struct Review {
    server: TelegramServer,
    bot: Bot,
    ann: PersonId,
    group: ChatId,
}

impl Review {
    async fn open() -> Self {
        let server = TelegramServer::start().await.unwrap();
        let bot = server.add_bot("critic_bot", "Critic");
        let ann = server.person_named(7, "Ann", "ann_writes");
        let group = server.supergroup("Review");
        server.enter(group, ann);
        server.join(group, &bot, ann);
        Self { server, bot, ann, group }
    }

    async fn call(&self, method: &str, body: Value) -> (u16, Value) {
        call(&self.server, &self.bot, method, body).await
    }

    /// Calls a method about the group and returns its result.
    async fn done(&self, method: &str, mut body: Value) -> Value {
        body["chat_id"] = self.group.id.into();
        let (status, answer) = self.call(method, body).await;
        assert_eq!(status, 200, "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a method about the group and returns the words of its refusal.
    async fn refused(&self, method: &str, mut body: Value) -> String {
        body["chat_id"] = self.group.id.into();
        let (status, answer) = self.call(method, body).await;
        assert_eq!((status, &answer["ok"]), (400, &json!(false)), "{method}: {answer}");
        answer["description"].as_str().unwrap().trim_start_matches("Bad Request: ").to_owned()
    }

    fn heard(&self) -> Vec<String> {
        heard(&self.server, &self.bot)
    }
}

fn client() -> reqwest::Client {
    // Another test of this process may have installed it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

fn url(server: &TelegramServer, bot: &Bot, method: &str) -> String {
    format!("{}/bot{}/{method}", server.url(), bot.token)
}

async fn call(server: &TelegramServer, bot: &Bot, method: &str, body: Value) -> (u16, Value) {
    let answer = client().post(url(server, bot, method)).json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Returns the texts that wait for a bot.
fn heard(server: &TelegramServer, bot: &Bot) -> Vec<String> {
    let text = |update: &Value| Some(update["message"]["text"].as_str()?.to_owned());
    server.pending(bot).iter().filter_map(text).collect()
}

#[tokio::test]
async fn a_bot_hears_a_person_and_is_seen_by_people() {
    let review = Review::open().await;
    let Review { server, ann, group, .. } = &review;
    server.say(*group, *ann, "not for bots");
    server.say(*group, *ann, "/start@critic_bot now");
    let (_, answer) = review.call("getUpdates", json!({})).await;
    let updates = answer["result"].as_array().unwrap();
    assert_eq!(updates.len(), 3, "{updates:?}");
    assert_eq!(updates[0]["my_chat_member"]["new_chat_member"]["status"], "member");
    assert_eq!(updates[1]["message"]["new_chat_members"][0]["username"], "critic_bot");
    assert_eq!(updates[2]["message"]["entities"][0]["length"], 17);
    let sent = review.done("sendMessage", json!({"text": " Hello. "})).await;
    assert_eq!((&sent["text"], &sent["from"]["is_bot"]), (&json!("Hello."), &json!(true)));
    assert_eq!(server.texts(*group), ["not for bots", "/start@critic_bot now", "Hello."]);
}

#[tokio::test]
async fn forms_and_queries_are_read_like_json() {
    let Review { server, bot, group, .. } = &Review::open().await;
    let chat = group.id.to_string();
    let entities = r#"[{"type":"bold","offset":0,"length":2}]"#;
    let form = [("chat_id", chat.as_str()), ("text", "ü +%&="), ("entities", entities)];
    let request = client().post(url(server, bot, "SENDmessage"));
    let answer = request.form(&form).send().await.unwrap();
    assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    let request = client().get(url(server, bot, "sendMessage"));
    let answer = request.query(&[("chat_id", chat.as_str()), ("text", "by query")]).send().await;
    assert_eq!(answer.unwrap().status(), 200);
    assert_eq!(server.texts(*group), ["ü +%&=", "by query"]);
    let bodies: Vec<Value> = server.calls().into_iter().map(|call| call.body).collect();
    assert_eq!(
        (&bodies[0]["chat_id"], &bodies[1]["chat_id"]),
        (&json!(group.id), &json!(group.id))
    );
}

#[tokio::test]
async fn bad_tokens_and_methods_are_refused() {
    let Review { server, bot, .. } = &Review::open().await;
    let key = bot.token.split_once(':').unwrap().1;
    let stranger = format!("999:{key}");
    for (token, method, expected) in [
        ("nonsense", "getMe", (404, "Not Found")),
        (stranger.as_str(), "getMe", (401, "Unauthorized")),
        (bot.token.as_str(), "getMoon", (404, "Not Found: method not found")),
    ] {
        let bot = Bot { token: token.to_owned(), ..bot.clone() };
        let (status, answer) = call(server, &bot, method, json!({})).await;
        assert_eq!((status, answer["description"].as_str().unwrap()), expected);
        assert_eq!(answer["error_code"], expected.0);
    }
}

#[tokio::test]
async fn in_privacy_mode_one_bot_hears_what_is_meant_for_it() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let (open, admin) = (server.add_bot("open_bot", "Open"), server.add_bot("admin_bot", "Admin"));
    let other = server.add_bot("other_bot", "Other");
    server.set_privacy(&open, false);
    server.join(*group, &open, *ann);
    server.join(*group, &admin, *ann);
    server.join(*group, &other, *ann);
    server.set_admin(*group, &admin, *ann, true);
    server.say(*group, *ann, "/before");
    let sent = review.done("sendMessage", json!({"text": "I am here."})).await;
    let of_bot = MessageKey { chat: *group, id: sent["message_id"].as_i64().unwrap() };
    server.say(*group, *ann, "@critic_bot by name only");
    server.say(*group, *ann, "/plain");
    server.say(*group, *ann, "/named@other_bot");
    let reply = server.draft(*group, *ann, "/named@other_bot but a reply").reply_to(of_bot).send();
    server.draft(*group, *ann, "reply to the reply").reply_to(reply).send();
    server.anonymous_admin(*group, "/hidden@critic_bot").send();
    let for_critic =
        ["/plain", "/named@other_bot but a reply", "reply to the reply", "/hidden@critic_bot"];
    assert_eq!(review.heard(), for_critic);
    assert_eq!(heard(server, &other), ["/named@other_bot"]);
    assert_eq!(heard(server, &open).len(), 7);
    assert_eq!(heard(server, &admin), heard(server, &open));
    let last = server.pending(bot).pop().unwrap();
    assert_eq!(last["message"]["from"]["username"], "GroupAnonymousBot");
    assert_eq!(last["message"]["sender_chat"]["id"], group.id);
}

#[tokio::test]
async fn a_change_of_privacy_counts_after_the_bot_is_added_again() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    server.set_privacy(bot, false);
    let (_, me) = review.call("getMe", json!({})).await;
    assert_eq!(me["result"]["can_read_all_group_messages"], true);
    server.say(*group, *ann, "first");
    server.kick(*group, bot, *ann);
    server.join(*group, bot, *ann);
    server.say(*group, *ann, "second");
    assert_eq!(review.heard(), ["second"]);
}

#[tokio::test]
async fn bots_hear_each_other_only_if_that_is_switched_on() {
    let review = Review::open().await;
    let Review { server, ann, group, .. } = &review;
    let open = server.add_bot("open_bot", "Open");
    server.set_privacy(&open, false);
    server.join(*group, &open, *ann);
    review.done("sendMessage", json!({"text": "alone"})).await;
    server.let_bots_hear_bots(true);
    review.done("sendMessage", json!({"text": "among bots"})).await;
    assert_eq!(heard(server, &open), ["among bots"]);
    assert!(review.heard().is_empty());
}

#[tokio::test]
async fn numbers_of_messages_are_shared_in_supergroups_only() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let second = server.add_bot("second_bot", "Second");
    let basic = server.group("Basic");
    for chat in [*group, basic] {
        server.join(chat, bot, *ann);
        server.join(chat, &second, *ann);
        let message = server.say(chat, *ann, "/all@second_bot");
        let is_same = server.id_for(bot, message) == server.id_for(&second, message);
        assert_eq!(is_same, chat == *group);
    }
    let own = server.pending(&second).pop().unwrap()["message"]["message_id"].clone();
    let body = json!({"chat_id": basic.id, "text": "x", "reply_parameters": {"message_id": own}});
    assert_eq!(call(server, &second, "sendMessage", body.clone()).await.0, 200);
    assert_eq!(call(server, bot, "sendMessage", body).await.0, 400);
}

#[tokio::test]
async fn mentions_commands_and_links_of_people_are_found() {
    let Review { server, ann, group, .. } = &Review::open().await;
    let text = "🚀 @critic_bot, /go a/b see https://a.example/x mail me@example.org Bob @abc /x@critic_bot.";
    let draft = server.draft(*group, *ann, text).naming("Bob", 9).styled("see", "bold");
    draft.send();
    let shown = server.shown(*group).pop().unwrap();
    assert_eq!(shown.covered("mention"), ["@critic_bot"]);
    assert_eq!(shown.covered("bot_command"), ["/go", "/x@critic_bot"]);
    assert_eq!(shown.covered("url"), ["https://a.example/x"]);
    assert_eq!(shown.covered("text_mention"), ["Bob"]);
    assert_eq!(shown.entities[0]["offset"], 3, "a rocket has two units");
}

#[tokio::test]
async fn texts_and_entities_are_checked() {
    let review = Review::open().await;
    let rockets = "🚀".repeat(2048);
    review.done("sendMessage", json!({"text": rockets})).await;
    let entity = |kind: &str, offset: i64, length: i64| json!({"type": kind, "offset": offset, "length": length});
    for (text, entities, words) in [
        (format!("{rockets}x"), json!([]), "message is too long"),
        (" \n".to_owned(), json!([]), "message text is empty"),
        ("🚀".to_owned(), json!([entity("bold", 0, 3)]), "ends after the end"),
        ("🚀".to_owned(), json!([entity("bold", 0, 1)]), "in a middle"),
        ("abc".to_owned(), json!([entity("bold", 0, 0)]), "bad offset"),
        ("abc".to_owned(), json!([entity("bold", -1, 2)]), "bad offset"),
        ("abc".to_owned(), json!([entity("blink", 0, 1)]), "unsupported"),
        ("abc".to_owned(), json!([entity("text_link", 0, 1)]), "without url"),
        ("abc".to_owned(), json!([entity("bold", 0, 2), entity("italic", 1, 2)]), "in part"),
        ("abc".to_owned(), json!([entity("pre", 0, 3), entity("bold", 1, 1)]), "nested"),
        (
            "abc".to_owned(),
            json!([entity("blockquote", 0, 3), entity("blockquote", 1, 1)]),
            "nested",
        ),
    ] {
        let refusal =
            review.refused("sendMessage", json!({"text": text, "entities": entities})).await;
        assert!(refusal.contains(words), "{refusal:?} for {entities}");
    }
    let entities = json!([entity("blockquote", 1, 5), entity("bold", 1, 2), entity("code", 4, 1)]);
    let sent = review.done("sendMessage", json!({"text": " abc d ", "entities": entities})).await;
    let expected = json!([entity("blockquote", 0, 5), entity("bold", 0, 2), entity("code", 3, 1)]);
    assert_eq!((&sent["text"], &sent["entities"]), (&json!("abc d"), &expected));
}

#[tokio::test]
async fn fields_are_checked_by_name_and_type() {
    let review = Review::open().await;
    for (body, words) in [
        (json!({}), "message text is empty"),
        (json!({"text": 5}), "field \"text\" has a wrong type"),
        (json!({"text": "x", "message_thread_id": "5"}), "wrong type"),
        (json!({"text": "x", "parse_mod": "HTML"}), "does not have the field \"parse_mod\""),
        (
            json!({"text": "x", "reply_parameters": {"message_id": 1, "allow": true}}),
            "field \"reply_parameters.allow\"",
        ),
        (
            json!({"text": "x", "entities": [{"type": "bold", "offset": 0}]}),
            "\"entities[].length\" is required",
        ),
    ] {
        let refusal = review.refused("sendMessage", body.clone()).await;
        assert!(refusal.contains(words), "{refusal:?} for {body}");
    }
    assert_eq!(
        review.call("sendMessage", json!({"text": "x"})).await.1["description"],
        "Bad Request: chat_id is empty"
    );
    review.server.set_lenient(true);
    review.done("sendMessage", json!({"text": "x", "parse_mod": "HTML"})).await;
}

#[tokio::test]
async fn buttons_are_checked_pressed_and_answered() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let markup =
        |button: Value| json!({"text": "?", "reply_markup": {"inline_keyboard": [[button]]}});
    for (button, words) in [
        (json!({"text": "A"}), "text buttons are unallowed"),
        (json!({"text": "", "callback_data": "a"}), "text is empty"),
        (json!({"text": "A", "callback_data": "é".repeat(33)}), "BUTTON_DATA_INVALID"),
        (json!({"text": "A", "url": "a b"}), "BUTTON_URL_INVALID"),
        (json!({"text": "A", "url": "https://a.example", "callback_data": "a"}), "exactly one"),
    ] {
        let refusal = review.refused("sendMessage", markup(button)).await;
        assert!(refusal.contains(words), "{refusal:?}");
    }
    review
        .done("sendMessage", markup(json!({"text": "Yes", "callback_data": "y".repeat(64)})))
        .await;
    let key = server.wait_for_message(*group, |message| !message.buttons.is_empty()).await.key;
    let press = server.press(*ann, key, "Yes");
    assert_eq!(server.press_answer(&press), None);
    let query = server.pending(bot).pop().unwrap()["callback_query"].clone();
    assert_eq!(
        (&query["from"]["id"], &query["message"]["message_id"]),
        (&json!(7), &json!(key.id))
    );
    let long = json!({"callback_query_id": press, "text": "x".repeat(201)});
    assert_eq!(review.call("answerCallbackQuery", long).await.0, 400);
    let answer = json!({"callback_query_id": press, "text": "Allowed."});
    assert_eq!(review.call("answerCallbackQuery", answer.clone()).await.0, 200);
    assert_eq!(server.press_answer(&press).unwrap().text, "Allowed.");
    assert_eq!(review.call("answerCallbackQuery", answer).await.0, 400, "it was answered");
    review.done("deleteMessage", json!({"message_id": key.id})).await;
    server.press_data(*ann, key, "late");
    assert_eq!(server.pending(bot).pop().unwrap()["callback_query"]["message"]["date"], 0);
}

#[tokio::test]
async fn messages_are_edited_and_deleted() {
    let review = Review::open().await;
    let Review { server, ann, group, .. } = &review;
    let rows = json!({"inline_keyboard": [[{"text": "A", "callback_data": "a"}]]});
    let sent = review.done("sendMessage", json!({"text": "one", "reply_markup": rows})).await;
    let id = sent["message_id"].clone();
    review
        .done("editMessageText", json!({"message_id": id, "text": "two", "reply_markup": rows}))
        .await;
    let same = json!({"message_id": id, "text": "two", "reply_markup": rows});
    assert!(review.refused("editMessageText", same).await.starts_with("message is not modified"));
    review.done("editMessageReplyMarkup", json!({"message_id": id})).await;
    let shown = server.shown(*group).pop().unwrap();
    assert!(shown.is_edited && shown.buttons.is_empty() && shown.text == "two");
    review
        .done("editMessageText", json!({"message_id": id, "rich_message": {"markdown": "**3**"}}))
        .await;
    assert!(server.shown(*group).pop().unwrap().is_rich);
    review.done("deleteMessage", json!({"message_id": id})).await;
    let gone = json!({"message_id": id, "text": "x"});
    assert_eq!(review.refused("editMessageText", gone).await, "message to edit not found");
    let of_ann = server.say(*group, *ann, "mine").id;
    let edit = json!({"message_id": of_ann, "text": "x"});
    assert_eq!(review.refused("editMessageText", edit).await, "message can't be edited");
    let delete = json!({"message_id": of_ann});
    assert_eq!(review.refused("deleteMessage", delete).await, "message can't be deleted");
    assert_eq!(server.texts(*group), ["mine"]);
}

#[tokio::test]
async fn rich_messages_have_their_own_limit() {
    let review = Review::open().await;
    let rich =
        |words: &str| json!({"rich_message": {"markdown": words, "skip_entity_detection": true}});
    let sent = review.done("sendRichMessage", rich(&"x".repeat(32_768))).await;
    assert!(sent.get("text").is_none() && sent["rich_message"]["blocks"][0]["type"] == "paragraph");
    let refusal = review.refused("sendRichMessage", rich(&"x".repeat(32_769))).await;
    assert_eq!(refusal, "rich message is too long");
}

#[tokio::test]
async fn topics_are_named_except_for_the_general_one() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let forum = server.forum("Forum");
    let topic = server.topic(forum, "Plans");
    server.join(forum, bot, *ann);
    let send = |thread: Value| {
        review.call(
            "sendMessage",
            json!({"chat_id": forum.id, "text": "x", "message_thread_id": thread}),
        )
    };
    assert_eq!(send(topic.into()).await.1["result"]["is_topic_message"], true);
    for thread in [1, 999] {
        assert_eq!(
            send(thread.into()).await.1["description"],
            "Bad Request: message thread not found"
        );
    }
    let typing = json!({"message_thread_id": 1, "action": "typing"});
    assert_eq!(review.refused("sendChatAction", typing).await, "message thread not found");
    server.draft(forum, *ann, "/a@critic_bot").topic(topic).send();
    server.draft(forum, *ann, "/b@critic_bot").send();
    let first = server.say(*group, *ann, "/c@critic_bot");
    server.draft(*group, *ann, "/d@critic_bot").reply_to(first).send();
    let threads: Vec<(Value, bool)> = server
        .pending(bot)
        .iter()
        .filter(|update| update["message"]["text"].is_string())
        .map(|update| &update["message"])
        .map(|m| (m["message_thread_id"].clone(), m["is_topic_message"] == true))
        .collect();
    // A reply in a group without topics has a thread too.
    let expected = [
        (topic.into(), true),
        (Value::Null, false),
        (Value::Null, false),
        (first.id.into(), false),
    ];
    assert_eq!(threads, expected);
}

#[tokio::test]
async fn chats_that_are_gone_say_why() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let basic = server.group("Basic");
    server.join(basic, bot, *ann);
    let private = server.private(*ann, bot);
    let send = |chat: i64| review.call("sendMessage", json!({"chat_id": chat, "text": "x"}));
    assert_eq!(send(-5).await.1["description"], "Bad Request: chat not found");
    assert_eq!(send(private.id).await.0, 200);
    server.block(*ann, bot);
    assert_eq!(send(private.id).await.1["description"], "Forbidden: bot was blocked by the user");
    server.unblock(*ann, bot);
    assert_eq!(send(private.id).await.0, 200);
    server.kick(basic, bot, *ann);
    assert_eq!(
        send(basic.id).await.1["description"],
        "Forbidden: bot was kicked from the group chat"
    );
    server.join(basic, bot, *ann);
    let new = server.migrate(basic);
    assert_eq!(send(basic.id).await.1["parameters"]["migrate_to_chat_id"], new.id);
    assert_eq!(send(new.id).await.0, 200);
    server.delete_chat(new);
    assert_eq!(
        send(new.id).await,
        (
            403,
            json!({"ok": false, "error_code": 403, "description": "Forbidden: the group chat was deleted"})
        )
    );
    review.done("leaveChat", json!({})).await;
    let (status, left) = send(group.id).await;
    assert_eq!(
        (status, &left["description"]),
        (403, &json!("Forbidden: bot is not a member of the supergroup chat"))
    );
    let of_bot = server.pending(bot);
    let statuses: Vec<&Value> = of_bot
        .iter()
        .map(|u| &u["my_chat_member"]["new_chat_member"]["status"])
        .filter(|s| s.is_string())
        .collect();
    assert_eq!(statuses, ["member", "member", "kicked", "member", "kicked", "member", "left"]);
}

#[tokio::test]
async fn members_and_administrators_are_listed() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let member = review.done("getChatMember", json!({"user_id": bot.id})).await;
    assert_eq!(member["status"], "member");
    server.set_admin(*group, bot, *ann, true);
    server.promote(*group, *ann);
    let all = review.done("getChatAdministrators", json!({})).await;
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    assert_eq!(review.done("getChat", json!({})).await["title"], "Review");
    let commands = json!({"commands": [{"command": "why", "description": "Says why"}]});
    assert_eq!(review.call("setMyCommands", commands).await.0, 200);
    assert_eq!(server.commands(bot)[0]["command"], "why");
    let wrong = json!({"commands": [{"command": "Why", "description": "Says why"}]});
    assert_eq!(review.call("setMyCommands", wrong).await.0, 400);
}

#[tokio::test]
async fn drafts_are_for_private_chats_and_vanish() {
    let Review { server, bot, ann, group } = &Review::open().await;
    let chat = server.private(*ann, bot);
    let show = async |body: Value| call(server, bot, "sendMessageDraft", body).await;
    let draft = |text: &str| json!({"chat_id": ann.0, "draft_id": 3, "text": text});
    let body = json!({"chat_id": group.id, "draft_id": 3, "text": "One"});
    assert_eq!(show(body).await.1["description"], "Bad Request: TEXTDRAFT_PEER_INVALID");
    assert_eq!(show(json!({"chat_id": ann.0, "draft_id": 0})).await.0, 400);
    assert_eq!(show(draft(&"x".repeat(4097))).await.0, 400);
    assert_eq!(show(json!({"chat_id": ann.0, "draft_id": 3})).await.0, 200);
    assert_eq!(server.shown_draft(chat).map(|draft| draft.text), Some(String::new()));
    let mut stoppable = draft("One");
    stoppable["can_stop"] = true.into();
    assert_eq!(show(stoppable).await.1["result"], true);
    server.stop_draft(chat);
    assert_eq!(server.shown_draft(chat), None);
    let update = server.pending(bot).pop().unwrap();
    assert_eq!(update["stopped_message_generation"]["draft_id"], 3, "{update}");
    let rich = json!({"chat_id": ann.0, "draft_id": 4, "rich_message": {"markdown": "# One"}});
    assert_eq!(call(server, bot, "sendRichMessageDraft", rich).await.0, 200);
    assert!(server.shown_draft(chat).unwrap().is_rich);
    call(server, bot, "sendMessage", json!({"chat_id": ann.0, "text": "Two"})).await;
    assert_eq!(server.shown_draft(chat), None);
    server.hide_method(bot, "sendMessageDraft");
    assert_eq!(show(draft("Three")).await.1["description"], "Not Found: method not found");
}

#[tokio::test]
async fn an_ephemeral_message_is_for_one_member_and_from_an_admin() {
    let review = Review::open().await;
    let Review { server, bot, ann, group } = &review;
    let bob = server.person(8, "Bob");
    let send =
        |to: i64| json!({"text": "psst", "ephemeral_message_parameters": {"receiver_user_id": to}});
    assert_eq!(review.refused("sendMessage", send(ann.0)).await, "CHAT_ADMIN_REQUIRED");
    server.set_admin(*group, bot, *ann, true);
    assert_eq!(review.refused("sendMessage", send(bob.0)).await, "USER_NOT_PARTICIPANT");
    let sent = review.done("sendMessage", send(ann.0)).await;
    assert_eq!((&sent["message_id"], &sent["receiver_user"]["id"]), (&json!(0), &json!(7)));
    assert!(server.texts(*group).is_empty());
    assert_eq!(server.shown_only_to(*group, *ann)[0].text, "psst");
    let id = sent["ephemeral_message_id"].as_i64().unwrap();
    assert_eq!(
        review.refused("deleteMessage", json!({"message_id": id})).await,
        "message to delete not found"
    );
    let of = |to: i64| json!({"receiver_user_id": to, "ephemeral_message_id": id, "text": "two"});
    assert_eq!(
        review.refused("editEphemeralMessageText", of(8)).await,
        "message to edit not found"
    );
    review.done("editEphemeralMessageText", of(7)).await;
    assert_eq!(server.shown_only_to(*group, *ann)[0].text, "two");
    let gone = json!({"receiver_user_id": 7, "ephemeral_message_id": id});
    review.done("deleteEphemeralMessage", gone).await;
    assert_eq!(server.shown_only_to(*group, *ann), []);
    // A person who shares a group with the bot is known to it, but has to write first.
    let (status, answer) =
        call(server, bot, "sendMessage", json!({"chat_id": 7, "text": "a"})).await;
    assert_eq!(status, 403, "{answer}");
}
