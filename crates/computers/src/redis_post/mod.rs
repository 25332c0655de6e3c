//! The post over a Redis: one stream for each computer, published words, and leases.
//!
//! | key or channel | holds |
//! |---|---|
//! | `moothall:post:<id>` | the stream of a computer: entries with the field `e` |
//! | `moothall:words:<id>` | words to a computer, published |
//! | `moothall:computer:<id>` | its lease: the boot that holds it |
//!
//! Streams have no groups and no greatest length: the reader deletes its entries, and a
//! greatest length would lose rows. The windows of the senders bound a stream that is not read.

mod address;
mod error;
mod health;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use redis::aio::MultiplexedConnection;
use redis::streams::StreamReadReply;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, ProtocolVersion, PushInfo};
use redis::{PushKind, RedisError, Value};
use tokio::sync::{Mutex, mpsc};

pub use address::RedisAddress;
pub use health::PostHealth;

use crate::id::{BootId, ComputerId};
use crate::post::{ENTRY_LEN_MAX, LEASE, LeaseAnswer, Post, PostBatch, PostEntry};
use crate::post::{PostError, PostId};

/// Longest wait for a connection or an answer. A frozen server must not hold up the host, and a
/// link answers within it if little is sent.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Slowest link that is supported, in bytes a second. It decides how long the call that adds an
/// entry may take.
const LINK_SPEED_MIN: usize = 64 * 1024;
/// Time for which a reader waits at the Redis. After it the stream is read from its beginning, in
/// case the ids of the Redis went back.
const BLOCK: Duration = Duration::from_secs(10);
/// Time after which a reader without an answer connects again: its connection may be dead without
/// having ended. The slowest link brings the longest entry within it, after [`BLOCK`].
const READ_MAX: Duration = Duration::from_secs(30);
/// Most entries that are read together: at most 64 MiB of the longest ones.
const BATCH_MAX: usize = 64;
/// Most entries that one command deletes.
const DELETE_MAX: usize = 1_000;
/// Maximum number of words that wait for [`Post::hear`]. Further ones are lost.
const WORDS_MAX: usize = 256;
/// The id before the first of a stream.
const BEGINNING: &str = "0-0";
/// The field of an entry.
const FIELD: &str = "e";

/// Takes or renews the first lease for a boot, or else notes the boot as its rival in the second
/// key. Returns the holder, the rival and the holders of the other leases.
///
/// A new holder forgets the rival of the former one: it may be a boot of the same server that has
/// crashed since, and a rival that runs asks again. The first write takes memory, so that a full
/// server refuses the whole.
const RENEW: &str = "
local holder = redis.call('GET', KEYS[1])
local is_new = not holder
holder = holder or ARGV[1]
if holder == ARGV[1] then
  redis.call('SET', KEYS[1], holder, 'PX', ARGV[2])
  if is_new then redis.call('DEL', KEYS[2]) end
else
  redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
local holders = {holder}
for at = 2, #KEYS do holders[at] = redis.call('GET', KEYS[at]) end
return holders";
/// Deletes a lease if this boot holds it.
const RELEASE: &str = "
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0";

/// The post of one computer at a Redis. It connects when it is used, and again after an error.
///
/// It has two connections: a reader that waits at the Redis, and a writer for everything else,
/// which also receives the words.
pub struct RedisPost {
    own: ComputerId,
    address: RedisAddress,
    reading: Client,
    writing: Client,
    reader: Mutex<Option<StreamReader>>,
    /// Entries that are read together: fewer after an answer that took too long.
    batch: AtomicUsize,
    writer: Mutex<Option<MultiplexedConnection>>,
    /// Words that arrived; none stands for the end of a connection.
    pushes: mpsc::Sender<Option<Vec<u8>>>,
    words: Mutex<mpsc::Receiver<Option<Vec<u8>>>>,
}

impl fmt::Debug for RedisPost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisPost({} at {})", self.own, self.address)
    }
}

/// The connection of the reader, and the last entry that it returned.
struct StreamReader {
    connection: MultiplexedConnection,
    last: String,
}

impl RedisPost {
    /// Makes the post of a computer. `ca` is a file of certificates, in PEM, that are trusted in
    /// place of the public ones for `rediss://`. Nothing is connected yet.
    ///
    /// # Errors
    /// [`PostError::Address`] or [`PostError::Tls`] if the address or the file cannot be used.
    pub fn new(
        own: ComputerId,
        address: RedisAddress,
        ca: Option<&Path>,
    ) -> Result<Self, PostError> {
        // Another part of the program may have installed a TLS provider already. It is the same
        // one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let info = address.info()?;
        // Only in version 3 of the protocol can a connection with a subscription run other
        // commands.
        let pushed = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let plain = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        let reading = address.client(info.clone().set_redis_settings(plain), ca)?;
        let writing = address.client(info.set_redis_settings(pushed), ca)?;
        let (pushes, words) = mpsc::channel(WORDS_MAX);
        let (reader, writer, words) = (Mutex::default(), Mutex::default(), Mutex::new(words));
        let batch = AtomicUsize::new(BATCH_MAX);
        Ok(Self { own, address, reading, writing, reader, batch, writer, pushes, words })
    }

    /// Reads the facts from which a doctor judges the Redis.
    ///
    /// # Errors
    /// [`PostError`] if it cannot be reached.
    pub async fn health(&self) -> Result<PostHealth, PostError> {
        let mut connection = self.writer().await?;
        let read = health::read(&mut connection).await;
        self.answered(read).await
    }

    fn error(&self, error: &RedisError) -> PostError {
        error::post_error(error, self.address.password().as_deref())
    }

    /// Returns the connection of the writer, and connects if there is none.
    async fn writer(&self) -> Result<MultiplexedConnection, PostError> {
        let mut slot = self.writer.lock().await;
        if let Some(connection) = &*slot {
            return Ok(connection.clone());
        }
        let pushes = self.pushes.clone();
        let config = config(Some(ANSWER_MAX)).set_push_sender(move |push: PushInfo| {
            // Words are lost if the host does not wait for them, because the connection must not
            // wait for the host.
            match pushed(push) {
                Some(push) => pushes.try_send(push).map_err(drop),
                None => Ok(()),
            }
        });
        let connect = async {
            let mut connection =
                self.writing.get_multiplexed_async_connection_with_config(&config).await?;
            connection.subscribe(words_channel(self.own)).await?;
            Ok(connection)
        };
        let connection = connect.await.map_err(|error| self.error(&error))?;
        Ok(slot.insert(connection).clone())
    }

    /// Runs a command that sends `len` bytes over the writer's connection.
    async fn send<T: FromRedisValue>(&self, command: &Cmd, len: usize) -> Result<T, PostError> {
        let mut connection = self.writer().await?;
        connection.set_response_timeout(answer_max(len));
        let answer = command.query_async(&mut connection).await;
        self.answered(answer).await
    }

    /// Runs a short command over the writer's connection.
    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, PostError> {
        self.send(command, 0).await
    }

    /// Returns the answer to a command of the writer. After any error but a full memory and a
    /// missing right, the connection may be broken, so it is dropped, and the next command connects
    /// again.
    async fn answered<T>(&self, answer: redis::RedisResult<T>) -> Result<T, PostError> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => {
                let error = self.error(&error);
                if !matches!(error, PostError::Full | PostError::Denied(_)) {
                    *self.writer.lock().await = None;
                }
                Err(error)
            }
        }
    }

    async fn connect_reader(&self) -> Result<StreamReader, PostError> {
        let config = config(None);
        let connect = self.reading.get_multiplexed_async_connection_with_config(&config);
        let connection = connect.await.map_err(|error| self.error(&error))?;
        Ok(StreamReader { connection, last: BEGINNING.to_owned() })
    }

    /// Reads the entries after the last one that was read. If `blocks` is true, waits for them at
    /// the Redis for up to [`BLOCK`], and returns none if none came.
    async fn read(
        &self,
        reader: &mut StreamReader,
        blocks: bool,
    ) -> Result<Vec<PostEntry>, PostError> {
        let batch = self.batch.load(Ordering::Relaxed);
        let mut command = redis::cmd("XREAD");
        command.arg("COUNT").arg(batch);
        if blocks {
            command.arg("BLOCK").arg(millis(BLOCK));
        }
        command.arg("STREAMS").arg(stream(self.own)).arg(&reader.last);
        let read = command.query_async(&mut reader.connection);
        let answer = tokio::time::timeout(READ_MAX, read).await;
        self.batch.store(batch_after(batch, answer.is_ok()), Ordering::Relaxed);
        let answer = answer.map_err(|_| PostError::Away("no answer in time".into()))?;
        let reply: Option<StreamReadReply> = answer.map_err(|error| self.error(&error))?;
        let entries = reply.into_iter().flat_map(|reply| reply.keys).flat_map(|key| key.ids);
        let entries: Vec<PostEntry> = entries
            .map(|entry| PostEntry {
                id: PostId::from(entry.id.as_str()),
                // An entry of a stranger without the field is empty, and is refused as such.
                bytes: entry.get(FIELD).unwrap_or_default(),
            })
            .collect();
        // The ids of an emptied server may have gone back. So after an empty read, the next read
        // begins at the beginning.
        let last = entries.last().map_or(BEGINNING, |entry| entry.id.as_str());
        reader.last = last.to_owned();
        Ok(entries)
    }
}

#[async_trait]
impl Post for RedisPost {
    async fn put(&self, to: ComputerId, entry: &[u8]) -> Result<(), PostError> {
        check_len(entry)?;
        let mut command = redis::cmd("XADD");
        command.arg(stream(to)).arg("*").arg(FIELD).arg(entry);
        self.send::<String>(&command, entry.len()).await.map(drop)
    }

    async fn next(&self) -> Result<PostBatch, PostError> {
        let mut slot = self.reader.lock().await;
        // The connection is out of the slot while it reads. If this call is dropped, the next call
        // makes a new connection, because the answer on the old one would be lost.
        let (mut reader, fresh) = match slot.take() {
            Some(reader) => (reader, false),
            None => (self.connect_reader().await?, true),
        };
        loop {
            // A new connection is reported immediately, because rows may have to be sent again.
            let entries = self.read(&mut reader, !fresh).await?;
            if fresh || !entries.is_empty() {
                *slot = Some(reader);
                return Ok(PostBatch { fresh, entries });
            }
        }
    }

    async fn done(&self, ids: &[PostId]) -> Result<(), PostError> {
        for ids in ids.chunks(DELETE_MAX) {
            let mut command = redis::cmd("XDEL");
            let ids: Vec<&str> = ids.iter().map(PostId::as_str).collect();
            command.arg(stream(self.own)).arg(ids);
            self.ask::<u64>(&command).await?;
        }
        Ok(())
    }

    async fn say(&self, to: ComputerId, words: &[u8]) -> Result<(), PostError> {
        check_len(words)?;
        let mut command = redis::cmd("PUBLISH");
        command.arg(words_channel(to)).arg(words);
        self.send::<u64>(&command, words.len()).await.map(drop)
    }

    async fn hear(&self) -> Result<Vec<u8>, PostError> {
        let mut words = self.words.lock().await;
        self.writer().await?;
        match words.recv().await.flatten() {
            Some(words) => Ok(words),
            None => Err(PostError::Away("the connection ended".into())),
        }
    }

    async fn renew(&self, boot: BootId, peers: &[ComputerId]) -> Result<LeaseAnswer, PostError> {
        let mut command = redis::cmd("EVAL");
        let own = lease(self.own);
        let rival = format!("{own}:rival");
        let keys = [own, rival].into_iter().chain(peers.iter().map(|id| lease(*id)));
        let keys: Vec<String> = keys.collect();
        command.arg(RENEW).arg(keys.len()).arg(keys).arg(boot.to_string()).arg(millis(LEASE));
        let holders: Vec<Option<String>> = self.ask(&command).await?;
        let mut boots = holders.iter().map(|holder| holder.as_ref()?.parse::<BootId>().ok());
        let unknown = || PostError::Failed("something else than a lease is in its place".into());
        let holder = boots.next().flatten().ok_or_else(unknown)?;
        let rival = boots.next().flatten();
        let there = peers.iter().zip(boots);
        let peers: BTreeMap<ComputerId, BootId> =
            there.filter_map(|(peer, boot)| Some((*peer, boot?))).collect();
        Ok(LeaseAnswer { holder, rival, peers })
    }

    async fn release(&self, boot: BootId) -> Result<(), PostError> {
        let mut command = redis::cmd("EVAL");
        command.arg(RELEASE).arg(1).arg(lease(self.own)).arg(boot.to_string());
        self.ask::<u64>(&command).await.map(drop)
    }
}

fn config(answer: Option<Duration>) -> AsyncConnectionConfig {
    AsyncConnectionConfig::new()
        .set_connection_timeout(Some(ANSWER_MAX))
        .set_response_timeout(answer)
}

/// Returns the longest wait for the answer to a command that sends this many bytes.
fn answer_max(len: usize) -> Duration {
    ANSWER_MAX + Duration::from_secs((len / LINK_SPEED_MIN) as u64)
}

/// Returns the number of entries to read together after a read of `before` entries: twice as many
/// if that read was in time, or else an eighth. Over a slow link, many long entries might never
/// arrive in time; one of them does.
fn batch_after(before: usize, in_time: bool) -> usize {
    if in_time { (2 * before).min(BATCH_MAX) } else { (before / 8).max(1) }
}

/// Returns the words of a push, `Some(None)` for the end of the connection, or none if the push
/// is about something else.
fn pushed(push: PushInfo) -> Option<Option<Vec<u8>>> {
    match (push.kind, push.data.into_iter().nth(1)) {
        (PushKind::Disconnection, _) => Some(None),
        (PushKind::Message, Some(Value::BulkString(words))) => {
            (words.len() <= ENTRY_LEN_MAX).then_some(Some(words))
        }
        _ => None,
    }
}

fn check_len(entry: &[u8]) -> Result<(), PostError> {
    let len = entry.len();
    if len > ENTRY_LEN_MAX { Err(PostError::Oversized(len)) } else { Ok(()) }
}

fn stream(of: ComputerId) -> String {
    format!("moothall:post:{of}")
}

fn words_channel(of: ComputerId) -> String {
    format!("moothall:words:{of}")
}

fn lease(of: ComputerId) -> String {
    format!("moothall:computer:{of}")
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_link_gets_time_for_long_entries_and_few_at_once() {
        assert_eq!(answer_max(0), ANSWER_MAX);
        let longest = u32::try_from(ENTRY_LEN_MAX).unwrap();
        let speed = u32::try_from(LINK_SPEED_MIN).unwrap();
        let sending = Duration::from_secs(1) * longest / speed;
        assert!(answer_max(ENTRY_LEN_MAX) >= sending);
        assert!(BLOCK + sending < READ_MAX);
        let mut batch = BATCH_MAX;
        for _ in 0..2 {
            batch = batch_after(batch, false);
        }
        assert_eq!(batch, 1);
        assert_eq!(batch_after(batch, false), 1);
        assert_eq!((batch_after(1, true), batch_after(BATCH_MAX, true)), (2, BATCH_MAX));
    }
}
