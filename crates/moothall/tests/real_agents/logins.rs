//! Logins of the real programs, as `docs/agents.md` names them: a variable of the server, or a file
//! of the user. Without either, the error says so.

use std::fs;
use std::path::Path;

use moothall_testkit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use crate::harness::Home;
use crate::programs;

const KEY: &str = "sk-fake-0123456789-0123456789-0123456789";

fn write(home: &Home, file: &str, text: &str) {
    let file = home.path().join(file);
    fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).unwrap();
    fs::write(file, text).unwrap();
}

/// Creates a home without any login, in which the programs ask nothing at their start.
fn nobodys(models: &ModelServer) -> Home {
    let home = Home::new();
    write(&home, ".claude.json", &json!({"hasCompletedOnboarding": true}).to_string());
    // The provider's settings decide between the variable and the login in `auth.json`.
    codex(&home, models, "env_key = \"OPENAI_API_KEY\"");
    let gemini = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}});
    write(&home, ".gemini/settings.json", &gemini.to_string());
    home
}

fn codex(home: &Home, models: &ModelServer, login: &str) {
    let provider = format!(
        "name = \"fake\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n{login}\n",
        models.url()
    );
    let config = format!(
        "model = \"fake-large\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n[model_providers.fake]\n{provider}"
    );
    write(home, ".codex/config.toml", &config);
}

/// Returns the answer of a program, or its error.
async fn asked(
    home: &Home,
    models: &ModelServer,
    client: &str,
    variables: &[(&str, &str)],
) -> Result<String, String> {
    models.when("zebra", Reply::text("It has stripes."));
    let (path, url) = (programs::path(), models.url());
    let usual = [
        ("PATH", path.as_str()),
        ("ANTHROPIC_BASE_URL", &url),
        ("GOOGLE_GEMINI_BASE_URL", &url),
        ("DISABLE_TELEMETRY", "1"),
    ];
    let server = home.serve_with(
        "127.0.0.1:0",
        &[&usual[..], &[("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")], variables].concat(),
    );
    let thread = server.thread().await;
    server.invite(&thread, client, client).await;
    let said = server.say(&thread, &format!("@{client} what has a zebra?")).await;
    let over = |event: &Value| {
        event["content"]["event"] == "ended" && event["content"]["participant"] == client
    };
    let ended = server.wait_for(&thread, said["seq"].as_u64().unwrap(), over).await;
    if ended["content"]["outcome"] == "failed" {
        return Err(ended["content"]["fault"]["message"].as_str().unwrap_or_default().to_owned());
    }
    Ok(server.reply(&thread, &said, client).await["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

async fn by_variable_alone(client: &str, variable: &str, complaint: &str) {
    let models = ModelServer::start().await.unwrap();
    let home = nobodys(&models);
    assert_eq!(
        asked(&home, &models, client, &[(variable, KEY)]).await,
        Ok("It has stripes.".to_owned())
    );
    let models = ModelServer::start().await.unwrap();
    let without = asked(&nobodys(&models), &models, client, &[]).await.unwrap_err();
    assert!(
        without.contains("It said: ")
            && without.contains(complaint)
            && without.contains("As the server's user"),
        "{without}"
    );
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_logs_in_by_a_variable_and_says_when_there_is_none() {
    by_variable_alone("claude", "ANTHROPIC_API_KEY", "/login").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_logs_in_by_a_variable_and_says_when_there_is_none() {
    by_variable_alone("codex", "OPENAI_API_KEY", "OPENAI_API_KEY").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_logs_in_by_a_variable_and_says_when_there_is_none() {
    by_variable_alone("gemini", "GEMINI_API_KEY", "GEMINI_API_KEY").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_logs_in_by_its_file() {
    let models = ModelServer::start().await.unwrap();
    let home = nobodys(&models);
    let login = json!({"accessToken": KEY, "refreshToken": KEY, "expiresAt": 4_102_444_800_000_i64, "scopes": ["user:inference"]});
    write(&home, ".claude/.credentials.json", &json!({"claudeAiOauth": login}).to_string());
    assert_eq!(asked(&home, &models, "claude", &[]).await, Ok("It has stripes.".to_owned()));
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_logs_in_by_its_file() {
    let models = ModelServer::start().await.unwrap();
    let home = nobodys(&models);
    codex(&home, &models, "requires_openai_auth = true");
    write(&home, ".codex/auth.json", &json!({"OPENAI_API_KEY": KEY}).to_string());
    assert_eq!(asked(&home, &models, "codex", &[]).await, Ok("It has stripes.".to_owned()));
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_logs_in_by_its_file() {
    let models = ModelServer::start().await.unwrap();
    let home = nobodys(&models);
    write(&home, ".gemini/.env", &format!("GEMINI_API_KEY={KEY}\n"));
    assert_eq!(asked(&home, &models, "gemini", &[]).await, Ok("It has stripes.".to_owned()));
}
