//! One agent connection: reads calls, writes responses and notices, and cuts off a client that is
//! too slow, silent or abusive.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, pending};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{FutureExt, SinkExt, StreamExt};
use moothall_engine::access::Revocations;
use moothall_engine::door::Door;
use moothall_engine::tasks::{AgentConnection, Notice, SharedNotice};
use moothall_kernel::ids::EventId;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::coop;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use super::calls::{self, CallOutcome, ConnectedAgent, FRAME_BYTES_MAX, HEARTBEAT_MS};
use super::code::{RpcCode, RpcError};
use super::convert::written;
use super::frame::{self, Frame};
use super::guarded::{AgentSocket, FrameFault};
use super::manager::PendingCall;
use super::methods::{Call, Method};
use super::under_way::RunningCalls;
use crate::http::App;
use crate::rates::StreamSlot;
use crate::slots::ConnectionSlot;
use crate::sse;
use crate::wire::rpc;

/// The advised wait after too many calls in flight, in milliseconds.
const RETRY_AFTER_MS: u64 = 1_000;
/// Maximum number of consecutive refused frames of an authenticated client.
const REFUSED_MAX: u32 = 1_000;
/// Maximum number of consecutive refused frames before authentication.
const REFUSED_UNKNOWN_MAX: u32 = 20;
/// Time limit for authentication.
const UNKNOWN_FOR: Duration = Duration::from_secs(60);
/// Heartbeats without a sign of the client before it is cut off.
const MISSED_MAX: u32 = 3;
/// Time limit for the closing handshake.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);
/// Maximum number of bytes that are discarded after the closing frame.
const UNHEARD_BYTES_MAX: u64 = 64 << 10;
/// Maximum number of the connection's own messages whose notices are still to come.
const OWN_MAX: usize = 1_024;
/// Maximum number of requests to a manager that wait to be written.
const ASKED_MAX: usize = 64;

/// The reason why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The client has closed the connection, or the connection broke.
    Gone,
    GoingAway,
    Revoked,
    TooSlow,
    TooWild,
    Silent,
    NeverSaid,
    TooLarge,
    /// Too many frames carry no data.
    TooMany,
    /// A frame breaks the protocol.
    Broken,
    NotText,
    /// The connection was evicted for its slot or its bytes.
    Crowded,
}

impl End {
    /// Returns the code and reason of the closing frame.
    const fn words(self) -> Option<(u16, &'static str)> {
        Some(match self {
            End::Gone => return None,
            End::GoingAway => (1001, "the server is shutting down; connect again"),
            End::Revoked => (1008, "the key is no longer valid"),
            End::TooSlow => (
                1013,
                "the client is too slow: connect again, and read messages with messages/list",
            ),
            End::TooWild => (1008, "too many frames were rejected"),
            End::Silent => (1008, "the client did not answer pings"),
            End::NeverSaid => (1008, "network/connect did not arrive in time"),
            End::TooLarge => (1009, "a frame is too large"),
            End::TooMany => {
                (1008, "too many frames without data: pings, pongs and empty fragments")
            }
            End::Broken => (1002, "a frame violates the protocol"),
            End::NotText => (1007, "a text frame is not UTF-8"),
            End::Crowded => (1013, "the server is full: connect again later"),
        })
    }

    /// Converts an error of the library.
    fn of(error: &Error) -> Self {
        match error {
            Error::Capacity(_) => End::TooLarge,
            Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => End::Gone,
            Error::Protocol(_) => End::Broken,
            Error::Utf8(_) => End::NotText,
            Error::Io(error) => match error.get_ref().and_then(|fault| fault.downcast_ref()) {
                Some(FrameFault::TooLarge) => End::TooLarge,
                Some(FrameFault::TooMany) => End::TooMany,
                None => End::Gone,
            },
            _ => End::Gone,
        }
    }
}

/// The state of an authenticated agent.
struct IdentifiedAgent {
    at: ConnectedAgent,
    attendance: AgentConnection,
    asked: mpsc::Receiver<PendingCall>,
    lost: Pin<Box<dyn Future<Output = ()> + Send>>,
    _streaming: Option<StreamSlot>,
}

/// An event that wakes the connection.
enum ConnectionEvent {
    Came(Option<Result<Message, Error>>),
    Done(CallOutcome),
    Notice(Arc<SharedNotice>),
    Asks(PendingCall),
    Beat,
    End(End),
}

/// A connection with its calls in flight.
struct Connection {
    app: App,
    /// The client's address, for the limits of wrong keys.
    address: Option<IpAddr>,
    slot: Arc<ConnectionSlot>,
    known: Option<IdentifiedAgent>,
    calls: RunningCalls,
    /// Messages sent over this connection whose notices are still to come. These notices are
    /// dropped.
    own: VecDeque<EventId>,
    /// Notices held while a send of their conversation is in flight.
    held: Vec<Arc<SharedNotice>>,
    /// The server's open requests, by id.
    questions: HashMap<String, oneshot::Sender<Value>>,
    last_question: u64,
    refused: u32,
    missed: u32,
    out: VecDeque<Utf8Bytes>,
}

/// Serves one connection until it ends.
pub(super) async fn serve(
    app: App,
    address: Option<IpAddr>,
    slot: &Arc<ConnectionSlot>,
    socket: AgentSocket,
    revocations: Revocations,
) {
    let (mut sink, mut stream) = socket.split();
    let mut connection = Connection {
        app,
        address,
        slot: slot.clone(),
        known: None,
        calls: RunningCalls::default(),
        own: VecDeque::new(),
        held: Vec::new(),
        questions: HashMap::new(),
        last_question: 0,
        refused: 0,
        missed: 0,
        out: VecDeque::new(),
    };
    let end = tokio::select! {
        end = connection.live(&mut sink, &mut stream, revocations) => end,
        () = slot.cut() => End::Crowded,
    };
    if connection.known.is_none() {
        connection.app.rates.ended_keyless(address);
    }
    // The agent is offline, and its stream slot free, before the closing handshake begins.
    drop(connection);
    if let Ok(socket) = stream.reunite(sink) {
        let _ = timeout(LAST_WORDS_WITHIN, last_words(socket, end)).await;
    }
}

/// Sends the closing frame and closes the connection. Discards the bytes that the client still
/// sends. Otherwise the system would reset the connection, and the closing frame would be lost.
async fn last_words(mut socket: AgentSocket, end: End) -> Result<(), Error> {
    let Some((code, reason)) = end.words() else {
        // If the client began the closing handshake, this answers it.
        return SinkExt::close(&mut socket).await;
    };
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    socket.send(Message::Close(Some(frame))).await?;
    let bytes = socket.get_mut();
    bytes.stop_judging();
    bytes.shutdown().await?;
    tokio::io::copy(&mut bytes.take(UNHEARD_BYTES_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

impl Connection {
    /// Serves the connection until it has to end, and returns the reason. Each round first writes
    /// the queued frames, and then handles one event. A new frame of the client is read only if
    /// nothing else is due, and only if [`Connection::may_take`] allows it.
    async fn live(
        &mut self,
        sink: &mut SplitSink<AgentSocket, Message>,
        stream: &mut SplitStream<AgentSocket>,
        revocations: Revocations,
    ) -> End {
        let heartbeat = Duration::from_millis(HEARTBEAT_MS.into());
        let mut beats = interval_at(Instant::now() + heartbeat, heartbeat);
        // A long write delays beats. A burst of them would count as silence of the client.
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (unknown_until, mut revocations) = (Instant::now() + UNKNOWN_FOR, Some(revocations));
        let mut closing = self.app.closing.clone();
        loop {
            if let Err(end) = self.write(sink, &mut closing).await {
                return end;
            }
            let may_take = self.may_take();
            let (known, calls) = (&mut self.known, &mut self.calls);
            let is_unknown = known.is_none();
            // `biased`, so that finished work goes out before more is read.
            let woken = tokio::select! {
                biased;
                () = sse::closed(&mut closing) => ConnectionEvent::End(End::GoingAway),
                woken = next_event(known) => woken,
                done = calls.next() => ConnectionEvent::Done(done),
                _ = beats.tick() => ConnectionEvent::Beat,
                () = sleep_until(unknown_until), if is_unknown => {
                    ConnectionEvent::End(End::NeverSaid)
                }
                came = stream.next(), if may_take => ConnectionEvent::Came(came),
            };
            let went = match woken {
                ConnectionEvent::End(end) => Err(end),
                ConnectionEvent::Done(done) => {
                    self.done(done);
                    Ok(())
                }
                ConnectionEvent::Notice(notice) => {
                    self.tell(notice);
                    Ok(())
                }
                ConnectionEvent::Asks(asked) => {
                    self.ask(asked);
                    Ok(())
                }
                ConnectionEvent::Beat => self.beat(sink, &mut closing).await,
                ConnectionEvent::Came(came) => self.take(came, &mut revocations).await,
            };
            if let Err(end) = went {
                return end;
            }
        }
    }

    /// True if more frames may be read: there is room for calls, or the server waits for a response
    /// of the client. In the latter case, the client's own calls may wait for that response.
    fn may_take(&self) -> bool {
        self.calls.has_room() || self.questions.values().any(|asked| !asked.is_closed())
    }

    /// Writes all queued frames with one flush.
    async fn write(
        &mut self,
        sink: &mut SplitSink<AgentSocket, Message>,
        closing: &mut watch::Receiver<bool>,
    ) -> Result<(), End> {
        if self.out.is_empty() {
            return Ok(());
        }
        let out = std::mem::take(&mut self.out);
        let writing = async {
            for text in out {
                sink.feed(Message::Text(text)).await?;
            }
            sink.flush().await
        };
        self.unless_ended(writing, closing).await
    }

    /// Waits for a write, or for the reason to end the connection if that comes first. Otherwise a
    /// client that reads nothing would keep the connection open.
    async fn unless_ended(
        &mut self,
        writing: impl Future<Output = Result<(), Error>>,
        closing: &mut watch::Receiver<bool>,
    ) -> Result<(), End> {
        tokio::select! {
            biased;
            end = ended(&mut self.known) => Err(end),
            wrote = writing => wrote.map_err(|_| End::Gone),
            () = sse::closed(closing) => Err(End::GoingAway),
        }
    }

    /// Sends a ping. Returns [`End::Silent`] if the client has sent nothing since the last
    /// [`MISSED_MAX`] pings.
    async fn beat(
        &mut self,
        sink: &mut SplitSink<AgentSocket, Message>,
        closing: &mut watch::Receiver<bool>,
    ) -> Result<(), End> {
        self.missed += 1;
        if self.missed > MISSED_MAX {
            return Err(End::Silent);
        }
        self.unless_ended(sink.send(Message::Ping(<_>::default())), closing).await
    }

    /// Handles a message, a fault or the end of the socket. Each message shows that the client is
    /// alive. Returns an error if the connection has to end.
    async fn take(
        &mut self,
        came: Option<Result<Message, Error>>,
        revocations: &mut Option<Revocations>,
    ) -> Result<(), End> {
        let message = match came {
            Some(Ok(message)) => message,
            Some(Err(error)) => return Err(End::of(&error)),
            None => return Err(End::Gone),
        };
        // Yields from time to time, because buffered frames would keep a worker thread busy.
        coop::consume_budget().await;
        self.missed = 0;
        match message {
            Message::Text(text) => self.read(text.as_str(), revocations).await,
            Message::Binary(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => self.read(text, revocations).await,
                Err(_) => self.refuse(None, &RpcError::plain(RpcCode::ParseError)),
            },
            // The library answers pings, and never returns raw frames.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(()),
            Message::Close(_) => Err(End::Gone),
        }
    }

    /// Handles a frame. A response goes to the server's request that it answers; without such a
    /// request it counts as refused. A request of the client begins a call, or is refused. Before
    /// authentication only `network/connect` is accepted.
    async fn read(&mut self, text: &str, revocations: &mut Option<Revocations>) -> Result<(), End> {
        let (id, method, params) = match Frame::read(text) {
            Err(error) => return self.refuse(None, &error),
            Ok(Frame::Response { id, outcome }) => {
                let Some(question) = id.and_then(|id| self.questions.remove(&id)) else {
                    return self.count_refused();
                };
                // An error drops `question`, and its caller reads the closed channel as a refusal.
                if let Ok(answer) = outcome {
                    let _ = question.send(answer);
                }
                return Ok(());
            }
            Ok(Frame::Request { id, method, params }) => (id, method, params),
        };
        // The check comes after parsing, because the error needs the id of the request.
        if text.len() > FRAME_BYTES_MAX {
            let reason =
                format!("the frame has {} bytes; the maximum is {FRAME_BYTES_MAX}", text.len());
            return self.refuse(Some(&id), &RpcError::invalid_params(&method, &reason));
        }
        let connects = method == Method::NetworkConnect.word();
        if self.known.is_none() && !connects {
            // Unknown methods are reported only to authenticated clients.
            return self.refuse(Some(&id), &RpcError::plain(RpcCode::Unauthorized));
        }
        let call = match Call::read(&method, params) {
            Ok(call) => call,
            Err(error) => return self.refuse(Some(&id), &error),
        };
        match call {
            Call::NetworkConnect(connect) => self.connect(&id, &connect, revocations).await,
            call if !self.calls.takes(&call) => {
                let data = serde_json::json!({ "retryAfterMs": RETRY_AFTER_MS });
                self.refuse(Some(&id), &RpcError::plain(RpcCode::RateLimited).with_data(data))
            }
            call => match self.counted(&call) {
                Err(error) => self.refuse(Some(&id), &error),
                Ok(()) => {
                    self.call(id, call);
                    Ok(())
                }
            },
        }
    }

    /// Handles `network/connect`: queues the response, or refuses the frame.
    async fn connect(
        &mut self,
        id: &str,
        connect: &rpc::NetworkConnect,
        revocations: &mut Option<Revocations>,
    ) -> Result<(), End> {
        match self.connected(connect, revocations).await {
            Ok(hello) => {
                self.out.push_back(frame::response(id, &hello).into());
                Ok(())
            }
            Err(error) => self.refuse(Some(id), &error),
        }
    }

    /// Authenticates the client and takes its agent online. A client that is authenticated already
    /// gets the same response again, or `AlreadyConnected` if the key is of another agent.
    async fn connected(
        &mut self,
        connect: &rpc::NetworkConnect,
        revocations: &mut Option<Revocations>,
    ) -> Result<rpc::HelloOk, RpcError> {
        let (min, max) = connect.versions();
        calls::check_versions(min, max)?;
        if let Some(IdentifiedAgent { at, .. }) = &self.known {
            // A repeated `network/connect` costs as much as any other call.
            let counted = at.door.count_request(&at.own, false);
            counted.map_err(|error| RpcError::of(Method::NetworkConnect, error))?;
        }
        let caller = calls::caller_of(&self.app, self.address, connect).await?;
        let door = self.app.entrance.of(caller.clone());
        if let Some(known) = &self.known {
            let own = known.at.own.agent();
            let same = caller.principal().is_some_and(|principal| principal.id == *own);
            let other = || RpcError::plain(RpcCode::AlreadyConnected);
            return same.then(|| calls::hello(&known.at.own)).ok_or_else(other);
        }
        let streaming = self.app.rates.stream(&caller).map_err(|_| {
            RpcError::new(RpcCode::RateLimited, "This agent has too many connections")
        })?;
        let refused = |error| RpcError::of(Method::NetworkConnect, error);
        let attendance = door.attend().await.map_err(refused)?;
        let now = self.app.entrance.now();
        let lost = match revocations.take() {
            Some(revocations) => revocations.wait_until_lost(caller, now).boxed(),
            // A second call returns above, because `known` is set below.
            None => pending().boxed(),
        };
        let own = attendance.line().clone();
        let hello = calls::hello(&own);
        self.slot.vouch();
        self.known = Some(Self::known(door, attendance, lost, streaming));
        Ok(hello)
    }

    /// Returns the state of an authenticated agent, with a new channel for requests to it.
    fn known(
        door: Door,
        attendance: AgentConnection,
        lost: Pin<Box<dyn Future<Output = ()> + Send>>,
        streaming: StreamSlot,
    ) -> IdentifiedAgent {
        let (asks, asked) = mpsc::channel(ASKED_MAX);
        let at = ConnectedAgent { door, own: attendance.line().clone(), asked: asks };
        IdentifiedAgent { at, attendance, asked, lost, _streaming: Some(streaming) }
    }

    /// Counts a call. Returns the error if the agent has made too many.
    fn counted(&self, call: &Call) -> Result<(), RpcError> {
        let Some(known) = &self.known else { return Ok(()) };
        let is_message = matches!(call, Call::MessagesSend(_));
        let counted = known.at.door.count_request(&known.at.own, is_message);
        counted.map_err(|error| RpcError::of(call.method(), error))
    }

    fn call(&mut self, id: String, call: Call) {
        let Some(known) = &self.known else { return };
        self.calls.begin(self.app.clone(), known.at.clone(), id, call);
    }

    /// Queues the response of a finished call. After a message, also remembers the message's id. If
    /// no other message is being sent to its conversation, the notices that were held for the
    /// conversation are queued too.
    fn done(&mut self, done: CallOutcome) {
        let CallOutcome { text, sent_to, sent } = done;
        // Only consecutive refusals count as abuse.
        self.refused = 0;
        self.out.push_back(text.into());
        let Some(conversation) = sent_to else { return };
        if let Some(event) = sent {
            if self.own.len() == OWN_MAX {
                self.own.pop_front();
            }
            self.own.push_back(event);
        }
        if !self.calls.sends_to(&conversation) {
            let of_it = |notice: &mut Arc<SharedNotice>| {
                notice.notice().conversation() == Some(&conversation)
            };
            let released: Vec<_> = self.held.extract_if(.., of_it).collect();
            released.iter().for_each(|notice| self.write_notice(notice));
        }
    }

    /// Queues a notice, or holds it while it may be about a message of this connection. The id of a
    /// message is unknown while the message is being sent. So a notice about a message of this
    /// agent is held if this connection is sending a message to the same conversation. If more than
    /// [`OWN_MAX`] notices are held, all of them are queued.
    fn tell(&mut self, notice: Arc<SharedNotice>) {
        let conversation = notice.notice().conversation();
        let is_behind = self.held.iter().any(|held| held.notice().conversation() == conversation);
        let is_sending = conversation.is_some_and(|id| self.calls.sends_to(id));
        // Later notices of the conversation wait behind a held one, so that their order stays.
        if !is_sending || !(is_behind || self.own_message(notice.notice()).is_some()) {
            return self.write_notice(&notice);
        }
        self.held.push(notice);
        if self.held.len() > OWN_MAX {
            std::mem::take(&mut self.held).iter().for_each(|notice| self.write_notice(notice));
        }
    }

    /// Queues a notice. A notice about a message that was sent over this connection is dropped,
    /// because the client learns of the message from the response to its call.
    fn write_notice(&mut self, notice: &SharedNotice) {
        let own = self.own_message(notice.notice());
        if let Some(place) = own.and_then(|own| self.own.iter().position(|id| *id == own)) {
            self.own.remove(place);
            return;
        }
        let text = notice.written(written);
        if !text.is_empty() {
            self.out.push_back((&*text).into());
        }
    }

    /// Returns the id of the message that the notice is about, if this connection's agent sent it.
    fn own_message(&self, notice: &Notice) -> Option<EventId> {
        let own = self.known.as_ref()?.at.own.agent();
        let posted = notice.posted().filter(|posted| posted.from == *own)?;
        match notice {
            Notice::Received { conversation, message, .. } => {
                Some(message.id(conversation)).filter(|_| posted.from == *own)
            }
            _ => None,
        }
    }

    /// Queues a request to the client, which manages an app. The asker gets the client's result.
    fn ask(&mut self, asked: PendingCall) {
        let PendingCall { request, answer } = asked;
        // If the asker gave up a request, the client perhaps never responds to it.
        self.questions.retain(|_, waiting| !waiting.is_closed());
        self.last_question += 1;
        let id = format!("server-{}", self.last_question);
        self.out.push_back(frame::request(&id, request.word(), &request).into());
        self.questions.insert(id, answer);
    }

    /// Queues an error, and counts a refused frame.
    fn refuse(&mut self, id: Option<&str>, error: &RpcError) -> Result<(), End> {
        self.out.push_back(frame::error(id, error).into());
        self.count_refused()
    }

    /// Counts a refused frame. Too many consecutive ones end the connection.
    fn count_refused(&mut self) -> Result<(), End> {
        self.refused += 1;
        let most = if self.known.is_some() { REFUSED_MAX } else { REFUSED_UNKNOWN_MAX };
        if self.refused > most { Err(End::TooWild) } else { Ok(()) }
    }
}

/// Resolves with the reason if an authenticated agent has lost its key or is too slow, even during
/// a write. Never resolves before authentication.
async fn ended(known: &mut Option<IdentifiedAgent>) -> End {
    let Some(known) = known else { return pending().await };
    tokio::select! {
        biased;
        () = &mut known.lost => End::Revoked,
        _ = known.attendance.cut() => End::TooSlow,
    }
}

/// Resolves with the next request or notice for an authenticated agent, or with the end of its
/// connection. Never resolves before authentication.
async fn next_event(known: &mut Option<IdentifiedAgent>) -> ConnectionEvent {
    let Some(known) = known else { return pending().await };
    tokio::select! {
        biased;
        () = &mut known.lost => ConnectionEvent::End(End::Revoked),
        Some(asked) = known.asked.recv() => ConnectionEvent::Asks(asked),
        notice = known.attendance.next() => match notice {
            Ok(notice) => ConnectionEvent::Notice(notice),
            Err(_) => ConnectionEvent::End(End::TooSlow),
        },
    }
}
