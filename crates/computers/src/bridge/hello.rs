//! The introductions of computers, made from the log and compared with it.

use std::sync::Arc;

use moothall_engine::outbox::DeliveryHandler;
use moothall_engine::ports::{LogError, Target, TargetKind};

use super::courier::PostCourier;
use super::outgoing::{ForeignMark, ReceiverHello};
use super::run::{PostLink, clock, kernel_id};
use super::taker::{log_of_channel, post_channel};
use crate::channel::ChannelKey;
use crate::frame::{Hello, SendingHead, Through};
use crate::id::{BootId, ComputerId};
use crate::invitation::Pair;

/// The next step if the other computer has marks of rows that this log never had.
const FOREIGN_CURE: &str = "It has taken rows that this computer never sent: the log here was \
    replaced by an older one. Forget it here, forget this computer there, and pair both anew.";

impl PostLink {
    /// Returns the introduction to a computer.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(super) async fn hello_for(&self, pair: &Pair) -> Result<Hello, LogError> {
        let sending = self.sending_to(pair.id).await?;
        let marks = self.store()?.posts.marks(&kernel_id(pair.id)).await?;
        let received = marks.into_iter().filter_map(|(channel, number)| {
            Some(Through::new(log_of_channel(&channel, &pair.key)?, number))
        });
        Ok(Hello {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            name: self.pairs.own().name,
            clock_ms: self.hall.now().millis(),
            sending,
            received: received.collect(),
        })
    }

    /// Returns the numbers of the rows that the log still owes a computer.
    async fn sending_to(&self, id: ComputerId) -> Result<SendingHead, LogError> {
        let store = self.store()?;
        // The newest number is read first. A row that is owed between the two reads is then found
        // as the oldest. In the other order it would count as sent.
        let last = store.posts.last_number(&kernel_id(id)).await?;
        let target = Target::Computer(kernel_id(id));
        let oldest = store.outbox.pending_deliveries(&target, 0, 1).await?;
        let first = oldest.first().and_then(|row| row.number).unwrap_or(last + 1);
        // Perhaps the log has not noted yet that a row was taken. That row is not sent any more.
        let first = first.max(self.outgoing.taken(id) + 1);
        Ok(SendingHead { log: self.log, first, last })
    }

    /// Takes the introduction of another computer. This computer receives that computer's rows
    /// after the mark in the log here, and sends it the rows after the mark in the introduction. If
    /// the log can no longer send the first of these rows, the turns of that computer are offered
    /// again.
    ///
    /// Returns the next step for people if the introduction has a mark of a row that this log never
    /// had.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read; no channel to that computer begins then.
    pub(super) async fn meet(
        &self,
        pair: &Pair,
        boot: BootId,
        hello: &Hello,
    ) -> Result<Option<&'static str>, LogError> {
        let own = self.pairs.own().id;
        let key = ChannelKey { sender: pair.id, log: hello.sending.log, receiver: own };
        if !self.incoming.is_known(key) {
            self.begin_incoming(pair, key).await?;
        }
        self.incoming.meet(pair.id, hello.sending);

        let sending = self.sending_to(pair.id).await?;
        let key = ChannelKey { sender: own, log: self.log, receiver: pair.id };
        let mark = hello.received.iter().find(|through| through.log() == self.log);
        let taken = mark.map_or(0, Through::number);
        let SendingHead { first, last, .. } = sending;
        if taken + 1 < first {
            self.offer_again(pair.id);
        }
        let receiver = ReceiverHello { key, boot, taken, first, last };
        match self.outgoing.meet(receiver, clock()) {
            Ok(true) => self.serve_rows().await,
            Ok(false) => {}
            Err(ForeignMark) => return Ok(Some(FOREIGN_CURE)),
        }
        Ok(None)
    }

    /// Owes the turns of a computer again. Its log was restored, so it has lost rows that it had
    /// taken.
    fn offer_again(&self, computer: ComputerId) {
        let Some(hall) = self.hall.weak().enter() else { return };
        tokio::spawn(async move {
            if let Err(error) = hall.offer_again(&kernel_id(computer)).await {
                tracing::warn!(%error, "turns of a restored computer are not offered again");
            }
        });
    }

    /// Begins to receive the rows of a channel, after its mark in the log.
    pub(super) async fn begin_incoming(
        &self,
        pair: &Pair,
        key: ChannelKey,
    ) -> Result<(), LogError> {
        let mark = self.store()?.posts.through(&post_channel(key, &pair.key)).await?;
        self.incoming.begin(key, mark);
        Ok(())
    }

    /// Takes an acknowledgement of a boot. Returns the next step for people if it is about a row
    /// that this log never had.
    pub(super) async fn take_mark(
        &self,
        pair: &Pair,
        boot: BootId,
        through: Through,
    ) -> Result<Option<&'static str>, LogError> {
        let last = self.store()?.posts.last_number(&kernel_id(pair.id)).await?;
        let taken = self.outgoing.acknowledge((pair.id, boot), through, last, clock());
        Ok(taken.err().map(|_| FOREIGN_CURE))
    }

    /// Lets the outbox carry the rows that are owed to computers, without a further wait.
    pub(super) async fn serve_rows(&self) {
        let Some(hall) = self.hall.weak().enter() else { return };
        let courier: Arc<dyn DeliveryHandler> = Arc::new(PostCourier(self.own.clone()));
        if let Err(error) = hall.register_handler(TargetKind::Computer, courier).await {
            tracing::warn!(%error, "rows for other computers cannot be read");
        }
    }
}
