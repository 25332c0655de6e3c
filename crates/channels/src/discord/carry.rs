//! Deliveries to Discord: the voice that speaks, the messages of a text, and the failures.
//!
//! A message of a bot has a nonce, by which Discord finds a repeated one for some minutes. So a
//! message in doubt is sent again for up to two minutes. A message of a webhook has no nonce. If it
//! is in doubt, its delivery ends as `unknown`.

use std::sync::Arc;
use std::time::Duration;

use moothall_engine::hall::HallError;
use moothall_engine::outbox::{CarryNotes, DeliveryNotes, Outcome, PartInDoubt, SentPart};
use moothall_engine::ports::Delivery;
use moothall_kernel::chat::Chat;
use moothall_kernel::ids::Seq;
use moothall_kernel::time::{Millis, Timestamp};

use super::Discord;
use super::bot::DiscordBot;
use super::client::{CardButton, NewMessage, PATIENCE, RestFailure};
use super::hooks::PlacedHook;
use super::names::hook_name;
use super::room::{ChannelPlace, account_of};
use super::text;
use crate::carriage::{self, delivered};
use crate::groups::opening_line;
use crate::outbound::{Outbound, OutboundWords};

/// Time for which a message in doubt is sent again.
const REPEATED_MAX: Millis = Millis::from_secs(120);
/// Pause of deliveries while no bot can send.
const NO_BOT_PAUSE: Duration = Duration::from_secs(60);
/// Beginning of the mark of messages that a webhook sent; the bot of the webhook follows.
const BY_HOOK: &str = "webhook of ";
/// Number of hexadecimal digits of a nonce. Discord takes 25 letters.
const NONCE_CHARS: usize = 24;

/// A delivery to Discord under way.
pub(super) type ChannelCarriage<'a> = carriage::Carriage<'a, ChannelPlace>;

/// A way to say something: a bot, or a name under which a bot's webhook speaks.
pub(super) struct SpeakerVoice {
    bot: Arc<DiscordBot>,
    /// The name and the picture, if a webhook speaks.
    name: Option<(String, Option<String>)>,
    /// The first line, if the voice is not the speaker's own.
    head: Option<String>,
}

/// The result of sending one message.
pub(super) enum VoiceResult {
    /// The message was sent.
    Yes,
    /// This voice cannot speak in the place. Another one may be able to.
    NotByThisVoice(String),
    /// The delivery ends, or is put off.
    Over(Outcome),
}

impl SpeakerVoice {
    /// Returns the voice of a bot itself.
    pub(super) fn of_bot(bot: Arc<DiscordBot>, head: Option<String>) -> Self {
        Self { bot, name: None, head }
    }

    /// Returns the mark of the voice in notes.
    fn mark(&self) -> String {
        match self.name {
            Some(_) => format!("{BY_HOOK}{}", self.bot.agent),
            None => self.bot.agent.clone(),
        }
    }
}

impl Discord {
    /// Carries a delivery to a chat of Discord.
    pub(super) async fn carry_to(
        &self,
        delivery: &Delivery,
        chat: &Chat,
        notes: &DeliveryNotes<'_>,
    ) -> Outcome {
        if self.is_stopped() {
            return Outcome::later("the channel waits for `moothall channels resume discord`");
        }
        let Some(room) = ChannelPlace::of(chat) else {
            return Outcome::Failed(format!("{} is not a place in Discord", chat.key()));
        };
        let under_way = ChannelCarriage::new(delivery, room, notes);
        if let Some(outcome) = self.end_of_doubt(&under_way) {
            return outcome;
        }
        let Some(hall) = self.weak.enter() else {
            return Outcome::later("the server is stopping");
        };
        let read = Outbound::read(&hall, &delivery.stream, delivery.through_seq, chat).await;
        let content = match read {
            Ok(content) => content,
            Err(error) => return Outcome::later(error.to_string()),
        };
        match content {
            Outbound::Nothing if under_way.kept.sending.is_some() => {
                under_way.unknown("it was on its way, and is not in the conversation any more")
            }
            Outbound::Nothing => under_way.done(None),
            // An erasure is carried to people too whose pairing is over.
            Outbound::Erasure { seq, message } => {
                self.erase(under_way, delivery, seq, message).await
            }
            content => match self.has_reader(&under_way.room).await {
                Err(why) => Outcome::later(why),
                Ok(false) => under_way.failed("the account of this chat is not paired"),
                Ok(true) => self.carry_content(under_way, delivery, content).await,
            },
        }
    }

    async fn carry_content(
        &self,
        under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        content: Outbound,
    ) -> Outcome {
        match content {
            Outbound::Words(words) => self.carry_words(under_way, delivery, words).await,
            Outbound::Line(line) => self.carry_line(under_way, delivery, &line).await,
            Outbound::Card(card) => self.carry_card(under_way, delivery, card).await,
            Outbound::CardOver { permission, line } => {
                self.end_card(under_way, delivery, permission.as_str(), &line).await
            }
            Outbound::Opening { agents } => {
                self.carry_line(under_way, delivery, &opening_line(&agents)).await
            }
            Outbound::Erasure { .. } | Outbound::Nothing => under_way.done(None),
        }
    }

    /// Returns the outcome of a delivery whose message is in doubt and cannot be sent again; `None`
    /// if no message is in doubt, or it can be sent again.
    fn end_of_doubt(&self, under_way: &ChannelCarriage<'_>) -> Option<Outcome> {
        let part = under_way.kept.sending?;
        let now = self.inbox.hall().now();
        match &under_way.kept.doubt {
            Some(doubt) if Timestamp::from_millis(doubt.since).is_within(REPEATED_MAX, now) => None,
            Some(_) => Some(under_way.unknown(
                "Discord was away for too long after the message was on its way, so a repeated \
                 one could be a second one",
            )),
            None => Some(under_way.unknown(format!(
                "message {} was on its way when the server or the connection stopped",
                part + 1
            ))),
        }
    }

    /// True for a channel, and for a direct chat whose account is paired or in which no bot can
    /// send. After the end of a pairing the chat stays bound, because a person may pair the account
    /// anew.
    async fn has_reader(&self, room: &ChannelPlace) -> Result<bool, String> {
        if room.with.is_none() {
            return Ok(true);
        }
        let Some(bot) = self.bots_in(room).into_iter().next() else { return Ok(true) };
        let person = match self.person_of(&bot, room.channel).await {
            Ok(Some(person)) => person,
            Err(fault) if fault.is_passing() => return Err(fault.to_string()),
            // Discord does not name the person, so the chat counts as one without a reader.
            Ok(None) | Err(_) => return Ok(false),
        };
        let known = self.inbox.person(&account_of(person)).await;
        known.map(|person| person.is_some()).map_err(|error: HallError| error.to_string())
    }

    /// Carries words by the voices for their speaker, the best first.
    async fn carry_words(
        &self,
        under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        words: OutboundWords,
    ) -> Outcome {
        let voices = self.voices(&under_way.room, &words);
        let reply_to = words.reply_to;
        self.carry_parts(under_way, delivery, &voices, &words.text, reply_to).await
    }

    /// Returns the voices for words, the best first: the agent's own bot, then a webhook under the
    /// speaker's name, then any bot with a first line that names the speaker.
    fn voices(&self, room: &ChannelPlace, words: &OutboundWords) -> Vec<SpeakerVoice> {
        let name = match &words.place {
            Some(place) => format!("{} ({place})", words.name),
            None => words.name.clone(),
        };
        let picture = self.settings.picture_of(words.from.as_str()).map(str::to_owned);
        let is_own = |bot: &DiscordBot| {
            let agent = if room.with.is_some() { self.agent_of(bot) } else { None };
            let agent = agent.as_deref().unwrap_or(&bot.agent);
            words.place.is_none() && agent == words.from.as_str()
        };
        let bots = self.bots_in(room);
        let known = |bot: &DiscordBot| bot.guilds.channel(room.channel);
        let is_direct = room.with.is_some();
        let is_here = |bot: &&Arc<DiscordBot>| is_direct || !bot.guilds.is_without(room.channel);
        let own = bots.iter().filter(|bot| is_own(bot)).filter(is_here);
        let own = own.map(|bot| SpeakerVoice::of_bot(bot.clone(), None));
        let may_hook = |bot: &&Arc<DiscordBot>| known(bot).is_none_or(|channel| channel.may_hook());
        let hooking = bots.iter().filter(|_| !is_direct).filter(is_here).filter(may_hook);
        let hooked = hooking.map(|bot| SpeakerVoice {
            bot: bot.clone(),
            name: Some((hook_name(&name), picture.clone())),
            head: None,
        });
        let headed =
            bots.iter().map(|bot| SpeakerVoice::of_bot(bot.clone(), Some(format!("{name}:"))));
        own.chain(hooked).chain(headed).collect()
    }

    /// Carries a line of the server itself.
    pub(super) async fn carry_line(
        &self,
        under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        line: &str,
    ) -> Outcome {
        let bots = self.bots_in(&under_way.room).into_iter();
        let voices: Vec<SpeakerVoice> = bots.map(|bot| SpeakerVoice::of_bot(bot, None)).collect();
        self.carry_parts(under_way, delivery, &voices, line, None).await
    }

    /// Sends the messages of a text by the first voice that can speak in the place. After the first
    /// message, the voice stays the same, and its refusal fails the delivery. Messages that were
    /// sent before a crash are not sent again.
    async fn carry_parts(
        &self,
        mut under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        voices: &[SpeakerVoice],
        text: &str,
        reply_to: Option<Seq>,
    ) -> Outcome {
        if voices.is_empty() {
            // A person can add a bot or its new token, so the words wait.
            let why = "no bot of this server can send".to_owned();
            return Outcome::Later { why, after: Some(NO_BOT_PAUSE) };
        }
        let mut why = "no bot of this server is in the channel".to_owned();
        for voice in voices {
            if !may_go_on(&under_way, voice) {
                continue;
            }
            let all = text::parts(text, voice.head.as_deref());
            while let Some(content) = all.get(under_way.text_sent().len()) {
                let is_first = under_way.text_sent().is_empty();
                let reply_to = reply_to.filter(|_| is_first);
                let reply_to = reply_to.and_then(|seq| self.reply_target(&under_way, seq));
                let message = NewMessage { reply_to, ..NewMessage::text(content) };
                match self.send_part(&mut under_way, delivery, voice, message).await {
                    VoiceResult::Yes => {}
                    VoiceResult::NotByThisVoice(reason) if is_first => {
                        why = reason;
                        break;
                    }
                    VoiceResult::NotByThisVoice(reason) => return under_way.failed(reason),
                    VoiceResult::Over(outcome) => return outcome,
                }
            }
            if under_way.text_sent().len() == all.len() {
                return under_way.done(None);
            }
        }
        under_way.failed(why)
    }

    fn reply_target(&self, under_way: &ChannelCarriage<'_>, seq: Seq) -> Option<u64> {
        let (at, channel) = ((under_way.event.0.clone(), seq), under_way.room.channel);
        let range = (channel, 0)..=(channel, u64::MAX);
        self.messages.message_of(range, &at).map(|(_, message)| message)
    }

    /// Sends one message with buttons by a bot.
    pub(super) async fn send_card(
        &self,
        under_way: &mut ChannelCarriage<'_>,
        delivery: &Delivery,
        bot: &Arc<DiscordBot>,
        (content, buttons): (&str, Vec<CardButton>),
    ) -> VoiceResult {
        let voice = SpeakerVoice::of_bot(bot.clone(), None);
        let message = NewMessage { buttons, ..NewMessage::text(content) };
        self.send_part(under_way, delivery, &voice, message).await
    }

    /// Sends one message, after its note.
    async fn send_part(
        &self,
        under_way: &mut ChannelCarriage<'_>,
        delivery: &Delivery,
        voice: &SpeakerVoice,
        mut message: NewMessage,
    ) -> VoiceResult {
        let hook = match self.hook_of(voice, under_way.room.channel).await {
            Ok(hook) => hook,
            Err(fault) => return self.unhooked(under_way, voice, fault).await,
        };
        let (bot, channel) = (&voice.bot, under_way.room.channel);
        let wait = bot.client.wait_to_send(channel, hook.as_ref().map(|hook| &hook.key));
        if wait > PATIENCE {
            let fault = RestFailure::Limited { after: wait };
            return VoiceResult::Over(under_way.put_off(later(&fault)).await);
        }
        // The wait comes before the note: a crash during it would leave the message in doubt.
        tokio::time::sleep(wait).await;
        let was_in_doubt = self.note_doubt(under_way, voice);
        if let Err(later) = under_way.note_sending().await {
            return VoiceResult::Over(later);
        }
        let call = async {
            match (&hook, &voice.name) {
                (Some(hook), Some((name, picture))) => {
                    let as_name = (name.as_str(), picture.as_deref());
                    let (key, thread) = (&hook.key, hook.thread);
                    bot.client.send_by_hook(key, thread, as_name, &message.content).await
                }
                _ => {
                    message.nonce = Some(nonce(delivery, under_way.kept.sent.len()));
                    bot.client.send(channel, &message).await
                }
            }
        };
        let sent = bot.own.send(call).await;
        match bot.noting(sent, self.inbox.hall().now()) {
            Ok(id) => self.note_sent(under_way, voice, id),
            Err(fault) => {
                if let (true, Some(hook)) = (fault.is_webhook_gone(), &hook) {
                    self.forget_hook(bot, hook.channel);
                }
                self.after_fault(under_way, voice, fault, was_in_doubt).await
            }
        }
    }

    async fn hook_of(
        &self,
        voice: &SpeakerVoice,
        place: u64,
    ) -> Result<Option<PlacedHook>, RestFailure> {
        match voice.name {
            Some(_) => self.hook_for(&voice.bot, place).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the result for a message whose webhook cannot be used or made. The delivery is put
    /// off if the failure passes, and otherwise another voice may send the message.
    async fn unhooked(
        &self,
        under_way: &ChannelCarriage<'_>,
        voice: &SpeakerVoice,
        fault: RestFailure,
    ) -> VoiceResult {
        let noted = voice.bot.noting(Err::<(), _>(fault.clone()), self.inbox.hall().now());
        match noted {
            Err(fault) if fault.is_passing() => {
                VoiceResult::Over(under_way.put_off(later(&fault)).await)
            }
            _ => VoiceResult::NotByThisVoice(fault.to_string()),
        }
    }

    /// Notes the time since which a message that a bot sends itself may be in doubt. Returns true
    /// if an earlier attempt left it in doubt.
    fn note_doubt(&self, under_way: &mut ChannelCarriage<'_>, voice: &SpeakerVoice) -> bool {
        let was_in_doubt = under_way.kept.doubt.is_some();
        if voice.name.is_none() && !was_in_doubt {
            let part = part_of(voice, &under_way.room, None);
            let since = self.inbox.hall().now().millis();
            under_way.kept.doubt = Some(PartInDoubt { part, since });
        }
        was_in_doubt
    }

    /// Notes a message that was sent, and that no message is in doubt any more.
    fn note_sent(
        &self,
        under_way: &mut ChannelCarriage<'_>,
        voice: &SpeakerVoice,
        id: Option<u64>,
    ) -> VoiceResult {
        let channel = under_way.room.channel;
        if let Some(id) = id {
            self.note_message(channel, id, under_way.event.clone());
            // Messages after this one have to be read back after an absence.
            self.begin_seen(channel, id);
        }
        under_way.kept.sent.push(part_of(voice, &under_way.room, id));
        (under_way.kept.sending, under_way.kept.doubt) = (None, None);
        VoiceResult::Yes
    }

    /// Returns the result of a failed send. A message that was perhaps sent stays in doubt if a bot
    /// sends it, and ends the delivery as `unknown` if a webhook does.
    async fn after_fault(
        &self,
        under_way: &mut ChannelCarriage<'_>,
        voice: &SpeakerVoice,
        fault: RestFailure,
        was_in_doubt: bool,
    ) -> VoiceResult {
        let is_doubtful = matches!(fault, RestFailure::Maybe { .. });
        if is_doubtful && voice.name.is_some() {
            return VoiceResult::Over(under_way.unknown(fault.to_string()));
        }
        if !is_doubtful && !was_in_doubt {
            (under_way.kept.sending, under_way.kept.doubt) = (None, None);
        }
        if let Err(later) = under_way.write().await {
            return VoiceResult::Over(later);
        }
        let is_revived = fault.is_webhook_gone() && voice.name.is_some();
        if fault.is_passing() || is_revived {
            return VoiceResult::Over(later(&fault));
        }
        // A refusal does not show if an earlier attempt that is in doubt has arrived.
        if was_in_doubt {
            return VoiceResult::Over(under_way.unknown(fault.to_string()));
        }
        if fault.is_gone() || fault.is_unauthorised() || voice.name.is_some() {
            return VoiceResult::NotByThisVoice(fault.to_string());
        }
        VoiceResult::Over(under_way.failed(fault.to_string()))
    }

    /// Deletes the messages of an event whose words were erased. If Discord keeps one of them, a
    /// line in the chat says so.
    async fn erase(
        &self,
        under_way: ChannelCarriage<'_>,
        delivery: &Delivery,
        seq: Seq,
        message: Option<String>,
    ) -> Outcome {
        let Some(hall) = self.weak.enter() else {
            return Outcome::later("the server is stopping");
        };
        let is_meant = |one: &Delivery, _: &CarryNotes| one.through_seq == seq;
        let notes = match delivered(&hall, delivery, is_meant).await {
            Ok(found) => found.map(|(_, notes)| notes).unwrap_or_default(),
            Err(error) => return Outcome::later(error.to_string()),
        };
        let room = &under_way.room;
        let of_person = message.and_then(|id| id.parse::<u64>().ok());
        let mut is_left = false;
        for sent in &notes.sent {
            match self.delete_sent(room, sent).await {
                Err(fault) if fault.is_passing() => return later(&fault),
                deleted => is_left |= deleted.is_err(),
            }
        }
        if let Some(id) = of_person {
            match self.delete_of_person(room, id).await {
                Err(fault) if fault.is_passing() => return later(&fault),
                deleted => is_left |= deleted.is_err(),
            }
        }
        if is_left {
            let line = "Words were erased here, but Discord keeps its copy of them: a bot deletes \
                        messages of people only with the permission Manage Messages.";
            return self.carry_line(under_way, delivery, line).await;
        }
        under_way.done(None)
    }

    /// Deletes a message that was sent.
    async fn delete_sent(&self, room: &ChannelPlace, sent: &SentPart) -> Result<(), RestFailure> {
        let Some(id) = sent.id.as_ref().and_then(|id| id.parse().ok()) else {
            return Err(unknown_message());
        };
        let hooked = sent.bot.strip_prefix(BY_HOOK);
        let agent = hooked.unwrap_or(&sent.bot);
        let bots = self.bots();
        let Some(bot) = bots.iter().find(|bot| bot.agent == agent) else {
            return Err(unknown_message());
        };
        if hooked.is_none() {
            return bot.client.delete(room.channel, id).await;
        }
        let hook = self.hook_for(bot, room.channel).await?;
        bot.client.delete_by_hook(&hook.key, hook.thread, id).await
    }

    /// Deletes a person's message by any bot that may.
    async fn delete_of_person(&self, room: &ChannelPlace, message: u64) -> Result<(), RestFailure> {
        let mut answer = Err(unknown_message());
        for bot in self.bots_in(room) {
            answer = bot.client.delete(room.channel, message).await;
            if answer.as_ref().err().is_none_or(RestFailure::is_passing) {
                return answer;
            }
        }
        answer
    }
}

/// Returns the refusal of a message of which nothing is known here.
fn unknown_message() -> RestFailure {
    RestFailure::Refused { status: 404, code: 0, text: "the message is not known".to_owned() }
}

/// Returns the outcome of a delivery that is put off because of a fault.
pub(super) fn later(fault: &RestFailure) -> Outcome {
    Outcome::Later { why: fault.to_string(), after: fault.retry_after() }
}

/// True if a voice may send the next message. A text that one voice began is not ended by another
/// one. Discord finds the repetition of a message in doubt only if the same bot sends it.
fn may_go_on(under_way: &ChannelCarriage<'_>, voice: &SpeakerVoice) -> bool {
    let begun = under_way.text_sent().first();
    let doubted = under_way.kept.doubt.as_ref().map(|doubt| &doubt.part);
    let by = begun.or(doubted).map(|part| part.bot.as_str());
    by.is_none_or(|by| by == voice.mark())
}

fn part_of(voice: &SpeakerVoice, room: &ChannelPlace, id: Option<u64>) -> SentPart {
    let (chat, id) = (room.channel.to_string(), id.map(|id| id.to_string()));
    SentPart { bot: voice.mark(), chat, id, only_to: None }
}

/// Returns the key by which Discord finds a repeated message. Another log has the same numbers for
/// other deliveries, so the conversation is a part of the key.
fn nonce(delivery: &Delivery, part: usize) -> String {
    let text = format!("{}:{}:{part}:{}", delivery.stream, delivery.through_seq.0, delivery.id);
    blake3::hash(text.as_bytes()).to_hex()[..NONCE_CHARS].to_owned()
}
