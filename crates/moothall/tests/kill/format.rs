//! The server dies while it creates a data folder, or upgrades one of an older format. The folder
//! then has either the old or the new format, and the next start continues from there.

use std::path::Path;

use moothall_engine::crash::FORMAT_POINTS;
use moothall_surfaces::wire::EventTypes;
use rusqlite::Connection;
use serde_json::json;

use crate::house::crashed;
use crate::world::{Floor, World};

/// Removes the additions to the credential tables since the first format.
const FIRST_FORMAT: &str = "
DROP TRIGGER audit_is_not_changed;
DROP TRIGGER audit_is_not_shortened;
DROP TABLE audit;
DROP TABLE tokens;
DROP TABLE principals;
UPDATE meta SET value = '1' WHERE key = 'format';
";

fn log_in(data: &Path) -> Connection {
    Connection::open(data.join("moothall.db")).unwrap()
}

/// Returns the format that the folder names, and the number of tables from the second format;
/// `None` without any tables.
fn format_of(data: &Path) -> Option<(String, i64)> {
    let conn = log_in(data);
    let tables: i64 =
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    let format = || {
        conn.query_row("SELECT value FROM meta WHERE key = 'format'", [], |row| row.get(0)).unwrap()
    };
    let second =
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('principals', 'tokens', 'audit')";
    (tables > 0).then(|| (format(), conn.query_row(second, [], |row| row.get(0)).unwrap()))
}

/// Starts a server that dies at a point before it serves.
async fn die_at(world: &World, point: &str) {
    let died = world
        .house
        .start_until(Some(&format!("{point}:1")))
        .await
        .err()
        .expect("a server that dies at its start");
    assert!(crashed(died), "{point}: {died}; {}", world.house.said());
}

#[tokio::test]
async fn a_folder_whose_change_of_format_was_cut_off_is_whole() {
    for point in FORMAT_POINTS {
        let mut world = World::new().await;
        let mut server = world.house.start().await;
        world.furnish(&mut server, &[Floor::Asked]).await;
        world
            .event(
                &mut server,
                0,
                "said",
                json!({"from": "user", "content": "Said under the first format"}),
            )
            .await;
        let events =
            format!("/threads/{}/events?types={}", world.threads[0].id, EventTypes::EVERY.list());
        let before = world.get(&events).await["events"].clone();
        world.house.stop(server).await;
        log_in(&world.house.data()).execute_batch(FIRST_FORMAT).unwrap();

        die_at(&world, point).await;
        let left = format_of(&world.house.data()).unwrap();
        let wanted =
            if *point == "format_committed" { ("3".to_owned(), 3) } else { ("1".to_owned(), 0) };
        assert_eq!(left, wanted, "{point}");

        let server = world.house.start().await;
        assert_eq!(format_of(&world.house.data()), Some(("3".to_owned(), 3)), "{point}");
        assert_eq!(world.get(&events).await["events"], before, "{point}");
        world.house.stop(server).await;
        assert_eq!(world.house.damage().await, Vec::<String>::new(), "{point}");
    }
}

#[tokio::test]
async fn a_folder_whose_making_was_cut_off_is_made_by_the_next_start() {
    for point in FORMAT_POINTS {
        let mut world = World::new().await;
        die_at(&world, point).await;
        let made = (*point == "format_committed").then(|| ("3".to_owned(), 3));
        assert_eq!(format_of(&world.house.data()), made, "{point}");
        let mut server = world.house.start().await;
        world.furnish(&mut server, &[Floor::Asked]).await;
        world.house.stop(server).await;
        assert_eq!(world.house.damage().await, Vec::<String>::new(), "{point}");
    }
}
