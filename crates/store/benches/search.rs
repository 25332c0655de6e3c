//! Cost of searching, and of other ways to index. Printed, never asserted.
//!
//! `cargo bench -p moothall-store --bench search`
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;
use std::time::{Duration, Instant};

use moothall_engine::ports::{EventLog, Search, SearchRequest, Upkeep};
use moothall_kernel::search::Query;
use moothall_kernel::search::tokens::words;
use moothall_store::SqliteLog;
use moothall_testkit::conformance::build::{Builder, batch};
use rusqlite::Connection;

const COMPARED: u64 = 10_000;
const SIZES: [u64; 2] = [10_000, 100_000];
const TEXT_BYTES: usize = 1024;
const ROUNDS: usize = 40;
const SYLLABLES: [&str; 24] = [
    "ba", "cen", "di", "for", "gal", "hu", "in", "ja", "kol", "lem", "mi", "nor", "op", "pre",
    "qui", "ra", "sto", "ter", "un", "ver", "wa", "xen", "yo", "zi",
];

/// A reproducible sequence of random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a word of a vocabulary of 20,000. The first words come much more often than the
    /// last, as in a natural language.
    fn word(&mut self) -> String {
        let share = (self.roll() % 1_000_000 + 1) as f64 / 1_000_000.0;
        word_of((20_000_f64.powf(share) - 1.0) as u64)
    }
}

fn word_of(rank: u64) -> String {
    let (mut word, mut rest) = (String::new(), rank + 1);
    while rest > 0 {
        word.push_str(SYLLABLES[(rest % 24) as usize]);
        rest /= 24;
    }
    word
}

fn text(n: u64) -> String {
    let mut dice = Dice(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut text = format!("Message {n}");
    while text.len() < TEXT_BYTES {
        let gap = if dice.roll().is_multiple_of(9) { ", " } else { " " };
        text.push_str(gap);
        text.push_str(&dice.word());
    }
    text
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    compare();
    for messages in SIZES {
        ours(messages).await;
    }
}

/// Compares the ways to index that were considered, on the same messages, each without a copy of
/// the text.
fn compare() {
    println!("{COMPARED} messages of {TEXT_BYTES} bytes");
    println!(
        "{:<44} {:>9} {:>11} {:>11} {:>11} {:>11}",
        "way to index", "MB", "us/message", "word ms", "phrase ms", "common ms"
    );
    let ways = [
        ("unicode61", "content='', contentless_delete=1, tokenize='unicode61'", false),
        ("unicode61, with the text stored again", "tokenize='unicode61'", false),
        ("trigram", "content='', contentless_delete=1, tokenize='trigram'", false),
        (
            "words of the kernel, prefix index",
            "content='', contentless_delete=1, tokenize='ascii', prefix='3'",
            true,
        ),
        ("words of the kernel", "content='', contentless_delete=1, tokenize='ascii'", true),
    ];
    for (name, options, cut) in ways {
        way(name, options, cut);
    }
}

fn way(name: &str, options: &str, cut: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut conn = Connection::open(folder.path().join("x.db")).unwrap();
    conn.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
    conn.execute_batch(&format!("CREATE VIRTUAL TABLE t USING fts5(words, {options})")).unwrap();
    let texts: Vec<String> = (0..COMPARED).map(text).collect();
    let began = Instant::now();
    for (group, texts) in texts.chunks(100).enumerate() {
        let transaction = conn.transaction().unwrap();
        for (n, text) in texts.iter().enumerate() {
            let given = if cut {
                words(text).into_iter().map(|word| word.text + " ").collect()
            } else {
                text.clone()
            };
            let row = (group * 100 + n + 1) as i64;
            transaction
                .prepare_cached("INSERT INTO t (rowid, words) VALUES (?1, ?2)")
                .unwrap()
                .execute((row, given))
                .unwrap();
        }
        transaction.commit().unwrap();
    }
    let took = began.elapsed();
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let size = folder.path().join("x.db").metadata().unwrap().len() as f64 / 1e6;
    let phrase = format!("{} {}", word_of(40), word_of(7));
    let times = [word_of(3000), phrase, word_of(2)].map(|wanted| {
        let began = Instant::now();
        for _ in 0..ROUNDS {
            let mut find = conn
                .prepare_cached("SELECT rowid FROM t WHERE t MATCH ?1 ORDER BY rowid DESC LIMIT 20")
                .unwrap();
            find.query_map([format!("\"{wanted}\"")], |row| row.get::<_, i64>(0))
                .unwrap()
                .for_each(|row| assert!(row.unwrap() > 0));
        }
        format!("{:.2}", began.elapsed().as_secs_f64() * 1000.0 / ROUNDS as f64)
    });
    let each = took.as_secs_f64() * 1e6 / COMPARED as f64;
    println!(
        "{name:<44} {size:>9.1} {each:>11.1} {:>11} {:>11} {:>11}",
        times[0], times[1], times[2]
    );
}

/// Measures the real log and its index, from the first append to the answer with its snippets.
async fn ours(messages: u64) {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(folder.path()).unwrap();
    let began = Instant::now();
    for head in (0..messages).step_by(100) {
        let talk = (head..head + 100)
            .fold(batch("s", head), |batch, n| batch.says_at(n as i64 * 1000 + 1, &text(n)));
        log.append(vec![talk]).await.unwrap();
    }
    let appended = began.elapsed();
    while search(&log, "message").await.1 > 0 {}
    let indexed = began.elapsed();
    println!(
        "\n{messages} messages, {:.1} MB of text",
        (messages * TEXT_BYTES as u64) as f64 / 1e6
    );
    println!(
        "appended in {:.1} s, indexed {:.1} s later",
        appended.as_secs_f64(),
        (indexed - appended).as_secs_f64()
    );
    println!(
        "{:<44} {:>9} {:>9} {:>9}",
        "search, 20 hits with snippets", "p50 ms", "p95 ms", "hits"
    );
    let common = word_of(2);
    let queries = [
        ("a rare word", "rare"),
        ("a common word", common.as_str()),
        ("beginning of many words", "wor"),
        ("a phrase", "phrase"),
        ("three words", "three"),
        ("common word, filters of who and where", "who"),
        ("common word, a day in the middle", "day"),
        ("nothing", "nothingatall"),
    ];
    for (name, kind) in queries {
        measure(&log, name, |n| query(kind, n, messages)).await;
    }
    log.close().await.unwrap();
    let size =
        |name: &str| Path::new(folder.path()).join(name).metadata().unwrap().len() as f64 / 1e6;
    println!("log {:.1} MB, index {:.1} MB", size("moothall.db"), size("search.db"));
}

fn query(kind: &str, n: u64, messages: u64) -> String {
    let rare = word_of(2000 + n * 37);
    match kind {
        "rare" => format!("\"{rare}\""),
        "wor" => word_of(24 + n).chars().take(3).collect(),
        "phrase" => format!("\"{} {}\"", word_of(5 + n), word_of(3)),
        "three" => format!("{} {} {}", word_of(30 + n), word_of(60 + n), word_of(2)),
        "who" => format!("{} from:user", word_of(2)),
        "day" => {
            let day = moothall_kernel::time::Timestamp::from_millis((messages / 2) as i64 * 1000);
            format!("{} before:{day}", word_of(2))
        }
        word => format!("\"{word}\""),
    }
}

async fn search(log: &SqliteLog, query: &str) -> (usize, u64) {
    let wanted = SearchRequest { query: Query::parse(query).unwrap(), streams: None };
    let page = log.search(&wanted, 20, None).await.unwrap();
    (page.hits.len(), page.lag)
}

async fn measure(log: &SqliteLog, name: &str, query: impl Fn(u64) -> String) {
    let mut times = Vec::new();
    let mut hits = 0;
    for n in 0..ROUNDS as u64 {
        let query = query(n);
        let began = Instant::now();
        hits += search(log, &query).await.0;
        times.push(began.elapsed());
    }
    times.sort();
    let ms = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1000.0);
    let (p50, p95) = (times[ROUNDS / 2], times[ROUNDS * 95 / 100]);
    println!("{name:<44} {:>9} {:>9} {:>9.1}", ms(p50), ms(p95), hits as f64 / ROUNDS as f64);
}
