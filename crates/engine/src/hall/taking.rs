//! Rows of other computers, taken by streams of this hall. (decisions/0053)
//!
//! Each row is one request, and its mark moves in the append of that request. If the stream of a
//! row is gone, the conversation of the computers takes the row.

use std::sync::Arc;

use moothall_kernel::command::{Actor, ClientCommand, Control};
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::policy::{Policy, PolicyName};
use tokio::sync::oneshot;

use crate::answers::{HallError, Idempotency};
use crate::hall::inner::{Inner, stopped};
use crate::stream::io::counts_as_taken;
use crate::stream::mail::{Request, Submission};
use crate::stream::{ItemBody, OwedItems, Taking, Verdict};

/// Namespace and key of the claim that the conversation of the computers holds.
const COMPUTERS: (&str, &str) = ("computers", "hall");
/// Title of the conversation of the computers.
const TITLE: &str = "Computers";

/// A row of another computer, as a request to a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenRow {
    /// The stream that decides the row; `None` for a row that only the conversation of the
    /// computers takes.
    pub stream: Option<StreamId>,
    /// The work of the row.
    pub wanted: ItemBody,
    /// The idempotency key, if the mark alone does not ensure that the row takes effect only one
    /// time.
    pub once: Option<Idempotency>,
    /// Deliveries to insert with the append of the row.
    pub owing: OwedItems,
    /// The mark of the row.
    pub taking: Taking,
}

impl TakenRow {
    /// Makes a row without an effect: only its mark moves.
    pub fn without_effect(taking: Taking) -> Self {
        Self { stream: None, wanted: ItemBody::Owing, once: None, owing: <_>::default(), taking }
    }

    /// Makes a row that is refused with a code for programs and a sentence for people.
    pub fn refused(taking: Taking, code: &str, message: &str) -> Self {
        let owed = taking.refusal_entry(code, message).into_iter().collect();
        Self { owing: OwedItems { hops: 0, owed }, ..Self::without_effect(taking) }
    }
}

impl Inner {
    /// Takes rows that another computer sent over one channel, in their order, each in the append
    /// of a stream. Consecutive rows of one stream are submitted together. The next stream gets its
    /// rows when these are answered.
    ///
    /// Returns a verdict for each row up to the first that was not taken ([`counts_as_taken`]).
    /// That row and all later ones have to be taken again.
    pub(crate) async fn take(self: &Arc<Self>, rows: Vec<TakenRow>) -> Vec<Verdict> {
        let (mut verdicts, mut rows) = (Vec::new(), rows.into_iter().peekable());
        while let Some(first) = rows.next() {
            let stream = first.stream.clone();
            let mut run = vec![first];
            while let Some(next) = rows.next_if(|row| row.stream == stream) {
                run.push(next);
            }
            verdicts.extend(self.take_run(stream, run).await);
            let failed = |verdict: &Verdict| !counts_as_taken(verdict);
            if let Some(first) = verdicts.iter().position(failed) {
                verdicts.truncate(first + 1);
                break;
            }
        }
        verdicts
    }

    /// Takes the rows that another computer sent to one stream. If the stream is gone, the
    /// conversation of the computers takes them, and sends their refusals. Without a stream, the
    /// conversation of the computers takes the rows as they are.
    async fn take_run(
        self: &Arc<Self>,
        stream: Option<StreamId>,
        run: Vec<TakenRow>,
    ) -> Vec<Verdict> {
        let Some(stream) = stream else { return self.take_here(run).await };
        let takings: Vec<Taking> = run.iter().map(|row| row.taking.clone()).collect();
        let mut verdicts = self.submit_rows(&stream, run).await;
        let is_gone = |verdict: &Verdict| verdict.as_ref().is_err_and(HallError::is_gone);
        if let Some(from) = verdicts.iter().position(is_gone) {
            // A stream that is gone stays gone, so the verdicts after the first such one say the
            // same.
            let gone = verdicts.split_off(from).swap_remove(0);
            let Err(error) = gone else { return verdicts };
            let (code, message) = (error.refusal_code().unwrap_or_default(), error.to_string());
            let refused = |taking| TakenRow::refused(taking, code, &message);
            let refused = takings.into_iter().skip(from).map(refused).collect();
            verdicts.extend(self.take_here(refused).await);
        }
        verdicts
    }

    /// Takes rows of another computer on the conversation of the computers.
    async fn take_here(self: &Arc<Self>, rows: Vec<TakenRow>) -> Vec<Verdict> {
        match self.computers_stream().await {
            Ok(stream) => self.submit_rows(&stream, rows).await,
            Err(error) => vec![Err(error)],
        }
    }

    /// Submits rows of another computer to a stream, in their order, without waiting for the
    /// answers in between. If the stream's queue refuses a row, the later rows are not submitted.
    /// Returns the verdicts of the submitted rows, and then the error of the queue if it refused
    /// one.
    async fn submit_rows(self: &Arc<Self>, stream: &StreamId, rows: Vec<TakenRow>) -> Vec<Verdict> {
        let (mut answers, mut failed) = (Vec::new(), None);
        for row in rows {
            let (reply, answer) = oneshot::channel();
            let TakenRow { wanted, once: idempotency, owing, taking, .. } = row;
            let taking = Some(Box::new(taking));
            let submitted = Submission { wanted, idempotency, asked: None, owing, taking, reply };
            if let Err(error) = self.send_open(stream, submitted).await {
                failed = Some(Err(error));
                break;
            }
            answers.push(answer);
        }
        let mut verdicts = Vec::new();
        for answer in answers {
            verdicts.push(answer.await.unwrap_or_else(|_| Err(stopped(stream))));
        }
        verdicts.extend(failed);
        verdicts
    }

    /// Sends a submission to a stream if the hall still accepts commands.
    async fn send_open(
        self: &Arc<Self>,
        stream: &StreamId,
        submitted: Submission,
    ) -> Result<(), HallError> {
        self.is_open()?;
        self.send(stream, Request::Submit(Box::new(submitted))).await
    }

    /// Returns the conversation of the computers. Makes it if there is none, or if people archived
    /// or deleted it.
    ///
    /// # Errors
    /// [`HallError`] if it cannot be read or made. If the process dies between its two appends, an
    /// empty conversation remains.
    pub(crate) async fn computers_stream(self: &Arc<Self>) -> Result<StreamId, HallError> {
        let (namespace, key) = COMPUTERS;
        let name = format!("{namespace}:{key}");
        let lock = self.keyed_locks.of(&name);
        let _making = lock.lock().await;
        if let Some(claim) = self.store.log.claim(namespace, key, self.now()).await? {
            return Ok(claim.stream);
        }
        let policy =
            Policy { name: PolicyName::PLAIN, ..self.standing().defaults().as_ref().clone() };
        let by = Actor::human(ParticipantId::moothall());
        let stream = self.create(TITLE.into(), policy, by.clone(), None).await?.stream;
        let hold = ClientCommand::Control { controls: vec![Control::Hold(name)], by };
        self.submit(&stream, hold, None).await?;
        Ok(stream)
    }
}
