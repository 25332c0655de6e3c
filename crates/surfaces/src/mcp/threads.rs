//! The MCP tools for threads: their arguments and their answers.

use std::ops::Range;
use std::time::Duration;

use moothall_engine::door::{self, Action, Door, ReaderItem, strangers, unasked_name};
use moothall_engine::hall::{ConversationDraft, Idempotency};
use moothall_engine::ports::{ListFilter, ListedStream};
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::{Event, RecordedEvent};
use moothall_kernel::ids::{Seq, StreamId};
use moothall_kernel::view::Viewer;
use serde_json::Value;

use super::sessions::actor;
use super::value;
use crate::ask::{non_empty, required};
use crate::control;
use crate::error::{ApiError, ApiResult, Code};
use crate::explain;
use crate::held_answers;
use crate::http::{find_messages, policy_of};
use crate::next_steps::Reader;
use crate::rates::Rates;
use crate::request::{not_a_person, stream_id};
use crate::submit::submit;
use crate::wire::arguments::{Invite, ListThreads, ReadThread, Search};
use crate::wire::{
    MessageSent, NewControl, NewInvite, SearchAnswer, ToolInvited, ToolMessage, ToolMessages,
    ToolReasons, ToolThread, ToolThreadBegun, ToolThreads, TurnEntry, UnaskedMessage, WireProfile,
};

/// Maximum number of seconds that a call waits for a message. Clients give up on a call after a
/// minute.
const WAIT_SECONDS_MAX: u64 = 50;
/// Default and maximum number of entries per page.
const LIMIT: usize = 50;
const LIMIT_MAX: usize = 200;
/// Default and maximum number of search hits per page.
const HITS: usize = 20;
const HITS_MAX: usize = 100;
/// Maximum number of characters in a page of messages: a reasonable size for a model.
const CHARS_MAX: usize = 48_000;

/// Finds the thread for a word, within reach of the action: by id, by title, or as the home of a
/// session. Returns an error if several threads have the title.
pub(super) async fn thread(door: &Door, action: Action, word: &str) -> ApiResult<StreamId> {
    if let Some(id) = stream_id(word)
        && door.find(action, &id).await.is_ok()
    {
        return Ok(id);
    }
    let named = door.titled(action, word).await?;
    match named.as_slice() {
        [one] => Ok(one.stream.clone()),
        [] => home(door, action, word).await,
        several => {
            let ids: Vec<_> = several.iter().map(|listed| listed.stream.to_string()).collect();
            let message = format!(
                "{} threads have this title; give the id of one: {}.",
                several.len(),
                ids.join(", ")
            );
            Err(ApiError::new(Code::ThreadNotFound, message))
        }
    }
}

/// Returns the home of a session, or [`Code::ThreadNotFound`] if it is out of reach.
async fn home(door: &Door, action: Action, word: &str) -> ApiResult<StreamId> {
    if let Ok(status) = door.resolve_session(word)
        && door.find(action, &status.session.id).await.is_ok()
    {
        return Ok(status.session.id);
    }
    let shown: String = word.chars().take(64).collect();
    let message = format!(
        "You cannot reach a thread {shown:?}; `GET /threads` lists those that you can reach, and \
         `GET /sessions` the sessions."
    );
    Err(ApiError::new(Code::ThreadNotFound, message))
}

/// Checks that an invitation has only the arguments of `place`, which is `thread`, `new_thread` or
/// `link`.
pub(super) fn only(asked: &Invite, place: &str) -> ApiResult<()> {
    let Invite { thread, session, client, participant, model, nickname, roles, .. } = asked;
    let Invite { new_thread, policy, link, title, max_exchanges_without_human, .. } = asked;
    let guest = [thread, session, client, participant, model, nickname];
    let given = [
        ("thread", guest.iter().any(|field| field.is_some()) || roles.is_some()),
        ("new_thread", new_thread.is_some() || policy.is_some()),
        ("link", link.is_some() || title.is_some() || max_exchanges_without_human.is_some()),
    ];
    if given.iter().all(|(name, given)| !given || *name == place) {
        return Ok(());
    }
    let message = "Give exactly one of 'thread', 'new_thread' and 'link', and only the arguments \
        of that one: 'policy' belongs to 'new_thread', 'title' and 'max_exchanges_without_human' \
        to 'link', the rest to 'thread'.";
    Err(ApiError::new(Code::InvalidField, message))
}

/// Begins a thread. Without a policy, the thread gets the plain one with the server's settings.
pub async fn begin(door: &Door, asked: Invite) -> ApiResult<ToolThreadBegun> {
    only(&asked, "new_thread")?;
    let Invite { new_thread, policy, from, .. } = asked;
    let by = actor(door, from.as_deref())?;
    let policy = policy_of(non_empty(policy).map(Value::String).as_ref(), &door.defaults())?;
    let name = required("new_thread", new_thread.unwrap_or_default())?;
    let answer = door.begin(ConversationDraft { name, policy, folder: None }, by, None).await?;
    let listed = door.find(Action::ReadThread, &answer.stream).await?;
    Ok(ToolThreadBegun {
        thread: answer.stream.to_string(),
        name: listed.catalog.title,
        policy: listed.catalog.policy,
    })
}

/// Returns the speaker in a thread: a session under the name of its invitation, and any other
/// caller under its own name. Rejects a caller that is not a session and has the name of a person.
async fn speaker(door: &Door, from: Option<&str>, stream: &StreamId) -> ApiResult<Actor> {
    let own = actor(door, from)?;
    let by =
        door.speaker_in(stream, own).await.map_err(|error| ApiError::at_door(error, stream))?;
    if door.caller().session().is_some() {
        return Ok(by);
    }
    let id = by.id.clone();
    let human = door.view(Action::Post, stream, move |state| state.is_human(&id)).await;
    if human.map_err(|error| ApiError::at_door(error, stream))? {
        Err(not_a_person())
    } else {
        Ok(by)
    }
}

/// Posts a message in the thread that `word` names. The answer lists all other participants as
/// recipients.
pub async fn say(
    door: &Door,
    rates: &Rates,
    from: Option<&str>,
    word: &str,
    text: &str,
    key: &(dyn Fn(&Actor) -> ApiResult<Option<Idempotency>> + Sync),
) -> ApiResult<MessageSent> {
    let stream = thread(door, Action::Post, word).await?;
    let by = speaker(door, from, &stream).await?;
    let key = key(&by)?;
    let me = by.id.clone();
    let permitted = door.permit(&stream, ClientCommand::Post(Post::new(by, text))).await?;
    rates.command(door.caller(), &permitted)?;
    let said =
        held_answers::post_outcome(door.submit(permitted, key).await, door.caller(), &stream)?;
    let Some(recorded) = said.event else {
        return Ok(MessageSent::held_back(&stream, reword_warnings(said.warnings)));
    };
    let others = door.view(Action::Post, &stream, move |state| {
        let others = state.participants().iter().filter(|one| one.id != me);
        others.map(|one| one.id.to_string()).collect()
    });
    let delivered_to = others.await.map_err(|error| ApiError::at_door(error, &stream))?;
    let stray = door.stray_name_read(&stream, &recorded).await;
    Ok(MessageSent {
        link_id: None,
        link_state: "none".into(),
        delivered_to,
        event: Some(recorded.id(&stream).to_string()),
        seq: Some(recorded.seq.0),
        thread: stream.to_string(),
        warnings: reword_warnings(
            said.warnings.into_iter().chain(stray).chain(unasked_name(&recorded)),
        ),
        away: None,
    })
}

/// Invites a session or an agent. An agent that is not in the registry is invited too, and the
/// answer warns that this agent has to connect by itself. An agent without an id gets the name of
/// its client.
pub async fn invite(door: &Door, rates: &Rates, asked: Invite) -> ApiResult<ToolInvited> {
    only(&asked, "thread")?;
    let Invite { thread: word, session, client, participant, .. } = asked;
    let Invite { model, nickname, roles, from, .. } = asked;
    let word = required("thread", word.unwrap_or_default())?;
    let stream = thread(door, Action::Post, &word).await?;
    let by = speaker(door, from.as_deref(), &stream).await?;
    let (session, client) = (non_empty(session), non_empty(client));
    let named = match (non_empty(participant), &session, &client) {
        (_, None, None) => {
            return Err(ApiError::new(
                Code::InvalidField,
                "Name the session or agent to invite as 'session' or 'client'.",
            ));
        }
        (Some(id), ..) => Some(id),
        (None, Some(_), _) => None,
        (None, None, Some(client)) => Some(client.clone()),
    };
    let model = if session.is_some() {
        model
    } else {
        Some(model.unwrap_or_else(|| model_of(door, client.as_deref())))
    };
    let profile = value(WireProfile { client, model, roles, nickname, session })?;
    let invite = NewInvite { participant_id: named, profile: Some(profile), reach: None };
    let command = control::of(
        door,
        &stream,
        by,
        NewControl { invite: Some(invite), ..NewControl::default() },
    )
    .await?;
    let answer = submit(door, rates, &stream, command, None).await?;
    let warnings = reword_warnings(answer.event.iter().flat_map(strangers));
    let event = answer.event.as_ref().map(|recorded| recorded.id(&stream).to_string());
    Ok(ToolInvited { thread: stream.to_string(), event, warnings })
}

/// Rewrites the next steps in warnings as tools.
fn reword_warnings(warnings: impl IntoIterator<Item = String>) -> Vec<String> {
    warnings.into_iter().map(|warning| Reader::Tools.reword(&warning)).collect()
}

/// Returns the registry's model for a client.
fn model_of(door: &Door, client: Option<&str>) -> String {
    let known = client.and_then(|client| door.registry().get(client)?.profile.model.clone());
    known.unwrap_or_else(|| "default".into())
}

/// Returns the open or the archived threads up to a limit, the most recently used first. Adds the
/// number of all of them (`count`).
pub async fn list(door: &Door, asked: ListThreads) -> ApiResult<ToolThreads> {
    let limit = limit(asked.limit, LIMIT, LIMIT_MAX)?;
    let archived = Some(asked.archived.unwrap_or_default());
    let filter = ListFilter { archived, ..ListFilter::of_conversations() };
    let mut threads = door.threads(filter).await?.streams;
    let count = threads.len();
    threads.sort_by_key(|listed| std::cmp::Reverse(listed.last_ts));
    threads.truncate(limit);
    Ok(ToolThreads { threads: threads.into_iter().map(entry).collect(), count })
}

fn entry(listed: ListedStream) -> ToolThread {
    ToolThread {
        id: listed.stream.to_string(),
        name: listed.catalog.title,
        updated_at: listed.last_ts.to_string(),
        head: listed.head.0,
        archived: listed.catalog.archived,
        policy: listed.catalog.policy,
    }
}

/// A page of messages while it is filled.
#[derive(Default)]
struct GrowingPage {
    messages: Vec<ToolMessage>,
    chars: usize,
    /// True if a message did not fit.
    full: bool,
}

impl GrowingPage {
    /// Adds a message, if it fits. The first message always fits, and is truncated if necessary.
    /// Ignores other events, and all messages after the first one that did not fit.
    fn take(&mut self, stream: &StreamId, recorded: &RecordedEvent, limit: usize) {
        let Event::Posted(posted) = &recorded.event else { return };
        if self.full {
            return;
        }
        let chars = posted.body.chars().count();
        if self.messages.len() >= limit
            || (!self.messages.is_empty() && self.chars + chars > CHARS_MAX)
        {
            self.full = true;
            return;
        }
        let text: String = posted.body.chars().take(CHARS_MAX).collect();
        let ended = posted.ended.filter(|ended| ended.phrase().is_some());
        let message = ToolMessage {
            seq: recorded.seq.0,
            id: recorded.id(stream).to_string(),
            ts: recorded.ts.to_string(),
            from: posted.from.to_string(),
            text,
            truncated: chars > CHARS_MAX,
            unproven: posted.unproven,
            typed_at: posted.typed_at.as_ref().map(ToString::to_string),
            ended: ended.map(|ended| ended.to_string()),
            stopped: posted.stopped,
            thought: posted.thought,
        };
        self.chars += chars.min(CHARS_MAX);
        self.messages.push(message);
    }
}

/// Returns a page of the messages in a thread that the caller may see. With `wait_seconds`, first
/// waits for a message.
pub async fn read(door: &Door, asked: ReadThread) -> ApiResult<ToolMessages> {
    let ReadThread { thread: word, mut after, limit: most, wait_seconds, .. } = asked;
    let stream = thread(door, Action::ReadThread, &required("thread", word)?).await?;
    let limit = limit(most, LIMIT, LIMIT_MAX)?;
    if let Some(seconds) = wait_seconds {
        after = Some(wait(door, &stream, after, seconds).await?);
    }
    let viewer =
        door.own_sight(&stream).await.map_err(|error| ApiError::at_door(error, &stream))?;
    let listed = door.find(Action::ReadThread, &stream).await?;
    let page = match after {
        Some(after) if Seq(after) > listed.head => {
            return Err(ApiError::no_position(listed.head).in_thread(&stream));
        }
        Some(after) => forward(door, &stream, &viewer, Seq(after)..listed.head, limit).await?,
        None => newest(door, &stream, &viewer, listed.head, limit).await?,
    };
    Ok(ToolMessages {
        thread: stream.to_string(),
        name: listed.catalog.title,
        head: listed.head.0,
        more: page.full,
        messages: page.messages,
    })
}

/// Explains the turns that an event caused: the event at the position `why`, or, if that is 0 or
/// missing, the newest message of a person.
pub async fn reasons(door: &Door, asked: ReadThread) -> ApiResult<ToolReasons> {
    if asked.after.is_some() || asked.limit.is_some() || asked.wait_seconds.is_some() {
        let message = "'after', 'limit' and 'wait_seconds' are for messages: leave them out with \
            'why'.";
        return Err(ApiError::new(Code::InvalidField, message));
    }
    let action = Action::ListTurns;
    let stream = thread(door, action, &required("thread", asked.thread)?).await?;
    let viewer =
        door.own_sight(&stream).await.map_err(|error| ApiError::at_door(error, &stream))?;
    let newest = match asked.why.filter(|seq| *seq > 0) {
        Some(seq) => {
            let at = door.visible_event_at(action, &stream, &viewer, Seq(seq)).await?;
            Some(at.ok_or_else(|| explain::no_event().in_thread(&stream))?)
        }
        None => door.newest_of_people(action, &stream, &viewer).await?,
    };
    let mut reasons = ToolReasons {
        thread: stream.to_string(),
        message: newest.as_ref().map(ToString::to_string),
        turns: Vec::new(),
        unasked: Vec::new(),
    };
    if newest.is_some() {
        let explained =
            explain::explain(door, action, &stream, &viewer, newest, Reader::Tools).await?;
        let turns = explained.turns.into_iter().map(|record| TurnEntry::of(&stream, record));
        reasons.turns = turns.collect();
        reasons.unasked = explained.unasked.into_iter().map(UnaskedMessage::from).collect();
    }
    Ok(reasons)
}

/// Waits until a message that a guest may read follows a position, or until the time is over.
/// Without a position, waits for a new message. Returns the position.
async fn wait(door: &Door, stream: &StreamId, after: Option<u64>, seconds: u64) -> ApiResult<u64> {
    if seconds > WAIT_SECONDS_MAX {
        return Err(ApiError::new(
            Code::InvalidField,
            format!("'wait_seconds' must be a whole number from 0 to {WAIT_SECONDS_MAX}."),
        ));
    }
    let head = door.find(Action::ReadThread, stream).await?.head;
    let after = after.map_or(head, Seq);
    if after > head {
        return Err(ApiError::no_position(head).in_thread(stream));
    }
    // Follow as a guest: a reader with the caller's own view would mark the caller as connected.
    let mut reader = door.follow(stream, Viewer::Guest, after).await?;
    let said = tokio::time::timeout(Duration::from_secs(seconds), until_said(&mut reader));
    // A timeout is not an error: the caller then reads a page that may be empty.
    said.await.unwrap_or(Ok(()))?;
    Ok(after.0)
}

/// Reads the events of a thread until one of them is a posted message. Also returns if the reader
/// was too slow and missed some.
async fn until_said(reader: &mut door::Reader) -> ApiResult<()> {
    let is_said = |recorded: &RecordedEvent| matches!(recorded.event, Event::Posted(_));
    loop {
        match reader.next().await? {
            Some(ReaderItem::Page(events)) if events.iter().any(is_said) => return Ok(()),
            Some(ReaderItem::Batch(batch)) if batch.events().any(is_said) => return Ok(()),
            // The events that this reader missed are in the log, which `read` reads next.
            Some(ReaderItem::Lagged(_)) => return Ok(()),
            Some(
                ReaderItem::Page(_)
                | ReaderItem::Batch(_)
                | ReaderItem::Partial(_)
                | ReaderItem::Signal(_)
                | ReaderItem::Turn(_),
            ) => {}
            None => reader.listen().await,
        }
    }
}

/// Returns the first messages in a range that fit into a page, oldest first. The page is full if
/// more messages follow.
async fn forward(
    door: &Door,
    stream: &StreamId,
    viewer: &Viewer,
    range: Range<Seq>,
    limit: usize,
) -> ApiResult<GrowingPage> {
    let mut page = GrowingPage::default();
    let mut pages = door.pages(Action::ReadThread, stream, viewer.clone(), range);
    while !page.full
        && let Some(events) = pages.next().await?
    {
        for recorded in &events {
            page.take(stream, recorded, limit);
        }
    }
    Ok(page)
}

/// Returns the newest messages up to `head` that fit into a page, oldest first. The page is full if
/// there are older ones.
async fn newest(
    door: &Door,
    stream: &StreamId,
    viewer: &Viewer,
    head: Seq,
    limit: usize,
) -> ApiResult<GrowingPage> {
    let mut page = GrowingPage::default();
    let mut messages = door.messages(Action::ReadThread, stream, viewer, head.next());
    // A message beyond the limit shows that there are more.
    while !page.full
        && let Some(earlier) = messages.next(limit + 1).await?
    {
        for recorded in &earlier {
            page.take(stream, recorded, limit);
        }
    }
    page.messages.reverse();
    Ok(page)
}

/// Searches the messages of all threads within the caller's reach.
pub async fn search(door: &Door, asked: Search) -> ApiResult<SearchAnswer> {
    find_messages(
        door,
        &required("query", asked.query)?,
        &door.sight()?,
        limit(asked.limit, HITS, HITS_MAX)?,
        None,
    )
    .await
}

/// Returns the requested limit, or the default. Rejects a limit outside of 1 to `most`.
fn limit(given: Option<u64>, usual: usize, most: usize) -> ApiResult<usize> {
    let Some(number) = given else { return Ok(usual) };
    let limit = usize::try_from(number).ok().filter(|limit| (1..=most).contains(limit));
    limit.ok_or_else(|| {
        ApiError::new(
            Code::InvalidField,
            format!("'limit' must be a whole number from 1 to {most}."),
        )
    })
}
