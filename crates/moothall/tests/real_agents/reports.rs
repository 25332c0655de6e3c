//! The programs' reports from a terminal, in situations that differ between programs.

use moothall_engine::sessions::{HookNews, Permit, ReportedQuestion};
use moothall_kernel::permission::PartRole;
use moothall_testkit::model_server::{Gate, Reply};
use serde_json::json;

use crate::harness::comes_about;
use crate::world::{Came, World};

/// More pieces than any reply here has.
const ALL: usize = 1000;

async fn claude(permit: Permit) -> World {
    let mut world = World::of("claude", &[], &["❯"], permit).await;
    assert_eq!(world.listening.news().await, HookNews::Began);
    world
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_reports_turns_queued_prompts_interruptions_and_its_end() {
    let mut world = claude(Permit::Undecided).await;
    let gate = Gate::default();
    world.models.when("tag-one", Reply::text("Reply to one.").gated(&gate));
    world.terminal.prompt("First line\nand tag-one");
    world.listening.prompted("First line\nand tag-one").await;
    world.models.asked_about("tag-one").await;
    // Two more prompts while it is busy: Claude Code takes both at the end of the turn, and ends
    // once for both.
    world.models.when("tag-three", Reply::text("Reply to both."));
    let queued = "Press up to edit queued messages";
    world.terminal.prompt("Second tag-two");
    world.terminal.shows(&[queued]);
    world.terminal.prompt("Third tag-three");
    world.terminal.shows(&[queued]);
    gate.open(ALL);
    assert_eq!(world.listening.stopped().await.as_deref(), Some("Reply to one."));
    world.listening.prompted("tag-two").await;
    world.listening.prompted("tag-three").await;
    assert_eq!(world.listening.stopped().await.as_deref(), Some("Reply to both."));
    // An interrupted turn reports no end.
    world.models.when("tag-four", Reply::stall(["Begun "]));
    world.terminal.prompt("Fourth tag-four");
    world.listening.prompted("tag-four").await;
    world.models.asked_about("tag-four").await;
    world.terminal.key("Escape");
    // Before the first output, an interruption puts the prompt back and shows nothing.
    world.terminal.drawn(&["Fourth tag-four"]);
    world.models.when("tag-five", Reply::text("Reply to five."));
    world.terminal.key("C-u");
    world.terminal.prompt("Fifth tag-five");
    world.listening.prompted("tag-five").await;
    assert_eq!(world.listening.stopped().await.as_deref(), Some("Reply to five."));
    world.terminal.prompt("/exit");
    assert_eq!(world.listening.news().await, HookNews::Ended);
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_does_what_is_permitted_by_its_waiting_hook() {
    let mut world = claude(Permit::Allow).await;
    let input = json!({"command": "touch made-by-claude", "description": "Look around"});
    world.models.when("tag-touch", Reply::tool("Bash", input));
    world.terminal.prompt("Please touch tag-touch");
    world.listening.prompted("tag-touch").await;
    let Came::Question(hook) = world.listening.next().await else { panic!("no question") };
    let HookNews::Asks(ReportedQuestion { action, .. }) = hook.news else {
        panic!("{:?}", hook.news)
    };
    assert!(action.starts_with("Bash {") && action.contains("touch made-by-claude"), "{action}");
    assert!(world.listening.stopped().await.is_some());
    assert!(world.home.path().join("work/made-by-claude").exists());
    let [Some(used), None] = &world.listening.uses[..] else {
        panic!("{:?}", world.listening.uses)
    };
    let expected = (Some("Bash"), Some("touch made-by-claude"));
    assert_eq!((used.tool.as_deref(), used.line.as_deref()), expected);
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_takes_its_own_offer_not_to_ask_again() {
    let mut world = claude(Permit::AllowAlways(1)).await;
    for (tag, file) in [("tag-first", "made-first"), ("tag-second", "made-second")] {
        let input = json!({"command": format!("touch {file}"), "description": "Look around"});
        world.models.when(tag, Reply::tool("Bash", input));
        world.terminal.prompt(&format!("Please touch {tag}"));
        world.listening.prompted(tag).await;
        if tag == "tag-first" {
            let Came::Question(hook) = world.listening.next().await else { panic!("no question") };
            let HookNews::Asks(asks) = hook.news else { panic!("{:?}", hook.news) };
            let edits = (1, "Allow all edits, until this session ends".to_owned());
            assert!(asks.always.contains(&edits), "{:?}", asks.always);
            let parts = asks.detail.unwrap().parts;
            assert_eq!((parts[0].role, &*parts[0].text), (PartRole::Command, "touch made-first"));
            assert!(world.listening.stopped().await.is_some());
        }
        let made = world.home.path().join("work").join(file);
        assert!(comes_about(async || made.exists()).await, "{file}");
    }
    // The program shows each question that its hook answered.
    let screen = world.terminal.screen();
    assert_eq!(screen.matches("Allowed by PermissionRequest hook").count(), 1, "{screen}");
    assert!(screen.contains("accept edits on"), "{screen}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn claude_reads_why_a_person_refused() {
    let because = "the folder is for other files".to_owned();
    let mut world = claude(Permit::DenyBecause(because.clone())).await;
    world.models.when("tag-touch", Reply::tool("Bash", json!({"command": "touch not-made"})));
    world.terminal.prompt("Please touch tag-touch");
    world.listening.prompted("tag-touch").await;
    let Came::Question(_) = world.listening.next().await else { panic!("no question") };
    assert!(world.listening.stopped().await.is_some());
    assert!(!world.home.path().join("work/not-made").exists());
    let last = format!("{:?}", world.models.requests().last().unwrap());
    assert!(last.contains(&because), "{last}");
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn codex_reports_its_turns_and_not_its_titles() {
    let mut world = World::of("codex", &[], &["›"], Permit::Undecided).await;
    let gate = Gate::default();
    world.models.when("tag-one", Reply::text("Reply to one."));
    world.terminal.prompt("First line\nand tag-one");
    let news = world.listening.news().await;
    let HookNews::Stopped { text, inputs, .. } = news else { panic!("{news:?}") };
    assert_eq!(text.as_deref(), Some("Reply to one."));
    assert_eq!(inputs.unwrap(), ["First line\nand tag-one"]);
    // A prompt in the middle of a turn steers it: one end for both.
    world.models.when("tag-two", Reply::text("Reply to two.").gated(&gate));
    world.models.when("tag-three", Reply::text("Reply to three."));
    world.terminal.prompt("Second tag-two");
    world.models.asked_about("tag-two").await;
    world.terminal.prompt("Third tag-three");
    // Codex takes the prompt a moment after the key; after the turn's end it would begin a turn.
    world.terminal.shows(&["› Ask Codex to do anything"]);
    gate.open(ALL);
    let news = world.listening.news().await;
    let HookNews::Stopped { text, inputs, .. } = news else { panic!("{news:?}") };
    assert_eq!(text.as_deref(), Some("Reply to three."));
    assert!(inputs.unwrap().iter().any(|input| input.contains("tag-two")));
    // An interrupted turn reports no end.
    world.models.when("tag-four", Reply::stall(["Begun "]));
    world.terminal.prompt("Fourth tag-four");
    world.models.asked_about("tag-four").await;
    world.terminal.key("Escape");
    world.terminal.shows(&["interrupted"]);
    world.models.when("tag-five", Reply::text("Reply to five."));
    world.terminal.prompt("Fifth tag-five");
    assert_eq!(world.listening.stopped().await.as_deref(), Some("Reply to five."));
}

#[tokio::test]
#[ignore = "needs the real programs: ./scripts/test agents"]
async fn gemini_reports_turns_interruptions_and_its_end() {
    // Gemini CLI returns a prompt to its composer if it is submitted before the tool servers, which
    // are missing here, have been tried.
    let mut world =
        World::of("gemini", &["--skip-trust"], &["MCP issues detected"], Permit::Undecided).await;
    assert_eq!(world.listening.news().await, HookNews::Began);
    world.models.when("tag-one", Reply::text("Reply to one."));
    world.terminal.prompt("First line\nand tag-one");
    world.listening.prompted("tag-one").await;
    assert_eq!(world.listening.stopped().await.as_deref(), Some("Reply to one."));
    world.models.when("tag-two", Reply::hang());
    world.terminal.prompt("Second tag-two");
    world.listening.prompted("tag-two").await;
    world.models.asked_about("tag-two").await;
    world.terminal.key("Escape");
    assert_eq!(world.listening.stopped().await, None);
    world.terminal.prompt("/quit");
    assert_eq!(world.listening.news().await, HookNews::Ended);
}
