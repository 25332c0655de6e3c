//! Words that hand the piece on and words that do not: generated speech, labelled by the grammar
//! that makes it.

use moothall_kernel::command::{Actor, ClientCommand, EngineCommand, Post};
use moothall_kernel::event::{Event, Usage};
use moothall_kernel::gathering::{DeliveryMode, GatheringEvent};
use moothall_kernel::ids::ParticipantId;
use moothall_kernel::participant::{Runtime, SeatRole};

use super::{Chance, Table};

/// The effect of a contribution on the piece, as the grammar below labels it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Passes {
    No,
    Next,
    To(&'static str),
}

/// Speech that mentions passing and passes nothing.
const SPEECH: [&str; 30] = [
    "When I pass to production it breaks.",
    "I pass to production",
    "I pass to the next point",
    "I pass on this one",
    "I pass the salt",
    "I pass judgement on nobody.",
    "I passed to Bob yesterday",
    "I will pass to Bob once the tests are green",
    "Should I pass to Bob?",
    "If I pass to Bob, Ann has to wait",
    "I pass to Bob and Ann",
    "I pass to Bob, if the tests are green",
    "We pass to Bob",
    "He said: I pass to Bob",
    "\"I pass to Bob\"",
    "'I pass.'",
    "`I pass to Bob`",
    "> I pass to Bob",
    ">> passing to Ann",
    "    I pass to Bob",
    "\tI pass",
    "- I pass to Bob",
    "1. I pass",
    "passing to staging",
    "Passing to Bob was a mistake",
    "The compiler says: passing to `Bob` moves it.",
    "pass",
    "passing",
    "Bob said \"I pass the piece\".",
    "I pass to robert",
];

/// Every form of a directive, with what it does.
const DIRECTIVES: [(&str, Passes); 22] = [
    ("I pass", Passes::Next),
    ("I pass.", Passes::Next),
    ("i pass!", Passes::Next),
    ("I pass the piece", Passes::Next),
    ("I pass the piece.", Passes::Next),
    ("  I pass the piece  ", Passes::Next),
    ("I pass to Bob", Passes::To("bob")),
    ("I pass to bob.", Passes::To("bob")),
    ("I PASS TO BOB", Passes::To("bob")),
    ("I pass to @bob", Passes::To("bob")),
    ("I pass to Cyd (3)", Passes::To("cyd")),
    ("I pass to 3", Passes::To("cyd")),
    ("I pass the piece to Cyd.", Passes::To("cyd")),
    ("passing to Cyd", Passes::To("cyd")),
    ("Passing to Bob.", Passes::To("bob")),
    // The named member does not get the piece: it goes on in order, with a note.
    ("I pass to Hal", Passes::Next),
    ("I pass to Ann", Passes::Next),
    ("passing to Hal.", Passes::Next),
    ("I pass to Nobody", Passes::Next),
    ("**I pass to Cyd**", Passes::To("cyd")),
    ("I pass to Cyd, who knows more", Passes::To("cyd")),
    ("Thanks. I pass. 🙂", Passes::Next),
];

/// Passes as models write them, and whole messages that only look like a pass. The holder is Ann,
/// the next is Bob.
const FORMS: [(&str, Passes); 92] = [
    ("**I pass**", Passes::Next),
    ("*I pass.*", Passes::Next),
    ("__I pass__", Passes::Next),
    ("_I pass_.", Passes::Next),
    ("***I pass!***", Passes::Next),
    ("I pass…", Passes::Next),
    ("I pass...", Passes::Next),
    ("I pass 🙂", Passes::Next),
    ("I pass 👍🏽!", Passes::Next),
    ("I pass. ✋️", Passes::Next),
    ("🎤 I pass.", Passes::Next),
    ("I pass :)", Passes::Next),
    ("I\u{a0}pass", Passes::Next),
    ("i  pass  the  piece", Passes::Next),
    ("I pass the talking piece", Passes::Next),
    ("**I pass the talking piece.**", Passes::Next),
    ("I pass the piece on.", Passes::Next),
    ("Thanks. I pass.", Passes::Next),
    ("That is all!  **I pass.**", Passes::Next),
    ("Is that so? I pass.", Passes::Next),
    ("*That is all.* I pass.", Passes::Next),
    ("I pass, nothing to add.", Passes::Next),
    ("A thought\nI pass", Passes::Next),
    ("A thought.\n\n🙂\n\nI pass\n\n🙂\n", Passes::Next),
    ("I pass\n---\n", Passes::Next),
    ("`cargo test` is green. I pass.", Passes::Next),
    ("She said \"enough\". I pass.", Passes::Next),
    ("> a quote\n\nI pass", Passes::Next),
    ("```\ncode\n```\nI pass", Passes::Next),
    ("*I pass to Cyd*", Passes::To("cyd")),
    ("I pass to **Cyd**", Passes::To("cyd")),
    ("I pass to **Cyd (3)**.", Passes::To("cyd")),
    ("I pass to **Cyd** (3)", Passes::To("cyd")),
    ("I pass to _Cyd_", Passes::To("cyd")),
    ("I pass to @Cyd", Passes::To("cyd")),
    ("I pass to `Cyd`", Passes::To("cyd")),
    ("I pass to #3", Passes::To("cyd")),
    ("I pass to Cyd 🙂", Passes::To("cyd")),
    ("I pass to Cyd, please.", Passes::To("cyd")),
    ("I pass to Cyd, who can tell us if it works.", Passes::To("cyd")),
    ("I pass to Cyd, who said it first.", Passes::To("cyd")),
    ("**I pass to Cyd**, who knows more.", Passes::To("cyd")),
    ("I pass the piece to Cyd", Passes::To("cyd")),
    ("I pass the talking piece to **Cyd**, thanks!", Passes::To("cyd")),
    ("passing the piece to Cyd", Passes::To("cyd")),
    ("Passing the talking piece to Cyd.", Passes::To("cyd")),
    ("Enough of me. Passing to Cyd!", Passes::To("cyd")),
    ("I pass to Zoe", Passes::Next),
    ("I pass to @zoe", Passes::Next),
    ("I pass to 9", Passes::Next),
    ("I pass the piece to production", Passes::Next),
    ("tests pass", Passes::No),
    ("All tests pass.", Passes::No),
    ("I pass to production", Passes::No),
    ("I pass?", Passes::No),
    ("I pass to Cyd?", Passes::No),
    ("I pass to Cyd who knows more", Passes::No),
    ("I pass to Cyd, if she wants it.", Passes::No),
    ("I pass to Cyd, but only if she wants it.", Passes::No),
    ("I pass to Cyd, once the tests are green", Passes::No),
    ("I pass to Cyd, unless there is more", Passes::No),
    ("I pass to Cyd, or to Bob", Passes::No),
    ("I pass to Cyd, Bob", Passes::No),
    ("I pass to Cyd, Ann said.", Passes::No),
    ("I pass, he said", Passes::No),
    ("I pass if there is nothing else", Passes::No),
    ("I pass when asked", Passes::No),
    ("I pass\nbut first a word", Passes::No),
    ("A\nI pass to Cyd\nand so on", Passes::No),
    ("I pass to Cyd\n\nBut before that: a word.", Passes::No),
    ("I pass. One more thing.", Passes::No),
    ("I pass to Cyd. Thank you.", Passes::No),
    ("Ann said:\nI pass to Cyd", Passes::No),
    ("**Bob wrote:**\n\nI pass to Cyd", Passes::No),
    ("Bob says: Enough. I pass to Cyd", Passes::No),
    ("When the tests are green,\nI pass to Cyd", Passes::No),
    ("Bob: \"Enough. I pass.\"", Passes::No),
    ("Bob: “Enough.\nI pass.”", Passes::No),
    ("«I pass»", Passes::No),
    ("`I pass`", Passes::No),
    ("**`I pass`**", Passes::No),
    ("```\nI pass", Passes::No),
    ("~~~\nI pass\n~~~", Passes::No),
    ("> **I pass**", Passes::No),
    ("    I pass", Passes::No),
    ("2. I pass to Cyd", Passes::No),
    ("b. I pass to Cyd", Passes::No),
    ("* I pass to Cyd, e.g. I pass to Bob", Passes::No),
    ("Somebody may stop here, e.g. I pass to Bob", Passes::No),
    ("I passed to Cyd.", Passes::No),
    ("I pass to Cyd and Bob", Passes::No),
    ("And so I pass to Cyd", Passes::No),
];

/// Returns a contribution and its effect: its last line counts, apart from blank ones.
fn transcript(chance: &mut Chance) -> (String, Passes) {
    let (mut lines, mut passes) = (Vec::new(), Passes::No);
    for _ in 0..=chance.below(6) {
        match chance.below(10) {
            0 | 1 => {
                let (line, does) = &DIRECTIVES[chance.below(DIRECTIVES.len() as u64) as usize];
                lines.push((*line).to_owned());
                passes = does.clone();
            }
            2 => {
                let fence = chance.pick(&["```", "~~~", "````"]);
                lines.push(format!("{fence}{}", chance.pick(&["", "text", "rust"])));
                for _ in 0..=chance.below(2) {
                    let quoted = &DIRECTIVES[chance.below(DIRECTIVES.len() as u64) as usize].0;
                    lines.push((*quoted).to_owned());
                }
                lines.push(fence.to_owned());
                passes = Passes::No;
            }
            3 => lines.push(String::new()),
            _ => {
                lines.push(chance.pick(&SPEECH).to_owned());
                passes = Passes::No;
            }
        }
    }
    (lines.join(chance.pick(&["\n", "\r\n"])), passes)
}

#[test]
fn early_pass_is_detected_and_mentions_of_passing_are_not() {
    let mut table = Table::new();
    for (number, id) in ["ann", "bob", "cyd"].into_iter().enumerate() {
        table.invite(id, number as u32 + 1, SeatRole::Speaker, Some(Runtime::TERMINAL));
    }
    table.invite("hal", 4, SeatRole::Harvester, Some(Runtime::LLM));
    table.gather([2, 2, 2], 3, DeliveryMode::OnTurn);
    let ann = ParticipantId::new("ann");
    let (turn, attempt) = table.start_of(&ann).unwrap();
    let mut chance = Chance(13);
    let mut counts = [0; 3];
    for _ in 0..10_000 {
        let (words, label) = transcript(&mut chance);
        let mut played = table.clone();
        let result = Ok(words.clone());
        let usage = Usage::default();
        let events = played.command(EngineCommand::Finished { turn, attempt, result, usage });
        let found = events.iter().find_map(|recorded| match &recorded.event {
            Event::Gathering(GatheringEvent::PieceReleased { next, .. }) => Some(next.clone()),
            _ => None,
        });
        let expected = match label {
            Passes::No => None,
            Passes::Next => Some(None),
            Passes::To(id) => Some(Some(ParticipantId::new(id))),
        };
        // Blank words pass the turn.
        let blank = words.trim().is_empty();
        assert!(blank || found == expected, "{words:?}: {found:?} in place of {expected:?}");
        counts[usize::from(expected.is_some()) + usize::from(expected.flatten().is_some())] += 1;
    }
    assert!(counts.iter().all(|count| *count > 1000), "{counts:?}");
}

#[test]
fn each_directive_form_passes_the_piece_alone_and_after_speech() {
    let mut table = Table::new();
    for (number, id) in ["ann", "bob", "cyd"].into_iter().enumerate() {
        table.invite(id, number as u32 + 1, SeatRole::Speaker, None);
    }
    table.invite("hal", 4, SeatRole::Harvester, None);
    table.gather([1, 1, 1], 3, DeliveryMode::OnTurn);
    for (line, does) in DIRECTIVES {
        for words in [line.to_owned(), format!("A thought.\n\n{line}\n")] {
            let mut played = table.clone();
            played.command(ClientCommand::Post(Post::new(Actor::named("ann"), words.clone())));
            let holder = played.holder().unwrap();
            let expected = if let Passes::To(id) = &does { id } else { "bob" };
            assert_eq!(holder.as_str(), expected, "{words:?}");
        }
    }
}

#[test]
fn a_long_last_line_costs_no_more_than_its_end() {
    let mut table = Table::new();
    for (number, id) in ["ann", "bob"].into_iter().enumerate() {
        table.invite(id, number as u32 + 1, SeatRole::Speaker, None);
    }
    table.invite("hal", 3, SeatRole::Harvester, None);
    table.gather([1, 1, 1], 3, DeliveryMode::OnTurn);
    let words = format!("{}I pass.", "key: value here. ".repeat(3_500));
    table.command(ClientCommand::Post(Post::new(Actor::named("ann"), words)));
    assert_eq!(table.holder().unwrap().as_str(), "bob");
}

#[test]
fn passes_are_read_as_models_write_them() {
    let mut table = Table::new();
    for (number, id) in ["ann", "bob", "cyd"].into_iter().enumerate() {
        table.invite(id, number as u32 + 1, SeatRole::Speaker, None);
    }
    table.invite("hal", 4, SeatRole::Harvester, None);
    table.gather([1, 1, 1], 3, DeliveryMode::OnTurn);
    let mut wrong = Vec::new();
    for (words, does) in FORMS {
        let mut played = table.clone();
        played.command(ClientCommand::Post(Post::new(Actor::named("ann"), words)));
        let holder = played.holder().unwrap();
        let expected = match &does {
            Passes::No => "ann",
            Passes::Next => "bob",
            Passes::To(id) => id,
        };
        if holder.as_str() != expected {
            wrong.push((words, holder));
        }
    }
    assert_eq!(wrong, []);
}
