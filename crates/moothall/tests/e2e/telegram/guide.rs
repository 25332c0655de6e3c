//! docs/channels.md, played step by step: its commands as they stand there, its tables row by row,
//! and its configuration.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use moothall_testkit::telegram::{
    Bot, ChatId, MessageKey, PersonId, ShownMessage, TelegramFault, TelegramServer,
};

use super::{AGENTS, Chatroom, OpenGroup, agents, bound, entered, words};
use crate::harness::{Home, Server, comes_about, stderr};

fn guide() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/channels.md");
    std::fs::read_to_string(path).unwrap()
}

/// Returns the command lines of the guide in its order: those in blocks and those in sentences.
fn commands() -> Vec<String> {
    let guide = guide().replace("```sh", "`").replace("```", "`");
    let spans = guide.split('`').skip(1).step_by(2);
    let lines = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| line.starts_with("moothall ")).collect()
}

/// Returns the rows of the table with a heading, without that.
fn table(heading: &str) -> Vec<Vec<String>> {
    let guide = guide();
    let begin = guide.find(heading).unwrap_or_else(|| panic!("the guide has no table {heading}"));
    let rows = guide[begin..].lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split(" | ").map(|it| it.trim().to_owned()).collect()
    };
    rows.map(cells).collect()
}

/// Returns the pieces of a text that stand between back ticks.
fn spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Splits a command line at spaces outside of quotes, without the name of the program.
fn arguments(line: &str) -> Vec<String> {
    let pieces = line.split('"').enumerate();
    let words = pieces.flat_map(|(number, piece)| match number % 2 {
        0 => piece.split_whitespace().map(str::to_owned).collect(),
        _ => vec![piece.to_owned()],
    });
    words.skip(1).collect()
}

/// Runs a command of the guide with an input; returns its output.
fn run(server: &Server<'_>, line: &str, input: &str) -> String {
    let args = arguments(line);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = server.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
}

/// The service with one bot, as a newcomer has it.
struct Newcomer {
    telegram: TelegramServer,
    bot: Bot,
}

impl Newcomer {
    /// Returns Ann and her chat with the bot.
    fn ann(&self) -> (PersonId, ChatId) {
        let ann = self.telegram.person(7, "Ann");
        (ann, self.telegram.private(ann, &self.bot))
    }

    /// Opens the link of a pairing on the phone of a person, and taps Start.
    async fn tap_start(&self, output: &str, id: i64, name: &str) -> ChatId {
        let link = output.split_whitespace().find(|word| word.contains("?start=")).unwrap();
        let code = link.split_once("?start=").unwrap().1;
        let person = self.telegram.person(id, name);
        let chat = self.telegram.private(person, &self.bot);
        self.telegram.say(chat, person, &format!("/start {code}"));
        self.telegram.wait_for_message(chat, |it| it.text.starts_with("You are now")).await;
        chat
    }
}

// The service answers while a command waits, so it needs a thread of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_do_what_it_says() {
    let telegram = TelegramServer::start().await.unwrap();
    let bot = telegram.add_bot("analyst_bot", "Analyst");
    let newcomer = Newcomer { telegram, bot };
    let telegram = &newcomer.telegram;
    let home = Home::new();
    home.sign();
    home.configure(&format!("{AGENTS}\n[channels.telegram]\nbase_url = \"{}\"\n", telegram.url()));
    let server = home.serve();
    let plan = server.ok(&["new", "Launch plan"]);
    assert!(!plan.is_empty());
    let group = telegram.supergroup("Launch");
    let mut played = Vec::new();
    for line in commands() {
        match line.as_str() {
            "moothall agents" => assert!(run(&server, &line, "").contains("analyst")),
            "moothall channels add telegram analyst" => {
                let added = run(&server, &line, &format!("{}\n", newcomer.bot.token));
                assert!(added.contains("@analyst_bot"), "{added}");
            }
            "moothall channels pair telegram" => {
                let chat = newcomer.tap_start(&run(&server, &line, ""), 7, "Ann").await;
                // The fourth step: write to the bot.
                let ann = telegram.person(7, "Ann");
                telegram.say(chat, ann, "What changed?");
                telegram.wait_for_message(chat, |it| it.text == "Revenue grew by 8 %.").await;
                let thread = bound(&server, "telegram:7@analyst").await;
                assert_eq!(words(&server, &thread).await[0], "What changed?");
                telegram.join(group, &newcomer.bot, ann);
            }
            "moothall channels pair telegram --scope threads:admin --scope permissions:answer" => {
                newcomer.tap_start(&run(&server, &line, ""), 4711, "Bob").await;
            }
            "moothall channels pairings" => {
                let listed = run(&server, &line, "");
                let has = |account: &str| listed.contains(account);
                assert!(has("telegram:7") && has("telegram:4711"), "{listed}");
                assert!(has("threads:admin"), "{listed}");
            }
            "moothall channels unpair telegram:4711" => {
                run(&server, &line, "");
                assert!(!server.ok(&["channels", "pairings"]).contains("telegram:4711"));
            }
            "moothall channels offer telegram writer" => {
                telegram.let_manage(&newcomer.bot);
                assert!(run(&server, &line, "").contains("telegram:7"));
                let (ann, chat) = newcomer.ann();
                telegram.tap_new_bot(ann, chat, "Make the bot of writer");
                let is_taken = |text: &str| text.contains("is now the bot of writer");
                telegram.wait_for_message(chat, |it| is_taken(&it.text)).await;
                let listed = server.ok(&["channels"]);
                assert!(listed.contains("@writer_analyst_bot"), "{listed}");
            }
            "moothall channels" => assert!(run(&server, &line, "").contains("@analyst_bot")),
            "moothall channels bind \"Launch plan\" telegram:-100123" => {
                let line = line.replace("-100123", &group.id.to_string());
                run(&server, &line, "");
                let thread = bound(&server, &format!("telegram:{}", group.id)).await;
                server.say(&thread, "To the group").await;
                telegram.wait_for_message(group, |it| it.text.ends_with("To the group")).await;
            }
            // Other commands are there, with these words.
            _ => {
                let words = arguments(&line).into_iter().take_while(|it| !it.contains([':', '-']));
                let words: Vec<String> = words.take(2).collect();
                let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
                args.push("--help");
                server.ok(&args);
                continue;
            }
        }
        played.push(line);
    }
    played.sort();
    played.dedup();
    assert_eq!(played.len(), 9, "a step of the guide has other words now: {played:#?}");
}

/// Returns the number of an agent's messages in the group.
fn said_by(room: &Chatroom, group: &OpenGroup, agent: &str) -> usize {
    room.count(group.chat, |message| message.from == agent && !message.is_service)
}

/// Waits until all agents have ended their turns.
async fn at_rest(server: &Server<'_>, thread: &str) {
    let rests = async || {
        let state = server.get(&format!("/threads/{thread}/state")).await["state"].clone();
        ["turns", "queue", "upcoming"].iter().all(|key| state[*key].as_array().unwrap().is_empty())
    };
    assert!(comes_about(rests).await);
}

/// Writes something in the group, and waits until these agents have answered.
async fn answered(
    room: &Chatroom,
    server: &Server<'_>,
    group: &OpenGroup,
    write: impl FnOnce() -> MessageKey,
    names: &[&str],
) {
    at_rest(server, &group.thread).await;
    let before: BTreeMap<&str, usize> =
        names.iter().map(|name| (*name, said_by(room, group, name))).collect();
    write();
    let have = async || before.iter().all(|(name, count)| said_by(room, group, name) > *count);
    assert!(comes_about(have).await, "{names:?}: {:#?}", room.telegram.texts(group.chat));
}

#[tokio::test]
async fn the_rows_about_a_group_mean_what_they_say() {
    let room = Chatroom::new().await;
    let server = room.serve_freely().await;
    let group = room.open_group(&server).await;
    let say = |text: &str| room.telegram.say(group.chat, group.person, text);
    let rows = table("| you write | it means |");
    for row in &rows {
        let (text, codes) = (row[0].as_str(), spans(&row[0]));
        if text.starts_with("a reply to a message of the analyst's bot") {
            let of_analyst = |message: &ShownMessage| message.from == "Analyst";
            let message = room.said(group.chat, of_analyst).await;
            let draft = room.telegram.draft(group.chat, group.person, "and why?");
            let write = || draft.reply_to(message.key).send();
            answered(&room, &server, &group, write, &["Analyst"]).await;
        } else if text.contains("@analyst_bot") {
            answered(&room, &server, &group, || say(codes[0]), &["Analyst"]).await;
        } else if text.contains("everyone") || text.starts_with("`/ask analyst writer") {
            let both = ["Analyst", "Writer"];
            answered(&room, &server, &group, || say(codes[0]), &both).await;
        } else if text == "`/group dissolve`" {
            at_rest(&server, &group.thread).await;
            say(codes[0]);
            room.said(group.chat, |message| message.text.contains("dissolved")).await;
            say("@analyst_bot and now?");
            let alone = bound(&server, &format!("telegram:{}@analyst", group.chat.id)).await;
            entered(&server, &alone, "@analyst and now?").await;
            assert_eq!(agents(&server, &alone).await, ["analyst"]);
        } else if text.starts_with("`/group") {
            for code in codes {
                let asked = room.telegram.say(group.chat, group.person, code);
                let is_answer = |message: &ShownMessage| {
                    message.key.id > asked.id && message.from_id != group.person.0
                };
                let answer = room.said(group.chat, is_answer).await;
                assert!(!answer.text.contains("Unknown"), "{code}: {}", answer.text);
            }
        } else {
            panic!("this row of the guide is not played: {row:?}");
        }
    }
    assert_eq!(rows.len(), 6);
}

// The service answers while a command waits, so it needs a thread of its own.
#[tokio::test(flavor = "multi_thread")]
async fn the_scopes_and_states_of_the_guide_are_those_of_the_server() {
    let room = Chatroom::new().await;
    let server = room.serve().await;
    for row in table("| scope | the account may |") {
        let scope = spans(&row[0])[0].to_owned();
        let pairing = server.json(&["channels", "pair", "telegram", "--scope", &scope]);
        let scopes = pairing["scopes"].as_array().unwrap();
        assert!(scopes.iter().any(|known| *known == scope), "{pairing}");
        let meaning = spans(&row[1]);
        let known = server.ok(&["help"]) + &help_of(&room, &server).await;
        assert!(meaning.iter().all(|line| known.contains(line)), "{meaning:?}");
    }
    for scope in ["sessions:drive", "server:admin"] {
        let args = ["channels", "pair", "telegram", "--scope", scope];
        assert!(!server.command(&args).output().unwrap().status.success(), "{scope}");
    }

    let bot = &room.bots[0];
    let state = || server.json(&["channels"])["channels"][0]["bots"][0].clone();
    for row in table("says | it means | do this |") {
        let word = spans(&row[0])[0].to_owned();
        let fault = match word.as_str() {
            "hearing" => None,
            "unreachable" => Some(TelegramFault::BadGateway),
            "revoked" => Some(TelegramFault::Refuse(401, "Unauthorized".into())),
            // It takes two minutes; `crates/channels/tests/telegram` plays it.
            "doubled" | "foreign" => continue,
            // A restored log stops them; `chat_restore` plays it.
            "stopped" => continue,
            other => panic!("this state of the guide is not played: {other}"),
        };
        for _ in 0..3 {
            fault.iter().for_each(|fault| room.telegram.fault(bot, "getUpdates", fault.clone()));
        }
        // The poll that waits ends with a message; the next one meets the fault.
        let stranger = room.telegram.person(99, "Stranger");
        let chat = room.telegram.private(stranger, bot);
        room.telegram.say(chat, stranger, "hello");
        assert!(comes_about(async || state()["state"] == *word).await, "{word}: {}", state());
        let is_well = row[2].is_empty();
        assert_eq!(state()["cure"].is_null(), is_well, "{word}: {}", state());
    }
}

/// Returns the answer to `/help`.
async fn help_of(room: &Chatroom, server: &Server<'_>) -> String {
    let ann = room.telegram.person(7, "Ann");
    let chat = room.telegram.private(ann, &room.bots[0]);
    if !server.ok(&["channels", "pairings"]).contains("telegram:7") {
        room.pair(server, ann, &[]).await;
    }
    room.telegram.say(chat, ann, "/help");
    room.said(chat, |message| message.text.contains("/group create")).await.text
}

#[tokio::test]
async fn the_configuration_of_the_guide_connects_its_bots() {
    let telegram = TelegramServer::start().await.unwrap();
    let bots = ["analyst", "writer"].map(|name| telegram.add_bot(&format!("{name}_bot"), name));
    let base = format!("[channels.telegram]\nbase_url = \"{}\"\n", telegram.url());
    let blocks: Vec<String> = guide()
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().replace("[channels.telegram]\n", &base))
        .collect();
    let home = Home::new();
    home.configure(&format!("{AGENTS}\n{}", blocks.concat()));
    let variables = [
        ("TELEGRAM_BOT_TOKEN_ANALYST", bots[0].token.as_str()),
        ("TELEGRAM_BOT_TOKEN_WRITER", bots[1].token.as_str()),
    ];
    let server = home.serve_with("127.0.0.1:0", &variables);
    telegram.wait_for(|it| bots.iter().all(|bot| it.is_polling(bot))).await;
    server.stop();
    telegram.wait_for(|it| !bots.iter().any(|bot| it.is_polling(bot))).await;

    let guide = guide();
    let list = spans(&guide).into_iter().find(|span| span.starts_with("bots = [")).unwrap();
    let list = list.replace('…', &bots[0].token);
    home.configure(&format!("{AGENTS}\n{base}{list}\n"));
    let _server = home.serve();
    telegram.wait_for(|it| it.is_polling(&bots[0]) && !it.is_polling(&bots[1])).await;
}
