//! A first-time user's view: the built-in agents answer without any configuration.

use moothall_agents::script::Demo;
use moothall_kernel::event::{RecordedEvent, TurnReason};
use moothall_kernel::pass::{PASS, is_pass};
use strum::VariantArray;

use crate::common::{job, post, reply};

fn forced(demo: Demo, window: &[RecordedEvent]) -> String {
    demo.answer(&job(demo.into(), TurnReason::Forced, window))
}

fn polled(demo: Demo, window: &[RecordedEvent]) -> String {
    demo.answer(&job(demo.into(), TurnReason::Polled, window))
}

/// Returns the answer in a polled turn about the first message, with later ones visible.
fn polled_about_first(demo: Demo, window: &[RecordedEvent]) -> String {
    let mut job = job(demo.into(), TurnReason::Polled, window);
    job.trigger = window[0].clone();
    demo.answer(&job)
}

#[test]
fn the_analyst_takes_a_message_apart() {
    let asked = post(1, "user", "@analyst Revenue went from 40 to 52 in 2024. Is that good?");
    let expected = "This asks for a yes or a no and gives 2 numbers.\n\n\
        - **Question:** “Is that good?”\n\
        - **Numbers:** 40, 52 (a change of +12, +30%)\n\
        - **About:** revenue\n\
        - **Length:** 11 words";
    assert_eq!(forced(Demo::Analyst, &[asked]), expected);
}

#[test]
fn a_plain_remark_is_passed_by_all() {
    let said = [post(1, "user", "Nice weather today.")];
    for &demo in Demo::VARIANTS {
        assert_eq!(polled(demo, &said), PASS, "{demo:?}");
    }
}

#[test]
fn whoever_is_addressed_answers_whatever_was_said() {
    for words in [
        "",
        "?",
        "@critic",
        "Nice weather today.",
        "[PASS]",
        "你好",
        "\u{0}\n\n",
        "1e999 -- $ % ...",
    ] {
        let said = [post(1, "user", words)];
        for &demo in Demo::VARIANTS {
            let answer = forced(demo, &said);
            assert!(!answer.trim().is_empty() && !is_pass(&answer), "{demo:?} to {words:?}");
            assert_eq!(answer, forced(demo, &said), "the same turn gets the same answer");
        }
    }
}

#[test]
fn a_greeting_is_returned_once() {
    let hello = post(1, "user", "Hello everyone");
    assert!(polled(Demo::Writer, std::slice::from_ref(&hello)).starts_with("Hello, writer here."));
    assert_eq!(polled(Demo::Analyst, std::slice::from_ref(&hello)), PASS);
    let answered = [hello.clone(), reply(2, "bob", "Hello!", &hello)];
    assert_eq!(polled_about_first(Demo::Writer, &answered), PASS);
}

#[test]
fn the_critic_waits_for_somebody_to_disagree_with() {
    let asked = post(1, "user", "Should we raise the price to 12?");
    assert_eq!(polled(Demo::Critic, std::slice::from_ref(&asked)), PASS);
    let claim = reply(2, "analyst", "Raise it to 12 at once.", &asked);
    let objection = polled_about_first(Demo::Critic, &[asked.clone(), claim.clone()]);
    assert_eq!(
        objection,
        "One objection, @analyst: “Raise it to 12 at once.” — you take 12 as given, but where does it come from? A number without a source is an opinion."
    );
    let own = reply(3, "critic", &objection, &asked);
    assert_eq!(
        polled_about_first(Demo::Critic, &[asked, claim, own]),
        PASS,
        "one objection is enough"
    );
}

#[test]
fn a_reply_to_an_earlier_question_is_no_news() {
    let old = post(1, "user", "Is 12 good?");
    let window = [old.clone(), reply(2, "analyst", "Yes.", &old), post(3, "user", "Thanks.")];
    assert_eq!(polled(Demo::Critic, &window), PASS);
}

#[test]
fn the_writer_uses_what_the_others_said() {
    let asked = post(1, "user", "@writer Please draft a note about the price. Margins fell.");
    let claim = reply(2, "analyst", "**Margins** fell by 3%. More follows.", &asked);
    let draft = polled_about_first(Demo::Writer, &[asked, claim]);
    assert!(draft.starts_with("Draft:\n\n> "), "{draft}");
    assert!(draft.contains("As analyst puts it: “Margins fell by 3%.”"), "{draft}");
}

#[test]
fn the_analyst_answers_a_question_of_another_agent_once() {
    let asked = post(1, "user", "Is 12 a good price?");
    let own = reply(2, "analyst", "12 it is.", &asked);
    let objection = reply(3, "critic", "Where does 12 come from?", &asked);
    let window = [asked.clone(), own.clone(), objection.clone()];
    let answer = Demo::Analyst.answer(&job("analyst", TurnReason::Reaction, &window));
    assert!(answer.starts_with("Fair point, critic. “Where does 12 come from?”"), "{answer}");
    assert_eq!(
        answer,
        forced(Demo::Analyst, &window),
        "addressed or not, a question gets the same answer"
    );
    let statement = reply(3, "critic", "I doubt that.", &asked);
    assert_eq!(
        Demo::Analyst.answer(&job("analyst", TurnReason::Reaction, &[asked, own, statement])),
        PASS
    );
}

#[test]
fn quoting_somebody_names_nobody() {
    let asked = post(1, "user", "@writer draft this: ask @boss and @critic about “@everyone”?");
    let claim = reply(2, "bob", "Ask @boss.", &asked);
    for &demo in Demo::VARIANTS {
        let answer = polled_about_first(demo, &[asked.clone(), claim.clone()])
            .replace("One objection, @bob:", "");
        assert!(!answer.contains('@'), "{answer}");
    }
}

#[test]
fn a_message_that_waits_for_its_time_is_not_answered_early() {
    let asked = post(1, "user", "Is 12 good?");
    let later = post(2, "user", "Please draft something.");
    let claim = reply(3, "analyst", "Yes.", &asked);
    assert_eq!(
        Demo::Writer.answer(&job("writer", TurnReason::Reaction, &[asked, later, claim])),
        PASS
    );
}

/// Returns the words of a demo that holds the piece after these messages.
fn holding(demo: Demo, request: &str, window: &[RecordedEvent]) -> String {
    let mut job = job(demo.into(), TurnReason::Piece, window);
    job.prompt.request = request.into();
    job.prompt.system = "Rhythm: daily. Opening question: Why are our releases slow?\n".into();
    demo.answer(&job)
}

#[test]
fn a_gathering_of_demos_ends_with_a_harvest_of_what_was_said() {
    let mut window = vec![post(1, "moothall", "The piece goes round.")];
    for (turn, &demo) in Demo::VARIANTS.iter().cycle().take(9).enumerate() {
        let words = holding(demo, "The piece is with you: speak.", &window);
        assert!(words.ends_with("\n\nI pass."), "{words}");
        assert!(words.contains("releases") || turn > 2, "{words}");
        assert!(!window.iter().any(|event| event.event.body() == Some(&words)), "{words}");
        let name: &'static str = demo.into();
        window.push(post(turn as u64 + 2, name, &words));
    }
    let harvest = holding(
        Demo::Analyst,
        "You are the harvester: write its harvest now, from all that was said.",
        &window,
    );
    let parts = ["## What emerged", "## What is known now", "## Thread", "## Artifacts"];
    assert!(parts.iter().all(|part| harvest.contains(part)), "{harvest}");
    for speaker in ["**Writer:**", "**Critic:**"] {
        assert_eq!(harvest.matches(speaker).count(), 2, "{harvest}");
    }
    assert!(!harvest.contains("pass") && harvest.contains("releases"), "{harvest}");
}
