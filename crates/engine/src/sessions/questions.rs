//! What a program asks a person: which question it is, whether it still stands, and where the answer goes.
//!
//! A question is bound to the dialog that shows it, so that an answer gives what it says or nothing: words of options are the same in
//! every dialog of a program. (`docs/decisions/0014-a-question-is-bound-to-its-dialog.md`)

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use moothall_kernel::Conversation;
use moothall_kernel::event::Fault;
use moothall_kernel::ids::{PermissionId, StreamId};
use moothall_kernel::permission::{OptionKind, PermissionOption, Question, Withdrawn};
use moothall_kernel::time::Millis;
use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

use super::directory::session_of;
use super::hooks::{Hook, HookNews, Permit};
use super::host::{Dialog, HostFault};
use super::runner::{Mail, Runner, Stage};
use super::{Session, Sessions};
use crate::agent::{Report, TurnKey};

/// How long a person has to answer a permission.
const ASK_MAX: Millis = Millis::from_secs(600);
/// A dialog whose report does not come, or that goes on standing after its answer, is taken for what it shows after so long; and a
/// screen that cannot be read, for one without a dialog.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long an answer may wait for a look at the terminal.
const LOOK_WITHIN: Duration = Duration::from_secs(5);

/// All that a session's program asks.
#[derive(Default)]
pub(super) struct Questions {
    asks: Vec<Ask>,
    /// What the program has reported that it asks, for programs whose reports do not wait for an answer.
    reported: Option<Reported>,
    /// The dialog that was answered last, for as long as it goes on standing there.
    answered: Option<Answered>,
    /// What was asked before a restart, and was not found again yet.
    earlier: Vec<PermissionId>,
    /// When patience ends.
    pub(super) due: Option<Instant>,
    /// What was refused in the turn, and how.
    refused: Option<String>,
}

/// A question that waits for a person.
struct Ask {
    permission: PermissionId,
    question: Question,
    to: Asked,
    /// The dialog that shows it, once it was seen.
    dialog: Option<Dialog>,
}

/// Where the answer to a question goes.
enum Asked {
    /// To the program's own hook, which waits for it.
    Hook(oneshot::Sender<Permit>),
    /// To the dialog on the screen.
    Dialog,
}

/// What a program says that it asks, beside its dialog.
pub(super) struct Reported {
    pub(super) action: String,
    pub(super) partial: bool,
}

/// A dialog that needs no question any more.
struct Answered {
    dialog: Dialog,
    /// Its time was over, and no key says no: it stays as it is.
    for_good: bool,
}

impl Questions {
    /// Whether a person is waited for.
    pub(super) fn is_any(&self) -> bool {
        !self.asks.is_empty()
    }

    /// What stood open before a restart.
    pub(super) fn remember(&mut self, earlier: Vec<PermissionId>) {
        self.earlier = earlier;
    }

    /// Nothing is asked any more, and nothing of the turn matters.
    pub(super) fn clear(&mut self) {
        let answered = self.answered.take();
        // The turn is over, not the dialog that was answered in it.
        *self = Self { answered, ..Self::default() };
    }

    /// What was reported belongs to a dialog that is gone.
    pub(super) fn forget_report(&mut self) {
        self.reported = None;
    }

    /// Resolves when the program's hook does not wait for an answer any more; never without such a one.
    pub(super) async fn given_up(&mut self) -> PermissionId {
        poll_fn(|context| {
            for ask in &mut self.asks {
                if let Asked::Hook(reply) = &mut ask.to
                    && reply.poll_closed(context).is_ready()
                {
                    return Poll::Ready(ask.permission.clone());
                }
            }
            Poll::Pending
        })
        .await
    }

    fn wait(&mut self) {
        self.due.get_or_insert_with(|| Instant::now() + PATIENCE);
    }

    /// Takes out what a dialog that stands there now does not show; all that was ever seen, where none stands there.
    fn gone(&mut self, standing: Option<&Dialog>) -> Vec<Ask> {
        let is_gone = |ask: &mut Ask| ask.dialog.as_ref().is_some_and(|dialog| standing.is_none_or(|standing| !dialog.is_same(standing)));
        self.asks.extract_if(.., is_gone).collect()
    }
}

impl Runner {
    /// The program's hook asks, and waits. It asks again after a restart, under the same id; what was answered by then is the answer.
    async fn asked_by_hook(&mut self, id: &str, asks: Reported, reply: oneshot::Sender<Permit>) {
        let Some(key) = self.asking_turn() else { return tell(reply, Permit::Undecided) };
        let permission = PermissionId::new(hash(&[self.session.id.as_str(), id, &asks.action]));
        if let Some(option) = self.answer_to(&key, &permission).await {
            return tell(reply, decided(&option));
        }
        let question = Question { partial: asks.partial, ..self.question(asks.action, PermissionOption::allow_or_deny()) };
        self.questions.earlier.retain(|earlier| *earlier != permission);
        // It came back over a lost connection.
        self.questions.asks.retain(|ask| ask.permission != permission);
        self.ask(&key, Ask { permission, question, to: Asked::Hook(reply), dialog: None });
    }

    /// A hook brings its question.
    pub(super) async fn ask_person(&mut self, hook: Hook, reply: oneshot::Sender<Permit>) {
        match hook.news {
            HookNews::Asks { action, partial } => self.asked_by_hook(&hook.id, Reported { action, partial }, reply).await,
            HookNews::Began | HookNews::Prompt { .. } | HookNews::Stopped { .. } | HookNews::Failed { .. } | HookNews::Ended => {
                tell(reply, Permit::Undecided);
            }
        }
    }

    async fn answer_to(&self, key: &TurnKey, permission: &PermissionId) -> Option<String> {
        let wanted = permission.clone();
        self.hall()?.view(&key.stream, move |state| state.answer_to(&wanted).map(str::to_owned)).await.ok()?
    }

    /// The program says what it asks, and does not wait: its dialog can be answered.
    pub(super) fn reported(&mut self, asks: Reported) {
        self.questions.reported = Some(asks);
    }

    /// A dialog stands there. `patient` no longer where it stood so for a while.
    pub(super) async fn seen_dialog(&mut self, dialog: Dialog, patient: bool) {
        for ask in self.questions.gone(Some(&dialog)) {
            self.withdraw(ask, Withdrawn::Replaced);
        }
        self.questions.answered.take_if(|answered| !answered.dialog.is_same(&dialog));
        if !self.is_asked(&dialog) && self.is_to_be_asked(&dialog, patient) {
            self.ask_by_dialog(dialog).await;
        }
        match (patient, self.questions.earlier.is_empty()) {
            (true, false) => self.questions.wait(),
            (false, _) => self.forget_earlier(Withdrawn::Replaced),
            (true, true) => {}
        }
    }

    /// Whether a question is about this dialog. A hook's is about the first dialog that is seen after it.
    fn is_asked(&mut self, dialog: &Dialog) -> bool {
        let asks = &mut self.questions.asks;
        if asks.iter().any(|ask| ask.dialog.is_some()) {
            return true;
        }
        let fitting = asks.iter().position(|ask| dialog.shows(&ask.question.action)).unwrap_or(0);
        match asks.get_mut(fitting) {
            Some(ask) => {
                ask.dialog = Some(dialog.clone());
                true
            }
            None => false,
        }
    }

    /// One that was answered may stand there a moment longer, and one that is reported has its report on the way.
    fn is_to_be_asked(&mut self, dialog: &Dialog, patient: bool) -> bool {
        let told = self.questions.reported.as_ref().is_some_and(|reported| dialog.shows(&reported.action));
        let waits = match &self.questions.answered {
            Some(answered) if answered.for_good => return false,
            Some(_) => patient,
            None => patient && !told && self.reports().questions,
        };
        if waits {
            self.questions.wait();
        } else {
            self.questions.answered = None;
        }
        !waits
    }

    async fn ask_by_dialog(&mut self, dialog: Dialog) {
        let Some(key) = self.asking_turn() else { return };
        let (action, partial) = match self.questions.reported.take_if(|reported| dialog.shows(&reported.action)) {
            // A screen may show less than all of it, and a report may be of the dialog before: people see both.
            Some(Reported { action, partial }) => (format!("{}\n\nIn its report:\n{action}", dialog.action), partial),
            None => (dialog.action.clone(), dialog.partial || self.reports().questions),
        };
        let question = Question { partial, ..self.question(action, dialog.options.clone()) };
        let permission = self.permission_of(&dialog, &key).await;
        self.ask(&key, Ask { permission, question, to: Asked::Dialog, dialog: Some(dialog) });
    }

    /// The same dialog is the same question after a restart, and a new one at any other time.
    async fn permission_of(&mut self, dialog: &Dialog, key: &TurnKey) -> PermissionId {
        let print = print(&self.session, key, dialog);
        let earlier = self.questions.earlier.iter().position(|permission| permission.as_str().starts_with(&print));
        match earlier {
            Some(at) => self.questions.earlier.swap_remove(at),
            None => PermissionId::new(format!("{print}-{}", &Uuid::new_v4().simple().to_string()[..8])),
        }
    }

    fn question(&self, action: String, options: Vec<PermissionOption>) -> Question {
        let folder = Some(self.session.cwd.display().to_string()).filter(|folder| !folder.is_empty());
        let look = Some(format!("moothall attach {}", self.session.name));
        Question { folder, look, ..Question::new(action, options) }
    }

    /// The turn that a question belongs to. Without one, the person at the terminal decides.
    fn asking_turn(&self) -> Option<TurnKey> {
        self.current.as_ref().filter(|current| current.stage >= Stage::Sent).map(|current| current.key.clone())
    }

    fn ask(&mut self, key: &TurnKey, ask: Ask) {
        // After a restart the conversation hears of it when it has taken the turn up again.
        if self.current.as_ref().is_some_and(|current| current.job.is_some()) {
            self.tell_of(key, &ask);
        }
        self.questions.refused = None;
        self.questions.asks.push(ask);
    }

    /// The conversation has taken the turn up again.
    pub(super) fn tell_of_all(&self) {
        let Some(current) = &self.current else { return };
        self.questions.asks.iter().for_each(|ask| self.tell_of(&current.key, ask));
    }

    fn tell_of(&self, key: &TurnKey, ask: &Ask) {
        let (permission, question) = (ask.permission.clone(), Box::new(ask.question.clone()));
        self.report(key, Report::Permission { permission, question, within: ASK_MAX });
    }

    /// No dialog stands there: what was seen is answered at the terminal, or given up. What a hook asks may not be drawn yet.
    pub(super) fn seen_no_dialog(&mut self) {
        for ask in self.questions.gone(None) {
            self.withdraw(ask, Withdrawn::Gone);
        }
        self.forget_earlier(Withdrawn::Gone);
        (self.questions.answered, self.questions.due) = (None, None);
    }

    /// The screen cannot be read, as it is being drawn, or as it shows something that nobody knows.
    pub(super) fn seen_unreadable(&mut self, patient: bool) {
        let waits = self.questions.asks.iter().any(|ask| ask.dialog.is_some()) || !self.questions.earlier.is_empty();
        match (waits, patient) {
            (true, true) => self.questions.wait(),
            (true, false) => self.seen_no_dialog(),
            (false, _) => {}
        }
    }

    fn forget_earlier(&mut self, because: Withdrawn) {
        for permission in std::mem::take(&mut self.questions.earlier) {
            self.tell_withdrawn(permission, because);
        }
    }

    /// A program's hook has gone: its question was answered at the terminal, or given up.
    pub(super) fn hook_gave_up(&mut self, permission: &PermissionId) {
        let gave_up = |ask: &mut Ask| ask.permission == *permission;
        for ask in self.questions.asks.extract_if(.., gave_up).collect::<Vec<_>>() {
            self.withdraw(ask, Withdrawn::Gone);
        }
    }

    fn withdraw(&self, ask: Ask, because: Withdrawn) {
        if let Asked::Hook(reply) = ask.to {
            tell(reply, Permit::Undecided);
        }
        self.tell_withdrawn(ask.permission, because);
    }

    fn tell_withdrawn(&self, permission: PermissionId, because: Withdrawn) {
        if let Some(current) = &self.current {
            self.report(&current.key, Report::Withdrawn { permission, because });
        }
    }

    /// A person answered; without an answer in time it counts as refused, where the dialog has a way to say so.
    pub(super) async fn permit(&mut self, permission: &PermissionId, option: Option<&str>) {
        let Some(at) = self.questions.asks.iter().position(|ask| ask.permission == *permission) else { return };
        let ask = self.questions.asks.remove(at);
        let kind = option.and_then(|id| ask.question.options.iter().find(|option| option.id == id)).map(|option| option.kind);
        if matches!(kind, None | Some(OptionKind::RejectOnce | OptionKind::RejectAlways)) {
            let how = if option.is_some() { "You refused what it asked" } else { "Nobody answered in time what it asked" };
            self.questions.refused = Some(format!("{how}, and it stopped."));
        }
        match ask.to {
            Asked::Hook(reply) => {
                self.questions.answered = ask.dialog.map(|dialog| Answered { dialog, for_good: false });
                tell(reply, option.map_or(Permit::Deny, decided));
            }
            Asked::Dialog => self.choose(ask, option).await,
        }
        self.look().await;
    }

    /// Presses the key of an option, into the dialog that offers it and nothing else.
    async fn choose(&mut self, ask: Ask, option: Option<&str>) {
        let Ask { permission, question, dialog: Some(dialog), .. } = ask else { return };
        let chosen = match option {
            Some(id) => question.options.iter().position(|offered| offered.id == id),
            None => the_only(&question.options, OptionKind::RejectOnce),
        };
        let (Some(at), Some(pane)) = (chosen, self.session.pane.clone()) else {
            self.questions.answered = Some(Answered { dialog, for_good: true });
            return;
        };
        match self.host.choose(&pane, &self.session.client, &dialog, at).await {
            Ok(()) => self.questions.answered = Some(Answered { dialog, for_good: false }),
            Err(fault) => self.not_given(permission, option, &fault),
        }
    }

    fn not_given(&mut self, permission: PermissionId, option: Option<&str>, fault: &HostFault) {
        tracing::warn!(session = %self.session.id, %fault, "an answer could not be typed");
        self.questions.refused = None;
        if option.is_some() {
            self.tell_withdrawn(permission, Withdrawn::NotGiven);
        }
    }

    /// Why a turn stopped in which something was refused.
    pub(super) fn refusal(&self) -> Option<Fault> {
        let why = self.questions.refused.as_ref()?;
        Some(Fault { told: true, ..Fault::new("refused", why.clone()) })
    }
}

impl Sessions {
    /// Sees whether what a session asked stands there still, before somebody answers it: what does not is withdrawn when this returns.
    pub(crate) async fn see_question(&self, stream: &StreamId, permission: &PermissionId) {
        let Ok(hall) = self.hall() else { return };
        let wanted = permission.clone();
        let asker = move |state: &Conversation| {
            let turn = state.open_turns().find(|turn| turn.permissions().any(|open| *open == wanted))?;
            session_of(state.participant(&turn.participant)?)
        };
        let Ok(Some(session)) = hall.view(stream, asker).await else { return };
        // A terminal that cannot be looked at now is looked at again before a key is pressed.
        let _ = tokio::time::timeout(LOOK_WITHIN, self.ask_runner(&session, Mail::Look)).await;
    }
}

/// Tells a hook, if it waits still.
fn tell(reply: oneshot::Sender<Permit>, permit: Permit) {
    let _ = reply.send(permit);
}

/// What a hook is told; its options are the two of [`PermissionOption::allow_or_deny`].
fn decided(option: &str) -> Permit {
    if option == "allow" { Permit::Allow } else { Permit::Deny }
}

/// The one option of a kind.
fn the_only(options: &[PermissionOption], kind: OptionKind) -> Option<usize> {
    let mut fitting = options.iter().enumerate().filter(|(_, option)| option.kind == kind);
    match (fitting.next(), fitting.next()) {
        (Some((at, _)), None) => Some(at),
        (Some(_) | None, _) => None,
    }
}

/// What tells a dialog from every other: the run of the program, the turn, and all that it shows.
fn print(session: &Session, key: &TurnKey, dialog: &Dialog) -> String {
    let pane = session.pane.as_ref().map(|pane| format!("{}/{}/{}", pane.socket, pane.id, pane.pid)).unwrap_or_default();
    let turn = format!("{}/{}/{}", key.stream, key.turn, key.attempt);
    hash(&[session.id.as_str(), &pane, &turn, &dialog.content()])
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&part.len().to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..24].to_owned()
}
