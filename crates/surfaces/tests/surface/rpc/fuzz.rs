//! Valid calls, invalid calls and malformed frames in a random order. A small model predicts each
//! answer, and a failure prints its seed. `MOOTHALL_FUZZ=50` plays 50 times the usual number of
//! games, `MOOTHALL_FUZZ_SEED=7` plays others.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::client::{DEFAULT_APP, saying, words};
use super::{Agent, Client, agents, open_server};

/// Number of games in a run by default.
const GAMES: u64 = 6;
/// Number of steps in each game. It leaves room within the agents' limits for the checks at the
/// end.
const STEPS: usize = 150;
const NAMES: [&str; 4] = ["ann", "bob", "cid", "dan"];
const NOBODY: &str = "99999999-9999-4999-8999-999999999999";

/// Random numbers, the same for one seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end.max(1) as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

#[derive(Default)]
struct Talk {
    id: String,
    task: usize,
    members: BTreeSet<usize>,
    archived: bool,
    said: Vec<String>,
}

struct Task {
    id: String,
    manager: usize,
    admitted: BTreeSet<usize>,
    over: bool,
}

/// The expected state.
#[derive(Default)]
struct Model {
    tasks: Vec<Task>,
    talks: Vec<Talk>,
    /// Messages that each agent gets from each conversation, in order.
    heard: BTreeMap<(usize, String), Vec<String>>,
}

const OK: i64 = 0;
const FORBIDDEN: i64 = -32001;
const NOT_FOUND: i64 = -32002;
const NOT_ADMITTED: i64 = -32023;

impl Model {
    fn manages(&self, who: usize, task: Option<usize>) -> i64 {
        let Some(task) = task.map(|task| &self.tasks[task]) else { return NOT_FOUND };
        if task.over || task.manager != who { FORBIDDEN } else { OK }
    }

    fn task_id(&self, task: Option<usize>) -> String {
        task.map_or_else(|| NOBODY.to_owned(), |task| self.tasks[task].id.clone())
    }

    fn talk_id(&self, talk: Option<usize>) -> String {
        talk.map_or_else(|| NOBODY.to_owned(), |talk| self.talks[talk].id.clone())
    }

    /// Returns the code for a conversation that has to belong to this task.
    fn belongs(&self, task: Option<usize>, talk: Option<usize>) -> i64 {
        match talk.map(|talk| Some(self.talks[talk].task) == task) {
            None => NOT_FOUND,
            Some(true) => OK,
            Some(false) => FORBIDDEN,
        }
    }

    fn says(&self, who: usize, task: Option<usize>, talk: Option<usize>) -> i64 {
        let belongs = self.belongs(task, talk);
        let (Some(task), Some(talk)) = (task, talk) else { return belongs };
        let (task, talk) = (&self.tasks[task], &self.talks[talk]);
        match belongs {
            OK if !talk.members.contains(&who) => FORBIDDEN,
            OK if task.over => -32020,
            OK if talk.archived => -32022,
            belongs => belongs,
        }
    }

    fn reads(&self, who: usize, task: Option<usize>, talk: Option<usize>) -> i64 {
        let belongs = self.belongs(task, talk);
        let (Some(task), Some(talk)) = (task, talk) else { return belongs };
        let (task, talk) = (&self.tasks[task], &self.talks[talk]);
        let reads = task.manager == who || task.admitted.contains(&who);
        match belongs {
            OK if !reads || !talk.members.contains(&who) => FORBIDDEN,
            belongs => belongs,
        }
    }

    fn say(&mut self, who: usize, talk: usize, message: String) {
        let talk = &mut self.talks[talk];
        for hears in talk.members.iter().filter(|member| **member != who) {
            self.heard.entry((*hears, talk.id.clone())).or_default().push(message.clone());
        }
        talk.said.push(message);
    }
}

struct Game {
    dice: Dice,
    agents: [Agent; 4],
    lines: [Client; 4],
    model: Model,
    words: usize,
}

impl Game {
    /// Returns a random index below this number, or sometimes `None`.
    fn some(&mut self, many: usize) -> Option<usize> {
        let miss = many == 0 || self.dice.chance(6);
        (!miss).then(|| self.dice.below(many))
    }

    /// Returns a task and a conversation, which mostly belong together.
    fn place(&mut self) -> (Option<usize>, Option<usize>) {
        let talk = self.some(self.model.talks.len());
        let own = talk.map(|talk| self.model.talks[talk].task);
        let task = if self.dice.chance(85) { own } else { self.some(self.model.tasks.len()) };
        (task, talk)
    }

    fn few(&mut self) -> Vec<usize> {
        (0..=self.dice.below(3)).map(|_| self.dice.below(NAMES.len())).collect()
    }

    fn ids(&self, who: &[usize]) -> Vec<String> {
        who.iter().map(|one| self.agents[*one].id.clone()).collect()
    }

    /// Calls a method. The answer must have this code, or be a result if the code is 0.
    async fn call(&mut self, who: usize, method: &str, params: Value, wanted: i64) -> Value {
        let answer = self.lines[who].call(method, params.clone()).await;
        let got = answer["error"]["code"].as_i64().unwrap_or(OK);
        assert_eq!(got, wanted, "{method} of {} with {params}: {answer}", NAMES[who]);
        answer["result"].clone()
    }

    async fn step(&mut self) {
        let who = self.dice.below(NAMES.len());
        match self.dice.below(16) {
            0 => self.request(who).await,
            1 | 2 => self.create(who).await,
            3 => self.invite_member(who).await,
            4 => self.remove_member(who).await,
            5 => self.archive(who).await,
            6 => self.admit(who).await,
            7 if self.dice.chance(30) => self.leave(who).await,
            7 if self.dice.chance(30) => self.close(who).await,
            8 => self.nonsense(who).await,
            9 => self.read(who).await,
            _ => self.say(who).await,
        }
    }

    async fn request(&mut self, who: usize) {
        if self.model.tasks.len() >= 4 {
            return;
        }
        let invited = self.few();
        let ids = self.ids(&invited);
        let wish = json!({"appId": DEFAULT_APP, "invitedAgentIds": ids,
            "initialConversation": {"participants": ids}});
        let made = self.call(who, "task/request", wish, OK).await;
        let members: BTreeSet<_> = invited.into_iter().chain([who]).collect();
        let text = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let (task, id) = (self.model.tasks.len(), text(&made["conversation"]));
        let admitted = members.clone();
        let talk = Talk { id, task, members, ..Talk::default() };
        self.model.talks.push(talk);
        let id = text(&made["task"]);
        self.model.tasks.push(Task { id, manager: who, admitted, over: false });
    }

    async fn create(&mut self, who: usize) {
        let (task, few) = (self.some(self.model.tasks.len()), self.few());
        let admitted =
            |task: usize| few.iter().all(|one| self.model.tasks[task].admitted.contains(one));
        let wanted = match self.model.manages(who, task) {
            OK if !task.is_some_and(admitted) => NOT_ADMITTED,
            code => code,
        };
        let wish = json!({"taskId": self.model.task_id(task), "participants": self.ids(&few)});
        let made = self.call(who, "task/conversation/create", wish, wanted).await;
        if let (OK, Some(task)) = (wanted, task) {
            let id = made["conversation"]["id"].as_str().unwrap().to_owned();
            let members = few.into_iter().chain([who]).collect();
            self.model.talks.push(Talk { id, task, members, ..Talk::default() });
        }
    }

    async fn invite_member(&mut self, who: usize) {
        let ((task, talk), agent) = (self.place(), self.dice.below(NAMES.len()));
        let admitted = task.is_some_and(|task| self.model.tasks[task].admitted.contains(&agent));
        let wanted = match self.model.manages(who, task) {
            OK if !admitted => NOT_ADMITTED,
            OK => self.model.belongs(task, talk),
            code => code,
        };
        let params = self.about(task, talk, agent);
        self.call(who, "task/conversation/participants/add", params, wanted).await;
        if let (OK, Some(talk)) = (wanted, talk) {
            self.model.talks[talk].members.insert(agent);
        }
    }

    async fn remove_member(&mut self, who: usize) {
        let ((task, talk), agent) = (self.place(), self.dice.below(NAMES.len()));
        let wanted = match self.model.manages(who, task) {
            OK => self.model.belongs(task, talk),
            code => code,
        };
        let params = self.about(task, talk, agent);
        self.call(who, "task/conversation/participants/remove", params, wanted).await;
        if let (OK, Some(talk)) = (wanted, talk) {
            self.model.talks[talk].members.remove(&agent);
        }
    }

    fn about(&self, task: Option<usize>, talk: Option<usize>, agent: usize) -> Value {
        json!({"taskId": self.model.task_id(task), "conversationId": self.model.talk_id(talk),
            "agentId": self.agents[agent].id})
    }

    async fn archive(&mut self, who: usize) {
        let ((task, talk), on) = (self.place(), self.dice.chance(40));
        let wanted = match self.model.manages(who, task) {
            OK => self.model.belongs(task, talk),
            code => code,
        };
        let method = if on { "task/conversation/archive" } else { "task/conversation/unarchive" };
        let params = json!({"taskId": self.model.task_id(task),
            "conversationId": self.model.talk_id(talk)});
        self.call(who, method, params, wanted).await;
        if let (OK, Some(talk)) = (wanted, talk) {
            self.model.talks[talk].archived = on;
        }
    }

    async fn admit(&mut self, who: usize) {
        let (task, agent) = (self.some(self.model.tasks.len()), self.dice.below(NAMES.len()));
        let (on, wanted) = (self.dice.chance(70), self.model.manages(who, task));
        let method = if on { "task/addParticipant" } else { "task/removeParticipant" };
        let params = json!({"taskId": self.model.task_id(task), "agentId": self.agents[agent].id});
        self.call(who, method, params, wanted).await;
        if let (OK, Some(task)) = (wanted, task) {
            let admitted = &mut self.model.tasks[task].admitted;
            if on {
                admitted.insert(agent)
            } else {
                admitted.remove(&agent)
            };
        }
    }

    async fn leave(&mut self, who: usize) {
        let task = self.some(self.model.tasks.len());
        let wanted = if task.is_some() { OK } else { NOT_FOUND };
        let params = json!({"taskId": self.model.task_id(task)});
        self.call(who, "task/leave", params, wanted).await;
        let Some(task) = task else { return };
        let left = &mut self.model.tasks[task];
        if left.admitted.remove(&who) {
            left.over |= left.admitted.is_empty();
            let own = self.model.talks.iter_mut().filter(|talk| talk.task == task);
            for talk in own {
                talk.members.remove(&who);
            }
        }
    }

    async fn close(&mut self, who: usize) {
        let task = self.some(self.model.tasks.len());
        let wanted = self.model.manages(who, task);
        let params = json!({"taskId": self.model.task_id(task)});
        self.call(who, "task/close", params, wanted).await;
        if let (OK, Some(task)) = (wanted, task) {
            self.model.tasks[task].over = true;
            let own = self.model.talks.iter_mut().filter(|talk| talk.task == task);
            own.for_each(|talk| talk.archived = true);
        }
    }

    async fn say(&mut self, who: usize) {
        let (task, talk) = self.place();
        let wanted = self.model.says(who, task, talk);
        self.words += 1;
        let place = (self.model.task_id(task), self.model.talk_id(talk));
        let said = saying(&place, &format!("@bob {} [PASS]", self.words));
        let answer = self.call(who, "messages/send", said, wanted).await;
        if let (OK, Some(talk)) = (wanted, talk) {
            let id = answer["message"]["id"].as_str().unwrap().to_owned();
            self.model.say(who, talk, id);
        }
    }

    async fn read(&mut self, who: usize) {
        let (task, talk) = self.place();
        let wanted = self.model.reads(who, task, talk);
        let params = json!({"taskId": self.model.task_id(task),
            "conversationId": self.model.talk_id(talk), "limit": 200});
        let page = self.call(who, "messages/list", params, wanted).await;
        if let (OK, Some(talk)) = (wanted, talk) {
            let kept: Vec<_> = page["messages"].as_array().unwrap().iter().collect();
            let kept: Vec<_> = kept.iter().map(|one| one["id"].as_str().unwrap()).collect();
            assert_eq!(kept, self.model.talks[talk].said);
        }
    }

    /// Sends a malformed frame or a faulty call. The connection must survive.
    async fn nonsense(&mut self, who: usize) {
        let place = self.place();
        let good = saying(&(self.model.task_id(place.0), self.model.talk_id(place.1)), "a");
        let good = json!({"jsonrpc": "2.0", "id": "n", "method": "messages/send", "params": good});
        let mut bytes = good.to_string().into_bytes();
        match self.dice.below(4) {
            0 => {
                let at = self.dice.below(bytes.len());
                bytes.truncate(at);
            }
            1 => {
                let mut frame = good.clone();
                let member = ["id", "method", "params", "jsonrpc"][self.dice.below(4)];
                frame[member] = [json!(7), json!([]), json!(null)][self.dice.below(3)].clone();
                bytes = frame.to_string().into_bytes();
            }
            2 => bytes = format!("[{good},{good}]").into_bytes(),
            _ => {
                let mut frame = good.clone();
                let member = ["taskId", "conversationId", "parts", "more"][self.dice.below(4)];
                frame["params"][member] = json!({"a": "b"});
                bytes = frame.to_string().into_bytes();
            }
        }
        let line = &mut self.lines[who];
        match self.dice.chance(50) {
            true => line.message(Message::binary(bytes)).await,
            false => line.send(String::from_utf8(bytes).unwrap()).await,
        }
        let refused = line.wanted(|frame| frame.get("error").is_some()).await;
        let code = refused["error"]["code"].as_i64().unwrap();
        assert!([-32700, -32600, -32602].contains(&code), "{refused}");
    }

    /// Checks that each agent got exactly the expected messages.
    async fn end(mut self) {
        for (who, name) in NAMES.iter().enumerate() {
            self.call(who, "network/ping", json!({}), OK).await;
            let heard = self.model.heard.iter().filter(|((one, _), _)| *one == who);
            let heard: BTreeMap<_, _> =
                heard.map(|((_, talk), messages)| (talk.clone(), messages.clone())).collect();
            let mut got: BTreeMap<String, Vec<String>> = BTreeMap::new();
            for _ in 0..heard.values().map(Vec::len).sum() {
                let notice = self.lines[who].next_notice("messages/received").await;
                let text = |member: &str| notice["message"][member].as_str().unwrap().to_owned();
                got.entry(text("conversationId")).or_default().push(text("id"));
            }
            assert_eq!(got, heard, "{name}");
            let more = self.lines[who].settle().await;
            let stray = more
                .iter()
                .find(|text| text.contains("messages/received") || text.contains("\"result\""));
            assert_eq!(stray, None, "{name}");
        }
    }
}

/// Prints the seed if the game panics.
struct SeedPrinter(u64);

impl Drop for SeedPrinter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("MOOTHALL_FUZZ_SEED={} MOOTHALL_FUZZ=0 plays this again", self.0);
        }
    }
}

/// Returns the seeds of a run: the usual number times the given one, or one seed if that is 0.
fn seeds() -> std::ops::Range<u64> {
    let first = number("MOOTHALL_FUZZ_SEED", 1);
    first..first + (GAMES * number("MOOTHALL_FUZZ", 1)).max(1)
}

#[tokio::test]
async fn fuzzed_calls_answer_what_a_small_model_says() {
    for seed in seeds() {
        let seed_report = SeedPrinter(seed);
        let server = open_server().await;
        let (agents, lines) = agents(&server, NAMES).await;
        let dice = Dice(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let mut game = Game { dice, agents, lines, model: Model::default(), words: 0 };
        for _ in 0..STEPS {
            game.step().await;
        }
        game.end().await;
        drop(seed_report);
    }
}

/// Talks without waiting, with nonsense in between; returns the kept messages, in order.
async fn talks(mut line: Client, who: usize, seed: u64, places: &[(String, String)]) -> Talks {
    let mut dice = Dice(seed ^ (who as u64) << 32);
    let mut asked = Vec::new();
    for number in 0..40 {
        let place = dice.below(places.len());
        let words = format!("{who}.{number}");
        asked.push((place, line.ask("messages/send", saying(&places[place], &words)).await));
        if dice.chance(20) {
            line.send(["{", "[]", "\u{0}", "{\"id\":1}"][dice.below(4)]).await;
        }
    }
    let mut kept = vec![Vec::new(); places.len()];
    for (place, id) in asked {
        let answer = line.answer(&id).await;
        let message = &answer["result"]["message"];
        assert!(message.is_object(), "{answer}");
        kept[place].push(message["id"].as_str().unwrap().to_owned());
    }
    (line, kept)
}

type Talks = (Client, Vec<Vec<String>>);

#[tokio::test]
async fn fuzzed_crowds_hear_each_message_once_and_in_the_order_in_which_it_is_kept() {
    for seed in seeds() {
        let seed_report = SeedPrinter(seed);
        let server = open_server().await;
        let ([_, bob, cid, dan], [mut ann, b, c, d]) = agents(&server, NAMES).await;
        let places = [ann.task_with(&[&bob, &cid, &dan]).await, ann.task_with(&[&bob, &dan]).await];
        let crowd = [(ann, 0, 2), (b, 1, 2), (c, 2, 1), (d, 3, 2)];
        let all = crowd.map(|(line, who, many)| talks(line, who, seed, &places[..many]));
        let mut crowd: Vec<_> = join_all(all).await;
        for (number, place) in places.iter().enumerate() {
            let list = json!({"taskId": place.0, "conversationId": place.1, "limit": 200});
            let page = crowd[0].0.done("messages/list", list).await;
            let messages = page["messages"].as_array().unwrap().clone();
            let id = |message: &Value| message["id"].as_str().unwrap().to_owned();
            for (who, (line, kept)) in crowd.iter_mut().enumerate() {
                let Some(kept) = kept.get(number) else { continue };
                let own = |message: &&Value| words(message).starts_with(&format!("{who}."));
                let (mine, others): (Vec<&Value>, Vec<&Value>) = messages.iter().partition(own);
                assert_eq!(mine.into_iter().map(id).collect::<Vec<_>>(), *kept);
                for message in others {
                    let notice = line.wanted(|frame| {
                        frame["method"] == "messages/received"
                            && frame["params"]["message"]["conversationId"] == place.1
                    });
                    assert_eq!(notice.await["params"]["message"], *message);
                }
            }
        }
        for (line, _) in &mut crowd {
            line.done("network/ping", json!({})).await;
            let more = line.settle().await;
            assert!(!more.iter().any(|text| text.contains("messages/received")), "{more:?}");
        }
        drop(seed_report);
    }
}
