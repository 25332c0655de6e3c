//! Programs found on this computer: they get the login of their own user, and no other.

use serde_json::Value;

use crate::harness::{Home, Server, stderr};

/// Returns a search path with a script of this name.
fn path_with(home: &Home, name: &str, body: &str) -> String {
    let file = home.script(name, body);
    let folder = std::path::Path::new(&file).parent().unwrap().display().to_string();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}

async fn failure(server: &Server<'_>, client: &str) -> String {
    let thread = server.thread().await;
    server.invite(&thread, client, client).await;
    let asked = server.say(&thread, &format!("@{client} hello")).await;
    let failed = |event: &Value| {
        event["content"]["event"] == "ended" && event["content"]["outcome"] == "failed"
    };
    let ended = server.wait_for(&thread, asked["seq"].as_u64().unwrap(), failed).await;
    ended["content"]["fault"]["message"].as_str().unwrap_or_else(|| panic!("{ended}")).to_owned()
}

#[tokio::test]
async fn a_key_in_the_environment_reaches_its_own_program_and_no_other() {
    let home = Home::new();
    let path = path_with(
        &home,
        "claude",
        "cat >/dev/null; echo \"$ANTHROPIC_BASE_URL ${ANTHROPIC_API_KEY:+keyed} ${OPENAI_API_KEY:-without}\"",
    );
    home.configure(&format!(
        "[agents.mine]\ncommand = [\"{}\"]\n",
        home.script("mine", "cat >/dev/null; echo \"${ANTHROPIC_API_KEY:-nothing}\"")
    ));
    let keys = [
        ("ANTHROPIC_API_KEY", "sk-0123456789"),
        ("OPENAI_API_KEY", "sk-9876543210"),
        ("ANTHROPIC_BASE_URL", "http://gateway"),
    ];
    let server = home.serve_with("127.0.0.1:0", &[&keys[..], &[("PATH", &path)]].concat());
    let thread = server.thread().await;
    for (client, answer) in [("claude", "http://gateway keyed without"), ("mine", "nothing")] {
        server.invite(&thread, client, client).await;
        let asked = server.say(&thread, &format!("@{client} what do you see?")).await;
        assert_eq!(server.reply(&thread, &asked, client).await["content"], answer);
    }
}

#[tokio::test]
async fn a_program_that_is_not_logged_in_says_so_and_how() {
    let home = Home::new();
    let path = path_with(
        &home,
        "claude",
        "cat >/dev/null; echo 'Not logged in · Please run /login'; exit 1",
    );
    let server = home.serve_with("127.0.0.1:0", &[("PATH", &path)]);
    let message = failure(&server, "claude").await;
    assert!(message.contains("It said: Not logged in · Please run /login"), "{message}");
    assert!(
        message.contains("run `claude` once by hand")
            && message.contains("env = { ANTHROPIC_API_KEY"),
        "{message}"
    );
}

#[tokio::test]
async fn agents_are_switched_off_and_one_that_lacks_a_variable_keeps_nobody_down() {
    let home = Home::new();
    let path = path_with(&home, "claude", "exit 1");
    home.configure("[agents.critic]\nenabled = false\n[agents.ada]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"${NOT_SET}\"\n");
    let agents = |server: &Server<'_>| {
        let listed = server.json(&["agents"]);
        let names = listed["agents"].as_array().unwrap_or_else(|| panic!("{listed}")).iter();
        names.map(|agent| agent["client"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let server =
        home.serve_with("127.0.0.1:0", &[("PATH", &path), ("OPENAI_API_KEY", "sk-0123456789")]);
    let names = agents(&server);
    assert!(
        ["analyst", "claude", "openai"].iter().all(|name| names.contains(&(*name).to_owned())),
        "{names:?}"
    );
    assert!(["critic", "ada"].iter().all(|name| !names.contains(&(*name).to_owned())), "{names:?}");
    server.kill();
    home.configure("[agents]\ndiscover = false\n");
    let server =
        home.serve_with("127.0.0.1:0", &[("PATH", &path), ("OPENAI_API_KEY", "sk-0123456789")]);
    assert_eq!(agents(&server), ["analyst", "critic", "writer"]);
    let refused = home.configure("[agents.codex]\ncommand = \"codex exec -\"\n").run(&[
        "serve",
        "--bind",
        "127.0.0.1:0",
    ]);
    assert_eq!(refused.status.code(), Some(78));
    assert!(
        stderr(&refused).contains(r#"command = ["codex", "exec", "-"]"#),
        "{}",
        stderr(&refused)
    );
}
