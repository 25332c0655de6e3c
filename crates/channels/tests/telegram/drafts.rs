//! Drafts in private chats: what a person sees of a running turn, and the button that stops it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use moothall_channels::config::RichRule;
use moothall_engine::access::Scope;
use moothall_engine::agent::{Agent, Job, Probe, Report, Reporter, TurnKey};
use moothall_engine::registry::{AgentSpec, Registry};
use moothall_kernel::event::{Event, Usage};
use moothall_kernel::participant::{Profile, Runtime};
use moothall_testkit::model_server::Gate;
use moothall_testkit::telegram::{ChatId, PersonId, ShownDraft, TelegramFault};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use super::House;

/// Longest time for which a test waits for a turn.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// An agent whose reports a test dictates.
#[derive(Default)]
pub struct DictatedAgent {
    turn: watch::Sender<Option<TurnReporter>>,
    cancelled: Mutex<usize>,
}

/// The reporter of the newest turn.
#[derive(Clone)]
struct TurnReporter(Arc<dyn Reporter>);

#[async_trait]
impl Agent for DictatedAgent {
    fn runtime(&self) -> Runtime {
        Runtime::SCRIPT
    }

    fn ensure(&self, job: Job, reporter: Arc<dyn Reporter>) {
        reporter.report(Report::Started { through: job.through });
        self.turn.send_replace(Some(TurnReporter(reporter)));
    }

    async fn probe(&self, _key: &TurnKey) -> Probe {
        Probe::Unknown
    }

    fn cancel(&self, _key: &TurnKey) {
        *self.cancelled.lock().unwrap() += 1;
    }
}

impl DictatedAgent {
    /// Waits for a turn and takes it.
    pub async fn turn(&self) -> Arc<dyn Reporter> {
        let mut turns = self.turn.subscribe();
        let granted = timeout(WAIT_MAX, turns.wait_for(Option::is_some)).await;
        let turn = granted.unwrap().unwrap().clone().unwrap();
        self.turn.send_replace(None);
        turn.0
    }
}

fn write(turn: &Arc<dyn Reporter>, text: &str) {
    turn.report(Report::Delta(text.to_owned()));
}

pub fn finish(turn: &Arc<dyn Reporter>, text: &str) {
    turn.report(Report::Finished { result: Ok(text.to_owned()), usage: Usage::default() });
}

/// A hall with a paired person who talks with the analyst in private.
struct Talk {
    house: House,
    agent: Arc<DictatedAgent>,
    ann: PersonId,
    chat: ChatId,
}

impl Talk {
    async fn open(scopes: &[Scope], rich: RichRule) -> Self {
        let agent = Arc::new(DictatedAgent::default());
        let mut registry = Registry::default();
        registry.insert(AgentSpec {
            client: "analyst".into(),
            summary: "Says what a test dictates.".into(),
            profile: Profile::default(),
            origin: "built-in",
            run_as: None,
            agent: agent.clone(),
        });
        let house = House::open_full(|settings| settings.rich = rich, registry).await;
        Self::of(house, agent, scopes).await
    }

    /// Opens a hall in which the bot of the analyst stands for an agent without a bot.
    async fn open_default() -> Self {
        let agent = Arc::new(DictatedAgent::default());
        let mut registry = Registry::default();
        registry.insert(AgentSpec {
            client: "stand-in".into(),
            summary: "Says what a test dictates.".into(),
            profile: Profile::default(),
            origin: "built-in",
            run_as: None,
            agent: agent.clone(),
        });
        let house =
            House::open_full(|it| it.default_agent = Some("stand-in".into()), registry).await;
        Self::of(house, agent, &[]).await
    }

    async fn of(house: House, agent: Arc<DictatedAgent>, scopes: &[Scope]) -> Self {
        let ann = house.telegram.person(7, "Ann");
        house.pair(ann, scopes).await;
        let chat = house.telegram.private(ann, &house.bots[0]);
        Self { house, agent, ann, chat }
    }

    /// Says something, and returns the turn that answers it.
    async fn ask(&self, text: &str) -> Arc<dyn Reporter> {
        self.house.telegram.say(self.chat, self.ann, text);
        self.agent.turn().await
    }

    /// Waits for a draft.
    async fn drafted(&self, is_meant: impl Fn(&ShownDraft) -> bool) -> ShownDraft {
        let shown = || self.house.telegram.shown_draft(self.chat).filter(|draft| is_meant(draft));
        self.house.telegram.wait_for(|_| shown().is_some()).await;
        shown().unwrap()
    }

    fn calls(&self, method: &str) -> usize {
        self.house.telegram.calls().iter().filter(|call| call.method == method).count()
    }
}

#[tokio::test]
async fn a_person_sees_an_answer_grow_and_then_the_message() {
    let talk = Talk::open(&[Scope::TurnsControl], RichRule::Never).await;
    let turn = talk.ask("How are earnings?").await;
    let thinking = talk.drafted(|draft| draft.text.is_empty()).await;
    assert!(thinking.can_stop, "{thinking:?}");
    write(&turn, "Revenue grew ");
    let half = talk.drafted(|draft| draft.text == "Revenue grew").await;
    write(&turn, "by **8 %**.");
    let whole = talk.drafted(|draft| draft.text == "Revenue grew by 8 %.").await;
    assert_eq!((half.id, whole.id), (thinking.id, thinking.id));
    finish(&turn, "Revenue grew by **8 %**.");
    talk.house.said(talk.chat, |message| message.text == "Revenue grew by 8 %.").await;
    assert_eq!(talk.house.telegram.shown_draft(talk.chat), None);
    assert_eq!(talk.calls("sendChatAction"), 0);
}

#[tokio::test]
async fn the_button_is_the_stop_of_that_person() {
    let talk = Talk::open(&[Scope::TurnsControl], RichRule::Never).await;
    let turn = talk.ask("Count to a million.").await;
    write(&turn, "One, two");
    talk.drafted(|draft| draft.text == "One, two").await;
    talk.house.telegram.stop_draft(talk.chat);
    talk.house.said(talk.chat, |message| message.text.contains("user stopped the agents")).await;
    // The part that was shown stays, as with every stop.
    talk.house.said(talk.chat, |message| message.text == "One, two").await;
    assert_eq!(*talk.agent.cancelled.lock().unwrap(), 1);
    let chat = "telegram:7@analyst".parse().unwrap();
    let stream = talk.house.hall.bound_to(&chat).await.unwrap().unwrap();
    let stops = |events: &[super::RecordedEvent]| {
        events.iter().filter(|one| matches!(one.event, Event::Stopped { .. })).count()
    };
    assert_eq!(stops(&talk.house.events(&stream).await), 1);

    // A press for a draft that is not shown stops nothing.
    let turn = talk.ask("Again.").await;
    write(&turn, "Three");
    let draft = talk.drafted(|draft| draft.text == "Three").await;
    talk.house.telegram.stop_draft_of(talk.chat, draft.id + 7);
    talk.house.telegram.wait_for(|it| it.pending(&talk.house.bots[0]).is_empty()).await;
    finish(&turn, "Three, four");
    talk.house.said(talk.chat, |message| message.text == "Three, four").await;
    assert_eq!(stops(&talk.house.events(&stream).await), 1);
}

#[tokio::test]
async fn a_press_at_a_draft_whose_message_was_sent_stops_nothing() {
    let talk = Talk::open(&[Scope::TurnsControl], RichRule::Never).await;
    let (telegram, gate) = (&talk.house.telegram, Gate::default());
    let turn = talk.ask("Count to a million.").await;
    write(&turn, "One");
    let draft = talk.drafted(|draft| draft.text == "One").await;
    // The call that hangs keeps the task of the draft from noticing the end.
    telegram.fault(&talk.house.bots[0], "sendMessageDraft", TelegramFault::Hold(gate.clone()));
    write(&turn, ", two");
    telegram.wait_for(|it| it.held() > 0).await;
    finish(&turn, "One, two");
    talk.house.said(talk.chat, |message| message.text == "One, two").await;
    telegram.stop_draft_of(talk.chat, draft.id);
    // Updates are received in their order, so the press was received before this message.
    let later = talk.ask("Again.").await;
    gate.open(1);
    let rows = talk.house.access.audit(None, 20).await.unwrap();
    assert!(rows.iter().all(|row| !row.entry.detail.contains("/stop")), "{rows:?}");
    finish(&later, "Three");
    talk.house.said(talk.chat, |message| message.text == "Three").await;
}

#[tokio::test]
async fn a_person_without_the_right_to_stop_gets_no_button() {
    let talk = Talk::open(&[], RichRule::Never).await;
    let turn = talk.ask("How are earnings?").await;
    write(&turn, "They");
    let draft = talk.drafted(|draft| draft.text == "They").await;
    assert!(!draft.can_stop, "{draft:?}");
    // A forged press is refused as `/stop` would be.
    talk.house.telegram.stop_draft_of(talk.chat, draft.id);
    talk.house.said(talk.chat, |message| message.text.contains("turns:control")).await;
    finish(&turn, "They grow.");
    talk.house.said(talk.chat, |message| message.text == "They grow.").await;
}

#[tokio::test]
async fn a_rich_draft_falls_back_and_a_server_without_drafts_shows_typing() {
    let talk = Talk::open(&[], RichRule::Auto).await;
    let turn = talk.ask("List them.").await;
    write(&turn, "- one\n- two");
    assert!(talk.drafted(|draft| draft.text.contains("two")).await.is_rich);
    let fault = TelegramFault::Refuse(400, "Bad Request: rich message is odd".into());
    talk.house.telegram.fault(&talk.house.bots[0], "sendRichMessageDraft", fault);
    write(&turn, "\n- three");
    assert!(!talk.drafted(|draft| draft.text.contains("three")).await.is_rich);
    finish(&turn, "- one\n- two\n- three");
    assert!(talk.house.said(talk.chat, |message| message.text.contains("three")).await.is_rich);

    talk.house.telegram.hide_method(&talk.house.bots[0], "sendMessageDraft");
    for number in 0..2 {
        let turn = talk.ask("Once more.").await;
        talk.house.telegram.wait_for(|_| talk.calls("sendChatAction") > number).await;
        finish(&turn, &format!("Answer {number}"));
        let is_answer = |text: &str| text == format!("Answer {number}");
        talk.house.said(talk.chat, |message| is_answer(&message.text)).await;
    }
}

#[tokio::test]
async fn a_group_has_no_drafts() {
    let talk = Talk::open(&[Scope::ThreadsAdmin], RichRule::Never).await;
    let group = talk.house.telegram.supergroup("Review");
    talk.house.telegram.enter(group, talk.ann);
    talk.house.telegram.join(group, &talk.house.bots[0], talk.ann);
    talk.house.said(group, |message| message.text.starts_with("This chat is connected")).await;
    talk.house.telegram.say(group, talk.ann, "@analyst_bot How are earnings?");
    let turn = talk.agent.turn().await;
    write(&turn, "They");
    talk.house.telegram.wait_for(|_| talk.calls("sendChatAction") > 0).await;
    finish(&turn, "They grow.");
    talk.house.said(group, |message| message.text == "They grow.").await;
    assert_eq!(talk.calls("sendMessageDraft"), 0);
}

#[tokio::test]
async fn a_flood_wait_drops_drafts_and_delays_the_message_alone() {
    let talk = Talk::open(&[], RichRule::Never).await;
    let bot = &talk.house.bots[0];
    talk.house.telegram.fault(bot, "sendMessageDraft", TelegramFault::TooMany(json!(1)));
    let turn = talk.ask("How are earnings?").await;
    talk.house.telegram.wait_for(|_| talk.calls("sendMessageDraft") > 0).await;
    write(&turn, "They");
    finish(&turn, "They grow.");
    talk.house.said(talk.chat, |message| message.text == "They grow.").await;
    let sent = talk.house.telegram.texts(talk.chat).into_iter().filter(|text| text == "They grow.");
    assert_eq!(sent.count(), 1);
}

#[tokio::test]
async fn a_bot_that_stands_for_the_default_agent_shows_what_it_writes() {
    let talk = Talk::open_default().await;
    let turn = talk.ask("How are earnings?").await;
    write(&turn, "They");
    talk.drafted(|draft| draft.text == "They").await;
    finish(&turn, "They grow.");
    talk.house.said(talk.chat, |message| message.text == "They grow.").await;
}
