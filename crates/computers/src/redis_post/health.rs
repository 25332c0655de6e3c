//! Facts about a Redis from which a doctor judges if it is fit for the post.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::aio::MultiplexedConnection;

/// Facts about the Redis of a post. A fact is missing if the user may not read it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostHealth {
    /// Time of one round trip.
    pub ping: Duration,
    /// Milliseconds by which its clock is ahead of the own clock. It is shown, never judged.
    pub clock_ahead_ms: Option<i64>,
    /// Version of the Redis.
    pub version: Option<String>,
    /// The `maxmemory-policy` of the Redis.
    pub eviction: Option<String>,
    /// The `maxmemory` of the Redis in bytes; 0 is without a limit.
    pub memory_max: Option<u64>,
    /// True if it writes every command into a file.
    pub append_only: Option<bool>,
    /// True if it saves its memory from time to time.
    pub snapshots: Option<bool>,
}

impl PostHealth {
    /// True if the Redis can delete unread streams without an error when its memory is used up. The
    /// senders still have the rows, but would put them into a Redis that loses them again. False if
    /// the user may not read the policy.
    pub fn evicts(&self) -> bool {
        let evicts = self.eviction.as_deref().is_some_and(|policy| policy != "noeviction");
        evicts && self.memory_max != Some(0)
    }
}

/// Reads the facts over a connection that works.
///
/// # Errors
/// The server does not answer a ping.
pub(super) async fn read(connection: &mut MultiplexedConnection) -> redis::RedisResult<PostHealth> {
    let began = Instant::now();
    redis::cmd("PING").exec_async(connection).await?;
    let ping = began.elapsed();
    let before = SystemTime::now();
    let time = redis::cmd("TIME").query_async::<(i64, i64)>(connection).await.ok();
    let middle = before + before.elapsed().unwrap_or_default() / 2;
    let ahead = |(seconds, micros): (i64, i64)| seconds * 1_000 + micros / 1_000 - unix_ms(middle);
    let info = redis::cmd("INFO").query_async::<String>(connection).await.unwrap_or_default();
    let fact = |name: &str| fact(&info, name);
    Ok(PostHealth {
        ping,
        clock_ahead_ms: time.map(ahead),
        version: fact("redis_version"),
        eviction: fact("maxmemory_policy"),
        memory_max: fact("maxmemory").and_then(|bytes| bytes.parse().ok()),
        append_only: fact("aof_enabled").map(|on| on == "1"),
        snapshots: snapshots(connection).await,
    })
}

async fn snapshots(connection: &mut MultiplexedConnection) -> Option<bool> {
    let mut command = redis::cmd("CONFIG");
    command.arg("GET").arg("save");
    let pairs = command.query_async::<Vec<(String, String)>>(connection).await.ok()?;
    pairs.first().map(|(_, times)| !times.is_empty())
}

/// Returns a fact of the lines `name:value`.
fn fact(info: &str, name: &str) -> Option<String> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(':').map(str::to_owned);
    info.lines().find_map(value)
}

fn unix_ms(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_from_lines() {
        let info = "# Memory\r\nmaxmemory:100\r\nmaxmemory_policy:allkeys-lru\r\n";
        assert_eq!(fact(info, "maxmemory").as_deref(), Some("100"));
        assert_eq!(fact(info, "maxmemory_policy").as_deref(), Some("allkeys-lru"));
        assert_eq!(fact(info, "memory"), None);
    }

    #[test]
    fn only_a_server_with_a_limit_and_a_policy_evicts() {
        let health = |policy: &str, memory_max| PostHealth {
            ping: Duration::ZERO,
            clock_ahead_ms: None,
            version: None,
            eviction: Some(policy.to_owned()),
            memory_max,
            append_only: None,
            snapshots: None,
        };
        assert!(health("allkeys-lru", Some(100)).evicts());
        assert!(health("volatile-ttl", None).evicts());
        assert!(!health("allkeys-lru", Some(0)).evicts());
        assert!(!health("noeviction", Some(100)).evicts());
    }
}
