//! Updates as Telegram sends them, with unknown words, missing parts and any JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn group() -> Value {
    json!({ "id": -1001, "type": "supergroup", "title": "Lunch" })
}

fn ann() -> Value {
    json!({ "id": 7, "is_bot": false, "first_name": "Ann", "last_name": "Lee",
            "username": "ann", "language_code": "de" })
}

/// A message of Ann in the group, with some fields of its own.
fn message_with(fields: Value) -> Value {
    let mut message =
        json!({ "message_id": 5, "date": 1_790_000_000, "chat": group(), "from": ann() });
    for (name, value) in fields.as_object().unwrap() {
        message[name] = value.clone();
    }
    message
}

fn update_with(message: &Value) -> Update {
    read(&json!({ "update_id": 12, "message": message }))
}

fn message_of(fields: Value) -> Message {
    match update_with(&message_with(fields)) {
        Update { id: Some(12), kind: UpdateKind::Message(message) } => message,
        other => panic!("not a message: {other:?}"),
    }
}

fn ann_as_author() -> Author {
    Author::Person(Person {
        id: 7,
        name: "Ann Lee".into(),
        username: Some("ann".into()),
        language: Some("de".into()),
    })
}

#[test]
fn an_ordinary_message_is_read_whole() {
    let message = message_of(json!({ "text": "Soup?" }));
    let chat = Chat {
        id: -1001,
        kind: ChatKind::Supergroup,
        title: Some("Lunch".into()),
        is_forum: false,
    };
    let expected = Message {
        chat,
        message_id: 5,
        thread: None,
        author: ann_as_author(),
        date: Some(1_790_000_000),
        text: "Soup?".into(),
        entities: Vec::new(),
        reply_to: None,
        attachment: None,
        service: false,
    };
    assert_eq!(message, expected);
}

#[test]
fn an_unknown_update_is_named_and_keeps_its_number() {
    let unknown = read(&json!({ "update_id": 12, "hologram": { "id": 1 } }));
    assert_eq!(unknown, Update { id: Some(12), kind: UpdateKind::Unknown("hologram".into()) });
    let long = read(&json!({ "update_id": 12, "ü".repeat(500): 1 }));
    assert_eq!(long.kind, UpdateKind::Unknown("ü".repeat(32)));
}

#[test]
fn an_update_with_nothing_in_it_is_read() {
    let empty = read(&json!({ "update_id": 12 }));
    assert_eq!(empty, Update { id: Some(12), kind: UpdateKind::Unknown(String::new()) });
    for nothing in [json!({}), json!(null), json!([1]), json!("x")] {
        assert_eq!(read(&nothing).id, None);
    }
}

#[test]
fn a_message_beside_an_unknown_field_is_read() {
    let update = json!({ "hologram": 1, "update_id": 12, "message": message_with(json!({})) });
    assert!(matches!(read(&update).kind, UpdateKind::Message(_)));
}

#[test]
fn an_unknown_kind_of_chat_keeps_the_message() {
    let message = message_of(json!({ "text": "hi", "chat": { "id": -9, "type": "metaverse" } }));
    assert_eq!((message.chat.kind, message.text.as_str()), (ChatKind::Other, "hi"));
    assert_eq!(message.author, ann_as_author());
}

#[test]
fn an_unknown_status_keeps_the_membership() {
    let update = read(&json!({ "update_id": 12, "my_chat_member": {
        "chat": group(), "from": ann(), "date": 1,
        "old_chat_member": { "status": "left", "user": {} },
        "new_chat_member": { "status": "hovering", "user": {} },
    } }));
    let UpdateKind::Membership(membership) = update.kind else { panic!("{update:?}") };
    assert_eq!(membership.by, ann_as_author());
    assert_eq!(membership.old, MemberStatus::Left);
    assert_eq!(membership.new, MemberStatus::Unknown("hovering".into()));
    assert!(!membership.sees_all && !membership.new.is_inside());
}

#[test]
fn each_status_is_read() {
    let read = |status: Value| MemberStatus::read(&status);
    let admin = read(json!({ "status": "administrator" }));
    assert!(admin.is_admin() && read(json!({ "status": "creator" })).is_admin());
    assert_eq!(read(json!({ "status": "member" })), MemberStatus::Member);
    let restricted = |inside: bool| json!({ "status": "restricted", "is_member": inside });
    assert_eq!(read(restricted(true)), MemberStatus::Restricted);
    assert_eq!(read(restricted(false)), MemberStatus::Left);
    assert_eq!(read(json!({ "status": "kicked" })), MemberStatus::Kicked);
    assert_eq!(read(json!({ "status": 3 })), MemberStatus::Unknown(String::new()));
}

#[test]
fn an_unknown_block_of_a_rich_message_keeps_the_others() {
    let message = message_of(json!({ "rich_message": { "blocks": [
        { "type": "paragraph", "text": ["Soup ", { "type": "bold", "text": "now" }, "?"] },
        { "type": "hologram", "beam": { "text": "no" }, "text": "shown" },
        { "type": "list", "items": [{ "blocks": [{ "type": "paragraph", "text": "one" }] }] },
        { "type": "divider" },
    ] } }));
    assert_eq!(message.text, "Soup now?\nshown\none");
    assert_eq!(message.attachment, None);
}

#[test]
fn an_unknown_origin_of_a_reply_keeps_the_message() {
    let message = message_of(json!({
        "text": "see this",
        "external_reply": { "origin": { "type": "telepathy" } },
        "forward_origin": { "type": "telepathy" },
    }));
    assert_eq!((message.text.as_str(), message.reply_to), ("see this", None));
    assert_eq!(message.author, ann_as_author());
}

#[test]
fn an_anonymous_admin_is_not_a_person() {
    let bot = json!({ "id": 1_087_968_824, "is_bot": true, "first_name": "Group",
                      "username": "GroupAnonymousBot" });
    let anonymous = Author::Anonymous { chat_title: Some("Lunch".into()) };
    let message = message_of(json!({ "text": "hi", "from": bot, "sender_chat": group() }));
    assert_eq!(message.author, anonymous);
    let message = message_of(json!({ "text": "hi", "sender_chat": { "id": -1001 } }));
    assert_eq!(message.author, anonymous);
    let message = message_of(json!({ "text": "hi", "from": bot }));
    assert_eq!(message.author, Author::Anonymous { chat_title: None });
}

#[test]
fn channels_are_not_persons() {
    let channel = json!({ "id": -1007, "type": "channel", "title": "News" });
    let fake = json!({ "id": 777_000, "is_bot": false, "first_name": "Telegram" });
    let forwarded =
        message_of(json!({ "text": "new", "from": fake, "sender_chat": channel.clone() }));
    assert_eq!(forwarded.author, Author::Channel);
    assert_eq!(message_of(json!({ "from": fake })).author, Author::Channel);
    let sender = json!({ "id": -55, "type": "hologram" });
    assert_eq!(message_of(json!({ "sender_chat": sender })).author, Author::Channel);
    assert_eq!(message_of(json!({ "sender_chat": {} })).author, Author::Unknown);
    let post = message_with(json!({ "chat": channel, "text": "post" }));
    let update = read(&json!({ "update_id": 1, "channel_post": post }));
    let UpdateKind::Message(post) = update.kind else { panic!("{update:?}") };
    assert_eq!((post.author, post.chat.kind), (Author::Channel, ChatKind::Channel));
}

#[test]
fn bots_are_bots() {
    let bot = json!({ "id": 3, "is_bot": true, "first_name": "B", "username": "b_bot" });
    let author = Author::Bot { id: 3, username: Some("b_bot".into()) };
    assert_eq!(message_of(json!({ "from": bot })).author, author);
}

#[test]
fn the_general_topic_has_no_number() {
    let topic = |id: i64, is_topic: bool| json!({ "text": "hi", "message_thread_id": id, "is_topic_message": is_topic });
    assert_eq!(message_of(topic(1, true)).thread, None);
    assert_eq!(message_of(topic(44, true)).thread, Some(44));
}

#[test]
fn a_reply_in_a_group_without_topics_is_not_a_topic() {
    let bot = json!({ "id": 99, "is_bot": true });
    let message = message_of(json!({
        "text": "yes", "message_thread_id": 4, "reply_to_message": { "message_id": 4, "from": bot }
    }));
    assert_eq!(message.thread, None);
    let target = ReplyTarget { message_id: 4, from_bot_id: Some(99) };
    assert_eq!(message.reply_to, Some(target));
    let to_ann = json!({ "reply_to_message": { "message_id": 3, "from": ann() } });
    let target = ReplyTarget { message_id: 3, from_bot_id: None };
    assert_eq!(message_of(to_ann).reply_to, Some(target));
}

#[test]
fn words_in_a_topic_do_not_reply_to_the_bot_that_created_it() {
    let in_topic = |replied: Value| {
        message_of(json!({ "text": "hi", "message_thread_id": 44, "is_topic_message": true,
                           "reply_to_message": replied }))
    };
    let bot = json!({ "id": 99, "is_bot": true });
    assert_eq!(in_topic(json!({ "message_id": 44, "from": bot })).reply_to, None);
    let created = json!({ "message_id": 45, "from": bot, "forum_topic_created": { "name": "x" } });
    assert_eq!(in_topic(created).reply_to, None);
    let chosen = in_topic(json!({ "message_id": 46, "from": bot })).reply_to;
    assert_eq!(chosen, Some(ReplyTarget { message_id: 46, from_bot_id: Some(99) }));
}

#[test]
fn missing_fields_cost_only_themselves() {
    let bare = update_with(&json!({ "message_id": 5, "chat": { "id": 7 } }));
    let UpdateKind::Message(bare) = bare.kind else { panic!("{bare:?}") };
    assert_eq!((bare.author, bare.date, bare.text.as_str()), (Author::Unknown, None, ""));
    assert_eq!((bare.attachment, bare.service), (None, false));
    let unknown = UpdateKind::Unknown("message".into());
    assert_eq!(update_with(&json!({ "message_id": 5 })).kind, unknown);
    assert_eq!(update_with(&json!({ "chat": group() })).kind, unknown);
}

#[test]
fn attachments_are_named_and_their_captions_are_the_text() {
    let attached = |fields: Value| message_of(fields).attachment.unwrap();
    let photo = message_of(json!({
        "photo": [{ "file_id": "x" }], "caption": "Look @ann",
        "caption_entities": [{ "type": "mention", "offset": 5, "length": 4 }]
    }));
    assert_eq!((photo.text.as_str(), photo.names()), ("Look @ann", vec!["ann"]));
    assert_eq!(photo.attachment, Some(Attachment { kind: AttachmentKind::Photo, name: None }));
    let cases = [
        (json!({ "document": { "file_name": "a.pdf" } }), AttachmentKind::File, Some("a.pdf")),
        (json!({ "document": {}, "animation": {} }), AttachmentKind::Video, None),
        (json!({ "voice": { "duration": 3 } }), AttachmentKind::Voice, None),
        (
            json!({ "location": {}, "venue": { "title": "Hall" } }),
            AttachmentKind::Location,
            Some("Hall"),
        ),
        (json!({ "poll": { "question": "Soup?" } }), AttachmentKind::Poll, Some("Soup?")),
        (json!({ "hologram": { "beam": 1 } }), AttachmentKind::Other, Some("hologram")),
        (json!({ "paid_media": {}, "caption": "x" }), AttachmentKind::Other, Some("paid_media")),
    ];
    for (fields, kind, name) in cases {
        assert_eq!(attached(fields), Attachment { kind, name: name.map(str::to_owned) });
    }
    let text = message_of(json!({ "text": "hi", "hologram": { "beam": 1 } }));
    assert_eq!(text.attachment, None);
}

#[test]
fn service_messages_say_so() {
    let services = [
        json!({ "new_chat_members": [ann()] }),
        json!({ "left_chat_member": ann() }),
        json!({ "group_chat_created": true }),
        json!({ "pinned_message": { "message_id": 1, "text": "x" } }),
        json!({ "forum_topic_edited": { "name": "x" } }),
        json!({ "video_chat_started": {} }),
    ];
    for service in services {
        let message = message_of(service);
        assert!(message.service && message.attachment.is_none(), "{message:?}");
    }
    let post = message_of(json!({ "text": "hi", "suggested_post_info": { "state": "x" } }));
    assert!(!post.service);
}

#[test]
fn a_migration_has_both_ids() {
    let old = json!({ "id": -5, "type": "group", "title": "Lunch" });
    let moved = UpdateKind::Migrated { from: -5, to: -1005 };
    let told_in_old = message_with(json!({ "chat": old, "migrate_to_chat_id": -1005 }));
    assert_eq!(update_with(&told_in_old).kind, moved);
    let told_in_new = message_with(json!({ "chat": { "id": -1005 }, "migrate_from_chat_id": -5 }));
    assert_eq!(update_with(&told_in_new).kind, moved);
}

#[test]
fn edits_are_told_apart() {
    let edit = message_with(json!({ "text": "Salad?", "edit_date": 3 }));
    let update = read(&json!({ "update_id": 1, "edited_message": edit }));
    assert!(matches!(update.kind, UpdateKind::Edited(message) if message.text == "Salad?"));
}

#[test]
fn a_press_is_read_even_if_its_message_is_not_accessible() {
    let press = |fields: Value| {
        let mut query = json!({ "id": "31", "from": ann(), "chat_instance": "x" });
        for (name, value) in fields.as_object().unwrap() {
            query[name] = value.clone();
        }
        read(&json!({ "update_id": 1, "callback_query": query })).kind
    };
    let UpdateKind::Press(gone) =
        press(json!({ "data": "a1", "message": { "chat": group(), "message_id": 8, "date": 0 } }))
    else {
        panic!("not a press")
    };
    assert_eq!((gone.id.as_str(), gone.by.id, gone.data.as_deref()), ("31", 7, Some("a1")));
    assert_eq!(gone.message, Some(PressedMessage { chat: -1001, message_id: 8 }));
    assert!(!gone.inline);
    let UpdateKind::Press(inline) = press(json!({ "inline_message_id": "z" })) else {
        panic!("not a press")
    };
    assert_eq!((inline.message, inline.data, inline.inline), (None, None, true));
    let unknown = UpdateKind::Unknown("callback_query".into());
    assert_eq!(press(json!({ "from": {} })), unknown);
    assert_eq!(press(json!({ "from": { "id": 3, "is_bot": true } })), unknown);
}

#[test]
fn entities_are_byte_ranges_and_wrong_ones_are_left_out() {
    let message = message_of(json!({ "text": "😀 é @ann x", "entities": [
        { "type": "mention", "offset": 5, "length": 4 },
        { "type": "bold", "offset": 0, "length": 2 },
        { "type": "bold", "offset": 1, "length": 2 },
        { "type": "bold", "offset": 9, "length": 3 },
        { "type": "bold", "offset": 0, "length": 0 },
        { "type": "bold", "offset": -1, "length": 2 },
        { "type": "bold", "offset": 1, "length": 18_446_744_073_709_551_615_u64 },
        { "offset": 10, "length": 1 },
        { "type": "text_mention", "offset": 3, "length": 1, "user": { "id": 70 } },
        { "type": "text_mention", "offset": 3, "length": 1 },
        { "type": "text_link", "offset": 3, "length": 1, "url": "https://a.b" },
        7,
    ] }));
    let found: Vec<(&str, &TextEntityKind)> = message
        .entities
        .iter()
        .map(|entity| (&message.text[entity.range.clone()], &entity.kind))
        .collect();
    let other = |word: &str| TextEntityKind::Other(word.to_owned());
    let expected = [
        ("@ann", &TextEntityKind::Mention),
        ("😀", &other("bold")),
        ("x", &other("")),
        ("é", &TextEntityKind::TextMention(70)),
        ("é", &other("text_mention")),
        ("é", &TextEntityKind::Link("https://a.b".into())),
    ];
    assert_eq!(found, expected);
    assert_eq!(message.named_accounts().collect::<Vec<_>>(), [70]);
}

/// A message with these words, of which each `@name` and `/command` is an entity.
fn marked(text: &str) -> Message {
    let mut entities = Vec::new();
    for (at, _) in text.match_indices(['@', '/']) {
        let end = text[at..].find(' ').map_or(text.len(), |length| at + length);
        let in_command = text[..at].rsplit(' ').next().is_some_and(|word| !word.is_empty());
        let kind = if text[at..].starts_with('@') { "mention" } else { "bot_command" };
        let units = |part: &str| part.encode_utf16().count();
        if !in_command {
            let (offset, length) = (units(&text[..at]), units(&text[at..end]));
            entities.push(json!({ "type": kind, "offset": offset, "length": length }));
        }
    }
    message_of(json!({ "text": text, "entities": entities }))
}

#[test]
fn a_command_is_read_with_its_addressee() {
    let command = |text: &str| {
        let message = marked(text);
        let command = message.command("Analyst_Bot");
        command.map(|it| (it.name.to_owned(), it.rest.to_owned(), it.addressed_to_other))
    };
    let expected = |name: &str, rest: &str, other| Some((name.into(), rest.into(), other));
    assert_eq!(command("/why"), expected("why", "", false));
    assert_eq!(command("/ask  a b "), expected("ask", "a b", false));
    assert_eq!(command("/ask@analyst_bot é"), expected("ask", "é", false));
    assert_eq!(command("/ask@writer_bot é"), expected("ask", "é", true));
    assert_eq!(command("please /ask"), None);
    assert_eq!(message_of(json!({ "text": "/usr/bin is full" })).command("x"), None);
}

#[test]
fn names_are_those_that_telegram_marked() {
    let message = marked("/ask@A_bot 😀 @b_bot and @B_Bot mail a@b.c");
    assert_eq!(message.names(), ["A_bot", "b_bot"]);
    assert_eq!(message_of(json!({ "text": "@b_bot" })).names(), [""; 0]);
}

#[test]
fn usernames_of_bots_become_participants() {
    let participant = |name: &str| match name {
        "a_bot" => Some("analyst".to_owned()),
        "b_bot" => Some("writer/2".to_owned()),
        _ => None,
    };
    let words = |text: &str| marked(text).words_without_names(participant);
    assert_eq!(words("😀 @A_bot ask @b_bot or @carl é"), "😀 @analyst ask @writer/2 or @carl é");
    assert_eq!(words("nothing"), "nothing");
    let twice = message_of(json!({ "text": "@a_bot", "entities": [
        { "type": "mention", "offset": 0, "length": 6 },
        { "type": "mention", "offset": 0, "length": 6 },
    ] }));
    assert_eq!(twice.words_without_names(participant), "@analyst");
}

/// Any JSON, in which the names and words of updates are frequent.
fn json_value() -> impl Strategy<Value = Value> {
    let words = "(message|chat|id|from|text|entities|type|private|mention|😀@a|offset)";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..9_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 120, 8, |inner| {
        let names = "(update_id|message|edited_message|callback_query|my_chat_member|chat|id|from\
                     |is_bot|message_id|text|entities|offset|length|type|reply_to_message|photo\
                     |rich_message|blocks|new_chat_member|status|sender_chat|message_thread_id)";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..10)
                .prop_map(|map| Value::from(serde_json::Map::from_iter(map))),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_an_update(value in json_value()) {
        let update = read(&value);
        prop_assert_eq!(update.id, value["update_id"].as_i64());
    }

    #[test]
    fn the_helpers_take_any_entities(
        text in "[ /@a-zé😀]{0,12}",
        entities in prop::collection::vec((0..5_usize, 0..14_u64, 0..14_u64), 0..6),
    ) {
        let kinds = ["mention", "bot_command", "text_mention", "bold", "url"];
        let entity = |(kind, offset, length): &(usize, u64, u64)| {
            json!({ "type": kinds[*kind], "offset": offset, "length": length, "user": { "id": 1 } })
        };
        let entities: Vec<Value> = entities.iter().map(entity).collect();
        let message = message_of(json!({ "text": text, "entities": entities }));
        let _ = (message.command("a"), message.names(), message.named_accounts().count());
        prop_assert_eq!(message.words_without_names(|_| None), text);
    }
}

#[test]
fn news_of_a_managed_bot_names_the_bot_and_its_owner() {
    let bot = json!({ "id": 99, "is_bot": true, "username": "critic_bot" });
    let update = |bot: &Value| read(&json!({ "managed_bot": { "user": ann(), "bot": bot } })).kind;
    let Author::Person(owner) = ann_as_author() else { panic!("Ann is a person") };
    let made = ManagedBot { id: 99, username: "critic_bot".into(), owner };
    assert_eq!(update(&bot), UpdateKind::Managed(made));
    // The account of a person never counts as a bot.
    let person = UpdateKind::Unknown("managed_bot".into());
    assert_eq!(update(&ann()), person);
    let created = json!({ "managed_bot_created": { "bot": bot } });
    assert!(message_of(created).service);
}
