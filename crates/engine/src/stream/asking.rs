//! Consent questions of a stream's task: the principals that can be asked, and the questions that
//! are open.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::command::Command;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::io::{Condition, Consent, RequestId};

/// Asks principals for their consent to requests.
#[async_trait]
pub trait ConsentAsker: Send + Sync {
    /// Asks a principal for consent to a request. The answer may take any time, because the host
    /// drops the future when the answer would come too late.
    async fn ask(&self, principal: &str, request: &Command) -> Consent;
}

/// The condition of a request, and the way to ask for consent.
pub(crate) struct ConsentRequest {
    pub(crate) condition: Condition,
    pub(crate) asker: Arc<dyn ConsentAsker>,
}

/// The end of a question. It has the answer, or `None` if the answer came too late. It is an error
/// if the asker panicked.
pub(super) type ConsentResult = Result<Option<(RequestId, Consent)>, JoinError>;

/// The questions of one stream. They are cancelled with its task.
#[derive(Default)]
pub(super) struct ConsentQuestions {
    askers: BTreeMap<RequestId, Arc<dyn ConsentAsker>>,
    questions: JoinSet<Option<(RequestId, Consent)>>,
}

impl ConsentQuestions {
    /// Notes the asker of a request, for the case that the host asks. Returns the condition; `None`
    /// if the request has none.
    pub(super) fn note(
        &mut self,
        id: RequestId,
        asked: Option<ConsentRequest>,
    ) -> Option<Condition> {
        let ConsentRequest { condition, asker } = asked?;
        self.askers.insert(id, asker);
        Some(condition)
    }

    /// Asks the principal about a request in the background, through the asker that was noted for
    /// the request. Does nothing without such an asker. An answer after `until` is dropped.
    pub(super) fn ask(
        &mut self,
        id: RequestId,
        principal: String,
        request: Box<Command>,
        until: Instant,
    ) {
        let Some(asker) = self.askers.remove(&id) else { return };
        self.questions.spawn(async move {
            // The host refuses the request at `until` by itself, so a late answer is only dropped.
            let consent = timeout_at(until, asker.ask(&principal, &request)).await.ok()?;
            Some((id, consent))
        });
    }

    /// Drops the asker of a request that is done.
    pub(super) fn forget(&mut self, id: RequestId) {
        self.askers.remove(&id);
    }

    /// Waits for the next question that ends. Returns `None` if no question is open.
    pub(super) async fn next(&mut self) -> Option<ConsentResult> {
        self.questions.join_next().await
    }

    /// Returns a question that has ended already.
    pub(super) fn try_next(&mut self) -> Option<ConsentResult> {
        self.questions.try_join_next()
    }
}

/// Returns the answer; `None` if it came too late or the asker panicked.
pub(super) fn answer_of(over: ConsentResult) -> Option<(RequestId, Consent)> {
    over.ok().flatten()
}
