//! Services that all parts of a hall share: stores, clock, budgets, notifications, and the draining
//! flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use moothall_kernel::Conversation;
use moothall_kernel::event::RecordedEvent;
use moothall_kernel::ids::{ParticipantId, StreamId};
use moothall_kernel::participant::Participant;
use moothall_kernel::policy::Policy;
use moothall_kernel::time::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, watch};

use crate::answers::{HallChange, HallError, Signal};
use crate::channels::ChannelDirectory;
use crate::computers::ComputerDirectory;
use crate::crash;
use crate::hall::budgets::{BudgetsConfig, SharedBudgets};
use crate::hall::copies::Copiers;
use crate::hall::meters::Metrics;
use crate::hall::occupations::OccupationBook;
use crate::hall::presence::Presence;
use crate::hall::presences::{ParticipantPresence, Presences};
use crate::hall::reservations::Reservations;
use crate::hall::streams::Directory;
use crate::hall::voices::VoiceBook;
use crate::outbox::Outbox;
use crate::ports::{Clock, ListedStream, Store};
use crate::runtime::registry::{LiveRegistry, Registry};
use crate::sessions::{Residents, session_of};
use crate::stream::elsewhere::Offers;
use crate::tasks::directory::TaskDirectory;
use crate::tasks::memberships::MembershipChange;

/// Number of notifications that a listener may lag behind.
const CHANGES_LEN: usize = 4096;

/// The parts from which a hall is made.
pub struct HallParts {
    /// All storage.
    pub store: Store,
    /// The only source of time in the hall.
    pub clock: Arc<dyn Clock>,
    /// The agents at the start.
    pub registry: Registry,
    /// The default settings of conversations.
    pub defaults: Policy,
    /// The limits on turns and money.
    pub budgets: BudgetsConfig,
    /// Name of this process, as the writer of its streams.
    pub owner: String,
}

pub(crate) struct Services {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    standing: LiveRegistry,
    pub(crate) owner: String,
    pub(crate) directory: Directory,
    pub(crate) presences: Arc<Presences>,
    /// The states of participants.
    pub(crate) occupations: Arc<OccupationBook>,
    pub(crate) tasks: Arc<TaskDirectory>,
    pub(crate) voices: VoiceBook,
    pub(crate) budgets: Arc<SharedBudgets>,
    pub(crate) reservations: Arc<Reservations>,
    pub(crate) changes: broadcast::Sender<HallChange>,
    pub(crate) meters: Arc<Metrics>,
    pub(crate) residents: Arc<dyn Residents>,
    pub(crate) copiers: Copiers,
    /// The channels; empty before they are opened.
    pub(crate) channels: OnceLock<Weak<dyn ChannelDirectory>>,
    /// The other computers; empty before they are opened.
    pub(crate) computers: OnceLock<Weak<dyn ComputerDirectory>>,
    /// The turns that are offered to sessions of other computers.
    pub(crate) offers: Arc<Offers>,
    pub(crate) outbox: Arc<Outbox>,
    memberships: broadcast::Sender<MembershipChange>,
    fatal: watch::Sender<Option<String>>,
    draining: AtomicBool,
}

impl Services {
    /// Makes the services of a hall from its parts. Starts nothing, and reads nothing from the log.
    pub(crate) fn new(parts: HallParts, residents: Arc<dyn Residents>) -> Self {
        let presences = Arc::new(Presences::since(parts.clock.now()));
        Self {
            residents,
            tasks: TaskDirectory::new(presences.clone(), parts.clock.clone()),
            outbox: Outbox::new(parts.store.outbox.clone()),
            store: parts.store,
            presences,
            occupations: Arc::default(),
            clock: parts.clock,
            standing: LiveRegistry::new(parts.registry, parts.defaults),
            owner: parts.owner,
            directory: Directory::default(),
            meters: Arc::default(),
            copiers: Copiers::default(),
            channels: OnceLock::new(),
            computers: OnceLock::new(),
            offers: Arc::default(),
            voices: VoiceBook::default(),
            budgets: Arc::new(SharedBudgets::new(&parts.budgets)),
            reservations: Arc::default(),
            changes: broadcast::channel(CHANGES_LEN).0,
            memberships: broadcast::channel(CHANGES_LEN).0,
            fatal: watch::channel(None).0,
            draining: AtomicBool::new(false),
        }
    }

    /// Returns the attendees of a stream, and its participants whose session has ended.
    pub(crate) fn attendees(
        &self,
        stream: &StreamId,
        state: Option<&Conversation>,
        now: Timestamp,
    ) -> ParticipantPresence {
        let agents = state.into_iter().flat_map(Conversation::agents);
        let ended = |agent: &Participant| {
            let name = self.residents.ended_name(&session_of(agent)?)?;
            Some((agent.id.clone(), name))
        };
        let ended = agents.filter_map(ended).collect();
        ParticipantPresence { ended, ..self.presences.attendees(stream, state, now) }
    }

    /// Returns the present registry and default settings.
    pub(crate) fn standing(&self) -> &LiveRegistry {
        &self.standing
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the catalog row of a stream, or [`HallError::NotFound`].
    pub(crate) async fn find(&self, stream: &StreamId) -> Result<ListedStream, HallError> {
        self.store.log.find(stream).await?.ok_or_else(|| HallError::NotFound(stream.clone()))
    }

    /// Notes a presence and notifies all listeners. `None` if the stream has too many presences.
    pub(crate) fn note_presence(
        &self,
        stream: &StreamId,
        from: ParticipantId,
        state: String,
        details: Option<Map<String, Value>>,
    ) -> Option<Presence> {
        let presence = self.presences.note(stream, from, state, details, self.now())?;
        crash::point("presence");
        self.occupations.note_change(stream);
        if let Some(updates) = self.directory.updates(stream) {
            updates.signal(|| Signal::Presence(presence.clone()));
        }
        let _ = self
            .changes
            .send(HallChange::Presence { stream: stream.clone(), presence: presence.clone() });
        Some(presence)
    }

    /// Notifies listeners of agents that entered or left a stream of a task, or its management.
    pub(crate) fn tell_of_memberships(
        &self,
        stream: &StreamId,
        memberships: &[(ParticipantId, bool)],
        events: &[RecordedEvent],
    ) {
        let Some(first) = events.first() else { return };
        for (agent, begins) in memberships {
            let change = MembershipChange {
                agent: agent.clone(),
                stream: stream.clone(),
                at: first.seq,
                begins: *begins,
            };
            let _ = self.memberships.send(change);
        }
    }

    /// Subscribes to changes of memberships.
    pub(crate) fn memberships(&self) -> broadcast::Receiver<MembershipChange> {
        self.memberships.subscribe()
    }

    /// Notes that the log can no longer be trusted.
    pub(crate) fn fail(&self, reason: &str) {
        tracing::error!(reason, "the log failed; the process has to stop");
        self.fatal.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(reason.to_owned());
            }
            first
        });
    }

    pub(crate) fn fatal(&self) -> watch::Receiver<Option<String>> {
        self.fatal.subscribe()
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn stop_taking(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Returns an error if commands are not taken: the hall drains, or the log has failed.
    pub(crate) fn is_open(&self) -> Result<(), HallError> {
        if self.is_draining() {
            return Err(HallError::ShuttingDown);
        }
        match &*self.fatal.borrow() {
            Some(reason) => Err(HallError::Failed(format!("the log failed: {reason}"))),
            None => Ok(()),
        }
    }
}
