//! `moothall doctor`, as a person uses it.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::harness::{Home, stderr};
use crate::terminal::mode;
use crate::users::Other;

/// Returns the finding of a check that contains these words.
fn about<'a>(report: &'a Value, check: &str, words: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap_or_else(|| panic!("{report}"));
    let found = |finding: &&Value| {
        finding["check"] == check && finding["found"].as_str().unwrap().contains(words)
    };
    checks.iter().find(found).unwrap_or_else(|| panic!("no {check} with {words:?} in {report:#}"))
}

/// Configures a home with a `claude` that prints its version, without network access.
fn furnished(home: &Home, more: &str) -> String {
    let claude = home.script("claude", "echo '2.1.0 (Claude Code)'");
    home.configure(&format!(
        "[agents]\ndiscover = false\n[agents.claude]\nruntime = \"terminal\"\nenv = {{ ANTHROPIC_API_KEY = \"CANARY-1\" }}\n\
         [agents.ada]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"CANARY-2\"\nbase_url = \"http://127.0.0.1:1/v1\"\n{more}"
    ));
    let folder = std::path::Path::new(&claude).parent().unwrap().display().to_string();
    format!("{folder}:{}", std::env::var("PATH").unwrap())
}

fn doctor(home: &Home, path: &str, args: &[&str]) -> (Option<i32>, Value) {
    let output = home
        .command(&[&["doctor", "--json", "--bind", "127.0.0.1:0", "--data", "data"], args].concat())
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains("CANARY"), "{said}");
    (
        output.status.code(),
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}")),
    )
}

#[test]
fn it_names_programs_logins_models_and_as_whom_they_run() {
    let home = Home::new();
    let path = furnished(&home, "");
    let (code, report) = doctor(&home, &path, &[]);
    assert_eq!((code, &report["ok"]), (Some(0), &Value::Bool(true)), "{report:#}");
    assert!(
        about(&report, "agent", "claude runs")["found"]
            .as_str()
            .unwrap()
            .contains("(2.1.0 (Claude Code)), in a terminal")
    );
    assert_eq!(about(&report, "login", "claude")["found"], "claude: by ANTHROPIC_API_KEY");
    assert!(!report.to_string().contains("disableAllHooks"), "{report:#}");
    let settings = home.path().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, r#"{"disableAllHooks": true}"#).unwrap();
    let (code, report) = doctor(&home, &path, &[]);
    assert_eq!((code, &about(&report, "hooks", "claude: ")["verdict"]), (Some(0), &"warn".into()));
    std::fs::remove_file(&settings).unwrap();
    std::fs::create_dir_all(home.path().join("work/.claude")).unwrap();
    let local = home.path().join("work/.claude/settings.local.json");
    std::fs::write(&local, r#"{"disableAllHooks": true}"#).unwrap();
    let mut command =
        home.command(&["doctor", "--json", "--bind", "127.0.0.1:0", "--data", "data"]);
    command.arg("--config").arg(home.path().join("moothall.toml"));
    let output = command.env("PATH", &path).current_dir(home.path().join("work")).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("settings.local.json disables its hooks"), "{said}");
    assert_eq!(
        about(&report, "model", "ada")["found"],
        "ada: m of openai, with a key, at 127.0.0.1:1"
    );
    assert!(
        about(&report, "runs as", "claude: run as the server's own user")["fix"]
            .as_str()
            .unwrap()
            .contains("run_as")
    );
    assert_eq!(about(&report, "moothall", env!("CARGO_PKG_VERSION"))["verdict"], "ok");
    let (code, report) = doctor(&home, &path, &["--ping"]);
    assert_eq!(
        (code, &about(&report, "model", "does not answer")["verdict"]),
        (Some(1), &"fail".into())
    );
    let path = furnished(&home, "[agents.x]\ncommand = [\"sh\"]\nrun_as = \"no-such-user-here\"\n");
    let (code, report) = doctor(&home, &path, &[]);
    assert_eq!(
        (code, &about(&report, "runs as", "does not exist")["verdict"]),
        (Some(1), &"fail".into())
    );
}

#[test]
fn it_runs_no_command_of_a_folder_that_may_be_of_others() {
    let home = Home::new();
    home.configure(
        "[agents.ada]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"${cmd:touch ran}\"\n",
    );
    let bundle = home.path().join("bundle");
    for more in [&[][..], &["--bundle", bundle.to_str().unwrap()], &["--fix", "--yes"]] {
        let args = [&["doctor", "--bind", "127.0.0.1:0", "--data", "data"], more].concat();
        let said = home.run(&args);
        let report = String::from_utf8_lossy(&said.stdout);
        assert!(report.contains("ada"), "{report}{}", stderr(&said));
        assert!(!home.path().join("ran").exists(), "{args:?}");
    }
}

#[tokio::test]
async fn it_looks_at_a_running_server_and_says_when_there_is_none() {
    let home = Home::new();
    let server = home.serve();
    let asked = |url: &str| {
        home.command(&[
            "doctor",
            "--json",
            "--bind",
            "127.0.0.1:0",
            "--data",
            "other",
            "--server",
            url,
        ])
        .output()
        .unwrap()
    };
    let report: Value = serde_json::from_slice(&asked(&server.url).stdout).unwrap();
    assert!(about(&report, "server", "answers, version")["verdict"] == "ok");
    assert!(
        about(&report, "proof", "local mode")["verdict"] == "ok",
        "whoever started it is known by the start-up credential"
    );
    let url = server.url.clone();
    server.stop();
    let gone = asked(&url);
    let report: Value = serde_json::from_slice(&gone.stdout).unwrap();
    assert_eq!(gone.status.code(), Some(1));
    assert!(
        about(&report, "server", "")["fix"].as_str().unwrap().contains("moothall serve"),
        "{report:#}"
    );
}

#[test]
fn it_works_for_somebody_who_is_not_root() {
    let other = Other::new();
    let data = other.folder().join("data");
    let said = other.run(
        other.program().to_str().unwrap(),
        &["doctor", "--bind", "127.0.0.1:0", "--data", data.to_str().unwrap()],
    );
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("data folder") && text.contains("sqlite"), "{text}{}", stderr(&said));
    assert!(!text.contains("chown -R root"), "{text}");
}

#[test]
fn a_bundle_has_no_secret_and_repairs_lose_nothing() {
    let home = Home::new();
    let path = furnished(
        &home,
        "system = \"CANARY-3\"\n[agents.bob]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"${file:key}\"\n",
    );
    let state = home.path().join(".local/state/moothall");
    for folder in [&state, &home.data()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let logged = "kept\nsee #key=boot_CANARY-4\nfrom CANARY-5\nBearer CANARY-6\nby CANARY-7\n";
    let startup = home.data().join("startup.key");
    for (file, text) in [
        (&home.path().join("key"), "CANARY-5\n"),
        (&state.join("server.log"), logged),
        (&startup, "{\"key\": \"boot_CANARY-8\"}"),
    ] {
        std::fs::write(file, text).unwrap();
    }
    std::fs::set_permissions(&startup, std::fs::Permissions::from_mode(0o600)).unwrap();
    let run = |args: &[&str]| {
        let command = [&["doctor", "--data", "data", "--bind", "127.0.0.1:0"], args].concat();
        let mut command = home.command(&command);
        command.env("PATH", &path).env("MOOTHALL_TOKEN", "CANARY-7").output().unwrap()
    };
    let output = run(&["--bundle", "bundle.json"]);
    let bundle = std::fs::read_to_string(home.path().join("bundle.json"))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    assert!(!bundle.contains("CANARY"), "{bundle}");
    let read: Value = serde_json::from_str(&bundle).unwrap();
    assert_eq!(read["log"][0], "kept", "{bundle}");
    assert!(read["doctor"]["checks"].is_array() && read["program"]["version"].is_string());
    let keys = read["configuration"].as_array().unwrap();
    assert!(
        keys.iter().any(|set| set["key"] == "agents.claude.runtime" && set["value"] == "terminal")
    );
    assert_eq!(mode(&home.path().join("bundle.json")), 0o600);
    assert!(!run(&["--bundle", "bundle.json"]).status.success(), "a file is never replaced");

    std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run(&["--fix"]).status.code(), Some(2), "no person is there to ask");
    assert!(startup.exists());
    let fixed = run(&["--fix", "--yes"]);
    assert!(stderr(&fixed).contains("Repaired: chmod 700 data"), "{}", stderr(&fixed));
    let file = home.path().join("moothall.toml");
    assert_eq!(
        [mode(&home.data()), mode(&file), mode(&home.path().join("key"))],
        [0o700, 0o600, 0o600]
    );
    assert!(!startup.exists(), "no server uses it");
}
