//! A data folder of the previous version keeps working, even though that version was killed in the
//! middle of its work.
//!
//! `folder.sql` and `made.json` are such a folder and the data given to its clients. They were made
//! by the program of commit 4dc2ce8b, the last with format 2, and are never remade. To make a
//! folder with another program, and to open it with its terminals still alive, run
//! `MOOTHALL_BEFORE=PROGRAM cargo test -p moothall --test e2e before -- --ignored`. It prints its
//! data folder, whose `moothall.db` can then be dumped by `sqlite3`.

mod goes_on;
mod make;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use moothall_engine::crash::FORMAT_POINTS;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::Server;
use crate::links::Hall;

/// App of the task.
const APP: &str = "7b0f3c52-9d1e-4c39-8a53-2f6b1c9de410";
/// Code for registering agents.
const CODE: &str = "let-agents-register-here";
/// An agent's turns per hour.
const TURNS: usize = 20;
/// Period for which the turns of a budget are counted.
const MILLIS_OF_HOUR: i64 = 3_600_000;

const FOLDER: &str = include_str!("folder.sql");
const MADE: &str = include_str!("made.json");

/// Creates a home with the folder's agents.
fn hall() -> Hall {
    let hall = Hall::with("");
    // The program starts before the kill and ends after it: it waits for the file `go`.
    let slow = hall.home.script(
        "slow",
        "touch \"$(dirname \"$0\")/begun\"\nfor n in $(seq 2000); do\n  \
         [ -e \"$(dirname \"$0\")/go\" ] && break\n  sleep 0.1\ndone\necho done",
    );
    let fake = std::fs::read_to_string(hall.home.path().join("moothall.toml")).unwrap();
    hall.home.configure(&format!(
        "[server]\ninvite_code = \"{CODE}\"\n[defaults]\ncooldown_seconds = 0\n\
         [agents.echo]\nreplies = [\"heard\"]\n\
         [agents.scribe]\nreplies = [\"What emerged: two words.\"]\n\
         [budgets]\nagent = {{ turns_per_hour = {TURNS} }}\n\
         [agents.thrifty]\nreplies = [\"cheap\"]\n\
         [agents.slow]\ncommand = [\"{slow}\"]\n{fake}"
    ));
    hall
}

/// Sends a message under the earlier key; returns status and answer.
async fn under_key(thread: &str, server: &Server<'_>, words: &str) -> (u16, Value) {
    let body = json!({"type": "message", "from": "ann", "to": "all", "content": words});
    let request = server.http.post(format!("{}/threads/{thread}/events", server.url));
    let request = request.bearer_auth(server.home().key()).header("Idempotency-Key", "once-1");
    let answer = request.json(&body).send().await.unwrap();
    (answer.status().as_u16(), answer.json().await.unwrap())
}

/// Unpacks the folder into a home, with its times moved to now, because credentials, keys and hours
/// expire.
fn unpacked(hall: &Hall) -> Value {
    std::fs::create_dir_all(hall.home.data()).unwrap();
    let conn = Connection::open(hall.home.data().join("moothall.db")).unwrap();
    conn.execute_batch(FOLDER).unwrap();
    let made: Value = serde_json::from_str(MADE).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let now = i64::try_from(now).unwrap();
    let since = now - made["at"].as_i64().unwrap();
    for lapse in [
        "UPDATE tokens SET expires_at = expires_at + ?1",
        "UPDATE claims SET expires = expires + ?1",
    ] {
        conn.execute(lapse, [since]).unwrap();
    }
    let hour = now - now % MILLIS_OF_HOUR;
    conn.execute("UPDATE usage SET hour = ?1", [hour]).unwrap();
    made
}

/// The cases run one after another, because their programs name the same turns.
#[tokio::test]
async fn a_folder_of_the_version_before_goes_on_also_if_its_first_start_is_cut_off() {
    let points: &[&str] = if cfg!(feature = "crash-points") { FORMAT_POINTS } else { &[] };
    for point in [None].into_iter().chain(points.iter().map(Some)) {
        let hall = hall();
        let made = unpacked(&hall);
        if let Some(point) = point {
            let data = hall.home.data();
            let mut first =
                hall.home.command(&["serve", "--mode", "token", "--bind", "127.0.0.1:0", "--data"]);
            first.arg(&data).env("MOOTHALL_CRASH_AT", format!("{point}:1"));
            let died = first.output().unwrap();
            assert!(!died.status.success(), "{point}");
        }
        let server = make::serve(&hall.home, ours());
        goes_on::whole(server, &hall, &made, false).await;
    }
}

fn ours() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_moothall"))
}

#[tokio::test]
#[ignore = "needs the program of an earlier version, which `MOOTHALL_BEFORE` names"]
async fn a_folder_that_an_earlier_program_makes_goes_on() {
    let before = PathBuf::from(std::env::var_os("MOOTHALL_BEFORE").unwrap());
    let hall = hall();
    let mut made = make::furnish(&hall, &before).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    made["at"] = json!(u64::try_from(now).unwrap());
    let kept = std::env::temp_dir().join(format!("moothall-before-{now}"));
    std::fs::create_dir_all(&kept).unwrap();
    for entry in std::fs::read_dir(hall.home.data()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), kept.join(entry.file_name())).unwrap();
        }
    }
    std::fs::write(kept.join("made.json"), serde_json::to_string_pretty(&made).unwrap()).unwrap();
    println!("kept in {}", kept.display());
    let server = make::serve(&hall.home, ours());
    goes_on::whole(server, &hall, &made, true).await;
}
