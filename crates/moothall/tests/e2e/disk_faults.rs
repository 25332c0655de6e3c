//! A full disk, and a failing one.

use std::fs::{self, File};
use std::process::Command;

use moothall_testkit::needs;
use serde_json::json;

use crate::harness::{Home, comes_about};

/// Returns a message that needs pages of its own.
fn long() -> serde_json::Value {
    json!({"from": "user", "content": "words ".repeat(10_000)})
}

/// Connections wait long before the log or its index runs out of files.
#[tokio::test]
async fn a_server_with_few_files_lets_connections_wait_and_keeps_writing() {
    let home = Home::new();
    let data = home.data();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -n 64; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_moothall"),
        "serve",
        "--json",
        "--bind",
        "127.0.0.1:0",
    ]);
    command
        .args(["--data", data.to_str().unwrap()])
        .current_dir(home.path())
        .env_remove("MOOTHALL_LOG");
    command.env("HOME", home.path()).stderr(File::create(home.path().join("log")).unwrap());
    let server = home.serve_by(command);
    let thread = server.thread().await;
    let idle: Vec<std::net::TcpStream> =
        (0..100).map(|_| std::net::TcpStream::connect(server.address()).unwrap()).collect();
    // The existing connection is served, however many others are open.
    for n in 0..20 {
        server.say(&thread, &format!("message {n}")).await;
        server.get("/search?q=message").await;
    }
    drop(idle);
    let fresh = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let events = format!("{}/threads/{thread}/events", server.url);
    // All connection slots stay taken until the server has noticed the closed connections.
    let page: serde_json::Value = loop {
        let answer = fresh.get(&events).send().await.unwrap();
        if answer.status() != 503 {
            break answer.json().await.unwrap();
        }
    };
    assert_eq!(page["count"], 21, "{page}");
    assert!(server.stop().success());
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(
        log.contains("limit of 64 open files")
            && log.contains("ulimit -n")
            && !log.contains("ERROR"),
        "{log}"
    );
}

/// A file-size limit makes a write fail as on a broken disk. The state of the log is then unknown,
/// so the server stops.
#[tokio::test]
async fn a_server_whose_disk_fails_stops_with_a_reason() {
    let home = Home::new();
    let data = home.data();
    let mut command = Command::new("sh");
    let limited = "trap '' XFSZ; ulimit -f 2048; exec \"$@\"";
    command.args([
        "-c",
        limited,
        "sh",
        env!("CARGO_BIN_EXE_moothall"),
        "serve",
        "--json",
        "--bind",
        "127.0.0.1:0",
    ]);
    command
        .args(["--data", data.to_str().unwrap()])
        .current_dir(home.path())
        .env_remove("MOOTHALL_LOG");
    command.env("HOME", home.path()).stderr(File::create(home.path().join("log")).unwrap());
    let server = home.serve_by(command);
    let thread = server.thread().await;
    let path = format!("/threads/{thread}/events");
    let mut acknowledged = Vec::new();
    while let Ok((200, answer)) = server.try_post(&path, &long()).await {
        acknowledged.push(answer["event"].clone());
        assert!(acknowledged.len() < 1000, "the limit does nothing");
    }
    assert_eq!(server.end().code(), Some(74));
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(
        log.contains("the server stopped, because it cannot write to the log")
            && log.contains("check the disk"),
        "{log}"
    );

    let server = home.serve();
    let events = server.events(&thread).await;
    assert!(!acknowledged.is_empty() && acknowledged.iter().all(|event| events.contains(event)));
    server.say(&thread, "and on").await;
}

/// A limit on the log's pages is a full disk to SQLite.
#[cfg(feature = "crash-points")]
#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room_again() {
    let home = Home::new();
    home.configure("[defaults]\ncooldown_seconds = 0\n");
    let room = home.path().join("room");
    let allow = |pages: &str| std::fs::write(&room, pages).unwrap();
    allow("1000000");
    let server =
        home.serve_with("127.0.0.1:0", &[("MOOTHALL_PAGES_MAX_FILE", room.to_str().unwrap())]);
    let thread = server.thread().await;
    server.invite(&thread, "analyst", "analyst").await;
    let path = format!("/threads/{thread}/events");
    assert_eq!(server.post(&path, long()).await.0, 200);
    for _ in 0..2 {
        allow("1");
        for _ in 0..3 {
            let (status, answer) = server.post(&path, long()).await;
            assert_eq!((status, &answer["error"]["code"]), (507, &json!("disk_full")), "{answer}");
        }
        let before = server.events(&thread).await.len();
        assert!(before > 2, "reads go on");
        assert_eq!(server.get("/healthz").await["status"], "ok");
        allow("1000000");
        let said = server.say(&thread, "@analyst is there room again?").await;
        server.reply(&thread, &said, "analyst").await;
        assert_eq!(server.post(&path, long()).await.0, 200);
    }
    let page = server
        .http()
        .get(format!("{}/metrics", server.url))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(page.contains("moothall_appends_total{result=\"full\"}"), "{page}");
    assert!(server.stop().success());
}

/// A small mounted disk, unmounted when dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// Mounts the disk; prints the reason and returns `None` if that is not permitted.
    fn mounted(at: std::path::PathBuf, size: &str) -> Option<Self> {
        std::fs::create_dir(&at).unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size},mode=0700"), "tmpfs"])
            .arg(&at)
            .output();
        if mount.is_ok_and(|output| output.status.success()) {
            return Some(Self(at));
        }
        eprintln!("skipped: no file system can be mounted here");
        None
    }

    fn fill(&self) {
        let mut filler = File::create(self.0.join("filler")).unwrap();
        for size in [65_536, 512, 1] {
            while std::io::Write::write_all(&mut filler, &vec![b'x'; size]).is_ok() {}
        }
    }

    fn make_room(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// After a crash on a full disk, existing data is readable. Everything else recovers once there is
/// space.
#[tokio::test]
async fn a_server_that_crashed_on_a_full_disk_starts_serves_reads_and_recovers() {
    let home = Home::new();
    let Some(disk) = SmallDisk::mounted(home.path().join("disk"), "12m") else { return };
    let data = disk.0.join("data");
    let serve = || {
        let mut command = home.command(&[
            "serve",
            "--json",
            "--bind",
            "127.0.0.1:0",
            "--data",
            data.to_str().unwrap(),
        ]);
        command.stderr(File::create(home.path().join("log")).unwrap());
        home.serve_by(command)
    };
    let server = serve();
    let thread = server.thread().await;
    server.say(&thread, "before").await;
    disk.fill();
    let path = format!("/threads/{thread}/events");
    while server.post(&path, long()).await.0 != 507 {}
    let before = server.events(&thread).await;
    server.kill();
    // Without a clean shutdown, the log is also verified on the full disk.
    let verified = home.run(&["verify", "--data", data.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", crate::harness::stderr(&verified));
    let mut server = serve();
    // Restart twice, because the first start may have used the reserved space.
    server.kill();
    server = serve();
    assert_eq!(server.events(&thread).await, before);
    while server.post(&path, long()).await.0 != 507 {}
    disk.make_room();
    assert!(comes_about(async || server.post(&path, long()).await.0 == 200).await);
    assert!(comes_about(async || data.join("startup.key").exists()).await);
    assert!(server.stop().success());
    assert!(home.run(&["verify", "--data", data.to_str().unwrap()]).status.success());
}

/// Programs in terminals cannot store reports on a full disk; once there is space, they work
/// without a restart.
#[tokio::test]
async fn terminals_that_found_a_full_disk_come_when_there_is_room() {
    if !needs::has("tmux") {
        return;
    }
    let home = Home::new();
    home.configure(
        "[agents.sitter]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"cat\"]\n",
    );
    fs::create_dir(home.data()).unwrap();
    let Some(disk) = SmallDisk::mounted(home.data().join("spool"), "64k") else { return };
    disk.fill();
    let server = home.sign().serve();
    let wanted = json!({"client": "sitter", "cwd": "/"});
    let (status, refused) = server.post("/sessions", wanted.clone()).await;
    assert_eq!(status, 502, "there is a terminal, and no room yet: {refused}");
    disk.make_room();
    let started = async || server.post("/sessions", wanted.clone()).await.0 == 200;
    assert!(comes_about(started).await);
    let sessions = server.get("/sessions").await;
    let id = sessions["sessions"][0]["id"].as_str().unwrap();
    server.accepted(&format!("/sessions/{id}/end"), json!({})).await;
    assert!(server.stop().success());
}
