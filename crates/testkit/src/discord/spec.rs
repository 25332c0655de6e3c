//! The routes and the fields of their bodies, as a table, and the strict reading of a call by it.

use serde_json::{Map, Value};

use super::refusal::RestRefusal;

/// The shape of a field.
#[derive(Clone, Copy)]
pub(super) enum BodyShape {
    Int,
    Text,
    Flag,
    /// An id: digits in a text.
    Snowflake,
    /// A number or a text.
    Nonce,
    /// A list of such values.
    List(&'static BodyShape),
    Object(&'static [BodyField]),
    /// Any value.
    Any,
}

/// A field of a body.
pub(super) struct BodyField {
    name: &'static str,
    shape: BodyShape,
    is_required: bool,
}

/// The proof that a call needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A bot's token in a header.
    Bot,
    /// A token in the path.
    Path,
}

/// A route with its body.
pub(super) struct RouteSpec {
    /// Method and path with `{}` in place of ids and tokens.
    pub(super) name: &'static str,
    pub(super) proof: Proof,
    query: &'static [&'static str],
    body: Option<&'static [BodyField]>,
}

const fn must(name: &'static str, shape: BodyShape) -> BodyField {
    BodyField { name, shape, is_required: true }
}

const fn may(name: &'static str, shape: BodyShape) -> BodyField {
    BodyField { name, shape, is_required: false }
}

const MENTIONS: BodyShape = BodyShape::Object(&[
    may("parse", BodyShape::List(&BodyShape::Text)),
    may("users", BodyShape::List(&BodyShape::Snowflake)),
    may("roles", BodyShape::List(&BodyShape::Snowflake)),
    may("replied_user", BodyShape::Flag),
]);

const REFERENCE: BodyShape = BodyShape::Object(&[
    may("type", BodyShape::Int),
    must("message_id", BodyShape::Snowflake),
    may("channel_id", BodyShape::Snowflake),
    may("guild_id", BodyShape::Snowflake),
    may("fail_if_not_exists", BodyShape::Flag),
]);

const BUTTON: BodyShape = BodyShape::Object(&[
    must("type", BodyShape::Int),
    must("style", BodyShape::Int),
    may("label", BodyShape::Text),
    may("custom_id", BodyShape::Text),
    may("url", BodyShape::Text),
    may("disabled", BodyShape::Flag),
]);

const ROWS: BodyShape = BodyShape::List(&BodyShape::Object(&[
    must("type", BodyShape::Int),
    must("components", BodyShape::List(&BUTTON)),
]));

const CONTENT: BodyField = may("content", BodyShape::Text);
const ALLOWED: BodyField = may("allowed_mentions", MENTIONS);
const COMPONENTS: BodyField = may("components", ROWS);
const FLAGS: BodyField = may("flags", BodyShape::Int);
const TTS: BodyField = may("tts", BodyShape::Flag);
const EMBEDS: BodyField = may("embeds", BodyShape::List(&BodyShape::Any));
const ATTACHMENTS: BodyField = may("attachments", BodyShape::List(&BodyShape::Any));

const EDIT: &[BodyField] = &[CONTENT, ALLOWED, COMPONENTS, FLAGS, EMBEDS, ATTACHMENTS];
const BY_WEBHOOK: &[BodyField] = &[
    CONTENT,
    may("username", BodyShape::Text),
    may("avatar_url", BodyShape::Text),
    ALLOWED,
    COMPONENTS,
    FLAGS,
    TTS,
    EMBEDS,
    ATTACHMENTS,
];

const COMMAND: BodyShape = BodyShape::Object(&[
    must("name", BodyShape::Text),
    must("description", BodyShape::Text),
    may("type", BodyShape::Int),
    may("contexts", BodyShape::List(&BodyShape::Int)),
    may(
        "options",
        BodyShape::List(&BodyShape::Object(&[
            must("type", BodyShape::Int),
            must("name", BodyShape::Text),
            must("description", BodyShape::Text),
            may("required", BodyShape::Flag),
        ])),
    ),
]);

const fn bot(
    name: &'static str,
    query: &'static [&'static str],
    body: Option<&'static [BodyField]>,
) -> RouteSpec {
    RouteSpec { name, proof: Proof::Bot, query, body }
}

const fn path(
    name: &'static str,
    query: &'static [&'static str],
    body: Option<&'static [BodyField]>,
) -> RouteSpec {
    RouteSpec { name, proof: Proof::Path, query, body }
}

/// All routes that the fake has. A body that is a list has its fields under the name `list`.
const ROUTES: &[RouteSpec] = &[
    bot("GET /gateway/bot", &[], None),
    bot("GET /users/@me", &[], None),
    bot("GET /oauth2/applications/@me", &[], None),
    bot("GET /applications/@me", &[], None),
    bot("POST /users/@me/channels", &[], Some(&[must("recipient_id", BodyShape::Snowflake)])),
    bot("PUT /applications/{}/commands", &[], Some(&[must("list", BodyShape::List(&COMMAND))])),
    bot("GET /channels/{}", &[], None),
    bot("GET /channels/{}/messages", &["limit", "after", "before"], None),
    bot("GET /channels/{}/messages/{}", &[], None),
    bot(
        "POST /channels/{}/messages",
        &[],
        Some(&[
            CONTENT,
            may("nonce", BodyShape::Nonce),
            may("enforce_nonce", BodyShape::Flag),
            ALLOWED,
            may("message_reference", REFERENCE),
            COMPONENTS,
            FLAGS,
            TTS,
            EMBEDS,
            ATTACHMENTS,
        ]),
    ),
    bot("PATCH /channels/{}/messages/{}", &[], Some(EDIT)),
    bot("DELETE /channels/{}/messages/{}", &[], None),
    bot("POST /channels/{}/typing", &[], Some(&[])),
    bot("GET /channels/{}/webhooks", &[], None),
    bot(
        "POST /channels/{}/webhooks",
        &[],
        Some(&[must("name", BodyShape::Text), may("avatar", BodyShape::Text)]),
    ),
    path("POST /webhooks/{}/{}", &["wait", "thread_id", "with_components"], Some(BY_WEBHOOK)),
    path("PATCH /webhooks/{}/{}/messages/{}", &["thread_id", "with_components"], Some(EDIT)),
    path("DELETE /webhooks/{}/{}/messages/{}", &["thread_id"], None),
    path(
        "POST /interactions/{}/{}/callback",
        &["with_response"],
        Some(&[must("type", BodyShape::Int), may("data", BodyShape::Object(EDIT))]),
    ),
];

/// Finds the route of a call, and returns the ids and tokens in its path.
pub(super) fn find<'a>(method: &str, path: &'a str) -> Option<(&'static RouteSpec, Vec<&'a str>)> {
    ROUTES.iter().find_map(|spec| {
        let (wanted, pattern) = spec.name.split_once(' ')?;
        let found = (wanted == method).then(|| ids(pattern, path)).flatten()?;
        Some((spec, found))
    })
}

fn ids<'a>(pattern: &str, path: &'a str) -> Option<Vec<&'a str>> {
    let (pattern, path) = (pattern.split('/'), path.split('/'));
    if pattern.clone().count() != path.clone().count() {
        return None;
    }
    let mut ids = Vec::new();
    for (wanted, given) in pattern.zip(path) {
        match wanted {
            "{}" => ids.push(given),
            _ if wanted == given => {}
            _ => return None,
        }
    }
    Some(ids)
}

impl RouteSpec {
    /// Checks the names in the query and the fields of the body, and drops unknown ones if the
    /// fake is lenient.
    pub(super) fn check(
        &self,
        query: &Map<String, Value>,
        body: &mut Map<String, Value>,
        is_lenient: bool,
    ) -> Result<(), RestRefusal> {
        if let Some(name) = query.keys().find(|name| !self.query.contains(&name.as_str()))
            && !is_lenient
        {
            return Err(unknown(name));
        }
        check_fields(self.body.unwrap_or_default(), body, "", is_lenient)
    }

    /// True if the route takes a body.
    pub(super) fn takes_body(&self) -> bool {
        self.body.is_some()
    }
}

/// Returns the refusal of a field that the route does not have. The service ignores such fields,
/// but a caller that sends one is wrong.
fn unknown(path: &str) -> RestRefusal {
    RestRefusal::field(path, "FAKE_UNKNOWN_FIELD", "The route has no such field.")
}

fn check_fields(
    specs: &[BodyField],
    body: &mut Map<String, Value>,
    path: &str,
    is_lenient: bool,
) -> Result<(), RestRefusal> {
    let full =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let is_known = |name: &String| specs.iter().any(|spec| spec.name == name);
    if let Some(name) = body.keys().find(|name| !is_known(name))
        && !is_lenient
    {
        return Err(unknown(&full(name)));
    }
    body.retain(|name, value| is_known(name) && !value.is_null());
    for spec in specs {
        match body.get_mut(spec.name) {
            Some(value) => check_value(spec.shape, value, &full(spec.name), is_lenient)?,
            None if spec.is_required => {
                let message = "This field is required";
                return Err(RestRefusal::field(&full(spec.name), "BASE_TYPE_REQUIRED", message));
            }
            None => {}
        }
    }
    Ok(())
}

fn check_value(
    shape: BodyShape,
    value: &mut Value,
    path: &str,
    is_lenient: bool,
) -> Result<(), RestRefusal> {
    let is_id = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_right = match (shape, &mut *value) {
        (BodyShape::Object(fields), Value::Object(object)) => {
            return check_fields(fields, object, path, is_lenient);
        }
        (BodyShape::List(inner), Value::Array(all)) => {
            for (number, one) in all.iter_mut().enumerate() {
                check_value(*inner, one, &format!("{path}.{number}"), is_lenient)?;
            }
            true
        }
        (BodyShape::Snowflake, Value::String(text)) => is_id(text),
        // The service reads numbers as ids too.
        (BodyShape::Snowflake, Value::Number(_)) => is_lenient,
        (BodyShape::Int, value) => value.is_i64(),
        (BodyShape::Text, value) => value.is_string(),
        (BodyShape::Flag, value) => value.is_boolean(),
        (BodyShape::Nonce, value) => value.is_string() || value.is_i64(),
        (BodyShape::Any, _) => true,
        (BodyShape::Object(_) | BodyShape::List(_) | BodyShape::Snowflake, _) => false,
    };
    if is_right {
        return Ok(());
    }
    Err(RestRefusal::field(path, "BASE_TYPE_BAD_TYPE", "The value has not the type of this field."))
}
