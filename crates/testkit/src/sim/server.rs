//! A process's part in one conversation: its host, the queue of its inputs, and the output it waits
//! for.

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
use super::cross_commands;

/// A client's request.
#[derive(Clone, Debug)]
pub(crate) struct ClientRequest {
    pub(crate) command: Command,
    /// The client's key for a request that must take effect once.
    pub(crate) key: Option<String>,
    /// True if another person has to consent first.
    pub(crate) conditional: bool,
    /// The delivery whose command this is.
    pub(crate) delivery: Option<u64>,
    /// The command that it owes another room.
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

/// A future input of the host.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most of what a host is told are requests; boxing them would cost each of them"
)]
pub(crate) enum HostInput {
    Asked(ClientRequest),
    /// A report of the job with this number.
    Report(u64, TurnKey, Report),
    Probed(TurnKey, Probe),
    /// An answer to a question about consent.
    Consent(ConsentAnswer),
    Refresh,
}

/// The operation that the host waits for.
#[derive(Clone, Debug)]
pub(crate) enum HostWait {
    /// The host's output, not carried out yet.
    Wanted(Output),
    /// The result, which the host does not know yet.
    Done(Box<Input>),
}

pub(crate) struct Server {
    /// Number that distinguishes it from earlier and later hosts.
    pub(crate) number: u64,
    pub(crate) host: Host,
    pub(crate) queue: VecDeque<HostInput>,
    pub(crate) outstanding: Option<HostWait>,
    pub(crate) waiting: BTreeMap<RequestId, ClientRequest>,
    /// Last request id. Servers never share ids.
    last_request: u64,
    /// Time at which the host wants to look again, on the steady clock.
    pub(crate) wake: Option<Millis>,
    /// True if the host is new and has not looked yet.
    pub(crate) is_new: bool,
    /// Durations for which time stood still. The host has to log them before anything else.
    pub(crate) owed: VecDeque<Millis>,
    /// Lead of the conversation's own time over the steady clock at the last look.
    pub(crate) lead: i64,
    /// Offline participants at the host's last lookup.
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

    /// Returns the committed state of the conversation.
    pub(crate) fn room(&self) -> &Conversation {
        match self.host.committed() {
            Aggregate::Conversation(conversation) => conversation,
            Aggregate::Task(_) => unreachable!("rooms are conversations"),
        }
    }

    pub(crate) fn ask(&mut self, command: impl Into<Command>) {
        self.queue.push_back(HostInput::Asked(ClientRequest::new(command, None)));
    }

    /// Registers a request and returns it as an input.
    pub(crate) fn request(&mut self, request: ClientRequest) -> Input {
        self.last_request += 1;
        let id = RequestId(self.last_request);
        let once = |principal: &str, key: &String| Idempotency {
            principal: principal.into(),
            key: key.clone(),
            fingerprint: key.clone(),
        };
        let idempotency = match request.delivery {
            Some(delivery) => Some(once(cross_commands::PRINCIPAL, &delivery.to_string())),
            None => request.key.as_ref().map(|key| once("client", key)),
        };
        let wanted = ItemBody::Decision(request.command.clone());
        let condition = request
            .conditional
            .then(|| Condition { principal: "boss".into(), within: consent::WITHIN });
        let owing = request.owing.clone();
        self.waiting.insert(id, request);
        Input::Request {
            id,
            wanted,
            idempotency: idempotency.map(Box::new),
            condition,
            owing,
            taking: None,
        }
    }

    pub(crate) fn is_due(&self, steady: Millis) -> bool {
        self.wake.is_some_and(|at| at <= steady)
    }

    /// True if the host would do nothing now without further input.
    pub(crate) fn is_idle(&self, steady: Millis) -> bool {
        self.queue.is_empty()
            && self.outstanding.is_none()
            && !self.is_new
            && self.host.is_idle()
            && !self.is_due(steady)
    }
}
