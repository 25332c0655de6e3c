//! The form of an entry in the post: a header in clear, and the sealed bytes after it.
//!
//! Version 1, in bytes, numbers in big-endian order: version (1), sender (26), receiver (26), the
//! sender's boot (16), the sender's log (16), counter of seals (8), then the sealed bytes up to the
//! end. No length is written, so a reader allocates only for bytes that it has.

use crate::id::{BootId, COMPUTER_ID_LEN, ComputerId, IdError, LogId};

/// Version of the envelope that this program writes.
pub const VERSION: u8 = 1;
/// Longest sealed part of an entry, in bytes. Most servers refuse commands of a few MiB, and a
/// window holds several entries of this size.
pub const SEALED_LEN_MAX: usize = 1024 * 1024;
/// Length of the header, in bytes.
pub(crate) const HEADER_LEN: usize = 1 + 2 * COMPUTER_ID_LEN + 16 + 16 + 8;

/// The part of an entry that is not secret. It is authenticated with the sealed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryHeader {
    /// Computer that sealed the entry.
    pub sender: ComputerId,
    /// Computer that may open it.
    pub receiver: ComputerId,
    /// Boot of the sender. Each boot has keys of its own.
    pub boot: BootId,
    /// Log of the sender when it sealed the entry.
    pub log: LogId,
    /// Number of the seal in this boot. It makes the nonce, and says nothing about rows.
    pub counter: u64,
}

impl EntryHeader {
    /// Returns the bytes that stand before the sealed part.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.push(VERSION);
        bytes.extend_from_slice(self.sender.as_bytes());
        bytes.extend_from_slice(self.receiver.as_bytes());
        bytes.extend_from_slice(self.boot.as_bytes());
        bytes.extend_from_slice(self.log.as_bytes());
        bytes.extend_from_slice(&self.counter.to_be_bytes());
        bytes
    }
}

/// An entry of the post as it was found. Its header is believed only after it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The header, as it stands there.
    pub header: EntryHeader,
    /// The sealed bytes with their tag.
    pub sealed: Vec<u8>,
}

/// The reason for which bytes are not an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The sender's program is newer.
    #[error("the entry has version {0}, this program reads {VERSION}: update Moothall here")]
    NewerVersion(u8),
    /// The version does not exist.
    #[error("the entry has version 0, which does not exist")]
    NoVersion,
    /// The bytes end within the header.
    #[error("the entry has {0} bytes, a header alone has {HEADER_LEN}")]
    Short(usize),
    /// The sealed part is too long.
    #[error("the entry has {0} sealed bytes, at most {SEALED_LEN_MAX} are read")]
    Oversized(usize),
    /// The sender or the receiver is not a computer's id.
    #[error("the entry's header is wrong: {0}")]
    Id(#[from] IdError),
}

impl Entry {
    /// Returns the bytes that are put into the post.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.header.encode();
        bytes.extend_from_slice(&self.sealed);
        bytes
    }

    /// Reads an entry from bytes of the post, which may be anything.
    ///
    /// # Errors
    /// [`EnvelopeError`] if they are not an entry of this version.
    pub fn decode(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        match bytes.first() {
            // A newer version may have any form after its number, also a shorter one.
            Some(version) if *version > VERSION => {
                return Err(EnvelopeError::NewerVersion(*version));
            }
            Some(0) => return Err(EnvelopeError::NoVersion),
            _ => {}
        }
        let mut rest = bytes.get(1..).unwrap_or_default();
        let short = || EnvelopeError::Short(bytes.len());
        let sender = take(&mut rest).ok_or_else(short)?;
        let receiver = take(&mut rest).ok_or_else(short)?;
        let boot = take(&mut rest).ok_or_else(short)?;
        let log = take(&mut rest).ok_or_else(short)?;
        let counter = take(&mut rest).ok_or_else(short)?;
        if rest.len() > SEALED_LEN_MAX {
            return Err(EnvelopeError::Oversized(rest.len()));
        }
        let header = EntryHeader {
            sender: ComputerId::from_bytes(sender)?,
            receiver: ComputerId::from_bytes(receiver)?,
            boot: BootId::from_bytes(boot),
            log: LogId::from_bytes(log),
            counter: u64::from_be_bytes(counter),
        };
        Ok(Self { header, sealed: rest.to_vec() })
    }
}

/// Takes the first bytes of a slice, if it has enough.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::keys::{OpenError, Opener, PairKey, Sealer};

    /// Seals a body from a new computer to another, and returns the opener of the other.
    fn sealed(body: &[u8]) -> (Entry, Opener, PairKey) {
        let (from, to) = (ComputerId::random(1).unwrap(), ComputerId::random(8).unwrap());
        let pair = PairKey::random();
        let entry = Sealer::new(from, LogId::random()).seal(to, &pair, body).unwrap();
        (entry, Opener::new(to), pair)
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(entry) = Entry::decode(&bytes) {
                prop_assert_eq!(entry.encode(), bytes);
            }
        }

        #[test]
        fn bytes_behind_a_good_version_are_read_or_refused(
            mut bytes in prop::collection::vec(any::<u8>(), 1..400),
        ) {
            bytes[0] = VERSION;
            if let Ok(entry) = Entry::decode(&bytes) {
                prop_assert_eq!(entry.encode(), bytes);
            }
        }

        #[test]
        fn an_entry_is_read_as_it_was_written(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let (entry, opener, pair) = sealed(&body);
            let read = Entry::decode(&entry.encode()).unwrap();
            prop_assert_eq!(&read, &entry);
            let letter = opener.open(&pair, read).unwrap();
            prop_assert_eq!(letter.body, body);
            prop_assert_eq!(letter.header, entry.header);
        }

        #[test]
        fn an_entry_with_any_other_byte_is_refused(
            body in prop::collection::vec(any::<u8>(), 0..60),
            flip in 1..=255_u8,
            place in any::<prop::sample::Index>(),
        ) {
            let (entry, opener, pair) = sealed(&body);
            let mut bytes = entry.encode();
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
            if let Ok(altered) = Entry::decode(&bytes) {
                prop_assert!(opener.open(&pair, altered).is_err(), "byte {} of {}", place, bytes.len());
            }
        }
    }

    #[test]
    fn every_bit_of_a_header_is_authenticated() {
        let (entry, opener, pair) = sealed(b"words");
        let bytes = entry.encode();
        for (place, bit) in (0..bytes.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
            let mut altered = bytes.clone();
            altered[place] ^= 1 << bit;
            let answer = Entry::decode(&altered).map(|entry| opener.open(&pair, entry));
            assert!(!matches!(answer, Ok(Ok(_))), "bit {bit} of byte {place}");
        }
        assert!(opener.open(&pair, Entry::decode(&bytes).unwrap()).is_ok());
    }

    #[test]
    fn an_entry_that_lost_its_end_is_refused() {
        let (entry, opener, pair) = sealed(b"words");
        let bytes = entry.encode();
        for len in 0..bytes.len() {
            match Entry::decode(&bytes[..len]) {
                Ok(entry) => assert_eq!(opener.open(&pair, entry), Err(OpenError::Altered)),
                Err(error) => assert_eq!(error, EnvelopeError::Short(len)),
            }
        }
    }

    #[test]
    fn other_versions_are_named() {
        let (entry, ..) = sealed(b"words");
        let mut bytes = entry.encode();
        bytes[0] = 2;
        assert_eq!(Entry::decode(&bytes), Err(EnvelopeError::NewerVersion(2)));
        assert_eq!(Entry::decode(&[255]), Err(EnvelopeError::NewerVersion(255)));
        bytes[0] = 0;
        assert_eq!(Entry::decode(&bytes), Err(EnvelopeError::NoVersion));
    }

    #[test]
    fn a_sealed_part_has_a_limit() {
        let (mut entry, ..) = sealed(b"words");
        entry.sealed = vec![0; SEALED_LEN_MAX];
        assert!(Entry::decode(&entry.encode()).is_ok());
        entry.sealed.push(0);
        let refusal = EnvelopeError::Oversized(SEALED_LEN_MAX + 1);
        assert_eq!(Entry::decode(&entry.encode()), Err(refusal));
    }
}
