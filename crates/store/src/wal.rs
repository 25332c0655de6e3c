//! Reads SQLite's write-ahead log from the disk without SQLite: a header, and frames of one page
//! each. The checksum of a frame covers the frame before it. The last frame of a commit states the
//! size of the file in pages.
//!
//! SQLite uses the frames before the first mismatch and ignores the rest. After a power cut this is
//! right: a write may be torn anywhere, and leftover older frames have another salt. But if commits
//! follow a mismatched frame, the frame was intact when they were written.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// First word of a header, without the bit for the byte order of checksums.
const MAGIC: u32 = 0x377f_0682;

/// The findings in a write-ahead log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WalFindings {
    /// First unreadable byte, if intact commits follow it.
    pub(crate) broken_at: Option<u64>,
    /// True if the last commit states more pages than the log contains.
    pub(crate) pages_missing: bool,
}

/// Reads a write-ahead log. A missing file has no findings.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn look(path: &Path) -> io::Result<WalFindings> {
    match File::open(path) {
        Ok(file) => read(BufReader::new(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(WalFindings::default()),
        Err(error) => Err(error),
    }
}

/// Reads the frames up to the end of the file, each checked against the one before it.
fn read(mut file: impl Read) -> io::Result<WalFindings> {
    let mut bytes = [0; HEADER];
    if !fill(&mut file, &mut bytes)? {
        return Ok(WalFindings::default());
    }
    let Some(header) = Header::of(&bytes) else { return read_without_header(file, &bytes) };
    let mut frames = Frames {
        seen: WalFindings::default(),
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
        // The check goes on from the stored sum, so that intact frames after a broken one are
        // found.
        sum = stored;
        at += frame.len() as u64;
    }
    Ok(frames.end())
}

/// Reports damage at byte 0 if the header was damaged after its frames were written. SQLite ignores
/// all frames after an invalid header. If the header was torn while a new log began over old
/// frames, both halves of its salt differ from theirs. If the header has local damage, at least one
/// half is still equal.
fn read_without_header(mut file: impl Read, header: &[u8; HEADER]) -> io::Result<WalFindings> {
    let mut frame = [0; FRAME];
    let belongs = fill(&mut file, &mut frame)?
        && (word(&frame, 8) == word(header, 16) || word(&frame, 12) == word(header, 20));
    Ok(WalFindings { broken_at: belongs.then_some(0), pages_missing: false })
}

struct Header {
    order: Order,
    page: usize,
    salt: (u32, u32),
    sum: (u32, u32),
}

impl Header {
    /// Reads a header; `None` if its first word, its page size or its checksum is wrong.
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

/// The byte order of checksums.
#[derive(Clone, Copy)]
enum Order {
    Big,
    Little,
}

impl Order {
    /// Continues a checksum over bytes, as SQLite computes it: two running sums over pairs of
    /// words.
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

/// The findings of the frames so far.
struct Frames {
    seen: WalFindings,
    /// Byte of the first mismatched frame.
    broken: Option<u64>,
    /// Number of commit ends from there on, including that frame. If there is only one, it was
    /// perhaps never acknowledged.
    commits: u32,
    /// Pages since the last commit.
    pages: BTreeSet<u32>,
    /// Pages of all commits.
    committed: BTreeSet<u32>,
    /// Size of the file in pages after the last commit.
    size: u32,
}

impl Frames {
    /// Takes the next frame. `fits` is true if its checksum follows from the previous frame. `own`
    /// is true if it has the salts of this log, and is not left over from an earlier one.
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

    fn end(self) -> WalFindings {
        let missing = (1..=self.size).any(|page| !self.committed.contains(&page));
        WalFindings { pages_missing: missing, ..self.seen }
    }
}

/// Fills the bytes. Returns false if the file has too few.
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
