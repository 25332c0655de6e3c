//! Messages of people: their words, commands, edits and redactions.

use moothall_engine::access::{AccessError, Caller, Secret};
use moothall_engine::hall::HallError;
use moothall_kernel::chat::{Chat, OverheardWords, PostOrigin};
use moothall_kernel::command::ClientCommand;
use moothall_kernel::event::Event;
use moothall_kernel::ids::{ParticipantId, Seq, StreamId};
use moothall_kernel::slash::{self, Slash};
use serde_json::Value;

use super::Matrix;
use super::content::{attachment_line, words_of};
use super::events::{RoomEvent, unanswered};
use super::names::Ghost;
use super::places::MatrixPlace;
use super::room::{MatrixRoom, account_of};
use crate::config::StrangersRule;
use crate::inbox::{InboundWords, OpeningChat, is_passing};
use crate::receive::{Entry, TryAgain, pairing_code, passing};

/// The line for a person who writes to the relay alone.
const RELAY_TALK: &str = "This is the chat of the server itself: questions of agents arrive here, \
                          and are answered by a reply or a reaction with a number. To talk with an \
                          agent, invite it to a room.";

impl Matrix {
    /// Takes a message of a person.
    ///
    /// # Errors
    /// [`TryAgain`] if it could not be stored now.
    pub(super) async fn receive_message(
        &self,
        heard: &RoomEvent<'_>,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let content = heard.content();
        // Notices are words of programs, and an answer to them could go on without end.
        if content["msgtype"] == "m.notice" || content["body"].as_str().is_none() {
            return Ok(());
        }
        let place = self.place(&heard.room.id).await.map_err(|fault| unanswered(&fault))?;
        let Some(place) = place else { return Ok(()) };
        // A code may stand only in the formatted body or in an edit, so the whole content is
        // searched.
        if place.private_with(domain).is_none()
            && let Some(code) = Secret::pairing_code_in(&content.to_string())
        {
            return self.void_code(heard, code).await;
        }
        if let Some(original) = replaced(content) {
            return self.receive_edit(heard, &place, original, domain).await;
        }
        let account = account_of(heard.sender);
        if let Some(ghost) = place.private_with(domain)
            && let Some(code) = content["body"].as_str().and_then(pairing_code)
        {
            return self.receive_code(heard, &ghost, code, &account).await;
        }
        let person = self.inbox.person(&account).await.map_err(passing)?;
        let bound = self.bound_talk(&heard.room, &place, domain).await?;
        match (person, bound) {
            (Some(person), Some((room, stream))) => {
                let words = self.words(heard, &room, content, domain).await?;
                self.enter_words(heard, &room, &person, &stream, words).await
            }
            (Some(person), None) => self.receive_unbound(heard, &place, &person, domain).await,
            (None, bound) => self.hear_stranger(heard, &place, bound, domain).await,
        }
    }

    /// Returns the bound place of a room, and its conversation: the room itself, or the talk with
    /// an agent whose account is alone with a person in the room.
    async fn bound_talk(
        &self,
        room: &MatrixRoom,
        place: &MatrixPlace,
        domain: &str,
    ) -> Result<Option<(MatrixRoom, StreamId)>, TryAgain> {
        if let Some(stream) = self.bound(room).await? {
            return Ok(Some((room.clone(), stream)));
        }
        let Some(Ghost::Agent(agent)) = place.private_with(domain) else { return Ok(None) };
        let talk = room.with(&agent);
        Ok(self.bound(&talk).await?.map(|stream| (talk, stream)))
    }

    /// Returns the conversation that is bound to a place.
    pub(super) async fn bound(&self, room: &MatrixRoom) -> Result<Option<StreamId>, TryAgain> {
        match room.to_chat() {
            Some(chat) => self.inbox.bound(&chat).await.map_err(passing),
            None => Ok(None),
        }
    }

    /// Runs a command or posts words, and answers a refusal in the same room. In a talk, a reply to
    /// a card answers its question.
    async fn enter_words(
        &self,
        heard: &RoomEvent<'_>,
        room: &MatrixRoom,
        person: &Caller,
        stream: &StreamId,
        words: InboundWords,
    ) -> Result<(), TryAgain> {
        if room.with.is_some() && self.receive_reply_to_card(heard, person).await? {
            return Ok(());
        }
        match self.inbox.take_words(person, stream, words, false).await? {
            Entry::Posted(Some(seq)) => {
                self.note_message(&heard.room.id, heard.id, (stream.clone(), seq));
            }
            Entry::Answered(text) => self.say(room, &text, heard.id).await,
            Entry::Posted(None) | Entry::Taken => {}
        }
        Ok(())
    }

    /// Returns a message as words for the hall: names of accounts become names of their agents.
    async fn words(
        &self,
        heard: &RoomEvent<'_>,
        room: &MatrixRoom,
        content: &Value,
        domain: &str,
    ) -> Result<InboundWords, TryAgain> {
        let Some(chat) = room.to_chat() else {
            return Err(passing(HallError::Failed(format!("{room} is not a chat"))));
        };
        let text = attachment_line(content)
            .unwrap_or_else(|| as_command(&named(&words_of(content), content, domain)));
        let (reply_to, replied) = self.replied(heard, content, domain).await;
        let is_named = text.contains('@');
        let to = room.with.clone().or(replied.filter(|_| !is_named));
        Ok(InboundWords {
            account: account_of(heard.sender),
            message: heard.id.to_owned(),
            key: key_of(&chat, heard.id),
            chat,
            text,
            to: to.map(ParticipantId::new),
            reply_to,
        })
    }

    /// Returns the event to which a message replies, if it is known, and the agent that said it.
    async fn replied(
        &self,
        heard: &RoomEvent<'_>,
        content: &Value,
        domain: &str,
    ) -> (Option<(StreamId, Seq)>, Option<String>) {
        let Some(target) = replied_event(content) else { return (None, None) };
        let at = self.messages.event_of(&(heard.room.id.clone(), target.to_owned()));
        let original = self.event_in(&heard.room.id, target).await;
        let said_by =
            original.and_then(|event| match Ghost::of(event["sender"].as_str()?, domain)? {
                Ghost::Agent(agent) => Some(agent),
                Ghost::Relay | Ghost::Person(_) => None,
            });
        (at, said_by)
    }

    /// Returns an event of a room; `None` if the homeserver does not show it.
    pub(super) async fn event_in(&self, room: &str, event: &str) -> Option<Value> {
        let domain = self.domain().await.ok()?;
        let place = self.place(room).await.ok()??;
        let viewer = self.voice_in(&place, &domain)?;
        self.client.event(room, &viewer, event).await.ok()
    }

    /// Takes words of a paired person in a room without a conversation. `/group create` opens the
    /// room. In a private room with one agent, words begin the conversation of that room with the
    /// agent (a talk). In the relay's private room a reply can answer a question. In a room that
    /// was bound before, words for one agent begin a talk with it, if the room was dissolved or the
    /// person may open rooms. A room that was never bound waits for a person who opens it.
    async fn receive_unbound(
        &self,
        heard: &RoomEvent<'_>,
        place: &MatrixPlace,
        person: &Caller,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let room = heard.room.clone();
        let words = self.words(heard, &room, heard.content(), domain).await?;
        if let Ok(Slash::GroupCreate(agents)) = slash::parse(&words.text) {
            let opening = self.opening(&room, place, heard.id);
            let Some(opening) = opening else { return Ok(()) };
            let opened = self.inbox.open_with(person, &opening, &agents).await;
            return self.tell_opened(&room, opened, heard.id).await;
        }
        match place.private_with(domain) {
            Some(Ghost::Agent(agent)) => {
                return self.talk_alone(heard, person, words, &agent, place).await;
            }
            Some(Ghost::Relay | Ghost::Person(_)) => {
                if !self.receive_reply_to_card(heard, person).await? {
                    self.say(&room, RELAY_TALK, heard.id).await;
                }
                return Ok(());
            }
            None => {}
        }
        let Some(earlier) = self.inbox.earlier_binding(&words.chat).await? else {
            self.wait_for_opening(&room, heard.id).await;
            return Ok(());
        };
        // A room that was dissolved is for talks with one agent alone. If its binding was ended in
        // another way, a person with the right to open rooms decided that, and may change it.
        let may_talk = self.inbox.is_dissolved(&earlier).await? || self.inbox.may_open(person);
        let ghosts = place.ghosts(domain);
        let is_meant = |agent: &String| {
            let is_replied = words.to.as_ref().is_some_and(|to| to.as_str() == *agent);
            is_replied || mentions(&words.text, agent)
        };
        let agents = ghosts.into_iter().filter_map(|ghost| match ghost {
            Ghost::Agent(agent) => Some(agent),
            Ghost::Relay | Ghost::Person(_) => None,
        });
        let agent = { agents }.find(is_meant).filter(|_| may_talk);
        match agent {
            Some(agent) => self.talk_alone(heard, person, words, &agent, place).await,
            None => Ok(()),
        }
    }

    /// Posts words in the room's conversation with one agent alone (a talk). The first such words
    /// open it.
    async fn talk_alone(
        &self,
        heard: &RoomEvent<'_>,
        person: &Caller,
        words: InboundWords,
        agent: &str,
        place: &MatrixPlace,
    ) -> Result<(), TryAgain> {
        let talk = heard.room.with(agent);
        let stream = match self.bound(&talk).await? {
            Some(stream) => stream,
            None => {
                let title = format!("{} with {agent}", heard.sender);
                let opening = self.opening(&talk, place, heard.id);
                let Some(opening) = opening.map(|it| OpeningChat { title, ..it }) else {
                    return Ok(());
                };
                match self.inbox.open_private(person, &opening, agent).await {
                    Ok(stream) => stream,
                    Err(error) => return self.refuse(&talk, heard, error).await,
                }
            }
        };
        let Some(chat) = talk.to_chat() else { return Ok(()) };
        let to = Some(ParticipantId::new(agent));
        let words = InboundWords { key: key_of(&chat, heard.id), chat, to, ..words };
        self.enter_words(heard, &talk, person, &stream, words).await
    }

    /// Answers an error in the room of the message. An error that passes by itself is not answered,
    /// because the message is received again.
    async fn refuse(
        &self,
        room: &MatrixRoom,
        heard: &RoomEvent<'_>,
        error: AccessError,
    ) -> Result<(), TryAgain> {
        if let Entry::Answered(text) = self.inbox.refusal(heard.id, error)? {
            self.say(room, &text, heard.id).await;
        }
        Ok(())
    }

    /// Makes a pairing code invalid that the members of a room can read.
    async fn void_code(&self, heard: &RoomEvent<'_>, code: &str) -> Result<(), TryAgain> {
        let Some(chat) = heard.room.to_chat() else { return Ok(()) };
        if let Some(text) = self.inbox.void_code(code, &chat, &key_of(&chat, heard.id)).await? {
            self.say(&heard.room, &text, heard.id).await;
        }
        Ok(())
    }

    /// Pairs the account that sent a code in a private room with an account of this server. If that
    /// is the relay, questions for the person go to this room from now on.
    async fn receive_code(
        &self,
        heard: &RoomEvent<'_>,
        ghost: &Ghost,
        code: &str,
        account: &str,
    ) -> Result<(), TryAgain> {
        let use_of_it = "What you write to an agent's account goes to that agent.";
        let text = self.inbox.pair(code, account, use_of_it).await?;
        if *ghost == Ghost::Relay {
            self.keep_private_room(heard.sender, &heard.room.id).await;
        }
        self.say(&heard.room, &text, heard.id).await;
        Ok(())
    }

    /// Takes words of a person who is not paired. They are dropped unless the room is bound and the
    /// rule is to observe. Observed words are stored, but wake no agent and command nothing. In a
    /// private room, and after `/help`, an account of the server answers, at most once a minute in
    /// a place.
    async fn hear_stranger(
        &self,
        heard: &RoomEvent<'_>,
        place: &MatrixPlace,
        bound: Option<(MatrixRoom, StreamId)>,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let room = bound.as_ref().map_or(&heard.room, |(room, _)| room);
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let body = words_of(heard.content());
        let is_asking = place.private_with(domain).is_some() || as_command(&body) == "/help";
        if is_asking && self.inbox.may_answer_stranger(&chat.key()) {
            let text = "This is an account of a Moothall server. It answers people whose account \
                        is paired with it. If you use that server: `moothall channels pair \
                        matrix`, or the page, makes a code that pairs you.";
            self.say(&heard.room, text, heard.id).await;
        }
        let stream = bound.map(|(_, stream)| stream);
        let is_kept = self.settings.strangers == StrangersRule::Observe && !body.is_empty();
        let Some(stream) = stream.filter(|_| is_kept) else {
            self.inbox.drop_words(&chat);
            return Ok(());
        };
        let key = key_of(&chat, heard.id);
        let identity = Some(account_of(heard.sender));
        let origin = PostOrigin { chat, identity, message: Some(heard.id.to_owned()) };
        let words = OverheardWords { origin, name: heard.sender.to_owned(), body };
        self.inbox.overhear(&stream, words, key).await.map_err(passing)
    }

    /// Takes new words for an earlier message. They replace words that no agent took up. If an
    /// agent took them up, a notice shows the new words.
    async fn receive_edit(
        &self,
        heard: &RoomEvent<'_>,
        place: &MatrixPlace,
        original: &str,
        domain: &str,
    ) -> Result<(), TryAgain> {
        let account = account_of(heard.sender);
        let Some(person) = self.inbox.person(&account).await.map_err(passing)? else {
            return Ok(());
        };
        let Some((room, stream)) = self.bound_talk(&heard.room, place, domain).await? else {
            return Ok(());
        };
        let words = self.words(heard, &room, &heard.content()["m.new_content"], domain).await?;
        // A command took effect when it was sent, so its edit means nothing.
        if slash::is_command_line(&words.text) {
            return Ok(());
        }
        let Some(earlier) = self.seq_of(&stream, &words.chat, &heard.room, original).await? else {
            return Ok(());
        };
        // The event is still the original one, to which replies and redactions refer.
        let (key, message) = (key_of(&words.chat, original), original.to_owned());
        let words = InboundWords { key, message, ..words }.replacing();
        match self.inbox.edit(&person, &stream, earlier, words).await {
            Ok(Some(seq)) => self.note_message(&heard.room.id, original, (stream, seq)),
            Ok(None) => {}
            Err(error) => return self.refuse(&room, heard, error).await,
        }
        Ok(())
    }

    /// Returns the position of a message of a room in a conversation.
    async fn seq_of(
        &self,
        stream: &StreamId,
        chat: &Chat,
        room: &MatrixRoom,
        event: &str,
    ) -> Result<Option<Seq>, TryAgain> {
        match self.messages.event_of(&(room.id.clone(), event.to_owned())) {
            Some((of, seq)) if of == *stream => Ok(Some(seq)),
            _ => self.inbox.place_of(stream, chat, &key_of(chat, event)).await.map_err(passing),
        }
    }

    /// Erases the words of a message that a paired person redacted. The person's own words need no
    /// further right; words of others need the right to erase.
    ///
    /// # Errors
    /// [`TryAgain`] if they could not be erased now.
    pub(super) async fn receive_redaction(&self, heard: &RoomEvent<'_>) -> Result<(), TryAgain> {
        let target = heard.event["redacts"].as_str().or(heard.content()["redacts"].as_str());
        let Some(target) = target else { return Ok(()) };
        let account = account_of(heard.sender);
        let Some(person) = self.inbox.person(&account).await.map_err(passing)? else {
            return Ok(());
        };
        let domain = self.domain().await.map_err(|fault| unanswered(&fault))?;
        let place = self.place(&heard.room.id).await.map_err(|fault| unanswered(&fault))?;
        let Some(place) = place else { return Ok(()) };
        let bound = self.bound_talk(&heard.room, &place, &domain).await?;
        let Some((room, stream)) = bound else { return Ok(()) };
        let Some(chat) = room.to_chat() else { return Ok(()) };
        let Some(seq) = self.seq_of(&stream, &chat, &heard.room, target).await? else {
            return Ok(());
        };
        match self.erase_for(&person, &account, &stream, seq).await {
            Ok(()) => Ok(()),
            Err(error) if is_passing(&error) => Err(TryAgain::after(&error)),
            Err(error) => {
                let text = format!("The words are redacted here, and not in Moothall: {error}");
                self.say(&room, &text, heard.id).await;
                Ok(())
            }
        }
    }

    /// Erases the words of a message for a person who redacted it. The account that wrote the
    /// message needs no further right.
    async fn erase_for(
        &self,
        person: &Caller,
        account: &str,
        stream: &StreamId,
        seq: Seq,
    ) -> Result<(), AccessError> {
        let hall = self.inbox.hall();
        let page = hall.read(stream, Seq(seq.0.saturating_sub(1)), Some(1)).await?;
        let posted = page.events.into_iter().find_map(|recorded| match recorded.event {
            Event::Posted(posted) => Some(posted),
            _ => None,
        });
        let Some(posted) = posted.filter(|posted| !posted.body.is_empty()) else { return Ok(()) };
        let author = posted.origin.and_then(|origin| origin.identity);
        let by = person.asking_as(None)?;
        let command = ClientCommand::Redact { seq, message: true, by };
        if author.as_deref() == Some(account) {
            hall.submit(stream, command, None).await?;
            return Ok(());
        }
        let door = hall.as_(person.clone());
        let permitted = door.permit(stream, command).await?;
        door.submit(permitted, None).await?;
        Ok(())
    }
}

/// Returns the key under which a message enters one time.
fn key_of(chat: &Chat, event: &str) -> String {
    format!("{}:{event}", chat.key())
}

/// Returns the event that a message replaces.
fn replaced(content: &Value) -> Option<&str> {
    let relation = &content["m.relates_to"];
    (relation["rel_type"] == "m.replace").then(|| relation["event_id"].as_str())?
}

/// Returns the event to which a message replies.
pub(super) fn replied_event(content: &Value) -> Option<&str> {
    content["m.relates_to"]["m.in_reply_to"]["event_id"].as_str()
}

/// Returns a command with a slash in place of its exclamation mark, because some apps keep lines
/// with a slash for themselves. Other words stay as they are.
fn as_command(text: &str) -> String {
    match text.strip_prefix('!').map(|rest| format!("/{rest}")) {
        Some(line) if slash::parse(&line).is_ok() => line,
        _ => text.to_owned(),
    }
}

/// Returns words with names of agents in place of the accounts that they mention. Apps write the
/// shown name of an account, and tell its id in another field.
fn named(text: &str, content: &Value, domain: &str) -> String {
    let mut text = text.to_owned();
    let listed = content["m.mentions"]["user_ids"].as_array().into_iter().flatten();
    let listed = listed.filter_map(Value::as_str);
    let linked = content["formatted_body"].as_str().unwrap_or_default();
    let pills = linked.split("matrix.to/#/").skip(1);
    let pills = pills.filter_map(|rest| rest.split(['"', '\'', '?']).next());
    let typed: Vec<String> = text
        .split_whitespace()
        .map(|word| word.trim_end_matches([',', '.', '!', '?']).to_owned())
        .collect();
    let users: Vec<String> = listed
        .chain(pills)
        .map(|user| user.replace("%40", "@").replace("%3A", ":"))
        .chain(typed)
        .collect();
    for user in users {
        let Some(Ghost::Agent(agent)) = Ghost::of(&user, domain) else { continue };
        let name = format!("@{agent}");
        text = text.replace(&user, &name);
        if mentions(&text, &agent) {
            continue;
        }
        text = match text.find(agent.as_str()) {
            Some(at) => format!("{}{name}{}", &text[..at], &text[at + agent.len()..]),
            None => format!("{name} {text}"),
        };
    }
    text
}

/// True if words name an agent.
fn mentions(text: &str, agent: &str) -> bool {
    let name = format!("@{agent}");
    text.match_indices(&name).any(|(at, _)| {
        let after = text[at + name.len()..].chars().next();
        after.is_none_or(|letter| !letter.is_alphanumeric() && !"_-:".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mentions_become_names_of_agents() {
        let user = "@moothall_analyst:example.org";
        let listed = json!({"m.mentions": {"user_ids": [user]}});
        let pill = json!({"formatted_body":
            format!("<a href=\"https://matrix.to/#/{user}\">analyst</a>: hi")});
        for (text, content, wanted) in [
            ("analyst: how are earnings?", &listed, "@analyst: how are earnings?"),
            ("analyst: hi", &pill, "@analyst: hi"),
            ("how are earnings?", &listed, "@analyst how are earnings?"),
            ("@analyst hello", &listed, "@analyst hello"),
            ("ask @moothall_analyst:example.org, please", &json!({}), "ask @analyst, please"),
            ("ask @moothall_analyst:other.org", &json!({}), "ask @moothall_analyst:other.org"),
            ("the analyst sleeps", &json!({}), "the analyst sleeps"),
        ] {
            assert_eq!(named(text, content, "example.org"), wanted);
        }
    }

    #[test]
    fn an_exclamation_mark_begins_only_known_commands() {
        assert_eq!(as_command("!help"), "/help");
        assert_eq!(as_command("!wow"), "!wow");
    }
}
