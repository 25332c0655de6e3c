//! Data folders of released versions are opened for ever.

use moothall_engine::ports::{Deliveries, EventLog, ListFilter, Principals, SessionBook};
use rusqlite::Connection;

use crate::folder::LOG_FILE;
use crate::{SqliteLog, offline};

/// Two sessions in a link that talked, as version 0.1.0 left them.
const OF_0_1_0: &str = include_str!("golden/0.1.0.sql");

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
    // What came after that version is there too, and empty.
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
