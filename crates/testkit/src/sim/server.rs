//! A process's part in one conversation: its host, what it was not told yet, and what it waits for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use moothall_engine::agent::{Probe, Report, TurnKey};
use moothall_engine::hall::Idempotency;
use moothall_engine::registry::Roster;
use moothall_engine::stream::{Condition, Host, Input, ItemBody, Output, OwedItems, RequestId};
use moothall_kernel::command::Command;
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::time::Millis;
use moothall_kernel::{Aggregate, Conversation};

use super::consent::{self, ConsentAnswer};
use super::errands;

/// What a client asks.
#[derive(Clone, Debug)]
pub(crate) struct ClientRequest {
    pub(crate) command: Command,
    /// The client's key for a request that must take effect once.
    pub(crate) key: Option<String>,
    /// Somebody has to agree first.
    pub(crate) conditional: bool,
    /// It is the command of this delivery.
    pub(crate) delivery: Option<u64>,
    /// What it owes elsewhere.
    pub(crate) owing: OwedItems,
}

impl ClientRequest {
    pub(crate) fn new(command: impl Into<Command>, key: Option<String>) -> Self {
        Self {
            command: command.into(),
            key,
            conditional: false,
            delivery: None,
            owing: OwedItems::default(),
        }
    }
}

/// Something that the host will be told.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most of what a host is told are requests; boxing them would cost each of them"
)]
pub(crate) enum HostInput {
    Asked(ClientRequest),
    /// The job of this number reports.
    Report(u64, TurnKey, Report),
    Probed(TurnKey, Probe),
    /// What somebody said who was asked to agree.
    Consent(ConsentAnswer),
    Refresh,
}

/// What the host waits for.
#[derive(Clone, Debug)]
pub(crate) enum Outstanding {
    /// It asked for this, and nobody has looked at it.
    Wanted(Output),
    /// It is done, and the host does not know.
    Done(Box<Input>),
}

pub(crate) struct Server {
    /// Tells it from those before and after it.
    pub(crate) number: u64,
    pub(crate) host: Host,
    pub(crate) queue: VecDeque<HostInput>,
    pub(crate) outstanding: Option<Outstanding>,
    pub(crate) waiting: BTreeMap<RequestId, ClientRequest>,
    /// No two servers use the same ids.
    last_request: u64,
    /// When the host wants to look again, on the steady clock.
    pub(crate) wake: Option<Millis>,
    /// It was made and has not looked yet.
    pub(crate) is_new: bool,
    /// For how long time stood still, as its log has to be told before anything else.
    pub(crate) owed: VecDeque<Millis>,
    /// How far its conversation's own time was ahead of the steady clock when it last looked.
    pub(crate) lead: i64,
    /// Who was offline when it last asked.
    pub(crate) offline: BTreeSet<ParticipantId>,
    pub(crate) roster: Roster,
}

impl Server {
    pub(crate) fn new(number: u64, host: Host, roster: Roster, lead: i64) -> Self {
        let (queue, waiting, owed, offline) = <_>::default();
        Self {
            number,
            host,
            queue,
            outstanding: None,
            waiting,
            last_request: number << 32,
            wake: None,
            is_new: true,
            owed,
            lead,
            offline,
            roster,
        }
    }

    /// The conversation, as it is committed.
    pub(crate) fn room(&self) -> &Conversation {
        match self.host.committed() {
            Aggregate::Conversation(conversation) => conversation,
            Aggregate::Task(_) => unreachable!("rooms are conversations"),
        }
    }

    pub(crate) fn ask(&mut self, command: impl Into<Command>) {
        self.queue.push_back(HostInput::Asked(ClientRequest::new(command, None)));
    }

    /// A request on its way to the host.
    pub(crate) fn request(&mut self, request: ClientRequest) -> Input {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        let once = |principal: &str, key: &String| Idempotency {
            principal: principal.into(),
            key: key.clone(),
            fingerprint: key.clone(),
        };
        let idempotency = match request.delivery {
            Some(delivery) => Some(once(errands::PRINCIPAL, &delivery.to_string())),
            None => request.key.as_ref().map(|key| once("client", key)),
        };
        let wanted = ItemBody::Decision(request.command.clone());
        let condition = request
            .conditional
            .then(|| Condition { principal: "boss".into(), within: consent::WITHIN });
        let owing = request.owing.clone();
        self.waiting.insert(id, request);
        Input::Request { id, wanted, idempotency: idempotency.map(Box::new), condition, owing }
    }

    pub(crate) fn is_due(&self, steady: Millis) -> bool {
        self.wake.is_some_and(|at| at <= steady)
    }

    /// Whether nothing would happen if it were let alone now.
    pub(crate) fn is_idle(&self, steady: Millis) -> bool {
        self.queue.is_empty()
            && self.outstanding.is_none()
            && !self.is_new
            && self.host.is_idle()
            && !self.is_due(steady)
    }
}
