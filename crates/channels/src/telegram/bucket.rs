//! The rates at which one bot may call: per bot, per chat and per group.
//!
//! The time is an argument, so this part has no clock. Edits, drafts and typing count like
//! messages. Deletions and answers to presses do not count. A wait that Telegram demanded is a
//! hold, and is obeyed exactly. A delivery can take a slot a little before the slot's time. It then
//! writes its note while it waits for that time. If it wrote the note after the wait, its call
//! would be late, and several deliveries that waited for one write would call at the same time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// The limits of a bot's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRates {
    /// Calls of the bot in all chats.
    pub bot: Limit,
    /// Calls in one chat.
    pub chat: Limit,
    /// Calls in one group.
    pub group: Limit,
}

impl CallRates {
    /// The limits that Telegram sets: 30 calls a second for a bot; in a chat one a second, of which
    /// three may come together if the chat was quiet. In a group Telegram permits 20 a minute. Each
    /// limit here is a little lower than Telegram's, because calls can arrive at Telegram closer
    /// together than they were made.
    pub const TELEGRAM: Self = Self {
        bot: Limit { calls: 30, span: Duration::from_millis(1_030) },
        chat: Limit { calls: 4, span: Duration::from_millis(4_130) },
        group: Limit { calls: 18, span: Duration::from_secs(60) },
    };

    /// No limits, for tests and figures that send more in a minute than Telegram takes in a day.
    pub const UNLIMITED: Self = Self { bot: Limit::NONE, chat: Limit::NONE, group: Limit::NONE };
}

/// A number of calls that no span of this length may exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Most calls in the span.
    pub calls: usize,
    /// Length of the span. A call leaves it this long after it was made, or was due.
    pub span: Duration,
}

impl Limit {
    const NONE: Self = Self { calls: usize::MAX, span: Duration::ZERO };

    /// Returns the time between two calls that come evenly.
    fn step(self) -> Duration {
        u32::try_from(self.calls).map_or(Duration::ZERO, |calls| self.span / calls)
    }
}

/// The latest calls that count under a limit. After a burst calls come evenly, because Telegram
/// permits only short bursts.
#[derive(Debug, Default)]
struct RecentCalls {
    /// The calls, oldest first. A call of a burst counts from the time at which it was due if calls
    /// came evenly.
    due: VecDeque<Instant>,
    /// Time of the newest call.
    last: Option<Instant>,
}

impl RecentCalls {
    fn forget(&mut self, now: Instant, limit: Limit) {
        while self.due.front().is_some_and(|at| *at + limit.span <= now) {
            self.due.pop_front();
        }
    }

    fn note(&mut self, at: Instant, limit: Limit) {
        let due = self.due.back().map_or(at, |last| at.max(*last + limit.step()));
        self.due.push_back(due);
        self.last = Some(at);
    }

    /// Moves the newest call to the time at which it is made.
    fn retime(&mut self, now: Instant) {
        self.last = self.last.map(|last| last.max(now));
        if let Some(due) = self.due.back_mut() {
            *due = now.max(*due);
        }
    }

    /// Returns the time of the next free slot; `None` if one is free now. The last slot of a limit
    /// is free only in the pace of even calls, because a call that is made late delays the next
    /// one.
    fn full_until(&self, now: Instant, limit: Limit) -> Option<Instant> {
        let leaves = |calls: usize| {
            let index = self.due.len().checked_sub(calls)?;
            self.due.get(index).map(|at| *at + limit.span)
        };
        // If an older call leaves the span before the next even call is due, the slot is not the
        // last one any more, and is free already then.
        let last_until = leaves(limit.calls - 1);
        let paced = last_until.zip(self.last).map(|(until, last)| until.min(last + limit.step()));
        leaves(limit.calls).max(paced).filter(|until| *until > now)
    }

    /// True if at least half of the limit is left.
    fn is_calm(&self, limit: Limit) -> bool {
        self.calm_at(limit).is_none()
    }

    /// Returns the time at which half of the limit is left again, if less is left now.
    fn calm_at(&self, limit: Limit) -> Option<Instant> {
        let newest_to_leave = self.due.len().checked_sub(limit.calls / 2 + 1)?;
        self.due.get(newest_to_leave).map(|at| *at + limit.span)
    }
}

/// The calls in one chat, and the hold on it.
#[derive(Debug, Default)]
struct ChatCalls {
    chat: RecentCalls,
    group: RecentCalls,
    held: Option<Instant>,
}

impl ChatCalls {
    fn forget(&mut self, now: Instant, rates: &CallRates) {
        self.chat.forget(now, rates.chat);
        self.group.forget(now, rates.group);
        self.held = self.held.filter(|until| *until > now);
    }

    fn is_quiet(&self) -> bool {
        self.chat.due.is_empty() && self.group.due.is_empty() && self.held.is_none()
    }

    /// Returns the time of the chat's next free slot; `None` if one is free now. While less than
    /// half of the bot's limit is left, the calls in a chat come evenly: a burst would take the
    /// slots of other chats, and Telegram could refuse it.
    fn blocked_until(
        &self,
        now: Instant,
        is_group: bool,
        rates: &CallRates,
        calm_at: Option<Instant>,
    ) -> Option<Instant> {
        let group = self.group.full_until(now, rates.group).filter(|_| is_group);
        let even = self.chat.last.map(|last| last + rates.chat.step()).min(calm_at);
        let even = even.filter(|until| *until > now);
        self.held.max(self.chat.full_until(now, rates.chat)).max(group).max(even)
    }

    fn is_calm(&self, is_group: bool, rates: &CallRates) -> bool {
        self.chat.is_calm(rates.chat) && (!is_group || self.group.is_calm(rates.group))
    }
}

/// The calls that one bot made lately, and its holds.
#[derive(Debug)]
pub struct Bucket {
    rates: CallRates,
    bot: RecentCalls,
    chats: BTreeMap<i64, ChatCalls>,
    held: Option<Instant>,
    /// Latest time that was given. Callers may read the clock in one order and come in another.
    now: Instant,
    /// Next time at which quiet chats are forgotten.
    sweep: Instant,
}

impl Bucket {
    /// Makes the bucket of a bot that has not called yet.
    pub fn new(rates: CallRates, now: Instant) -> Self {
        let (bot, chats) = <_>::default();
        Self { rates, bot, chats, held: None, now, sweep: now }
    }

    /// Takes a slot for one call in a chat.
    ///
    /// # Errors
    /// The earliest time at which a slot can be free. Another call may take it first.
    pub fn ready_at(&mut self, now: Instant, chat: i64, is_group: bool) -> Result<(), Instant> {
        self.book(now, Duration::ZERO, chat, is_group).map(drop)
    }

    /// Takes a slot for one call in a chat, if its time comes within `lead`, and returns its time.
    /// The call begins with [`Bucket::start`].
    ///
    /// # Errors
    /// The earliest time at which a slot can be taken. Another call may take it first.
    pub fn book(
        &mut self,
        now: Instant,
        lead: Duration,
        chat: i64,
        is_group: bool,
    ) -> Result<Instant, Instant> {
        self.forget(now, chat);
        let (now, rates) = (self.now, self.rates);
        let calm_at = self.bot.calm_at(rates.bot);
        let in_chat = self.chats.get(&chat);
        let blocked = in_chat.and_then(|calls| calls.blocked_until(now, is_group, &rates, calm_at));
        let at = self.held.max(self.bot.full_until(now, rates.bot)).max(blocked).unwrap_or(now);
        match at.checked_sub(lead).filter(|from| *from > now) {
            Some(from) => Err(from),
            None => {
                self.take(at, chat, is_group);
                Ok(at)
            }
        }
    }

    /// Takes a slot for a call that may be left out, such as typing, if at least half of every
    /// limit is left. Returns true if the call may be made.
    pub fn try_take(&mut self, now: Instant, chat: i64, is_group: bool) -> bool {
        self.forget(now, chat);
        let calm = self.bot.is_calm(self.rates.bot)
            && self.chats.get(&chat).is_none_or(|calls| calls.is_calm(is_group, &self.rates));
        calm && self.ready_at(now, chat, is_group).is_ok()
    }

    /// Blocks a chat, or the whole bot if no chat is given, until a time. A shorter hold does not
    /// end a longer one.
    pub fn hold(&mut self, chat: Option<i64>, until: Instant) {
        let held = match chat {
            Some(chat) => &mut self.chats.entry(chat).or_default().held,
            None => &mut self.held,
        };
        *held = (*held).max(Some(until));
    }

    fn take(&mut self, at: Instant, chat: i64, is_group: bool) {
        let rates = self.rates;
        self.bot.note(at, rates.bot);
        let calls = self.chats.entry(chat).or_default();
        calls.chat.note(at, rates.chat);
        if is_group {
            calls.group.note(at, rates.group);
        }
    }

    /// Begins the call of the newest slot in a chat, at its time or later. Later slots are counted
    /// from the call.
    ///
    /// # Errors
    /// The end of a hold that came after the slot was taken: the call must not be made before.
    pub fn start(&mut self, now: Instant, chat: i64) -> Result<(), Instant> {
        self.now = self.now.max(now);
        let now = self.now;
        let in_chat = self.chats.get(&chat).and_then(|calls| calls.held);
        if let Some(until) = self.held.max(in_chat).filter(|until| *until > now) {
            return Err(until);
        }
        self.bot.retime(now);
        if let Some(calls) = self.chats.get_mut(&chat) {
            calls.chat.retime(now);
            calls.group.retime(now);
        }
        Ok(())
    }

    /// Advances the time, and forgets the calls that no longer count: those of the bot and of this
    /// chat each time, those of all chats one time in each span of a group.
    fn forget(&mut self, now: Instant, chat: i64) {
        self.now = self.now.max(now);
        let now = self.now;
        let rates = self.rates;
        self.bot.forget(now, rates.bot);
        self.held = self.held.filter(|until| *until > now);
        if let Some(calls) = self.chats.get_mut(&chat) {
            calls.forget(now, &rates);
        }
        if self.sweep <= now {
            self.sweep = now + rates.group.span;
            self.chats.retain(|_, calls| {
                calls.forget(now, &rates);
                !calls.is_quiet()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATES: CallRates = CallRates::TELEGRAM;

    /// One thing that happens to a bucket in a test.
    #[derive(Clone, Debug)]
    enum Step {
        Wait(u64),
        Call { chat: i64, typing: bool, lead: u64 },
        Hold { chat: Option<i64>, ms: u64 },
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let chat = || -20..20_i64;
        let step = prop_oneof![
            2 => (0..900_u64).prop_map(Step::Wait),
            9 => (chat(), any::<bool>(), 0..80_u64)
                .prop_map(|(chat, typing, lead)| Step::Call { chat, typing, lead }),
            1 => (prop::option::of(chat()), 1..9_000_u64)
                .prop_map(|(chat, ms)| Step::Hold { chat, ms }),
        ];
        prop::collection::vec(step, 1..600)
    }

    fn is_group(chat: i64) -> bool {
        chat < 0
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Returns the most calls in any span of a limit.
    fn densest(calls: &[Instant], limit: Limit) -> usize {
        let within = |from: &Instant| {
            calls.iter().filter(|at| **at >= *from && **at < *from + limit.span).count()
        };
        calls.iter().map(within).max().unwrap_or_default()
    }

    /// Calls as often as the bucket permits, in these chats in turn, and returns the calls.
    fn pressed(chats: &[i64], time: Duration) -> Vec<Instant> {
        let begin = Instant::now();
        let (mut bucket, mut now, mut calls) = (Bucket::new(RATES, begin), begin, Vec::new());
        while now < begin + time {
            let mut next = None;
            for chat in chats {
                match bucket.ready_at(now, *chat, is_group(*chat)) {
                    Ok(()) => {
                        calls.push(now);
                        next = Some(now);
                    }
                    Err(at) => next = Some(next.map_or(at, |next: Instant| next.min(at))),
                }
            }
            now = next.unwrap_or(now);
        }
        calls
    }

    proptest! {
        #[test]
        fn no_span_has_more_calls_than_its_limit_and_no_hold_is_broken(steps in steps()) {
            let begin = Instant::now();
            let (mut bucket, mut now) = (Bucket::new(RATES, begin), begin);
            let mut calls: Vec<(i64, Instant)> = Vec::new();
            let mut holds: Vec<(Option<i64>, Instant)> = Vec::new();
            for step in steps {
                match step {
                    Step::Wait(time) => now += ms(time),
                    Step::Hold { chat, ms: time } => {
                        bucket.hold(chat, now + ms(time));
                        holds.push((chat, now + ms(time)));
                    }
                    Step::Call { chat, typing, lead } => {
                        let slot = if typing {
                            bucket.try_take(now, chat, is_group(chat)).then_some(now)
                        } else {
                            let booked = bucket.book(now, ms(lead), chat, is_group(chat));
                            prop_assert!(booked.err().is_none_or(|at| at > now));
                            booked.ok()
                        };
                        if let Some(slot) = slot {
                            prop_assert!(slot >= now && slot <= now + ms(lead));
                            let held = |(of, until): &(Option<i64>, Instant)| {
                                of.is_none_or(|of| of == chat) && *until > slot
                            };
                            prop_assert!(!holds.iter().any(held));
                            calls.push((chat, slot));
                        }
                    }
                }
            }
            let all: Vec<Instant> = calls.iter().map(|(_, at)| *at).collect();
            prop_assert!(densest(&all, RATES.bot) <= RATES.bot.calls);
            for chat in -20..20 {
                let of = |(of, at): &(i64, Instant)| (*of == chat).then_some(*at);
                let calls: Vec<Instant> = calls.iter().filter_map(of).collect();
                prop_assert!(densest(&calls, RATES.chat) <= RATES.chat.calls);
                if is_group(chat) {
                    prop_assert!(densest(&calls, RATES.group) <= RATES.group.calls);
                }
            }
        }

        #[test]
        fn the_time_of_a_refusal_is_exact(steps in steps(), chat in -20..20_i64) {
            let begin = Instant::now();
            let (mut bucket, mut now) = (Bucket::new(RATES, begin), begin);
            for step in steps {
                match step {
                    Step::Wait(time) => now += ms(time),
                    Step::Hold { chat, ms: time } => bucket.hold(chat, now + ms(time)),
                    Step::Call { chat, .. } => {
                        let _ = bucket.ready_at(now, chat, is_group(chat));
                    }
                }
            }
            if let Err(at) = bucket.ready_at(now, chat, is_group(chat)) {
                let before = at - Duration::from_nanos(1);
                prop_assert_eq!(bucket.ready_at(before, chat, is_group(chat)), Err(at));
                prop_assert_eq!(bucket.ready_at(at, chat, is_group(chat)), Ok(()));
            }
        }
    }

    #[test]
    fn under_pressure_the_limits_are_used() {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let many: Vec<i64> = (1..200).collect();
        assert!(pressed(&many, minutes(1)).len() >= 60 * 30 * 95 / 100);
        assert!(pressed(&[7], minutes(1)).len() >= 60 * 95 / 100);
        assert!(pressed(&[-7], minutes(10)).len() >= 10 * 18 * 95 / 100);
    }

    #[test]
    fn calls_come_evenly_after_a_burst() {
        let calls = pressed(&[7], Duration::from_secs(30));
        let burst = RATES.chat.calls - 1;
        assert!(calls[..burst].iter().all(|at| *at == calls[0]));
        let second = Duration::from_secs(1);
        assert!(calls[burst..].windows(2).all(|pair| pair[1] - pair[0] >= second));
        let many: Vec<i64> = (1..200).collect();
        let calls = pressed(&many, Duration::from_secs(10));
        let all_at_once = Limit { calls: 30, span: second };
        assert!(densest(&calls[30..], all_at_once) <= 30);
    }

    #[test]
    fn the_next_slot_is_counted_from_the_call_and_not_from_the_slot() {
        let begin = Instant::now();
        let (mut bucket, mut now, mut made) = (Bucket::new(RATES, begin), begin, Vec::new());
        for late in [0, 0, 0, 0, 0, 90, 0, 40, 200, 0, 0, 0] {
            while let Err(at) = bucket.ready_at(now, 7, false) {
                now = at;
            }
            now += ms(late);
            assert_eq!(bucket.start(now, 7), Ok(()));
            made.push(now);
        }
        let second = Duration::from_secs(1);
        let after_burst = &made[RATES.chat.calls - 1..];
        assert!(after_burst.windows(2).all(|pair| pair[1] - pair[0] >= second), "{made:?}");
    }

    #[test]
    fn a_chat_has_no_burst_while_its_bot_is_busy() {
        let begin = Instant::now();
        let mut bucket = Bucket::new(RATES, begin);
        assert_eq!(bucket.ready_at(begin, 1, false), Ok(()));
        for chat in 10..10 + 15 {
            assert_eq!(bucket.ready_at(begin, chat, false), Ok(()));
        }
        // The bot is calm again before the chat's even call is due.
        let calm = begin + RATES.bot.span;
        let even = begin + RATES.chat.step();
        assert_eq!(bucket.ready_at(begin, 1, false), Err(calm.min(even)));
        for chat in 30..30 + 13 {
            assert_eq!(bucket.ready_at(begin + ms(500), chat, false), Ok(()));
        }
        assert_eq!(bucket.ready_at(begin + ms(500), 1, false), Err(even));
        assert_eq!(bucket.ready_at(even, 1, false), Ok(()));
    }

    #[test]
    fn a_slot_is_booked_ahead_and_a_hold_that_comes_meanwhile_is_obeyed() {
        let begin = Instant::now();
        let mut bucket = Bucket::new(RATES, begin);
        for _ in 1..RATES.chat.calls {
            assert_eq!(bucket.book(begin, ms(50), 7, false), Ok(begin));
        }
        let slot = begin + RATES.chat.step();
        assert_eq!(bucket.book(begin, ms(50), 7, false), Err(slot - ms(50)));
        assert_eq!(bucket.book(slot - ms(50), ms(50), 7, false), Ok(slot));
        let next = begin + RATES.chat.span;
        assert_eq!(bucket.book(slot, ms(50), 7, false), Err(next - ms(50)));
        let held_until = slot + ms(900);
        bucket.hold(Some(7), held_until);
        assert_eq!(bucket.start(slot, 7), Err(held_until));
        assert_eq!(bucket.start(slot, 8), Ok(()));
        assert_eq!(bucket.start(held_until, 7), Ok(()));
    }

    #[test]
    fn a_hold_is_obeyed_exactly_and_stays_in_its_chat() {
        let begin = Instant::now();
        let mut bucket = Bucket::new(RATES, begin);
        let until = begin + Duration::from_secs(13_938);
        bucket.hold(Some(-1), until);
        bucket.hold(Some(-1), begin + ms(10));
        assert_eq!(bucket.ready_at(begin + ms(20), -1, true), Err(until));
        assert_eq!(bucket.ready_at(begin + ms(20), -2, true), Ok(()));
        assert_eq!(bucket.ready_at(until, -1, true), Ok(()));
        bucket.hold(None, until + ms(5));
        assert_eq!(bucket.ready_at(until, -2, true), Err(until + ms(5)));
        assert!(!bucket.try_take(until, 3, false));
    }

    #[test]
    fn typing_leaves_half_of_the_budget_to_messages() {
        let begin = Instant::now();
        let mut bucket = Bucket::new(RATES, begin);
        assert!((0..3).all(|_| bucket.try_take(begin, 1, false)));
        assert!(!bucket.try_take(begin, 1, false));
        let typed = (10..60).filter(|chat| bucket.try_take(begin, *chat, false)).count();
        assert_eq!(3 + typed, RATES.bot.calls / 2 + 1);
    }

    #[test]
    fn a_clock_that_is_read_late_does_not_go_back() {
        let begin = Instant::now();
        let mut bucket = Bucket::new(RATES, begin);
        for _ in 1..RATES.chat.calls {
            assert_eq!(bucket.ready_at(begin + ms(500), 1, false), Ok(()));
        }
        let free = begin + ms(500) + RATES.chat.step();
        assert_eq!(bucket.ready_at(begin, 1, false), Err(free));
    }

    #[test]
    fn quiet_chats_are_forgotten() {
        let begin = Instant::now();
        let (mut bucket, mut now) = (Bucket::new(RATES, begin), begin);
        for chat in 0..10_000 {
            assert_eq!(bucket.ready_at(now, -chat, true), Ok(()));
            now += ms(50);
        }
        let within_two_spans = 2 * 60 * 1_000 / 50;
        assert!(bucket.chats.len() <= within_two_spans + 1);
        assert_eq!(bucket.ready_at(now + 2 * RATES.group.span, 1, true), Ok(()));
        assert_eq!(bucket.chats.len(), 1);
    }

    #[test]
    fn without_limits_only_holds_count() {
        let begin = Instant::now();
        let mut bucket = Bucket::new(CallRates::UNLIMITED, begin);
        assert!((0..10_000).all(|_| bucket.ready_at(begin, -7, true) == Ok(())));
        bucket.hold(Some(-7), begin + ms(5));
        assert_eq!(bucket.ready_at(begin, -7, true), Err(begin + ms(5)));
    }
}
