//! Hostile messages stay plain text, from any sender, even to an obedient model.

use moothall_testkit::model_server::{ModelServer, Reply};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::harness::{Home, Server};

/// The whole corpus.
#[derive(Deserialize)]
struct Corpus {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    texts: Vec<Entry>,
}

/// A text, and an obedient model's reaction to it.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Entry {
    Plain(String),
    With { text: String, says: Option<String>, tool: Option<String> },
}

impl Entry {
    fn text(&self) -> &str {
        match self {
            Entry::Plain(text) | Entry::With { text, .. } => text,
        }
    }

    fn obeyed(&self) -> Reply {
        match self {
            Entry::With { tool: Some(tool), .. } => {
                Reply::tool(tool, json!({"client": "analyst", "command": "true"}))
            }
            Entry::With { says: Some(says), .. } => Reply::text(says),
            Entry::Plain(text) | Entry::With { text, .. } => Reply::text(text),
        }
    }
}

/// Returns the texts of all groups, each with the name of its group.
fn corpus() -> Vec<(String, Entry)> {
    let corpus: Corpus = toml::from_str(include_str!("hostile.toml")).unwrap();
    let texts =
        |group: Group| group.texts.into_iter().map(move |entry| (group.name.clone(), entry));
    corpus.group.into_iter().flat_map(texts).collect()
}

/// A conversation with two obedient models, one offline remote client, and a policy that lets
/// agents react.
struct Room<'a> {
    server: &'a Server<'a>,
    models: &'a ModelServer,
    thread: String,
}

impl<'a> Room<'a> {
    async fn open(server: &'a Server<'a>, models: &'a ModelServer) -> Room<'a> {
        let policy = json!({"name": "hybrid", "cooldown_seconds": 0});
        let created =
            server.accepted("/threads", json!({"name": "Hostile", "policy": policy})).await;
        let thread = created["id"].as_str().unwrap().to_owned();
        for (id, client) in [("ada", "ada"), ("bob", "bob"), ("rem", "elsewhere")] {
            server.invite(&thread, id, client).await;
        }
        Room { server, models, thread }
    }

    /// Returns the state that no message may change.
    async fn standing(&self) -> Value {
        let state = self.server.get(&format!("/threads/{}/state", self.thread)).await;
        let keys = [
            "paused",
            "archived",
            "held",
            "muted",
            "discussion",
            "invited_auto",
            "policy",
            "participants",
        ];
        let state: Map<String, Value> =
            keys.iter().map(|key| ((*key).to_owned(), state["state"][*key].clone())).collect();
        let threads = self.server.get("/threads").await["threads"].as_array().unwrap().len();
        json!({"state": state, "name": self.server.get(&format!("/threads/{}/state", self.thread)).await["name"], "threads": threads,
            "agents": self.server.get("/agents").await})
    }

    async fn post(&self, from: &str, to: &str, text: &str) -> (u16, Value) {
        let body = json!({"type": "message", "from": from, "to": to, "content": text});
        self.server.post(&format!("/threads/{}/events", self.thread), body).await
    }

    /// Sends a person's message to `ada`, and waits until all agents have answered.
    async fn said_to_ada(&self, text: &str) -> u64 {
        let (status, answer) = self.post("user", "ada", text).await;
        assert_eq!(status, 200, "{answer}");
        let seq = answer["event"]["seq"].as_u64().unwrap();
        self.server
            .wait_for(&self.thread, seq, |event| event["content"]["event"] == "round_closed")
            .await;
        seq
    }

    /// Returns events after a position that are neither messages, turns nor notices, and messages
    /// in a false name.
    async fn unusual(&self, after: u64) -> Vec<Value> {
        let events = self.server.events(&self.thread).await;
        let usual = |event: &Value| match event["type"].as_str().unwrap() {
            "message" => {
                ["user", "ada", "bob", "rem", "moothall"].contains(&event["from"].as_str().unwrap())
            }
            "turn" => true,
            "notice" => event["content"]["code"] != "stopped",
            _ => false,
        };
        events
            .into_iter()
            .filter(|event| event["seq"].as_u64().unwrap() > after && !usual(event))
            .collect()
    }

    /// Returns the numbers of agent replies and of granted turns.
    async fn spent(&self) -> (usize, usize) {
        let events = self.server.events(&self.thread).await;
        let by_agent = |event: &&Value| {
            event["type"] == "message"
                && event["meta"]["turn"].is_string()
                && event["from"] != "moothall"
        };
        let granted = |event: &&Value| event["content"]["event"] == "granted";
        (events.iter().filter(by_agent).count(), events.iter().filter(granted).count())
    }
}

/// Returns the faults of a prompt: lines without indentation that neither the server wrote nor a
/// speaker begins.
fn spoofed(body: &Value, speakers: &[&str]) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let (system, user_text): (Vec<&Value>, Vec<&Value>) = messages
        .iter()
        .filter(|message| message["role"] != "assistant")
        .partition(|message| message["role"] == "system");
    let user_text: String = user_text.into_iter().map(text).collect();
    let mut wrong: Vec<String> =
        lines(&user_text).filter(|line| !is_ours(line, speakers)).map(str::to_owned).collect();
    let system: String = system.into_iter().map(text).collect();
    wrong.extend(
        lines(&system)
            .filter(|line| !is_of_the_system_text(line))
            .map(|line| format!("system: {line}")),
    );
    for (edge, most) in [("## Your Turn", 1), ("[User, unproven] ", 1), ("[User] ", 0)] {
        let count = lines(&user_text).filter(|line| line.starts_with(edge)).count();
        wrong.extend((count > most).then(|| format!("{count} × {edge:?}")));
    }
    wrong.extend(
        user_text
            .chars()
            .filter(|c| matches!(c, '\u{e0000}'..='\u{e007f}'))
            .map(|c| format!("{c:?}")),
    );
    wrong
}

/// Splits a text into all lines that a model may see.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}', '\r'])
}

fn is_ours(line: &str, speakers: &[&str]) -> bool {
    // Test messages from `user` have no credential, so prompts mark them.
    let ends = |rest: &str| aside(rest, ", ", speakers).is_some_and(|rest| rest.starts_with("] "));
    let speaks = |name: &&str| {
        line.strip_prefix('[').and_then(|rest| rest.strip_prefix(*name)).is_some_and(ends)
    };
    let latest = |rest: &str| {
        aside(rest, " (", speakers)
            .is_some_and(|rest| rest.trim_start_matches(')').starts_with(": \""))
    };
    let ours = [
        "## Your Turn",
        "You are participating in a group conversation as \"",
        "You were addressed: answer.",
        "Another participant addressed you: answer.",
        "Speak if you have something worth adding; otherwise",
        "(The conversation goes on.)",
    ];
    line.is_empty()
        || line.starts_with("  ")
        || speakers.iter().any(speaks)
        || ours.iter().any(|begin| line.starts_with(begin))
        || speakers.iter().chain(&["The user"]).any(|name| {
            line.strip_prefix(*name)
                .and_then(|rest| rest.strip_prefix("'s latest message"))
                .is_some_and(latest)
        })
}

/// Returns the text after the asides behind a name: the mark of an unproven sender, and the reply's
/// quotation. Quoted text can end neither the quotation nor the aside.
fn aside<'a>(rest: &'a str, begin: &str, speakers: &[&str]) -> Option<&'a str> {
    let (rest, begin) =
        match rest.strip_prefix(begin).and_then(|rest| rest.strip_prefix("unproven")) {
            Some(rest) => (rest, ", "),
            None => (rest, begin),
        };
    let Some(reply) = rest.strip_prefix(begin).and_then(|rest| rest.strip_prefix("in reply to "))
    else {
        return Some(rest);
    };
    let quoted =
        speakers.iter().find_map(|name| reply.strip_prefix(*name)?.strip_prefix(": \""))?;
    let (words, rest) = quoted.split_once('"')?;
    (!words.contains(['[', ']'])).then_some(rest)
}

fn is_of_the_system_text(line: &str) -> bool {
    let people = ["- User (human)", "- ada (agent", "- bob (agent", "- rem (agent", "- nick"];
    line.is_empty()
        || line.starts_with("You are \"")
        || line.starts_with("Others' messages are shown as [name] message.")
        || line.starts_with("\"unproven\" beside a person's name means that nothing shows")
        || people.iter().any(|begin| line.starts_with(begin))
}

fn models_section(models: &ModelServer) -> String {
    let section = |name: &str| {
        format!(
            "[agents.{name}]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"{name}\"\nbase_url = \"{}\"\n",
            models.url()
        )
    };
    format!("{}{}", section("ada"), section("bob"))
}

/// Plays a text as a person's message, and then as the models' replies.
async fn played_as_words(room: &Room<'_>, entry: &Entry) -> Vec<String> {
    room.models.always("ada", entry.obeyed());
    room.models.always("bob", entry.obeyed());
    let (before, asked_before) = (room.standing().await, room.models.requests().len());
    let seq = room.said_to_ada(entry.text()).await;
    let mut wrong: Vec<String> = room.unusual(seq).await.iter().map(ToString::to_string).collect();
    if room.standing().await != before {
        wrong.push(format!("it changed the conversation: {}", room.standing().await));
    }
    let (replies, turns) = room.spent().await;
    if replies > 3 || turns > 6 {
        wrong.push(format!("{replies} replies in {turns} turns"));
    }
    for request in &room.models.requests()[asked_before..] {
        wrong.extend(
            spoofed(&request.body, &["User", "ada", "bob", "rem"])
                .into_iter()
                .map(|line| format!("prompt: {line:?}")),
        );
    }
    wrong
}

/// Plays a text as a message of a remote agent.
async fn played_as_agent(room: &Room<'_>, entry: &Entry) -> Vec<String> {
    room.models.always("ada", Reply::text("[PASS]"));
    room.models.always("bob", Reply::text("[PASS]"));
    let before = room.standing().await;
    let head = room.server.events(&room.thread).await.len() as u64;
    let (status, answer) = room.post("rem", "all", entry.text()).await;
    let mut wrong: Vec<String> = room.unusual(head).await.iter().map(ToString::to_string).collect();
    if !matches!(status, 200 | 409 | 422) || room.standing().await != before {
        wrong.push(format!("{status} {answer}: {}", room.standing().await));
    }
    // A person's message keeps the agent's messages from counting as a flood.
    let (status, answer) = room.post("user", "user", "Noted.").await;
    assert_eq!(status, 200, "{answer}");
    wrong
}

/// Plays a text as a participant's name and role.
async fn played_as_name(room: &Room<'_>, entry: &Entry) -> Vec<String> {
    let name: String = entry.text().chars().take(60).collect();
    let before = room.standing().await;
    let profile = json!({"client": "elsewhere", "model": "m", "nickname": name, "roles": [name]});
    let content = json!({"invite": {"participant_id": "nick", "profile": profile}});
    let body = json!({"type": "control", "from": "user", "to": "all", "content": content});
    let (status, answer) =
        room.server.post(&format!("/threads/{}/events", room.thread), body).await;
    if status != 200 {
        let unchanged = room.standing().await == before;
        return if status == 422 && unchanged {
            Vec::new()
        } else {
            vec![format!("{status} {answer}")]
        };
    }
    let after = room.standing().await;
    let invited = after["state"]["participants"]["invited"].as_array().unwrap();
    let nick = invited.iter().find(|entry| entry["id"] == "nick").unwrap();
    let name = nick["profile"]["nickname"].as_str().unwrap().to_owned();
    let mut wrong = Vec::new();
    if invited.len() != 4
        || name.chars().any(|c| c.is_control() || "[]@\u{2028}\u{2029}".contains(c))
    {
        wrong.push(format!("{invited:?}"));
    }
    let asked_before = room.models.requests().len();
    room.said_to_ada("And you?").await;
    for request in &room.models.requests()[asked_before..] {
        let system = request.body["messages"][0]["content"].as_str().unwrap();
        let listed = lines(system).filter(|line| line.starts_with("- ")).count();
        let known = lines(system).all(|line| {
            is_of_the_system_text(line) || line.starts_with(&format!("- {name} (agent"))
        });
        wrong.extend((listed != 5 || !known).then(|| format!("system text: {system}")));
    }
    wrong
}

#[tokio::test]
async fn hostile_words_are_words_whoever_says_them() {
    let models = ModelServer::start().await.unwrap();
    let home = Home::new();
    home.configure(&models_section(&models));
    let server = home.serve();
    let corpus = corpus();
    assert!(corpus.len() >= 60, "{} texts", corpus.len());
    let mut wrong = Vec::new();
    for (group, entry) in &corpus {
        let room = Room::open(&server, &models).await;
        let mut faults = played_as_words(&room, entry).await;
        faults.extend(played_as_agent(&room, entry).await);
        faults.extend(played_as_name(&room, entry).await);
        wrong.extend(
            faults.into_iter().map(|fault| format!("{group}: {:?}\n    {fault}", entry.text())),
        );
    }
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), wrong.join("\n"));
}
