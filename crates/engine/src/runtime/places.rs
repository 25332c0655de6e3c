//! Limits the number of programs that run at the same time. The others wait in order of arrival.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use moothall_kernel::ids::{StreamId, TurnNo};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::runtime::turn::TurnKey;

/// The slots for running programs, and the turns that wait for one.
#[derive(Debug)]
pub struct ProgramSlots {
    number: Mutex<Number>,
    free: Arc<Semaphore>,
    waiting: Mutex<BTreeSet<(StreamId, TurnNo)>>,
}

/// The number of slots.
#[derive(Debug)]
struct Number {
    most: usize,
    /// Number of occupied slots that are removed when their programs end.
    surplus: usize,
}

/// A program's slot, until it is dropped.
#[derive(Debug)]
pub struct ProgramSlot {
    permit: Option<OwnedSemaphorePermit>,
    places: Arc<ProgramSlots>,
}

impl Drop for ProgramSlot {
    /// If there are too many slots, removes the slot instead of freeing it.
    fn drop(&mut self) {
        let mut number = self.places.number();
        if number.surplus > 0 {
            number.surplus -= 1;
            self.permit.take().into_iter().for_each(OwnedSemaphorePermit::forget);
        }
    }
}

/// A turn that waits for a slot.
pub(crate) struct SlotWaiter {
    places: Arc<ProgramSlots>,
    turn: (StreamId, TurnNo),
}

impl ProgramSlots {
    /// Makes this number of slots, at least one.
    pub fn new(most: usize) -> Arc<Self> {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let number = Mutex::new(Number { most, surplus: 0 });
        Arc::new(Self { number, free: Arc::new(Semaphore::new(most)), waiting: Mutex::default() })
    }

    /// Changes the number of slots, to at least one. Running programs are not stopped. If more run
    /// than are allowed, the programs that end first free no slot until the number fits.
    pub fn resize(&self, most: usize) {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let mut number = self.number();
        let there = number.most + number.surplus;
        if most >= there {
            self.free.add_permits(most - there);
            number.surplus = 0;
        } else {
            number.surplus = there - most - self.free.forget_permits(there - most);
        }
        number.most = most;
    }

    fn number(&self) -> MutexGuard<'_, Number> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> ProgramSlot {
        ProgramSlot { permit: Some(permit), places: self.clone() }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeSet<(StreamId, TurnNo)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot if one is free and no turn waits for a slot.
    pub(crate) fn free_one(self: &Arc<Self>) -> Option<ProgramSlot> {
        self.free.clone().try_acquire_owned().ok().map(|permit| self.place(permit))
    }

    /// Notes that this turn waits for a slot. Dropping the returned value ends the wait.
    pub(crate) fn wait(self: &Arc<Self>, key: &TurnKey) -> SlotWaiter {
        let turn = (key.stream.clone(), key.turn);
        self.waiting().insert(turn.clone());
        SlotWaiter { places: self.clone(), turn }
    }

    /// True if this turn waits for a slot.
    pub fn is_waiting(&self, stream: &StreamId, turn: TurnNo) -> bool {
        self.waiting().contains(&(stream.clone(), turn))
    }

    /// Returns the text for people about a turn that waits for a slot. A program occupies each slot
    /// then, so the text gives the number of slots as that of the running programs.
    pub fn wait_reason(&self) -> String {
        let most = self.number().most;
        let programs = if most == 1 {
            "1 program is running"
        } else {
            &format!("{most} programs are running")
        };
        format!("waits for a free slot: {programs}")
    }

    /// Returns the number of programs that have a slot, and the number of turns that wait for one.
    pub fn counts(&self) -> (usize, usize) {
        let number = self.number();
        (
            (number.most + number.surplus).saturating_sub(self.free.available_permits()),
            self.waiting().len(),
        )
    }
}

impl SlotWaiter {
    /// Waits for a slot. `None` only if the semaphore was closed.
    pub(crate) async fn place(&self) -> Option<ProgramSlot> {
        self.places.free.clone().acquire_owned().await.ok().map(|permit| self.places.place(permit))
    }
}

impl Drop for SlotWaiter {
    fn drop(&mut self) {
        self.places.waiting().remove(&self.turn);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_become_more_at_once_and_fewer_as_they_are_left() {
        let places = ProgramSlots::new(2);
        let (one, two) = (places.free_one().unwrap(), places.free_one().unwrap());
        assert!(places.free_one().is_none());
        places.resize(3);
        let three = places.free_one().unwrap();
        places.resize(1);
        assert_eq!(places.counts().0, 3, "whoever runs goes on");
        drop(one);
        drop(two);
        assert!(places.free_one().is_none(), "two of three were too many");
        drop(three);
        let only = places.free_one().unwrap();
        assert!(places.free_one().is_none() && places.counts().0 == 1);
        places.resize(0);
        places.resize(2);
        assert!(places.free_one().is_some(), "there is always one, and more when it is said");
        drop(only);
    }

    #[test]
    fn places_that_are_free_go_at_once_and_what_was_too_many_may_be_wanted_again() {
        let places = ProgramSlots::new(4);
        let (one, two) = (places.free_one().unwrap(), places.free_one().unwrap());
        places.resize(1);
        assert!(places.free_one().is_none());
        places.resize(2);
        drop((one, two));
        let again = (places.free_one(), places.free_one(), places.free_one());
        assert!(again.0.is_some() && again.1.is_some() && again.2.is_none());
    }
}
