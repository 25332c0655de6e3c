//! What sessions and people send to a session, and what can be read of it.

use moothall_engine::answers::Idempotency;
use moothall_engine::outbox::{Owed, StreamCommand};
use moothall_engine::sessions::{
    Asker, Excerpt, Eyes, Line, Link, LinkState, Member, Message, NewLink, Sent, Session, SessionData, SessionError, SessionId, is_session,
    target,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::{Event, Recorded, To};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};

use crate::directory::Sessions;
use crate::faults::log_error;

/// Characters given when nothing else is asked for.
const TAIL_CHARS: usize = 2_000;
/// Most characters given at once.
const TAIL_CHARS_MAX: usize = 48_000;
/// Deliveries looked through for the conversations of a session.
const DELIVERIES_MAX: usize = 200;
/// Newest events of each conversation looked through.
const EVENTS_MAX: u64 = 1_000;

impl Sessions {
    /// Sends words to a session: at its home, or over a link of the two.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was said then.
    pub async fn send(&self, message: Message) -> Result<Sent, SessionError> {
        self.send_once(message, None).await
    }

    /// The same; the words are said once for a key.
    ///
    /// # Errors
    /// [`SessionError`]; nothing was said then.
    pub async fn send_once(&self, message: Message, key: Option<Idempotency>) -> Result<Sent, SessionError> {
        let to = self.living(&message.to)?.session();
        if message.text.trim().is_empty() && !message.close_link {
            return Err(SessionError::Invalid("A message needs some words.".into()));
        }
        match (message.close_link, message.direct) {
            (true, _) => self.close_between(message, &to, key).await,
            (false, true) => self.send_direct(message, key).await,
            (false, false) => self.send_home(message, &to, key).await,
        }
    }

    /// A link of the two: whatever either says at the end of a turn reaches the other from now on.
    async fn send_direct(&self, message: Message, key: Option<Idempotency>) -> Result<Sent, SessionError> {
        let Asker::Session(caller) = &message.from else {
            let why =
                "Only a session can talk over a link of its own; call this with the session's token, or link the two sessions yourself.";
            return Err(SessionError::Invalid(why.into()));
        };
        let members = [(caller, 1), (&message.to, 2)].map(|(session, number)| Member {
            session: session.clone(),
            computer: String::new(),
            name: None,
            number: Some(number),
            role: None,
        });
        let new = NewLink { members: members.into(), title: None, by: message.from.clone() };
        let (link, state) = self.link(new).await?;
        self.unlisten(&message.to, caller).await?;
        let seq = self.say_in(&link.id, caller, &message.text, key).await?;
        Ok(Sent { stream: link.id.clone(), seq, delivered_to: others(&link, caller), link: Some(link.id), state })
    }

    /// A member's words in its link.
    async fn say_in(&self, link: &StreamId, member: &SessionId, text: &str, key: Option<Idempotency>) -> Result<Option<Seq>, SessionError> {
        let own = self.member_id(link, member).await?.ok_or(SessionError::NoLink)?;
        let post = Post::new(Actor::named(own), text);
        let answer = self.hall()?.submit(link, ClientCommand::Post(post), key).await?;
        Ok(answer.event.map(|event| event.seq))
    }

    /// Ends the link of the two, after the words, if there are any.
    async fn close_between(&self, message: Message, to: &Session, key: Option<Idempotency>) -> Result<Sent, SessionError> {
        let caller = match &message.from {
            Asker::Session(id) => Some(id),
            Asker::Actor(_) => None,
        };
        let of_both = |link: &Link| caller.is_none_or(|caller| link.members.iter().any(|member| member.session == *caller));
        let links: Vec<Link> = self.links(Some(&to.id)).await?.into_iter().filter(of_both).collect();
        let Some(link) = links.iter().min_by_key(|link| link.members.len()) else {
            return Ok(Sent { stream: to.id.clone(), seq: None, link: None, state: LinkState::None, delivered_to: Vec::new() });
        };
        let mut seq = None;
        if let Some(caller) = caller.filter(|_| !message.text.trim().is_empty()) {
            seq = self.say_in(&link.id, caller, &message.text, key).await?;
        }
        self.close_link(&link.id, &message.from).await?;
        Ok(Sent { stream: link.id.clone(), seq, link: Some(link.id.clone()), state: LinkState::Closed, delivered_to: Vec::new() })
    }

    /// Words at its home. A session that sends them hears when the turn is finished.
    async fn send_home(&self, message: Message, to: &Session, key: Option<Idempotency>) -> Result<Sent, SessionError> {
        let by = self.actor(&message.from)?;
        if let Asker::Session(caller) = &message.from {
            if *caller == to.id {
                return Err(SessionError::Invalid("A session cannot send a message to itself.".into()));
            }
            self.hall()?.store().sessions.listen(&to.id, caller).await.map_err(log_error)?;
        }
        let post = Post { to: To::One(to.name.clone()), ..Post::new(by, message.text) };
        let answer = self.hall()?.submit(&to.id, ClientCommand::Post(post), key).await?;
        let seq = answer.event.map(|event| event.seq);
        Ok(Sent { stream: to.id.clone(), seq, link: None, state: LinkState::None, delivered_to: vec![to.id.clone()] })
    }

    async fn unlisten(&self, target: &SessionId, caller: &SessionId) -> Result<(), SessionError> {
        self.hall()?.store().sessions.unlisten(target, caller).await.map_err(log_error)
    }

    /// Tells whoever waits for it that a session finished its turn: once for each message, and not those who hear it over a link.
    pub(super) async fn tell_listeners(&self, session: &Session, id: &str) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let book = &hall.store().sessions;
        let linked: Vec<SessionId> = self.links(Some(&session.id)).await?.iter().flat_map(|link| others(link, &session.id)).collect();
        let callers = book.listeners(&session.id).await.map_err(log_error)?;
        let living = callers.iter().filter(|caller| !linked.contains(caller)).filter_map(|caller| self.living(caller).ok());
        let owed: Vec<Owed> = living.map(|seat| finished(session, &seat.session())).collect();
        if !owed.is_empty() {
            let key = blake3::hash(format!("{id}/finished").as_bytes()).to_hex().to_string();
            let once = Idempotency { principal: "moothall:hook".into(), key, fingerprint: String::new() };
            hall.owe(&session.id, owed, once).await?;
        }
        for caller in callers {
            book.unlisten(&session.id, &caller).await.map_err(log_error)?;
        }
        Ok(())
    }

    /// Nobody waits for a session that is over, and it waits for nobody.
    pub(super) async fn forget_listeners(&self, session: &SessionId) -> Result<(), SessionError> {
        let hall = self.hall()?;
        let book = &hall.store().sessions;
        let forget = async |target: &SessionId, caller: &SessionId| book.unlisten(target, caller).await;
        for caller in book.listeners(session).await.map_err(log_error)? {
            forget(session, &caller).await.map_err(log_error)?;
        }
        for status in self.list(false) {
            forget(&status.session.id, session).await.map_err(log_error)?;
        }
        Ok(())
    }

    /// What a session was asked and said, wherever whoever looks reaches; and at its home what they said there, and the answers.
    ///
    /// # Errors
    /// [`SessionError`] when it does not exist or cannot be read.
    pub async fn data(&self, id: &SessionId, excerpt: Excerpt, eyes: &Eyes) -> Result<SessionData, SessionError> {
        let status = self.find(id.as_str())?;
        let mut lines = Vec::new();
        for stream in self.conversations(id).await? {
            if eyes.reach.includes(&stream) {
                lines.extend(self.lines_in(&stream, id, None).await?);
            } else if stream == *id
                && let Some(name) = &eyes.name
            {
                lines.extend(self.lines_in(&stream, id, Some(name)).await?);
            }
        }
        lines.sort_by(|a, b| (a.ts, &a.stream).cmp(&(b.ts, &b.stream)));
        let within = |line: &Line| excerpt.since.is_none_or(|since| line.ts >= since) && excerpt.until.is_none_or(|until| line.ts <= until);
        lines.retain(within);
        let whole: Vec<String> = lines.iter().map(|line| format!("[{}] {}:\n\n{}\n", line.ts, line.from, line.text)).collect();
        let whole = whole.join("\n");
        let tail_chars = match excerpt.tail_chars {
            None => TAIL_CHARS,
            Some(0) => TAIL_CHARS_MAX,
            Some(chars) => chars.min(TAIL_CHARS_MAX),
        };
        let cut = whole.chars().count().saturating_sub(tail_chars);
        let text = whole.chars().skip(cut).collect();
        Ok(SessionData { status, lines, text, truncated: cut > 0, tail_chars })
    }

    /// Where a session was prompted: its home, and whatever its deliveries came from.
    async fn conversations(&self, id: &SessionId) -> Result<Vec<StreamId>, SessionError> {
        let hall = self.hall()?;
        let mut streams = vec![id.clone()];
        for delivery in hall.store().outbox.of_target(&target(id), DELIVERIES_MAX).await.map_err(log_error)? {
            if !streams.contains(&delivery.stream) {
                streams.push(delivery.stream);
            }
        }
        Ok(streams)
    }

    /// The session's own words in a conversation, and those that it answered; only those of it and one other, where one is named.
    async fn lines_in(&self, stream: &StreamId, id: &SessionId, with: Option<&ParticipantId>) -> Result<Vec<Line>, SessionError> {
        let hall = self.hall()?;
        let head = match hall.store().log.find(stream).await.map_err(log_error)? {
            Some(listed) => listed.head,
            None => return Ok(Vec::new()),
        };
        let session = id.clone();
        let home = stream == id;
        let name = self.find(id.as_str())?.session.name;
        let own = hall.view(stream, move |state: &Conversation| own_name(state, &session)).await?.unwrap_or(name);
        let events = hall.read(stream, Seq(head.0.saturating_sub(EVENTS_MAX)), None).await?.events;
        let answered: Vec<Seq> = events.iter().filter_map(|event| answers(event, &own)).collect();
        let asked = |seq: Seq, by: &ParticipantId| events.iter().any(|event| event.seq == seq && is_by(event, by));
        let told = |recorded: &Recorded| match &recorded.event {
            Event::Posted(posted) => {
                let wanted = match with {
                    None => home || posted.from == own || answered.contains(&recorded.seq),
                    Some(with) => posted.from == *with || answers(recorded, &own).is_some_and(|cause| asked(cause, with)),
                };
                (wanted && !recorded.event.is_erased()).then(|| Line {
                    ts: recorded.ts,
                    stream: stream.clone(),
                    from: posted.from.clone(),
                    text: posted.body.clone(),
                })
            }
            _ => None,
        };
        Ok(events.iter().filter_map(told).collect())
    }
}

/// What tells one session, at its home, that another finished its turn.
fn finished(session: &Session, caller: &Session) -> Owed {
    // The whole id twice: sessions that were started within a minute begin alike.
    let Session { id, name, .. } = session;
    let text = format!("Session {id} \"{name}\" finished its turn. Use get_session_data(session_id=\"{id}\") to read what it said.");
    let (from, to) = (session.name.clone(), caller.name.clone());
    Owed::to_stream(&caller.id, &StreamCommand::Tell { from, to, text })
}

fn own_name(state: &Conversation, session: &SessionId) -> Option<ParticipantId> {
    state.participants().iter().find(|participant| is_session(participant, session)).map(|participant| participant.id.clone())
}

/// Which event the words of a participant answer.
fn answers(recorded: &Recorded, own: &ParticipantId) -> Option<Seq> {
    match &recorded.event {
        Event::Posted(posted) if posted.from == *own => posted.reply_to.as_ref().map(|cause| cause.seq),
        _ => None,
    }
}

fn is_by(recorded: &Recorded, by: &ParticipantId) -> bool {
    matches!(&recorded.event, Event::Posted(posted) if posted.from == *by)
}

/// The other members of a link.
fn others(link: &Link, session: &SessionId) -> Vec<SessionId> {
    link.members.iter().map(|member| member.session.clone()).filter(|member| member != session).collect()
}
