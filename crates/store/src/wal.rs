//! Reading SQLite's write-ahead log as it stands on the disk, without SQLite: a header, and frames
//! of one page each. The checksum of a frame covers the one before it, and the last frame of a
//! commit says how many pages the file has then.
//!
//! SQLite takes what comes before the first frame that does not fit, and forgets the rest. After a
//! power cut that is right, since what was being written may be torn anywhere, and what older
//! frames leave behind has another salt. But a frame that does not fit and has a later commit
//! behind it was whole once.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// The first word of a header, without the bit that says in which order the words of checksums are
/// read.
const MAGIC: u32 = 0x377f_0682;

/// What a write-ahead log shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The byte from which on it cannot be read, where commits that are whole come after it.
    pub(crate) broken_at: Option<u64>,
    /// Whether pages are missing of which its last commit says that the file has them.
    pub(crate) pages_missing: bool,
}

/// Looks through a write-ahead log; one that is not there shows nothing.
///
/// # Errors
/// It cannot be read.
pub(crate) fn look(path: &Path) -> io::Result<Seen> {
    match File::open(path) {
        Ok(file) => read(BufReader::new(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Seen::default()),
        Err(error) => Err(error),
    }
}

fn read(mut file: impl Read) -> io::Result<Seen> {
    let mut bytes = [0; HEADER];
    if !fill(&mut file, &mut bytes)? {
        return Ok(Seen::default());
    }
    let Some(header) = Header::of(&bytes) else { return read_without_header(file, &bytes) };
    let mut frames = Frames {
        seen: Seen::default(),
        broken: None,
        commits: 0,
        pages: BTreeSet::new(),
        committed: BTreeSet::new(),
        size: 0,
    };
    let (mut sum, mut at) = (header.sum, HEADER as u64);
    let mut frame = vec![0; FRAME + header.page];
    while fill(&mut file, &mut frame)? {
        let stored = pair(&frame, 16);
        let own = pair(&frame, 8) == header.salt;
        let fits =
            own && header.order.sum(header.order.sum(sum, &frame[..8]), &frame[FRAME..]) == stored;
        frames.take(at, fits, own, word(&frame, 0), word(&frame, 4));
        sum = stored;
        at += frame.len() as u64;
    }
    Ok(frames.end())
}

/// A header that does not fit makes SQLite forget every frame. One that was being written over
/// frames of before has other salts than they do, in both halves; one that is damaged in a place
/// has half of them at least.
fn read_without_header(mut file: impl Read, header: &[u8; HEADER]) -> io::Result<Seen> {
    let mut frame = [0; FRAME];
    let belongs = fill(&mut file, &mut frame)?
        && (word(&frame, 8) == word(header, 16) || word(&frame, 12) == word(header, 20));
    Ok(Seen { broken_at: belongs.then_some(0), pages_missing: false })
}

struct Header {
    order: Order,
    page: usize,
    salt: (u32, u32),
    sum: (u32, u32),
}

impl Header {
    fn of(bytes: &[u8; HEADER]) -> Option<Self> {
        let magic = word(bytes, 0);
        let order = if magic & 1 == 1 { Order::Big } else { Order::Little };
        let page = usize::try_from(word(bytes, 8)).ok()?;
        let (salt, sum) = (pair(bytes, 16), pair(bytes, 24));
        let fits = magic & !1 == MAGIC
            && page.is_power_of_two()
            && (512..=65_536).contains(&page)
            && order.sum((0, 0), &bytes[..24]) == sum;
        fits.then_some(Self { order, page, salt, sum })
    }
}

/// How the words of checksums are read.
#[derive(Clone, Copy)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn sum(self, sum: (u32, u32), bytes: &[u8]) -> (u32, u32) {
        bytes.chunks_exact(8).fold(sum, |(first, second), eight| {
            let read = |at: usize| {
                let four = [eight[at], eight[at + 1], eight[at + 2], eight[at + 3]];
                match self {
                    Order::Big => u32::from_be_bytes(four),
                    Order::Little => u32::from_le_bytes(four),
                }
            };
            let first = first.wrapping_add(read(0)).wrapping_add(second);
            (first, second.wrapping_add(read(4)).wrapping_add(first))
        })
    }
}

/// What the frames so far show.
struct Frames {
    seen: Seen,
    /// Where the first one is that does not fit.
    broken: Option<u64>,
    /// Ends of commits from there on, itself included. Of one alone nobody knows whether it was
    /// acknowledged.
    commits: u32,
    /// Pages since the last commit, and up to it.
    pages: BTreeSet<u32>,
    committed: BTreeSet<u32>,
    /// The pages of the file after the last commit.
    size: u32,
}

impl Frames {
    /// `fits`: its checksum follows from the one that stands before it. `own`: it has the salts of
    /// this log, and is not left from before.
    fn take(&mut self, at: u64, fits: bool, own: bool, page: u32, size: u32) {
        let ends = own && size > 0;
        match (self.broken, fits) {
            (None, true) => {
                self.pages.insert(page);
                if ends {
                    self.committed.append(&mut self.pages);
                    self.size = size;
                }
            }
            (None, false) => {
                self.broken = Some(at);
                self.commits += u32::from(ends);
            }
            (Some(begin), true) if ends => {
                self.commits += 1;
                if self.commits > 1 {
                    self.seen.broken_at = Some(begin);
                }
            }
            (Some(_), _) => {}
        }
    }

    fn end(self) -> Seen {
        let missing = (1..=self.size).any(|page| !self.committed.contains(&page));
        Seen { pages_missing: missing, ..self.seen }
    }
}

/// Fills the bytes; whether there were enough.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn pair(bytes: &[u8], at: usize) -> (u32, u32) {
    (word(bytes, at), word(bytes, at + 4))
}
