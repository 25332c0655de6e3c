//! Questions of a program to a person: their identity, their validity, and the way of the answer.
//!
//! A question is bound to the dialog that shows it, so that an answer never goes into another
//! dialog. Options have the same words in every dialog of a program.
//! (`docs/decisions/0014-a-question-is-bound-to-its-dialog.md`)

use moothall_engine::agent::{PermissionAnswer, Report, TurnKey};
use moothall_engine::sessions::{
    Dialog, Hook, HookNews, HostFault, Key, Permit, ReportedQuestion, Session,
};
use moothall_kernel::event::Fault;
use moothall_kernel::ids::PermissionId;
use moothall_kernel::permission::{
    ActionDetail, CARDS_MAX, OptionKind, PermissionOption, Question, WithdrawalReason, positions,
};
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::time::Millis;

use super::asks::{
    AnswerRoute, AnsweredDialog, Ask, Choice, HookQuestion, QuestionPlace, undecided,
};
use super::choices;
use super::io::{Around, Output, Reply, RequestId};
use super::machine::Machine;
use super::stage::Stage;
use super::wait::Wait;

/// Time limit of a question for which the operator set none, because the log requires a limit.
const STANDING_MAX: Millis = Millis::from_secs(365 * 24 * 3600);

impl Machine {
    /// Handles the question of a hook that waits. After a restart the hook asks again under the
    /// same id and gets the answer given meanwhile. Outside a turn the hook gets `Undecided`.
    pub(super) fn asked_by_hook(&mut self, id: RequestId, hook: Hook) {
        let asks = match hook.news {
            HookNews::Asks(asks) => Some(asks),
            HookNews::Began
            | HookNews::Prompt { .. }
            | HookNews::Stopped { .. }
            | HookNews::Failed { .. }
            | HookNews::Uses(_)
            | HookNews::Ended => None,
        };
        let (Some(asks), Some(key)) = (asks, self.asking_turn()) else {
            return self.reply(Some(id), Reply::Permit(Permit::Undecided));
        };
        let permission =
            PermissionId::new(hash(&[self.session.id.as_str(), &hook.id, &asks.action]));
        let recall = Output::Recall { key: key.clone(), permission: permission.clone() };
        self.ask(recall, Wait::Recall(Box::new(HookQuestion { id, key, permission, asks })));
    }

    /// Gives the hook the answer that a person gave before the hook asked again. Without such an
    /// answer, asks people.
    pub(super) fn handle_recalled_answer(&mut self, answer: Option<PermissionAnswer>) {
        match self.answered() {
            Wait::Recall(hooked) => match answer {
                Some(given) => self.reply(Some(hooked.id), Reply::Permit(decided(&given))),
                None => self.ask_for_hook(*hooked),
            },
            other => self.put_back(other),
        }
    }

    /// Asks people the question of a hook. An earlier hook that waits with the same question gets
    /// `Undecided`. With [`CARDS_MAX`] questions open, the hook gets `TooMany` instead.
    fn ask_for_hook(&mut self, hooked: HookQuestion) {
        let HookQuestion { id, key, permission, asks } = hooked;
        let options = hook_options(&asks.always);
        let question = Question {
            partial: asks.partial,
            detail: asks.detail,
            ..self.question(asks.action, options)
        };
        self.questions.earlier.retain(|(_, earlier)| *earlier != permission);
        // The hook lost its connection and asks again.
        for ask in self
            .questions
            .asks
            .extract_if(.., |ask| ask.permission == permission)
            .collect::<Vec<_>>()
        {
            undecided(&ask, &mut self.out);
        }
        if self.questions.asks.len() + self.questions.earlier.len() >= CARDS_MAX {
            self.tell_of_refused();
            return self.reply(Some(id), Reply::Permit(Permit::TooMany));
        }
        self.ask_person(Ask {
            permission,
            asked_in: QuestionPlace::Turn(key),
            question,
            to: AnswerRoute::Hook(id),
            dialog: None,
        });
    }

    /// Tells people once in a turn that a question was refused because others are open.
    fn tell_of_refused(&mut self) {
        if !std::mem::replace(&mut self.questions.refusal_announced, true) {
            let name = &self.session.name;
            let text = format!(
                "{name} has {CARDS_MAX} questions open, so its next one was refused, and it was told to ask again when one of them is answered: `moothall permit {name}`"
            );
            self.out.push(Output::Tell { text });
        }
    }

    /// Handles a dialog on the screen: withdraws the questions of other dialogs, and asks people
    /// about this dialog when that is due. `patient` is false after the dialog has stayed for a
    /// while.
    pub(super) fn seen_dialog(&mut self, around: &Around<'_>, dialog: Dialog, patient: bool) {
        for ask in self.questions.take_closed(Some(&dialog)) {
            self.withdraw(ask, WithdrawalReason::Replaced);
        }
        self.questions.answered.take_if(|answered| !answered.dialog.is_same(&dialog));
        if !self.is_asked(&dialog) && self.is_to_be_asked(around, &dialog, patient) {
            self.ask_by_dialog(around, dialog);
        }
        match (patient, self.questions.earlier.is_empty()) {
            (true, false) => self.questions.wait(around),
            (false, _) => self.forget_earlier(WithdrawalReason::Replaced),
            (true, true) => {}
        }
    }

    /// True if a question is about this dialog; the caller has removed the questions of other
    /// dialogs. If no question has a dialog yet, the dialog is bound to the hook's question that it
    /// shows, otherwise to the oldest question.
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

    /// True if the dialog needs a question of its own now. An answered dialog may stay on the
    /// screen for a moment, and a dialog's report may still be on its way, so in both cases the
    /// machine waits first. Dialogs that were left for good get no further question.
    fn is_to_be_asked(&mut self, around: &Around<'_>, dialog: &Dialog, patient: bool) -> bool {
        let is_reported =
            self.questions.reported.as_ref().is_some_and(|asks| choices::is_about(asks, dialog));
        let in_no_turn = self.asking_turn().is_none();
        let waits = match &self.questions.answered {
            Some(answered) if answered.for_good => return false,
            Some(_) => patient,
            None => patient && (in_no_turn || (!is_reported && around.reports.questions)),
        };
        if waits && in_no_turn {
            self.questions.wait_for(around, self.patience_in_no_turn());
        } else if waits {
            self.questions.wait(around);
        } else {
            self.questions.answered = None;
        }
        !waits
    }

    /// Asks people the question of a dialog: in the conversation of its turn, or outside a turn in
    /// each of `places_in_no_turn`. The question also has the words of a report that fits the
    /// dialog.
    fn ask_by_dialog(&mut self, around: &Around<'_>, dialog: Dialog) {
        let chosen =
            self.questions.reported.as_ref().and_then(|asks| choices::asked(asks, &dialog));
        let is_reported = |asks: &mut ReportedQuestion| {
            asks.choices.is_empty() && choices::is_about(asks, &dialog)
        };
        let (detail, options) = chosen.unzip();
        let options = options.unwrap_or_else(|| dialog.options.clone());
        let (action, partial, detail) = match self.questions.reported.take_if(is_reported) {
            // Neither the screen nor the report is enough alone: the screen may show a part of the
            // question, and the report may belong to an earlier dialog. People see both.
            Some(ReportedQuestion { action, partial, detail, .. }) => {
                let screen = Some(dialog.action.clone());
                let detail = detail.map(|detail| ActionDetail { screen, ..detail });
                (format!("{}\n\nIn its report:\n{action}", dialog.action), partial, detail)
            }
            // A dialog that is not known to be whole counts as partial only from a program that
            // reports. A program that does not report yet shows its questions in full.
            None => (
                dialog.action.clone(),
                dialog.partial || !dialog.whole && self.is_reporting(around),
                detail,
            ),
        };
        let question = Question { partial, detail, ..self.question(action, options) };
        let places = match self.asking_turn() {
            Some(key) => vec![QuestionPlace::Turn(key)],
            None => self.places_in_no_turn(),
        };
        let asked: Vec<_> = places
            .into_iter()
            .map(|asked_in| (self.permission_of(around, &dialog, &asked_in), asked_in))
            .collect();
        if asked.len() + self.questions.earlier.len() > CARDS_MAX {
            // The conversation would refuse this question in addition to the earlier ones, and this
            // dialog is on the screen.
            self.forget_earlier(WithdrawalReason::Replaced);
        }
        for (permission, asked_in) in asked {
            self.ask_person(Ask {
                permission,
                asked_in,
                question: question.clone(),
                to: AnswerRoute::Dialog,
                dialog: Some(dialog.clone()),
            });
        }
    }

    /// True if the program has begun, and reports its questions.
    fn is_reporting(&self, around: &Around<'_>) -> bool {
        around.reports.questions && self.session.native.is_some()
    }

    /// Returns the id of a dialog's question. A dialog from before a restart keeps its id;
    /// otherwise the id is new.
    pub(super) fn permission_of(
        &mut self,
        around: &Around<'_>,
        dialog: &Dialog,
        asked_in: &QuestionPlace,
    ) -> PermissionId {
        let print = print(&self.session, asked_in, dialog);
        let earlier = self
            .questions
            .earlier
            .iter()
            .position(|(_, permission)| permission.as_str().starts_with(&print));
        if let Some(at) = earlier {
            return self.questions.earlier.swap_remove(at).1;
        }
        self.questions.count += 1;
        // The count begins anew with each start, so the time distinguishes the ids of a dialog that
        // comes again.
        PermissionId::new(format!(
            "{print}-{:x}-{}",
            around.now.wall.millis(),
            self.questions.count
        ))
    }

    fn question(&self, action: String, options: Vec<PermissionOption>) -> Question {
        let folder =
            Some(self.session.cwd.display().to_string()).filter(|folder| !folder.is_empty());
        let look = Some(format!("moothall attach {}", self.session.name));
        Question { folder, look, ..Question::new(action, options) }
    }

    /// Returns the turn that a question belongs to, if any.
    pub(super) fn asking_turn(&self) -> Option<TurnKey> {
        self.current
            .as_ref()
            .filter(|current| current.stage >= Stage::Sent)
            .map(|current| current.key.clone())
    }

    /// Adds a question, and sends it to its conversation. A question of a turn without a job is
    /// sent later, by `tell_of_all`.
    pub(super) fn ask_person(&mut self, ask: Ask) {
        // After a restart, a turn's conversation gets the question when it has resumed the turn.
        if ask.asked_in.is_in_no_turn()
            || self.current.as_ref().is_some_and(|current| current.job.is_some())
        {
            self.tell_of(&ask);
        }
        self.questions.refused = None;
        self.questions.asks.push(ask);
    }

    /// Sends the questions of the turn to its conversation, which has resumed the turn after a
    /// restart.
    pub(super) fn tell_of_all(&mut self) {
        let of_turns: Vec<_> = self
            .questions
            .asks
            .iter()
            .filter(|ask| !ask.asked_in.is_in_no_turn())
            .cloned()
            .collect();
        of_turns.iter().for_each(|ask| self.tell_of(ask));
    }

    /// Sends a question to its conversation. Without a limit of the operator, the question stands
    /// until it is withdrawn.
    fn tell_of(&mut self, ask: &Ask) {
        let (permission, stands) = (ask.permission.clone(), self.question_limit.is_none());
        let question = Box::new(Question { stands, ..ask.question.clone() });
        let within = self.question_limit.unwrap_or(STANDING_MAX);
        self.out.push(match ask.asked_in.clone() {
            QuestionPlace::Turn(key) => {
                Output::Report { key, report: Report::Permission { permission, question, within } }
            }
            QuestionPlace::NoTurn(stream) => Output::AskInNoTurn { stream, permission, question },
        });
    }

    /// Withdraws the questions of dialogs that have closed, because each was answered at the
    /// terminal or dropped. Also withdraws the questions from before a restart. A hook's question
    /// stays until its dialog was seen.
    pub(super) fn seen_no_dialog(&mut self) {
        for ask in self.questions.take_closed(None) {
            self.withdraw(ask, WithdrawalReason::Gone);
        }
        self.forget_earlier(WithdrawalReason::Gone);
        (self.questions.answered, self.questions.due) = (None, None);
    }

    /// Handles a screen that is being drawn or that the server cannot read. If the screen stays so,
    /// it counts as one without a dialog.
    pub(super) fn seen_unreadable(&mut self, around: &Around<'_>, patient: bool) {
        let waits = self.questions.asks.iter().any(|ask| ask.dialog.is_some())
            || !self.questions.earlier.is_empty();
        match (waits, patient) {
            (true, true) => self.questions.wait(around),
            (true, false) => self.seen_no_dialog(),
            (false, _) => {}
        }
    }

    fn forget_earlier(&mut self, because: WithdrawalReason) {
        for (asked_in, permission) in std::mem::take(&mut self.questions.earlier) {
            self.tell_withdrawn(asked_in, permission, because);
        }
    }

    /// Withdraws the question of a hook that stopped waiting: it was answered at the terminal, or
    /// the hook timed out. If the dialog stays, people are asked again and its keys take the
    /// answer.
    pub(super) fn hook_gave_up(&mut self, id: RequestId) {
        let gave_up = |ask: &mut Ask| matches!(ask.to, AnswerRoute::Hook(waiting) if waiting == id);
        for ask in self.questions.asks.extract_if(.., gave_up).collect::<Vec<_>>() {
            let Some(dialog) = ask.dialog.clone() else {
                self.withdraw(ask, WithdrawalReason::GaveUp);
                continue;
            };
            let Question { action, partial, detail, .. } = ask.question.clone();
            self.questions
                .reported(ReportedQuestion { detail, ..ReportedQuestion::new(action, partial) });
            // A dialog answered at the terminal may stay on the screen for a moment.
            self.questions.answered = Some(AnsweredDialog { dialog, for_good: false });
            self.withdraw(ask, WithdrawalReason::Replaced);
            self.look_at = Some(Millis(0));
        }
    }

    fn withdraw(&mut self, ask: Ask, because: WithdrawalReason) {
        undecided(&ask, &mut self.out);
        self.tell_withdrawn(ask.asked_in, ask.permission, because);
    }

    /// Emits the withdrawal of a question, to its turn or to its conversation outside turns.
    fn tell_withdrawn(
        &mut self,
        asked_in: QuestionPlace,
        permission: PermissionId,
        because: WithdrawalReason,
    ) {
        self.out.push(match asked_in {
            QuestionPlace::Turn(key) => {
                Output::Report { key, report: Report::Withdrawn { permission, because } }
            }
            QuestionPlace::NoTurn(stream) => {
                Output::WithdrawInNoTurn { stream, permission, because }
            }
        });
    }

    /// Handles a person's answer, or its absence after the time limit. Without an answer the
    /// question counts as refused. A waiting hook gets `GaveUp` then, and a dialog gets its only
    /// "no", if it has exactly one.
    pub(super) fn permitted(
        &mut self,
        permission: &PermissionId,
        given: Option<&PermissionAnswer>,
    ) {
        let Some(at) = self.questions.asks.iter().position(|ask| ask.permission == *permission)
        else {
            return;
        };
        let ask = self.questions.asks.remove(at);
        let option = given.map(|given| given.option.as_str());
        let refuses = |id: &str| {
            let mut options = ask.question.options.iter();
            options.any(|option| option.id == id && option.kind.refuses())
        };
        let is_refused = option.is_none_or(refuses);
        if is_refused && !ask.asked_in.is_in_no_turn() {
            self.questions.refused = Some(if option.is_some() {
                Fault::new("refused", "You refused what it asked, and it stopped.")
            } else {
                Fault::new("gave_up", "Nobody answered in time what it asked: it gave up.")
            });
        }
        match ask.to {
            AnswerRoute::Hook(id) => {
                self.questions.answered =
                    ask.dialog.map(|dialog| AnsweredDialog { dialog, for_good: false });
                self.reply(Some(id), Reply::Permit(given.map_or(Permit::GaveUp, decided)));
                self.look(true, None);
            }
            AnswerRoute::Dialog => self.choose(ask, given),
        }
    }

    /// Chooses the options of the answer in exactly the dialog that offered them. The dialog's
    /// field gets the words of the answer. Without an answer, chooses the only option that rejects
    /// once; if there is not exactly one, the dialog stays as it is.
    fn choose(&mut self, ask: Ask, given: Option<&PermissionAnswer>) {
        let Ask { permission, asked_in, question, dialog: Some(dialog), .. } = ask else { return };
        let chosen = match given {
            Some(given) => positions(&question.options, &given.option),
            None => the_only(&question.options, OptionKind::RejectOnce).map(|at| vec![at]),
        };
        let Some(chosen) = chosen else {
            self.questions.answered = Some(AnsweredDialog { dialog, for_good: true });
            return self.look(true, None);
        };
        if planted::has(Bug::AnswerPressedBlindly) {
            return self.ask(Output::Press { key: Key::Enter }, Wait::Escape);
        }
        let text = given.and_then(|given| given.text.clone());
        let choice = Choice {
            permission,
            asked_in,
            dialog: dialog.clone(),
            by_person: given.is_some(),
            in_words: text.is_some(),
        };
        self.ask(Output::Choose { dialog, chosen, text }, Wait::Choice(Box::new(choice)));
    }

    /// Handles the result of choosing options in the dialog, and looks at the screen again. After a
    /// failure, a person's answer counts as not given, and a notice tells people if its words may
    /// stand in the dialog.
    pub(super) fn chosen(&mut self, choice: Choice, result: Result<(), HostFault>) {
        match result {
            Ok(()) => {
                self.questions.answered =
                    Some(AnsweredDialog { dialog: choice.dialog, for_good: false })
            }
            Err(fault) => {
                tracing::warn!(session = %self.session.id, %fault, "an answer could not be typed");
                self.questions.refused = None;
                if choice.by_person {
                    self.tell_withdrawn(
                        choice.asked_in,
                        choice.permission,
                        WithdrawalReason::NotGiven,
                    );
                }
                if choice.in_words {
                    self.tell_what_became_of_words(&fault);
                }
            }
        }
        self.look(true, None);
    }

    /// Tells people that the words of an answer may be left unsent in the dialog, and that only a
    /// person at the terminal can remove them.
    fn tell_what_became_of_words(&mut self, fault: &HostFault) {
        let name = &self.session.name;
        let text = format!(
            "The answer in words was not given to {name}. {fault} Look at it, or take it over: moothall attach {name}"
        );
        self.out.push(Output::Tell { text });
    }
}

/// The id of the option that refuses with words for the agent.
const DENY_BECAUSE: &str = "deny-because";
/// The beginning of the id of an option that takes an offer of the program. The offer's number
/// follows.
const ALWAYS: &str = "always-";

/// Returns the options of a hook's question: to allow or deny it, the program's offers not to ask
/// again, and to deny it with a reason.
fn hook_options(always: &[(usize, String)]) -> Vec<PermissionOption> {
    let offer = |(number, words): &(usize, String)| {
        PermissionOption::new(format!("{ALWAYS}{number}"), words, OptionKind::AllowAlways)
    };
    let because = PermissionOption::new(DENY_BECAUSE, "Deny, and say why", OptionKind::RejectOnce);
    let mut options = PermissionOption::allow_or_deny();
    options.extend(always.iter().map(offer));
    options.push(because.taking_text());
    options
}

/// Converts an answer for a hook, whose options are those of [`hook_options`].
fn decided(given: &PermissionAnswer) -> Permit {
    let offer = given.option.strip_prefix(ALWAYS).and_then(|number| number.parse().ok());
    match (given.option.as_str(), offer, &given.text) {
        ("allow", _, _) => Permit::Allow,
        (_, Some(number), _) => Permit::AllowAlways(number),
        (DENY_BECAUSE, _, Some(words)) => Permit::DenyBecause(words.clone()),
        _ => Permit::Deny,
    }
}

/// Returns the position of the only option of a kind, if there is exactly one.
fn the_only(options: &[PermissionOption], kind: OptionKind) -> Option<usize> {
    let mut fitting = options.iter().enumerate().filter(|(_, option)| option.kind == kind);
    match (fitting.next(), fitting.next()) {
        (Some((at, _)), None) => Some(at),
        (Some(_) | None, _) => None,
    }
}

/// Returns a fingerprint of a dialog: the run of the program, the place of the question, and the
/// dialog's content.
fn print(session: &Session, asked_in: &QuestionPlace, dialog: &Dialog) -> String {
    let pane = session
        .pane
        .as_ref()
        .map(|pane| format!("{}/{}/{}", pane.socket, pane.id, pane.pid))
        .unwrap_or_default();
    let place = match asked_in {
        QuestionPlace::Turn(key) => format!("{}/{}/{}", key.stream, key.turn, key.attempt),
        QuestionPlace::NoTurn(stream) => stream.to_string(),
    };
    hash(&[session.id.as_str(), &pane, &place, &dialog.content()])
}

/// Returns the first 24 hexadecimal digits of a hash of these parts.
fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length keeps two parts apart from two others whose border lies elsewhere.
        hasher.update(&part.len().to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..24].to_owned()
}
