//! Data folders of released versions can be opened for ever.

use moothall_engine::ports::{Deliveries, EventLog, ListFilter, Principals, SessionBook};
use rusqlite::Connection;

use crate::folder::LOG_FILE;
use crate::{SqliteLog, offline};

/// Two linked sessions that talked, as version 0.1.0 left them.
const OF_0_1_0: &str = include_str!("golden/0.1.0.sql");

/// A server in token mode that was killed, as version 0.1.0 left it: three people and agents with
/// tokens, one of them revoked, an invitation, the audit record, a message with a key, three agents
/// that answered.
pub(super) const OF_0_1_0_WITH_TOKENS: &str = include_str!("golden/0.1.0-tokens.sql");

#[tokio::test]
async fn credentials_and_the_record_of_the_first_version_are_whole_and_covered_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(folder.path().join(LOG_FILE)).unwrap();
    conn.execute_batch(OF_0_1_0_WITH_TOKENS).unwrap();
    let verified = offline::verify(folder.path()).await.unwrap();
    assert_eq!((verified.faults, verified.tables), (vec![], vec![]), "it has no checksums yet");
    assert!(verified.unchecked.iter().any(|said| said.starts_with("tokens ")));

    let log = SqliteLog::open(folder.path()).unwrap();
    let tokens = log.tokens(None, 100).await.unwrap();
    let holders: Vec<_> = tokens.iter().map(|token| token.principal.id.as_str()).collect();
    assert_eq!(holders, ["ann", "critic", "gone", "guest"]);
    for token in &tokens {
        assert_eq!(log.token(&token.hash).await.unwrap().as_ref(), Some(token));
    }
    let record: Vec<u64> =
        log.audit(None, 100).await.unwrap().iter().map(|row| row.number).collect();
    assert_eq!(record, [6, 5, 4, 3, 2, 1]);
    drop(log);
    let verified = offline::verify(folder.path()).await.unwrap();
    assert_eq!(verified.faults, []);
    let rows = |table: &str| {
        verified.tables.iter().find(|checked| checked.table == table).map(|checked| checked.rows)
    };
    assert_eq!((rows("tokens"), rows("audit"), rows("usage")), (Some(4), Some(6), Some(3)));
}

#[tokio::test]
async fn a_folder_of_the_first_version_is_whole_and_everything_in_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    Connection::open(folder.path().join(LOG_FILE)).unwrap().execute_batch(OF_0_1_0).unwrap();
    let verified = offline::verify(folder.path()).await.unwrap();
    assert_eq!((verified.streams, verified.events, verified.faults), (STREAMS, EVENTS, Vec::new()));

    let log = SqliteLog::open(folder.path()).unwrap();
    let sessions = log.all().await.unwrap();
    assert_eq!(
        sessions.iter().map(|session| session.name.as_str()).collect::<Vec<_>>(),
        ["ada", "bob"]
    );
    // The tables that came after that version exist and are empty.
    assert_eq!(log.cards_of("ann").await.unwrap(), []);
    let listed = log.list(ListFilter::default()).await.unwrap().streams;
    let mut deliveries = 0;
    for stream in &listed {
        let loaded = log.read(&stream.stream, moothall_kernel::ids::Seq(0), 1000).await.unwrap();
        assert_eq!(loaded.events.last().map(|event| event.seq), Some(stream.head));
        deliveries += log.of_stream(&stream.stream).await.unwrap().len();
    }
    assert_eq!((listed.len() as u64, deliveries), (STREAMS, DELIVERIES));
}

const STREAMS: u64 = 3;
const EVENTS: u64 = 25;
const DELIVERIES: usize = 5;
