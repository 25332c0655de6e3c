//! Commands that one conversation owes another. They arise by chance, are carried by a dispatcher
//! that dies with the process, and have to be carried out once and in their order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use moothall_engine::hall::HallError;
use moothall_engine::outbox::{OutboxEntry, StreamCommand};
use moothall_engine::ports::{COMMANDER, DeliveryState, NewDelivery, Target};
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

/// The progress of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    /// The command was sent to its target.
    Sent,
    /// The target answered, but the answer is not stored yet.
    Settled(DeliveryState),
}

/// All commands from room to room. Their randomness is separate, so that runs without commands do
/// not change.
pub(crate) struct CrossCommands {
    rng: Rng,
    /// True if this run has commands.
    happen: bool,
    /// Unsettled deliveries to each room, in the order in which they reached the disk, with the
    /// mark of their words.
    open: BTreeMap<usize, VecDeque<(u64, usize)>>,
    /// The first delivery to each room, as far as this process has carried it.
    carried: BTreeMap<usize, Leg>,
    /// The delivery of each mark.
    deliveries: BTreeMap<usize, u64>,
    /// The marks of all words in commands.
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

    /// True if a delivery waits for the dispatcher.
    pub(crate) fn wait(&self) -> bool {
        self.open
            .iter()
            .any(|(room, open)| !open.is_empty() && self.carried.get(room) != Some(&Leg::Sent))
    }

    /// Notes the deliveries of an append.
    pub(crate) fn note(&mut self, inserted: &[NewDelivery], ids: &[u64]) {
        for (delivery, id) in inserted.iter().zip(ids) {
            let room = match &delivery.target {
                Target::Stream(stream) => {
                    stream.as_str().strip_prefix("room-").and_then(|room| room.parse().ok())
                }
                _ => None,
            };
            if let (Some(room), Some(mark)) =
                (room, delivery.command.as_deref().and_then(marks::first))
            {
                self.open.entry(room).or_default().push_back((*id, mark));
                self.deliveries.insert(mark, *id);
            }
        }
    }

    /// Checks that the words of a command reach the disk after the command, once, and in the order
    /// of the commands.
    pub(crate) fn check(&mut self, room: usize, recorded: &RecordedEvent) -> Checked {
        let Event::Posted(posted) = &recorded.event else { return Ok(()) };
        // A person may publish refused words later; that is not the command.
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

    /// Forgets the knowledge of the dead process.
    pub(crate) fn crash(&mut self) {
        self.carried.clear();
    }
}

impl World {
    /// Returns a command that a request owes another room, by chance.
    pub(crate) fn owing(&mut self, room: usize) -> OwedItems {
        let rooms = self.servers.len();
        if !self.commands.happen || rooms < 2 || !self.commands.rng.chance(30) {
            return OwedItems::default();
        }
        let target = (room + 1 + self.commands.rng.below(rooms as u64 - 1) as usize) % rooms;
        let mark = self.marks.make(ParticipantId::user(), None);
        self.commands.marks.extend(marks::first(&mark));
        let command = StreamCommand::Tell {
            from: ParticipantId::user(),
            to: ParticipantId::user(),
            text: format!("{mark} word from there"),
        };
        OwedItems { hops: 0, owed: vec![OutboxEntry::to_stream(&stream(target), &command)] }
    }

    /// Lets the dispatcher take some steps.
    pub(crate) fn carry_commands(&mut self) -> Result<(), Objection> {
        for room in 0..self.servers.len() {
            let Some((id, mark)) = self.commands.open.get(&room).and_then(VecDeque::front).copied()
            else {
                continue;
            };
            match self.commands.carried.get(&room).copied() {
                _ if !self.calm && self.commands.rng.chance(50) => {}
                Some(Leg::Sent) => {}
                Some(Leg::Settled(state)) => {
                    object("errands", self.disk.settle(id, state))?;
                    self.commands.carried.remove(&room);
                    self.commands.open.entry(room).or_default().pop_front();
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
                    self.commands.carried.insert(room, Leg::Sent);
                    self.servers[room].queue.push_back(HostInput::Asked(request));
                }
            }
        }
        Ok(())
    }

    /// Notes the target's answer to a command.
    pub(crate) fn note_carried(&mut self, room: usize, delivery: u64, verdict: &Verdict) {
        let first = self.commands.open.get(&room).and_then(VecDeque::front).map(|(id, _)| *id);
        // Ignore the answers of a replaced host.
        if first != Some(delivery) || self.commands.carried.get(&room) != Some(&Leg::Sent) {
            return;
        }
        let leg = match verdict {
            Ok(_) => Some(Leg::Settled(DeliveryState::Done)),
            Err(HallError::Rejected(_)) => Some(Leg::Settled(DeliveryState::Failed)),
            Err(_) => None,
        };
        self.story.tell(|| format!("  room {room} answers delivery {delivery}: {leg:?}"));
        self.commands.carried.remove(&room);
        self.commands.carried.extend(leg.map(|leg| (room, leg)));
    }

    /// Forgets a command that was sent to the old host of a room, so that the new one gets it.
    pub(crate) fn forget_carried(&mut self, room: usize) {
        if self.commands.carried.get(&room) == Some(&Leg::Sent) {
            self.commands.carried.remove(&room);
        }
    }

    /// Checks at rest that no command is owed and no claim of a command is left.
    pub(crate) fn check_cross_commands(&self) -> Result<(), Objection> {
        let owed = self.commands.open.iter().find(|(_, open)| !open.is_empty());
        object(
            "errands",
            owed.map_or(Ok(()), |(room, open)| Err(format!("room {room} was not told {open:?}"))),
        )?;
        object("errands", self.disk.commands_left())
    }
}

/// The principal of a delivery's idempotency key.
pub(crate) const PRINCIPAL: &str = COMMANDER;
