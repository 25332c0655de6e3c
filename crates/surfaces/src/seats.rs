//! Who has a connection: how many there are, which of them gives way when there are no more, and
//! what is kept free for operators.
//!
//! Before a request's head has come nobody knows whose a connection is. So those that say nothing
//! give way first, and a few seats are kept back: they are taken only when all others are, and only
//! for as long as it takes to see whether an operator asks.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::meters::Meters;

/// How long the first request's head may take.
pub const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// The same on a seat that is kept back.
const SPARE_HEAD_WITHIN: Duration = Duration::from_secs(2);
/// A connection that has just come does not give way, so that a storm of honest ones is not let in
/// only to be sent away.
const SILENT_MIN: Duration = Duration::from_millis(250);
/// How long a connection on a reserved seat must be silent before it can be cut off when all
/// reserved seats are taken. Short, because a client that had to wait has its request ready.
const SPARE_SILENT_MIN: Duration = Duration::from_millis(50);
/// Nor does one that had a request so recently: its client may be about to send the next one.
const IDLE_MIN: Duration = Duration::from_secs(2);

/// How many connections there may be at once, and which there are.
pub struct Seats {
    /// Seats that everybody may take, beside those that are kept back.
    most: usize,
    /// Seats that are kept back.
    spare: usize,
    /// Most connections from one address that is not this computer's.
    per_address: AtomicUsize,
    table: Mutex<Table>,
    freed: Notify,
    meters: Arc<Meters>,
}

#[derive(Default)]
struct Table {
    next: u64,
    taken: BTreeMap<u64, Arc<Sitting>>,
    spares: usize,
    addresses: HashMap<IpAddr, usize>,
}

/// What is known about a connection.
struct Sitting {
    spare: bool,
    /// A whole head has come.
    heard: AtomicBool,
    /// Requests that are being answered.
    busy: AtomicU32,
    /// When it last said something, or was told something.
    since: Mutex<Instant>,
    leave: Notify,
    head: Notify,
}

impl Sitting {
    fn since(&self) -> Instant {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// A connection's seat. Whoever drops it gives it free.
pub struct Seat {
    number: u64,
    address: IpAddr,
    sitting: Arc<Sitting>,
    /// This address has too many connections; its requests are answered with that.
    pub crowded: bool,
    seats: Arc<Seats>,
}

/// A request that is being answered.
pub struct Busy(Arc<Sitting>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Seats {
    /// So many seats together, some of them kept back.
    pub fn new(all: usize, per_address: usize, meters: Arc<Meters>) -> Arc<Self> {
        let spare = if all < 2 { 0 } else { (all / 16).clamp(1, 64) };
        Arc::new(Self {
            most: all - spare,
            spare,
            per_address: per_address.into(),
            table: Mutex::default(),
            freed: Notify::new(),
            meters,
        })
    }

    /// So many connections from one address from now on; those that are there stay.
    pub fn replace(&self, per_address: usize) {
        self.per_address.store(per_address, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until somebody can be let in: until then, whoever wants to connect waits outside.
    pub async fn room(&self) {
        loop {
            let freed = self.freed.notified();
            if self.lock().has_room(self) {
                return;
            }
            // Nobody has to leave for the longest silent one to become old enough to give way.
            let _ = tokio::time::timeout(SPARE_SILENT_MIN, freed).await;
        }
    }

    /// A seat for a connection from this address, after [`Seats::room`] has said that there is one.
    /// Nothing for one more from an address that is sent away in numbers already.
    pub fn take(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let address = grouped(address);
        let mut table = self.lock();
        let from_here = table.addresses.get(&address).copied().unwrap_or(0);
        let crowded =
            !address.is_loopback() && from_here >= self.per_address.load(Ordering::Acquire);
        if crowded && table.spares >= self.spare.div_ceil(2) {
            self.meters.sent_away();
            return None;
        }
        if !crowded
            && table.ordinary() >= self.most
            && !table.send_one_away(false, &self.meters)
            && table.spares >= self.spare
        {
            table.send_one_away(true, &self.meters);
        }
        let spare = crowded || table.ordinary() >= self.most;
        let sitting = Arc::new(Sitting {
            spare,
            heard: AtomicBool::new(false),
            busy: AtomicU32::new(0),
            since: Mutex::new(Instant::now()),
            leave: Notify::new(),
            head: Notify::new(),
        });
        table.next += 1;
        let number = table.next;
        table.taken.insert(number, sitting.clone());
        table.spares += usize::from(spare);
        *table.addresses.entry(address).or_default() += 1;
        self.meters.connections(table.taken.len());
        Some(Seat { number, address, sitting, crowded, seats: self.clone() })
    }
}

impl Table {
    fn ordinary(&self) -> usize {
        self.taken.len() - self.spares
    }

    fn has_room(&self, seats: &Seats) -> bool {
        self.ordinary() < seats.most
            || self.spares < seats.spare
            || self.longest_silent(false).is_some()
            || self.longest_silent(true).is_some()
    }

    /// Whoever has said nothing for longest; after those, whoever has nothing being answered for
    /// longest.
    fn longest_silent(&self, spare: bool) -> Option<u64> {
        let now = Instant::now();
        let idle = self.taken.iter().filter(|(_, sitting)| {
            sitting.spare == spare && sitting.busy.load(Ordering::Acquire) == 0
        });
        let ripe = idle.filter_map(|(number, sitting)| {
            let (heard, since) = (sitting.heard.load(Ordering::Acquire), sitting.since());
            let least = match (heard, spare) {
                (true, _) => IDLE_MIN,
                (false, false) => SILENT_MIN,
                (false, true) => SPARE_SILENT_MIN,
            };
            (now - since >= least).then_some((heard, since, *number))
        });
        ripe.min().map(|(_, _, number)| number)
    }

    fn send_one_away(&mut self, spare: bool, meters: &Meters) -> bool {
        // Its seat is free at once; its task ends when it gets to it.
        let Some(sitting) =
            self.longest_silent(spare).and_then(|number| self.taken.remove(&number))
        else {
            return false;
        };
        self.spares -= usize::from(spare);
        sitting.leave.notify_one();
        meters.sent_away();
        true
    }
}

impl Seat {
    /// A request's head has come, whole.
    pub fn hear(&self) -> Busy {
        self.sitting.heard.store(true, Ordering::Release);
        self.sitting.busy.fetch_add(1, Ordering::AcqRel);
        self.sitting.touch();
        self.sitting.head.notify_one();
        Busy(self.sitting.clone())
    }

    /// Whether this is one of the seats that are kept back for operators.
    pub fn is_spare(&self) -> bool {
        self.sitting.spare
    }

    /// Resolves when the connection has to end: its first head is late, or another one needs its
    /// seat.
    pub async fn over(&self) {
        let within = if self.sitting.spare { SPARE_HEAD_WITHIN } else { HEAD_WITHIN };
        let late = async {
            tokio::select! {
                () = tokio::time::sleep(within) => {}
                () = self.sitting.head.notified() => std::future::pending().await,
            }
        };
        tokio::select! {
            () = late => {}
            () = self.sitting.leave.notified() => {}
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.seats.lock();
        if let Some(sitting) = table.taken.remove(&self.number) {
            table.spares -= usize::from(sitting.spare);
        }
        if let Some(count) = table.addresses.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                table.addresses.remove(&self.address);
            }
        }
        self.seats.meters.connections(table.taken.len());
        drop(table);
        self.seats.freed.notify_one();
    }
}

/// The address that counts as one: whoever has one address of the newer kind has the 64 bits behind
/// it as well.
pub fn grouped(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) if !long.is_loopback() => {
            let [a, b, c, d, ..] = long.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::future::Future;
    use std::task::{Context, Waker};

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn seats(all: usize, per_address: usize) -> Arc<Seats> {
        Seats::new(all, per_address, Arc::default())
    }

    fn take(seats: &Arc<Seats>, address: IpAddr) -> Seat {
        seats.take(address).unwrap()
    }

    fn must_leave(seat: &Seat) -> bool {
        let mut over = std::pin::pin!(seat.over());
        over.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_silent_gives_way_first_and_who_is_being_answered_never() {
        let seats = seats(4, 200);
        let (silent, idle, busy) = (take(&seats, HERE), take(&seats, HERE), take(&seats, HERE));
        drop(idle.hear());
        let _answer = busy.hear();
        tokio::time::advance(IDLE_MIN).await;
        assert!(!must_leave(&silent));
        let later = take(&seats, HERE);
        assert!(
            must_leave(&silent) && !must_leave(&idle) && !must_leave(&busy) && !later.is_spare()
        );
        let _answer = later.hear();
        let last = take(&seats, HERE);
        assert!(must_leave(&idle) && !last.is_spare(), "then whoever asks nothing");
        let _answer = last.hear();
        let spare = take(&seats, HERE);
        assert!(spare.is_spare(), "then a seat that was kept back");
        assert!(!must_leave(&busy) && !must_leave(&later) && !must_leave(&last));
    }

    #[tokio::test(start_paused = true)]
    async fn with_no_seat_left_whoever_comes_waits_outside() {
        let seats = seats(2, 200);
        let (only, spare) = (take(&seats, HERE), take(&seats, HERE));
        let (_answer, _another) = (only.hear(), spare.hear());
        assert!(spare.is_spare() && !only.is_spare());
        let mut room = std::pin::pin!(seats.room());
        assert!(room.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(spare);
        room.await;
        assert!(take(&seats, HERE).is_spare());
    }

    #[tokio::test(start_paused = true)]
    async fn a_seat_that_is_kept_back_waits_two_seconds_for_its_head_and_others_ten() {
        let seats = seats(2, 200);
        let (ordinary, spare) = (take(&seats, HERE), take(&seats, HERE));
        for (seat, within) in [(&spare, SPARE_HEAD_WITHIN), (&ordinary, HEAD_WITHIN)] {
            let begun = Instant::now();
            seat.over().await;
            assert_eq!(begun.elapsed(), within);
        }
        let _answer = ordinary.hear();
        tokio::select! {
            () = ordinary.over() => panic!("its head has come"),
            () = tokio::time::sleep(HEAD_WITHIN * 2) => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn silence_on_the_seats_that_are_kept_back_keeps_nobody_waiting() {
        let seats = seats(32, 200);
        let ordinary: Vec<_> = (0..30).map(|_| take(&seats, HERE)).collect();
        let _answers: Vec<_> = ordinary.iter().map(Seat::hear).collect();
        let mut silent = Vec::new();
        let begun = Instant::now();
        for _ in 0..100 {
            seats.room().await;
            silent.push(take(&seats, HERE));
        }
        assert!(begun.elapsed() <= SPARE_SILENT_MIN * 60, "{:?}", begun.elapsed());
        assert!(silent.iter().all(Seat::is_spare));
        assert_eq!(silent.iter().filter(|seat| !must_leave(seat)).count(), 2);
        drop(silent);
        assert_eq!(seats.lock().spares, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_has_so_many_and_this_computer_any_number() {
        let seats = seats(100, 3);
        let far: IpAddr = "192.0.2.7".parse().unwrap();
        let taken: Vec<_> = (0..4).map(|_| take(&seats, far)).collect();
        assert_eq!(
            taken.iter().map(|seat| seat.crowded).collect::<Vec<_>>(),
            [false, false, false, true]
        );
        assert!(!take(&seats, "192.0.2.8".parse().unwrap()).crowded);
        assert!(
            (0..10)
                .map(|_| take(&seats, HERE))
                .collect::<Vec<_>>()
                .iter()
                .all(|seat| !seat.crowded)
        );
        let more: Vec<_> = (0..10).filter_map(|_| seats.take(far)).collect();
        assert_eq!(more.len(), 2, "half of the seats that are kept back, for telling it so");
        drop((taken, more));
        let one = take(&seats, far);
        assert!(!one.crowded, "what is given free can be taken again");
        seats.replace(1);
        let another = take(&seats, far);
        assert!(another.crowded);
        drop(another);
        seats.replace(3);
        assert!(!take(&seats, far).crowded, "from the next connection on");
        drop(one);
        let (one, other): (IpAddr, IpAddr) =
            ("2001:db8::1".parse().unwrap(), "2001:db8::ffff:2".parse().unwrap());
        assert_eq!(grouped(one), grouped(other));
        assert_eq!(grouped("::ffff:192.0.2.7".parse().unwrap()), far);
    }
}
