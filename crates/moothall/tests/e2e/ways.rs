//! Access: every command, with the credential of each role, under every kind of address.
//!
//! The commands are those of the reference, which another test compares with the program. Each has
//! a row here with its arguments and its expected result; a command without a row fails.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::harness::{Home, Server, stderr};
use crate::terminal::{Terminal, is_possible};

/// Result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    /// The command succeeds.
    Well,
    /// The credential lacks a right, which the error names.
    Denied,
    /// The right suffices, but the object does not exist.
    Absent,
    /// The command succeeds without an answer: an agent's message triggers no turn there.
    Unanswered,
    /// Either of the two: some commands look for the object first.
    Refused,
}

use Comes::{Absent, Denied, Refused, Unanswered, Well};

/// A command, its arguments, and its results for the operator, a person and an agent. `T` stands
/// for a conversation, `C` for an invitation's code, `G` for a name.
struct Row(&'static str, &'static [&'static str], [Comes; 3]);

const ROWS: &[Row] = &[
    Row("new", &["new", "Another", "--empty"], [Well, Well, Well]),
    Row("list", &["list"], [Well, Well, Well]),
    Row("say", &["say", "T", "@critic is this a plan?", "--wait"], [Well, Well, Unanswered]),
    Row("tail", &["tail", "T", "--no-follow"], [Well, Well, Well]),
    Row("chat", &["chat", "T", "--plain"], [Well, Well, Well]),
    Row("invite", &["invite", "T", "helper", "--client", "outside"], [Well, Well, Denied]),
    Row("uninvite", &["uninvite", "T", "helper"], [Well, Well, Denied]),
    Row("agents", &["agents"], [Well, Well, Well]),
    Row("agents registered", &["agents", "registered"], [Well, Denied, Denied]),
    Row("agents revoke", &["agents", "revoke", "nosuch"], [Absent, Denied, Denied]),
    Row("agents free", &["agents", "free", "nosuch"], [Absent, Denied, Denied]),
    Row("apps list", &["apps", "list"], [Well, Denied, Denied]),
    Row("task new", &["task", "new", "Plan", "--with", "nobody"], [Absent, Denied, Denied]),
    Row("apps transfer", &["apps", "transfer", "nosuch", "nobody"], [Absent, Denied, Denied]),
    Row("apps free", &["apps", "free", "nosuch"], [Absent, Denied, Denied]),
    Row("computers list", &["computers", "list"], [Well, Well, Well]),
    Row("computers invite", &["computers", "invite"], [Refused, Denied, Denied]),
    Row("computers join", &["computers", "join", "no"], [Refused, Denied, Denied]),
    Row("computers resume", &["computers", "resume"], [Well, Denied, Denied]),
    Row("computers forget", &["computers", "forget", "no", "--yes"], [Well, Denied, Denied]),
    Row("channels list", &["channels", "list"], [Well, Well, Well]),
    Row("channels add", ADD_BOT, [Absent, Denied, Denied]),
    Row("channels offer", &["channels", "offer", "telegram", "no"], [Absent, Denied, Denied]),
    Row("channels remove", &["channels", "remove", "telegram", "no"], [Well, Denied, Denied]),
    Row("channels resume", &["channels", "resume"], [Well, Denied, Denied]),
    Row("channels pair", &["channels", "pair", "telegram"], [Well, Well, Refused]),
    Row("channels pairings", &["channels", "pairings"], [Well, Well, Well]),
    Row("channels unpair", &["channels", "unpair", "telegram:1"], [Absent, Absent, Absent]),
    Row("channels bind", &["channels", "bind", "T", "telegram:-1"], [Refused, Denied, Denied]),
    Row("channels unbind", &["channels", "unbind", "T", "telegram:-1"], [Refused, Denied, Denied]),
    Row("why", &["why", "T"], [Well, Well, Well]),
    Row("usage", &["usage", "--by", "agent"], [Well, Well, Well]),
    Row("budget", &["budget", "--conversation", "T"], [Well, Well, Well]),
    Row("budget raise", &["budget", "raise", "--turns", "1"], [Well, Denied, Denied]),
    Row("guards", &["guards"], [Well, Well, Well]),
    Row("command", &["command", "T", "/group", "list"], [Well, Well, Well]),
    Row("ask", &["ask", "T", "critic", "--", "Is it?"], [Well, Well, Denied]),
    Row("pause", &["pause", "T"], [Well, Well, Denied]),
    Row("continue", &["continue", "T"], [Well, Well, Denied]),
    Row("mute", &["mute", "T", "critic"], [Well, Well, Denied]),
    Row("unmute", &["unmute", "T", "critic"], [Well, Well, Denied]),
    Row("policy", &["policy", "T", "hybrid"], [Well, Well, Denied]),
    Row("group", &["group", "T", "list"], [Well, Well, Well]),
    Row("rename", &["rename", "T", "Another", "plan"], [Well, Well, Denied]),
    Row("archive", &["archive", "T"], [Well, Denied, Denied]),
    Row("unarchive", &["unarchive", "T"], [Well, Denied, Denied]),
    Row("stop", &["stop", "T"], [Well, Well, Denied]),
    Row("search", &["search", "plan"], [Well, Well, Well]),
    Row("export", &["export", "T"], [Well, Well, Well]),
    Row("redact", &["redact", "T", "999"], [Absent, Absent, Absent]),
    Row("delete", &["delete", "01a2b3c4-0000-7000-8000-000000000000"], [Absent, Denied, Denied]),
    Row("token create", &["token", "create", "bea"], [Well, Denied, Denied]),
    Row("token list", &["token", "list"], [Well, Denied, Denied]),
    Row("token revoke", &["token", "revoke", "0123456789abcdef"], [Absent, Denied, Denied]),
    Row("invitation create", &["invitation", "create", "T", "--for", "G"], [Well, Well, Denied]),
    Row("invitation list", &["invitation", "list"], [Well, Denied, Denied]),
    Row(
        "invitation revoke",
        &["invitation", "revoke", "0123456789abcdef"],
        [Absent, Denied, Denied],
    ),
    Row("join", &["join", "C"], [Well, Well, Well]),
    Row("page", &["page"], [Well, Well, Well]),
    Row("run", &["run", "nosuch", "--detach"], [Absent, Refused, Refused]),
    Row("sessions", &["sessions"], [Well, Well, Well]),
    Row("attach", &["attach", "nobody"], [Absent, Refused, Refused]),
    Row("send", &["send", "nobody", "hello"], [Absent, Refused, Refused]),
    Row("interrupt", &["interrupt", "nobody"], [Absent, Refused, Refused]),
    Row("end", &["end", "nobody"], [Absent, Refused, Refused]),
    Row("resume", &["resume", "nobody"], [Absent, Refused, Refused]),
    Row("link", &["link", "nobody", "nothing"], [Absent, Refused, Refused]),
    Row("link list", &["link", "list"], [Well, Well, Well]),
    Row("link close", &["link", "close", "0198c0de"], [Absent, Refused, Refused]),
    // An agent cannot add a person unknown to the server.
    Row("gather start", GATHER, [Well, Well, Denied]),
    Row("gather list", &["gather", "list"], [Well, Well, Well]),
    Row("gather show", &["gather", "show", "T"], [Absent, Absent, Absent]),
    Row("gather pass", &["gather", "pass", "T"], [Absent, Absent, Absent]),
    Row("gather end", &["gather", "end", "T"], [Absent, Absent, Denied]),
    Row("permit", &["permit", "T"], [Well, Well, Well]),
    Row("mcp", &["mcp"], [Well, Well, Well]),
];

/// A token has to come from a file, and this one is not a token.
const ADD_BOT: &[&str] =
    &["channels", "add", "telegram", "nosuch", "--bot-token-file", "/proc/version"];

const GATHER: &[&str] = &[
    "gather",
    "start",
    "--person=Mo",
    "--person=Bob=bob",
    "--agent=Hal=critic",
    "--harvester=Hal",
];

/// Commands that use no server, or only read local files.
const LOCAL: &[&str] = &[
    "serve",
    "stop-server",
    "verify",
    "audit head",
    "audit verify",
    "backup",
    "doctor",
    "hook",
    "mcp install",
    "mcp uninstall",
    "completions",
    "complete",
    "man",
    "help",
    "init",
];
const LOCAL_GROUPS: &[&str] = &["config", "matrix", "pane"];

/// Returns every command with an action of its own, from the reference.
fn commands() -> BTreeSet<String> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    let text = std::fs::read_to_string(file).unwrap();
    let titles =
        text.lines().filter_map(|line| line.strip_prefix("## `moothall ")?.strip_suffix('`'));
    let all: BTreeSet<String> = titles.map(str::to_owned).collect();
    // A group has no action of its own, except for those listed.
    let group = |name: &String| all.iter().any(|other| other.starts_with(&format!("{name} ")));
    all.iter()
        .filter(|name| {
            !group(name) || matches!(name.as_str(), "agents" | "link" | "mcp" | "budget")
        })
        .cloned()
        .collect()
}

#[test]
fn every_command_has_a_row() {
    let known: BTreeSet<&str> = ROWS.iter().map(|row| row.0).chain(LOCAL.iter().copied()).collect();
    let group =
        |name: &str| LOCAL_GROUPS.iter().any(|group| name.starts_with(&format!("{group} ")));
    let missing: Vec<String> = commands()
        .into_iter()
        .filter(|name| !known.contains(name.as_str()) && !group(name))
        .collect();
    assert!(missing.is_empty(), "without a row in {}: {missing:?}", file!());
    let all = commands();
    assert!(ROWS.iter().all(|row| all.contains(row.0)), "a row about no command");
}

/// Role of the caller.
#[derive(Clone, Copy)]
enum Role {
    Operator,
    Person,
    Agent,
}

/// A way to reach the server: its address, and further options of the client.
struct Way<'a> {
    name: &'a str,
    url: String,
    cacert: Option<PathBuf>,
}

/// A server in token mode, a conversation, and a token for each role.
struct Stage<'a> {
    server: Server<'a>,
    tokens: [Option<String>; 3],
}

impl<'a> Stage<'a> {
    fn open(home: &'a Home, more: &[&str], config: &str) -> Self {
        home.configure(config);
        let data = home.data();
        let usual = [
            "serve",
            "--json",
            "--mode",
            "token",
            "--bind",
            "0.0.0.0:0",
            "--data",
            data.to_str().unwrap(),
        ];
        let server = home.serve_by(home.command(&[&usual, more].concat()));
        let token = |args: &[&str]| server.json(args)["token"].as_str().unwrap().to_owned();
        let tokens = [
            None,
            Some(token(&["token", "create", "ann"])),
            Some(token(&["token", "create", "bot", "--agent"])),
        ];
        Self { server, tokens }
    }

    /// Plays every row for each role in one way. Each role has its own conversation, so that none
    /// waits for another.
    fn play(&self, way: &Way<'_>, everybody: &[Role]) {
        for who in everybody {
            let thread = self
                .server
                .ok(&["new", &format!("Plan of {}", way.name), "--with", "critic"])
                .trim()
                .to_owned();
            self.server.ok(&["invite", &thread, "ann", "--client", "human"]);
            self.server.ok(&["invite", &thread, "bot", "--client", "remote"]);
            let made = self.server.json(&["invitation", "create", &thread, "--for", "guest"]);
            for row in ROWS {
                let output = self.run(way, *who, row.1, &thread, made["code"].as_str().unwrap());
                judge(row, *who, way, &output);
            }
        }
    }

    fn run(&self, way: &Way<'_>, who: Role, args: &[&str], thread: &str, code: &str) -> Output {
        let put = |word: &&str| match *word {
            "T" => thread.to_owned(),
            "C" => code.to_owned(),
            // A name that the server does not know yet.
            "G" => format!("guest-{}", &thread[24..]),
            word => word.to_owned(),
        };
        let args: Vec<String> = args.iter().map(put).collect();
        let mut command =
            self.server.home().command(&args.iter().map(String::as_str).collect::<Vec<_>>());
        command
            .env("MOOTHALL_SERVER", &way.url)
            .envs(way.cacert.iter().map(|file| ("MOOTHALL_CACERT", file)));
        command.envs(self.tokens[who as usize].iter().map(|token| ("MOOTHALL_TOKEN", token)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said: &[u8] = match args[0].as_str() {
            "chat" => b"hello\n",
            "mcp" => b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
            _ => b"",
        };
        // A command that does not read its input may have ended already.
        let _ = child.stdin.take().unwrap().write_all(said);
        child.wait_with_output().unwrap()
    }
}

fn judge(row: &Row, who: Role, way: &Way<'_>, output: &Output) {
    let (code, errors) = (output.status.code(), stderr(output));
    let at = || {
        format!(
            "{} as {} by {}: {code:?} {errors} {}",
            row.0,
            who as usize,
            way.name,
            String::from_utf8_lossy(&output.stdout)
        )
    };
    assert!(!errors.contains("cannot act as"), "{}", at());
    let is_told = errors.contains("scope") || errors.contains("humans_only");
    let denied = code == Some(77) && is_told;
    let absent = code == Some(1) && errors.starts_with("error: ");
    match row.2[who as usize] {
        Well => assert_eq!(code, Some(0), "{}", at()),
        Denied => assert!(denied, "{}", at()),
        Absent => assert!(absent, "{}", at()),
        Unanswered => assert_eq!(code, Some(3), "{}", at()),
        Refused => assert!(denied || absent, "{}", at()),
    }
}

#[test]
fn every_command_works_without_tls_here_and_under_an_address_of_the_network() {
    let home = Home::new();
    let stage = Stage::open(&home, &[], "");
    let port = stage.server.address().port();
    let here = Way { name: "here", url: stage.server.url.clone(), cacert: None };
    let first: Value = stage.server.first.clone();
    let others: Vec<&str> =
        first["others"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let lan = others.iter().find(|url| !url.contains('[')).map(|url| Way {
        name: "lan",
        url: (*url).to_owned(),
        cacert: None,
    });
    assert_eq!(here.url, format!("http://127.0.0.1:{port}"), "what is printed can be used");
    let everybody = [Role::Operator, Role::Person, Role::Agent];
    stage.play(&here, &everybody);
    lan.iter().for_each(|lan| stage.play(lan, &everybody));
}

/// A certificate for this computer, and its files.
struct Certificate {
    cert: PathBuf,
    key: PathBuf,
}

fn certify(home: &Home) -> Certificate {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let files =
        Certificate { cert: home.path().join("cert.pem"), key: home.path().join("key.pem") };
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_works_over_tls_and_behind_a_proxy_with_tls() {
    let home = Home::new();
    let files = certify(&home);
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxied = proxy.local_addr().unwrap().port();
    let more =
        ["--tls-cert", files.cert.to_str().unwrap(), "--tls-key", files.key.to_str().unwrap()];
    let stage = Stage::open(
        &home,
        &more,
        &format!("[server]\nallowed_hosts = [\"localhost:{proxied}\"]\n"),
    );
    let behind = stage.server.address().port();
    let listening = stage.server.first["listening"].as_str().unwrap();
    assert_eq!(listening, format!("https://127.0.0.1:{behind}"));
    tokio::spawn(pass_on(proxy, acceptor(&files), behind));
    let cacert = Some(files.cert.clone());
    let direct =
        Way { name: "tls", url: format!("https://localhost:{behind}"), cacert: cacert.clone() };
    let proxied = Way { name: "proxy", url: format!("https://localhost:{proxied}"), cacert };
    tokio::task::block_in_place(|| {
        stage.play(&direct, &[Role::Operator, Role::Person, Role::Agent]);
        stage.play(&proxied, &[Role::Person, Role::Agent]);
    });
    // Without trust in the certificate, no data is sent. A joined client keeps the certificates
    // that it trusted then.
    let refused = Home::new().command(&["list", "--server", &direct.url]).output().unwrap();
    assert_eq!(refused.status.code(), Some(69), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--cacert"), "{}", stderr(&refused));
}

fn acceptor(files: &Certificate) -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(&files.cert).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(&files.key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap()))
}

/// Runs a proxy that terminates TLS and forwards all bytes unchanged.
async fn pass_on(listener: TcpListener, acceptor: TlsAcceptor, behind: u16) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let Ok(mut front) = acceptor.accept(stream).await else { return };
            let Ok(mut back) = TcpStream::connect(("127.0.0.1", behind)).await else { return };
            // Either side may close first.
            let _ = tokio::io::copy_bidirectional(&mut front, &mut back).await;
        });
    }
}

#[test]
fn an_invitation_becomes_a_profile_of_ones_own_and_works_once() {
    let home = Home::new();
    let stage = Stage::open(&home, &[], "");
    let thread = stage.server.ok(&["new", "Plan", "--empty"]).trim().to_owned();
    stage.server.ok(&["new", "Secret", "--empty"]);
    let url = stage.server.url.clone();
    let link = stage.server.json(&["invitation", "create", "Plan", "--for", "cleo", "--url", &url])
        ["link"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(link.starts_with(&format!("{url}/#join=inv_")), "{link}");
    // A fresh home folder stands for another computer.
    let elsewhere = Home::new();
    let joined = elsewhere.run(&["join", &link, "--profile", "hall", "--json"]);
    assert!(joined.status.success(), "{}", stderr(&joined));
    let joined: Value = serde_json::from_slice(&joined.stdout).unwrap();
    assert_eq!(
        (joined["principal"].as_str(), joined["profile"].as_str()),
        (Some("cleo"), Some("hall"))
    );
    assert!(!joined.to_string().contains("pat_"), "{joined}");
    let said = elsewhere.run(&["say", "Plan", "I am in", "--profile", "hall", "--json"]);
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(
        (said["event"]["from"].as_str(), said["event"]["thread"].as_str()),
        (Some("cleo"), Some(thread.as_str()))
    );
    let by_address = elsewhere.command(&["list"]).env("MOOTHALL_SERVER", &url).output().unwrap();
    let seen = String::from_utf8(by_address.stdout).unwrap();
    assert!(seen.contains("Plan") && !seen.contains("Secret"), "{seen}");
    let again = elsewhere.run(&["join", &link]);
    assert_eq!(again.status.code(), Some(77));
    assert!(stderr(&again).contains("used or expired"), "{}", stderr(&again));

    // Without a conversation the link leads into the whole hall, until it is revoked.
    let hall = ["dora", "eve"]
        .map(|name| stage.server.json(&["invitation", "create", "--for", name, "--url", &url]));
    let open = stage.server.ok(&["invitation", "list"]);
    assert!(open.contains("dora") && open.contains("eve") && !open.contains("cleo"), "{open}");
    stage.server.ok(&["invitation", "revoke", hall[1]["id"].as_str().unwrap()]);
    let revoked = elsewhere.run(&["join", hall[1]["link"].as_str().unwrap()]);
    assert_eq!(revoked.status.code(), Some(77), "{}", stderr(&revoked));
    let link = hall[0]["link"].as_str().unwrap();
    let joined = elsewhere.run(&["join", link, "--profile", "whole"]);
    assert!(joined.status.success(), "{}", stderr(&joined));
    let seen = elsewhere.run(&["list", "--profile", "whole"]);
    assert!(String::from_utf8_lossy(&seen.stdout).contains("Secret"), "{}", stderr(&seen));
    assert_eq!(stage.server.ok(&["invitation", "list"]), "");
}

#[test]
fn the_operator_of_a_server_of_another_home_names_its_data_folder() {
    let home = Home::new();
    let stage = Stage::open(&home, &[], "");
    let elsewhere = Home::new();
    let (data, key) = (home.data(), home.data().join("startup.key"));
    let refused = elsewhere.run(&["token", "list", "--server", &stage.server.url]);
    assert_eq!(refused.status.code(), Some(77));
    assert!(stderr(&refused).contains("--data DIR"), "{}", stderr(&refused));
    let made = elsewhere.run(&["token", "create", "dora", "--data", data.to_str().unwrap()]);
    assert!(made.status.success() && made.stdout.starts_with(b"pat_"), "{}", stderr(&made));
    let listed = elsewhere.run(&["token", "list", "--token-file", key.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("dora"), "{}", stderr(&listed));
    let page = elsewhere.run(&["page", "--data", data.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&page.stdout).contains("/#key=boot_"), "{}", stderr(&page));
    stage.server.stop();
    let late = elsewhere.run(&["token", "list", "--data", data.to_str().unwrap()]);
    assert_eq!(late.status.code(), Some(77));
    assert!(stderr(&late).contains("start the server"), "{}", stderr(&late));
}

#[test]
fn what_a_server_prints_into_a_log_holds_no_key() {
    let home = Home::new();
    for more in [&["--json"][..], &[], &["--log", "json"]] {
        let data = home.data();
        let args =
            [&["serve", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()][..], more]
                .concat();
        let mut child =
            home.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut said = String::new();
        while !said.contains("startup.key") {
            said.push_str(&lines.next().expect("where the key is, and it is not said"));
        }
        let key: Value =
            serde_json::from_slice(&std::fs::read(data.join("startup.key")).unwrap()).unwrap();
        nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(child.id().try_into().unwrap()),
            nix::sys::signal::Signal::SIGTERM,
        )
        .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(!said.contains("boot_") && !lines.any(|line| line.contains("boot_")), "{more:?}");
        assert!(!stderr(&output).contains(key["key"].as_str().unwrap()), "{more:?}");
    }
}

#[test]
fn names_of_profiles_are_known() {
    let home = Home::new();
    let none = home.run(&["list", "--profile", "hall"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("moothall join"), "{}", stderr(&none));
}

#[test]
fn a_terminal_is_shown_the_key() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = home.serve();
    let terminal = Terminal::start(&server, "serve --bind 127.0.0.1:0 --data other", 120, 30);
    terminal.see("/#key=boot_");
}
