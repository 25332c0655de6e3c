//! Messages to a session, and the reading of a session's words.

use std::collections::{BTreeMap, BTreeSet};

use moothall_engine::answers::{HallError, Idempotency};
use moothall_engine::ports::{DeliveryState, LogError};
use moothall_engine::sessions::{
    Asker, Excerpt, Link, LinkState, Member, Message, MessageReader, NewLink, SendResult, Session,
    SessionData, SessionError, SessionId, SessionLine, is_session, target,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::{Event, Recipient, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::text::is_empty_looking;
use moothall_kernel::time::Timestamp;

use crate::directory::Sessions;
use crate::faults::log_error;

/// Default number of characters returned.
const TAIL_CHARS: usize = 2_000;
/// Maximum number of characters returned.
const TAIL_CHARS_MAX: usize = 48_000;
/// Number of deliveries searched for the conversations of a session.
const DELIVERIES_MAX: usize = 200;
/// Number of messages per page.
const MESSAGES_PAGE: usize = 500;
/// Maximum number of messages searched in each conversation, newest first.
const MESSAGES_MAX: usize = 5_000;

/// The outcome of words in a conversation.
#[derive(Default)]
pub(crate) struct PostOutcome {
    /// The position of the words; unset if they were held back.
    pub(crate) seq: Option<Seq>,
    /// `held` or `stopped`, if the words were held back.
    pub(crate) held: Option<&'static str>,
}

impl Sessions {
    /// Sends words to a session, at its home or over a link with the sender.
    ///
    /// # Errors
    /// As for [`Sessions::send_once`].
    pub async fn send(&self, message: Message) -> Result<SendResult, SessionError> {
        self.send_once(message, None).await
    }

    /// Sends words to a session, at most once per key.
    ///
    /// # Errors
    /// [`SessionError`]. No words were posted then, unless only the closing of the link failed. A
    /// link that was made for the words stays.
    pub async fn send_once(
        &self,
        message: Message,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError> {
        let to = self.living(&message.to)?.session();
        if is_empty_looking(&message.text) && !message.close_link {
            return Err(SessionError::Invalid("A message needs some visible text.".into()));
        }
        match (message.close_link, message.direct) {
            (true, _) => self.close_between(message, &to, key).await,
            (false, true) => self.send_direct(message, key).await,
            (false, false) => self.send_home(message, &to, key).await,
        }
    }

    /// Sends words over a link of the two sessions, which is made if needed. Each then gets the
    /// other's words at the end of a turn.
    async fn send_direct(
        &self,
        message: Message,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError> {
        let Asker::Session(caller) = &message.from else {
            let why = "Only a session can send over its own link. Call this with the session's \
                       token, or link the two sessions yourself.";
            return Err(SessionError::Invalid(why.into()));
        };
        let members = [(caller, 1), (&message.to, 2)].map(|(session, number)| Member {
            session: session.clone(),
            computer: String::new(),
            name: None,
            number: Some(number),
            role: None,
        });
        let new = NewLink {
            members: members.into(),
            elsewhere: Vec::new(),
            title: None,
            by: message.from.clone(),
            exchanges_max: None,
        };
        let (link, state) = self.link(new).await?;
        // The answer comes over the link, so an earlier wait would only bring a needless notice.
        self.unlisten(&message.to, caller).await?;
        let said = self.say_in(&link.id, &message.from, &message.text, key).await?;
        let recipients =
            if said.held.is_none() { self.recipients(&link, caller) } else { Vec::new() };
        Ok(SendResult {
            stream: link.id.clone(),
            seq: said.seq,
            delivered_to: recipients,
            link: Some(link.id),
            state,
            held: said.held,
        })
    }

    /// Posts words in a link, as a member or as a person.
    pub(crate) async fn say_in(
        &self,
        link: &StreamId,
        from: &Asker,
        text: &str,
        key: Option<Idempotency>,
    ) -> Result<PostOutcome, SessionError> {
        let by = match from {
            Asker::Session(member) => {
                Actor::named(self.member_id(link, member).await?.ok_or(SessionError::NoLink)?)
            }
            Asker::Actor(actor) => actor.clone(),
        };
        let post = Post::new(by, text);
        self.post(link, post, key).await
    }

    /// Posts words. Words that a guard or a Stop holds back are in the trace, and the outcome has
    /// the reason.
    async fn post(
        &self,
        stream: &StreamId,
        post: Post,
        key: Option<Idempotency>,
    ) -> Result<PostOutcome, SessionError> {
        match self.hall()?.submit(stream, ClientCommand::Post(post), key).await {
            Ok(answer) => {
                let held = answer.event.as_ref().and_then(|said| said.event.held_back());
                let seq = answer.event.filter(|_| held.is_none()).map(|said| said.seq);
                Ok(PostOutcome { seq, held })
            }
            Err(HallError::Rejected(refused)) if refused.is_held_back() => {
                Ok(PostOutcome { seq: None, held: Some(refused.code) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Closes the smallest link of the two, or of the receiver if the sender is not a session. The
    /// words, if there are any, are posted there first. Without such a link, nothing is posted.
    async fn close_between(
        &self,
        message: Message,
        to: &Session,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError> {
        let caller = match &message.from {
            Asker::Session(id) => Some(id),
            Asker::Actor(_) => None,
        };
        let of_both = |link: &Link| {
            caller.is_none_or(|caller| link.members.iter().any(|member| member.session == *caller))
        };
        let links: Vec<Link> =
            self.links(Some(&to.id)).await?.into_iter().filter(of_both).collect();
        let Some(link) = links.iter().min_by_key(|link| link.members.len()) else {
            return Ok(SendResult {
                stream: to.id.clone(),
                seq: None,
                link: None,
                state: LinkState::None,
                delivered_to: Vec::new(),
                held: None,
            });
        };
        let (mut said, mut delivered_to) = (PostOutcome::default(), Vec::new());
        if !is_empty_looking(&message.text) {
            said = self.say_in(&link.id, &message.from, &message.text, key).await?;
            let is_recipient = |member: &SessionId| said.held.is_none() && caller != Some(member);
            delivered_to.extend(
                link.members.iter().map(|member| member.session.clone()).filter(is_recipient),
            );
        }
        self.close_link(&link.id, &message.from).await?;
        Ok(SendResult {
            stream: link.id.clone(),
            seq: said.seq,
            link: Some(link.id.clone()),
            state: LinkState::Closed,
            delivered_to,
            held: said.held,
        })
    }

    /// Posts words at the receiver's home. A sending session is notified when the turn ends.
    async fn send_home(
        &self,
        message: Message,
        to: &Session,
        key: Option<Idempotency>,
    ) -> Result<SendResult, SessionError> {
        let by = self.actor(&message.from)?;
        let mut waits_since_now = None;
        if let Asker::Session(caller) = &message.from {
            if *caller == to.id {
                return Err(SessionError::Invalid(
                    "A session cannot send a message to itself.".into(),
                ));
            }
            // Before the post: the turn may end before the post returns.
            if self.listen(&to.id, caller).await? {
                waits_since_now = Some(caller.clone());
            }
        }
        let post = Post { to: Recipient::One(to.name.clone()), ..Post::new(by, message.text) };
        let said = self.post(&to.id, post, key).await;
        // Words that do not arrive get no answer. An earlier wait for that session goes on.
        if said.as_ref().map_or(true, |said| said.held.is_some())
            && let Some(caller) = waits_since_now
        {
            self.unlisten(&to.id, &caller).await?;
        }
        let said = said?;
        let recipients = if said.held.is_none() { vec![to.id.clone()] } else { Vec::new() };
        Ok(SendResult {
            stream: to.id.clone(),
            seq: said.seq,
            link: None,
            state: LinkState::None,
            delivered_to: recipients,
            held: said.held,
        })
    }

    /// Returns the messages to a session and the session's own words, from the conversations that
    /// the reader reaches. At a home out of reach, returns only the reader's own words and the
    /// answers to them.
    ///
    /// # Errors
    /// [`SessionError`] if the session does not exist or cannot be read.
    pub async fn data(
        &self,
        id: &SessionId,
        excerpt: Excerpt,
        eyes: &MessageReader,
    ) -> Result<SessionData, SessionError> {
        let status = self.find(id.as_str())?;
        let mut lines = Vec::new();
        for (stream, taken) in self.conversations(id).await? {
            let with = match eyes.reach.includes(&stream) {
                true => None,
                false if stream == *id && eyes.name.is_some() => Some(eyes),
                false => continue,
            };
            lines.extend(self.lines_in(&stream, taken, id, with, excerpt.since).await?);
        }
        lines.sort_by(|a, b| (a.ts, &a.stream).cmp(&(b.ts, &b.stream)));
        let within = |line: &SessionLine| {
            excerpt.since.is_none_or(|since| line.ts >= since)
                && excerpt.until.is_none_or(|until| line.ts <= until)
        };
        lines.retain(within);
        let whole: Vec<String> = lines
            .iter()
            .map(|line| format!("[{}] {}:\n\n{}\n", line.ts, line.from, line.text))
            .collect();
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

    /// Returns the home of a session and the conversations of its newest deliveries, each with the
    /// position of the newest message that the session took there, or 0.
    async fn conversations(&self, id: &SessionId) -> Result<BTreeMap<StreamId, Seq>, SessionError> {
        let hall = self.hall()?;
        let mut streams = BTreeMap::from([(id.clone(), Seq(0))]);
        for delivery in hall
            .store()
            .outbox
            .of_target(&target(id), None, DELIVERIES_MAX)
            .await
            .map_err(log_error)?
        {
            let taken = match delivery.state {
                DeliveryState::Accepted | DeliveryState::Done => delivery.through_seq,
                DeliveryState::Pending
                | DeliveryState::Sending
                | DeliveryState::Sent
                | DeliveryState::Failed
                | DeliveryState::Unknown => Seq(0),
            };
            let known = streams.entry(delivery.stream).or_default();
            *known = taken.max(*known);
        }
        Ok(streams)
    }

    /// Returns the session's words in a conversation and the messages it answered. In a link, adds
    /// all messages that the session took; at its home, all messages. With `with`, returns only the
    /// reader's words and the session's answers to them.
    async fn lines_in(
        &self,
        stream: &StreamId,
        taken: Seq,
        id: &SessionId,
        with: Option<&MessageReader>,
        since: Option<Timestamp>,
    ) -> Result<Vec<SessionLine>, SessionError> {
        let hall = self.hall()?;
        match hall.store().log.find(stream).await {
            Ok(Some(_)) => {}
            Ok(None) | Err(LogError::Deleted(_)) => return Ok(Vec::new()),
            Err(error) => return Err(log_error(error)),
        }
        let (session, name) = (id.clone(), self.find(id.as_str())?.session.name);
        let seen = hall
            .view(stream, move |state: &Conversation| (own_name(state, &session), state.is_link()))
            .await?;
        let taken = match (stream == id, seen.1) {
            (true, _) => Seq(u64::MAX),
            (false, true) => taken,
            (false, false) => Seq(0),
        };
        let looker = LinkReader { own: seen.0.unwrap_or(name), taken, with };
        let (mut messages, mut before) = (Vec::new(), Seq(u64::MAX));
        loop {
            let page = hall
                .store()
                .log
                .messages_before(stream, before, MESSAGES_PAGE)
                .await
                .map_err(log_error)?;
            let reached =
                page.last().is_none_or(|oldest| since.is_some_and(|since| oldest.ts < since));
            before = page.last().map_or(before, |oldest| oldest.seq);
            messages.extend(page);
            // Selected anew from all pages: a message and the reply to it may be pages apart.
            let lines = looker.lines(stream, &messages);
            let chars: usize = lines.iter().map(|line| line.text.chars().count()).sum();
            if reached || chars >= TAIL_CHARS_MAX || messages.len() >= MESSAGES_MAX {
                return Ok(lines);
            }
        }
    }
}

/// A view of a conversation's messages.
struct LinkReader<'a> {
    /// The session's name in the conversation.
    own: ParticipantId,
    /// The last position that the session took.
    taken: Seq,
    /// The only other speaker to include, if set.
    with: Option<&'a MessageReader>,
}

impl LinkReader<'_> {
    /// Returns the wanted lines of messages that were read backwards, oldest first.
    fn lines(&self, stream: &StreamId, messages: &[RecordedEvent]) -> Vec<SessionLine> {
        let answered: BTreeSet<Seq> =
            messages.iter().filter_map(|message| answers(message, &self.own)).collect();
        let asked: BTreeSet<Seq> = match self.with {
            Some(with) => messages
                .iter()
                .filter(|message| is_of_reader(message, with))
                .map(|message| message.seq)
                .collect(),
            None => BTreeSet::new(),
        };
        let wanted = |message: &&RecordedEvent| match self.with {
            None => {
                message.seq <= self.taken
                    || is_by(message, &self.own)
                    || answered.contains(&message.seq)
            }
            Some(with) => {
                is_of_reader(message, with)
                    || answers(message, &self.own).is_some_and(|cause| asked.contains(&cause))
            }
        };
        messages.iter().rev().filter(wanted).filter_map(|message| line(stream, message)).collect()
    }
}

/// Returns a message as a line; `None` for other events and for erased words.
fn line(stream: &StreamId, message: &RecordedEvent) -> Option<SessionLine> {
    let Event::Posted(posted) = &message.event else { return None };
    let (from, text) = (posted.from.clone(), posted.body.clone());
    (!message.event.is_erased()).then(|| SessionLine {
        ts: message.ts,
        stream: stream.clone(),
        from,
        text,
    })
}

fn own_name(state: &Conversation, session: &SessionId) -> Option<ParticipantId> {
    state
        .participants()
        .iter()
        .find(|participant| is_session(participant, session))
        .map(|participant| participant.id.clone())
}

/// Returns the position that a participant's message answers.
fn answers(recorded: &RecordedEvent, own: &ParticipantId) -> Option<Seq> {
    match &recorded.event {
        Event::Posted(posted) if posted.from == *own => {
            posted.reply_to.as_ref().map(|cause| cause.seq)
        }
        _ => None,
    }
}

fn is_by(recorded: &RecordedEvent, by: &ParticipantId) -> bool {
    matches!(&recorded.event, Event::Posted(posted) if posted.from == *by)
}

/// Returns the other members of a link.
pub(crate) fn others(link: &Link, session: &SessionId) -> Vec<SessionId> {
    link.members
        .iter()
        .map(|member| member.session.clone())
        .filter(|member| member != session)
        .collect()
}

/// True if the reader said the words, on its own computer.
fn is_of_reader(recorded: &RecordedEvent, reader: &MessageReader) -> bool {
    let Event::Posted(posted) = &recorded.event else { return false };
    let computer = posted.far.as_ref().map(|far| &far.computer);
    reader.name.as_ref() == Some(&posted.from) && computer == reader.computer.as_ref()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use moothall_engine::access::Reach;
    use moothall_kernel::event::Cause;
    use moothall_kernel::ids::EventId;

    use super::*;

    fn said(seq: u64, from: &str, answers: Option<u64>) -> RecordedEvent {
        let ts = Timestamp::from_millis(seq as i64);
        let id = |seq| EventId::of(&"s".into(), Seq(seq), ts);
        let cause = |seq| Cause {
            seq: Seq(seq),
            id: id(seq),
            from: "user".into(),
            depth: 0,
            unproven: false,
        };
        let reply_to = answers.map(cause);
        let posted = serde_json::json!({"posted": {"from": from, "kind": "agent", "to": "all", "depth": 0, "reply_to": reply_to}});
        let event: Event = serde_json::from_value(posted).unwrap();
        RecordedEvent { seq: Seq(seq), ts, event: event.with_body(format!("{from} {seq}")) }
    }

    fn lines(taken: u64, with: Option<&str>, messages: &[RecordedEvent]) -> Vec<String> {
        let reader = |name: &str| MessageReader {
            name: Some(name.into()),
            computer: None,
            reach: Reach::Only(<_>::default()),
        };
        let with = with.map(reader);
        lines_for(taken, with.as_ref(), messages)
    }

    fn lines_for(
        taken: u64,
        with: Option<&MessageReader>,
        messages: &[RecordedEvent],
    ) -> Vec<String> {
        let looker = LinkReader { own: "ann".into(), taken: Seq(taken), with };
        let newest_first: Vec<RecordedEvent> = messages.iter().rev().cloned().collect();
        looker.lines(&"s".into(), &newest_first).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn what_a_session_took_over_a_link_without_answering_is_there() {
        let messages = [
            said(3, "bob", None),
            said(5, "bob", None),
            said(7, "ann", Some(5)),
            said(9, "bob", None),
            said(11, "bob", None),
        ];
        assert_eq!(lines(9, None, &messages), ["bob 3", "bob 5", "ann 7", "bob 9"]);
        assert_eq!(
            lines(0, None, &messages),
            ["bob 5", "ann 7"],
            "in other conversations, what it answered"
        );
    }

    #[test]
    fn who_sees_only_their_own_part_of_a_home_sees_no_more() {
        let messages = [
            said(3, "bob", None),
            said(5, "eve", None),
            said(7, "ann", Some(5)),
            said(9, "ann", Some(3)),
        ];
        assert_eq!(lines(u64::MAX, Some("bob"), &messages), ["bob 3", "ann 9"]);
    }

    #[test]
    fn one_name_on_two_computers_means_two_readers() {
        let mut far = said(5, "bob.laptop", None);
        let Event::Posted(posted) = &mut far.event else { panic!("a message") };
        let origin = serde_json::json!({"computer": "2abc", "label": "laptop"});
        posted.far = Some(serde_json::from_value(origin).unwrap());
        let messages = [said(3, "bob.laptop", None), far, said(7, "ann", Some(5))];
        let reader = |computer: Option<&str>| MessageReader {
            name: Some("bob.laptop".into()),
            computer: computer.map(Into::into),
            reach: Reach::Only(<_>::default()),
        };
        let read = |computer| lines_for(0, Some(&reader(computer)), &messages);
        assert_eq!(read(None), ["bob.laptop 3"]);
        assert_eq!(read(Some("2abc")), ["bob.laptop 5", "ann 7"]);
        assert_eq!(read(Some("2def")), [""; 0]);
    }
}
