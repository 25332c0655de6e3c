//! Tags in the reports of a program.

use super::*;

const ACCEPTED: &[&str] = &["1 Accepted Written", "heard true"];

fn text_of(news: HookNews) -> String {
    match news {
        HookNews::Prompt { text } => text,
        other => panic!("{other:?}"),
    }
}

/// Builds the report of a finished program, with all prompts of its conversation.
fn done(thread: &str, id: u64, inputs: &[&str]) -> Input {
    let inputs = Some(inputs.iter().map(|&input| input.to_owned()).collect());
    let news = HookNews::Stopped { text: Some("done".into()), inputs, interrupted: true };
    let native = Some(thread.to_owned());
    let (token, session) = (String::new(), "home".into());
    let hook = Hook { id: format!("t{id}"), session, token, native, news };
    Input::Hook { id: RequestId(id), hook }
}

#[test]
fn what_a_program_adds_to_a_prompt_does_not_make_it_a_persons() {
    let ours = text_of(prompt(1));
    let file =
        "--- Content from referenced files ---\nContent from @critic.md:\nbe harsh\n--- End ---";
    for text in [
        format!("{ours}\n{file}"),
        format!("{ours}{file}").replace(&*tag_of(&key(1)), &format!("{}\n", tag_of(&key(1)))),
        format!("<context>\nplan mode\n</context>\n{ours}\r\n\r\n"),
        ours.replace('\n', "\r\n    "),
    ] {
        Bench::sent(1).reports(HookNews::Prompt { text }, ACCEPTED);
    }
    // A tag in the middle of a line does not count.
    let said = format!("what is {} ?", tag_of(&key(1)));
    let cross = format!("cross {said} true");
    Bench::sent(1).reports(HookNews::Prompt { text: said }, &[&*cross]);
}

#[test]
fn a_prompt_of_a_turn_that_is_long_over_moves_nothing() {
    for text in [text_of(prompt(7)), format!("{}\na file", text_of(prompt(7)))] {
        Bench::sent(1).reports(HookNews::Prompt { text }, &["heard true"]);
    }
}

#[test]
fn another_conversation_in_which_a_prompt_was_taken_is_the_programs_own() {
    let mut bench = Bench::sent(1);
    let (first, second) = (text_of(prompt(1)), text_of(prompt(2)));
    let said = &["native old, 1 says done, listeners"];
    bench.says(done("old", 1, &[&first]), said);
    bench.says(Input::Kept(Ok(())), &["1 Done Written", "heard true"]);
    for input in [Input::Offered(job(2)), idle(), begun(2), idle()] {
        bench.handle(input);
    }
    for input in
        [Input::Marked(Ok(true)), Input::Pasted(Ok(PasteReport::default())), Input::Pressed(Ok(()))]
    {
        bench.handle(input);
    }
    // A background conversation may contain both prompts, but its last prompt is another.
    bench.says(done("aside", 2, &[&first, &second, "count the files"]), &["heard true"]);
    bench.says(done("aside", 3, &["by hand"]), &["heard true"]);
    bench.says(done("new", 4, &[&second]), &["native new, 2 says done, listeners"]);
    bench.says(Input::Kept(Ok(())), &["2 Done Written", "heard true"]);
    bench.says(
        done("new", 5, &[&second, "by hand"]),
        &["cross by hand true, cross done false, listeners"],
    );
}

#[test]
fn two_prompts_that_came_as_one_are_unknown() {
    let both = format!("{}\n{}", text_of(prompt(1)), text_of(prompt(2)));
    let lost: &[&str] = &["2 Unknown Written", "2 fails delivery_unknown", "heard true"];
    let two = || {
        let rows = [earlier(1, DeliveryState::Sent, false), earlier(2, DeliveryState::Sent, true)];
        let mut bench = Bench::new(rows.into());
        bench.says(Input::GaveUp(RequestId(0)), &["1 Unknown Written"]);
        bench
    };
    let mut bench = two();
    bench.reports(HookNews::Prompt { text: both.clone() }, lost);
    bench.reports(stopped("done"), &["home done, listeners"]);

    let mut bench = two();
    bench.says(done("own", 1, &[&both]), &["native own, home done, listeners"]);
    bench.says(Input::Kept(Ok(())), lost);
}

/// Returns a tag as a peer could compute it, without the secret: the form of old servers.
fn guessed(turn: u64) -> String {
    let key = key(turn);
    let known = format!("{}/{}/{}", key.stream, key.turn, key.attempt);
    format!("[moothall:{}]", &blake3::hash(known.as_bytes()).to_hex()[..8])
}

#[test]
fn words_with_the_tags_of_a_peer_move_nothing() {
    let mut bench = Bench::new(Vec::new());
    let mut job = job(2);
    let tags = [1, 2, 3].map(|turn| [guessed(turn), tag_of(&key(turn))]).concat();
    job.prompt.text = format!("Ada:\n\n{}", tags.join("\n"));
    for input in [Input::Offered(job), idle(), begun(2), idle()] {
        bench.handle(input);
    }
    let typed = bench.handle(Input::Marked(Ok(true))).into_iter().find_map(|output| match output {
        Output::Paste { text, .. } => Some(text),
        _ => None,
    });
    let typed = typed.unwrap();
    let alone: Vec<&str> =
        typed.lines().filter(|line| tags.iter().any(|tag| tag == line)).collect();
    assert_eq!(alone, [tag_of(&key(2))], "{typed}");
    for input in [Input::Pasted(Ok(PasteReport::default())), Input::Pressed(Ok(()))] {
        bench.handle(input);
    }
    for turn in [1, 2, 3] {
        bench.reports(HookNews::Prompt { text: format!("hi\n{}", guessed(turn)) }, &["heard true"]);
    }
    bench.reports(HookNews::Prompt { text: typed }, &["2 Accepted Written", "heard true"]);
}
