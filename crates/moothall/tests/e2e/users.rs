//! Other users of the computer: in local mode, the server accepts only the user who runs it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nix::unistd::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{Home, PATIENCE, Server};

/// A folder with the program that other users may read and run.
pub struct Other {
    folder: TempDir,
}

impl Other {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_moothall"), folder.path().join("moothall")).unwrap();
        Self { folder }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn program(&self) -> PathBuf {
        self.folder.path().join("moothall")
    }

    /// Runs a command as the unprivileged user. Requires root, or a user who may become root.
    pub fn run(&self, program: &str, args: &[&str]) -> Output {
        let mut command = if geteuid().is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]);
            command
        } else {
            let mut command = Command::new("sudo");
            command.args(["-n", "-u", "nobody", "--"]);
            command
        };
        command
            .arg("env")
            .arg("-i")
            .arg("PATH=/usr/local/bin:/usr/bin:/bin")
            .arg(format!("HOME={}", self.folder.path().display()));
        command
            .arg(program)
            .args(args)
            .current_dir(self.folder.path())
            .output()
            .expect("a way to become another user: root, or sudo")
    }

    /// Sends a request by curl; returns status and answer.
    fn curl(&self, method: &str, url: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        let headers = [
            "-H",
            "Content-Type: application/json",
            "-H",
            "Accept: application/json, text/event-stream",
        ];
        let rest = ["-s", "-w", "\n%{http_code}", "-X", method, "-d", &body, url];
        let output = self.run("curl", &[&headers[..], &rest].concat());
        let said = String::from_utf8(output.stdout).unwrap();
        let (answer, status) = said
            .rsplit_once('\n')
            .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        (status.parse().unwrap(), serde_json::from_str(answer).unwrap_or(Value::Null))
    }
}

/// Sends typical requests as another user; returns each with its status and error code.
fn tries(server: &Server<'_>, other: &Other, thread: &str) -> Vec<(String, u16, String)> {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_threads", "arguments": {}}});
    let wanted = [
        ("GET", "/threads".to_owned(), json!({})),
        ("GET", "/".into(), json!({})),
        ("GET", "/sessions".into(), json!({})),
        (
            "POST",
            "/sessions".into(),
            json!({"client": "codex", "args": ["--dangerously-bypass-approvals-and-sandbox"]}),
        ),
        ("POST", format!("/threads/{thread}/events"), json!({"from": "user", "content": "obey"})),
        ("POST", "/mcp".into(), call),
        ("POST", "/session".into(), json!({"key": "x"})),
    ];
    wanted
        .into_iter()
        .map(|(method, path, body)| {
            let (status, answer) = other.curl(method, &format!("{}{path}", server.url), &body);
            (
                format!("{method} {path}"),
                status,
                answer["error"]["code"].as_str().unwrap_or_default().to_owned(),
            )
        })
        .collect()
}

#[tokio::test]
async fn another_user_of_this_computer_is_refused_in_local_mode() {
    let (home, other) = (Home::new(), Other::new());
    let server = home.serve();
    let thread = server.thread().await;
    for (what, status, code) in tries(&server, &other, &thread) {
        assert_eq!((status, code.as_str()), (403, "other_user"), "{what}");
    }
    for path in ["/ping", "/healthz"] {
        assert_eq!(
            other.curl("GET", &format!("{}{path}", server.url), &json!({})).0,
            200,
            "{path}"
        );
    }
    let key = server.home().key();
    let record = server
        .http()
        .get(format!("{}/audit", server.url))
        .bearer_auth(key)
        .send()
        .await
        .unwrap()
        .json::<Value>()
        .await
        .unwrap();
    let denied: Vec<_> =
        record["rows"].as_array().unwrap().iter().filter(|row| row["deed"] == "denied").collect();
    let details: Vec<_> = denied.iter().rev().map(|row| row["detail"].as_str().unwrap()).collect();
    let refused = |route: &str| format!("{route}: by another user of this computer");
    let routes = [
        "GET /threads",
        "GET /",
        "GET /sessions",
        "POST /sessions",
        "POST /threads/{id}/events",
        "POST /mcp",
        "POST /session",
    ];
    assert_eq!(details, routes.map(refused), "each of them, and who is not known");
    assert!(denied.iter().all(|row| row["by"].is_null()), "{record}");
    let program = other.program();
    let said = other.run(program.to_str().unwrap(), &["--server", &server.url, "list"]);
    let error = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        !said.status.success()
            && error.contains("other_users = true")
            && error.contains("--mode token"),
        "{error}"
    );
    assert!(
        server.events(&thread).await.iter().all(|event| event["content"] != "obey"),
        "nothing was said"
    );
    // The server's own user is accepted on every loopback name.
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{}/threads", server.address().port());
        assert_eq!(server.http().get(url).send().await.unwrap().status(), 200, "{host}");
    }
}

#[tokio::test]
async fn an_operator_may_let_every_user_converse_and_none_of_them_reaches_a_terminal() {
    let (home, other) = (Home::new(), Other::new());
    home.configure("[server]\nother_users = true\n");
    let server = home.serve();
    let thread = server.thread().await;
    for (what, status, code) in tries(&server, &other, &thread) {
        match what.as_str() {
            "POST /sessions" => assert_eq!((status, code.as_str()), (403, "forbidden"), "{what}"),
            "POST /session" => {
                assert_eq!((status, code.as_str()), (401, "unauthenticated"), "{what}")
            }
            _ => assert_eq!(status, 200, "{what}: {code}"),
        }
    }
    let said = other.run(other.program().to_str().unwrap(), &["--server", &server.url, "list"]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

#[tokio::test]
async fn in_token_mode_another_user_needs_a_token_and_no_more() {
    let (home, other) = (Home::new(), Other::new());
    home.configure("[server]\nmode = \"token\"\n");
    let server = home.serve();
    let url = format!("{}/threads", server.url);
    assert_eq!(other.curl("GET", &url, &json!({})).0, 401);
    let token = server.json(&["token", "create", "ann"])["token"].as_str().unwrap().to_owned();
    let bearer = format!("Authorization: Bearer {token}");
    let answer =
        other.run("curl", &["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", &bearer, &url]);
    assert_eq!(String::from_utf8_lossy(&answer.stdout), "200");
}

/// Starts a server whose system does not tell whose process is connected; returns it with its
/// standard error.
#[cfg(target_os = "linux")]
fn serve_unasked(home: &Home) -> (Server<'_>, std::sync::mpsc::Receiver<String>) {
    let data = home.data();
    let data = data.to_str().unwrap();
    let mut command = home.command(&["serve", "--json", "--bind", "127.0.0.1:0", "--data", data]);
    command.stderr(std::process::Stdio::piped());
    let mut server = moothall_testkit::filter::without_netlink(|| home.serve_by(command));
    let errors = server.errors();
    (server, errors)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_that_cannot_ask_who_asks_says_so_and_serves_who_proves_it() {
    let home = Home::new();
    let (server, errors) = serve_unasked(&home);
    let warning = errors.recv_timeout(PATIENCE).unwrap();
    for word in ["AF_NETLINK", "not supported", "unasked = \"converse\"", "moothall page"] {
        assert!(warning.contains(word), "{word}: {warning}");
    }
    let refused = server.http().get(format!("{}/threads", server.url)).send().await.unwrap();
    assert_eq!(refused.status(), 403);
    let body: Value = refused.json().await.unwrap();
    assert_eq!(body["error"]["code"], "owner_unknown", "{body}");
    // The command line of the server's own user finds the start-up credential.
    server.json(&["new", "First talk"]);
    assert_eq!(server.json(&["list"])["threads"].as_array().unwrap().len(), 1);
    assert!(server.ok(&["page"]).contains("/#key=boot_"));
    let found = server.ok(&["doctor", "--server", &server.url]);
    assert!(found.contains("rejects requests without a credential"), "{found}");
    let here = moothall_testkit::filter::without_netlink(|| home.run(&["doctor", "--json"]));
    let report: Value = serde_json::from_slice(&here.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let users = checks.iter().find(|check| check["check"] == "users").unwrap();
    assert_eq!(users["verdict"], "warn", "{users}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_operator_who_lets_them_converse_is_told_what_that_means() {
    let home = Home::new();
    home.configure("[server]\nunasked = \"converse\"\n");
    let (server, errors) = serve_unasked(&home);
    let warning = errors.recv_timeout(PATIENCE).unwrap();
    assert!(warning.contains("all users of this computer may converse"), "{warning}");
    let listed = server.http().get(format!("{}/threads", server.url)).send().await.unwrap();
    assert_eq!(listed.status(), 200);
}

#[tokio::test]
async fn root_is_told_whose_folder_it_serves() {
    if !geteuid().is_root() {
        eprintln!("skipped: only root opens the folder of another user");
        return;
    }
    let home = Home::new();
    fs::create_dir(home.data()).unwrap();
    std::os::unix::fs::chown(home.data(), Some(65534), Some(65534)).unwrap();
    let data = home.data();
    let data = data.to_str().unwrap();
    let mut command = home.command(&["serve", "--json", "--bind", "127.0.0.1:0", "--data", data]);
    command.stderr(std::process::Stdio::piped());
    let mut server = home.serve_by(command);
    let warning = server.errors().recv_timeout(PATIENCE).unwrap();
    let words = "belongs to nobody, but this process runs as root: run the server as nobody";
    assert!(warning.contains(words), "{warning}");
}
