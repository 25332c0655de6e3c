//! Conversations in a real hall: a first one, and one with all misbehaving programs at once.

use std::sync::Arc;
use std::time::Duration;

use moothall_agents::command::CommandSpec;
use moothall_agents::script::Pace;
use moothall_agents::{AgentConfig, built_in};
use moothall_engine::hall::{Hall, HallParts};
use moothall_engine::memory::MemoryLog;
use moothall_engine::ports::{Store, SystemClock};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_engine::run_once::RunOnce;
use moothall_kernel::command::{Actor, ClientCommand, Control, Invite, Post};
use moothall_kernel::event::{Event, Outcome, Posted};
use moothall_kernel::ids::StreamId;
use moothall_kernel::participant::Profile;
use moothall_kernel::policy::{Policy, PolicyName};
use moothall_kernel::time::Millis;
use moothall_testkit::model_server::{ModelServer, Reply};

struct Story {
    hall: Hall,
    stream: StreamId,
}

impl Story {
    /// Makes a conversation with all of these agents.
    async fn of(agents: Vec<AgentSpec>) -> Self {
        let policy = Policy { cooldown: Millis(0), ..Policy::named(PolicyName::Hybrid) };
        let mut registry = Registry::default();
        agents.iter().cloned().for_each(|spec| registry.insert(spec));
        let (store, clock) = (Store::of(Arc::new(MemoryLog::new())), Arc::new(SystemClock));
        let hall = Hall::open(HallParts {
            store,
            clock,
            registry,
            defaults: policy.clone(),
            budgets: Default::default(),
            owner: "test".into(),
        })
        .await
        .unwrap();
        let user = Actor::human("user");
        let stream = hall.create("Story".into(), policy, user.clone(), None).await.unwrap().stream;
        let invites = agents.iter().map(|spec| {
            Control::Invite(Invite::new(spec.client.clone(), spec.profile.clone(), spec.facts()))
        });
        hall.submit(
            &stream,
            ClientCommand::Control { by: user, controls: invites.collect() },
            None,
        )
        .await
        .unwrap();
        Self { hall, stream }
    }

    /// Posts a message. Returns the events that follow, in order, once all agents were asked.
    async fn say(&self, words: &str) -> Vec<String> {
        let said = self
            .hall
            .submit(&self.stream, ClientCommand::Post(Post::new(Actor::human("user"), words)), None)
            .await
            .unwrap();
        let from = said.event.unwrap().seq;
        for _ in 0..3_000 {
            let page = self.hall.read(&self.stream, from, None).await.unwrap();
            if page.events.iter().any(|recorded| matches!(recorded.event, Event::RoundClosed)) {
                return page.events.iter().filter_map(|recorded| shown(&recorded.event)).collect();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the round never closed after {words:?}");
    }
}

/// Returns one line for each message and each pass; an error shows its cause.
fn shown(event: &Event) -> Option<String> {
    match event {
        Event::Posted(Posted { body, error: Some(fault), .. }) => {
            Some(format!("{body} {}", fault.code))
        }
        Event::Posted(post) => {
            Some(format!("{}: {}", post.from, post.body.lines().next().unwrap_or_default()))
        }
        Event::TurnEnded { participant, outcome: Outcome::Passed, .. } => {
            Some(format!("{participant} passes"))
        }
        _ => None,
    }
}

#[tokio::test]
async fn the_demo_agents_answer_volunteer_pass_and_react() {
    let story = Story::of(built_in(Pace::Instant)).await;
    let hello = story.say("hello").await;
    assert_eq!(hello[0], "analyst passes");
    assert!(hello[1].starts_with("writer: Hello, writer here."));
    assert_eq!(hello[2..], ["critic passes", "analyst passes"]);
    assert_eq!(
        story.say("@analyst Revenue went from 40 to 52 in 2024. Is that good?").await,
        [
            "analyst: This asks for a yes or a no and gives 2 numbers.",
            "writer passes",
            "critic: One objection, @analyst: “This asks for a yes or a no and gives 2 numbers.” — you take 40 as given, but where does it \
             come from? A number without a source is an opinion.",
            "analyst: Fair point, critic. “You take 40 as given, but where does it come from?” cannot be settled from what was said here; it \
             takes a source, or one more number.",
        ]
    );
    let speakers: Vec<String> = story.say("Summarise: revenue grew 12%, costs 8%.").await;
    let speakers: Vec<&str> =
        speakers.iter().filter_map(|line| line.split_once(": ")).map(|(who, _)| who).collect();
    assert_eq!(
        speakers,
        ["analyst", "writer", "critic"],
        "three volunteers, and then the budget is spent"
    );
    assert_eq!(story.say("ok thanks").await, ["analyst passes", "writer passes", "critic passes"]);
}

#[tokio::test]
async fn a_failing_program_does_not_stop_the_others() {
    let program = |client: &str, script: &str| {
        let timeout = (client == "hangs").then_some(Millis(300));
        let spec = CommandSpec { timeout, ..CommandSpec::new(["/bin/sh", "-c", script]) };
        let profile =
            Profile { client: Some(client.into()), model: Some("sh".into()), ..Profile::default() };
        AgentSpec {
            client: client.into(),
            summary: String::new(),
            profile,
            origin: "configured",
            run_as: None,
            agent: Arc::new(RunOnce::new(spec)),
        }
    };
    let fine = "cat > /dev/null; echo I am fine.";
    let agents = [
        ("hangs", "sleep 1000"),
        ("floods", "yes"),
        ("breaks", "exit 3"),
        ("silent", "exit 0"),
        ("fine", fine),
    ];
    let story = Story::of(agents.map(|(client, script)| program(client, script)).into()).await;
    let said = story.say("@hangs @floods @breaks @silent @fine are you there?").await;
    assert_eq!(
        said[..5],
        [
            "[hangs failed] timeout",
            "[floods failed] output_too_large",
            "[breaks failed] exit_status",
            "[silent failed] empty_output",
            "fine: I am fine.",
        ]
    );
}

#[tokio::test]
async fn models_answer_pass_fail_and_read_each_other() {
    let server = ModelServer::start().await.unwrap();
    let agents: Vec<_> =
        ["ada", "bob", "cat"].into_iter().map(|client| at(&server, client)).collect();
    server.script("ada", [Reply::text("Blue, I think."), Reply::text("[PASS]")]);
    server.script("bob", [Reply::text("[PASS]"), Reply::text("[PASS]")]);
    server.script("cat", [Reply::status(401)]);
    let story = Story::of(agents).await;
    let said = story.say("Which colour?").await;
    assert_eq!(said[..3], ["ada: Blue, I think.", "bob passes", "[cat failed] provider_auth"]);
    let asked = server.requests();
    let bob = asked.iter().find(|request| request.model == "bob").unwrap().body.to_string();
    assert!(
        bob.contains("[User] Which colour?\\n[ada] Blue, I think.") && bob.contains("[PASS]"),
        "{bob}"
    );

    assert_eq!(story.say("@ada and why?").await[0], "ada passes");
    let asked = server.requests();
    let ada = asked.iter().rev().find(|request| request.model == "ada").unwrap();
    let roles: Vec<_> = ada.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(ada.body["messages"][1]["content"], "Blue, I think.");
}

/// Returns a model at the fake providers, named like the client.
fn at(server: &ModelServer, client: &str) -> AgentSpec {
    let section =
        format!("provider = \"anthropic\"\nmodel = \"{client}\"\nbase_url = \"{}\"", server.url());
    let config: AgentConfig = toml::from_str(&section).unwrap();
    config.spec(client, "").map_err(|fault| fault.to_string()).unwrap()
}

#[tokio::test]
async fn a_model_remembers_further_back_than_its_prompt() {
    let server = ModelServer::start().await.unwrap();
    let story = Story::of(vec![at(&server, "ada")]).await;
    for n in 0..60 {
        story.say(&format!("message {n} to remember")).await;
    }
    let asked = server.requests();
    let newest = asked.last().unwrap().body.to_string();
    assert!(
        newest.contains("[User] message 0 to remember")
            && newest.contains("[User] message 59 to remember")
    );
}
