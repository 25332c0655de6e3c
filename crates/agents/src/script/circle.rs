//! The demo agents in a gathering: their words while they hold the piece, and the harvest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use moothall_kernel::event::TurnReason;

use super::Demo;
use super::room::{SeenMessage, TurnView, plain};
use super::text::{capitalised, gist, key_words, question, shorten};

/// The words by which a demo hands the piece on.
const PASS: &str = "I pass.";
/// The part of the request by which the harvester knows its turn.
const HARVESTER: &str = "You are the harvester: write its harvest";
/// The part of the seed message before the opening question.
const OPENING: &str = "Opening question: ";
const TOPIC_CHARS_MAX: usize = 160;
/// Number of key words among which a word is chosen.
const WORDS: usize = 6;

/// Returns the words of a turn in a gathering; `None` for any other turn.
pub(super) fn speak(demo: Demo, room: &TurnView<'_>) -> Option<String> {
    if !matches!(room.job.why, TurnReason::Piece | TurnReason::Beat) {
        return None;
    }
    if room.job.prompt.request.contains(HARVESTER) {
        return Some(harvest(room));
    }
    if room.job.why == TurnReason::Beat {
        return Some(format!("I have said what I see. {PASS}"));
    }
    Some(format!("{}\n\n{PASS}", contribution(demo, room)))
}

/// Returns the opening question, or else the newest words of a person.
fn topic(room: &TurnView<'_>) -> String {
    let prompt = &room.job.prompt;
    let seeded = [&prompt.system, &prompt.text, &prompt.standalone].into_iter().find_map(|text| {
        let (_, after) = text.split_once(OPENING)?;
        after.lines().next().map(plain)
    });
    shorten(&seeded.unwrap_or_else(|| room.asked()), TOPIC_CHARS_MAX)
}

/// Returns a key word of a text to speak about: the longest one for `index` 0, the next shorter one
/// for 1. If the text has too few, returns a general word. Long words are rarely verbs.
fn word(text: &str, index: usize) -> String {
    let mut words = key_words(text, WORDS);
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.into_iter().nth(index).unwrap_or_else(|| "this".to_owned())
}

/// Returns the demo's words in this round. Its first contribution to the conversation is its view,
/// its second one answers another speaker, and each later one says what it takes along.
fn contribution(demo: Demo, room: &TurnView<'_>) -> String {
    let topic = topic(room);
    let (first, second) = (word(&topic, 0), word(&topic, 1));
    let (name, point) = point_of(room, &topic);
    match (demo, room.own_words()) {
        (Demo::Analyst, 0) => format!(
            "I look at {first} first, and at {second} after that. One number from before and one \
             from after would tell us more than ten opinions."
        ),
        (Demo::Analyst, 1) => format!(
            "What {name} says can be checked: “{point}” If it holds, we see it in {first} within \
             a week. If we do not see it, we were wrong, and that is worth knowing too."
        ),
        (Demo::Analyst, _) => {
            format!("I take along one task: measure {first} before anything is changed.")
        }
        (Demo::Writer, 0) => format!(
            "Put simply: {first} is the part that people feel, and {second} is the part that we \
             can change. I would say both in one sentence, so that everyone can disagree with it."
        ),
        (Demo::Writer, 1) => format!(
            "I hear one thing in what was said, and {name} said it best: “{point}” I would write \
             that down as it is, and put what is still open below it."
        ),
        (Demo::Writer, _) => {
            format!(
                "I take along the text: half a page on {first}, with the open point at the end."
            )
        }
        (Demo::Critic, 0) => format!(
            "My doubt is about {second}: we speak of it as if we all meant the same. Who would say \
             that {first} is fine as it is, and what do they see that we do not?"
        ),
        (Demo::Critic, 1) => format!(
            "I contradict {name} in one point: “{point}” That is one case. Name a second one, and \
             I am with you."
        ),
        (Demo::Critic, _) => format!(
            "I can live with this if we say today on which day we look at {first} again, and who \
             says that it failed."
        ),
    }
}

/// Returns the name of the newest other speaker, and the gist of its first message, because its
/// later messages quote others. Without another speaker, these are "the question" and the gist of
/// the topic.
fn point_of(room: &TurnView<'_>, topic: &str) -> (String, String) {
    let speaker = room.last_other().map(|said| &said.post.from);
    let made = room.others_ever().into_iter().find(|said| Some(&said.post.from) == speaker);
    made.map_or_else(
        || ("the question".to_owned(), gist(topic)),
        |said| (name_of(said), gist(&without_pass(&said.post.body))),
    )
}

fn name_of(said: SeenMessage<'_>) -> String {
    capitalised(said.post.from.as_str())
}

/// Returns the harvest, in the form that the request demands.
fn harvest(room: &TurnView<'_>) -> String {
    let said = room.others_ever();
    let topic = topic(room);
    let mut speakers: BTreeMap<String, Vec<SeenMessage<'_>>> = BTreeMap::new();
    for one in &said {
        speakers.entry(name_of(*one)).or_default().push(*one);
    }
    let whole = said.iter().map(|one| without_pass(&one.post.body)).collect::<Vec<_>>().join(" ");
    let first = word(&topic, 0);
    let second = key_words(&whole, WORDS).into_iter().find(|other| *other != first);
    let second = second.unwrap_or_else(|| "what follows from it".to_owned());
    let quoted = |one: Option<&SeenMessage<'_>>| {
        one.map_or_else(|| "nothing yet".to_owned(), |one| gist(&without_pass(&one.post.body)))
    };
    let mut out = String::from("## What emerged\n### Individual, intangible\n");
    for (name, words) in &speakers {
        let _ = writeln!(out, "- **{name}:** {}", quoted(words.first()));
    }
    out.push_str("\n### Individual, tangible\n");
    for (name, words) in &speakers {
        let _ = writeln!(out, "- **{name}:** {}", quoted(words.last()));
    }
    let _ = writeln!(
        out,
        "\n### Collective, intangible\n- All came back to {first}, and to {second} with it.\n\n### Collective, tangible\n- {}\n\n## What is known now",
        quoted(said.last())
    );
    let names = speakers.keys().cloned().collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "- {} in this gathering, by {names}.", contributions(said.len()));
    let open =
        said.iter().rev().find_map(|one| question(&plain(&one.post.body)).map(str::to_owned));
    let open = open.unwrap_or_else(|| format!("How do we notice that {first} got better?"));
    let _ = writeln!(out, "\n## Thread for the next breath\n- {}", capitalised(&open));
    let _ = write!(
        out,
        "\n## Artifacts\n- Task: measure {first} before and after the change; belongs to the team.\n\
         - To remember: the open question above; belongs to the next gathering."
    );
    out
}

fn contributions(count: usize) -> String {
    format!("{count} contribution{}", if count == 1 { "" } else { "s" })
}

/// Returns a contribution without the words that handed the piece on.
fn without_pass(body: &str) -> String {
    let body = plain(body);
    body.strip_suffix(PASS).unwrap_or(&body).trim_end().to_owned()
}
