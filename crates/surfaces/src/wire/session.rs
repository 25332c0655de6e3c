//! Sessions on the wire: programs in terminals, their screens, and messages to them.

use moothall_engine::computers::RemoteSession;
use moothall_engine::door::{PostedMessage, SessionReading};
use moothall_engine::sessions::{ProgramOffer, ResumedSession, SendResult, SessionData, Status};
use moothall_kernel::ids::{EventId, PermissionId, StreamId};
use moothall_kernel::permission::PermissionOption;
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;
use super::occupation::OccupationEntry;

/// Body of `POST /sessions`: a program to start, or with `adopt` one that already runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// Name of the program: one of `programs` in `GET /sessions`. Required.
    pub client: String,
    /// Absolute path of the working folder. If absent, the folder configured for the program, or
    /// else the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Additional arguments for the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 64)]
    pub args: Vec<String>,
    /// Name of the session: a valid participant id, unique among living sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Terminal of a running program that this server did not start. Not together with `cwd` and
    /// `args`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopt: Option<Adoption>,
    /// For agents without a terminal: id of a thread in which they take part. A person is asked
    /// there if the program may be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Id of the participant that asks. If absent, `user`, or the session to which the token
    /// belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Answer of `POST /sessions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StartAnswer {
    /// A permission that a person has to answer first, status 202.
    Asked(StartAsked),
    /// The running session, status 200.
    Started(Box<SessionEntry>),
}

/// An open request to a person: to start a program, or to let two sessions talk. The asker is
/// notified of the outcome in the same thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartAsked {
    /// Always `asked`: nothing was done yet.
    pub state: String,
    /// Id of the permission that waits for an answer.
    pub permission: String,
    /// Id of the thread in which a person is asked.
    pub thread: String,
    /// The state and the next step, in words.
    pub message: String,
}

impl StartAsked {
    /// Returns the answer for a request to start a program.
    pub fn new(thread: &StreamId, permission: &PermissionId) -> Self {
        let message = "A person is asked if this may be started. You get the outcome in your \
            thread; continue with other work, or end your turn, and do not ask again.";
        Self::with(thread, permission, message)
    }

    /// Returns the answer for a request to talk to a session.
    pub fn to_talk(thread: &StreamId, permission: &PermissionId) -> Self {
        let message = "You share no conversation with a session of that name, so a person is asked \
            if you may talk to it. You get the answer in your thread; continue with other work, or \
            end your turn, and do not ask again.";
        Self::with(thread, permission, message)
    }

    fn with(thread: &StreamId, permission: &PermissionId, message: &str) -> Self {
        Self {
            state: "asked".into(),
            permission: permission.to_string(),
            thread: thread.to_string(),
            message: message.into(),
        }
    }
}

/// The terminal of a program that this server did not start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Adoption {
    /// Socket of the multiplexer: a name or a path.
    pub socket: String,
    /// Pane of the multiplexer, e.g. `%7` or `work:0.1`.
    pub pane: String,
}

/// A session: one run of a program in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionEntry {
    /// Id of the session and of its home, the thread with the messages to this session alone.
    pub id: String,
    /// Name of the session.
    pub name: String,
    /// Name of the program: a client of the registry.
    pub client: String,
    /// State of the session: `starting`, `idle`, `drafting`, `busy`, `asking` or `ended`.
    pub state: String,
    /// The state in one word, with the thread of it, if the session works or asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<OccupationEntry>,
    /// Number of turns that wait for the session.
    pub waiting: usize,
    /// Id of the person who types in its terminal from afar; absent if the terminal is the
    /// server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typist: Option<String>,
    /// Working folder of the program.
    pub cwd: String,
    /// `started` by this server, or `observed`: a program without hooks, whose words are read from
    /// its screen alone.
    pub origin: String,
    /// User that the program runs as on its computer; absent if it is the server's own user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as: Option<String>,
    /// Name of the session's computer; absent for the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
    /// The program's own id for the session; absent until it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// Ended sessions that keep links of this session closed: they ended with the computer, or as
    /// the last of a link. Resume them or end them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Time at which the session began.
    pub started_at: String,
    /// Time and reason of the session's end; absent while it lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<SessionEnd>,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionEnd {
    /// When it ended: RFC 3339, UTC, milliseconds.
    pub at: String,
    /// Reason of the end, in one sentence.
    pub why: String,
    /// True if the terminal was lost with the computer or the multiplexer. `moothall resume --all`
    /// restarts such sessions.
    pub lost: bool,
}

impl From<&Status> for SessionEntry {
    /// Returns a session for the wire. `waits_for` is empty: `ask::session` adds it for an answer
    /// about one session.
    fn from(status: &Status) -> Self {
        let session = &status.session;
        Self {
            id: session.id.to_string(),
            name: session.name.to_string(),
            client: session.client.clone(),
            state: status.doing.to_string(),
            doing: None,
            waiting: status.waiting,
            typist: status.typist.as_ref().map(ToString::to_string),
            cwd: session.cwd.display().to_string(),
            origin: session.origin.to_string(),
            run_as: session.run_as.as_ref().map(|user| user.name.clone()),
            computer: Some(session.computer.clone()).filter(|computer| !computer.is_empty()),
            native: session.native.clone(),
            waits_for: Vec::new(),
            started_at: session.started_at.to_string(),
            ended: session.ended.as_ref().map(|(at, why)| SessionEnd {
                at: at.to_string(),
                why: why.clone(),
                lost: session.lost,
            }),
        }
    }
}

impl SessionEntry {
    /// Returns a session of another computer for the wire. Its folder stays there.
    pub fn elsewhere(session: RemoteSession, computer: &str) -> Self {
        Self {
            id: session.id,
            name: session.name,
            client: session.client,
            state: session.state,
            doing: None,
            waiting: session.waiting,
            typist: None,
            cwd: String::new(),
            origin: session.origin,
            run_as: None,
            computer: Some(computer.to_owned()),
            native: None,
            waits_for: Vec::new(),
            started_at: session.started_at.to_string(),
            ended: None,
        }
    }
}

/// A program that can be started in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgramEntry {
    /// Name of the program, for `client` of a new session.
    pub client: String,
    /// Description of the program, in one sentence.
    pub summary: String,
    /// Reason why the program cannot be started now, and how to get it; absent if it is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

impl From<ProgramOffer> for ProgramEntry {
    fn from(offer: ProgramOffer) -> Self {
        let ProgramOffer { client, summary, missing } = offer;
        Self { client, summary, missing }
    }
}

/// Answer of `GET /sessions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    /// The sessions, in the order in which they began.
    pub sessions: Vec<SessionEntry>,
    /// The programs that can be started.
    pub programs: Vec<ProgramEntry>,
    /// The computers whose sessions are not known now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<SilentComputer>,
}

/// A computer that did not tell its sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SilentComputer {
    /// Name of the computer here.
    pub name: String,
    /// The reason, in one sentence.
    pub reason: String,
}

/// One of the answers that a permission offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptionEntry {
    /// Id of the option, unique among the options of its question.
    pub id: String,
    /// Text of the option, as the asking program words it.
    pub label: String,
    /// The program's words about the option, apart from its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Effect of the option: `allow_once`, `allow_always`, `reject_once`, `reject_always` or
    /// `other`.
    pub kind: String,
    /// True if the option is answered with `text`, in the person's own words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_text: bool,
    /// True if the option can be combined with others of this kind: list their ids or numbers,
    /// separated by commas.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_others: bool,
}

impl OptionEntry {
    /// Returns options for the wire.
    pub fn all(options: &[PermissionOption]) -> Vec<Self> {
        let entry = |option: &PermissionOption| Self {
            id: option.id.clone(),
            label: option.label.clone(),
            description: option.description.clone(),
            kind: option.kind.to_string(),
            takes_text: option.takes_text,
            with_others: option.with_others,
        };
        options.iter().map(entry).collect()
    }
}

/// Answer of `GET /sessions/{id}/data`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionDataAnswer {
    /// The session as it is now.
    pub session: SessionEntry,
    /// Input and answers of the session, oldest first. Only the end is kept.
    pub text: String,
    /// True if the beginning of the text was cut off.
    pub truncated: bool,
    /// Maximum number of characters in the text.
    pub tail_chars: usize,
    /// A way to get the missing text; absent if nothing was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl From<SessionReading> for SessionDataAnswer {
    fn from(reading: SessionReading) -> Self {
        match reading {
            SessionReading::Here(data) => (*data).into(),
            SessionReading::There { computer, words } => Self {
                session: SessionEntry::elsewhere(words.session, &computer),
                text: words.text,
                truncated: words.truncated,
                tail_chars: words.tail_chars,
                notice: words.truncated.then(|| {
                    format!(
                        "These are only the last {} characters; tail_chars = 0 returns the \
                         maximum of 48000. For earlier text, ask again with until.",
                        words.tail_chars
                    )
                }),
            },
        }
    }
}

impl From<SessionData> for SessionDataAnswer {
    /// Returns the text of a session for the wire. If it was cut, the notice says how to get
    /// earlier text.
    fn from(data: SessionData) -> Self {
        let notice = data.truncated.then(|| {
            let oldest = oldest_shown(&data).map_or_else(String::new, |ts| format!(" = {ts}"));
            format!(
                "These are only the last {} characters; tail_chars = 0 returns the maximum of \
                 48000. For earlier text, ask again with until{oldest}.",
                data.tail_chars
            )
        });
        Self {
            session: (&data.status).into(),
            text: data.text,
            truncated: data.truncated,
            tail_chars: data.tail_chars,
            notice,
        }
    }
}

/// Returns the time of the oldest line that is within the cut, at least in part, or `None` without
/// such a line.
fn oldest_shown(data: &SessionData) -> Option<Timestamp> {
    let mut left = data.tail_chars;
    let within = data.lines.iter().rev().take_while(|line| {
        let room = left > 0;
        left = left.saturating_sub(line.text.chars().count());
        room
    });
    within.last().map(|line| line.ts)
}

/// Body of `POST /sessions/{id}/messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// The message. Required, unless a link is only to be closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// True to talk over a link of the two sessions: the words of each at the end of a turn reach
    /// the other. Only a session can ask for this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// True to close the link of the two sessions, after the message if there is one. Only a
    /// session can ask for this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close_link: bool,
    /// Id of the participant that speaks. If absent, `user`, or the session to which the token
    /// belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Answer of `POST /sessions/{id}/messages`, and of the tool `send_message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SendAnswer {
    /// A permission that a person has to answer first, status 202.
    Asked(StartAsked),
    /// The message, posted or held back, status 200.
    Sent(MessageSent),
}

/// A message to a session or a thread, posted or held back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageSent {
    /// Id of the link; `null` if there is none.
    pub link_id: Option<String>,
    /// State of the link: `created`, `reused`, `closed` or `none`.
    pub link_state: String,
    /// Ids of the recipients: sessions, or the participants of a thread. A session of another
    /// computer as it was named: `builder@workstation`.
    pub delivered_to: Vec<String>,
    /// Id of the thread of the message.
    pub thread: String,
    /// Id of the event; absent if no message was posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// Position of the event in its thread; absent if no message was posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// `held` or `stopped`: a guard or a Stop holds the message back until a person speaks in the
    /// thread. `unknown_name`: the message names an unknown participant; `no_discussion` and
    /// `outside_round`: it does not ask the agent that it names. A sentence follows these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The recipient's computer, if it is another one and is not there now: the message is sent
    /// when it is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<AwayComputer>,
}

/// A computer that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AwayComputer {
    /// Name of the computer here.
    pub name: String,
    /// When it was last seen: RFC 3339, UTC, milliseconds; absent if it was not seen since the
    /// server started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

impl MessageSent {
    /// Returns the answer for a message that is owed to a session of another computer.
    pub fn elsewhere(posted: &PostedMessage) -> Self {
        let away = posted.away.as_ref().map(|away| AwayComputer {
            name: away.name.clone(),
            since: away.since.map(|at| at.to_string()),
        });
        let delivered_to = vec![posted.to.clone()];
        Self { delivered_to, away, ..Self::held_back(&posted.stream, Vec::new()) }
    }

    /// Returns the answer for a message that is held back in a conversation.
    pub fn held_back(stream: &StreamId, warnings: Vec<String>) -> Self {
        Self {
            link_id: None,
            link_state: "none".into(),
            delivered_to: Vec::new(),
            thread: stream.to_string(),
            event: None,
            seq: None,
            warnings,
            away: None,
        }
    }

    /// Returns the answer for a sent message, with its event if known.
    pub fn of(sent: &SendResult, event: Option<EventId>) -> Self {
        Self {
            link_id: sent.link.as_ref().map(ToString::to_string),
            link_state: sent.state.to_string(),
            delivered_to: sent.delivered_to.iter().map(ToString::to_string).collect(),
            thread: sent.stream.to_string(),
            event: event.map(|event| event.to_string()),
            seq: sent.seq.map(|seq| seq.0),
            warnings: sent.held.iter().map(ToString::to_string).collect(),
            away: None,
        }
    }
}

/// Answer of `POST /sessions/{id}/interrupt` and `…/end`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionActed {
    /// Always `true`: a failed action is an error.
    pub done: bool,
    /// The session as it is now.
    pub session: SessionEntry,
}

/// Answer of `POST /sessions/{id}/resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionResumed {
    /// The session as it is now.
    pub session: SessionEntry,
    /// True if the program continues with its memory; false if it began anew.
    pub remembers: bool,
    /// Ids of the links that are active again.
    pub links: Vec<String>,
    /// Arguments of the first start that were left out now, because they are or may be a prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl SessionResumed {
    /// Returns the answer for a resumed session.
    pub fn of(resumed: &ResumedSession, session: SessionEntry) -> Self {
        Self {
            session,
            remembers: resumed.remembers,
            links: resumed.links.iter().map(ToString::to_string).collect(),
            left_out: resumed.left_out.clone(),
        }
    }
}

/// Answer of `GET /sessions/{id}/attach`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttachAnswer {
    /// The session that owns the terminal, as it is now.
    pub session: SessionEntry,
    /// Command with which a person on the server's computer opens the terminal and types into it.
    pub argv: Vec<String>,
}

/// Body of `POST /permissions/{id}/answer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAnswer {
    /// Id of the thread of the permission. Required.
    pub thread: String,
    /// The chosen option: its id, its words or their beginning, its number, or `allow` or `deny`,
    /// which mean the one option that allows or refuses only this time. Several options with
    /// `with_others` are separated by commas. Required without `text`. With `text` it may be
    /// absent, and then means the one option that takes text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub option: String,
    /// The person's own words, for an option with `takes_text`. Required for such an option: at
    /// least one visible character, at most 4096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Id of the person who answers; `user` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Answer of `POST /permissions/{id}/answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PermissionAnswered {
    /// Always `true`: a rejected answer is an error.
    pub answered: bool,
    /// The event of the answer.
    pub event: Option<Envelope>,
}
