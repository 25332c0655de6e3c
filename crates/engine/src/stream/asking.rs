//! The shell's part in asking somebody about a request: who can be asked, and the questions that
//! are out.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use moothall_kernel::command::Command;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

use super::io::{Condition, Consent, RequestId};

/// Reaches those who have to agree to requests.
#[async_trait]
pub trait ConsentAsker: Send + Sync {
    /// Asks somebody whether they agree. It may take as long as it likes: it is dropped when its
    /// answer would come too late.
    async fn ask(&self, principal: &str, request: &Command) -> Consent;
}

/// What a request stands under, and how whoever has to agree is reached.
pub(crate) struct ConsentRequest {
    pub(crate) condition: Condition,
    pub(crate) asker: Arc<dyn ConsentAsker>,
}

/// What came of asking.
pub(super) type ConsentResult = Result<Option<(RequestId, Consent)>, JoinError>;

/// The questions of one stream. They end with its task.
#[derive(Default)]
pub(super) struct ConsentQuestions {
    askers: BTreeMap<RequestId, Arc<dyn ConsentAsker>>,
    questions: JoinSet<Option<(RequestId, Consent)>>,
}

impl ConsentQuestions {
    /// Takes down how somebody is asked, should it come to that.
    pub(super) fn note(&mut self, id: RequestId, asked: Option<ConsentRequest>) -> Option<Condition> {
        let ConsentRequest { condition, asker } = asked?;
        self.askers.insert(id, asker);
        Some(condition)
    }

    pub(super) fn ask(
        &mut self,
        id: RequestId,
        principal: String,
        request: Box<Command>,
        until: Instant,
    ) {
        let Some(asker) = self.askers.remove(&id) else { return };
        self.questions.spawn(async move {
            let consent = timeout_at(until, asker.ask(&principal, &request)).await.ok()?;
            Some((id, consent))
        });
    }

    /// The request is done.
    pub(super) fn forget(&mut self, id: RequestId) {
        self.askers.remove(&id);
    }

    /// The next question that is over; nothing when none is out.
    pub(super) async fn next(&mut self) -> Option<ConsentResult> {
        self.questions.join_next().await
    }

    /// One that is over already.
    pub(super) fn try_next(&mut self) -> Option<ConsentResult> {
        self.questions.try_join_next()
    }
}

/// What was said, if that was in time. Where asking failed, nothing was.
pub(super) fn answer_of(over: ConsentResult) -> Option<(RequestId, Consent)> {
    over.ok().flatten()
}
