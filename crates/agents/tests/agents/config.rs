//! The section `[agents.<client>]`.

use std::path::Path;

use moothall_agents::terminal::Vendor;
use moothall_agents::{AgentConfig, ConfigFault};
use moothall_engine::registry::AgentSpec;
use moothall_kernel::participant::{OnLost, Runtime};
use moothall_kernel::time::Millis;

fn read(section: &str) -> AgentConfig {
    toml::from_str(section).unwrap()
}

fn spec(section: &str) -> AgentSpec {
    read(section).spec("codex", "http://127.0.0.1:5111").map_err(|fault| fault.to_string()).unwrap()
}

fn fault(section: &str) -> ConfigFault {
    read(section).spec("codex", "http://127.0.0.1:5111").err().expect(section)
}

#[test]
fn a_command_is_known_by_its_argv() {
    let spec = spec(
        r#"
        command = ["codex", "exec", "{prompt}"]
        cwd = "/tmp"
        env = { MODE = "quiet" }
        stdin = "prompt"
        timeout = 90
        on_lost = "fail"
        model = "gpt"
        [profile]
        roles = ["coding"]
        nickname = " Cody "
        "#,
    );
    assert_eq!((spec.client.as_str(), spec.origin), ("codex", "configured"));
    assert_eq!(spec.summary, "Runs codex for each turn.");
    let facts = spec.facts();
    assert_eq!(
        (facts.runtime, facts.timeout, facts.on_lost),
        (Runtime::COMMAND, Some(Millis(90_000)), OnLost::Fail)
    );
    assert_eq!(spec.profile.client.as_deref(), Some("codex"));
    assert_eq!(spec.profile.model.as_deref(), Some("gpt"));
    assert_eq!(spec.profile.nickname.as_deref(), Some("Cody"));
    assert_eq!(spec.profile.roles(), ["coding"]);
}

#[test]
fn a_script_is_known_by_its_replies() {
    let spec = spec(r#"replies = ["Hello {name}", { text = "[PASS]", delay_ms = 20 }]"#);
    assert_eq!(spec.facts().runtime, Runtime::SCRIPT);
    assert_eq!(spec.profile.model.as_deref(), Some("script"), "an invite always has a model");
}

#[test]
fn a_model_is_known_by_its_provider() {
    let spec = spec("provider = \"ollama\"\nmodel = \"llama3.2\"\ntimeout = 90");
    assert_eq!((spec.facts().runtime, spec.facts().timeout), (Runtime::LLM, Some(Millis(90_000))));
    assert_eq!(spec.profile.model.as_deref(), Some("llama3.2"));
    assert_eq!(spec.summary, "Asks the model llama3.2 (ollama) for each turn.");
    let llm = read(
        "provider = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\nprofile = { model = \"m\" }",
    )
    .llm_spec()
    .unwrap();
    assert_eq!(
        (llm.model.as_str(), llm.base_url.as_deref(), llm.context_tokens),
        ("m", Some("http://127.0.0.1:1/v1/"), 24_000)
    );
}

#[test]
fn what_makes_no_sense_is_refused_by_its_key() {
    for (key, section) in [
        ("runtime", ""),
        ("provider", r#"runtime = "llm""#),
        ("provider", "runtime = \"llm\"\nmodel = \"m\"\napi_key = \"k\""),
        ("provider", "command = [\"x\"]\nprovider = \"openai\""),
        ("model", "provider = \"openai\"\napi_key = \"k\""),
        ("model", "provider = \"openai\"\napi_key = \"k\"\nmodel = \"a::b\""),
        ("api_key", "provider = \"openai\"\nmodel = \"m\""),
        ("api_key", "provider = \"gemini\"\nmodel = \"m\"\napi_key = \" \""),
        ("api_key", "provider = \"gemini\"\nmodel = \"m\"\napi_key = \"k\\n\""),
        ("base_url", "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"localhost:1\""),
        ("max_tokens", "provider = \"ollama\"\nmodel = \"m\"\nmax_tokens = 0"),
        ("temperature", "provider = \"ollama\"\nmodel = \"m\"\ntemperature = 2.5"),
        ("context_tokens", "provider = \"ollama\"\nmodel = \"m\"\ncontext_tokens = 0"),
        ("price_input", "provider = \"ollama\"\nmodel = \"m\"\nprice_input = -1.0"),
        ("price_output", "provider = \"ollama\"\nmodel = \"m\"\nprice_output = nan"),
        ("timeout", "provider = \"ollama\"\nmodel = \"m\"\ntimeout = 0"),
        ("on_lost", "provider = \"ollama\"\nmodel = \"m\"\non_lost = \"fail\""),
        ("price_input", "replies = [\"y\"]\nprice_input = 1.0"),
        ("runtime", r#"runtime = "remote""#),
        ("command", r#"runtime = "command""#),
        ("command", "command = []"),
        ("command", r#"command = [" "]"#),
        ("command", "runtime = \"script\"\ncommand = [\"x\"]\nreplies = [\"y\"]"),
        ("replies", "command = [\"x\"]\nreplies = [\"y\"]"),
        ("replies", r#"runtime = "script""#),
        ("replies", "replies = []"),
        ("cwd", "replies = [\"y\"]\ncwd = \"/\""),
        ("env", "replies = [\"y\"]\nenv = { A = \"b\" }"),
        ("env", "command = [\"x\"]\nenv = { \"A=B\" = \"c\" }"),
        ("env", "command = [\"x\"]\nenv = { MOOTHALL_TOKEN = \"c\" }"),
        ("stdin", "replies = [\"y\"]\nstdin = \"json\""),
        ("api_key", "command = [\"x\"]\napi_key = \"k\""),
        ("system", "command = [\"x\"]\nsystem = \"s\""),
        ("on_lost", "replies = [\"y\"]\non_lost = \"fail\""),
        ("timeout", "command = [\"x\"]\ntimeout = 0"),
        ("timeout", "command = [\"x\"]\ntimeout = -1.5"),
        ("timeout", "command = [\"x\"]\ntimeout = nan"),
        ("model", "command = [\"x\"]\nmodel = \"a\"\nprofile = { model = \"b\" }"),
        ("profile", "command = [\"x\"]\nprofile = { nickname = \"everyone\" }"),
    ] {
        assert_eq!(fault(section).key, key, "{section}");
    }
}

#[test]
fn unknown_keys_and_values_do_not_parse() {
    for section in [
        "comand = [\"x\"]",
        "command = \"x\"",
        "runtime = \"magic\"",
        "on_lost = \"retry\"",
        "stdin = \"xml\"",
        "profile = { nick = \"x\" }",
        "provider = \"acme\"",
        "max_tokens = -1",
        "replies = [{ text = \"x\", delay = 1 }]",
    ] {
        assert!(toml::from_str::<AgentConfig>(section).is_err(), "{section}");
    }
}

#[test]
fn printing_a_section_shows_no_secret() {
    let section = read(
        "command = [\"x\", \"--key=CANARY\"]\nenv = { KEY = \"CANARY\" }\napi_key = \"CANARY\"\nbase_url = \"http://u:CANARY@h\"",
    );
    assert!(!format!("{section:?}").contains("CANARY"));
    let model = read("provider = \"openai\"\nmodel = \"m\"\napi_key = \"CANARY\"\nbase_url = \"http://h/?key=CANARY\"").llm_spec().unwrap();
    assert!(!format!("{model:?}").contains("CANARY"));
    let mut program = moothall_agents::command::CommandSpec::new(["x"]);
    program.env.insert("KEY".into(), "CANARY".into());
    let shown = format!("{program:?}");
    assert!(shown.contains("KEY") && !shown.contains("CANARY"), "{shown}");
}

#[test]
fn a_terminal_agent_is_a_program() {
    let program = |section: &str| {
        read(&format!("runtime = \"terminal\"\n{section}")).terminal_program("codex")
    };
    let known = program("").unwrap().unwrap();
    assert_eq!(
        (known.argv.as_slice(), known.vendor),
        (["codex".to_owned()].as_slice(), Vendor::Codex)
    );
    let given =
        program("command = [\"mycodex\", \"-a\"]\ncwd = \"/\"\nenv = { A = \"b\" }\ntimeout = 20\nsummary = \"Mine.\"").unwrap().unwrap();
    assert_eq!(
        (given.argv.as_slice(), given.vendor),
        (["mycodex".to_owned(), "-a".to_owned()].as_slice(), Vendor::Codex)
    );
    assert_eq!((given.cwd.as_deref(), given.env["A"].as_str()), (Some(Path::new("/")), "b"));
    assert_eq!((given.timeout, given.summary.as_str()), (Some(Millis::from_secs(20)), "Mine."));
    for section in ["screen = \"other\"", "command = [\"opencode\"]\nscreen = \"other\""] {
        let refused = program(section).unwrap_err();
        assert!(
            refused.key == "screen" && refused.to_string().contains("runtime = \"command\""),
            "{refused}"
        );
    }
    let unknown = read("runtime = \"terminal\"\ncommand = [\"opencode\"]")
        .terminal_program("oc")
        .unwrap_err();
    assert_eq!(unknown.key, "screen", "nothing is known of how it draws");
    assert_eq!(read("runtime = \"terminal\"").terminal_program("mine").unwrap_err().key, "command");
    assert_eq!(read("command = [\"x\"]").terminal_program("codex"), Ok(None));
    for (key, section) in [
        ("stdin", "stdin = \"json\""),
        ("provider", "provider = \"openai\""),
        ("on_lost", "on_lost = \"rerun\""),
        ("command", "command = []"),
        ("env", "env = { MOOTHALL_TOKEN = \"c\" }"),
        ("timeout", "timeout = 0"),
    ] {
        assert_eq!(program(section).unwrap_err().key, key, "{section}");
    }
    assert_eq!(fault("command = [\"x\"]\nscreen = \"claude\"").key, "screen");
    assert!(!format!("{:?}", program("env = { KEY = \"CANARY\" }").unwrap()).contains("CANARY"));
}
