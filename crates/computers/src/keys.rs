//! The key that two computers share, and how entries of the post are sealed and opened with it.
//!
//! A pair key never seals anything itself. HKDF-SHA256 makes one sealing key of it for each sender,
//! receiver and boot of the sender, so that two starts of a server never use a nonce twice.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::{hkdf, hmac};
use serde::{Deserialize, Serialize};

use crate::envelope::{Entry, EntryHeader, SEALED_LEN_MAX};
use crate::id::{BootId, ComputerId, InvitationId, LogId};
use crate::random;

/// Longest body that can be sealed, in bytes: [`SEALED_LEN_MAX`] without the tag.
pub const BODY_LEN_MAX: usize = SEALED_LEN_MAX - TAG_LEN;
const TAG_LEN: usize = 16;
/// Salt of every derivation: keys of this post are of use nowhere else.
const SALT: &[u8] = b"moothall computers 1";

/// The random key of one pair of computers. Its bytes are in no error and no debugging text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PairKey([u8; 32]);

impl PairKey {
    /// Makes a new key.
    pub fn random() -> Self {
        Self(random::bytes())
    }

    /// True if two keys are the same. Both are keys of this computer's own file and lines, so the
    /// time of the comparison tells no other computer anything.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn secret(&self) -> hkdf::Prk {
        hkdf::Salt::new(hkdf::HKDF_SHA256, SALT).extract(&self.0)
    }

    /// Derives the key of one direction and one boot of its sender.
    fn sealing(&self, header: &EntryHeader) -> Result<LessSafeKey, ring::error::Unspecified> {
        let info: [&[u8]; 4] = [
            b"entry",
            header.sender.as_bytes(),
            header.receiver.as_bytes(),
            header.boot.as_bytes(),
        ];
        let okm = self.secret();
        let okm = okm.expand(&info, &CHACHA20_POLY1305)?;
        Ok(LessSafeKey::new(UnboundKey::from(okm)))
    }

    /// Returns the name of the pair, which does not reveal the key. Two computers that forget each
    /// other and are paired anew get a new key, and so a new name.
    ///
    /// # Panics
    /// Never: the length of the derived key is that of its algorithm.
    pub fn pair_name(&self) -> String {
        let info: [&[u8]; 1] = [b"pair name"];
        let secret = self.secret();
        let Ok(okm) = secret.expand(&info, hmac::HMAC_SHA256) else {
            unreachable!("the key has the length of its algorithm")
        };
        let tag = hmac::sign(&okm.into(), &[]);
        tag.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Derives the key that authenticates the answer to an invitation.
    pub(crate) fn answering(
        &self,
        invitation: InvitationId,
    ) -> Result<hmac::Key, ring::error::Unspecified> {
        let info: [&[u8]; 2] = [b"answer", invitation.as_bytes()];
        Ok(self.secret().expand(&info, hmac::HMAC_SHA256)?.into())
    }
}

impl fmt::Debug for PairKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PairKey(…)")
    }
}

/// A text that is not a pair key. It does not repeat the text, which may be most of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pair key has 32 bytes in base64url")]
pub struct PairKeyError;

impl TryFrom<String> for PairKey {
    type Error = PairKeyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| PairKeyError)?;
        Ok(Self(bytes.try_into().map_err(|_| PairKeyError)?))
    }
}

impl From<PairKey> for String {
    fn from(key: PairKey) -> Self {
        URL_SAFE_NO_PAD.encode(key.0)
    }
}

/// The reason for which a body is not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The body is too long.
    #[error("the body has {0} bytes, at most {BODY_LEN_MAX} are sealed")]
    Oversized(usize),
    /// The counter of this boot is used up.
    #[error("this start has sealed as often as its keys permit: start the server again")]
    Exhausted,
    /// The cipher refused.
    #[error("the cipher refused to seal")]
    Cipher,
}

/// Seals entries for one boot of a computer. It draws the boot's id itself and cannot be copied:
/// a second sealer has other keys, so that no key ever sees a nonce twice.
#[derive(Debug)]
pub struct Sealer {
    own: ComputerId,
    log: LogId,
    boot: BootId,
    /// Seals of this boot in all directions. A direction sees some of these numbers, and none of
    /// them twice.
    seals: AtomicU64,
}

impl Sealer {
    /// Makes the sealer of a new boot of a computer, whose log this is.
    pub fn new(own: ComputerId, log: LogId) -> Self {
        Self { own, log, boot: BootId::random(), seals: AtomicU64::new(0) }
    }

    /// Makes a sealer of a boot that may have had one, with which a simulator breaks the rule.
    #[cfg(feature = "fakes")]
    pub(crate) fn of_boot(own: ComputerId, log: LogId, boot: BootId) -> Self {
        Self { boot, ..Self::new(own, log) }
    }

    /// Returns the id of this boot.
    pub fn boot(&self) -> BootId {
        self.boot
    }

    /// Seals a body for another computer with the key of that pair.
    ///
    /// # Errors
    /// [`SealError`] if the body is too long, or if this boot has sealed 2^64 - 1 entries.
    pub fn seal(
        &self,
        receiver: ComputerId,
        pair: &PairKey,
        body: &[u8],
    ) -> Result<Entry, SealError> {
        if body.len() > BODY_LEN_MAX {
            return Err(SealError::Oversized(body.len()));
        }
        let next = |count: u64| count.checked_add(1);
        let counter = self.seals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        let counter = counter.map_err(|_| SealError::Exhausted)?;
        let (sender, boot, log) = (self.own, self.boot, self.log);
        let header = EntryHeader { sender, receiver, boot, log, counter };
        let key = pair.sealing(&header).map_err(|_| SealError::Cipher)?;
        let mut sealed = Vec::with_capacity(body.len() + TAG_LEN);
        sealed.extend_from_slice(body);
        key.seal_in_place_append_tag(nonce(&header), Aad::from(header.encode()), &mut sealed)
            .map_err(|_| SealError::Cipher)?;
        Ok(Entry { header, sealed })
    }
}

/// An entry that was opened: its header and its body come from the owner of the pair key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The header, authenticated.
    pub header: EntryHeader,
    /// The body, a [`Frame`](crate::frame::Frame) in bytes.
    pub body: Vec<u8>,
}

/// The reason for which an entry is not opened. The entry may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The entry is for another computer.
    #[error("the entry is for computer {0}")]
    Misaddressed(ComputerId),
    /// The entry was altered, or sealed with another key than that of the pair.
    #[error("the entry was altered, or was sealed with another key")]
    Altered,
}

/// Opens entries for one computer, of any boot of their senders.
///
/// A key is derived for each entry. That costs some 10 microseconds, a fraction of a round trip to
/// the post, and no derived key outlives the pair that it came from.
#[derive(Clone, Copy, Debug)]
pub struct Opener {
    own: ComputerId,
}

impl Opener {
    /// Makes the opener of a computer.
    pub fn new(own: ComputerId) -> Self {
        Self { own }
    }

    /// Opens an entry with the key of its sender's pair.
    ///
    /// # Errors
    /// [`OpenError`] if it is for another computer, or not as its sender sealed it.
    pub fn open(&self, pair: &PairKey, entry: Entry) -> Result<Letter, OpenError> {
        let Entry { header, sealed: mut body } = entry;
        if header.receiver != self.own {
            return Err(OpenError::Misaddressed(header.receiver));
        }
        let key = pair.sealing(&header).map_err(|_| OpenError::Altered)?;
        let len = key
            .open_in_place(nonce(&header), Aad::from(header.encode()), &mut body)
            .map_err(|_| OpenError::Altered)?
            .len();
        body.truncate(len);
        Ok(Letter { header, body })
    }
}

fn nonce(header: &EntryHeader) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[NONCE_LEN - 8..].copy_from_slice(&header.counter.to_be_bytes());
    Nonce::assume_unique_for_key(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn computer(up: u8) -> ComputerId {
        ComputerId::random(up).unwrap()
    }

    #[test]
    fn only_the_pair_s_own_key_opens() {
        let (from, to, pair) = (computer(1), computer(2), PairKey::random());
        let entry = Sealer::new(from, LogId::random()).seal(to, &pair, b"words").unwrap();
        assert_eq!(
            Opener::new(to).open(&PairKey::random(), entry.clone()),
            Err(OpenError::Altered)
        );
        let other = Opener::new(from).open(&pair, entry.clone());
        assert_eq!(other, Err(OpenError::Misaddressed(to)));
        let read_back: PairKey = String::from(pair).try_into().unwrap();
        assert_eq!(Opener::new(to).open(&read_back, entry).unwrap().body, b"words");
    }

    #[test]
    fn an_entry_is_not_turned_around() {
        let (one, two, pair) = (computer(1), computer(2), PairKey::random());
        let mut entry = Sealer::new(one, LogId::random()).seal(two, &pair, b"words").unwrap();
        (entry.header.sender, entry.header.receiver) = (two, one);
        assert_eq!(Opener::new(one).open(&pair, entry), Err(OpenError::Altered));
    }

    #[test]
    fn each_direction_and_each_boot_has_a_key_of_its_own() {
        let (one, two, three) = (computer(1), computer(2), computer(3));
        let (pair, log) = (PairKey::random(), LogId::random());
        let (boot, other) = (BootId::random(), BootId::random());
        let headers = [(one, two, boot), (two, one, boot), (one, three, boot), (one, two, other)];
        let mut streams: HashSet<Vec<u8>> = HashSet::new();
        for (sender, receiver, boot) in headers {
            let header = EntryHeader { sender, receiver, boot, log, counter: 0 };
            let mut zeros = vec![0; 64];
            let key = pair.sealing(&header).unwrap();
            // With the same nonce and the same text, equal bytes would be an equal key.
            let _tag =
                key.seal_in_place_separate_tag(nonce(&header), Aad::empty(), &mut zeros).unwrap();
            assert!(streams.insert(zeros));
        }
    }

    #[test]
    fn every_boot_is_opened() {
        let (from, to, pair, log) = (computer(1), computer(2), PairKey::random(), LogId::random());
        let opener = Opener::new(to);
        let boots: Vec<Sealer> = (0..20).map(|_| Sealer::new(from, log)).collect();
        for sealer in boots.iter().chain(&boots) {
            let letter = opener.open(&pair, sealer.seal(to, &pair, b"hi").unwrap()).unwrap();
            assert_eq!(letter.header.boot, sealer.boot());
        }
    }

    #[test]
    fn a_used_up_counter_is_refused() {
        let (from, to, pair) = (computer(1), computer(2), PairKey::random());
        let mut sealer = Sealer::new(from, LogId::random());
        sealer.seals = AtomicU64::new(u64::MAX - 1);
        assert_eq!(sealer.seal(to, &pair, b"").unwrap().header.counter, u64::MAX - 1);
        assert_eq!(sealer.seal(to, &pair, b""), Err(SealError::Exhausted));
        assert_eq!(sealer.seal(to, &pair, b""), Err(SealError::Exhausted));
    }

    #[test]
    fn a_body_has_a_limit() {
        let (from, to, pair) = (computer(1), computer(2), PairKey::random());
        let sealer = Sealer::new(from, LogId::random());
        let longest = sealer.seal(to, &pair, &vec![7; BODY_LEN_MAX]).unwrap();
        assert_eq!(longest.sealed.len(), SEALED_LEN_MAX);
        let longest = Entry::decode(&longest.encode()).unwrap();
        assert_eq!(Opener::new(to).open(&pair, longest).unwrap().body.len(), BODY_LEN_MAX);
        let too_long = sealer.seal(to, &pair, &vec![7; BODY_LEN_MAX + 1]);
        assert_eq!(too_long, Err(SealError::Oversized(BODY_LEN_MAX + 1)));
    }

    #[test]
    fn a_key_is_not_printed() {
        let pair = PairKey::random();
        let text = String::from(pair.clone());
        assert_eq!(format!("{pair:?}"), "PairKey(…)");
        let short = PairKey::try_from(text[..20].to_owned()).unwrap_err();
        assert!(!short.to_string().contains(&text[..20]));
        assert!(PairKey::try_from(format!("{text}AAAA")).is_err());
    }

    proptest! {
        /// Two sealers of one computer stand for two starts, also after a copy of its folder.
        #[test]
        fn no_key_sees_a_nonce_twice(
            seals in prop::collection::vec((0..2_usize, 0..3_usize), 0..80),
        ) {
            let (from, pair) = (computer(1), PairKey::random());
            let log = LogId::random();
            let to: Vec<ComputerId> = (2..5).map(computer).collect();
            let boots = [Sealer::new(from, log), Sealer::new(from, log)];
            let mut seen = HashSet::new();
            for (boot, receiver) in seals {
                let header = boots[boot].seal(to[receiver], &pair, b"same").unwrap().header;
                prop_assert!(seen.insert((header.receiver, header.boot, header.counter)));
            }
        }
    }

    #[test]
    fn seals_of_many_threads_have_different_nonces() {
        let (from, to, pair) = (computer(1), computer(2), PairKey::random());
        let sealer = Sealer::new(from, LogId::random());
        let count = || -> Vec<u64> {
            let seal = |_| sealer.seal(to, &pair, b"").unwrap().header.counter;
            (0..500).map(seal).collect()
        };
        let counters: Vec<u64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(counters.iter().collect::<HashSet<_>>().len(), 2_000);
    }
}
