//! docs/computers.md, played step by step: its commands as they stand there, its tables row by row,
//! and its configuration.

use moothall_testkit::redis::RedisServer;
use moothall_testkit::redis_wire::RedisWire;
use serde_json::Value;

use super::{computer, computers, home, until_state};
use crate::harness::{Server, stderr};
use crate::links::{Hall, said, start, state, until};

/// The address of the guide, but for its scheme.
const ADDRESS: &str = ":password@redis.example";

fn guide() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/computers.md");
    std::fs::read_to_string(path).unwrap()
}

/// Returns the block of the guide in a language.
fn block(language: &str) -> String {
    let guide = guide();
    let begin = format!("```{language}\n");
    let (_, rest) = guide.split_once(&begin).unwrap_or_else(|| panic!("no block of {language}"));
    rest.split("```").next().unwrap().to_owned()
}

/// Returns the command lines of the guide in its order: those in blocks and those in sentences.
fn commands() -> Vec<String> {
    let guide = guide().replace("```sh", "`").replace("```", "`");
    let lines = guide.split('`').skip(1).step_by(2).flat_map(str::lines);
    lines.map(|line| line.trim().to_owned()).filter(|line| line.starts_with("moothall ")).collect()
}

/// Returns the first cells of the table with a heading.
fn first_cells(heading: &str) -> Vec<String> {
    let guide = guide();
    let begin = guide.find(heading).unwrap_or_else(|| panic!("the guide has no table {heading}"));
    let rows = guide[begin..].lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('`').nth(1).unwrap().to_owned()).collect()
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

/// Runs a command of the guide; returns what it prints, and what it says beside.
fn run(server: &Server<'_>, line: &str) -> (String, String) {
    let args = arguments(line);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = server.command(&args).output().unwrap();
    assert!(output.status.success(), "{line}: {}", stderr(&output));
    (String::from_utf8(output.stdout.clone()).unwrap(), stderr(&output))
}

/// Runs a command of the guide that reads a line.
fn run_with(server: &Server<'_>, line: &str, input: &str) -> String {
    let args = arguments(line);
    let args: Vec<&str> = args.iter().skip(1).map(String::as_str).collect();
    super::line(&computers(server, &args, input))
}

/// The two computers of the guide, with a session each.
struct GuideStage<'a> {
    workstation: Server<'a>,
    laptop: Server<'a>,
    hall: &'a Hall,
    address: String,
    /// The line that was printed last, for the other computer.
    line: String,
}

impl GuideStage<'_> {
    /// Plays a command at the computer that the guide means. Returns false if it is not a step.
    async fn play(&mut self, line: &str) -> bool {
        match line {
            _ if line.contains(ADDRESS) => {
                let line = line.replace(ADDRESS, &self.address);
                self.line = run_with(&self.workstation, &line, "");
            }
            "moothall computers join - --name laptop --up 8" => {
                self.line = run_with(&self.laptop, line, &self.line);
            }
            "moothall computers join -" => {
                run_with(&self.workstation, line, &self.line);
                until_state(&self.workstation, "laptop", "up").await;
                until_state(&self.laptop, "workstation", "up").await;
            }
            "moothall computers" => {
                let (listed, _) = run(&self.laptop, line);
                assert!(listed.contains("laptop  this computer"), "{listed}");
                assert!(listed.contains("workstation  up"), "{listed}");
                let ids = [&self.workstation, &self.laptop].map(|server| {
                    let own = server.json(&["computers"])["computers"][0].clone();
                    own["id"].as_str().unwrap().chars().next().unwrap()
                });
                assert_eq!(ids, ['1', '8'], "--up is the first digit");
            }
            "moothall sessions --computer workstation" => {
                let (listed, _) = run(&self.laptop, line);
                assert!(listed.contains("builder@workstation"), "{listed}");
                assert!(!listed.contains("writer"), "{listed}");
            }
            "moothall sessions --computer all" => {
                let (listed, _) = run(&self.laptop, line);
                let has = |name: &str| listed.contains(name);
                assert!(has("builder@workstation") && has("writer"), "{listed}");
            }
            "moothall send builder@workstation \"How far are you?\"" => {
                run(&self.laptop, line);
                let words = "How far are you?";
                let taken = || self.hall.taken().iter().any(|it| it.contains(words));
                until(words, async || taken()).await;
            }
            "moothall link writer builder@workstation" => {
                run(&self.laptop, line);
                let all = self.laptop.get("/links").await["links"].as_array().unwrap().len();
                assert_eq!(all, 1);
            }
            "moothall doctor --server http://127.0.0.1:5111" => {
                let line = line.replace("http://127.0.0.1:5111", &self.laptop.url);
                // The address of its own next server is taken, and no matter here.
                let (found, _) = run(&self.laptop, &format!("{line} --bind 127.0.0.1:0"));
                let has = |words: &str| found.contains(words);
                assert!(has("a round trip takes") && has("workstation is up"), "{found}");
            }
            "moothall computers forget workstation" => {
                run(&self.laptop, line);
                assert!(computer(&self.laptop, "workstation").is_null());
                until_state(&self.workstation, "laptop", "refused").await;
            }
            _ => return false,
        }
        true
    }
}

/// Returns a workstation with all rights of the guide's table for the laptop.
fn workstation_of_guide() -> Hall {
    let words: Vec<String> =
        first_cells("| word | it allows |").iter().map(|word| format!("\"{word}\"")).collect();
    assert_eq!(words.len(), 6);
    Hall::with(&format!("[computers.laptop]\nallow = [{}]\n", words.join(", ")))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_guide_do_what_it_says() {
    let Some(redis) = RedisServer::start(&["--requirepass", "password"]) else { return };
    let wire = RedisWire::to(&redis.socket());
    let address = wire.url().replace("redis://", ":password@");
    let (one, other) = (workstation_of_guide(), Hall::new());
    let (workstation, laptop) = (one.serve(), other.serve());
    let builder = start(&workstation, &one, "builder").await;
    start(&laptop, &other, "writer").await;
    let mut stage = GuideStage { workstation, laptop, hall: &one, address, line: String::new() };
    let mut played = Vec::new();
    // A pair that is ended has nothing more to show, so that step is the last.
    let (last, steps): (Vec<String>, Vec<String>) =
        commands().into_iter().partition(|line| line.contains(" forget "));
    for line in &steps {
        if stage.play(line).await {
            played.push(line.clone());
        } else {
            // Other commands are there, with these words.
            let words = arguments(line).into_iter().take_while(|it| !it.contains(['-', '<', '@']));
            let words: Vec<String> = words.take(2).chain(["--help".to_owned()]).collect();
            let args: Vec<&str> = words.iter().map(String::as_str).collect();
            stage.laptop.ok(&args);
        }
    }
    let state = async || state(&stage.workstation, &builder).await;
    until("the builder is idle", async || state().await == "idle").await;
    // The invitation of the guide.
    let thread = stage.laptop.thread().await;
    let invite: Value = serde_json::from_str(&block("json")).unwrap();
    stage.laptop.control(&thread, invite).await;
    stage.laptop.say(&thread, "@builder@workstation [say:it builds]").await;
    let answer = ("builder.workstation".to_owned(), "it builds".to_owned());
    until("it answers", async || said(&stage.laptop, &thread).await.contains(&answer)).await;

    for line in &last {
        assert!(stage.play(line).await, "{line}");
        played.push(line.clone());
    }
    played.sort();
    played.dedup();
    assert_eq!(played.len(), 11, "a step of the guide has other words now: {played:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_states_and_the_configuration_of_the_guide_are_those_of_the_server() {
    let Some(redis) = RedisServer::start(&[]) else { return };
    let (one, other) = (home(), home());
    one.configure(&block("toml"));
    let (workstation, laptop) = (one.serve(), other.serve());
    super::pair(&workstation, &laptop, &redis);
    let mut laptop = Some(laptop);
    for state in first_cells("| state | it means | do this |") {
        match state.as_str() {
            "up" => {}
            "away" => drop(laptop.take().map(Server::stop)),
            "refused" => {
                let laptop = laptop.insert(other.serve());
                until_state(laptop, "workstation", "up").await;
                computers(laptop, &["forget", "workstation"], "");
            }
            // It takes a backup, and is played with one in `restored`.
            "off" => continue,
            other => panic!("this state of the guide is not played: {other}"),
        }
        until_state(&workstation, "laptop", &state).await;
        let shown = computer(&workstation, "laptop");
        assert_eq!(shown["cure"].is_null(), state != "refused", "{shown}");
    }

    // A word that is not in the table is refused.
    one.configure("[computers.laptop]\nallow = [\"everything\"]\n");
    let refused = one.run(&["serve", "--bind", "127.0.0.1:0"]);
    assert!(!refused.status.success());
    for word in first_cells("| word | it allows |") {
        assert!(stderr(&refused).contains(&format!("`{word}`")), "{}", stderr(&refused));
    }
}
