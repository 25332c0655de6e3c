//! Questions between computers. A question is sent one time; neither it nor its answer is stored.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use moothall_engine::access::RemoteCaller;
use moothall_engine::computers::{
    ComputerError, ComputerState, PairedComputer, RemoteAnswer, RemoteQuestion, RemoteRefusal,
};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::lock;
use super::run::{PostLink, kernel_id};
use crate::frame::{Frame, Words};
use crate::id::ComputerId;
use crate::invitation::Pair;

/// Most questions to one computer that wait for an answer. Further ones are not asked.
const OPEN_MAX: usize = 32;
/// Maximum number of questions of other computers that are being answered at the same time.
pub(super) const ANSWERING_MAX: usize = 8;
/// Longest wait for an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// A question or an answer, as the words of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Call {
    /// A question.
    Ask {
        /// The number that its answer bears.
        call: u64,
        ask: RemoteQuestion,
    },
    /// The answer to a question.
    Say { to: u64, say: RemoteAnswer },
    /// The refusal of a question.
    Refuse { to: u64, refuse: RemoteRefusal },
}

impl Call {
    /// Returns the bytes of a frame's words.
    pub(super) fn encode(&self) -> Vec<u8> {
        // Texts and numbers are always JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads the words of a frame. Words of another form are of a newer program.
    pub(super) fn decode(words: &[u8]) -> Option<Self> {
        serde_json::from_slice(words).ok()
    }
}

/// The outcome of a question.
pub(super) type CallResult = Result<RemoteAnswer, RemoteRefusal>;

/// The questions that wait for an answer.
#[derive(Default)]
pub(super) struct OpenCalls {
    last: AtomicU64,
    open: Mutex<BTreeMap<(ComputerId, u64), oneshot::Sender<CallResult>>>,
}

/// A question that waits for its answer. Dropping it ends the wait.
pub(super) struct OpenCall<'a> {
    calls: &'a OpenCalls,
    to: ComputerId,
    number: u64,
    answer: oneshot::Receiver<CallResult>,
}

impl OpenCalls {
    /// Opens a question to a computer; `None` if too many questions to it are open.
    pub(super) fn open(&self, to: ComputerId) -> Option<OpenCall<'_>> {
        let mut open = lock(&self.open);
        if open.range((to, 0)..=(to, u64::MAX)).count() >= OPEN_MAX {
            return None;
        }
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        open.insert((to, number), sender);
        Some(OpenCall { calls: self, to, number, answer })
    }

    /// Hands an answer to its question. An answer is dropped if its question to that computer is
    /// not open any more.
    pub(super) fn answer(&self, from: ComputerId, number: u64, answer: CallResult) {
        if let Some(sender) = lock(&self.open).remove(&(from, number)) {
            // The asker may have just given up.
            let _ = sender.send(answer);
        }
    }
}

impl OpenCall<'_> {
    /// Returns the number that the answer bears.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Waits for the answer; `None` if the question was closed.
    pub(super) async fn wait(&mut self) -> Option<CallResult> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        lock(&self.calls.open).remove(&(self.to, self.number));
    }
}

impl PostLink {
    /// Asks a computer, and waits up to [`ANSWER_WITHIN`] for its answer.
    ///
    /// # Errors
    /// [`ComputerError::Away`] if the computer is not up, too many questions to it are open, or no
    /// answer comes in time. [`ComputerError::Refused`] if the computer refuses the question.
    pub(super) async fn ask(
        &self,
        computer: &PairedComputer,
        question: RemoteQuestion,
    ) -> Result<RemoteAnswer, ComputerError> {
        let since = || self.pair_of(computer).and_then(|pair| self.peers.status(&pair).seen_at);
        let away = || ComputerError::Away { name: computer.name.clone(), since: since() };
        let pair = self.pair_of(computer).ok_or_else(away)?;
        if self.peers.status(&pair).state != ComputerState::Up {
            return Err(away());
        }
        let mut call = self.calls.open(pair.id).ok_or_else(away)?;
        self.put_call(&pair, &Call::Ask { call: call.number(), ask: question }).await;
        match tokio::time::timeout(ANSWER_WITHIN, call.wait()).await {
            Ok(Some(answer)) => answer
                .map_err(|refusal| ComputerError::Refused { name: computer.name.clone(), refusal }),
            Ok(None) | Err(_) => Err(away()),
        }
    }

    /// Returns the other computer of a pair as a caller.
    pub(super) fn caller(&self, pair: &Pair) -> RemoteCaller {
        RemoteCaller {
            computer: kernel_id(pair.id),
            name: pair.name.to_string(),
            rights: lock(&self.config).rights_of(&pair.name),
        }
    }

    fn pair_of(&self, computer: &PairedComputer) -> Option<Pair> {
        self.pairs.get(computer.id.as_str().parse().ok()?)
    }

    async fn put_call(&self, pair: &Pair, call: &Call) {
        // If it is lost, the asker stops waiting.
        let _ = self.put(pair, &Frame::Words(Words { body: call.encode().into() })).await;
    }

    /// Takes a question or an answer of a computer. Another task answers the question, so that it
    /// does not hold up the post's other entries. If [`ANSWERING_MAX`] questions are being
    /// answered, the question is dropped, and its asker waits in vain.
    pub(super) fn take_call(&self, pair: Pair, words: &[u8]) {
        match Call::decode(words) {
            Some(Call::Say { to, say }) => self.calls.answer(pair.id, to, Ok(say.cleaned())),
            Some(Call::Refuse { to, refuse }) => {
                self.calls.answer(pair.id, to, Err(refuse.cleaned()));
            }
            Some(Call::Ask { call, ask }) => {
                let Ok(permit) = self.answering.clone().try_acquire_owned() else { return };
                let Some(link) = self.own.upgrade() else { return };
                tokio::spawn(async move {
                    let _permit = permit;
                    // Nothing waits for an answer that comes later.
                    let _ =
                        tokio::time::timeout(ANSWER_WITHIN, link.answer(&pair, call, ask)).await;
                });
            }
            None => tracing::debug!(computer = %pair.name, "words of a newer program were skipped"),
        }
    }

    async fn answer(&self, pair: &Pair, to: u64, question: RemoteQuestion) {
        let answer = match self.hall.answer_remote(&self.caller(pair), question).await {
            Ok(say) => Call::Say { to, say },
            Err(refuse) => Call::Refuse { to, refuse },
        };
        self.put_call(pair, &answer).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn listed() -> CallResult {
        Ok(RemoteAnswer::Sessions(Vec::new()))
    }

    #[tokio::test]
    async fn an_answer_reaches_only_the_question_that_its_computer_was_asked() {
        let (one, other) = (ComputerId::random(1).unwrap(), ComputerId::random(1).unwrap());
        let calls = OpenCalls::default();
        let mut call = calls.open(one).unwrap();
        calls.answer(other, call.number(), listed());
        calls.answer(one, call.number() + 1, listed());
        assert!(call.answer.try_recv().is_err());
        calls.answer(one, call.number(), listed());
        assert_eq!(call.wait().await, Some(listed()));
        drop(call);
        assert!(lock(&calls.open).is_empty());
    }

    #[test]
    fn too_many_questions_to_one_computer_are_not_asked() {
        let (one, other) = (ComputerId::random(1).unwrap(), ComputerId::random(1).unwrap());
        let calls = OpenCalls::default();
        let mut open: Vec<_> = (0..OPEN_MAX).map(|_| calls.open(one).unwrap()).collect();
        assert!(calls.open(one).is_none());
        assert!(calls.open(other).is_some());
        open.pop();
        assert!(calls.open(one).is_some());
    }

    #[test]
    fn questions_and_answers_are_read_as_they_were_written() {
        for call in [
            Call::Ask { call: 1, ask: RemoteQuestion::List },
            Call::Say { to: 1, say: RemoteAnswer::Sessions(Vec::new()) },
        ] {
            assert_eq!(Call::decode(&call.encode()), Some(call));
        }
        let ask = Call::Ask { call: 1, ask: RemoteQuestion::List };
        let form = r#"{"call":1,"ask":{"question":"list"}}"#;
        assert_eq!(String::from_utf8(ask.encode()).as_deref(), Ok(form));
        let say = Call::Say { to: 1, say: RemoteAnswer::Sessions(Vec::new()) };
        let form = r#"{"to":1,"say":{"answer":"sessions","of":[]}}"#;
        assert_eq!(String::from_utf8(say.encode()).as_deref(), Ok(form));
        assert_eq!(Call::decode(br#"{"call":1,"ask":{"question":"newer"}}"#), None);
        assert_eq!(Call::decode(b"forgotten"), None);
    }
}
