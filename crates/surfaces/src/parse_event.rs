//! Strict reading of the body of an event post.

use moothall_engine::door::{Action, Door};
use moothall_kernel::command::{
    Actor, ClientCommand, KindFault, OwnKind, Post, PostCustom, is_word,
};
use moothall_kernel::event::Cause;
use moothall_kernel::ids::{EventId, StreamId};
use serde_json::Value;

use crate::control;
use crate::error::{ApiError, ApiResult, Code};
use crate::request::{Body, addressee, refuse_server_field};
use crate::strict::{self, Inbound, Open};
use crate::wire::{NewEvent, NewMeta, NewPass, Pass};

/// Maximum number of tags of one event.
const TAGS_MAX: usize = 32;

/// A parsed request.
pub struct ParsedEvent {
    /// The participant on whose behalf the command is given.
    pub by: Actor,
    /// The command.
    pub command: ClientCommand,
    /// Warnings about fields that were dropped.
    pub warnings: Vec<String>,
}

/// Reads the body of an event post.
pub async fn read(door: &Door, stream: &StreamId, body: &Body) -> ApiResult<ParsedEvent> {
    let (NewEvent { kind, from, to, content, meta, thread }, warnings) =
        strict::read_open(&body.fields)?;
    if thread.is_some_and(|thread| thread != stream.as_str()) {
        return Err(other_thread());
    }
    let by = body.speaker(from.as_deref())?;
    let by = door.speaker_in(stream, by).await.map_err(|error| ApiError::at_door(error, stream))?;
    let NewMeta { reply_to, tags } = meta.unwrap_or_default();
    let to = addressee(door, Action::Post, stream, to.as_deref()).await?;
    let tags = checked(tags.unwrap_or_default())?;
    let command = match kind.as_deref().unwrap_or("message") {
        "message" => {
            let words = message_words(&content)?;
            let reply_to = cause(door, stream, reply_to.as_deref()).await?;
            ClientCommand::Post(Post { to, reply_to, tags, ..Post::new(by.clone(), words) })
        }
        "control" => control::command(door, stream, by.clone(), &content).await?,
        "thread.renamed" => ClientCommand::Rename { name: new_name(&content)?, by: by.clone() },
        "turn" => {
            let reply_to = cause(door, stream, reply_to.as_deref()).await?;
            ClientCommand::Pass { by: by.clone(), to: pass(&content)?, reply_to, at_once: false }
        }
        kind => {
            let kind = own_kind(kind)?;
            let reply_to = cause(door, stream, reply_to.as_deref()).await?;
            ClientCommand::PostCustom(PostCustom {
                by: by.clone(),
                to,
                kind,
                content,
                tags,
                reply_to,
            })
        }
    };
    Ok(ParsedEvent { by, command, warnings })
}

impl Inbound for NewEvent {
    fn wrong(_: &str, field: &str, takes: &str) -> ApiError {
        match field {
            "tags" | "tags[]" => no_tags(),
            "thread" => other_thread(),
            other => ApiError::new(Code::InvalidField, format!("'{other}' {takes}.")),
        }
    }
}

impl Open for NewEvent {
    /// Rejects fields that the server sets, and fields that a client would use to hide its message.
    fn check(object: &str, key: &str) -> ApiResult<()> {
        let servers = [
            "turn",
            "depth",
            "mentions",
            "mention_places",
            "queued",
            "queue_full",
            "published",
            "error",
            "unproven",
            "typed_at",
            "chat",
            "identity",
        ];
        if object == "meta" && servers.contains(&key) {
            return Err(ApiError::new(
                Code::ServerField,
                format!("'meta.{key}' is set by the server; leave it out."),
            ));
        }
        refuse_hiding(key)?;
        refuse_server_field(key)
    }
}

/// Rejects fields that a client would use to hide its message from others. If such a field were
/// ignored, all participants would read the message.
fn refuse_hiding(key: &str) -> ApiResult<()> {
    const FIELDS: [&str; 17] = [
        "audience",
        "audiences",
        "bcc",
        "confidential",
        "ephemeral",
        "hidden",
        "hiddenfrom",
        "isprivate",
        "private",
        "privateto",
        "recipient",
        "recipients",
        "secret",
        "visibility",
        "visibleto",
        "whisper",
        "whisperto",
    ];
    let plain: String = key.chars().filter(|c| !matches!(c, '_' | '-')).collect();
    if !FIELDS.contains(&plain.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    Err(ApiError::new(
        Code::UnknownField,
        format!(
            "'{key}' would hide this message, which is not possible: all participants read it. \
             Leave it out; `to` sets the addressee. For messages that others must not read, open a \
             conversation without those others."
        ),
    ))
}

fn other_thread() -> ApiError {
    ApiError::new(Code::ServerField, "'thread' is not the thread in the path.")
}

fn no_tags() -> ApiError {
    ApiError::new(
        Code::InvalidField,
        "'meta.tags' must be a list of at most 32 words of 1 to 64 characters.",
    )
}

fn checked(tags: Vec<String>) -> ApiResult<Vec<String>> {
    if tags.len() <= TAGS_MAX && tags.iter().all(|tag| is_word(tag)) {
        Ok(tags)
    } else {
        Err(no_tags())
    }
}

/// Returns the earlier event that a message replies to, or `None` without `reply_to`.
pub(crate) async fn cause(
    door: &Door,
    stream: &StreamId,
    reply_to: Option<&str>,
) -> ApiResult<Option<Cause>> {
    let Some(text) = reply_to else { return Ok(None) };
    let unknown = || {
        ApiError::new(
            Code::UnknownReplyTo,
            "'meta.reply_to' must be the id of an earlier message of this thread.",
        )
    };
    let id: EventId = text.parse().map_err(|()| unknown())?;
    door.cause(stream, id).await?.map(Some).ok_or_else(unknown)
}

fn message_words(content: &Value) -> ApiResult<String> {
    match content {
        Value::Null => Err(ApiError::new(
            Code::MissingContent,
            "'content' is missing: give the message's text.",
        )),
        Value::String(words) => Ok(words.clone()),
        _ => Err(ApiError::new(Code::InvalidField, "'content' of a message must be a string.")),
    }
}

/// Reads the new name of a thread. Null stands for an empty name.
fn new_name(content: &Value) -> ApiResult<String> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(name) => Ok(name.clone()),
        _ => Err(ApiError::new(
            Code::InvalidField,
            "'content' of thread.renamed must be a string: the new name.",
        )),
    }
}

fn pass(content: &Value) -> ApiResult<Option<String>> {
    let NewPass { pass } = strict::read(content.as_object().ok_or_else(no_pass)?)?;
    Ok(match pass {
        Pass::On => None,
        Pass::To(name) => Some(name),
    })
}

impl Inbound for NewPass {
    fn missing(_: &str) -> ApiError {
        no_pass()
    }

    fn wrong(_: &str, _: &str, _: &str) -> ApiError {
        no_pass()
    }

    fn unknown(_: &str, _: &str, _: &[&str]) -> ApiError {
        no_pass()
    }
}

fn no_pass() -> ApiError {
    ApiError::new(Code::InvalidField, format!("{}.", NewPass::TAKES))
}

/// Returns the error for an event type that only the server creates. Names the request that has the
/// same effect, if there is one.
fn server_type(kind: &str) -> ApiError {
    let way = match kind {
        "thread.created" => " `POST /threads` creates a thread.",
        "thread.deleted" => " DELETE the thread itself.",
        "thread.archived" | "thread.unarchived" => " Send a control with `archive` or `unarchive`.",
        _ => "",
    };
    ApiError::new(
        Code::ServerType,
        format!("Only the server creates events of type '{kind}'.{way}"),
    )
}

/// Reads an event type of the client's own. Rejects the server's types.
fn own_kind(word: &str) -> ApiResult<OwnKind> {
    OwnKind::parse(word).map_err(|fault| match fault {
        KindFault::OfServer => server_type(word),
        KindFault::NoWord => {
            ApiError::new(Code::InvalidField, "'type' must be a word of 1 to 64 characters.")
        }
    })
}
