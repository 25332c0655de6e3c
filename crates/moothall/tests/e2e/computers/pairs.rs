//! Pairs of computers: their lines, their states, and their end.

use moothall_testkit::redis::RedisServer;

use super::{computer, computers, home, invited, line, pair, until_state};
use crate::harness::stderr;

#[tokio::test(flavor = "multi_thread")]
async fn two_computers_are_paired_by_two_lines_and_see_each_other() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (home(), home());
    let (workstation, laptop) = (one.serve(), other.serve());
    assert_eq!(workstation.json(&["computers"])["computers"], serde_json::json!([]));
    pair(&workstation, &laptop, &redis);
    until_state(&workstation, "laptop", "up").await;
    until_state(&laptop, "workstation", "up").await;
    let known = computer(&workstation, "laptop");
    assert_eq!(known["version"], env!("CARGO_PKG_VERSION"));
    assert!(known["id"].as_str().unwrap().starts_with('5'), "{known}");
    let own = computer(&workstation, "workstation");
    assert_eq!((&own["this"], own["id"].as_str().unwrap().as_bytes()[0]), (&true.into(), b'1'));

    // A restart finds the pair again, and what ends says so at once.
    laptop.stop();
    until_state(&workstation, "laptop", "away").await;
    let laptop = other.serve();
    until_state(&workstation, "laptop", "up").await;
    until_state(&laptop, "workstation", "up").await;

    // To forget is told.
    let forgotten = computers(&laptop, &["forget", "workstation", "--yes"], "");
    assert!(forgotten.status.success(), "{}", stderr(&forgotten));
    until_state(&workstation, "laptop", "refused").await;
    let cure = computer(&workstation, "laptop")["cure"].as_str().unwrap().to_owned();
    assert!(cure.contains("forgotten"), "{cure}");
    assert!(computer(&laptop, "workstation").is_null());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_counts_once_whole_and_on_another_computer() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other, third) = (home(), home(), home());
    let (first, second, last) = (one.serve(), other.serve(), third.serve());
    let refused = |output: &std::process::Output, word: &str| {
        assert!(!output.status.success());
        let said = stderr(output);
        assert!(said.contains(word), "{said}");
    };
    refused(&computers(&first, &["invite"], ""), "--redis");
    let nowhere = ["invite", "--redis", "redis://127.0.0.1:1"];
    refused(&computers(&first, &nowhere, ""), "cannot be reached");
    let invitation = invited(&first, "workstation", &redis);
    refused(&computers(&first, &["join", &invitation], ""), "secret");
    refused(&computers(&second, &["join", "-"], "hello"), "moothall-join-1:");
    let broken = &invitation[..invitation.len() - 9];
    refused(&computers(&second, &["join", "-"], broken), "not whole");
    refused(&computers(&first, &["join", "-"], &invitation), "itself");

    let answer = line(&computers(&second, &["join", "-", "--name", "laptop"], &invitation));
    let late = line(&computers(&last, &["join", "-", "--name", "laptop"], &invitation));
    assert!(computers(&first, &["join", "-"], &answer).status.success());
    refused(&computers(&first, &["join", "-"], &late), "was used");
    refused(&computers(&second, &["join", "-"], &answer), "has not made that invitation");
    // The name of a third is a label: it gets another one here.
    let next = line(&computers(&first, &["invite"], ""));
    let args = ["forget", "workstation", "--yes"];
    assert!(computers(&last, &args, "").status.success());
    let answer = line(&computers(&last, &["join", "-"], &next));
    assert!(computers(&first, &["join", "-"], &answer).status.success());
    until_state(&first, "laptop-2", "up").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_that_is_away_is_told_and_comes_back_by_itself() {
    let Some(mut redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (home(), home());
    let (workstation, laptop) = (one.serve(), other.serve());
    pair(&workstation, &laptop, &redis);
    until_state(&workstation, "laptop", "up").await;
    redis.kill();
    until_state(&workstation, "laptop", "away").await;
    let post = workstation.json(&["computers"])["post"].clone();
    assert!(post["fault"].as_str().unwrap().contains("cannot be reached"), "{post}");
    // The server starts without it, too.
    let laptop = laptop.crash_and_restart();
    redis.restart();
    until_state(&workstation, "laptop", "up").await;
    until_state(&laptop, "workstation", "up").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copied_server_is_off_and_once_it_is_resumed_both_stop_and_say_so() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other, copy) = (home(), home(), home());
    let (workstation, laptop) = (one.serve(), other.serve());
    pair(&workstation, &laptop, &redis);
    until_state(&workstation, "laptop", "up").await;
    std::fs::create_dir_all(copy.data()).unwrap();
    let book = "computers.json";
    std::fs::copy(one.data().join(book), copy.data().join(book)).unwrap();
    let cloned = copy.serve();
    // A copy has a log of its own, as after a restore.
    until_state(&cloned, "workstation", "off").await;
    until_state(&workstation, "laptop", "up").await;
    let resumed = computers(&cloned, &["resume"], "");
    assert!(resumed.status.success(), "{}", stderr(&resumed));
    until_state(&workstation, "workstation", "refused").await;
    until_state(&cloned, "workstation", "refused").await;
    let cure = computer(&cloned, "workstation")["cure"].as_str().unwrap().to_owned();
    assert!(cure.contains("copy of its data folder"), "{cure}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_broken_book_runs_and_says_what_to_do() {
    let home = home();
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("computers.json"), "{").unwrap();
    let server = home.serve();
    assert_eq!(server.json(&["computers"])["computers"], serde_json::json!([]));
    let Some(redis) = RedisServer::start(&[]) else { return };
    let refused = computers(&server, &["invite", "--redis", &redis.url()], "");
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("is not a book of computers"), "{}", stderr(&refused));
}
