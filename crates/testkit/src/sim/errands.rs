//! Commands that one conversation owes another: they are owed by chance, carried by a dispatcher
//! that dies with the process, and have to be carried out once and in their order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use moothall_engine::hall::HallError;
use moothall_engine::outbox::{OutboxEntry, StreamCommand};
use moothall_engine::ports::{COMMANDER, DeliveryState, NewDelivery};
use moothall_engine::stream::{OwedItems, Verdict};
use moothall_kernel::command::{Actor, ClientCommand, Post};
use moothall_kernel::event::{Event, Recipient, RecordedEvent};
use moothall_kernel::ids::ParticipantId;

use super::check::{Objection, Verdict as Checked};
use super::log::stream;
use super::marks;
use super::rng::Rng;
use super::server::{ClientRequest, HostInput};
use super::world::{World, object};

/// Where a command is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    /// It was put before its target.
    Sent,
    /// The target said what came of it, and that is not noted.
    Settled(DeliveryState),
}

/// All about commands from room to room. It has chances of its own, so that runs without them are
/// the same with it.
pub(crate) struct CrossCommands {
    rng: Rng,
    /// Whether there are any in this run.
    happen: bool,
    /// What is owed to each room and not settled, in the order in which it came to the disk: the
    /// delivery, and the mark of its words.
    open: BTreeMap<usize, VecDeque<(u64, usize)>>,
    /// What this process is carrying to each room: the first that is owed.
    carried: BTreeMap<usize, Leg>,
    /// The delivery that each mark went with.
    deliveries: BTreeMap<usize, u64>,
    /// The marks of the words that commands bring.
    marks: BTreeSet<usize>,
    /// The last delivery that each room carried out.
    last: BTreeMap<usize, u64>,
}

impl CrossCommands {
    pub(crate) fn new(seed: u64) -> Self {
        let (open, carried, deliveries, marks, last) = <_>::default();
        Self {
            rng: Rng::new(seed.rotate_left(32)),
            happen: matches!(seed % 5, 1 | 3),
            open,
            carried,
            deliveries,
            marks,
            last,
        }
    }

    /// Whether something is owed that nobody carries.
    pub(crate) fn wait(&self) -> bool {
        self.open
            .iter()
            .any(|(room, open)| !open.is_empty() && self.carried.get(room) != Some(&Leg::Sent))
    }

    /// What came to the disk with an append.
    pub(crate) fn note(&mut self, inserted: &[NewDelivery], ids: &[u64]) {
        for (delivery, id) in inserted.iter().zip(ids) {
            let room =
                delivery.target.strip_prefix("stream:room-").and_then(|room| room.parse().ok());
            if let (Some(room), Some(mark)) =
                (room, delivery.command.as_deref().and_then(marks::first))
            {
                self.open.entry(room).or_default().push_back((*id, mark));
                self.deliveries.insert(mark, *id);
            }
        }
    }

    /// The words of a command come to the disk after the command, once, and in the order of the
    /// commands.
    pub(crate) fn check(&mut self, room: usize, recorded: &RecordedEvent) -> Checked {
        let Event::Posted(posted) = &recorded.event else { return Ok(()) };
        // Refused words that a person makes visible later were no command then.
        let own = posted.published.is_none();
        let Some(mark) = marks::first(&posted.body).filter(|mark| own && self.marks.contains(mark))
        else {
            return Ok(());
        };
        let Some(id) = self.deliveries.get(&mark) else {
            return Err(format!("the command with mark {mark} was never owed"));
        };
        match self.last.insert(room, *id) {
            Some(last) if last >= *id => {
                Err(format!("delivery {id} to room {room} was carried out after delivery {last}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The process died, and what it knew is gone.
    pub(crate) fn crash(&mut self) {
        self.carried.clear();
    }
}

impl World {
    /// What a request owes another room, sometimes.
    pub(crate) fn owing(&mut self, room: usize) -> OwedItems {
        let rooms = self.servers.len();
        if !self.errands.happen || rooms < 2 || !self.errands.rng.chance(30) {
            return OwedItems::default();
        }
        let target = (room + 1 + self.errands.rng.below(rooms as u64 - 1) as usize) % rooms;
        let mark = self.marks.make(ParticipantId::user(), None);
        self.errands.marks.extend(marks::first(&mark));
        let command = StreamCommand::Tell {
            from: ParticipantId::user(),
            to: ParticipantId::user(),
            text: format!("{mark} word from there"),
        };
        OwedItems { hops: 0, owed: vec![OutboxEntry::to_stream(&stream(target), &command)] }
    }

    /// The dispatcher takes some steps.
    pub(crate) fn carry_commands(&mut self) -> Result<(), Objection> {
        for room in 0..self.servers.len() {
            let Some((id, mark)) = self.errands.open.get(&room).and_then(VecDeque::front).copied()
            else {
                continue;
            };
            match self.errands.carried.get(&room).copied() {
                _ if !self.calm && self.errands.rng.chance(50) => {}
                Some(Leg::Sent) => {}
                Some(Leg::Settled(state)) => {
                    object("errands", self.disk.settle(id, state))?;
                    self.errands.carried.remove(&room);
                    self.errands.open.entry(room).or_default().pop_front();
                }
                None => {
                    let words = format!("{} word from there", marks::write(mark));
                    let post = Post {
                        to: Recipient::One(ParticipantId::user()),
                        ..Post::new(Actor::named(ParticipantId::user()), words)
                    };
                    let request = ClientRequest {
                        delivery: Some(id),
                        ..ClientRequest::new(ClientCommand::Post(post), None)
                    };
                    self.errands.carried.insert(room, Leg::Sent);
                    self.servers[room].queue.push_back(HostInput::Asked(request));
                }
            }
        }
        Ok(())
    }

    /// The target of a command says what came of it.
    pub(crate) fn note_carried(&mut self, room: usize, delivery: u64, verdict: &Verdict) {
        let first = self.errands.open.get(&room).and_then(VecDeque::front).map(|(id, _)| *id);
        // A host that was replaced answers to nobody.
        if first != Some(delivery) || self.errands.carried.get(&room) != Some(&Leg::Sent) {
            return;
        }
        let leg = match verdict {
            Ok(_) => Some(Leg::Settled(DeliveryState::Done)),
            Err(HallError::Rejected(_)) => Some(Leg::Settled(DeliveryState::Failed)),
            Err(_) => None,
        };
        self.story.tell(|| format!("  room {room} answers delivery {delivery}: {leg:?}"));
        self.errands.carried.remove(&room);
        self.errands.carried.extend(leg.map(|leg| (room, leg)));
    }

    /// A room's host is another one: what was put before the old one is to be put before it anew.
    pub(crate) fn forget_carried(&mut self, room: usize) {
        if self.errands.carried.get(&room) == Some(&Leg::Sent) {
            self.errands.carried.remove(&room);
        }
    }

    /// At rest nothing is owed, and no claim of a command is left.
    pub(crate) fn ask_for_errands(&self) -> Result<(), Objection> {
        let owed = self.errands.open.iter().find(|(_, open)| !open.is_empty());
        object(
            "errands",
            owed.map_or(Ok(()), |(room, open)| Err(format!("room {room} was not told {open:?}"))),
        )?;
        object("errands", self.disk.commands_left())
    }
}

/// Whose key the request of a delivery has.
pub(crate) const PRINCIPAL: &str = COMMANDER;
