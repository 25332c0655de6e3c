//! The methods and their parameters, as a table, and the strict reading of a request by it.

use serde_json::{Map, Value};

use super::refusal::Refusal;

/// The shape of a parameter.
#[derive(Clone, Copy)]
enum Shape {
    Int,
    Text,
    Flag,
    /// A number or `@username`.
    ChatRef,
    /// A list of such values.
    List(&'static Shape),
    Object(&'static [FieldSpec]),
}

/// A parameter of a method, or a field of an object.
struct FieldSpec {
    name: &'static str,
    shape: Shape,
    is_required: bool,
}

/// A method and its parameters.
pub(super) struct MethodSpec {
    pub(super) name: &'static str,
    fields: &'static [FieldSpec],
}

const fn must(name: &'static str, shape: Shape) -> FieldSpec {
    FieldSpec { name, shape, is_required: true }
}

const fn may(name: &'static str, shape: Shape) -> FieldSpec {
    FieldSpec { name, shape, is_required: false }
}

const USER: Shape = Shape::Object(&[
    must("id", Shape::Int),
    may("is_bot", Shape::Flag),
    may("first_name", Shape::Text),
    may("last_name", Shape::Text),
    may("username", Shape::Text),
    may("language_code", Shape::Text),
]);

const ENTITY: Shape = Shape::Object(&[
    must("type", Shape::Text),
    must("offset", Shape::Int),
    must("length", Shape::Int),
    may("url", Shape::Text),
    may("user", USER),
    may("language", Shape::Text),
    may("custom_emoji_id", Shape::Text),
    may("unix_time", Shape::Int),
    may("date_time_format", Shape::Text),
]);

const BUTTON: Shape = Shape::Object(&[
    must("text", Shape::Text),
    may("style", Shape::Text),
    may("url", Shape::Text),
    may("callback_data", Shape::Text),
    may("copy_text", Shape::Object(&[must("text", Shape::Text)])),
]);

const KEYBOARD: Shape =
    Shape::Object(&[must("inline_keyboard", Shape::List(&Shape::List(&BUTTON)))]);

const NEW_BOT: Shape = Shape::Object(&[
    must("request_id", Shape::Int),
    may("suggested_name", Shape::Text),
    may("suggested_username", Shape::Text),
]);

const KEY: Shape = Shape::Object(&[must("text", Shape::Text), may("request_managed_bot", NEW_BOT)]);

/// The keyboard of a message, or one in the place of the person's own.
const ANY_KEYBOARD: Shape = Shape::Object(&[
    may("inline_keyboard", Shape::List(&Shape::List(&BUTTON))),
    may("keyboard", Shape::List(&Shape::List(&KEY))),
    may("remove_keyboard", Shape::Flag),
    may("resize_keyboard", Shape::Flag),
    may("one_time_keyboard", Shape::Flag),
]);

const PREVIEW: Shape = Shape::Object(&[
    may("is_disabled", Shape::Flag),
    may("url", Shape::Text),
    may("prefer_small_media", Shape::Flag),
    may("prefer_large_media", Shape::Flag),
    may("show_above_text", Shape::Flag),
]);

const REPLY: Shape = Shape::Object(&[
    must("message_id", Shape::Int),
    may("chat_id", Shape::ChatRef),
    may("allow_sending_without_reply", Shape::Flag),
    may("quote", Shape::Text),
    may("quote_entities", Shape::List(&ENTITY)),
    may("quote_position", Shape::Int),
]);

const RICH: Shape = Shape::Object(&[
    may("markdown", Shape::Text),
    may("is_rtl", Shape::Flag),
    may("skip_entity_detection", Shape::Flag),
]);

const COMMAND: Shape =
    Shape::Object(&[must("command", Shape::Text), must("description", Shape::Text)]);

const SCOPE: Shape = Shape::Object(&[
    must("type", Shape::Text),
    may("chat_id", Shape::ChatRef),
    may("user_id", Shape::Int),
]);

const CHAT: FieldSpec = must("chat_id", Shape::ChatRef);
const EPHEMERAL: FieldSpec = may(
    "ephemeral_message_parameters",
    Shape::Object(&[
        must("receiver_user_id", Shape::Int),
        may("callback_query_id", Shape::Text),
        may("replace_callback_query_message", Shape::Flag),
    ]),
);
/// A private chat has a number alone.
const PRIVATE_CHAT: FieldSpec = must("chat_id", Shape::Int);
const DRAFT: FieldSpec = must("draft_id", Shape::Int);
const CAN_STOP: FieldSpec = may("can_stop", Shape::Flag);
const KEEP_ON_STOP: FieldSpec = may("keep_on_stop", Shape::Flag);
const USER_ID: FieldSpec = must("user_id", Shape::Int);
const MESSAGE: FieldSpec = must("message_id", Shape::Int);
const THREAD: FieldSpec = may("message_thread_id", Shape::Int);
const MARKUP: FieldSpec = may("reply_markup", KEYBOARD);
const LANGUAGE: FieldSpec = may("language_code", Shape::Text);

/// All methods that the fake has.
const METHODS: &[MethodSpec] = &[
    MethodSpec { name: "getMe", fields: &[] },
    MethodSpec {
        name: "getUpdates",
        fields: &[
            may("offset", Shape::Int),
            may("limit", Shape::Int),
            may("timeout", Shape::Int),
            may("allowed_updates", Shape::List(&Shape::Text)),
        ],
    },
    MethodSpec { name: "deleteWebhook", fields: &[may("drop_pending_updates", Shape::Flag)] },
    MethodSpec {
        name: "setMyCommands",
        fields: &[must("commands", Shape::List(&COMMAND)), may("scope", SCOPE), LANGUAGE],
    },
    MethodSpec { name: "setMyName", fields: &[may("name", Shape::Text), LANGUAGE] },
    MethodSpec {
        name: "sendMessage",
        fields: &[
            CHAT,
            THREAD,
            must("text", Shape::Text),
            may("entities", Shape::List(&ENTITY)),
            may("link_preview_options", PREVIEW),
            may("disable_notification", Shape::Flag),
            may("protect_content", Shape::Flag),
            may("reply_parameters", REPLY),
            may("reply_markup", ANY_KEYBOARD),
            EPHEMERAL,
        ],
    },
    MethodSpec {
        name: "sendRichMessage",
        fields: &[
            CHAT,
            THREAD,
            must("rich_message", RICH),
            may("disable_notification", Shape::Flag),
            may("protect_content", Shape::Flag),
            may("reply_parameters", REPLY),
            MARKUP,
            EPHEMERAL,
        ],
    },
    MethodSpec {
        name: "editEphemeralMessageText",
        fields: &[
            CHAT,
            must("receiver_user_id", Shape::Int),
            must("ephemeral_message_id", Shape::Int),
            may("text", Shape::Text),
            may("entities", Shape::List(&ENTITY)),
            may("link_preview_options", PREVIEW),
            may("rich_message", RICH),
            MARKUP,
        ],
    },
    MethodSpec {
        name: "deleteEphemeralMessage",
        fields: &[
            CHAT,
            must("receiver_user_id", Shape::Int),
            must("ephemeral_message_id", Shape::Int),
        ],
    },
    MethodSpec {
        name: "sendMessageDraft",
        fields: &[
            PRIVATE_CHAT,
            DRAFT,
            THREAD,
            may("text", Shape::Text),
            may("entities", Shape::List(&ENTITY)),
            CAN_STOP,
            KEEP_ON_STOP,
        ],
    },
    MethodSpec {
        name: "sendRichMessageDraft",
        fields: &[PRIVATE_CHAT, DRAFT, must("rich_message", RICH), THREAD, CAN_STOP, KEEP_ON_STOP],
    },
    MethodSpec {
        name: "editMessageText",
        fields: &[
            CHAT,
            MESSAGE,
            may("text", Shape::Text),
            may("entities", Shape::List(&ENTITY)),
            may("link_preview_options", PREVIEW),
            may("rich_message", RICH),
            MARKUP,
        ],
    },
    MethodSpec { name: "editMessageReplyMarkup", fields: &[CHAT, MESSAGE, MARKUP] },
    MethodSpec { name: "deleteMessage", fields: &[CHAT, MESSAGE] },
    MethodSpec { name: "sendChatAction", fields: &[CHAT, THREAD, must("action", Shape::Text)] },
    MethodSpec {
        name: "answerCallbackQuery",
        fields: &[
            must("callback_query_id", Shape::Text),
            may("text", Shape::Text),
            may("show_alert", Shape::Flag),
            may("cache_time", Shape::Int),
        ],
    },
    MethodSpec { name: "getChat", fields: &[CHAT] },
    MethodSpec { name: "getChatMember", fields: &[CHAT, USER_ID] },
    MethodSpec { name: "getChatAdministrators", fields: &[CHAT, may("return_bots", Shape::Flag)] },
    MethodSpec { name: "getManagedBotToken", fields: &[USER_ID] },
    MethodSpec {
        name: "setManagedBotAccessSettings",
        fields: &[
            USER_ID,
            must("is_access_restricted", Shape::Flag),
            may("added_user_ids", Shape::List(&Shape::Int)),
        ],
    },
    MethodSpec { name: "leaveChat", fields: &[CHAT] },
    MethodSpec { name: "getFile", fields: &[must("file_id", Shape::Text)] },
];

/// Returns a method by its name, in any case.
pub(super) fn method(name: &str) -> Option<&'static MethodSpec> {
    METHODS.iter().find(|method| method.name.eq_ignore_ascii_case(name))
}

impl MethodSpec {
    /// Converts the texts of a form to the types of the method.
    pub(super) fn typed(&self, form: Vec<(String, String)>) -> Map<String, Value> {
        let convert = |(name, text): (String, String)| {
            let field = self.fields.iter().find(|field| field.name == name);
            let value = field.map(|field| field.shape.parse(&text)).unwrap_or_else(|| text.into());
            (name, value)
        };
        form.into_iter().map(convert).collect()
    }

    /// Checks the parameters. Unknown ones are refused, or removed for a foreign client.
    pub(super) fn check(
        &self,
        body: &mut Map<String, Value>,
        is_lenient: bool,
    ) -> Result<(), Refusal> {
        check_fields(self.fields, body, is_lenient, "")
    }
}

fn check_fields(
    fields: &[FieldSpec],
    body: &mut Map<String, Value>,
    is_lenient: bool,
    path: &str,
) -> Result<(), Refusal> {
    let is_known = |name: &str| fields.iter().any(|field| field.name == name);
    if is_lenient {
        body.retain(|name, _| is_known(name));
    } else if let Some(name) = body.keys().find(|name| !is_known(name)) {
        return Err(Refusal::bad(&format!("the fake does not have the field \"{path}{name}\"")));
    }
    for field in fields {
        match body.get_mut(field.name) {
            Some(value) => {
                field.shape.check(value, is_lenient, &format!("{path}{}", field.name))?
            }
            None if field.is_required => return Err(missing(path, field.name)),
            None => {}
        }
    }
    Ok(())
}

fn missing(path: &str, name: &str) -> Refusal {
    Refusal::bad(&match (path, name) {
        ("", "chat_id") => "chat_id is empty".to_owned(),
        ("", "text") => "message text is empty".to_owned(),
        ("", "message_id") => "message identifier is not specified".to_owned(),
        _ => format!("parameter \"{path}{name}\" is required"),
    })
}

impl Shape {
    fn parse(&self, text: &str) -> Value {
        let words = || Value::from(text);
        match self {
            Self::Text => words(),
            Self::Int | Self::ChatRef => text.parse::<i64>().map_or_else(|_| words(), Value::from),
            Self::Flag => match text.to_lowercase().as_str() {
                "true" | "1" => true.into(),
                "false" | "0" => false.into(),
                _ => words(),
            },
            Self::List(_) | Self::Object(_) => {
                serde_json::from_str(text).unwrap_or_else(|_| words())
            }
        }
    }

    fn check(&self, value: &mut Value, is_lenient: bool, path: &str) -> Result<(), Refusal> {
        let wrong = || Err(Refusal::bad(&format!("field \"{path}\" has a wrong type")));
        match (self, value) {
            (Self::Int, value) if value.as_i64().is_some() => Ok(()),
            (Self::ChatRef, value) if value.as_i64().is_some() || value.is_string() => Ok(()),
            (Self::Text, Value::String(_)) | (Self::Flag, Value::Bool(_)) => Ok(()),
            (Self::List(shape), Value::Array(items)) => items
                .iter_mut()
                .try_for_each(|item| shape.check(item, is_lenient, &format!("{path}[]"))),
            (Self::Object(fields), Value::Object(object)) => {
                check_fields(fields, object, is_lenient, &format!("{path}."))
            }
            _ => wrong(),
        }
    }
}
