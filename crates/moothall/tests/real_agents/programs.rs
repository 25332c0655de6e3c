//! A home folder in which the real programs ask nothing at their start, and know only the fake
//! models. They repeat a failed request once, and then report the failure.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::Home;

/// The programs' API key, which the fake models ignore.
const KEY: &str = "sk-fake-0123456789-0123456789-0123456789";

/// Returns a search path with the pinned programs first.
pub fn path() -> String {
    let folder = std::env::var("MOOTHALL_REAL_AGENTS")
        .expect("the folder of the real programs: run ./scripts/test agents");
    let system = std::env::var("PATH").unwrap_or_default();
    format!("{folder}:{system}")
}

/// Returns the path of one of the programs.
pub fn file(program: &str) -> String {
    let found = std::env::split_paths(&path())
        .map(|folder| folder.join(program))
        .find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{program} is not installed")).to_string_lossy().into_owned()
}

/// Returns the environment of a program in a terminal.
pub fn variables(home: &Home) -> BTreeMap<String, String> {
    let home = home.path().to_string_lossy().into_owned();
    [("PATH", path()), ("HOME", home), ("COLORTERM", "truecolor".to_owned())]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

/// Prepares a home for all three programs; returns their work folder.
pub fn settle(home: &Home, models: &str) -> PathBuf {
    settle_each(home, [(); 3].map(|()| models.to_owned()))
}

/// Prepares a home with a model for each program: Claude Code, Codex, Gemini CLI.
pub fn settle_each(home: &Home, models: [String; 3]) -> PathBuf {
    let work = home.path().join("work");
    fs::create_dir_all(&work).unwrap();
    let here = [home.path().to_str().unwrap(), work.to_str().unwrap()];
    claude(home.path(), &models[0], here);
    codex(home.path(), &models[1], here);
    gemini(home.path(), &models[2]);
    work
}

fn write(file: PathBuf, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn claude(home: &Path, models: &str, trusted: [&str; 2]) {
    let projects = trusted.map(|folder| {
        (
            folder.to_owned(),
            json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}),
        )
    });
    let known = json!({
        "hasCompletedOnboarding": true, "bypassPermissionsModeAccepted": true, "theme": "dark",
        "customApiKeyResponses": {"approved": [&KEY[KEY.len() - 20..]], "rejected": []},
        "projects": serde_json::Map::from_iter(projects),
    });
    write(home.join(".claude.json"), &known.to_string());
    let settings = json!({"env": {
        "ANTHROPIC_BASE_URL": models, "ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_MAX_RETRIES": "1",
    }});
    write(home.join(".claude/settings.json"), &settings.to_string());
}

fn codex(home: &Path, models: &str, trusted: [&str; 2]) {
    let projects = trusted
        .map(|folder| format!("[projects.\"{folder}\"]\ntrust_level = \"trusted\"\n"))
        .concat();
    let config = format!(
        "model = \"fake-large\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n\n\
         [model_providers.fake]\nname = \"fake\"\nbase_url = \"{models}/v1\"\nwire_api = \"responses\"\n\
         request_max_retries = 1\nstream_max_retries = 1\n\
         experimental_bearer_token = \"{KEY}\"\n\n{projects}"
    );
    write(home.join(".codex/config.toml"), &config);
}

fn gemini(home: &Path, models: &str) {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false, "maxAttempts": 2},
        "privacy": {"usageStatisticsEnabled": false}, "ui": {"hideTips": true},
    });
    write(home.join(".gemini/settings.json"), &settings.to_string());
    write(
        home.join(".gemini/.env"),
        &format!("GEMINI_API_KEY={KEY}\nGOOGLE_GEMINI_BASE_URL={models}\n"),
    );
}
