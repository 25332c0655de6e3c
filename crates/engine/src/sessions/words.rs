//! Whose words they are: what a program reports goes to the conversation that asked, to the links of the session, or to its home.
//! (Rulings 24 and 25.)

use moothall_kernel::command::{Actor, ClientCommand, Command, EngineCommand, Post};
use moothall_kernel::event::{Fault, Usage};
use moothall_kernel::ids::{ParticipantId, StreamId};

use super::directory::session_of;
use super::hooks::{Heard, Hook, HookNews};
use super::questions::Reported;
use super::runner::{Runner, Stage, Typed};
use super::tags::tag_in;
use super::{SessionError, SessionId};
use crate::agent::TurnKey;
use crate::crash;
use crate::hall::{HallError, Idempotency};
use crate::ports::DeliveryState;

/// Who reports are brought by, for keys that make them count once.
const BRINGER: &str = "moothall:hook";

impl Runner {
    /// Takes a report in. Everything that follows from it is kept before this returns, each under the report's own id.
    pub(super) async fn hear(&mut self, hook: Hook) -> Result<Heard, SessionError> {
        if !self.is_own(&hook).await? {
            return Ok(Heard::Nothing);
        }
        crash::point("hook_heard");
        match hook.news {
            HookNews::Began | HookNews::Ended => Ok(Heard::Yes),
            HookNews::Asks { action, partial } => {
                self.reported(Reported { action, partial });
                self.look().await;
                Ok(Heard::Yes)
            }
            HookNews::Prompt { text } => self.prompted(&hook.id, &text).await,
            HookNews::Stopped { text, inputs, .. } => {
                if let Some(inputs) = inputs {
                    self.take_inputs(&hook.id, inputs).await?;
                }
                self.stopped(&hook.id, Ok(text.filter(|text| !text.trim().is_empty()))).await
            }
            HookNews::Failed { message } => {
                self.stopped(&hook.id, Err(Fault { told: true, ..Fault::new("program_failed", message) })).await
            }
        }
    }

    /// Whether a report is of the program's own conversation with its user. Programs have others in the background.
    async fn is_own(&mut self, hook: &Hook) -> Result<bool, SessionError> {
        let Some(native) = &hook.native else { return Ok(true) };
        let known = self.session.native.as_ref();
        let rebinds = match &hook.news {
            HookNews::Began | HookNews::Prompt { .. } => known != Some(native),
            HookNews::Stopped { .. } | HookNews::Failed { .. } => known.is_none(),
            HookNews::Asks { .. } | HookNews::Ended => false,
        };
        if rebinds {
            self.session.native = Some(native.clone());
            self.sessions.keep(&self.session).await?;
        }
        Ok(self.session.native.as_ref() == Some(native))
    }

    /// The program took a prompt: a turn's, or a person's.
    async fn prompted(&mut self, id: &str, text: &str) -> Result<Heard, SessionError> {
        match tag_in(text) {
            Some(tag) if self.current.as_ref().is_some_and(|current| current.tag == tag && current.stage >= Stage::Begun) => {
                self.accept().await;
                Ok(Heard::Yes)
            }
            Some(_) => Ok(Heard::Nothing),
            None if self.sessions.terms().config.checkpoints.include(text) => {
                self.typed = Typed::Checkpoint;
                Ok(Heard::Yes)
            }
            None => {
                self.cross(id, text, None, true).await?;
                self.typed = Typed::Person;
                Ok(Heard::Yes)
            }
        }
    }

    /// Programs that report their prompts only with the answer report all of them each time.
    async fn take_inputs(&mut self, id: &str, inputs: Vec<String>) -> Result<(), SessionError> {
        let own = |input: &String| self.current.as_ref().is_some_and(|current| tag_in(input) == Some(&current.tag));
        // After a restart nobody knows what was reported before: the turn's own prompt, or the last one, is what is new.
        let last = inputs.len().saturating_sub(1);
        let seen = self.inputs_seen.filter(|seen| *seen <= inputs.len());
        let seen = seen.unwrap_or_else(|| inputs.iter().position(own).unwrap_or(last));
        for (at, input) in inputs.iter().enumerate().skip(seen) {
            self.prompted(&format!("{id}/{at}"), input).await?;
        }
        self.inputs_seen = Some(inputs.len());
        Ok(())
    }

    /// The program is done: it said something, or nothing, or could not go on.
    async fn stopped(&mut self, id: &str, ended: Result<Option<String>, Fault>) -> Result<Heard, SessionError> {
        let text = ended.clone().ok().flatten();
        // Nothing was said because somebody said no.
        let ended = match (ended, self.refusal()) {
            (Ok(None), Some(fault)) => Err(fault),
            (ended, _) => ended,
        };
        let taken = self.current.as_ref().filter(|current| current.stage == Stage::Accepted).map(|current| current.key.clone());
        if let Some(key) = &taken {
            self.answer(id, key, ended.map(Option::unwrap_or_default)).await?;
            crash::point("turn_answered");
        }
        match (&text, self.typed) {
            (Some(text), Typed::Person) => self.cross(id, text, taken.as_ref().map(|key| &key.stream), false).await?,
            (Some(text), Typed::Nothing) if taken.is_none() => self.said_late(id, text).await?,
            (Some(_) | None, Typed::Person | Typed::Nothing | Typed::Checkpoint) => {}
        }
        if taken.is_some() || self.typed != Typed::Checkpoint {
            self.sessions.tell_listeners(&self.session, id).await?;
        }
        if taken.is_some()
            && let Some(current) = self.current.take()
        {
            self.mark(&current, &[DeliveryState::Sent, DeliveryState::Accepted], DeliveryState::Done, "").await;
        }
        (self.late, self.typed) = (None, Typed::Nothing);
        if self.current.is_none() {
            self.questions.clear();
        }
        Ok(Heard::Yes)
    }

    /// What came of a turn.
    async fn answer(&self, id: &str, key: &TurnKey, result: Result<String, Fault>) -> Result<(), SessionError> {
        let command = EngineCommand::Finished { turn: key.turn, attempt: key.attempt, result, usage: self.usage(key).await };
        self.submit(&key.stream, command, id).await
    }

    async fn usage(&self, key: &TurnKey) -> Usage {
        let Some(hall) = self.hall() else { return Usage::default() };
        let (turn, now) = (key.turn, hall.now());
        let started = hall.view(&key.stream, move |state| state.turn(turn).and_then(|turn| turn.running).map(|running| running.started_at));
        let started = started.await.ok().flatten();
        Usage { ms: started.map_or(0, |at| now.since(at).0), ..Usage::default() }
    }

    /// Words that answer nothing any more: those of a turn that was taken away are kept with it, others only at home.
    async fn said_late(&self, id: &str, text: &str) -> Result<(), SessionError> {
        let Some(key) = &self.late else { return self.post(&self.session.id, id, text, false).await };
        let command =
            EngineCommand::Finished { turn: key.turn, attempt: key.attempt, result: Ok(text.to_owned()), usage: Usage::default() };
        self.submit(&key.stream, command, id).await
    }

    /// Words that belong to nobody's turn go home and to every link of the session, once each.
    async fn cross(&self, id: &str, text: &str, except: Option<&StreamId>, typed: bool) -> Result<(), SessionError> {
        let links = self.sessions.links_with(&self.session.id).await?;
        for stream in std::iter::once(&self.session.id).chain(&links).filter(|stream| Some(*stream) != except) {
            self.post(stream, id, text, typed).await?;
        }
        Ok(())
    }

    async fn post(&self, stream: &StreamId, id: &str, text: &str, typed: bool) -> Result<(), SessionError> {
        let Some(own) = self.own_id(stream).await? else { return Ok(()) };
        let post = if typed {
            Post { typed_at: Some(own), ..Post::new(Actor::unproven(ParticipantId::USER), text) }
        } else {
            Post::new(Actor::named(own), text)
        };
        self.submit(stream, ClientCommand::Post(post), id).await
    }

    /// What the session is called in a conversation, while it is in it.
    async fn own_id(&self, stream: &StreamId) -> Result<Option<ParticipantId>, SessionError> {
        self.sessions.member_id(stream, &self.session.id).await
    }

    /// What the rules refuse is settled too: they keep the words in the trace.
    async fn submit(&self, stream: &StreamId, command: impl Into<Command>, id: &str) -> Result<(), SessionError> {
        let hall = self.sessions.hall()?;
        match hall.submit(stream, command, Some(once(id, stream))).await {
            Ok(_) | Err(HallError::Rejected(_) | HallError::KeyReused | HallError::NotFound(_)) => Ok(()),
            Err(error) => Err(SessionError::Hall(error)),
        }
    }

    /// The screen of a program without reports shows that it is done: what stands below its prompt is what it said.
    pub(super) async fn finish_by_screen(&mut self) {
        let (Some(pane), Some(current)) = (self.session.pane.clone(), &self.current) else { return };
        let tag = current.tag.clone();
        let screen = self.host.tail(&pane, 4000).await.unwrap_or_default();
        let text = below(&screen, &tag);
        let id = format!("screen:{tag}");
        if let Err(error) = self.stopped(&id, Ok(text)).await {
            tracing::warn!(session = %self.session.id, %error, "what a screen shows could not be kept");
        }
    }

    /// Ends the program and the session.
    pub(super) async fn end(&mut self, why: &str) -> Result<(), SessionError> {
        if let Some(pane) = self.session.pane.clone().filter(|_| self.session.origin == super::Origin::Started) {
            self.host.end(&pane).await.map_err(super::directory::host_error)?;
        }
        self.ended(why).await;
        Ok(())
    }

    /// The session is over: its turns end, it leaves its links, and its home takes no more words.
    pub(super) async fn ended(&mut self, why: &str) {
        self.over = true;
        let Some(hall) = self.hall() else { return };
        self.session.ended = Some((hall.now(), why.to_owned()));
        crash::point("session_ending");
        if let Some(current) = &self.current.take() {
            let state = if current.stage >= Stage::Sent { DeliveryState::Unknown } else { DeliveryState::Failed };
            let open = [DeliveryState::Pending, DeliveryState::Sending, DeliveryState::Sent, DeliveryState::Accepted];
            self.mark(current, &open, state, why).await;
            self.fail(&current.key, "session_ended", &format!("its session has ended: {why}"));
        }
        for job in std::mem::take(&mut self.queue) {
            self.fail(&job.key, "session_ended", &format!("its session has ended: {why}"));
        }
        self.questions.clear();
        // Before it is kept that the session is over: a crash in between is made good by ending it once more.
        self.host.forget(&self.session.id).await;
        if let Err(error) = self.sessions.leave(&self.session).await {
            tracing::warn!(session = %self.session.id, %error, "a session that ended could not leave its links");
        }
        // Whoever waits for the end, or shows its token, has to find it over from here on.
        self.tell();
    }
}

/// A report counts once in each conversation, however often it is brought.
fn once(id: &str, stream: &StreamId) -> Idempotency {
    let key = blake3::hash(format!("{id}/{stream}").as_bytes()).to_hex().to_string();
    Idempotency { principal: BRINGER.into(), key, fingerprint: String::new() }
}

/// Whether a participant is this session.
pub(crate) fn is_session(participant: &moothall_kernel::participant::Participant, session: &SessionId) -> bool {
    session_of(participant).as_ref() == Some(session)
}

/// What stands below the line with a tag, without the composer at the end.
fn below(screen: &str, tag: &str) -> Option<String> {
    let at = screen.rfind(tag)? + tag.len();
    let lines: Vec<&str> = screen[at..].lines().skip(1).map(str::trim_end).collect();
    let prompt = lines.iter().rposition(|line| is_composer(line)).unwrap_or(lines.len());
    let text = lines[..prompt].join("\n");
    let text = text.trim_matches('\n').trim_end();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// A line that only invites input.
fn is_composer(line: &str) -> bool {
    matches!(line.trim(), "›" | ">" | "$" | "❯" | "%" | "#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_the_tag_is_the_answer() {
        let screen = "› hello\n[moothall:0a1b2c3d]\n\nfirst line\n\n  second\n›\n";
        assert_eq!(below(screen, "[moothall:0a1b2c3d]").as_deref(), Some("first line\n\n  second"));
        assert_eq!(below("[moothall:0a1b2c3d]\n›", "[moothall:0a1b2c3d]"), None);
        assert_eq!(below("nothing here", "[moothall:0a1b2c3d]"), None);
    }
}
