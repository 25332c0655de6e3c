//! What the body of an event post asks for.

use moothall_engine::door::Door;
use moothall_kernel::command::{Actor, ClientCommand, Keep, KindFault, OwnKind, Post, WORD_CHARS_MAX, is_word};
use moothall_kernel::event::Cause;
use moothall_kernel::ids::{EventId, StreamId};
use serde_json::{Map, Value};

use crate::control;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, addressee, refuse_server_field, text_of};

/// Most labels of one event.
const TAGS_MAX: usize = 32;

/// A command, and what its sender should know.
pub struct Wish {
    /// Who asks.
    pub by: Actor,
    /// What.
    pub command: ClientCommand,
    /// What was in the body and could not be kept.
    pub warnings: Vec<String>,
}

/// Reads what a body asks for.
pub async fn read(door: &Door, stream: &StreamId, body: &Body) -> ApiResult<Wish> {
    let mut warnings = check_fields(stream, &body.fields)?;
    let by = speaker(door, stream, body).await?;
    let kind = body.text("type")?.unwrap_or("message");
    let meta = meta_of(&body.fields, &mut warnings)?;
    let to = addressee(body.text("to")?)?;
    let content = body.fields.get("content").unwrap_or(&Value::Null);
    let command = match kind {
        "message" => {
            let words = message_words(content)?;
            let reply_to = meta.cause(door, stream).await?;
            ClientCommand::Post(Post { by: by.clone(), to, body: words, reply_to, tags: meta.tags, typed_at: None })
        }
        "control" => control::command(door, stream, by.clone(), content).await?,
        "thread.renamed" => ClientCommand::Rename { name: new_name(content)?, by: by.clone() },
        "turn" => ClientCommand::Pass { by: by.clone(), to: pass(content)? },
        kind => {
            let kind = own_kind(kind)?;
            let reply_to = meta.cause(door, stream).await?;
            ClientCommand::Keep(Keep { by: by.clone(), to, kind, content: content.clone(), tags: meta.tags, reply_to })
        }
    };
    Ok(Wish { by, command, warnings })
}

/// Who speaks; a session as the participant that it was invited as.
async fn speaker(door: &Door, stream: &StreamId, body: &Body) -> ApiResult<Actor> {
    let by = body.speaker(body.text("from")?)?;
    door.speaker_in(stream, by).await.map_err(|error| ApiError::at_door(error, stream))
}

fn check_fields(stream: &StreamId, fields: &Map<String, Value>) -> ApiResult<Vec<String>> {
    let mut warnings = Vec::new();
    for (key, value) in fields {
        refuse_server_field(key)?;
        match key.as_str() {
            "type" | "from" | "to" | "content" | "meta" => {}
            "thread" if value == stream.as_str() => {}
            "thread" => return Err(ApiError::new(Code::ServerField, "'thread' names another thread than the path.")),
            other => warnings.push(format!("The field {:?} means nothing here and was not kept.", shorten(other))),
        }
    }
    Ok(warnings)
}

fn shorten(text: &str) -> String {
    text.chars().take(WORD_CHARS_MAX).collect()
}

#[derive(Default)]
struct ClientMeta {
    reply_to: Option<String>,
    tags: Vec<String>,
}

fn meta_of(fields: &Map<String, Value>, warnings: &mut Vec<String>) -> ApiResult<ClientMeta> {
    let meta = match fields.get("meta") {
        None | Some(Value::Null) => return Ok(ClientMeta::default()),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err(ApiError::new(Code::InvalidField, "'meta' must be an object.")),
    };
    for key in meta.keys() {
        match key.as_str() {
            "reply_to" | "tags" => {}
            "turn" | "depth" | "mentions" | "queued" | "published" | "error" | "unproven" | "typed_at" => {
                return Err(ApiError::new(Code::ServerField, format!("'meta.{key}' is the server's; leave it out.")));
            }
            other => {
                refuse_server_field(other)?;
                warnings.push(format!("The field {:?} of 'meta' means nothing here and was not kept.", shorten(other)));
            }
        }
    }
    Ok(ClientMeta { reply_to: text_of(meta, "reply_to")?.map(Into::into), tags: tags(meta.get("tags"))? })
}

fn tags(given: Option<&Value>) -> ApiResult<Vec<String>> {
    let refused = || ApiError::new(Code::InvalidField, "'meta.tags' must be a list of at most 32 words of 1 to 64 characters.");
    let items = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) if items.len() <= TAGS_MAX => items,
        Some(_) => return Err(refused()),
    };
    let word = |item: &Value| item.as_str().filter(|tag| is_word(tag)).map(Into::into);
    items.iter().map(|item| word(item).ok_or_else(refused)).collect()
}

impl ClientMeta {
    async fn cause(&self, door: &Door, stream: &StreamId) -> ApiResult<Option<Cause>> {
        let Some(text) = &self.reply_to else { return Ok(None) };
        let unknown = || ApiError::new(Code::UnknownReplyTo, "'meta.reply_to' must be the id of an earlier message of this thread.");
        let id: EventId = text.parse().map_err(|()| unknown())?;
        door.cause(stream, id).await?.map(Some).ok_or_else(unknown)
    }
}

fn message_words(content: &Value) -> ApiResult<String> {
    match content {
        Value::Null => Err(ApiError::new(Code::MissingContent, "Missing 'content': a message needs its words.")),
        Value::String(words) => Ok(words.clone()),
        _ => Err(ApiError::new(Code::InvalidField, "'content' of a message must be a string.")),
    }
}

fn new_name(content: &Value) -> ApiResult<String> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(name) => Ok(name.clone()),
        _ => Err(ApiError::new(Code::InvalidField, "'content' of thread.renamed must be a string: the new name.")),
    }
}

/// `{"pass": true}`, or with the name of the one who is to speak next.
fn pass(content: &Value) -> ApiResult<Option<String>> {
    let entries = content.as_object().filter(|entries| entries.len() == 1);
    match entries.and_then(|entries| entries.get("pass")) {
        Some(Value::Bool(true)) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        _ => Err(ApiError::new(Code::InvalidField, "A 'turn' event takes the content {\"pass\": true}, or {\"pass\": \"<name>\"}.")),
    }
}

fn server_type(kind: &str) -> ApiError {
    let way = match kind {
        "thread.created" => " POST /threads begins one.",
        "thread.archived" | "thread.unarchived" => " Send a control with `archive` or `unarchive`.",
        _ => "",
    };
    ApiError::new(Code::ServerType, format!("Events of type '{kind}' are the server's.{way}"))
}

fn own_kind(word: &str) -> ApiResult<OwnKind> {
    OwnKind::parse(word).map_err(|fault| match fault {
        KindFault::OfServer => server_type(word),
        KindFault::NoWord => ApiError::new(Code::InvalidField, "'type' must be a word of 1 to 64 characters."),
    })
}
