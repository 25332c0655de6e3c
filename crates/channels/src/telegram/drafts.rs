//! Drafts: in a private chat, a person sees what an agent is writing, and can stop it.
//!
//! A draft is a preview that Telegram forgets by itself after half a minute. The message is a
//! delivery of its own, so a draft that fails or is left out loses nothing. Groups have no drafts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use moothall_engine::access::Scope;
use moothall_engine::hall::{Listener, Signal, Subscription, Update};
use moothall_kernel::chat::Chat;
use moothall_kernel::event::{Event, TurnKind};
use moothall_kernel::ids::{ParticipantId, Seq, StreamId, TurnNo};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior};

use super::Telegram;
use super::bot::Bot;
use super::client::{CallFault, DraftForm, Method, SendDraft};
use super::room::{Room, account_in};
use super::text;
use crate::inbox::{InboundWords, is_passing};
use crate::receive::{TryAgain, passing};

/// Shortest time between two versions of a draft.
const PACE: Duration = Duration::from_secs(1);
/// Time after which a draft is shown again though it has not changed. Telegram forgets it after
/// thirty seconds.
const AGAIN_AFTER: Duration = Duration::from_secs(20);
/// Longest time for which an answer is drafted.
const DRAFTED_MAX: Duration = Duration::from_secs(600);
/// Longest time for which a message waits for a call about its draft. A call that is done later
/// would show the draft below the message.
const CALL_MAX: Duration = Duration::from_secs(5);

/// The drafts that people see now, by the bot's agent and the chat.
#[derive(Default)]
pub(super) struct Drafts(Mutex<BTreeMap<(String, i64), Arc<Draft>>>);

/// A preview of the answer of a turn that runs.
struct Draft {
    stream: StreamId,
    turn: TurnNo,
    agent: ParticipantId,
    room: Room,
    /// The newest event before the draft. A message at a later position ends it.
    since: Seq,
    /// True if the person may stop the turn.
    can_stop: bool,
    is_over: AtomicBool,
    /// Held during a call.
    calling: tokio::sync::Mutex<()>,
}

impl Draft {
    /// Returns the draft's number, which is unique in its chat and not 0.
    fn id(&self) -> i64 {
        i64::try_from(self.turn.0).unwrap_or(i64::MAX)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Drafts {
    fn all(&self) -> MutexGuard<'_, BTreeMap<(String, i64), Arc<Draft>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, bot: &Bot, chat: i64) -> Option<Arc<Draft>> {
        self.all().get(&(bot.agent.clone(), chat)).cloned()
    }

    /// True if a bot shows a draft in a chat.
    pub(super) fn has(&self, bot: &Bot, chat: i64) -> bool {
        self.get(bot, chat).is_some()
    }

    /// Adds a draft, and returns true, unless there is one of the same turn. An earlier draft of
    /// the bot in the chat ends.
    fn begin(&self, bot: &Bot, draft: &Arc<Draft>) -> bool {
        let mut all = self.all();
        let key = (bot.agent.clone(), draft.room.chat);
        let is_known = all.get(&key).is_some_and(|known| {
            known.stream == draft.stream && known.turn == draft.turn && !known.is_over()
        });
        if !is_known && let Some(earlier) = all.insert(key, draft.clone()) {
            earlier.end();
        }
        !is_known
    }

    fn remove(&self, bot: &Bot, draft: &Arc<Draft>) {
        draft.end();
        let mut all = self.all();
        let key = (bot.agent.clone(), draft.room.chat);
        if all.get(&key).is_some_and(|known| Arc::ptr_eq(known, draft)) {
            all.remove(&key);
        }
    }

    /// Ends the draft of a message that is about to be sent. Waits up to [`CALL_MAX`] for a call
    /// about the draft that is under way.
    pub(super) async fn close(&self, bot: &Bot, chat: i64, seq: Seq) {
        let Some(draft) = self.get(bot, chat).filter(|draft| draft.since < seq) else { return };
        draft.end();
        // A call that hangs must not keep the message back.
        let _ = tokio::time::timeout(CALL_MAX, draft.calling.lock()).await;
    }
}

/// The text of a running turn, as far as it may be shown.
#[derive(Debug, Default)]
struct Partial {
    attempt: u32,
    text: String,
    is_changed: bool,
    /// True if a piece was missed.
    is_torn: bool,
}

impl Partial {
    /// Returns the text that a turn had when a subscription began.
    fn of(heard: &Subscription, turn: TurnNo) -> Self {
        let mut partial = Self::default();
        heard.partials.iter().for_each(|signal| partial.take(signal, turn));
        partial
    }

    /// Adds a piece of a turn's text.
    fn take(&mut self, signal: &Signal, of: TurnNo) {
        let Signal::Delta { turn, attempt, offset, text, .. } = signal else { return };
        if *turn != of || *attempt < self.attempt {
            return;
        }
        if *attempt > self.attempt {
            *self = Self { attempt: *attempt, ..Self::default() };
        }
        if *offset > self.text.len() || !self.text.is_char_boundary(*offset) {
            self.is_torn = true;
            return;
        }
        self.text.truncate(*offset);
        self.text.push_str(text);
        self.is_changed = true;
    }
}

/// The end of an attempt to show a draft.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShowResult {
    /// The draft is shown, or will be shown later.
    GoesOn,
    /// No further version is shown.
    Over,
}

/// The task of one draft.
struct Drafter {
    telegram: Weak<Telegram>,
    bot: Arc<Bot>,
    draft: Arc<Draft>,
    partial: Partial,
    shown_at: Option<Instant>,
    /// True once Telegram refused the rich form of this draft.
    is_plain: bool,
}

impl Drafter {
    /// Shows the draft until its turn or the draft ends, at most for [`DRAFTED_MAX`].
    async fn run(mut self, mut updates: Listener) {
        let until = Instant::now() + DRAFTED_MAX;
        let mut ticks = tokio::time::interval(PACE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.draft.is_over() && Instant::now() < until {
            tokio::select! {
                update = updates.recv() => match update {
                    Ok(Update::Signal(signal)) => self.partial.take(&signal, self.draft.turn),
                    Ok(Update::Events(events)) => {
                        let turn = self.draft.turn;
                        let ends = |event: &Event| {
                            matches!(event, Event::TurnEnded { turn: ended, .. } if *ended == turn)
                        };
                        if events.iter().any(|recorded| ends(&recorded.event)) {
                            break;
                        }
                    }
                    Err(RecvError::Lagged(_)) => self.partial.is_torn = true,
                    Err(RecvError::Closed) => break,
                },
                _ = ticks.tick() => if self.show().await == ShowResult::Over {
                    break;
                },
            }
            if self.partial.is_torn {
                match self.listen_again().await {
                    Some(fresh) => updates = fresh,
                    None => break,
                }
            }
        }
        if let Some(open) = self.telegram.upgrade() {
            open.drafts.remove(&self.bot, &self.draft);
        }
    }

    /// Reads the text anew after a piece was missed.
    async fn listen_again(&mut self) -> Option<Listener> {
        let open = self.telegram.upgrade()?;
        let fresh = open.hear_turn(&self.draft.stream, self.draft.turn).await?;
        self.partial = Partial::of(&fresh, self.draft.turn);
        Some(fresh.updates)
    }

    /// Shows the present text, if it is new or was shown long ago, and the bot's limits leave room
    /// for it.
    async fn show(&mut self) -> ShowResult {
        let Some(open) = self.telegram.upgrade() else { return ShowResult::Over };
        let now = Instant::now();
        let is_old = self.shown_at.is_none_or(|at| now.duration_since(at) >= AGAIN_AFTER);
        if !self.partial.is_changed && !is_old {
            return ShowResult::GoesOn;
        }
        let chat = self.draft.room.chat;
        if !self.bot.bucket().try_take(now, chat, self.draft.room.is_group()) {
            return ShowResult::GoesOn;
        }
        if !matches!(open.has_reader(&self.draft.room).await, Ok(true)) {
            return ShowResult::Over;
        }
        let draft = self.draft.clone();
        let _calling = draft.calling.lock().await;
        if draft.is_over() {
            return ShowResult::Over;
        }
        let send = SendDraft {
            chat_id: chat,
            draft_id: draft.id(),
            thread: draft.room.topic,
            form: self.form(&open),
            can_stop: draft.can_stop,
        };
        match self.bot.client.send_draft(&send).await {
            Ok(()) => {
                self.shown_at = Some(now);
                self.partial.is_changed = false;
                ShowResult::GoesOn
            }
            Err(fault) => self.after_fault(&open, &send, &fault),
        }
    }

    /// Returns the form of the present text: a rich message if that is allowed, or else text with
    /// entities. Of a long answer it is the last part, which is being written.
    fn form(&self, open: &Telegram) -> DraftForm {
        let may_be_rich = !self.is_plain
            && open.may_be_rich(&self.bot)
            && !self.bot.lacks(Method::SendRichMessageDraft);
        let rich = may_be_rich.then(|| text::rich_parts(&self.partial.text, None)).flatten();
        if let Some(part) = rich.and_then(|parts| parts.into_iter().next_back()) {
            return DraftForm::Rich(part.markdown);
        }
        let parts = text::parts(&self.partial.text, None, text::TEXT_UNITS_MAX);
        // A long answer is shown at its end, which is being written.
        DraftForm::Text(parts.into_iter().next_back().unwrap_or_default())
    }

    /// Returns the result of a call that failed. A draft whose rich form was refused goes on as
    /// text.
    fn after_fault(&mut self, open: &Telegram, send: &SendDraft, fault: &CallFault) -> ShowResult {
        tracing::debug!(bot = self.bot.agent, %fault, "a draft could not be shown");
        if let Some(after) = fault.retry_after() {
            open.hold(&self.bot, Some(send.chat_id), after);
            return ShowResult::GoesOn;
        }
        if fault.is_unknown_method() {
            self.bot.note_lacking(send.method());
        }
        match (fault, &send.form) {
            (CallFault::NotSent { .. } | CallFault::Maybe { .. }, _) => ShowResult::GoesOn,
            (CallFault::Refused { .. }, DraftForm::Rich(_)) if fault.is_form_refused() => {
                self.is_plain = true;
                ShowResult::GoesOn
            }
            (CallFault::Refused { .. }, DraftForm::Rich(_) | DraftForm::Text(_)) => {
                ShowResult::Over
            }
        }
    }
}

impl Telegram {
    /// Begins to show the answer that an agent writes in the private chats of a conversation.
    pub(super) async fn begin_drafts(self: &Arc<Self>, stream: &StreamId, agent: &ParticipantId) {
        let Some(bot) = self.bot_for(agent) else { return };
        if bot.lacks(Method::SendMessageDraft) {
            return;
        }
        let writer = agent.clone();
        let seen = self.inbox.hall().view(stream, move |state| {
            // An answer for a conversation of another computer does not go to chats of this one.
            let mut own = state.open_turns().filter(|turn| turn.participant == writer);
            let turn = own.find(|turn| turn.kind == TurnKind::Reply && !turn.is_hosted())?.no;
            Some((turn, state.chats().collect::<Vec<Chat>>()))
        });
        let Ok(Some((turn, chats))) = seen.await else { return };
        let is_own = |room: &Room| {
            !room.is_group() && room.with.as_ref().is_none_or(|with| *with == self.agent_of(&bot))
        };
        for room in chats.iter().filter_map(Room::of).filter(is_own) {
            self.begin_draft(&bot, room, stream, turn, agent).await;
        }
    }

    /// Begins the draft of a turn in a private chat, if the chat's account is paired and the turn
    /// is open.
    async fn begin_draft(
        self: &Arc<Self>,
        bot: &Arc<Bot>,
        room: Room,
        stream: &StreamId,
        turn: TurnNo,
        agent: &ParticipantId,
    ) {
        let Ok(Some(person)) = self.inbox.person(&account_in(&room)).await else { return };
        // A button that the server would refuse is not shown.
        let can_stop = person.must(Scope::TurnsControl).is_ok();
        let Some(heard) = self.hear_turn(stream, turn).await else { return };
        let draft = Arc::new(Draft {
            stream: stream.clone(),
            turn,
            agent: agent.clone(),
            room,
            since: heard.head,
            can_stop,
            is_over: AtomicBool::new(false),
            calling: tokio::sync::Mutex::default(),
        });
        if !self.drafts.begin(bot, &draft) {
            return;
        }
        let partial = Partial::of(&heard, turn);
        let drafter = Drafter {
            telegram: Arc::downgrade(self),
            bot: bot.clone(),
            draft,
            partial,
            shown_at: None,
            is_plain: false,
        };
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(drafter.run(heard.updates));
    }

    /// Listens to a conversation; `None` if the turn is over, because its end would not be heard.
    async fn hear_turn(&self, stream: &StreamId, turn: TurnNo) -> Option<Subscription> {
        let hall = self.inbox.hall();
        let heard = hall.subscribe(stream).await.ok()?;
        let is_open = hall.view(stream, move |state| state.turn(turn).is_some()).await.ok()?;
        is_open.then_some(heard)
    }

    /// Stops the turns of a conversation because its person pressed the button at a draft. This is
    /// the command `/stop` of that person, with the same right. It does nothing if the draft is
    /// over.
    ///
    /// # Errors
    /// [`TryAgain`] if the command could not be stored now.
    pub(super) async fn receive_stop(
        &self,
        bot: &Bot,
        chat: i64,
        draft_id: i64,
    ) -> Result<(), TryAgain> {
        // A draft that is over stays known until its task notices.
        let is_meant = |draft: &Arc<Draft>| draft.id() == draft_id && !draft.is_over();
        let Some(draft) = self.drafts.get(bot, chat).filter(is_meant) else { return Ok(()) };
        let account = account_in(&draft.room);
        let Some(person) = self.inbox.person(&account).await.map_err(passing)? else {
            return Ok(());
        };
        let Some(place) = draft.room.to_chat() else { return Ok(()) };
        let words = InboundWords {
            account,
            message: String::new(),
            key: format!("{}:stop:{}:{draft_id}", place.key(), draft.stream),
            chat: place,
            text: "/stop".into(),
            to: None,
            reply_to: None,
        };
        match self.inbox.command(&person, &draft.stream, words).await {
            Ok(_) => {
                tracing::debug!(bot = bot.agent, agent = %draft.agent, "a person stopped a draft");
                draft.end();
                Ok(())
            }
            Err(error) if is_passing(&error) => Err(TryAgain::after(&error)),
            Err(error) => {
                self.say(bot, &draft.room, &error.to_string(), None).await;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(turn: u64, attempt: u32, offset: usize, text: &str) -> Signal {
        let (turn, participant) = (TurnNo(turn), ParticipantId::new("analyst"));
        Signal::Delta { turn, attempt, participant, offset, text: text.into() }
    }

    #[test]
    fn pieces_are_put_together_and_a_gap_is_noticed() {
        let mut partial = Partial::default();
        let take = |partial: &mut Partial, signal| partial.take(&signal, TurnNo(4));
        take(&mut partial, piece(4, 1, 0, "One "));
        take(&mut partial, piece(5, 1, 0, "Other"));
        take(&mut partial, piece(4, 1, 4, "twö"));
        take(&mut partial, piece(4, 1, 4, "two"));
        assert_eq!((partial.text.as_str(), partial.is_torn), ("One two", false));
        take(&mut partial, piece(4, 2, 0, "Anew"));
        take(&mut partial, piece(4, 1, 7, " three"));
        assert_eq!((partial.text.as_str(), partial.is_torn), ("Anew", false));
        take(&mut partial, piece(4, 2, 9, "gap"));
        assert!(partial.is_torn);
    }
}
