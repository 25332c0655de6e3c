//! Text that programs would interpret inside a prompt arrives literally, as seen in the request to
//! the model.

use std::fs;

use moothall_testkit::model_server::Reply;
use serde_json::Value;

use crate::house::{House, in_state};

/// Content of every file that a message must not pull in.
pub const SECRET: &str = "CANARY-in-a-file";

/// Code and prose without anything that a program interprets.
const PLAIN: &str = "diff --git a/x b/x\n@@ -1,2 +1,2 @@ fn x\n-a\n+b\n\
    @dataclass(frozen=True)\nclass A: pass\n#include <x.h>\nme@example.org \\@secret.txt\n\
    echo $PATH $1 ${dogs}\n# a heading\n/usr/bin/env, !ls and /clear in a line";

/// Creates a home with files, skills, agents and commands of each program.
pub async fn furnished() -> House {
    let house = House::new().await;
    let markdown = |name: &str| format!("---\nname: {name}\ndescription: It.\n---\n{SECRET}\n");
    for (file, text) in [
        ("work/secret.txt", SECRET.to_owned()),
        ("work/with blank.txt", SECRET.to_owned()),
        ("work/sub/critic.md", SECRET.to_owned()),
        ("outside.txt", SECRET.to_owned()),
        (".claude/commands/mine.md", markdown("mine")),
        (".gemini/commands/mine.toml", format!("prompt = \"{SECRET}\"\n")),
        (".codex/skills/mine/SKILL.md", markdown("mine")),
        ("work/.agents/skills/dogs/SKILL.md", markdown("barks")),
    ] {
        let file = house.home.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    house
}

pub fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Sends each text to a program; checks that its model gets the text literally, and nothing else.
async fn arrive(client: &str, said: &[(&str, &str)]) {
    let house = furnished().await;
    let server = house.serve();
    let session = house.run(&server, client, &[]).await;
    in_state(&server, &session, "idle").await;
    let home = house.home.path().to_str().unwrap();
    for (at, (words, expected)) in said.iter().enumerate() {
        let mark = format!("message-{at:02}");
        house.when(&mark, &Reply::text(&format!("answer-{at:02}")));
        let words = format!("{}\n{mark}", words.replace("HOME", home));
        let said = server.say(&session, &words).await;
        let answer = server.reply(&session, &said, client).await;
        assert_eq!(answer["content"], format!("answer-{at:02}"), "{words:?}");
        let requests = house.model(client).requests();
        let all: Vec<&str> = requests.iter().flat_map(|request| strings(&request.body)).collect();
        assert!(all.iter().all(|text| !text.contains(SECRET)), "{words:?} brought a file along");
        let expected = format!("{}\n{mark}\n", expected.replace("HOME", home));
        let came = all.iter().find(|text| text.contains(&mark));
        let is_said = all.iter().any(|text| text.contains(&expected));
        assert!(is_said, "{words:?} came as {came:?}");
    }
    assert!(!house.home.path().join("ran").exists(), "a command was run");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_reads_no_file_and_runs_no_command_on_what_is_said() {
    let said = [
        ("look at @secret.txt please", "look at ＠secret.txt please"),
        ("@HOME/outside.txt and @~/outside.txt", "＠HOME/outside.txt and ＠~/outside.txt"),
        ("up @../outside.txt, @\"with blank.txt\"", "up ＠../outside.txt, ＠\"with blank.txt\""),
        ("見て。@secret.txt\n\u{a0}@sub/critic.md", "見て。＠secret.txt\n\u{a0}＠sub/critic.md"),
        ("(@secret.txt) ＠secret.txt `@secret.txt`", "(@secret.txt) ＠secret.txt `@secret.txt`"),
        ("@agent-general-purpose, ultrathink", "＠agent-general-purpose, ｕltrathink"),
        ("/mine now", "/mine now"),
        ("!touch HOME/ran", "!touch HOME/ran"),
        (PLAIN, PLAIN),
    ];
    arrive("claude", &said).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_takes_no_skill_and_runs_no_command_on_what_is_said() {
    let said = [
        ("use $mine, or \\$barks", "use ＄mine, or \\＄barks"),
        ("x$mine and `$barks`", "x＄mine and `＄barks`"),
        ("[$a](HOME/.codex/skills/mine/SKILL.md)", "[＄a](HOME/.codex/skills/mine/SKILL.md)"),
        ("@secret.txt @HOME/outside.txt", "@secret.txt @HOME/outside.txt"),
        ("/status now", "/status now"),
        ("!touch HOME/ran", "!touch HOME/ran"),
        (PLAIN, PLAIN),
    ];
    arrive("codex", &said).await;
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_reads_no_file_and_runs_no_command_on_what_is_said() {
    let said = [
        ("look at (@secret.txt) please", "look at (＠secret.txt) please"),
        ("and @critic, me@critic.md?", "and ＠critic, me＠critic.md?"),
        ("@HOME/outside.txt @../outside.txt", "＠HOME/outside.txt ＠../outside.txt"),
        ("@with\\ blank.txt `@secret.txt` @*", "＠with\\ blank.txt `@secret.txt` ＠*"),
        ("@codebase_investigator x", "＠codebase_investigator x"),
        ("/mine now", "/mine now"),
        ("!touch HOME/ran", "!touch HOME/ran"),
        (PLAIN, PLAIN),
    ];
    arrive("gemini", &said).await;
}
