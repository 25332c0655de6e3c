//! The promises of rows between computers, checked when the log or the post does something.

use moothall_computers::envelope::Entry;
use moothall_computers::frame::{Frame, Through};
use moothall_engine::ports::{PostChannel, PostMark};
use serde_json::Value;

use super::ledger::{ChannelName, RowLedger};
use super::rows::{self, ExpectedEffect, RowEffect};

/// A row that an append gave a number.
pub(super) struct NumberedRow {
    pub(super) receiver: usize,
    pub(super) number: Option<u64>,
    pub(super) command: Value,
}

impl RowLedger {
    /// Checks that the rows of an append have the next numbers.
    pub(super) fn note_owed(&mut self, sender: usize, row: NumberedRow) {
        let NumberedRow { receiver, number, command } = row;
        let rows = self.owed[sender].entry(receiver).or_default();
        rows.push(command);
        let expected = rows.len() as u64;
        self.story.tell(|| format!("    c{sender} owes c{receiver} row {expected}"));
        if number != Some(expected) {
            let message = format!("row {expected} of c{sender} for c{receiver} has {number:?}");
            self.object("numbers", message);
        }
    }

    /// Checks that the effects of an append are those of the rows that its marks take, each once
    /// and in order.
    pub(super) fn note_taken(&mut self, receiver: usize, marks: &[PostMark], seen: &[RowEffect]) {
        let mut rest = seen.to_vec();
        for mark in marks {
            if let Err(message) = self.take(receiver, mark, &mut rest) {
                return self.object("taken", message);
            }
        }
        if !rest.is_empty() {
            let message = format!("c{receiver} has {rest:?}, which no mark takes");
            self.object("taken", message);
        }
    }

    /// Takes the effects of the rows of a mark from those that were seen.
    fn take(
        &mut self,
        receiver: usize,
        mark: &PostMark,
        seen: &mut Vec<RowEffect>,
    ) -> Result<(), String> {
        let PostMark { channel, before, through } = mark;
        let Some(name) = self.channels.get(&(receiver, channel.clone())).cloned() else {
            return Err(format!("c{receiver} takes rows of a channel that was never used"));
        };
        let sender = name.direction.0;
        self.story.tell(|| format!("    c{receiver} takes {before}..={through} of c{sender}"));
        self.stats.turns += through - before;
        let known = self.taken.get(&name).copied().unwrap_or_default();
        let lost = RowEffect::Lost(before + 1, *through);
        if let Some(place) = seen.iter().position(|effect| *effect == lost) {
            seen.remove(place);
            let message = || format!("c{receiver} lost {lost:?} of c{sender}, and took {known}");
            return (known >= *through).then_some(()).ok_or_else(message);
        }
        let body = |number| Some((number, self.posted.get(&(name.clone(), number))?));
        let bodies: Option<Vec<_>> = (before + 1..=*through).map(body).collect();
        let Some(bodies) = bodies else {
            return Err(format!("c{receiver} takes {lost:?} of c{sender}, which were never put"));
        };
        let expected = bodies
            .into_iter()
            .filter_map(|(number, body)| rows::effects(&channel.sender, body, number));
        let Some(rest) = without(seen, expected) else {
            return Err(format!("rows {lost:?} of c{sender} at c{receiver} have {seen:?}"));
        };
        *seen = rest;
        self.taken.insert(name, known.max(*through));
        Ok(())
    }

    /// Checks that a row that counts as taken was taken.
    pub(super) fn note_done(&mut self, sender: usize, receiver: usize, number: u64) {
        let taken = self.sending.get(&(sender, receiver)).and_then(|name| self.taken.get(name));
        let taken = taken.copied().unwrap_or_default();
        self.story.tell(|| format!("    c{sender}: row {number} for c{receiver} is done"));
        if number > taken {
            let message =
                format!("row {number} of c{sender} is done; c{receiver} has taken {taken}");
            self.object("done", message);
        }
    }

    /// Checks an entry that a computer puts into the post. `mark` returns the mark of the computer
    /// for an acknowledgement.
    pub(super) fn note_put(&mut self, bytes: &[u8], mark: impl Fn(&PostChannel) -> u64) {
        let Ok(entry) = Entry::decode(bytes) else {
            return self.object("sealed", "an entry cannot be read".into());
        };
        let header = entry.header;
        let seal = (header.sender, header.receiver, header.boot.to_string(), header.counter);
        if !self.nonces.insert(seal) {
            return self.object("nonces", format!("counter {} sealed twice", header.counter));
        }
        let Some(direction) = self.direction(&header) else {
            return self.object("sealed", "an entry of a stranger".into());
        };
        let Some((pairing, body)) = self.open(direction, &entry) else {
            return self.object("sealed", format!("no key opens an entry of {direction:?}"));
        };
        let name = ChannelName { pairing, direction, log: header.log.to_string() };
        if let Some(channel) = self.post_channel(&name) {
            self.channels.insert((direction.1, channel), name.clone());
        }
        if self.sending.get(&direction).is_none_or(|known| known.pairing <= pairing) {
            self.sending.insert(direction, name.clone());
        }
        match Frame::decode(&body) {
            Ok(Frame::Row(row)) => self.note_row(name, row.number, &row.body),
            Ok(Frame::Through(through)) => self.note_mark(&name, &through, mark),
            Ok(Frame::Hello(hello)) => {
                hello.received.iter().for_each(|through| self.note_mark(&name, through, &mark));
            }
            Ok(Frame::Words(_)) => {}
            Err(error) => self.object("sealed", error.to_string()),
        }
    }

    /// Checks that a row on its way is the one that the log owes, and that its number never stood
    /// for another.
    fn note_row(&mut self, name: ChannelName, number: u64, body: &[u8]) {
        let (sender, receiver) = name.direction;
        self.story.tell(|| format!("    c{sender} puts row {number} for c{receiver}"));
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let owed = self.owed[sender].get(&receiver);
        let owed = owed.and_then(|rows| rows.get(usize::try_from(number).ok()?.checked_sub(1)?));
        let is_owed = owed.is_some_and(|command| rows::is_of(&body, command));
        if self.is_over(name.pairing, name.direction) {
            return;
        }
        if !is_owed {
            let message = format!("row {number} of c{sender} is {body}; its log has {owed:?}");
            return self.object("posted", message);
        }
        let is_made_anew =
            owed.and_then(|command| command["post"].as_str()).is_some_and(rows::is_made_anew);
        let first = self.posted.entry((name, number)).or_insert_with(|| body.clone());
        if is_made_anew {
            // An earlier copy may still come.
            if first["t"] == "void" {
                *first = body;
            }
        } else if *first != body {
            let message = format!("row {number} of c{sender} was {first}, and is {body}");
            self.object("numbers", message);
        }
    }

    /// Checks that a computer acknowledges no row that its log has not taken.
    fn note_mark(
        &mut self,
        name: &ChannelName,
        through: &Through,
        mark: impl Fn(&PostChannel) -> u64,
    ) {
        let (receiver, sender) = name.direction;
        let (pairing, log) = (name.pairing, through.log().to_string());
        let channel = ChannelName { pairing, direction: (sender, receiver), log };
        let taken = self.post_channel(&channel).map_or(0, |channel| mark(&channel));
        let number = through.number();
        self.story.tell(|| format!("    c{receiver} tells c{sender} that it has {number}"));
        if number > taken && !self.is_over(name.pairing, name.direction) {
            let message =
                format!("c{receiver} acknowledges {number} of c{sender}, and has {taken}");
            self.object("acknowledged", message);
        }
    }
}

/// Returns the effects without these, if each of these is the next of its kind.
fn without(
    seen: &[RowEffect],
    expected: impl Iterator<Item = ExpectedEffect>,
) -> Option<Vec<RowEffect>> {
    let mut rest = seen.to_vec();
    for ExpectedEffect { one_of, or_none } in expected {
        let next = |expected: &RowEffect| {
            let is_kind = |effect: &RowEffect| {
                matches!(effect, RowEffect::Refusal(_)) == matches!(expected, RowEffect::Refusal(_))
            };
            let place = rest.iter().position(is_kind)?;
            rows::fits(&rest[place], expected).then_some(place)
        };
        match one_of.iter().find_map(next) {
            Some(place) => drop(rest.remove(place)),
            None if or_none => {}
            None => return None,
        }
    }
    Some(rest)
}
