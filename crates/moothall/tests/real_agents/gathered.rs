//! A gathering of a person, two real programs in their terminals, and a model that harvests.

use moothall_testkit::model_server::{Gate, ModelServer, Reply};
use serde_json::{Value, json};

use crate::driven::question;
use crate::harness::{Server, comes_about};
use crate::house::House;

/// Text of the harvest.
const HARVEST: &str = "## What emerged\nA river and a mountain.";

/// The sentence of each phase that asks the holder to speak; no other prompt contains it.
const PHASES: [(&str, &str); 3] = [
    ("inhale", "speak. Speak independently"),
    ("hold", "speak. Let differences"),
    ("exhale", "speak. Converge"),
];

/// Creates a house whose programs speak once per phase and pass. `gate` delays claude's first
/// message.
async fn furnished(harvester: &ModelServer, gate: &Gate) -> House {
    let house = House::new().await;
    house.home.configure(&format!(
        "[agents.scribe]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n",
        harvester.url()
    ));
    harvester.always("m", Reply::text(HARVEST));
    for client in ["claude", "codex"] {
        for (phase, asked) in PHASES {
            let words = Reply::text(&format!("{client} in the {phase}\n\nI pass"));
            let first = client == "claude" && phase == "inhale";
            house.model(client).when(asked, if first { words.gated(gate) } else { words });
        }
        house.model(client).when("Listen: take this in", Reply::text("I heard it."));
    }
    house
}

async fn begin(server: &Server<'_>) -> String {
    let cwd = server.home().path().join("work");
    let speaker = |name: &str, number: u32, client: &str| json!({"name": name, "number": number, "kind": "agent", "client": client, "cwd": cwd});
    let begun = server
        .accepted(
            "/gatherings",
            json!({
                "rhythm": "daily", "opening_question": "What do we see?", "breath": "minimal",
                "beats_per_turn": 3, "beat_interval_seconds": 3600,
                "participants": [
                    {"name": "Mo", "number": 1, "kind": "human"},
                    speaker("Ann", 2, "claude"),
                    speaker("Bob", 3, "codex"),
                    {"name": "Hal", "number": 4, "role": "harvester", "kind": "agent", "client": "scribe"},
                ],
            }),
        )
        .await;
    begun["id"].as_str().unwrap().to_owned()
}

/// Returns the messages of a gathering, by name.
async fn said(server: &Server<'_>, id: &str) -> Vec<(String, String)> {
    let gathering = server.get(&format!("/gatherings/{id}")).await;
    let name = |from: &Value| {
        let members = gathering["participants"].as_array().unwrap();
        let member = members.iter().find(|member| member["participant_id"] == *from).unwrap();
        member["name"].as_str().unwrap().to_owned()
    };
    let events = server.events(id).await;
    let messages = events.iter().filter(|event| event["type"] == "message");
    messages
        .map(|event| (name(&event["from"]), event["content"].as_str().unwrap().to_owned()))
        .collect()
}

/// Waits until a member holds the piece in a phase; returns the gathering's state.
async fn held(server: &Server<'_>, id: &str, phase: &str, holder: &str) -> Value {
    let path = format!("/gatherings/{id}");
    let holds = async || {
        let gathering = server.get(&path).await;
        gathering["phase"] == phase && gathering["holder"]["name"] == holder
    };
    if !comes_about(holds).await {
        let found = server.get(&path).await;
        panic!("{holder} never holds the piece in the {phase}: {found:#}");
    }
    server.get(&path).await
}

/// A breath with one round per phase. The server dies while claude speaks, and again right after
/// the second phase began.
#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn a_person_two_programs_and_a_model_gather_through_two_crashes() {
    let (harvester, gate) = (ModelServer::start().await.unwrap(), Gate::default());
    let house = furnished(&harvester, &gate).await;
    let server = house.serve();
    let id = begin(&server).await;
    held(&server, &id, "inhale", "Mo").await;
    server.say(&id, "Mo in the inhale\nI pass").await;
    let before = held(&server, &id, "inhale", "Ann").await;
    let asked = async || {
        let requests = house.model("claude").requests();
        requests.iter().any(|request| request.newest.contains(PHASES[0].1))
    };
    assert!(comes_about(asked).await, "claude was never asked to speak");
    let server = house.crash_and_restart(server);
    let after = held(&server, &id, "inhale", "Ann").await;
    for what in ["beat", "round", "order", "last_word"] {
        assert_eq!(after[what], before[what], "{what} is as it was before the crash");
    }
    gate.open(1000);
    held(&server, &id, "hold", "Mo").await;
    let server = house.crash_and_restart(server);
    held(&server, &id, "hold", "Mo").await;
    server.say(&id, "Mo in the hold\nI pass").await;
    held(&server, &id, "exhale", "Mo").await;
    server.say(&id, "Mo in the exhale\nI pass").await;
    let closed = async || server.get(&format!("/gatherings/{id}")).await["status"] == "closed";
    assert!(comes_about(closed).await, "{:#}", server.get(&format!("/gatherings/{id}")).await);
    let mut expected = Vec::new();
    for (phase, _) in PHASES {
        expected.push(("Mo".to_owned(), format!("Mo in the {phase}\nI pass")));
        expected.push(("Ann".to_owned(), format!("claude in the {phase}\n\nI pass")));
        expected.push(("Bob".to_owned(), format!("codex in the {phase}\n\nI pass")));
    }
    expected.push(("Hal".to_owned(), HARVEST.to_owned()));
    assert_eq!(said(&server, &id).await, expected, "each once in each phase, in order");
    let gathering = server.get(&format!("/gatherings/{id}")).await;
    assert_eq!(gathering["harvest"]["text"], HARVEST);
    let seeds: Vec<bool> = ["claude", "codex"]
        .iter()
        .map(|client| {
            let requests = house.model(client).requests();
            let seeded = |name: &str| {
                requests.iter().any(|request| {
                    request.newest.contains(&format!("You are {name} ("))
                        && request.newest.contains("Opening question: What do we see?")
                })
            };
            seeded(if *client == "claude" { "Ann" } else { "Bob" })
        })
        .collect();
    assert_eq!(seeds, [true, true], "each was told who it is");
    let heard = house.model("codex").requests();
    let framed = "Ann (2):\n\nclaude in the inhale";
    assert!(
        heard.iter().any(|request| request.newest.contains(framed)),
        "{framed:?} was not heard"
    );
}

/// Checks that a program that speaks, passes the piece by the tool in the same breath, and adds a
/// remark, contributes all of its text.
async fn a_pass_by_tool_loses_no_word(client: &str, tool: &str, allow: &str) {
    let house = House::new().await;
    let server = house.serve();
    let words = format!("what {client} has to say");
    let pass = Reply::text_and_tool(&words, tool, json!({}));
    house.model(client).when("The piece is with you: speak", pass);
    let cwd = server.home().path().join("work");
    let trusting = if client == "gemini" { json!(["--skip-trust"]) } else { json!([]) };
    let begun = server
        .accepted(
            "/gatherings",
            json!({
                "breath": "minimal", "beat_interval_seconds": 3600,
                "participants": [
                    {"name": "Ann", "number": 1, "kind": "agent", "client": client, "cwd": cwd, "args": trusting},
                    {"name": "Mo", "number": 2, "kind": "human"},
                    {"name": "Hal", "number": 3, "role": "harvester", "kind": "agent", "client": "writer"},
                ],
            }),
        )
        .await;
    let id = begun["id"].as_str().unwrap().to_owned();
    let question = question(&server, &id).await;
    let options = question["options"].as_array().unwrap();
    let allow = options
        .iter()
        .find(|option| option["label"].as_str().unwrap().starts_with(allow))
        .unwrap_or_else(|| panic!("{question}"));
    let path = format!("/permissions/{}/answer", question["permission"].as_str().unwrap());
    let answer = json!({"thread": id, "option": allow["id"]});
    assert_eq!(house.post_as_owner(&server, &path, &answer).await, 200);
    held(&server, &id, "inhale", "Mo").await;
    let [(name, whole)] = &said(&server, &id).await[..] else { panic!("one contribution") };
    assert_eq!(name, "Ann");
    let remark = whole.strip_prefix(&format!("{words}\n\n")).unwrap_or_else(|| panic!("{whole}"));
    assert!(!remark.contains(&words), "{whole}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_passes_by_tool_and_loses_no_word() {
    a_pass_by_tool_loses_no_word("claude", "mcp__moothall__pass_piece", "allow").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_passes_by_tool_and_loses_no_word() {
    a_pass_by_tool_loses_no_word("codex", "mcp__moothall__pass_piece", "Allow: ").await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_passes_by_tool_and_loses_no_word() {
    a_pass_by_tool_loses_no_word("gemini", "mcp_moothall_pass_piece", "Allow once").await;
}
