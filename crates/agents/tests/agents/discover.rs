//! The agents that an environment offers: by keys in variables and by programs on the search path.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;

use moothall_agents::{AgentConfig, discover};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_kernel::participant::Runtime;

fn offered(variables: &[(&str, &str)]) -> BTreeMap<String, AgentSpec> {
    let lookup = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    discover(lookup, "http://127.0.0.1:5111")
        .into_iter()
        .map(|spec| (spec.client.clone(), spec))
        .collect()
}

#[test]
fn an_empty_environment_offers_nothing() {
    assert!(offered(&[]).is_empty());
    assert!(offered(&[("OPENAI_API_KEY", " "), ("PATH", "/nowhere:relative:")]).is_empty());
}

#[test]
fn a_key_offers_its_provider() {
    let all = offered(&[
        ("ANTHROPIC_API_KEY", "CANARY"),
        ("OPENAI_API_KEY", "CANARY"),
        ("GOOGLE_API_KEY", "CANARY"),
        ("OLLAMA_HOST", "box"),
    ]);
    assert_eq!(all.keys().collect::<Vec<_>>(), ["anthropic", "google", "ollama", "openai"]);
    for spec in all.values() {
        assert_eq!((spec.origin, spec.facts().runtime), ("discovered", Runtime::LLM));
        assert!(spec.profile.model.is_some());
        assert!(!format!("{}{:?}", spec.summary, spec.profile).contains("CANARY"));
    }
    assert!(all["google"].summary.contains("GOOGLE_API_KEY is set"));
}

#[test]
fn an_installed_program_is_offered_and_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    for (name, mode) in [("claude", 0o755), ("codex", 0o644), ("gemini", 0o755)] {
        let file = folder.path().join(name);
        std::fs::write(&file, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let all = offered(&[("PATH", &format!("/nowhere:{}", folder.path().display()))]);
    assert_eq!(all.keys().collect::<Vec<_>>(), ["claude", "gemini"]);
    assert!(
        all.values()
            .all(|spec| spec.origin == "discovered" && spec.facts().runtime == Runtime::COMMAND)
    );
    assert!(!ran.exists());
}

#[test]
fn a_configured_agent_of_that_name_wins() {
    let mut registry = Registry::default();
    offered(&[("OPENAI_API_KEY", "k")]).into_values().for_each(|spec| registry.insert(spec));
    let config: AgentConfig = toml::from_str("replies = [\"mine\"]").unwrap();
    registry.insert(config.spec("openai", "").map_err(|fault| fault.to_string()).unwrap());
    assert_eq!(registry.get("openai").map(|spec| spec.origin), Some("configured"));
}
