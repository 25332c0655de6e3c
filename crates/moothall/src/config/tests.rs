//! Accepted configurations, rejected configurations, and their error messages.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::fault::Exit;

pub(super) fn parse(text: &str) -> Result<Config, Fault> {
    let set =
        [("KEY", "sk-very-secret"), ("HOME", "/somewhere"), ("OPENAI_API_KEY", "sk-very-secret")];
    let variables = set.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Config::parse(Path::new("moothall.toml"), text.into(), &variables)
}

fn refused(text: &str) -> Fault {
    let fault = parse(text).unwrap_err();
    assert_eq!(fault.exit, Exit::Config);
    assert!(!fault.to_string().contains("sk-very-secret"), "{fault}");
    fault
}

#[test]
fn no_setting_is_shown_with_its_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("moothall.toml");
    let text = "[agents.a]\napi_key = \"sk-very-secret\"\n[[channels.telegram.bots]]\n\
                agent = \"a\"\nbot_token = \"sk-very-secret\"\n";
    std::fs::write(&file, text).unwrap();
    let found = settings(Some(&file), &Variables::new()).unwrap();
    let shown: Vec<String> = found.iter().map(|set| set.value.to_string()).collect();
    assert!(shown.len() >= 2 && !shown.concat().contains("sk-very-secret"), "{shown:?}");
    assert!(shown.iter().any(|value| value.contains("bot_token = \"(secret")), "{shown:?}");
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_a_suggestion() {
    let fault = refused("[server]\nbnd = \"127.0.0.1:1\"\n");
    assert_eq!(fault.what, "moothall.toml:2:1: unknown key `bnd` in [server]");
    assert_eq!(fault.forward.as_deref(), Some("did you mean `bind`?"));

    let fault = refused("[defaults]\nname = \"hybrid\"\nmax_dept = 1\n");
    assert_eq!(fault.what, "moothall.toml:3:1: unknown key `max_dept` in [defaults]");
    assert_eq!(fault.forward.as_deref(), Some("did you mean `max_depth`?"));

    let fault = refused("[agents.codex]\nruntime = \"command\"\ncomand = [\"codex\"]\n");
    assert_eq!(fault.what, "moothall.toml:3:1: unknown key `comand` in [agents.codex]");
    assert_eq!(fault.forward.as_deref(), Some("did you mean `command`?"));

    let fault = refused("[sever]\n");
    assert_eq!(fault.what, "moothall.toml:1:2: unknown key `sever` at the top of the file");
    assert_eq!(fault.forward.as_deref(), Some("did you mean `server`?"));
}

#[test]
fn a_key_outside_its_section_is_sent_home() {
    let fault = refused("bind = \"127.0.0.1:1\"\n");
    assert_eq!(fault.forward.as_deref(), Some("write it below the line [server]"));
}

#[test]
fn a_wrong_type_is_named_with_its_place_and_without_its_value() {
    let fault = refused("[server]\nallowed_hosts = \"${KEY}\"\n");
    assert!(
        fault.what.starts_with("moothall.toml:2:17: in [server], invalid type: string"),
        "{}",
        fault.what
    );
    let fault = refused("[server]\nmode = \"${KEY}\"\n");
    assert_eq!(
        fault.what,
        "moothall.toml:2:8: in [server], unknown variant `…`, expected `local` or `token`"
    );
    let fault = refused("[defaults]\nmax_depth = \"${KEY}\"\n");
    assert_eq!(fault.what, "moothall.toml:2:13: `max_depth` takes a whole number from 1 to 10");
    let fault = refused("agents = 3\n");
    assert_eq!(
        fault.what,
        "moothall.toml:1:10: `agents` must be a section, written [agents], not an integer"
    );
}

#[test]
fn a_checkpoint_that_would_be_every_prompt_is_refused_with_its_place() {
    let config = parse("[sessions]\ncheckpoints = [\"<system-reminder>\"]\n").unwrap();
    assert_ne!(config.sessions, Config::default().sessions);
    let fault = refused("[sessions]\ncheckpoints = [\"[Checkpoint]\", \"\"]\n");
    assert!(
        fault.what.starts_with("moothall.toml:2:15: in [sessions], an empty checkpoint"),
        "{}",
        fault.what
    );
    let fault = refused("[sessions]\ncheckpoint = []\n");
    assert_eq!(fault.forward.as_deref(), Some("did you mean `checkpoints`?"));
    assert_eq!(
        refused("checkpoints = []\n").forward.as_deref(),
        Some("write it below the line [sessions]")
    );
}

#[test]
fn a_missing_variable_is_named() {
    let fault = refused("[server]\ndata = \"${NOT_SET_ANYWHERE}/x\"\n");
    assert_eq!(
        fault.what,
        "moothall.toml:2:8: the environment variable NOT_SET_ANYWHERE is not set"
    );
}

#[test]
fn a_missing_variable_of_an_agent_costs_that_agent_and_nothing_else() {
    let text = "[agents.ada]\nprovider = \"anthropic\"\nmodel = \"m\"\napi_key = \"${NOT_SET_ANYWHERE}\"\n[agents.bob]\nreplies = [\"Yes.\"]\n";
    let config = parse(text).unwrap();
    assert_eq!(config.agents.keys().collect::<Vec<_>>(), ["bob"]);
    assert!(config.absent.contains("ada"), "nobody else answers to its name");
    let said = "moothall.toml:4:11: the environment variable NOT_SET_ANYWHERE is not set; the agent ada is left out";
    assert_eq!(config.warnings, [said]);
}

#[test]
fn agents_can_be_switched_off_one_by_one_or_those_found_all_at_once() {
    let config = parse("[agents]\ndiscover = false\n[agents.claude]\nenabled = false\n[agents.critic]\nenabled = false\n").unwrap();
    assert!(!config.discover && config.absent.iter().eq(["claude", "critic"]));
    assert!(parse("").unwrap().discover);
    let kept = parse("[agents.codex]\nruntime = \"remote\"\n").unwrap();
    assert!(
        kept.absent.contains("codex") && !kept.agents["codex"].is_enabled(),
        "the name is kept for whoever connects by it"
    );
    assert!(
        refused("[agents.codex]\nruntime = \"remote\"\nmodel = \"m\"\n")
            .what
            .contains("takes no other key")
    );
    let fault = refused("[agents]\ndiscover = \"no\"\n");
    assert!(
        fault.what.contains("`discover` is a section") || fault.what.contains("invalid type"),
        "{}",
        fault.what
    );
}

#[test]
fn a_command_that_is_a_line_is_answered_with_the_array_to_write() {
    let fault = refused("[agents.codex]\ncommand = \"codex exec -\"\n");
    assert!(
        fault.what.starts_with("moothall.toml:2:11: `command` must be an array"),
        "{}",
        fault.what
    );
    assert_eq!(fault.forward.as_deref(), Some("write command = [\"codex\", \"exec\", \"-\"]"));
    let fault = refused("[agents.x]\ncommand = \"cat | tr a-z A-Z --key ${KEY}\"\n");
    assert_eq!(
        fault.forward.as_deref(),
        Some("write command = [\"sh\", \"-c\", \"cat | tr a-z A-Z --key ${KEY}\"]")
    );
}

#[test]
fn broken_toml_is_named_with_its_place() {
    assert!(refused("[server]\nbind = \n").what.starts_with("moothall.toml:2:"));
    assert!(refused("[server\n").what.starts_with("moothall.toml:1:"));
}

#[test]
fn an_agent_name_is_a_participant_id() {
    let fault = refused("[agents.everyone]\nruntime = \"command\"\ncommand = [\"x\"]\n");
    assert_eq!(fault.what, "moothall.toml:1:9: the agent name \"everyone\" is reserved");
}

#[test]
fn sections_are_read_into_their_types() {
    let text = "[server]\nbind = \"127.0.0.1:0\"\ndata = \"x\"\n[defaults]\ncooldown_seconds = 0\n";
    let config = parse(text).unwrap();
    assert_eq!(config.server.bind.as_deref(), Some("127.0.0.1:0"));
    assert_eq!(config.defaults.cooldown.0, 0);
}

#[cfg(unix)]
#[test]
fn an_exposed_secret_is_a_warning() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("moothall.toml");
    std::fs::write(&file, "[agents.a]\nruntime = \"llm\"\nmodel = \"m\"\napi_key = \"sk-1\"\n")
        .unwrap();
    let document = Document::new(&file, std::fs::read_to_string(&file).unwrap());
    for (mode, warned) in [(0o644, true), (0o640, true), (0o600, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(!exposed_secrets(&document).is_empty(), warned, "{mode:o}");
    }
}

#[test]
fn a_type_is_asked_for_its_keys() {
    let keys = [
        "bind",
        "data",
        "mode",
        "other_users",
        "unasked",
        "invite_code",
        "allowed_hosts",
        "allowed_origins",
        "retention_days",
        "trails",
        "tls",
    ];
    assert_eq!(keys_of::<ServerConfig>(), keys);
}

#[test]
fn what_an_agent_cannot_be_is_said_at_the_key() {
    let fault = refused("[agents.a]\ncommand = [\"x\"]\ntimeout = -1\n");
    assert!(
        fault.what.starts_with("moothall.toml:3:1: in [agents.a], `timeout`: "),
        "{}",
        fault.what
    );
    let fault = refused("[agents.a]\nsummary = \"x\"\n");
    assert!(fault.what.starts_with("moothall.toml:1:"), "{}", fault.what);
}

#[test]
fn the_readme_shows_a_configuration_that_can_be_read() {
    let readme = std::fs::read_to_string(crate::reference::workspace_file("README.md")).unwrap();
    let block = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(parse(block).unwrap().agents.len(), 2);
}

#[test]
fn fuzzed_texts_become_a_configuration_or_a_fault_that_keeps_secrets() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut corpus = moothall_testkit::fuzz::corpus(&here.join("tests/corpus/config"));
    // Every key of the example file, uncommented.
    let example = std::fs::read_to_string(here.join("../../moothall.example.toml")).unwrap();
    corpus.extend(example.split("\n\n").map(|piece| piece.replace("# ", "").into_bytes()));
    let words = [
        "${KEY}",
        "${",
        "$${",
        "[agents.",
        "[",
        "a.",
        "{a=",
        "\"\"\"",
        "enabled = false\n",
        "runtime = ",
        "true",
        "1e9",
        "-1",
        "\n",
    ];
    moothall_testkit::fuzz::texts("config", &corpus, &words, |text| match parse(text) {
        Ok(config) => assert_eq!(
            format!("{config:?}"),
            format!("{:?}", parse(text).unwrap()),
            "the same text is the same configuration"
        ),
        Err(fault) => {
            assert_eq!(fault.exit, Exit::Config);
            assert!(!fault.to_string().contains("sk-very-secret"), "{fault}");
            assert!(fault.what.starts_with("moothall.toml"), "{fault}");
        }
    });
}
