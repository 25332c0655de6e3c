//! Sessions whose programs run as another user: their abilities and limits. These tests need a
//! server that is root.

use std::cell::RefCell;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use moothall_testkit::fake_tui;
use nix::unistd::{User, geteuid};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Home, Server, stderr};
use crate::links::until;
use crate::terminal::is_possible;
use crate::users::Other;

/// The user that programs run as, and another one.
const ADA: &str = "nobody";
const BOB: &str = "daemon";

/// A home with a program folder for all users, and a work folder for each of two users.
struct World {
    home: Home,
    other: Other,
    /// Spool for reports of other users' programs.
    spool: TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .arg("-S")
            .arg(self.home.data().join("tmux/tmux.sock"))
            .arg("kill-server")
            .output();
    }
}

/// True if these tests can run; otherwise prints the reason.
fn is_root() -> bool {
    if !geteuid().is_root() {
        eprintln!(
            "skipped: only a server that is root may start programs as another user, and this test is not root's"
        );
    }
    geteuid().is_root() && is_possible()
}

fn for_all(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

impl World {
    fn new() -> Self {
        let (home, other, spool) = (Home::new(), Other::new(), tempfile::tempdir().unwrap());
        home.sign();
        fs::set_permissions(home.path(), Permissions::from_mode(0o700)).unwrap();
        for_all(spool.path());
        let world = Self { home, other, spool };
        fs::copy(std::env::current_exe().unwrap(), world.at("stand-in")).unwrap();
        for user in [ADA, BOB] {
            let account = User::from_name(user).unwrap().unwrap();
            fs::create_dir(world.work(user)).unwrap();
            chown(world.work(user), Some(account.uid.as_raw()), Some(account.gid.as_raw()))
                .unwrap();
        }
        world.look();
        world
    }

    /// Returns the path of a file that every user can reach.
    fn at(&self, name: &str) -> PathBuf {
        self.other.folder().join(name)
    }

    fn work(&self, user: &str) -> PathBuf {
        self.at(&format!("work-of-{user}"))
    }

    fn script(&self, name: &str, body: &str) -> String {
        fs::write(self.at(name), format!("#!/bin/sh\n{body}\n")).unwrap();
        for_all(&self.at(name));
        self.at(name).to_string_lossy().into_owned()
    }

    /// Writes a program that records what it can reach, and then waits.
    fn look(&self) {
        let data = self.home.data().display().to_string();
        let spools = self.spool.path().display().to_string();
        let moothall = self.other.program().display().to_string();
        let body = format!(
            "{{ id -u; id -gn; echo \"$HOME $USER ${{XDG_CONFIG_HOME:-unset}} $TMUX\"\n\
             cat {data}/startup.key; ls {data}; ls {spools}; tmux -S {data}/tmux/tmux.sock ls\n\
             echo 'MAY:'; grep -E 'Cap(Eff|Prm|Amb)|NoNewPrivs' /proc/self/status; test -w \"$(tty)\" && echo 'its terminal'\n\
             curl -s \"$MOOTHALL_URL/session\" -H \"Authorization: Bearer $MOOTHALL_SESSION_TOKEN\"; echo\n\
             {moothall} list && echo 'listed'; }} > here 2>&1; mv here seen; exec cat"
        );
        self.script("look", &body);
    }

    /// Writes a configuration with these additional sections.
    fn configure(&self, more: &str) {
        let (argv, env) = fake_tui::within("links::stands_in", &["--name", "fake", "--quiet"]);
        let variables: String =
            env.iter().map(|(name, value)| format!("{name}='{value}'\n")).collect();
        let (name, rest) = (env.keys().next().unwrap(), argv[1..].join(" "));
        let words = format!("for word; do {name}=${name}$(printf '\\037')$word; done");
        let fake = self.script(
            "fake",
            &format!(
                "{variables}{words}\nexport {name}\nexec {} {rest}",
                self.at("stand-in").display()
            ),
        );
        let look = self.at("look").display().to_string();
        self.home.configure(&format!(
            "[sessions]\nspool = \"{}\"\nrun_as = \"{ADA}\"\n\
             [agents.fake]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"{fake}\"]\n\
             [agents.ada]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"{look}\"]\ncwd = \"{}\"\n\
             [agents.bob]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"{look}\"]\nrun_as = \"{BOB}\"\ncwd = \"{}\"\n{more}",
            self.spool.path().display(),
            self.work(ADA).display(),
            self.work(BOB).display(),
        ));
    }

    fn serve(&self) -> Server<'_> {
        let data = self.home.data();
        let mut command = Command::new(self.other.program());
        command
            .args(["serve", "--json", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()])
            .current_dir(self.home.path());
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path());
        self.home.serve_by(command)
    }

    /// Returns the spool folder of a user's session.
    fn folder(&self, user: &str, session: &str) -> PathBuf {
        let server = fs::read_dir(self.spool.path()).unwrap().next().unwrap().unwrap().path();
        let uid = User::from_name(user).unwrap().unwrap().uid;
        server.join(uid.to_string()).join(session)
    }

    /// Sends a request with this credential as the unprivileged user. Returns the status.
    fn knocks(&self, server: &Server<'_>, path: &str, credential: &str) -> u16 {
        let (url, bearer) =
            (format!("{}{path}", server.url), format!("Authorization: Bearer {credential}"));
        let output = self
            .other
            .run("curl", &["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", &bearer, &url]);
        String::from_utf8_lossy(&output.stdout).parse().unwrap()
    }
}

async fn start(server: &Server<'_>, client: &str, cwd: &Path) -> Value {
    server.accepted("/sessions", json!({"client": client, "name": client, "cwd": cwd})).await
}

/// Returns the record of a program, once it is written.
async fn seen(world: &World, user: &str) -> String {
    let file = world.work(user).join("seen");
    until("it has looked", async || file.exists()).await;
    fs::read_to_string(file).unwrap()
}

/// Returns the token of a session. Waits for the program, because a session exists before its
/// program has started.
async fn token(world: &World, user: &str, session: &Value) -> String {
    // Root can read the environment of the process.
    let folder = world.folder(user, session["id"].as_str().unwrap());
    let mark = format!("MOOTHALL_SPOOL={}", folder.display());
    let own = |environment: String| {
        let pairs: Vec<&str> = environment.split('\0').collect();
        let token = pairs.iter().find_map(|pair| pair.strip_prefix("MOOTHALL_SESSION_TOKEN="));
        token.filter(|_| pairs.contains(&mark.as_str())).map(str::to_owned)
    };
    let found = RefCell::new(None);
    until("its program has a token", async || {
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let mut all =
            processes.filter_map(|process| fs::read_to_string(process.path().join("environ")).ok());
        found.replace(all.find_map(&own));
        found.borrow().is_some()
    })
    .await;
    found.into_inner().unwrap()
}

/// The names of folders are those that the program's own user may read.
#[tokio::test]
async fn folders_are_listed_as_the_user_of_the_program() {
    if !is_root() {
        return;
    }
    let world = World::new();
    world.configure("");
    let server = world.serve();
    let public = world.other.folder();
    fs::create_dir_all(public.join("shop/.git")).unwrap();
    fs::write(public.join("a file"), "").unwrap();
    let listed = async |path: &Path| {
        server.get(&format!("/folders?client=fake&path={}", path.display())).await
    };
    let found = listed(public).await;
    let shop = json!({"name": "shop", "path": public.join("shop"), "project": true});
    assert!(found["folders"].as_array().unwrap().contains(&shop), "{found}");
    for (path, why) in [
        (world.home.path().to_owned(), "its owner does not allow it"),
        (public.join("a file"), "it is a file"),
        (public.join("nothing"), "it does not exist"),
    ] {
        let refused = listed(&path).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(why), "{refused}");
    }
}

#[tokio::test]
async fn the_program_of_another_user_talks_and_reports_like_any_over_a_restart_too() {
    if !is_root() {
        return;
    }
    let world = World::new();
    world.configure("");
    let server = world.serve();
    let session = start(&server, "fake", &world.work(ADA)).await;
    let id = session["id"].as_str().unwrap();
    assert_eq!(session["run_as"], ADA);
    let asked = server.say(id, "[say:as myself]").await;
    assert_eq!(server.reply(id, &asked, "fake").await["content"], "as myself");
    let folder = world.folder(ADA, id);
    let about = fs::metadata(&folder).unwrap();
    assert_eq!((about.uid(), about.mode() & 0o777), (65534, 0o700));
    // The user controls this folder. Links, pipes and folders named like reports must not block the
    // server.
    symlink(
        world.home.data().join("startup.key"),
        folder.join("01980000-0000-7000-8000-000000000001.json"),
    )
    .unwrap();
    nix::unistd::mkfifo(
        &folder.join("01980000-0000-7000-8000-000000000002.json"),
        nix::sys::stat::Mode::S_IRWXU,
    )
    .unwrap();
    fs::create_dir(folder.join("01980000-0000-7000-8000-000000000003.json")).unwrap();
    server.kill();
    let server = world.serve();
    let asked = server.say(id, "[say:still here]").await;
    assert_eq!(server.reply(id, &asked, "fake").await["content"], "still here");
    server.accepted(&format!("/sessions/{id}/end"), json!({})).await;
    until("its folder is gone", async || !folder.exists()).await;
    assert!(world.home.data().join("startup.key").exists());
}

#[tokio::test]
async fn the_program_of_another_user_reaches_its_session_and_nothing_of_the_server() {
    if !is_root() {
        return;
    }
    let world = World::new();
    world.configure("");
    let server = world.serve();
    let ada = start(&server, "ada", &world.work(ADA)).await;
    let bob = start(&server, "bob", &world.work(BOB)).await;
    assert_eq!((&ada["run_as"], &bob["run_as"]), (&json!(ADA), &json!(BOB)));
    let saw = seen(&world, ADA).await;
    let (denied, may) = saw.split_once("MAY:\n").unwrap();
    let lines: Vec<&str> = denied.lines().collect();
    assert_eq!((lines[0], lines[1]), ("65534", "nogroup"), "{saw}");
    assert!(
        lines[2].ends_with(&format!("{ADA} unset "))
            && !lines[2].contains(world.home.path().to_str().unwrap()),
        "{saw}"
    );
    assert!(
        lines[3].ends_with("startup.key: Permission denied")
            && lines[4].contains("Permission denied"),
        "the data folder: {saw}"
    );
    assert!(
        lines[6].contains("tmux.sock") && lines[6].to_lowercase().contains("permission denied"),
        "the socket of tmux: {saw}"
    );
    assert!(may.matches("0000000000000000").count() == 3 && may.contains("its terminal"), "{saw}");
    assert!(may.contains("NoNewPrivs:\t1"), "sudo gives nothing back: {saw}");
    assert!(
        may.contains("\"id\":\"ada\"") && may.contains("\nlisted"),
        "its own token is good: {saw}"
    );

    let (own, bobs) = (token(&world, ADA, &ada).await, token(&world, BOB, &bob).await);
    assert!(seen(&world, BOB).await.starts_with("1\n"));
    // Neither another user's folder nor the list of users with sessions is readable.
    for path in [world.folder(BOB, bob["id"].as_str().unwrap()), world.folder(BOB, "")] {
        let listed = world.other.run("ls", &[path.to_str().unwrap()]);
        assert!(stderr(&listed).contains("Permission denied"), "{}", stderr(&listed));
    }
    let bell = world.folder(BOB, "bell");
    assert_eq!(
        (fs::metadata(&bell).unwrap().uid(), fs::metadata(&bell).unwrap().mode() & 0o777),
        (1, 0o600)
    );
    // The user gets in with the token of a session that runs as this user, and with nothing else.
    assert_eq!(world.knocks(&server, "/threads", &own), 200);
    for (what, credential) in
        [("another user's session", bobs.as_str()), ("made up", "ses_0123"), ("none", "")]
    {
        for path in ["/threads", "/agents", "/", "/session"] {
            assert_eq!(world.knocks(&server, path, credential), 403, "{what} {path}");
        }
    }
    // A person's token is refused as well: in local mode, the server accepts only its own user.
    let pat = server.json(&["token", "create", "ann"])["token"].as_str().unwrap().to_owned();
    assert_eq!(world.knocks(&server, "/threads", &pat), 403);
    server.accepted(&format!("/sessions/{}/end", ada["id"].as_str().unwrap()), json!({})).await;
    until("its token is worth nothing", async || world.knocks(&server, "/threads", &own) == 403)
        .await;

    let agents = server.get("/agents").await;
    let run_as = |client: &str| {
        agents["agents"].as_array().unwrap().iter().find(|agent| agent["client"] == client).unwrap()
            ["run_as"]
            .clone()
    };
    assert_eq!(
        (run_as("ada"), run_as("bob"), run_as("critic")),
        (json!(ADA), json!(BOB), Value::Null)
    );
}

#[tokio::test]
async fn a_folder_or_a_program_that_its_user_does_not_reach_is_named_before_anything_starts() {
    if !is_root() {
        return;
    }
    let world = World::new();
    let private = world.home.script("private", "exec cat");
    world.configure(&format!(
        "[agents.private]\nruntime = \"terminal\"\nscreen = \"claude\"\ncommand = [\"{private}\"]\n"
    ));
    let server = world.serve();
    for (client, cwd, expected) in [
        (
            "ada",
            world.home.path().to_owned(),
            format!("this user cannot enter {}", world.home.path().display()),
        ),
        ("private", world.work(ADA), format!("{ADA} cannot run the program {private:?}")),
    ] {
        let (status, answer) =
            server.post("/sessions", json!({"client": client, "name": client, "cwd": cwd})).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (409, &json!("session_conflict")),
            "{answer}"
        );
        assert!(answer["error"]["message"].as_str().unwrap().contains(&expected), "{answer}");
    }
    fs::set_permissions(world.other.program(), Permissions::from_mode(0o700)).unwrap();
    let (status, answer) = server.post("/sessions", json!({"client": "ada", "name": "ada"})).await;
    assert_eq!(status, 409);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("user nobody cannot run")
            && message.contains("Install it where every user may run it"),
        "{message}"
    );
}

#[test]
fn a_user_that_cannot_be_is_said_when_the_server_starts_and_when_the_configuration_is_checked() {
    if !is_root() {
        return;
    }
    let world = World::new();
    let file = world.at("moothall.toml");
    for section in [
        "[sessions]",
        "[agents.claude]\nruntime = \"terminal\"",
        "[agents.x]\ncommand = [\"true\"]",
    ] {
        for (user, why) in [("no-such-user-here", "does not exist"), ("root", "is root")] {
            fs::write(&file, format!("{section}\nrun_as = \"{user}\"\n")).unwrap();
            let name = section.lines().next().unwrap();
            for args in [&["serve", "--bind", "127.0.0.1:0"][..], &["config", "check"]] {
                let refused =
                    world.home.run(&[args, &["--config", file.to_str().unwrap()]].concat());
                let error = stderr(&refused);
                assert!(
                    refused.status.code() == Some(78)
                        && error.contains(name)
                        && error.contains(why),
                    "{args:?}: {error}"
                );
            }
        }
        fs::write(&file, format!("{section}\nrun_as = \"{BOB}\"\n")).unwrap();
        let arguments = [
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--data",
            "/tmp/never",
            "--config",
            file.to_str().unwrap(),
        ];
        let refused = world.other.run(world.other.program().to_str().unwrap(), &arguments);
        let error = stderr(&refused);
        assert!(refused.status.code() == Some(78) && error.contains("it is not root"), "{error}");
        let program = world.other.program();
        let checked = world.other.run(
            program.to_str().unwrap(),
            &["config", "check", "--config", file.to_str().unwrap()],
        );
        assert!(
            checked.status.success() && stderr(&checked).contains("it is not root"),
            "{}",
            stderr(&checked)
        );
    }
    fs::write(&file, format!("[sessions]\nrun_as = \"{ADA}\"\n[agents.claude]\nruntime = \"terminal\"\nenv = {{ LD_PRELOAD = \"/x\" }}\n"))
        .unwrap();
    let refused =
        world.home.run(&["serve", "--bind", "127.0.0.1:0", "--config", file.to_str().unwrap()]);
    assert!(
        refused.status.code() == Some(78) && stderr(&refused).contains("LD_PRELOAD"),
        "{}",
        stderr(&refused)
    );
}
