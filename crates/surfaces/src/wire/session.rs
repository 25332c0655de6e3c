//! Sessions on the wire: what runs in terminals, what it shows, and what is said to it.

use moothall_engine::sessions::{ResumedSession, SendResult, SessionData, Status, View};
use moothall_kernel::ids::{EventId, PermissionId, StreamId};
use moothall_kernel::permission::PermissionOption;
use moothall_kernel::time::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Envelope;

/// Body of `POST /sessions`: a program to start, or with `adopt` one that runs already.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// Which program: one of `programs` in `GET /sessions`. Required.
    pub client: String,
    /// The folder it works in, as a whole path; where it is missing, the one that the program is
    /// configured with, or else the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// More arguments for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 64)]
    pub args: Vec<String>,
    /// What it shall be called; unique among those that live, and a valid id of a participant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The terminal of a program that somebody else started; without `cwd` and `args` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopt: Option<Adoption>,
    /// For agents that live in no terminal: the thread, in which they take part, where a person is
    /// asked whether this may be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Who asks; `user` where it is missing, and the session itself where its token says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Answer of `POST /sessions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum StartAnswer {
    /// A person is asked first, status 202.
    Asked(StartAsked),
    /// It runs, status 200.
    Started(Box<SessionEntry>),
}

/// A person is asked first: if a program may be started, or if two sessions may talk. The asker is
/// told the outcome, in the same thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StartAsked {
    /// Always `asked`: nothing was done yet.
    pub state: String,
    /// The permission that waits for an answer.
    pub permission: String,
    /// The thread in which it is asked.
    pub thread: String,
    /// The same in words.
    pub message: String,
}

impl StartAsked {
    /// A permission that waits in a thread.
    pub fn new(thread: &StreamId, permission: &PermissionId) -> Self {
        let message = "A person is asked whether this may be started. You are told in your thread what comes of it; go on with something \
                       else, or end your turn, and do not ask again.";
        Self::with(thread, permission, message)
    }

    /// A wish to talk that waits in a thread.
    pub fn to_talk(thread: &StreamId, permission: &PermissionId) -> Self {
        let message = "You share no conversation with a session of that name, so a person is asked if you may talk to it. You are told the \
                       answer in your thread; go on with something else, or end your turn, and do not ask again.";
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

/// Where a program runs that somebody else started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Adoption {
    /// The multiplexer's socket: a name or a path.
    pub socket: String,
    /// The pane there, e.g. `%7` or `work:0.1`.
    pub pane: String,
}

/// A session: one run of a program in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionEntry {
    /// Its id, and that of its home: the thread in which everything is said that goes to it alone.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Which program runs in it: a client of the registry.
    pub client: String,
    /// `starting`, `idle`, `drafting`, `busy`, `asking` or `ended`.
    pub state: String,
    /// Turns that wait for it.
    pub waiting: usize,
    /// The folder it works in.
    pub cwd: String,
    /// `started` by this server, or `observed`: without hooks, so only its screen tells what it
    /// says.
    pub origin: String,
    /// The user of that computer that its program runs as, where it is not the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_as: Option<String>,
    /// The computer it is on; missing for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
    /// The program's own id for it, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<String>,
    /// Sessions that ended with the computer, or as the last of a link, and that keep links of this
    /// session closed. Resume them or end them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// When the session began.
    pub started_at: String,
    /// When and why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<SessionEnd>,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionEnd {
    /// When it ended: RFC 3339, UTC, milliseconds.
    pub at: String,
    /// Why, in one sentence.
    pub why: String,
    /// True if its terminal went with the computer or the multiplexer: `moothall resume --all` runs
    /// these again.
    pub lost: bool,
}

impl From<&Status> for SessionEntry {
    fn from(status: &Status) -> Self {
        let session = &status.session;
        Self {
            id: session.id.to_string(),
            name: session.name.to_string(),
            client: session.client.clone(),
            state: status.doing.to_string(),
            waiting: status.waiting,
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

/// A program that can be started in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgramEntry {
    /// The name of the program, as `client` of a new session takes it.
    pub client: String,
    /// One sentence about it.
    pub summary: String,
}

/// Answer of `GET /sessions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionList {
    /// In the order in which they began.
    pub sessions: Vec<SessionEntry>,
    /// What can be started.
    pub programs: Vec<ProgramEntry>,
}

/// What a session's terminal shows: the answer of `GET /sessions/{id}/screen`, and the `screen`
/// event of its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScreenAnswer {
    /// The id of the session.
    pub session: String,
    /// What the screen says that the program does: `starting`, `idle`, `busy`, `asking`, `shell` or
    /// `gone`.
    pub state: String,
    /// The whole screen. Text, not markup, without escape sequences.
    pub text: String,
    /// What stands in the program's composer, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composer: Option<String>,
    /// The question that the program asks, when it waits for permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogEntry>,
}

/// A question of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DialogEntry {
    /// What it wants to do.
    pub action: String,
    /// Whether all of that stands on the screen.
    pub complete: bool,
    /// The answers it offers.
    pub options: Vec<OptionEntry>,
}

/// One of the answers that a permission offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptionEntry {
    /// Names it among the options of its question.
    pub id: String,
    /// Its words, as whoever asks has them.
    pub label: String,
    /// What it comes to: `allow_once`, `allow_always`, `reject_once`, `reject_always` or `other`.
    pub kind: String,
    /// It is answered with `text`: words of one's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_text: bool,
    /// It may be chosen together with others of the kind: their ids or numbers with commas between.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_others: bool,
}

impl OptionEntry {
    /// Options as they travel.
    pub fn all(options: &[PermissionOption]) -> Vec<Self> {
        let entry = |option: &PermissionOption| Self {
            id: option.id.clone(),
            label: option.label.clone(),
            kind: option.kind.to_string(),
            takes_text: option.takes_text,
            with_others: option.with_others,
        };
        options.iter().map(entry).collect()
    }
}

impl ScreenAnswer {
    /// A view as it travels.
    pub fn of(session: &StreamId, view: View) -> Self {
        Self {
            session: session.to_string(),
            state: view.state.to_string(),
            text: view.text,
            composer: view.composer,
            dialog: view.dialog.map(|dialog| DialogEntry {
                action: dialog.action,
                complete: !dialog.partial,
                options: OptionEntry::all(&dialog.options),
            }),
        }
    }
}

/// Answer of `GET /sessions/{id}/data`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionDataAnswer {
    /// The session, and how it is now.
    pub session: SessionEntry,
    /// What it was asked and said, oldest first, cut to its end.
    pub text: String,
    /// Whether something was cut off.
    pub truncated: bool,
    /// The cut that was made, in characters.
    pub tail_chars: usize,
    /// How to get what was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

impl From<SessionData> for SessionDataAnswer {
    fn from(data: SessionData) -> Self {
        let notice = data.truncated.then(|| {
            let oldest = oldest_shown(&data).map_or_else(String::new, |ts| format!(" = {ts}"));
            format!(
                "Only the last {} characters are here; tail_chars = 0 gives the most there can be, 48000. For what was before, ask again \
                 with until{oldest}.",
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

/// When the first words came that are, perhaps in part, within the cut.
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
    /// The words. Required, unless a link is only to be closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Talk over a link of the two: what either says at the end of a turn reaches the other. Only a
    /// session can ask for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direct: bool,
    /// End the link of the two, after the words, if there are any. Only a session can ask for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub close_link: bool,
    /// Who says it; `user` where it is missing, and the session itself where its token says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Answer of `POST /sessions/{id}/messages`, and of the tool `send_message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum SendAnswer {
    /// A person is asked first, status 202.
    Asked(StartAsked),
    /// It was said, or held back, status 200.
    Sent(MessageSent),
}

/// Words that were said to a session or in a thread, or held back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MessageSent {
    /// The link, when there is one.
    pub link_id: Option<String>,
    /// `created`, `reused`, `closed` or `none`.
    pub link_state: String,
    /// Whom it goes to: sessions, or the participants of a thread.
    pub delivered_to: Vec<String>,
    /// The thread in which it was said.
    pub thread: String,
    /// The event; missing when nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The position of the event in its thread; missing when nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// `held` or `stopped`: a guard or a Stop holds the words back, and they reach no one until a
    /// person speaks there. `unknown_name`: the words name a name that no participant bears, and a
    /// sentence follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl MessageSent {
    /// Words that are held back in a conversation.
    pub fn held_back(stream: &StreamId, warnings: Vec<String>) -> Self {
        Self {
            link_id: None,
            link_state: "none".into(),
            delivered_to: Vec::new(),
            thread: stream.to_string(),
            event: None,
            seq: None,
            warnings,
        }
    }

    /// What became of a message, with the event that it is when it is known.
    pub fn of(sent: &SendResult, event: Option<EventId>) -> Self {
        Self {
            link_id: sent.link.as_ref().map(ToString::to_string),
            link_state: sent.state.to_string(),
            delivered_to: sent.delivered_to.iter().map(ToString::to_string).collect(),
            thread: sent.stream.to_string(),
            event: event.map(|event| event.to_string()),
            seq: sent.seq.map(|seq| seq.0),
            warnings: sent.held.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Answer of `POST /sessions/{id}/interrupt` and `…/end`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionActed {
    /// Always `true`: what cannot be done is an error.
    pub done: bool,
    /// The session as it is now.
    pub session: SessionEntry,
}

/// Answer of `POST /sessions/{id}/resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionResumed {
    /// The session as it is now.
    pub session: SessionEntry,
    /// True if the program goes on with what it remembers; otherwise it began anew.
    pub remembers: bool,
    /// The links that carry its words again.
    pub links: Vec<String>,
    /// Arguments that the program was started with and that were left out now: they were a prompt,
    /// or may have been one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

impl SessionResumed {
    /// The answer about a session that was resumed and that travels like this.
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
    /// The session whose terminal it is, as it is now.
    pub session: SessionEntry,
    /// The command with which a person on the server's computer looks at the terminal and types
    /// into it.
    pub argv: Vec<String>,
}

/// Body of `POST /permissions/{id}/answer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAnswer {
    /// The thread in which it was asked. Required.
    pub thread: String,
    /// One of its options: its id, its words or their beginning, its number, or `allow` or `deny`,
    /// which mean the one option that allows or refuses it this once. Several with `with_others`
    /// stand with commas between them. Required without `text`; with it, it may be left out, and is
    /// the one option that takes any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub option: String,
    /// Words of one's own, for an option with `takes_text`, which needs them: some that can be
    /// seen, at most 4096 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Who answers: a person; `user` where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9._:-]{0,64}$")]
    pub from: Option<String>,
}

/// Answer of `POST /permissions/{id}/answer`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PermissionAnswered {
    /// Always `true`: an answer that is refused is an error.
    pub answered: bool,
    /// The event that says so.
    pub event: Option<Envelope>,
}
