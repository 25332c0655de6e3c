//! Screens of the real programs, captured by tmux: Claude Code 2.1.197, Codex 0.169.0, Gemini CLI
//! 0.61.0.

use std::path::Path;

use moothall_agents::terminal::Vendor;
use moothall_agents::terminal::screen::Screen;
use moothall_engine::sessions::{Field, PaneState, View};

const PROGRAMS: [(&str, Vendor); 3] =
    [("claude", Vendor::Claude), ("codex", Vendor::Codex), ("gemini", Vendor::Gemini)];

fn view(program: &str, reads: Vendor, name: &str) -> View {
    screen(program, name).read(reads)
}

fn screen(program: &str, name: &str) -> Screen {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/agents/screens/{program}-{name}.txt"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Screen { lines: text.lines().map(str::to_owned).collect(), command: "node".to_owned() }
}

#[test]
fn every_program_is_read() {
    let numbers: String = (1..=14).map(|number| format!("{number}\n")).collect();
    for (program, reads) in PROGRAMS {
        let pasted = match reads {
            Vendor::Claude => "[Pasted text #1 +14 lines]".to_owned(),
            Vendor::Gemini => "[Pasted Text: 15 lines]".to_owned(),
            Vendor::Codex | Vendor::Other => numbers.trim_end().to_owned(),
        };
        for (name, state, composer) in [
            ("idle", PaneState::Idle, ""),
            ("typed", PaneState::Idle, "hello there"),
            ("short-paste", PaneState::Idle, "one\ntwo\nthree"),
            ("long-paste", PaneState::Idle, pasted.as_str()),
            ("busy", PaneState::Busy, ""),
            ("busy-typed", PaneState::Busy, "queued words"),
        ] {
            let view = view(program, reads, name);
            assert_eq!(
                (view.state, view.composer.as_deref(), view.dialog),
                (state, Some(composer), None),
                "{program} {name}\n{}",
                view.text
            );
        }
    }
}

/// The footer shows another hint after a paste.
#[test]
fn claude_is_busy_while_it_waits_to_ask_its_model_again() {
    let view = view("claude", Vendor::Claude, "retrying");
    assert_eq!((view.state, view.composer.as_deref()), (PaneState::Busy, Some("")));
}

#[test]
fn gemini_is_read_with_many_colours_too() {
    for (name, state, composer) in [
        ("idle", PaneState::Idle, ""),
        ("busy", PaneState::Busy, ""),
        ("busy-typed", PaneState::Busy, "queued words"),
        ("interrupted", PaneState::Idle, "slowly again"),
    ] {
        let view = view("gemini", Vendor::Gemini, &format!("colours-{name}"));
        assert_eq!(
            (view.state, view.composer.as_deref()),
            (state, Some(composer)),
            "{name}\n{}",
            view.text
        );
    }
}

#[test]
fn a_prompt_that_came_too_early_is_on_its_way() {
    let view = view("codex", Vendor::Codex, "waiting");
    assert_eq!(
        (view.state, view.composer.as_deref()),
        (PaneState::Busy, Some("Ann:\n\nHow do you do?\n[moothall:0123abcd]"))
    );
}

#[test]
fn questions_are_read() {
    for (program, reads, action, options) in [
        (
            "claude",
            Vendor::Claude,
            "Bash command\ntouch made.txt\nMakes a file\nDo you want to proceed?",
            ["Yes", "Yes, and always allow access to project/ from this project", "No"],
        ),
        (
            "codex",
            Vendor::Codex,
            "Environment: local\n\nReason: May I make a file?\n\n$ touch /etc/made.txt",
            [
                "Yes, proceed (y)",
                "Yes, and don't ask again for commands that start with `touch /etc/made.txt` (p)",
                "No, and tell Codex what to do differently (esc)",
            ],
        ),
        (
            "gemini",
            Vendor::Gemini,
            "Shell  touch made.txt\ntouch made.txt\nAllow execution of [Shell]?",
            ["Allow once", "Allow for this session", "No, suggest changes (esc)"],
        ),
    ] {
        let view = view(program, reads, "asking");
        assert_eq!(view.state, PaneState::Asking, "{program}\n{}", view.text);
        let dialog = view.dialog.unwrap();
        let labels: Vec<_> = dialog.options.iter().map(|option| option.label.as_str()).collect();
        assert_eq!((dialog.action.as_str(), labels), (action, options.to_vec()), "{program}");
    }
}

/// The dialogs that come before any prompt.
#[test]
fn whether_a_folder_is_trusted_is_a_question() {
    for (program, vendor, about, labels) in [
        ("claude", Vendor::Claude, "one you trust?", &["Yes, I trust this folder", "No, exit"][..]),
        (
            "codex",
            Vendor::Codex,
            "Trust this folder?",
            &["Trust and continue", "Back to Agent Command Center"],
        ),
        (
            "gemini",
            Vendor::Gemini,
            "Do you trust the files in this folder?",
            &["Trust folder (work)", "Trust parent folder (gm)", "Don't trust"],
        ),
    ] {
        let view = view(program, vendor, "folder");
        let dialog = view.dialog.unwrap_or_else(|| panic!("{program}: {:?}", view.state));
        assert!(
            view.state == PaneState::Asking && dialog.action.contains(about),
            "{}",
            dialog.action
        );
        assert_eq!(dialog.pointer, (program == "codex").then_some(0), "{program}");
        assert_eq!(
            dialog.options.iter().map(|option| option.label.as_str()).collect::<Vec<_>>(),
            labels
        );
    }
}

#[test]
fn what_follows_a_turn_is_idle() {
    // Claude Code puts the text of an interrupted turn back into its composer.
    for ((program, reads), composer) in PROGRAMS.into_iter().zip(["slowly again", "", ""]) {
        let view = view(program, reads, "interrupted");
        assert_eq!(
            (view.state, view.composer.as_deref()),
            (PaneState::Idle, Some(composer)),
            "{program}\n{}",
            view.text
        );
    }
}

#[test]
fn what_waits_for_a_turn_is_no_content() {
    for (program, reads) in [PROGRAMS[0], PROGRAMS[2]] {
        let view = view(program, reads, "queued");
        assert_eq!(
            (view.state, view.composer.as_deref()),
            (PaneState::Busy, Some("")),
            "{program}\n{}",
            view.text
        );
    }
}

#[test]
fn a_screen_that_is_not_known_takes_nothing() {
    assert_eq!(view("claude", Vendor::Claude, "starting").state, PaneState::Starting);
    for (_, reads) in PROGRAMS {
        for lines in [
            vec![],
            vec![String::new(); 50],
            vec!["$ ".to_owned()],
            vec!["─".repeat(80); 3],
            vec!["1. a".to_owned(), "2. b".to_owned()],
        ] {
            assert_eq!(
                Screen { lines: lines.clone(), command: "node".into() }.read(reads).state,
                PaneState::Starting,
                "{reads:?} {lines:?}"
            );
        }
    }
    let other =
        Screen { lines: vec!["ready".to_owned()], command: "repl".into() }.read(Vendor::Other);
    assert_eq!((other.state, other.composer), (PaneState::Idle, None));
}

#[test]
fn a_question_that_shows_less_than_all_says_so() {
    assert!(view("codex", Vendor::Codex, "asking").dialog.is_some_and(|dialog| !dialog.partial));
    let mut cut = screen("codex", "asking");
    let command =
        cut.lines.iter().rposition(|line| line.contains("made.txt") && line.contains('$')).unwrap();
    cut.lines.insert(command + 1, "  [… 78 lines] ctrl + a view all".to_owned());
    // In a small window, the line on how to choose follows the options directly.
    let last = cut.lines.iter().rposition(|line| line.contains("3. No")).unwrap();
    cut.lines.remove(last + 1);
    let dialog = cut.read(Vendor::Codex).dialog.unwrap();
    assert!(
        dialog.partial && dialog.action.ends_with("[… 78 lines] ctrl + a view all"),
        "{dialog:?}"
    );
    assert_eq!(
        dialog.options.last().unwrap().label,
        "No, and tell Codex what to do differently (esc)"
    );
}

#[test]
fn a_shell_is_a_shell_whatever_it_shows() {
    for command in ["bash", "-zsh", "sh", "fish"] {
        for (program, reads) in PROGRAMS {
            let shell = Screen { command: command.into(), ..screen(program, "idle") }.read(reads);
            assert_eq!(
                (shell.state, shell.composer),
                (PaneState::Shell, None),
                "{program} {command}"
            );
        }
    }
}

#[test]
fn what_was_said_is_not_taken_for_a_question() {
    // A message that looks like a dialog, in the composer and above it.
    for (program, reads) in PROGRAMS {
        let mut screen = screen(program, "typed");
        for line in &mut screen.lines {
            *line = line.replace("hello there", "1. Yes");
        }
        let row = screen.lines.iter().position(|line| line.contains("1. Yes")).unwrap();
        screen.lines.insert(row + 1, "  2. No".to_owned());
        let view = screen.read(reads);
        assert_eq!((view.state, view.dialog), (PaneState::Idle, None), "{program}\n{}", view.text);
    }
}

/// The dialog of a program's own question to its user: the last option is below another line.
#[test]
fn a_question_of_claude_to_its_user_is_read() {
    let rule = "─".repeat(80);
    let lines = |mark: &str| {
        let text = format!(
            "● I have a question.\n\n{rule}\n{mark} ☐ DB\n\nWhich DB?\n\n❯ 1. SQLite\n     One file\n  2. Postgres\n     A server\n  3. Type something.\n\
             {rule}\n  4. Chat about this\n\nEnter to select · ↑/↓ to navigate · Esc to cancel"
        );
        text.lines().map(str::to_owned).collect()
    };
    for mark in ["", "← "] {
        let view = Screen { lines: lines(mark), command: "node".into() }.read(Vendor::Claude);
        let dialog = view.dialog.unwrap_or_else(|| panic!("{:?}\n{}", view.state, view.text));
        let labels: Vec<_> = dialog.options.iter().map(|option| option.label.as_str()).collect();
        assert_eq!(
            labels,
            ["SQLite One file", "Postgres A server", "Type something.", "Chat about this"]
        );
        assert!(
            dialog.action.contains("DB") && dialog.action.contains("Which DB?"),
            "{}",
            dialog.action
        );
        assert_eq!(
            dialog.options.iter().map(|option| option.takes_text).collect::<Vec<_>>(),
            [false, false, true, false]
        );
    }
    let chosen = lines("").into_iter().map(|line: String| line.replace(". ", ". [ ] ")).collect();
    let many = Screen { lines: chosen, command: "node".into() }.read(Vendor::Claude);
    assert_eq!(
        (many.state, many.dialog),
        (PaneState::Starting, None),
        "no box stands before what is the program's own"
    );
    let label = |line: String| line.replace("1. SQLite", "1. [ ] SQLite");
    let named =
        Screen { lines: lines("").into_iter().map(label).collect(), command: "node".into() };
    let dialog = named.read(Vendor::Claude).dialog.expect("a label may look like a box");
    assert_eq!((dialog.options[0].label.as_str(), dialog.checked), ("[ ] SQLite One file", None));
}

/// The field of such a question: with the focus, with words, and with words but without the focus.
/// It stays the same question.
#[test]
fn the_field_of_a_question_of_claude_is_read() {
    let dialog = |name: &str| {
        let view = view("claude", Vendor::Claude, name);
        view.dialog.unwrap_or_else(|| panic!("{name} {:?}\n{}", view.state, view.text))
    };
    let asked = dialog("choosing");
    assert_eq!(asked.action, "☐ DB\nWhich database do we use?");
    for (name, is_focused, words) in [
        ("choosing", false, ""),
        ("choosing-field", true, ""),
        ("choosing-typed", true, "MariaDB,\n\n1. version 11"),
        ("choosing-left", false, "MariaDB,\n\n1. version 11"),
    ] {
        let dialog = dialog(name);
        let labels: Vec<_> = dialog
            .options
            .iter()
            .map(|option| (option.id.as_str(), option.label.as_str()))
            .collect();
        assert_eq!(
            labels,
            [
                ("1", "SQLite One file"),
                ("2", "Postgres A server"),
                ("3", "Type something."),
                ("4", "Chat about this")
            ]
        );
        assert_eq!(
            dialog.field,
            Some(Field { option: 2, is_focused, words: words.to_owned() }),
            "{name}"
        );
        assert!(dialog.options[2].takes_text && dialog.is_same(&asked), "{name}");
    }
}

/// A question with several choices, or one of several questions in one call. Checked options and
/// typed words do not make it another question.
#[test]
fn questions_with_boxes_and_with_several_parts_are_read() {
    let dialog = |name: &str| {
        let (program, rest) = name.split_once('-').unwrap();
        let (_, vendor) = PROGRAMS.into_iter().find(|(known, _)| *known == program).unwrap();
        let view = view(program, vendor, rest);
        view.dialog.unwrap_or_else(|| panic!("{name} {:?}\n{}", view.state, view.text))
    };
    let labels = |name: &str| {
        let options = dialog(name).options;
        let shown = options.into_iter().map(|option| {
            let marks = [(option.takes_text, " words"), (option.with_others, " +")];
            let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark);
            format!("{} {}{}", option.id, option.label, marks.collect::<String>())
        });
        shown.collect::<Vec<_>>()
    };
    let boxes = dialog("claude-boxes");
    assert_eq!(boxes.action, "←  ☐ Checks  ✔ Submit  →\nWhich checks shall run?");
    let options =
        ["1 Unit Fast ones +", "2 Style Lints +", "3 Real Slow ones +", "4 Chat about this"];
    assert_eq!(labels("claude-boxes"), options);
    assert_eq!(boxes.checked, Some(vec![0, 1]));
    let words = |name: &str| dialog(name).field.map(|field| (field.is_focused, field.words));
    assert_eq!(words("claude-boxes"), Some((false, String::new())));
    assert_eq!(labels("claude-several-boxes")[..2], ["1 Unit Fast ones +", "2 Style Lints +"]);
    assert_eq!(dialog("claude-several-boxes").checked, Some(vec![]));
    assert_eq!(labels("claude-several")[2..], ["3 Type something. words", "4 Chat about this"]);
    for (name, confirms) in [("claude-boxes-review", true), ("claude-several-review", false)] {
        let review = dialog(name);
        assert!(review.action.contains("Review your answers"), "{}", review.action);
        assert_eq!(labels(name), ["1 Submit answers", "2 Cancel"]);
        assert_eq!((review.whole, review.confirms), (true, confirms), "{name}");
    }
    let asked = dialog("gemini-several");
    assert!(asked.action.ends_with("Which database do we use?"), "{}", asked.action);
    let options = ["1 SQLite One file", "2 Postgres A server", "3 Enter a custom value words"];
    for (name, is_focused, typed) in [
        ("gemini-several", false, ""),
        ("gemini-several-field", true, ""),
        ("gemini-several-typed", true, "Maria"),
    ] {
        assert_eq!(labels(name), options, "{name}");
        assert_eq!(words(name), Some((is_focused, typed.to_owned())), "{name}");
        assert!(dialog(name).is_same(&asked) && asked.whole, "{name}");
    }
    let review = dialog("gemini-several-review");
    assert!(review.action.contains("DB → Maria") && review.whole, "{}", review.action);
    assert_eq!(
        (labels("gemini-several-review"), review.pointer),
        (vec!["1 Submit".into()], Some(0))
    );
    for left in ["boxes", "words"] {
        assert_eq!(view("gemini", Vendor::Gemini, left).state, PaneState::Starting, "{left}");
    }
}

#[test]
fn a_box_of_gemini_that_stands_further_right_is_read() {
    let mut screen = screen("gemini", "asking");
    for line in &mut screen.lines {
        line.insert(0, ' ');
    }
    assert_eq!(screen.read(Vendor::Gemini).dialog, view("gemini", Vendor::Gemini, "asking").dialog);
}

/// The name of a session stands in the upper line of the composer. A name wider than the window
/// breaks both lines.
#[test]
fn claude_is_read_under_a_name() {
    for name in ["named", "named-narrow", "named-wide", "plan"] {
        let view = view("claude", Vendor::Claude, name);
        assert_eq!(
            (view.state, view.composer.as_deref()),
            (PaneState::Idle, Some("")),
            "{name}\n{}",
            view.text
        );
    }
}

#[test]
fn the_use_of_a_tool_server_is_a_question() {
    let allow = "Allow: Run the tool and continue";
    let cases = [
        ("claude", Vendor::Claude, "hello there", "Yes", "No", 3),
        ("codex", Vendor::Codex, "message: hello there", allow, "Cancel: Cancel this tool call", 4),
        ("gemini", Vendor::Gemini, "hello there", "Allow once", "No, suggest changes (esc)", 4),
    ];
    for (program, vendor, about, yes, no, count) in cases {
        let view = view(program, vendor, "mcp");
        let dialog = view.dialog.unwrap_or_else(|| panic!("{program} {:?}", view.state));
        assert!(dialog.action.contains(about), "{program} {}", dialog.action);
        let kinds: Vec<_> = dialog
            .options
            .iter()
            .map(|option| (option.label.as_str(), option.kind.to_string()))
            .collect();
        assert_eq!(kinds.len(), count, "{program} {kinds:?}");
        assert_eq!(kinds[0], (yes, "allow_once".to_owned()), "{program}");
        assert_eq!(kinds[count - 1], (no, "reject_once".to_owned()), "{program}");
        assert!(kinds[1..count - 1].iter().all(|(_, kind)| kind == "allow_always"), "{kinds:?}");
    }
}

/// An empty composer in the text above a question would be typed into, and its Enter would answer.
#[test]
fn words_above_a_question_that_look_like_a_composer_make_no_idle_screen() {
    let mut asking = screen("claude", "asking");
    let plain = |line: &String| line.contains("──────────") && !line.contains('❯');
    let line = asking.lines.iter().rposition(plain).unwrap();
    asking.lines.splice(line..line, ["─".repeat(40), "❯ ".to_owned()]);
    assert_eq!(asking.read(Vendor::Claude).state, PaneState::Starting, "{:?}", asking.lines);
}

/// Every capture with a label in its lines, lines of another width, other colours or a longer
/// footer has the same state, or an unknown one.
#[test]
fn a_changed_screen_is_the_same_or_unknown() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/screens");
    let names = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    for name in names.map(|name| name.into_string().unwrap()) {
        let (program, rest) = name.trim_end_matches(".txt").split_once('-').unwrap();
        let (_, vendor) = PROGRAMS.into_iter().find(|(known, _)| *known == program).unwrap();
        let (whole, before) = (screen(program, rest), view(program, vendor, rest));
        for (change, lines) in changed(&whole.lines) {
            let after = Screen { lines, ..whole.clone() }.read(vendor);
            assert!(
                after.state == before.state || after.state == PaneState::Starting,
                "{name}, {change}: {:?} became {:?}\n{}",
                before.state,
                after.state,
                after.text
            );
        }
    }
}

fn changed(lines: &[String]) -> Vec<(&'static str, Vec<String>)> {
    let each = |change: &dyn Fn(&str) -> String| lines.iter().map(|line| change(line)).collect();
    let ruled = |with: &'static str| {
        move |line: &str| match line.find(&"─".repeat(40)) {
            Some(at) if !line.contains(['╭', '╰', '│']) => format!("{}{with}", &line[..at]),
            Some(_) | None => line.to_owned(),
        }
    };
    let last = lines.iter().rposition(|line| !line.trim().is_empty()).map_or(0, |last| last + 1);
    let mut longer = lines.to_vec();
    longer.insert(last, "  1. One more · hints".to_owned());
    vec![
        ("a label", each(&ruled("──────────────────── my plan ──"))),
        ("narrower", each(&ruled("────────────────────"))),
        ("other colours", each(&|line| line.replace("38;5;", "38;5;1").replace("48;5;", "48;5;2"))),
        ("a longer footer", longer),
    ]
}
