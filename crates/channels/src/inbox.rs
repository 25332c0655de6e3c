//! Words that arrive in chats: their author, their conversation, and the answer in the same chat.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use moothall_engine::access::{Access, AccessError, Caller, Scope};
use moothall_engine::hall::{ConversationDraft, Hall, HallError, Idempotency};
use moothall_kernel::chat::{Chat, OverheardWords, PostOrigin};
use moothall_kernel::command::{Actor, ClientCommand, Control, EngineCommand, Invite, Post};
use moothall_kernel::event::{Cause, Event, Recipient, RecordedEvent};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::slash;
use moothall_kernel::text;
use moothall_kernel::time::{Millis, Timestamp};
use tokio::time::Instant;

use crate::recent::Answers;

/// Number of chats in which dropped messages are counted.
const COUNTED_MAX: usize = 10_000;
/// Number of messages of people who are not paired that are stored in a chat within a minute.
/// (Ruling 44.)
const OVERHEARD_MAX: usize = 20;
const MINUTE: Millis = Millis::from_secs(60);

/// A chat that is to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct OpeningChat {
    /// The chat.
    pub chat: Chat,
    /// The title of its conversation.
    pub title: String,
    /// The key under which it is opened one time. It comes from the event in the chat that led to
    /// it.
    pub key: String,
}

/// Words that a paired person wrote in a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct InboundWords {
    /// The chat in which they were written.
    pub chat: Chat,
    /// The author's account, such as `telegram:4711`.
    pub account: String,
    /// The id of the message in the chat.
    pub message: String,
    /// The key under which the message enters one time, even if several bots saw it.
    pub key: String,
    /// The words. Names of bots are written as names of participants.
    pub text: String,
    /// The agent that the words are for, if their form says so.
    pub to: Option<ParticipantId>,
    /// The event that the words reply to, and its conversation.
    pub reply_to: Option<(StreamId, Seq)>,
}

/// The hall as channels use it: doors for paired people, and the few acts of the server itself.
pub struct Inbox {
    hall: Hall,
    access: Access,
    dropped: Mutex<BTreeMap<Chat, u64>>,
    /// The messages of the last minute that were stored in a chat, by their keys.
    overheard: Mutex<BTreeMap<Chat, VecDeque<(Timestamp, String)>>>,
    answers: Answers,
}

impl Inbox {
    /// Returns the inbox of a hall.
    pub fn new(hall: Hall, access: Access) -> Arc<Self> {
        let (dropped, overheard, answers) = <_>::default();
        Arc::new(Self { hall, access, dropped, overheard, answers })
    }

    /// Returns the hall.
    pub fn hall(&self) -> &Hall {
        &self.hall
    }

    /// Returns the access service, for pairings.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the person who paired an account; `None` if the account is not paired.
    ///
    /// # Errors
    /// [`HallError`] if the pairing cannot be looked up.
    pub async fn person(&self, account: &str) -> Result<Option<Caller>, HallError> {
        self.access.identify_account(account).await
    }

    /// Returns the conversation that is bound to a chat.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn bound(&self, chat: &Chat) -> Result<Option<StreamId>, HallError> {
        self.hall.bound_to(chat).await
    }

    /// True the first time for the key of a message. The caller then answers it.
    pub(crate) fn take(&self, key: &str) -> bool {
        self.answers.take(key)
    }

    /// Lets a message be answered again, because its answer could not be made.
    pub(crate) fn give_back(&self, key: &str) {
        self.answers.give_back(key);
    }

    /// True at most once a minute for a place, so that unpaired people get few answers there.
    pub(crate) fn may_answer_stranger(&self, place: &str) -> bool {
        self.answers.may_answer_stranger(place, Instant::now())
    }

    /// Counts a message of an unpaired person, which is dropped. If [`COUNTED_MAX`] chats are
    /// counted, messages in other chats are not, because unpaired people can open private chats at
    /// will.
    pub fn drop_words(&self, chat: &Chat) {
        let mut dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        if dropped.len() < COUNTED_MAX || dropped.contains_key(chat) {
            *dropped.entry(chat.clone()).or_default() += 1;
        }
    }

    /// Returns the number of messages of unpaired people that were dropped in a chat.
    pub fn dropped(&self, chat: &Chat) -> u64 {
        let dropped = self.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.get(chat).copied().unwrap_or_default()
    }

    /// Stores words of a person who is not paired in the conversation of their chat, one time for
    /// the key. Words above the limit of a minute, and words that the conversation refuses, are
    /// dropped and counted.
    ///
    /// # Errors
    /// [`HallError`] if they cannot be stored now.
    pub async fn overhear(
        &self,
        stream: &StreamId,
        words: OverheardWords,
        key: String,
    ) -> Result<(), HallError> {
        let chat = words.origin.chat.clone();
        if !self.may_overhear(&chat, &key) {
            self.drop_words(&chat);
            return Ok(());
        }
        let once = self.once(&chat, key, &words.body);
        let command = EngineCommand::Overhear(Box::new(words));
        let Some(hall) = self.hall.weak().enter() else { return Err(HallError::ShuttingDown) };
        match hall.submit(stream, command, Some(once)).await {
            Ok(_) | Err(HallError::KeyReused) => Ok(()),
            Err(HallError::Rejected(_) | HallError::Deleted(_)) => {
                self.drop_words(&chat);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// True if one more message may be stored in a chat. A message that several bots saw counts one
    /// time.
    fn may_overhear(&self, chat: &Chat, key: &str) -> bool {
        let now = self.hall.now();
        let mut all = self.overheard.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, kept| {
            kept.retain(|(at, _)| at.is_within(MINUTE, now));
            !kept.is_empty()
        });
        let kept = all.entry(chat.clone()).or_default();
        if kept.iter().any(|(_, known)| known == key) {
            return true;
        }
        let is_free = kept.len() < OVERHEARD_MAX;
        if is_free {
            kept.push_back((now, key.to_owned()));
        }
        is_free
    }

    /// Replaces the words of a paired person's earlier message, one time for the key. If agents
    /// took up that message already, the conversation gets a notice of the new words instead.
    /// Returns the position of the new message; `None` if none was posted. An edit without new
    /// words does nothing.
    ///
    /// # Errors
    /// [`AccessError`], as for [`Inbox::post`].
    pub async fn edit(
        &self,
        by: &Caller,
        stream: &StreamId,
        earlier: Seq,
        words: InboundWords,
    ) -> Result<Option<Seq>, AccessError> {
        let page = self.hall.read(stream, Seq(earlier.0.saturating_sub(1)), Some(1)).await?;
        let is_same = |recorded: &RecordedEvent| match &recorded.event {
            Event::Posted(posted) => posted.body == text::clean(&words.text),
            _ => true,
        };
        if page.events.first().is_none_or(is_same) {
            return Ok(None);
        }
        self.enter(by, stream, words, Some(earlier)).await
    }

    /// Returns the position of a message of a chat in a conversation, by the key under which the
    /// message entered; `None` if it did not enter, or entered more than a day ago.
    ///
    /// # Errors
    /// [`HallError`] if the log cannot be read.
    pub async fn place_of(
        &self,
        stream: &StreamId,
        chat: &Chat,
        key: &str,
    ) -> Result<Option<Seq>, HallError> {
        let event = self.hall.event_of_key(&self.once(chat, key.to_owned(), "")).await?;
        // The chat was perhaps bound to another conversation when the message entered.
        Ok(event.filter(|(of, _)| of == stream).map(|(_, seq)| seq))
    }

    /// Posts words of a paired person in the conversation of their chat, one time for the key.
    /// Returns the position of the message; `None` if it entered already under this key with other
    /// words.
    ///
    /// # Errors
    /// [`AccessError`], as for every other way to post.
    pub async fn post(
        &self,
        by: &Caller,
        stream: &StreamId,
        words: InboundWords,
    ) -> Result<Option<Seq>, AccessError> {
        self.enter(by, stream, words, None).await
    }

    /// Posts words, or replaces those of the event at `replaces`. Returns the position of the
    /// message, if one was posted.
    async fn enter(
        &self,
        by: &Caller,
        stream: &StreamId,
        words: InboundWords,
        replaces: Option<Seq>,
    ) -> Result<Option<Seq>, AccessError> {
        let door = self.hall.as_(by.clone());
        let InboundWords { chat, account, message, key, text, to, reply_to } = words;
        let actor = self.actor(by)?;
        // The chat was perhaps bound to another conversation before. A reply to a message of that
        // conversation has no event in this one.
        let reply_to = reply_to.filter(|(of, _)| of == stream).map(|(_, seq)| seq);
        let once = self.once(&chat, key, &text);
        let origin = PostOrigin { chat, identity: Some(account), message: Some(message) };
        let post = Post {
            to: to.map_or(Recipient::All, Recipient::One),
            reply_to: self.cause(stream, reply_to).await?,
            replaces: self.cause(stream, replaces).await?.map(Box::new),
            credential: by.token().map(ToString::to_string),
            origin: Some(Box::new(origin)),
            ..Post::new(actor, text)
        };
        let permitted = door.permit(stream, ClientCommand::Post(post)).await?;
        let answer = match door.submit(permitted, Some(once)).await {
            // The message entered already. Another bot saw it too, and spelled the names in it
            // differently.
            Err(HallError::KeyReused) => return Ok(None),
            answer => answer?,
        };
        // The answer to an edit that came too late is a notice and not a message.
        let posted = answer.event.filter(|one| matches!(one.event, Event::Posted(_)));
        Ok(posted.map(|recorded| recorded.seq))
    }

    /// Runs a line that begins with a slash, one time for the key, and returns the answer for the
    /// chat. The command is recorded before it runs.
    ///
    /// # Errors
    /// [`AccessError`], as for every other way to run a command.
    pub async fn command(
        &self,
        by: &Caller,
        stream: &StreamId,
        words: InboundWords,
    ) -> Result<String, AccessError> {
        let actor = self.actor(by)?;
        let once = self.once(&words.chat, words.key, &words.text);
        let record = format!("{} in {}", recorded_name(&words.text), words.chat.key());
        self.access.record_command(by, record).await?;
        self.hall.as_(by.clone()).run_line(stream, actor, &words.text, Some(once)).await
    }

    /// Opens a group with the agents whose bots are in it: begins a conversation under `hybrid`,
    /// and binds the chat to it. The right to open groups is enough to invite those agents. A
    /// repetition after a crash goes on with the same conversation.
    ///
    /// # Errors
    /// [`AccessError`] if the person may not open groups. The error deletes the conversation that
    /// was begun for the group, if no words are in it. After an error that passes, the conversation
    /// stays for the next attempt.
    pub async fn open(
        &self,
        by: &Caller,
        place: &OpeningChat,
        agents: &[String],
    ) -> Result<StreamId, AccessError> {
        by.must_prove(Scope::ThreadsAdmin)?;
        let opener = with_scopes(by, &[Scope::ParticipantsInvite]);
        self.begin(&opener, place, agents, PolicyName::GROUP).await
    }

    /// Opens a group with agents that a person names. Unlike [`Inbox::open`], this also needs the
    /// right to invite.
    ///
    /// # Errors
    /// [`AccessError`], as for [`Inbox::open`].
    pub async fn open_with(
        &self,
        by: &Caller,
        place: &OpeningChat,
        agents: &[String],
    ) -> Result<StreamId, AccessError> {
        by.must_prove(Scope::ThreadsAdmin)?;
        by.must(Scope::ParticipantsInvite)?;
        self.begin(by, place, agents, PolicyName::GROUP).await
    }

    /// Opens the conversation of one person and one agent, in which each message is for the agent.
    ///
    /// # Errors
    /// [`AccessError`], as for [`Inbox::open`].
    pub async fn open_private(
        &self,
        by: &Caller,
        place: &OpeningChat,
        agent: &str,
    ) -> Result<StreamId, AccessError> {
        // The conversation is new, and its messages go to the chat in which the person writes. So
        // the right to write is enough, although a chat is bound and an agent is invited. An agent
        // that lives in a terminal still needs the right to drive it, which no account has.
        let opener = with_scopes(by, &[Scope::ThreadsAdmin, Scope::ParticipantsInvite]);
        self.begin(&opener, place, &[agent.to_owned()], PolicyName::PLAIN).await
    }

    /// Invites the agent of a bot that a person added to an open group. The right to open groups is
    /// enough, because such a person could have opened the group with this bot.
    ///
    /// # Errors
    /// [`AccessError`] if the person may not.
    pub async fn bring_in(
        &self,
        by: &Caller,
        stream: &StreamId,
        agent: &str,
    ) -> Result<(), AccessError> {
        let inviter = if self.may_open(by) {
            with_scopes(by, &[Scope::ParticipantsInvite])
        } else {
            by.clone()
        };
        let door = self.hall.as_(inviter.clone());
        let controls = vec![self.invitation(agent)];
        let command = ClientCommand::Control { by: self.actor(&inviter)?, controls };
        let permitted = door.permit(stream, command).await?;
        door.submit(permitted, None).await?;
        Ok(())
    }

    /// Begins a conversation, invites the agents and binds the chat. If the second step is refused,
    /// the conversation is deleted again.
    async fn begin(
        &self,
        by: &Caller,
        place: &OpeningChat,
        agents: &[String],
        policy: PolicyName,
    ) -> Result<StreamId, AccessError> {
        let door = self.hall.as_(by.clone());
        let actor = self.actor(by)?;
        let once = self.once(&place.chat, format!("open:{}", place.key), &place.title);
        let policy = Policy::named(policy);
        let new = ConversationDraft { name: place.title.clone(), policy, folder: None };
        let begun = door.begin(new, actor.clone(), Some(once)).await?;
        let mut controls = vec![Control::BindChat(place.chat.clone())];
        controls.extend(agents.iter().map(|agent| self.invitation(agent)));
        let command = ClientCommand::Control { by: actor, controls };
        let opened = async {
            let permitted = door.permit(&begun.stream, command).await?;
            Ok(door.submit(permitted, None).await?)
        };
        match opened.await {
            Ok(_) => Ok(begun.stream),
            Err(error) if is_passing(&error) => Err(error),
            Err(error) => {
                self.discard(&begun.stream).await?;
                Err(error)
            }
        }
    }

    /// Deletes a conversation that was begun for a chat and could not be opened, if it has no other
    /// events. The server itself deletes it, because the person perhaps has no right to delete it.
    async fn discard(&self, stream: &StreamId) -> Result<(), HallError> {
        // After a repeated update, this may be a conversation that was opened before and has words.
        let beyond = self.hall.read(stream, Seq(1), Some(1)).await?;
        if !beyond.events.is_empty() {
            return Ok(());
        }
        let by = Actor { id: ParticipantId::moothall(), human: true, proven: true };
        match self.hall.submit(stream, ClientCommand::Delete { by }, None).await {
            Ok(_) | Err(HallError::Deleted(_) | HallError::Rejected(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns the invitation of an agent of the registry, under its own name.
    pub fn invitation(&self, agent: &str) -> Control {
        let registry = self.hall.registry();
        let base = registry.get(agent).map(|spec| spec.profile.clone()).unwrap_or_default();
        let profile = Profile {
            client: Some(agent.to_owned()),
            model: base.model.or_else(|| Some("default".into())),
            ..base
        };
        Control::Invite(Invite::new(agent, profile, registry.facts(agent)))
    }

    /// True if a person may open groups.
    pub fn may_open(&self, by: &Caller) -> bool {
        by.must_prove(Scope::ThreadsAdmin).is_ok()
    }

    /// Returns the person as an actor.
    fn actor(&self, by: &Caller) -> Result<Actor, AccessError> {
        Ok(by.asking_as(None)?)
    }

    /// Returns the key under which an act in a chat takes effect one time.
    fn once(&self, chat: &Chat, key: String, text: &str) -> Idempotency {
        let fingerprint = blake3::hash(text.as_bytes()).to_hex().to_string();
        Idempotency { principal: format!("channel:{}", chat.channel()), key, fingerprint }
    }

    async fn cause(&self, stream: &StreamId, at: Option<Seq>) -> Result<Option<Cause>, HallError> {
        match at {
            Some(seq) => self.hall.cause_at(stream, seq).await,
            None => Ok(None),
        }
    }
}

/// True if a request may succeed later without a change by people.
pub(crate) fn is_passing(error: &AccessError) -> bool {
    matches!(
        error,
        AccessError::Hall(
            HallError::Overloaded
                | HallError::DiskFull
                | HallError::ShuttingDown
                | HallError::Unreadable(_)
                | HallError::Failed(_)
        )
    )
}

/// Returns a person with further scopes, for one act that the channel itself limits.
fn with_scopes(by: &Caller, more: &[Scope]) -> Caller {
    let scopes = by.scopes.iter().chain(more.iter().copied()).collect();
    Caller { scopes, ..by.clone() }
}

/// Returns the first word of a command for the audit record. The record has no words of a
/// conversation, and a line that begins with an unknown command may be one.
fn recorded_name(line: &str) -> &'static str {
    let word = line.split_whitespace().next().unwrap_or_default();
    let mut names = slash::COMMANDS.iter().filter_map(|command| command.name.split(' ').next());
    names.find(|name| name.eq_ignore_ascii_case(word)).unwrap_or("an unknown command")
}
