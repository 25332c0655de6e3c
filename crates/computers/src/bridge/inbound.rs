//! The request that a row of another computer makes to a stream of this one.
//!
//! Every row is decided or refused when it is taken, because a row that waits would hold up all
//! later ones.

use moothall_engine::access::RemoteCaller;
use moothall_engine::computers::{RefusedRow, RemoteMessage, RemoteWait};
use moothall_engine::hall::Hall;
use moothall_engine::ports::LogError;
use moothall_engine::residents::TakenRow;
use moothall_engine::sessions::SessionId;
use moothall_engine::stream::{ItemBody, Taking};
use moothall_kernel::command::{Actor, ClientCommand, EngineCommand, Post};
use moothall_kernel::event::{Fault, Recipient};
use moothall_kernel::ids::StreamId;
use moothall_kernel::planted::{self, Bug};
use moothall_kernel::text::clean;

use super::body::Body;
use crate::id::ComputerName;

/// Longest sentence of another computer that is shown here, in characters.
const MESSAGE_CHARS_MAX: usize = 500;
/// Longest code of another computer that is shown here, in characters.
const CODE_CHARS_MAX: usize = 64;

/// The request of a row, with the change of a wait that belongs to it.
#[derive(Debug)]
pub(super) struct PlannedRow {
    pub(super) request: TakenRow,
    /// The wait that begins before the row is taken: the session here, and the session that waits.
    pub(super) begins: Option<(SessionId, SessionId)>,
    /// The waits that end after the row is taken. Each has the session that is waited for, and then
    /// the session that waits.
    pub(super) ends: Vec<(SessionId, SessionId)>,
}

impl From<TakenRow> for PlannedRow {
    fn from(request: TakenRow) -> Self {
        Self { request, begins: None, ends: Vec::new() }
    }
}

/// The facts of this hall that decide rows of another computer.
pub(super) struct RowReader<'a> {
    pub(super) hall: &'a Hall,
    pub(super) caller: &'a RemoteCaller,
    /// The id of this computer.
    pub(super) own: String,
}

/// The words of a refusal by another computer, each of limited length.
struct RefusalWords {
    /// The number of the row that it refused.
    number: u64,
    code: String,
    message: String,
}

impl RowReader<'_> {
    /// Returns the request of a row.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read now.
    pub(super) async fn plan(&self, taking: Taking, body: &[u8]) -> Result<PlannedRow, LogError> {
        Ok(match Body::decode(body) {
            Ok(Body::Void) => TakenRow::without_effect(taking).into(),
            Ok(Body::Say(message)) => self.message(taking, &message),
            Ok(Body::Finished(wait)) => {
                // The message is posted only if the session here waits for it. Otherwise another
                // computer could cause it as often as it likes.
                let taking = taking.without_refusal();
                let name = self.word(&wait);
                let text = format!(
                    "Session \"{name}\" finished its turn. Use get_session_data(session_id=\"{name}\") \
                     to read what it said."
                );
                let told = self.told(&taking, &wait, text).await?;
                told.unwrap_or_else(|| TakenRow::without_effect(taking).into())
            }
            Ok(Body::Refused { number, code, message, about }) => {
                // A refusal of a refusal would be answered for ever.
                let taking = taking.without_refusal();
                let (code, message) =
                    (line(&code, CODE_CHARS_MAX), line(&message, MESSAGE_CHARS_MAX));
                self.refused(taking, RefusalWords { number, code, message }, about).await?
            }
            Ok(Body::Placed(place)) => self.placed(taking, place).await?,
            Ok(Body::Left { stream, session, why }) => {
                self.left(taking, (stream, session, why)).into()
            }
            Ok(Body::Words { stream, session, text, typed, elsewhere }) => {
                self.words(taking, stream, (session, text, typed), elsewhere).await?.into()
            }
            Ok(Body::Close { stream, session }) => {
                self.closed(taking, stream, session).await?.into()
            }
            Ok(Body::Leave { stream, session }) => {
                self.leaves(taking, stream, session).await?.into()
            }
            Ok(Body::Turn(offer)) => self.offered(taking, offer).await?.into(),
            Ok(Body::Off { turn, session, lapse }) => {
                self.ended_there(taking, (turn, session, lapse)).into()
            }
            Ok(Body::Probe { turn, session }) => self.probed(taking, turn, session).into(),
            Ok(Body::Begun { turn, through }) => self.begun(taking, turn, through).await?.into(),
            Ok(Body::Ended(end)) => self.ended(taking, end).await?.into(),
            Ok(Body::Asked(ask)) => self.asked(taking, ask).await?.into(),
            Ok(Body::AskOver { turn, permission, because }) => {
                self.ask_over(taking, turn, (permission, because)).await?.into()
            }
            Ok(Body::Answer { turn, session, permission, option, text }) => {
                self.answered(taking, (turn, session), (permission, option, text)).await?.into()
            }
            Ok(Body::State { turn, state }) => self.stands(taking, turn, state).await?.into(),
            Err(error) => TakenRow::refused(taking, error.code(), &error.to_string()).into(),
        })
    }

    /// Returns the request that a refusal by the caller makes. It ends the turn, the membership or
    /// the wait that the refused row was about. Without such a matter, people get a notice.
    async fn refused(
        &self,
        taking: Taking,
        words: RefusalWords,
        about: Option<RefusedRow>,
    ) -> Result<PlannedRow, LogError> {
        let RefusalWords { number, code, message } = words;
        match about {
            Some(RefusedRow::Turn(_)) if planted::has(Bug::RefusedLeftOpen) => {
                return Ok(TakenRow::without_effect(taking).into());
            }
            Some(RefusedRow::Turn(turn)) => {
                let fault = Fault::new(code, message);
                return Ok(self.turn_refused(taking, turn, fault).await?.into());
            }
            Some(RefusedRow::Place { stream, session }) => {
                tracing::warn!(%stream, %session, code, message, "a membership was refused");
                return Ok(self.place_refused(taking, stream, session).await?.into());
            }
            Some(RefusedRow::Wait(wait)) => {
                let name = self.word(&wait);
                let text = format!("The message to \"{name}\" was not taken: {message} ({code})");
                if let Some(told) = self.told(&taking, &wait, text).await? {
                    return Ok(told);
                }
            }
            None => {}
        }
        let sender = &self.caller.name;
        let text = format!("{sender} refused row {number} of this computer: {message} ({code})");
        Ok(notice("row_refused", text, taking).into())
    }

    /// Returns the request to post a message of the caller in the home of the session that it is
    /// for.
    fn message(&self, taking: Taking, message: &RemoteMessage) -> PlannedRow {
        let taking = taking.about(message.wait().map(RefusedRow::Wait));
        match self.hall.message_from(self.caller, message) {
            Ok((session, post)) => {
                let listener = message.wait().map(|wait| wait.listener(&self.caller.computer));
                let begins = listener.map(|listener| (session.clone(), listener));
                PlannedRow { begins, ..said(taking, session, post).into() }
            }
            Err(refusal) => TakenRow::refused(taking, refusal.kind.code(), &refusal.message).into(),
        }
    }

    /// Returns the request to post a text about a session of the caller to a session here, and to
    /// end the wait of the session here; `None` if the session here does not wait for it, or has
    /// ended.
    async fn told(
        &self,
        taking: &Taking,
        wait: &RemoteWait,
        text: String,
    ) -> Result<Option<PlannedRow>, LogError> {
        if !self.waits(wait).await? {
            return Ok(None);
        }
        let found = self.hall.sessions().and_then(|all| all.find(wait.waiter.as_str()));
        let living = found
            .ok()
            // `find` also takes a name or the beginning of an id.
            .filter(|found| found.session.id == wait.waiter && found.session.ended.is_none());
        let Some(living) = living else { return Ok(None) };
        let from = Actor::named(self.caller.name_of(&wait.word));
        let to = Recipient::One(living.session.name);
        let far = Some(Box::new(self.caller.origin(None)));
        let post = Post { to, far, ..Post::new(from, text) };
        let request = said(taking.clone(), wait.waiter.clone(), post);
        let ends = vec![(wait.target(&self.caller.computer), wait.waiter.clone())];
        Ok(Some(PlannedRow { ends, ..request.into() }))
    }

    /// True if the waiter of `wait`, a session here, waits for that session of the caller.
    async fn waits(&self, wait: &RemoteWait) -> Result<bool, LogError> {
        let Some(hall) = self.hall.weak().enter() else { return Ok(false) };
        let target = wait.target(&self.caller.computer);
        Ok(hall.store().sessions.listeners(&target).await?.contains(&wait.waiter))
    }

    /// Returns the name of the session of the caller that `wait` is about, in its form here.
    fn word(&self, wait: &RemoteWait) -> String {
        format!("{}@{}", line(&wait.word, CODE_CHARS_MAX), self.caller.name)
    }
}

/// Returns the request to say something in a conversation.
fn said(taking: Taking, stream: StreamId, post: Post) -> TakenRow {
    let wanted = ItemBody::Decision(ClientCommand::Post(post).into());
    TakenRow { stream: Some(stream), wanted, ..TakenRow::without_effect(taking) }
}

/// Returns the request for rows that can never arrive.
pub(super) fn lost_rows(sender: &ComputerName, taking: Taking) -> TakenRow {
    let (first, last) = (taking.mark.before + 1, taking.mark.through);
    let text = format!(
        "Rows {first} to {last} of {sender} are lost: it has deleted them, because a later state \
         of this log had taken them. Was the log restored from a backup?"
    );
    notice("rows_lost", text, taking)
}

/// Returns a request for a notice, in the conversation of the notices about computers.
fn notice(code: &'static str, text: String, taking: Taking) -> TakenRow {
    let wanted = ItemBody::Decision(EngineCommand::Notice { code, text }.into());
    TakenRow { wanted, ..TakenRow::without_effect(taking) }
}

/// Returns words of another computer as one line of limited length.
fn line(text: &str, chars_max: usize) -> String {
    let words = clean(text);
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ").chars().take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use moothall_engine::computers::RemoteSpeaker;
    use moothall_engine::outbox::PostCommand;
    use moothall_engine::ports::{PostChannel, PostMark};
    use moothall_kernel::command::Command;
    use moothall_kernel::ids::ComputerId;

    use super::*;
    use crate::bridge::tests::hall;

    fn taking() -> Taking {
        Taking::row(PostChannel { sender: ComputerId::new("2abc"), log: "0a".into() }, 5)
    }

    fn laptop() -> RemoteCaller {
        let computer = ComputerId::new("2abc");
        RemoteCaller { computer, name: "laptop".into(), rights: Default::default() }
    }

    /// Returns the request of a row in a hall without sessions.
    async fn row(body: &[u8]) -> TakenRow {
        let (hall, caller) = (hall().await, laptop());
        let reader = RowReader { hall: &hall, caller: &caller, own: "1own".into() };
        reader.plan(taking(), body).await.expect("a log").request
    }

    fn noticed(row: &TakenRow) -> &str {
        match &row.wanted {
            ItemBody::Decision(Command::Engine(EngineCommand::Notice { text, .. })) => text,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_refusal_is_told_as_one_short_line_and_is_never_refused() {
        let message = format!("No\x1b[2J\n\x07 {}", "x".repeat(9_000));
        let body = Body::Refused { number: 3, code: "no\nway".into(), message, about: None };
        let row = row(&body.encode()).await;
        let text = noticed(&row);
        assert!(text.starts_with("laptop refused row 3 of this computer: No xxx"), "{text}");
        assert!(text.ends_with("x (no way)") && text.len() < 600, "{text}");
        assert_eq!(row.taking.refusal, None);
    }

    #[tokio::test]
    async fn a_session_that_does_not_wait_is_told_nothing_and_no_message_reaches_none() {
        let wait = RemoteWait { waiter: "ses_1".into(), word: "builder".into() };
        let finished = row(&Body::Finished(wait.clone()).encode()).await;
        assert_eq!(finished, TakenRow::without_effect(taking().without_refusal()));
        let message = "No.".to_owned();
        let body = Body::Refused {
            number: 3,
            code: "no".into(),
            message,
            about: Some(RefusedRow::Wait(wait)),
        };
        assert!(noticed(&row(&body.encode()).await).contains("refused row 3"));
        let from = RemoteSpeaker { name: "writer".into(), session: Some("ses_1".into()) };
        let message = RemoteMessage { to: "builder".into(), from, text: "hi".into() };
        let said = row(&Body::Say(message).encode()).await;
        assert_eq!((&said.wanted, said.owing.owed.len()), (&ItemBody::Owing, 1), "{said:?}");
    }

    #[tokio::test]
    async fn a_session_waits_for_the_one_that_it_named_on_that_computer() {
        let (hall, caller) = (hall().await, laptop());
        let reader = RowReader { hall: &hall, caller: &caller, own: "1own".into() };
        let wait = RemoteWait { waiter: "ses_1".into(), word: "builder".into() };
        assert!(!reader.waits(&wait).await.unwrap());
        let open = hall.weak().enter().unwrap();
        let target = wait.target(&caller.computer);
        open.store().sessions.listen(&target, &wait.waiter).await.unwrap();
        assert!(reader.waits(&wait).await.unwrap());
        let other = RemoteCaller { computer: ComputerId::new("2def"), ..laptop() };
        assert!(
            !RowReader { hall: &hall, caller: &other, own: "1own".into() }
                .waits(&wait)
                .await
                .unwrap()
        );
        let stranger = RemoteWait { waiter: "ses_2".into(), ..wait.clone() };
        assert!(!reader.waits(&stranger).await.unwrap());
        let another = RemoteWait { word: "writer".into(), ..wait };
        assert!(!reader.waits(&another).await.unwrap());
    }

    #[tokio::test]
    async fn a_name_that_would_be_kept_as_that_of_another_computer_is_refused() {
        let forged = "ses_1@2other/builder";
        for (to, session) in [("builder", forged), (forged, "ses_1")] {
            let from = RemoteSpeaker { name: "writer".into(), session: Some(session.into()) };
            let message = RemoteMessage { to: to.into(), from, text: "hi".into() };
            let said = row(&Body::Say(message).encode()).await;
            let owed = said.owing.owed[0].command.to_string();
            assert!(owed.contains("session_not_found"), "{owed}");
        }
    }

    #[tokio::test]
    async fn an_unreadable_row_is_refused_and_an_empty_one_only_moves_the_mark() {
        for (bytes, wanted) in
            [(&b"{}"[..], "malformed_body"), (br#"{"t":"sing"}"#, "unknown_body")]
        {
            let row = row(bytes).await;
            let [refusal] = &row.owing.owed[..] else { panic!("{row:?}") };
            let command: PostCommand =
                serde_json::from_value(refusal.command.clone()).expect("known");
            let PostCommand::Refused { number: 5, code, .. } = command else {
                panic!("{command:?}")
            };
            assert_eq!((code.as_str(), &row.wanted), (wanted, &ItemBody::Owing));
        }
        assert_eq!(row(&Body::Void.encode()).await, TakenRow::without_effect(taking()));
    }

    #[test]
    fn lost_rows_are_named_to_people() {
        let channel = taking().mark.channel;
        let mark = PostMark { channel, before: 4, through: 9 };
        let row = lost_rows(&"laptop".parse().expect("a name"), Taking { mark, refusal: None });
        assert!(noticed(&row).starts_with("Rows 5 to 9 of laptop are lost"), "{row:?}");
    }
}
