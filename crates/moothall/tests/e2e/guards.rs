//! `moothall guards`: a plain table, whose commands run unchanged and lift their guards.

use std::process::Command;

use moothall_testkit::model_server::{Gate, ModelServer, Reply};
use serde_json::{Value, json};

use crate::harness::{Home, Server, comes_about};

const BOTS: [&str; 2] = ["ada", "bob"];

async fn exchange(server: &Server<'_>, thread: &str, times: usize) {
    for n in 0..times {
        let (me, other) = (BOTS[n % 2], BOTS[(n + 1) % 2]);
        let words = json!({"from": me, "content": format!("@{other} and {n}")});
        let (status, answer) = server.post(&format!("/threads/{thread}/events"), words).await;
        assert_eq!(status, 200, "{answer}");
    }
}

/// Creates a conversation of remote agents under a policy.
async fn room(server: &Server<'_>, name: &str, policy: Value) -> String {
    let made = server.accepted("/threads", json!({"name": name, "policy": policy})).await;
    let thread = made["id"].as_str().unwrap().to_owned();
    for bot in BOTS {
        server.invite(&thread, bot, "elsewhere").await;
    }
    thread
}

/// Returns the commands at the ends of the table's lines that contain a text.
fn commands(server: &Server<'_>, about: &str) -> Vec<String> {
    let shown = server.ok(&["guards"]);
    let lines = shown.lines().filter(|line| line.contains(about));
    let commands: Vec<String> = lines
        .filter_map(|line| Some(format!("moothall{}", line.split_once("  moothall")?.1)))
        .collect();
    assert!(!commands.is_empty(), "{about}: {shown}");
    commands
}

/// Runs a command from the table in a shell.
fn copied(server: &Server<'_>, command: &str) {
    let plain = server.command(&["list"]);
    let program = std::path::Path::new(plain.get_program());
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let set = plain.get_envs().filter_map(|(key, value)| Some((key, value?)));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env_clear().envs(set);
    // The harness passes the server by options, the table's command by a variable.
    shell.env("PATH", path).env("MOOTHALL_SERVER", &server.url);
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

fn row(server: &Server<'_>, thread: &str, guard: &str) -> Option<Value> {
    let listed = server.json(&["guards"]);
    let rows = listed["guards"].as_array().unwrap();
    rows.iter().find(|row| row["guard"] == guard && row["thread"] == *thread).cloned()
}

#[tokio::test]
async fn each_command_of_the_table_runs_as_it_stands_and_lifts_its_guard() {
    let home = Home::new();
    home.configure("[budgets]\nconversation = { unattended_turns_per_hour = 1 }\n");
    let server = home.serve();
    assert_eq!(server.ok(&["guards"]), "");
    let held = room(&server, "Held", json!("mention_only")).await;
    exchange(&server, &held, 20).await;
    let near = room(&server, "Near", json!("mention_only")).await;
    exchange(&server, &near, 15).await;
    let busy = room(&server, "Busy", json!({"name": "hybrid", "max_queued_messages": 4})).await;
    server.control(&busy, json!({"pause": true})).await;
    server.control(&busy, json!({"mute": ["ada"]})).await;
    server.say(&busy, "good morning").await;
    let talk = room(&server, "Talk", json!("hybrid")).await;
    server.say(&talk, "good morning").await;
    for words in ["one", "two"] {
        let said = json!({"from": "ada", "content": words});
        server.accepted(&format!("/threads/{talk}/events"), said).await;
    }

    let shown = server.ok(&["guards"]);
    for words in
        ["held since ", "15 of 20", "ada is muted", "paused: agents do not respond", "2 of 3"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let one = server.ok(&["guards", "Near"]);
    assert!(one.lines().all(|line| line.starts_with("Near")) && !one.is_empty(), "{one}");
    for (thread, guard, about) in [
        (&held, "hold", "agents talked too long without a person"),
        (&near, "exchanges", "messages of agents since a person spoke"),
        (&busy, "queue_share", "waiting messages of user"),
        (&busy, "mute", "ada is muted"),
        (&busy, "pause", "paused: agents do not respond"),
        (&talk, "replies", "replies to the newest message"),
    ] {
        assert!(row(&server, thread, guard).is_some(), "{guard}");
        commands(&server, about).iter().for_each(|command| copied(&server, command));
        assert_eq!(row(&server, thread, guard), None, "{guard}");
    }
    // The queue's limit caused one Stop; another holds back unprompted messages.
    server.ok(&["stop", &talk]);
    let stopped = commands(&server, "stopped it: agents' own words wait");
    copied(&server, &stopped[0]);
    assert_eq!(row(&server, &talk, "stop"), None);
}

/// Money reserved by running calls, calls that wait for money, and used turns.
#[tokio::test]
async fn money_under_way_is_shown_and_each_budget_is_raised_as_the_table_says() {
    let (models, gate) = (ModelServer::start().await.unwrap(), Gate::default());
    models.always("m", Reply::text("Dear.").usage(0, 2).gated(&gate));
    let home = Home::new();
    home.configure(&format!(
        "[budgets]\nhall = {{ cost_per_day = 4.0 }}\nconversation = {{ turns_per_hour = 1 }}\n\
         [agents.ada]\nruntime = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\n\
         price_input = 0\nprice_output = 1000000\nmax_tokens = 2\n",
        models.url()
    ));
    let server = home.serve();
    let mut rooms = Vec::new();
    for _ in 0..3 {
        let thread = server.thread().await;
        server.invite(&thread, "ada", "ada").await;
        server.say(&thread, "@ada now").await;
        rooms.push(thread);
    }
    models.asked(2).await;
    let waits = async || server.ok(&["guards"]).contains("a call of ada waits for money");
    assert!(comes_about(waits).await);
    let shown = server.ok(&["guards"]);
    assert!(
        shown.starts_with("(whole server)") && shown.contains("reserved 4.00 of 4.00 USD"),
        "{shown}"
    );
    assert!(
        shown.contains("turns an hour, this conversation") && shown.contains("1 of 1"),
        "{shown}"
    );
    // A waiting call starts as soon as the budget is raised.
    copied(&server, &commands(&server, "a call of ada waits for money")[0]);
    models.asked(3).await;
    for command in commands(&server, "turns an hour, this conversation") {
        copied(&server, &command);
    }
    for room in &rooms {
        assert_eq!(row(&server, room, "budget").map(|row| row["limit"].clone()), None);
    }
    gate.open(10);
    let spent = async || server.ok(&["guards"]).contains("spent 6.00 of 6.00 USD");
    assert!(comes_about(spent).await, "{}", server.ok(&["guards"]));
    copied(&server, &commands(&server, "money a day, whole server")[0]);
}
