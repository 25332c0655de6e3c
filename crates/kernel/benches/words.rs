//! The cost of reading a message, and its growth with the message.
//!
//! `cargo bench -p moothall-kernel --bench words` compares, for plain text, each reading with a
//! search for `@` in the same bytes and with a walk through its characters. For the worst repeated
//! units it prints the ratio of the time for 256 KiB to the time for 64 KiB: 4 is linear.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use moothall_kernel::mentions;
use moothall_kernel::participant::{AgentFacts, Kind, Participant, Profile};
use moothall_kernel::text::{self, code, sketch::Sketch};
use moothall_kernel::{pass, thoughts};

const SHORT: usize = 64 * 1024;
const LONG: usize = 4 * SHORT;
/// Ratio above which a reading counts as growing faster than the text.
const RATIO_MAX: f64 = 6.0;
/// Shorter times are too short to measure their growth.
const LEAST: Duration = Duration::from_millis(50);

const UNITS: &[&str] = &[
    "@",
    "@a",
    "@a@",
    "@.",
    "@a.",
    "@bob",
    "@bob/",
    "@bob@",
    "@bob ",
    "@all ",
    "@a:b",
    "@a/",
    "@。",
    "＠",
    "@\u{2068}",
    "@\u{301}",
    "a\u{301}",
    "\u{301}",
    "@민수",
    "민",
    "👩\u{200d}",
    "\u{200d}",
    "🏴",
    "\u{fe0f}",
    "`",
    "``` ",
    "`a",
    "``a`",
    "~",
    "*",
    "**a",
    "*a_",
    "_",
    "_a",
    "[",
    "![",
    "[a](",
    "[a]: ",
    "](",
    "<",
    "<a ",
    "<!--",
    "<?",
    "<a@",
    "</",
    "&",
    "\\",
    "\\@",
    "|",
    "|-",
    "|a|\n|-|\n",
    "> ",
    ">",
    "- ",
    "1. ",
    "\n",
    "\r\n",
    "\n\n",
    "a\n",
    "    a\n",
    "```\n",
    "> `\n",
    "www.",
    "http://",
    "://",
    "mailto:",
    "<think>",
    "<think></think>",
    "</think>",
    "[bob] ",
    "[THINK]",
    "<|end|>",
    "<|channel|>analysis<|message|>",
    "assistant",
    "\u{1b}]",
    "\u{1b}[",
    "\u{1b}",
    " ",
    "\u{feff}",
    "[PASS]",
    "a",
    "日",
    "a ",
];

fn who(id: &str, nickname: &str) -> Participant {
    let profile = Profile { nickname: Some(nickname.into()), ..Profile::default() };
    let invited = serde_json::json!({
        "id": id, "kind": Kind::Agent, "profile": profile, "facts": AgentFacts::external(),
        "skeleton": "", "invited_by": "user", "invited_at": 0, "cursor": 0, "shown": 0,
        "passes_in_a_row": 0, "polls_skipped": 0, "answered": false,
    });
    serde_json::from_value(invited).unwrap()
}

type TextReader = (&'static str, Box<dyn Fn(&str)>);

fn readings() -> Vec<TextReader> {
    let invited = [who("bob", "Bob"), who("a", "민수"), who("ann", "Ann Lee")];
    let others = invited.clone();
    let quoted = invited.clone();
    vec![
        (
            "named",
            Box::new(move |body| drop(black_box(mentions::named(body, &invited, &"u".into())))),
        ),
        (
            "named in code",
            Box::new(move |body| {
                black_box(mentions::named_in_code(body, &quoted, &"u".into()));
            }),
        ),
        ("meant", Box::new(move |body| drop(black_box(mentions::parse_names(body, &others))))),
        ("prose", Box::new(|body| drop(black_box(code::prose(body))))),
        ("prose lines", Box::new(|body| drop(black_box(code::prose_lines(body))))),
        ("thoughts", Box::new(|body| drop(black_box(thoughts::split(body, "bob"))))),
        (
            "pass",
            Box::new(|body| {
                black_box((pass::is_pass(body), pass::may_become_pass(body)));
            }),
        ),
        ("streamed", Box::new(streamed)),
        ("sketch", Box::new(|body| drop(black_box(Sketch::of(body))))),
        ("clean", Box::new(|body| drop(black_box(text::clean(body))))),
        ("for a program", Box::new(|body| drop(black_box(text::for_program(body))))),
        ("for a terminal", Box::new(|body| drop(black_box(text::for_terminal(body))))),
        ("revealed", Box::new(|body| drop(black_box(text::revealed(body))))),
    ]
}

/// Reads an answer as it comes, in pieces of 8 characters.
fn streamed(body: &str) {
    let mut splitter = thoughts::Splitter::new("bob", false);
    let (mut said, mut held) = (String::new(), true);
    let chars: Vec<char> = body.chars().collect();
    for piece in chars.chunks(8) {
        said.push_str(&splitter.push(&piece.iter().collect::<String>()).words);
        held = held && pass::may_become_pass(&said);
    }
    black_box((said, held));
}

/// Returns the least time of several runs.
fn least(runs: u32, work: impl Fn()) -> Duration {
    let run = |_| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    (0..runs).map(run).min().unwrap_or_default()
}

fn filled(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

fn plain() {
    let words = "The quick brown fox jumps over the lazy dog, and so on.\n\n".repeat(2_000);
    let plain = text::cut(&words, SHORT);
    let named = format!("{}@bob ", text::cut(&words, SHORT - 5));
    let search = least(20, || {
        black_box(black_box(plain).contains('@'));
    });
    let walk = least(20, || {
        black_box(black_box(plain).chars().filter(|c| *c == '@').count());
    });
    println!("64 KiB of plain text: search {search:.1?}, walk {walk:.1?}");
    for (title, text) in [("no name", plain), ("one name", named.as_str())] {
        for (name, read) in readings() {
            let time = least(20, || read(black_box(text)));
            let times = |floor: Duration| time.as_secs_f64() / floor.as_secs_f64();
            println!(
                "{title}: {name:<16} {time:>9.1?} {:>8.1} searches {:>7.2} walks",
                times(search),
                times(walk)
            );
        }
    }
}

fn growth() {
    println!(
        "the time of 256 KiB for that of 64 KiB, where it is above {RATIO_MAX}; and the slowest"
    );
    for (name, read) in readings() {
        let mut slowest = (Duration::ZERO, "");
        for unit in UNITS {
            let (short, long) = (filled(unit, SHORT), filled(unit, LONG));
            let runs = if least(1, || read(&short)) < Duration::from_millis(200) { 3 } else { 1 };
            let (short, long) = (least(runs, || read(&short)), least(runs, || read(&long)));
            slowest = slowest.max((long, unit));
            let ratio = long.as_secs_f64() / short.as_secs_f64();
            if ratio > RATIO_MAX && long > LEAST {
                println!("{name:<16} {unit:?}: {ratio:.1} ({short:.1?}, {long:.1?})");
            }
        }
        println!("{name:<16} slowest {:?}: {:.1?}", slowest.1, slowest.0);
    }
}

fn main() {
    plain();
    growth();
}
