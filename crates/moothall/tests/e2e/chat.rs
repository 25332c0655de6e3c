//! `chat` in a terminal, with a server that streams, fails and comes back.

use std::fs;

use crate::harness::{Home, Server};
use crate::terminal::{Terminal, is_possible, mode, row};

/// Two minutes of text unless stopped, then a short answer, then one with terminal control
/// sequences.
const AGENTS: &str = r#"
[agents.reciter]
replies = [
    { text = "LONG", word_ms = 200 },
    { text = "Short and done.", word_ms = 1 },
    { text = "safe\u001b]52;c;aGVsbG8=\u0007\u001b[2J\u001b[9A words\r  99  user      forged LONG", word_ms = 100 },
]
"#;

fn configured(home: &Home) -> Server<'_> {
    let long: Vec<String> = (0..600).map(|n| format!("word{n}")).collect();
    home.configure(&AGENTS.replace("LONG", &long.join(" ")));
    let server = home.serve();
    server.ok(&[
        "new",
        "Launch plan",
        "--policy",
        "mention_only",
        "--with",
        "reciter",
        "--with",
        "critic",
    ]);
    server
}

fn last_row(screen: &str) -> &str {
    screen.lines().last().unwrap_or_default().trim_end()
}

#[test]
fn an_answer_is_seen_as_it_is_written_stopped_and_settled_once() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = configured(&home);
    let terminal = Terminal::start(&server, "chat -", 90, 30);
    terminal.see("── Launch plan ──");
    terminal.write("@reciter go").press(&["Enter"]);
    let writing = terminal.see("word3");
    assert!(row(&writing, "word0").starts_with("   …  reciter   word0"), "{writing}");
    terminal.see("── reciter is writing ──");
    assert!(terminal.colours().contains("\u{1b}[36mreciter"), "{:?}", terminal.colours());

    // Incoming text does not tear the line that is being written.
    terminal.write("a draft");
    terminal.see("› a draft");
    terminal.see("word20");
    assert_eq!(last_row(&terminal.screen()), "› a draft");

    terminal.press(&["C-c", "C-c"]);
    terminal.see("Press Ctrl-C again");
    terminal.press(&["C-c"]);
    let stopped = terminal.see("· reciter was stopped");
    assert!(
        row(&stopped, "word0").contains("  reciter   word0"),
        "what was said stays, with its number:\n{stopped}"
    );

    terminal.write("@reciter again").press(&["Enter"]);
    let settled = terminal.wait("the settled answer", |screen| {
        screen.contains("Short and done.") && screen.contains("── Launch plan")
    });
    assert_eq!(settled.matches("Short and done.").count(), 1, "{settled}");
    assert_eq!(settled.matches("@reciter again").count(), 1, "{settled}");
    assert!(!row(&settled, "Short and done.").contains('…'), "{settled}");
}

#[test]
fn tab_completes_names_commands_and_arguments() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = configured(&home);
    let terminal = Terminal::start(&server, "chat -", 90, 30);
    terminal.see("── Launch plan ──");
    terminal.write("so, @re").press(&["Tab"]).write("yes");
    terminal.see("› so, @reciter yes");
    terminal.press(&["C-u"]).write("/mu").press(&["Tab"]);
    terminal.see("› /mute <id>…");
    terminal.see("Mute these agents.");
    terminal.write("cr").press(&["Tab", "Enter"]);
    terminal.see("· user muted critic");
    terminal.write("/group c").press(&["Tab"]);
    terminal.see("  /group create /group config");
    terminal.press(&["Tab", "Tab"]);
    terminal.see("› /group config");
}

#[test]
fn nothing_is_lost_or_sent_twice_when_the_server_goes_away() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = configured(&home);
    let terminal = Terminal::start(&server, "chat -", 90, 30);
    terminal.see("── Launch plan ──");
    terminal.write("before").press(&["Enter"]);
    terminal.wait("the first message", |screen| {
        screen.contains("user      before") && !screen.contains('…')
    });
    let address = server.address().to_string();
    server.kill();
    terminal.see("── reconnecting… ──");
    terminal.write("while away").press(&["Enter"]);
    terminal.see("reconnecting… 1 message waits");
    terminal.write("a draft");

    let server = home.serve_on(&address);
    server.ok(&["say", "-", "from elsewhere", "--as", "ann"]);
    let back = terminal.wait("everything", |screen| {
        ["connected again", "user      while away", "ann       from elsewhere"]
            .iter()
            .all(|text| screen.contains(text))
            && !screen.contains('…')
            && last_row(screen) == "› a draft"
    });
    assert_eq!((back.matches("while away").count(), last_row(&back)), (1, "› a draft"), "{back}");
    assert_eq!(back.matches("before").count(), 1, "{back}");
    assert_eq!(server.ok(&["tail", "-", "--no-follow"]).matches("while away").count(), 1);
}

#[test]
fn foreign_words_command_no_terminal() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = configured(&home);
    for (turn, stop) in [("@reciter one", true), ("@reciter two", false)] {
        server.ok(&["say", "-", turn]);
        if stop {
            server.ok(&["stop", "-"]);
        }
    }
    let terminal = Terminal::start(&server, "chat -", 90, 30);
    terminal.wait("the second answer", |screen| {
        screen.contains("Short and done.") && screen.contains("── Launch plan ──")
    });
    terminal.write("@reciter three").press(&["Enter"]);
    let screen = terminal.see("word3");
    assert!(row(&screen, "safe").starts_with("   …  reciter   safe words"), "{screen}");
    assert!(row(&screen, "forged").starts_with("                  99  user"), "{screen}");
    assert!(screen.contains("Short and done."), "the screen was cleared:\n{screen}");
    terminal.press(&["C-c"]).see("Press Ctrl-C again");
    terminal.press(&["C-c"]).see("was stopped");

    server.ok(&["invite", "-", "evil", "--client", "elsewhere", "--model", "m"]);
    // After a Stop, an agent's unprompted messages wait until a person speaks. (Ruling 14.)
    server.ok(&["say", "-", "Go on.", "--to", "user"]);
    server.ok(&[
        "say",
        "-",
        "end\u{202e}dne \u{1b}]52;c;aGVsbG8=\u{7}\r  98  user      obey",
        "--as",
        "evil",
    ]);
    let screen = terminal.see("obey");
    assert!(row(&screen, "obey").starts_with("                  98  user"), "{screen}");
    assert_eq!(terminal.clipboard(), "");
}

#[test]
fn the_line_is_remembered_and_the_terminal_left_as_it_was() {
    if !is_possible() {
        return;
    }
    let home = Home::new();
    let server = configured(&home);
    let terminal = Terminal::start(&server, "chat - --as ann", 90, 30);
    terminal.see("── Launch plan ──");
    terminal.paste("two\nrows");
    terminal.see("› two\n  rows");
    terminal.press(&["Enter"]);
    terminal.wait("the message", |screen| {
        screen.contains("  ann       two\n                rows") && !screen.contains('…')
    });
    terminal.write("my key is sk-abcdefgh12345678").press(&["Enter"]);
    terminal.wait("the key", |screen| screen.contains("ann       my key") && !screen.contains('…'));
    terminal.resize(50, 20);
    terminal.wait("a narrower rule", |screen| {
        screen.lines().any(|row| row.starts_with("── Launch") && row.chars().count() == 49)
    });
    terminal.press(&["Up", "Up", "C-d"]);
    terminal.press(&["C-c", "C-d"]);
    let left = terminal.see("left with 0");
    assert!(!left.contains("› "), "{left}");
    terminal.wait("the terminal's mode", |screen| {
        screen.lines().filter(|row| ["icanon", "isig"].contains(row)).count() == 2
    });

    let file = home.path().join(".local/state/moothall/chat_history");
    assert_eq!(fs::read_to_string(&file).unwrap(), "two\\nrows\n");
    assert_eq!(mode(&file), 0o600);
}
