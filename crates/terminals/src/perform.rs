//! Carries out the outputs of a session's machine: in its terminal, in the log, and in
//! conversations.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use moothall_engine::agent::{PermissionAnswer, Report, TurnKey};
use moothall_engine::answers::{Answer, HallError, Idempotency};
use moothall_engine::crash;
use moothall_engine::outbox::{OutboxEntry, PostCommand, StreamCommand};
use moothall_engine::ports::{DeliveryState, Durability, LogError};
use moothall_engine::sessions::{
    HostFault, Key, Pane, PaneState, Paste, PasteReport, Picture, Record, RecordQuery,
    SessionError, View, address_of, is_session,
};
use moothall_kernel::Conversation;
use moothall_kernel::command::{Actor, ClientCommand, EngineCommand, Post};
use moothall_kernel::event::{Event, Fault, RecordedEvent, SuppressedBecause, Usage};
use moothall_kernel::hosted::HostedKey;
use moothall_kernel::ids::{ParticipantId, PermissionId, Seq, StreamId};
use moothall_kernel::link::JoinedConversation;
use moothall_kernel::participant::{Address, Participant};
use moothall_kernel::permission::{Question, WithdrawalReason};
use moothall_kernel::time::Millis;

use crate::runner::Runner;
use crate::tags::TagKey;
use crate::turn::{Input, KeptItem, Output, PaneContent};

/// The reason for pressing no key in a terminal that a person has taken over.
const TAKEN: &str = "A person types in this terminal now.";
/// Number of looks into a record whose turn has no end yet, and the pause between two. A record
/// that is not there is looked for less often, and once if it was missing before: the program may
/// keep none, and the answer waits for the looks.
const RECORD_LOOKS: u32 = 20;
const MISSING_LOOKS: u32 = 10;
const RECORD_PAUSE: Duration = Duration::from_millis(50);

/// The principal of the idempotency keys of reports.
const BRINGER: &str = "moothall:hook";

impl Runner {
    /// Carries out one output; returns the answer if the output asks for one.
    pub(super) async fn perform(&mut self, output: Output) -> Option<Input> {
        match output {
            Output::See { lines } => return Some(Input::Seen(self.see(lines).await.map(Box::new))),
            Output::Mark { delivery, from, to, evidence, lasting } => {
                let moved = self.mark(delivery, &from, to, &evidence, lasting).await;
                return (lasting == Durability::Synced).then_some(Input::Marked(moved));
            }
            Output::Paste { text, bodies } => {
                let paste = Paste { session: self.session.id.clone(), text, bodies };
                return Some(Input::Pasted(self.paste(&paste).await));
            }
            Output::Press { key } => return Some(Input::Pressed(self.press(key).await)),
            Output::Choose { dialog, chosen, text } => {
                let pressed = match self.pane() {
                    Ok(_) if self.typist.is_some() => Err(HostFault::Refused(TAKEN.to_owned())),
                    Ok(pane) => {
                        self.host
                            .choose(&pane, &self.session.client, &dialog, &chosen, text.as_deref())
                            .await
                    }
                    Err(fault) => Err(fault),
                };
                return Some(Input::Pressed(pressed));
            }
            Output::Keep { steps } => return Some(Input::Kept(self.keep_all(steps).await)),
            Output::Recall { key, permission } => {
                return Some(Input::Recalled(self.answer_to(&key, permission).await));
            }
            Output::LookUp { query } => return Some(Input::LookedUp(self.look_up(&query).await)),
            Output::Report { key, report } => {
                if let Some(hall) = self.hall() {
                    hall.report(&key, report);
                }
            }
            Output::AskInNoTurn { stream, permission, question } => {
                self.ask_in_no_turn(&stream, permission, question).await
            }
            Output::WithdrawInNoTurn { stream, permission, because } => {
                self.withdraw_in_no_turn(&stream, permission, because).await
            }
            Output::Tell { text } => self.tell_people(text).await,
            Output::Reply { id, reply } => self.answer(id, reply),
            Output::Missing { died } => self.missing(died),
            Output::There => self.clear_doubt(),
            Output::Wake { at } => self.wake(at),
        }
        None
    }

    pub(super) fn pane(&self) -> Result<Pane, HostFault> {
        self.session
            .pane
            .clone()
            .ok_or_else(|| HostFault::Gone("The session's program has not started yet.".into()))
    }

    /// Reads the screen, and its newest `lines` with the history if they are wanted.
    async fn see(&self, lines: Option<usize>) -> Option<PaneContent> {
        let view = self.view().await?;
        let tail = match (lines, self.pane()) {
            (Some(lines), Ok(pane)) => self.host.tail(&pane, lines).await.ok(),
            (Some(_) | None, _) => None,
        };
        Some(PaneContent { view, tail })
    }

    async fn look_up(&self, query: &RecordQuery) -> Option<Record> {
        self.host.find_record(&self.pane().ok()?, &self.session.client, query).await
    }

    /// Looks up the tool that the program uses while it works.
    pub(super) fn look_for_tool(&mut self) {
        let (Some(query), Ok(pane)) = (self.machine.tool_query(), self.pane()) else { return };
        if !self.tool_look.is_due() {
            return;
        }
        let (host, client) = (self.host.clone(), self.session.client.clone());
        let (handle, sessions) = (self.handle.clone(), self.sessions.clone());
        self.tool_look.began(tokio::spawn(async move {
            let record = host.find_record(&pane, &client, &query).await;
            if record.is_some_and(|record| handle.recorded(record.tool)) {
                sessions.notify_of_sessions();
            }
        }));
    }

    /// Reads the screen. Returns `None` if it cannot be read or the program has not started yet. A
    /// missing terminal is a view with [`PaneState::Gone`].
    pub(super) async fn view(&self) -> Option<View> {
        match self.host.view(&self.pane().ok()?, &self.session.client).await {
            Ok(view) => {
                self.handle.saw(&view);
                Some(view)
            }
            Err(HostFault::Gone(_)) => Some(View {
                state: PaneState::Gone,
                composer: None,
                dialog: None,
                text: String::new(),
                picture: Picture::default(),
            }),
            Err(fault) => {
                tracing::warn!(session = %self.session.id, %fault, "the terminal of a session \
                                                                    cannot be read");
                None
            }
        }
    }

    async fn paste(&self, paste: &Paste) -> Result<PasteReport, HostFault> {
        crash::point("delivery_sending");
        let pasted = self.host.paste(&self.pane()?, &self.session.client, paste).await?;
        crash::point("paste_done");
        Ok(pasted)
    }

    async fn press(&self, key: Key) -> Result<(), HostFault> {
        self.host.press(&self.pane()?, key).await?;
        if key == Key::Enter {
            crash::point("enter_pressed");
        }
        Ok(())
    }

    /// Moves the row of a delivery to `to` if its state is one of `from`. Returns true if it moved,
    /// and false also while the server shuts down.
    async fn mark(
        &self,
        id: u64,
        from: &[DeliveryState],
        to: DeliveryState,
        evidence: &str,
        lasting: Durability,
    ) -> Result<bool, LogError> {
        // `false` keeps the prompt from being typed. The unchanged row serves the next start.
        let Some(hall) = self.hall() else { return Ok(false) };
        let moved = hall.store().outbox.advance(id, from, to, evidence, lasting).await;
        if let Err(error) = &moved {
            tracing::error!(session = %self.session.id, %error, "the state of a delivery could \
                                                                 not be stored");
        } else if to == DeliveryState::Accepted {
            crash::point("delivery_accepted");
        }
        moved
    }

    /// Returns the answer that a person gave to a permission, with the person's own words.
    async fn answer_to(&self, key: &TurnKey, permission: PermissionId) -> Option<PermissionAnswer> {
        let hall = self.hall()?;
        let sought = permission.clone();
        let found = move |state: &Conversation| {
            state.answer_to(&sought).map(|(option, at)| (option.to_owned(), at))
        };
        let (option, at) = hall.view(&key.stream, found).await.ok()??;
        let page = hall.read(&key.stream, Seq(at.0.saturating_sub(1)), Some(1)).await.ok()?;
        let text = page.events.into_iter().find_map(|recorded| match recorded.event {
            Event::PermissionAnswered { permission: of, text, .. } if of == permission => text,
            _ => None,
        });
        Some(PermissionAnswer { option, text })
    }

    /// Carries out the steps of a report in their order, up to the first error. If a step is about
    /// words, also saves the id of the program's conversation after the steps, for a resume.
    async fn keep_all(&mut self, steps: Vec<(String, KeptItem)>) -> Result<(), SessionError> {
        // The key is read before the steps, because a result ends its turn and with it the key.
        let hosted = self.hosted_of(&steps).await?;
        let reach = WordReach { crossed: self.crossed(&steps, hosted.as_ref()).await?, hosted };
        let is_of_words =
            |step: &KeptItem| !matches!(step, KeptItem::Native(_) | KeptItem::Listeners);
        let took = steps.iter().any(|(_, step)| is_of_words(step));
        for (id, step) in steps {
            self.keep(&id, step, &reach).await?;
        }
        if took {
            self.remember().await;
        }
        Ok(())
    }

    /// Saves the id of the program's conversation, which has a prompt, for a later resume.
    pub(super) async fn remember(&mut self) {
        let native = self.session.native.clone();
        if native.is_none() || native == self.session.memory {
            return;
        }
        let earlier = std::mem::replace(&mut self.session.memory, native);
        if let Err(error) = self.sessions.keep(&self.session).await {
            // The end of the turn retries.
            self.session.memory = earlier;
            tracing::warn!(session = %self.session.id, %error, "the conversation that a session's \
                                                                program resumes could not be \
                                                                stored");
        }
    }

    /// Carries out one step of a report. `id` is the idempotency key of its words.
    async fn keep(
        &mut self,
        id: &str,
        step: KeptItem,
        reach: &WordReach,
    ) -> Result<(), SessionError> {
        match step {
            KeptItem::Native(native) => {
                self.session.native = Some(native);
                self.sessions.keep(&self.session).await
            }
            KeptItem::Result { key, result } => self.keep_result(id, &key, result).await,
            KeptItem::Late { key, text } => self.say_late(id, &key.stream, &text).await,
            KeptItem::Cross { text, except, typed } => {
                self.cross(id, &text, except.as_ref(), (typed, reach.hosted.as_ref())).await
            }
            KeptItem::Home(text) => self.post_home(id, &text, false, Vec::new()).await.map(drop),
            KeptItem::Listeners => {
                self.sessions.tell_listeners(&self.session, id, &reach.crossed).await
            }
        }
    }

    /// Sends the result of a turn and waits until it is committed.
    async fn keep_result(
        &self,
        id: &str,
        key: &TurnKey,
        result: Result<String, Fault>,
    ) -> Result<(), SessionError> {
        let (hall, text) = (self.sessions.hall()?, result.clone().unwrap_or_default());
        let usage = self.usage(key, &result).await;
        let report = Report::Finished { result, usage };
        match hall.keep_report(key, report, once(id, &key.stream)).await {
            // The conversation is archived, so the words stay at home. (Ruling 24.)
            Ok(Answer {
                event:
                    Some(RecordedEvent {
                        event: Event::Suppressed { because: SuppressedBecause::Archived, .. },
                        ..
                    }),
                ..
            }) => {
                self.post_home(id, &text, false, Vec::new()).await?;
            }
            other => ignore_refusal(other.map(drop))?,
        }
        crash::point("turn_answered");
        Ok(())
    }

    /// Posts the late answer of a turn that timed out in its conversation, or at home if the
    /// session is not a member there or the conversation is archived.
    async fn say_late(&self, id: &str, stream: &StreamId, text: &str) -> Result<(), SessionError> {
        let (hall, own) = (self.sessions.hall()?, self.session.id.clone());
        let own = hall.view(stream, move |state| {
            let here = state.participants().iter().find(|one| is_session(one, &own));
            here.filter(|_| !state.is_archived()).map(|here| here.id.clone())
        });
        let Some(own) = own.await? else {
            return self.post_home(id, text, false, Vec::new()).await.map(drop);
        };
        let post = ClientCommand::Post(Post::new(Actor::named(own), text));
        ignore_refusal(hall.submit(stream, post, Some(once(id, stream))).await)
    }

    /// Returns the time of a turn, and its tokens and cost by the program's own record.
    async fn usage(&self, key: &TurnKey, result: &Result<String, Fault>) -> Usage {
        let was_sent = result.as_ref().map_or_else(|fault| fault.prompt_delivered, |_| true);
        let recorded = if was_sent { self.recorded_usage(key).await } else { Usage::default() };
        Usage { ms: self.worked(key).await, ..recorded }
    }

    /// Reads tokens and cost of a turn in the program's own record, by the tag of its prompt. The
    /// program may still be writing the last line of the turn, so the record is read again.
    async fn recorded_usage(&self, key: &TurnKey) -> Usage {
        let tag = TagKey::of(&self.session).tag_of(key);
        let query =
            RecordQuery { native: self.session.native.clone(), tag: Some(tag), uses: false };
        let mut usage = Usage::default();
        let missing_looks =
            if self.lacks_record.load(Ordering::Relaxed) { 1 } else { MISSING_LOOKS };
        for look in 1..=RECORD_LOOKS {
            let record = self.look_up(&query).await;
            self.lacks_record.store(record.is_none(), Ordering::Relaxed);
            let is_last = match &record {
                Some(record) => record.end.is_some(),
                None => look >= missing_looks,
            };
            usage = record.map_or(usage, |record| record.usage);
            if is_last {
                break;
            }
            tokio::time::sleep(RECORD_PAUSE).await;
        }
        usage
    }

    /// Returns the milliseconds for which a turn was worked on; 0 if it cannot be read.
    async fn worked(&self, key: &TurnKey) -> u64 {
        let Some(hall) = self.hall() else { return 0 };
        let (turn, now) = (key.turn, hall.now());
        let worked = hall.view(&key.stream, move |state| {
            state.turn(turn).map_or(Millis(0), |turn| turn.worked(now))
        });
        worked.await.unwrap_or_default().0
    }

    /// Posts words outside any turn, at home and in every link of the session. The conversation
    /// `except` and the link of the turn `hosted` have the words already.
    async fn cross(
        &self,
        id: &str,
        text: &str,
        except: Option<&StreamId>,
        (typed, hosted): (bool, Option<&HostedKey>),
    ) -> Result<(), SessionError> {
        let elsewhere = self.sessions.joined_links(&self.session.id).await?;
        let (has_words, others): (Vec<_>, Vec<_>) = elsewhere
            .into_iter()
            .partition(|link| hosted.is_some_and(|key| link.is(&key.computer, &key.stream)));
        let mut recipients = BTreeSet::from([address_of(&self.session)]);
        recipients.extend(has_words.iter().flat_map(addresses));
        let mut owed = self.owed_to_links(text, except, typed, &mut recipients).await;
        owed.extend(
            others.iter().map(|link| self.owed_elsewhere(text, link, typed, &mut recipients)),
        );
        let home = &self.session.id;
        let is_said = except != Some(home) && self.post_home(id, text, typed, owed.clone()).await?;
        if is_said || owed.is_empty() {
            return Ok(());
        }
        // No post at home carries the deliveries, so they are owed by themselves.
        ignore_refusal(
            self.sessions.hall()?.owe(home, owed, once(&format!("{id}/links"), home)).await,
        )
    }

    /// Returns the deliveries to each link. A peer in several links gets the words in one: in the
    /// conversation that has them already, else in a link that is not held. (Ruling 24.)
    async fn owed_to_links(
        &self,
        text: &str,
        except: Option<&StreamId>,
        typed: bool,
        recipients: &mut BTreeSet<Address>,
    ) -> Vec<OutboxEntry> {
        let at = address_of(&self.session);
        let mut rooms = Vec::new();
        for link in self.sessions.links_with(&self.session.id) {
            let known = self.sessions.hall().ok();
            let own = at.clone();
            let members = move |state: &Conversation| {
                let of = |who: fn(&Conversation, &Participant) -> bool| {
                    let all = state.participants().iter().filter(|one| who(state, one));
                    all.filter_map(|one| one.address.clone()).collect::<BTreeSet<Address>>()
                };
                let (all, heard) =
                    (of(|_, _| true), of(|state, one| state.muted().all(|muted| *muted != one.id)));
                let stands =
                    state.holding_guard().is_some() || state.is_paused() || state.is_archived();
                // Held words reach no member, and a muted member reaches none.
                let reached = if stands || !heard.contains(&own) { BTreeSet::new() } else { heard };
                (stands, all, reached)
            };
            // A link that cannot be read gets the words later, for all its members.
            let seen = match known {
                Some(hall) => hall.view(&link, members).await.unwrap_or_default(),
                None => Default::default(),
            };
            rooms.push((except != Some(&link), seen.0, link, seen.1, seen.2));
        }
        // `false` sorts first: the conversation that has the words, then links that are not held.
        rooms.sort();
        let mut owed = Vec::new();
        for (is_owed, _, link, members, reached) in rooms {
            let (text, at) = (text.to_owned(), at.clone());
            let elsewhere = members.intersection(recipients).filter(|other| **other != at).cloned();
            let say = StreamCommand::Say { elsewhere: elsewhere.collect(), at, text, typed };
            owed.extend(is_owed.then(|| OutboxEntry::to_stream(&link, &say)));
            recipients.extend(reached);
        }
        owed
    }

    /// Returns the message that takes words to a link of another computer. The message names the
    /// members that read the words in another link.
    fn owed_elsewhere(
        &self,
        text: &str,
        link: &JoinedConversation,
        typed: bool,
        recipients: &mut BTreeSet<Address>,
    ) -> OutboxEntry {
        let own = address_of(&self.session);
        let members: BTreeSet<Address> = addresses(link).collect();
        let elsewhere = members.intersection(recipients).filter(|other| **other != own).cloned();
        let words = PostCommand::Words {
            link: link.stream.clone(),
            session: self.session.id.clone(),
            text: text.to_owned(),
            typed,
            elsewhere: elsewhere.collect(),
        };
        recipients.extend(members);
        words.entry(&link.computer)
    }

    /// Returns the turn of another computer whose result is among these steps.
    async fn hosted_of(
        &self,
        steps: &[(String, KeptItem)],
    ) -> Result<Option<HostedKey>, SessionError> {
        let home = &self.session.id;
        let turn = steps.iter().find_map(|(_, step)| match step {
            KeptItem::Result { key, .. } | KeptItem::Late { key, .. } => {
                (key.stream == *home).then_some(key.turn)
            }
            _ => None,
        });
        let Some(turn) = turn else { return Ok(None) };
        let hall = self.sessions.hall()?;
        let hosted = hall.view(home, move |state| {
            state.turn(turn).and_then(|turn| turn.hosted.as_deref().cloned())
        });
        Ok(hosted.await?)
    }

    /// Returns the conversations, of all computers, that receive the words of these steps.
    async fn crossed(
        &self,
        steps: &[(String, KeptItem)],
        hosted: Option<&HostedKey>,
    ) -> Result<Vec<StreamId>, SessionError> {
        let mut crossed: Vec<StreamId> = hosted.map(|key| key.stream.clone()).into_iter().collect();
        for (_, step) in steps {
            match step {
                KeptItem::Result { key, .. } | KeptItem::Late { key, .. } => {
                    crossed.push(key.stream.clone());
                }
                KeptItem::Cross { .. } => {
                    crossed.extend(self.sessions.links_with(&self.session.id));
                    let elsewhere = self.sessions.joined_links(&self.session.id).await?;
                    crossed.extend(elsewhere.into_iter().map(|link| link.stream));
                }
                KeptItem::Native(_) | KeptItem::Home(_) | KeptItem::Listeners => {}
            }
        }
        Ok(crossed)
    }

    /// Asks people a question outside turns. If that fails, a notice points to the terminal.
    async fn ask_in_no_turn(
        &self,
        stream: &StreamId,
        permission: PermissionId,
        question: Box<Question>,
    ) {
        let Some(hall) = self.hall() else { return };
        let (name, action) = (&self.session.name, question.action.clone());
        let asked = match self.sessions.member_id(stream, &self.session.id).await {
            Ok(Some(participant)) => {
                let ask = EngineCommand::AskQuestion { permission, participant, question };
                hall.submit(stream, ask, None).await.map(drop).map_err(SessionError::Hall)
            }
            Ok(None) => Err(SessionError::Conflict(format!("{name} is not in {stream} any more."))),
            Err(error) => Err(error),
        };
        if let Err(error) = asked {
            tracing::warn!(session = %self.session.id, %stream, %error, "the question of a session's program could not be put to people");
            self.tell_people(format!("{name} asks something that could not be put to you here: moothall attach {name}\n\n{action}")).await;
        }
    }

    /// Withdraws a question asked outside turns. Such a question has no deadline, so a failed
    /// withdrawal is retried in a task of its own until it is committed or rejected.
    async fn withdraw_in_no_turn(
        &self,
        stream: &StreamId,
        permission: PermissionId,
        because: WithdrawalReason,
    ) {
        let Some(hall) = self.hall() else { return };
        let withdraw = EngineCommand::WithdrawPermission { permission, because };
        if hall.submit(stream, withdraw.clone(), None).await.is_err() {
            let (sessions, stream) = (self.sessions.clone(), stream.clone());
            hall.spawn(async move { sessions.tell_until_kept(&stream, withdraw).await });
        }
    }

    /// Posts a notice of the server at home, which wakes no agent.
    pub(super) async fn tell_people(&self, text: String) {
        let Some(hall) = self.hall() else { return };
        let post = Post {
            tags: vec!["attention".into()],
            ..Post::new(Actor::human(ParticipantId::moothall()), text)
        };
        if let Err(error) = hall.submit(&self.session.id, ClientCommand::Post(post), None).await {
            tracing::warn!(session = %self.session.id, %error, "the notice about a session's \
                                                                terminal could not be posted");
        }
    }

    /// Posts words at home, with the deliveries that they owe. Returns true if they were posted.
    async fn post_home(
        &self,
        id: &str,
        text: &str,
        typed: bool,
        owed: Vec<OutboxEntry>,
    ) -> Result<bool, SessionError> {
        let stream = &self.session.id;
        let Some(own) = self.sessions.member_id(stream, stream).await? else { return Ok(false) };
        let post = if typed {
            Post { typed_at: Some(own), ..Post::new(Actor::unproven(ParticipantId::USER), text) }
        } else {
            Post::new(Actor::named(own), text)
        };
        let hall = self.sessions.hall()?;
        let said = hall
            .submit_owing(stream, ClientCommand::Post(post), Some(once(id, stream)), owed)
            .await;
        let is_said = said.is_ok();
        ignore_refusal(said).map(|()| is_said)
    }
}

/// The conversations that the words of a report reach.
struct WordReach {
    /// The conversations, on this and on other computers, that receive words of the report.
    crossed: Vec<StreamId>,
    /// The turn of another computer that the report ends.
    hosted: Option<HostedKey>,
}

/// Returns the addresses of the members of a link.
fn addresses(link: &JoinedConversation) -> impl Iterator<Item = Address> {
    link.members.iter().map(|member| member.address.clone())
}

/// Treats a rejection, a used key and a missing conversation as success.
fn ignore_refusal<T>(answer: Result<T, HallError>) -> Result<(), SessionError> {
    match answer {
        Ok(_)
        | Err(
            HallError::Rejected(_)
            | HallError::KeyReused
            | HallError::NotFound(_)
            | HallError::Deleted(_),
        ) => Ok(()),
        Err(error) => Err(SessionError::Hall(error)),
    }
}

/// Returns the idempotency key of a report in a conversation.
fn once(id: &str, stream: &StreamId) -> Idempotency {
    let key = blake3::hash(format!("{id}/{stream}").as_bytes()).to_hex().to_string();
    Idempotency { principal: BRINGER.into(), key, fingerprint: String::new() }
}
