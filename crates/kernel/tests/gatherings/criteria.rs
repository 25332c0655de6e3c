//! The promises of a gathering, one test for each promise. The tests move the clock.

use moothall_kernel::command::{Actor, ClientCommand, EngineCommand, Post};
use moothall_kernel::compose::{Material, Story, TRANSCRIPT_BYTES, compose};
use moothall_kernel::event::{Event, Usage};
use moothall_kernel::gathering::{DeliveryMode, GatheringPlan};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::{Runtime, SeatRole};
use moothall_kernel::view::Viewer;

use super::{Table, plan};

/// Opens a gathering of two terminals and a person, with a terminal as its harvester.
fn circle(hearing: DeliveryMode) -> Table {
    let mut table = Table::new();
    table.invite("ann", 1, SeatRole::Speaker, Some(Runtime::TERMINAL));
    table.invite("bob", 2, SeatRole::Speaker, Some(Runtime::TERMINAL));
    table.invite("mo", 3, SeatRole::Speaker, None);
    table.invite("hal", 4, SeatRole::Harvester, Some(Runtime::TERMINAL));
    table.gather([1, 1, 1], 3, hearing);
    table
}

/// Starts the turn that a participant has now, and returns its prompt.
fn prompted(table: &mut Table, id: &str) -> Option<String> {
    let id = ParticipantId::new(id);
    let (turn, _) = table.start_of(&id)?;
    let turn = table.state.turn(turn)?.clone();
    let running = turn.running.as_ref()?;
    let viewer = Viewer::Participant(id);
    let story = Story::of(&table.state, Material::of(&table.log), &viewer);
    let (from, through) = (running.from_seq, running.through_seq);
    Some(compose(&table.state, &turn, from, through, &story, TRANSCRIPT_BYTES).text)
}

fn answers(table: &mut Table, id: &str, words: &str) {
    let (turn, attempt) = table.start_of(&ParticipantId::new(id)).unwrap();
    let (result, usage) = (Ok(words.to_owned()), Usage::default());
    table.command(EngineCommand::Finished { turn, attempt, result, usage });
}

fn says(table: &mut Table, id: &str, words: &str) {
    table.command(ClientCommand::Post(Post::new(Actor::named(id), words)));
}

fn passes(table: &mut Table, id: &str) {
    table.command(ClientCommand::Pass {
        by: Actor::named(id),
        to: None,
        reply_to: None,
        at_once: false,
    });
    // The pass of a working terminal takes effect when its turn ends.
    if table.holder() == Some(id.into()) {
        answers(table, id, "");
    }
}

/// Advances the clock by `seconds`, second by second.
fn after(table: &mut Table, seconds: u32) {
    for _ in 0..seconds {
        table.now += 1000;
        table.command(EngineCommand::Tick);
    }
}

fn said_by(table: &Table) -> Vec<String> {
    let posted = table.log.iter().filter_map(|recorded| match &recorded.event {
        Event::Posted(posted) => Some(posted.from.to_string()),
        _ => None,
    });
    posted.collect()
}

#[test]
fn each_participants_seed_includes_name_number_role_map_breath_rhythm_question_and_pulse() {
    let mut table = Table::new();
    table.invite("ann", 1, SeatRole::Speaker, Some(Runtime::TERMINAL));
    table.invite("bob", 2, SeatRole::Speaker, Some(Runtime::TERMINAL));
    table.invite("hal", 3, SeatRole::Harvester, Some(Runtime::TERMINAL));
    let plan = GatheringPlan {
        pulse: vec!["sessions that live: 3".into()],
        signals: vec!["2026-11-20 \"Deploy\", user: it failed on friday".into()],
        ..plan([2, 3, 2], 3, DeliveryMode::Live)
    };
    table.begin(plan);
    for (id, name, number) in [("ann", "Ann", 1), ("bob", "Bob", 2), ("hal", "Hal", 3)] {
        let seed = prompted(&mut table, id).unwrap();
        for part in [
            &format!("You are {name} ({number}) in this gathering."),
            "Speakers, in their order: Ann (1)",
            "Bob (2)",
            "Harvester, silent until the close: Hal (3)",
            "inhale 2, hold 3, exhale 2 rounds",
            "Rhythm: daily",
            "Opening question: What needs attention?",
            "3 beats of 60 s",
            "Pulse:\n- sessions that live: 3\n",
            "History signals:\n- 2026-11-20 \"Deploy\", user: it failed on friday\n",
        ] {
            assert!(seed.contains(part), "{id}: {part:?} in {seed}");
        }
    }
    let seed = prompted(&mut table, "hal").unwrap();
    assert!(seed.contains("You are the harvester"), "{seed}");
}

#[test]
fn a_speaking_agents_output_is_fanned_out_to_all_others_with_attribution() {
    let mut table = circle(DeliveryMode::Live);
    for id in ["bob", "hal"] {
        prompted(&mut table, id).unwrap();
        answers(&mut table, id, "I hear");
    }
    answers(&mut table, "ann", "I see a river.");
    for id in ["bob", "hal"] {
        let heard = prompted(&mut table, id).unwrap();
        assert!(heard.starts_with("Ann (1):\n\nI see a river.\n\n"), "{id}: {heard}");
        assert!(heard.ends_with("what you write now is not shown.\n"), "{id}: {heard}");
        answers(&mut table, id, "I hear that");
    }
    assert_eq!(said_by(&table), ["ann"], "what listeners write is not said");
}

#[test]
fn the_talking_piece_enforces_turn_order_and_the_harvester_never_holds_it() {
    let mut table = circle(DeliveryMode::OnTurn);
    let mut held = Vec::new();
    while let Some(holder) = table.holder() {
        for other in ["ann", "bob", "mo", "hal"].into_iter().filter(|id| *id != holder.as_str()) {
            says(&mut table, other, "may I?");
        }
        held.push(holder.to_string());
        passes(&mut table, holder.as_str());
    }
    assert_eq!(held, ["ann", "bob", "mo", "ann", "bob", "mo", "ann", "bob", "mo"]);
    assert_eq!(said_by(&table), [""; 0], "nobody spoke without the piece");
}

#[test]
fn heartbeat_prompts_are_injected_into_the_speaking_agents_session_at_configured_intervals() {
    let mut table = circle(DeliveryMode::OnTurn);
    prompted(&mut table, "ann").unwrap();
    answers(&mut table, "ann", "a thought");
    after(&mut table, 59);
    assert_eq!(prompted(&mut table, "ann"), None, "not before the interval is over");
    after(&mut table, 2);
    let beat = prompted(&mut table, "ann").unwrap();
    assert!(beat.starts_with("[Beat 1/3] Signals refresh: inhale round 1/1: "), "{beat}");
    assert!(beat.contains("after you Bob (2), Mo (3);"), "{beat}");
    assert!(beat.contains("Is your thread still alive? Continue, pivot, or pass."), "{beat}");
    assert_eq!(prompted(&mut table, "bob"), None, "beats are the holder's alone");
    // A beat during the holder's turn counts, but grants no turn.
    after(&mut table, 61);
    assert_eq!(table.state.gathering().unwrap().tenure.as_ref().unwrap().beats, 2);
    assert_eq!(table.state.open_turns().count(), 1);
}

#[test]
fn the_final_beat_delivers_a_graceful_close_prompt() {
    let mut table = circle(DeliveryMode::OnTurn);
    answers(&mut table, "ann", "a thought");
    after(&mut table, 61);
    answers(&mut table, "ann", "more");
    after(&mut table, 61);
    answers(&mut table, "ann", "and more");
    after(&mut table, 61);
    let last = prompted(&mut table, "ann").unwrap();
    assert!(last.ends_with("Your turn is up. What would you like to say last?\n"), "{last}");
    answers(&mut table, "ann", "that is all");
    assert_eq!(table.holder(), Some("bob".into()), "the last word hands the piece on");
    // A silent holder keeps the piece until its grace ends.
    answers(&mut table, "bob", "a thought");
    after(&mut table, 3 * 61 + 21);
    assert_eq!(table.holder(), Some("mo".into()));
}

#[test]
fn phase_transitions_are_tracked_by_round_count_and_announced_to_all_participants() {
    let mut table = circle(DeliveryMode::OnTurn);
    for holder in ["ann", "bob", "mo", "ann"] {
        passes(&mut table, holder);
    }
    let prompt = prompted(&mut table, "bob").unwrap();
    let announced = "--- Phase: HOLD (round 1/1) ---\nLet differences meet";
    assert!(prompt.contains(announced), "{prompt}");
    assert!(prompt.contains("The piece is now with Bob (2)."), "{prompt}");
    let phases = table.log.iter().filter_map(|recorded| match &recorded.event {
        Event::Noticed { code, text, .. } if code == "phase" => text.split(" ---").next(),
        _ => None,
    });
    let phases: Vec<_> = phases.collect();
    assert_eq!(phases, ["--- Phase: INHALE (round 1/1)", "--- Phase: HOLD (round 1/1)"]);
}

#[test]
fn the_harvester_receives_all_messages_never_speaks_and_is_asked_for_the_harvest_at_the_close() {
    let mut table = circle(DeliveryMode::OnTurn);
    for phase in ["first", "second", "third"] {
        answers(&mut table, "ann", &format!("{phase} river\nI pass"));
        answers(&mut table, "bob", &format!("{phase} mountain\nI pass"));
        says(&mut table, "mo", &format!("{phase} sea\nI pass"));
    }
    let asked = prompted(&mut table, "hal").unwrap();
    for words in ["first river", "second mountain", "third sea", "write its harvest now"] {
        assert!(asked.contains(words), "{words:?} in {asked}");
    }
    answers(&mut table, "hal", "## What emerged");
    let gathering = table.state.newest_gathering().unwrap();
    let harvest = gathering.harvest.unwrap();
    assert_eq!(gathering.closed.as_deref(), Some("done"));
    let found = table.log.iter().find(|recorded| recorded.seq == harvest.seq()).unwrap();
    assert_eq!(found.event.body(), Some("## What emerged"));
}

#[test]
fn a_human_participants_messages_are_fanned_out_with_the_same_attribution() {
    let mut table = circle(DeliveryMode::Live);
    for id in ["bob", "hal"] {
        prompted(&mut table, id).unwrap();
        answers(&mut table, id, "I hear");
    }
    passes(&mut table, "ann");
    passes(&mut table, "bob");
    says(&mut table, "mo", "I see the sea.");
    for id in ["ann", "bob", "hal"] {
        let heard = prompted(&mut table, id).unwrap();
        assert!(heard.contains("Mo (3):\n\nI see the sea.\n\n"), "{id}: {heard}");
    }
}
