//! Parsing of a typed line into a message, a command, or another action.

use moothall_kernel::slash;

use crate::commands::permit::CardAnswer;
use crate::threads::Faces;

/// Meaning of a typed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineAction {
    /// Send a message.
    Say {
        /// Text of the message.
        text: String,
        /// Number of the message replied to.
        reply: Option<u64>,
        /// Id of the addressed participant.
        to: Option<String>,
    },
    /// Make the next message a reply to this one; `None` cancels that.
    ReplyNext(Option<u64>),
    /// Address further messages to this participant; `None` means all.
    Address(Option<String>),
    /// Answer a permission request.
    Permit {
        /// The chosen option, or words of one's own.
        answer: CardAnswer,
        /// Number of the request's event; `None` means the only request.
        number: Option<u64>,
    },
    /// A command for the server.
    Command(String),
    /// Show the server's help, and the chat's.
    Help,
    /// Leave the chat; the conversation continues.
    Quit,
    /// Invalid; with a line that helps.
    Wrong(String),
}

/// Parses a line, with the names of the participants.
pub fn parse(line: &str, faces: &Faces) -> LineAction {
    let line = line.trim_end();
    if let Some((number, text)) = quick_reply(line) {
        return reply(number, text);
    }
    if !slash::is_command(line) {
        return say(slash::words(line));
    }
    let (name, rest) =
        line.trim_start().split_once(char::is_whitespace).unwrap_or((line.trim_start(), ""));
    match (name, rest.trim()) {
        ("/quit" | "/exit", "") => LineAction::Quit,
        ("/help", "") => LineAction::Help,
        ("/to", "" | "all") => LineAction::Address(None),
        ("/to", rest) => address(rest, faces),
        ("/permit", rest) => permit(rest),
        ("/permit:", text) => in_words("", text),
        ("/reply", "") => LineAction::ReplyNext(None),
        ("/reply", rest) => {
            let (number, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            match number.trim_start_matches(['#', '>']).parse() {
                Ok(number) => reply(number, text),
                Err(_) => LineAction::Wrong(
                    "Write /reply and the number of a message, for example /reply 12 I agree."
                        .into(),
                ),
            }
        }
        _ => LineAction::Command(line.trim_start().to_owned()),
    }
}

fn say(text: &str) -> LineAction {
    LineAction::Say { text: text.to_owned(), reply: None, to: None }
}

/// Parses `>12 text` and `>12`. A `>` with a space after it begins a quotation, which is not a
/// reply.
fn quick_reply(line: &str) -> Option<(u64, &str)> {
    let rest = line.strip_prefix('>')?;
    let (number, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten().map(|number| (number, text))
}

fn reply(number: u64, text: &str) -> LineAction {
    match text.trim() {
        "" => LineAction::ReplyNext(Some(number)),
        text => LineAction::Say { text: text.to_owned(), reply: Some(number), to: None },
    }
}

/// Parses the arguments of `/permit`: an option, then the number of a request if several are open.
/// A colon and the person's own text may follow. Returns `Wrong` if the option is missing or the
/// number is invalid.
fn permit(rest: &str) -> LineAction {
    let wrong = || {
        LineAction::Wrong(
            "Write /permit and allow, deny or the number of an answer, for example /permit allow. \
             If several requests are open, add the number of the request. Put your own text after \
             a colon: /permit: not today."
                .into(),
        )
    };
    if let Some((head, text)) = rest.split_once(':') {
        return in_words(head, text);
    }
    let (option, number) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let number = match number.trim().trim_start_matches('#') {
        "" => None,
        digits => match digits.parse() {
            Ok(number) => Some(number),
            Err(_) => return wrong(),
        },
    };
    let answer = CardAnswer { option: option.to_owned(), text: None };
    if option.is_empty() { wrong() } else { LineAction::Permit { answer, number } }
}

/// Parses `/permit: words`, `/permit 3: words` and `/permit 3 #17: words`. The option and the
/// number of the request stand before the colon.
fn in_words(head: &str, text: &str) -> LineAction {
    let text = Some(text.trim().to_owned());
    match permit(head.trim()) {
        LineAction::Permit { answer, number } => {
            LineAction::Permit { answer: CardAnswer { text, ..answer }, number }
        }
        LineAction::Wrong(_) if head.trim().is_empty() => {
            LineAction::Permit { answer: CardAnswer { option: String::new(), text }, number: None }
        }
        wrong => wrong,
    }
}

fn address(rest: &str, faces: &Faces) -> LineAction {
    match faces.addressed(rest) {
        Ok((id, "")) => LineAction::Address(Some(id)),
        Ok((id, text)) => LineAction::Say { text: text.to_owned(), reply: None, to: Some(id) },
        Err(unclear) => LineAction::Wrong(faces.explain(&unclear)),
    }
}

#[cfg(test)]
mod tests {
    use moothall_kernel::participant::Profile;

    use super::*;

    fn said(text: &str, reply: Option<u64>, to: Option<&str>) -> LineAction {
        LineAction::Say { text: text.into(), reply, to: to.map(Into::into) }
    }

    /// Parses a line among four participants, two of whom have the same name.
    fn parse(line: &str) -> LineAction {
        let named = |id: &str, name: Option<&str>| {
            let nickname = name.map(str::to_owned);
            (id.into(), Profile { nickname, ..Profile::default() })
        };
        let faces = Faces::among([
            named("critic", None),
            named("0198", Some("Zoë Lee")),
            named("p2", Some("Sam")),
            named("p3", Some("Sam")),
        ]);
        super::parse(line, &faces)
    }

    #[test]
    fn names_are_read_as_mentions_are() {
        assert_eq!(parse("/to zoe\u{308} lee why?"), said("why?", None, Some("0198")));
        assert_eq!(parse("/to Zoë, why?"), said("why?", None, Some("0198")));
        assert_eq!(parse("/to ＣＲＩＴＩＣ"), LineAction::Address(Some("critic".into())));
        for (line, names) in [("/to sam", "p2, p3"), ("/to nora", "critic, 0198")] {
            let LineAction::Wrong(why) = parse(line) else { panic!("{line}") };
            assert!(why.contains(names), "{why}");
        }
    }

    #[test]
    fn lines_mean_what_they_look_like() {
        assert_eq!(parse("hello \n"), said("hello", None, None));
        assert_eq!(parse("  indented"), said("  indented", None, None));
        assert_eq!(parse(">12 I agree"), said("I agree", Some(12), None));
        assert_eq!(parse(">12"), LineAction::ReplyNext(Some(12)));
        assert_eq!(parse("> 12 monkeys"), said("> 12 monkeys", None, None));
        assert_eq!(parse(">1a x"), said(">1a x", None, None));
        assert_eq!(parse("/reply 7 yes\nand no"), said("yes\nand no", Some(7), None));
        assert_eq!(parse("/reply #7"), LineAction::ReplyNext(Some(7)));
        assert_eq!(parse("/reply"), LineAction::ReplyNext(None));
        assert!(matches!(parse("/reply x"), LineAction::Wrong(_)));
        assert_eq!(parse("/to @critic why?"), said("why?", None, Some("critic")));
        assert_eq!(parse("/to critic"), LineAction::Address(Some("critic".into())));
        assert_eq!(parse("/to all"), LineAction::Address(None));
        assert_eq!(parse("/mute critic"), LineAction::Command("/mute critic".into()));
        assert_eq!(parse("//etc is a folder"), said("/etc is a folder", None, None));
        assert_eq!(parse("/1 is no command"), said("/1 is no command", None, None));
        let permit = |option: &str, text: Option<&str>, number| {
            let answer = CardAnswer { option: option.into(), text: text.map(Into::into) };
            LineAction::Permit { answer, number }
        };
        assert_eq!(parse("/permit allow"), permit("allow", None, None));
        assert_eq!(parse("/permit deny #17"), permit("deny", None, Some(17)));
        assert_eq!(parse("/permit: not: today"), permit("", Some("not: today"), None));
        assert_eq!(parse("/permit 3: not\ntoday"), permit("3", Some("not\ntoday"), None));
        assert_eq!(parse("/permit 3 #17: 1"), permit("3", Some("1"), Some(17)));
        assert!(matches!(parse("/permit 3 x: 1"), LineAction::Wrong(_)));
        assert!(matches!(parse("/permit"), LineAction::Wrong(_)));
        assert!(matches!(parse("/permit allow it"), LineAction::Wrong(_)));
        assert_eq!(parse("/quit"), LineAction::Quit);
        assert_eq!(parse("/quit smoking"), LineAction::Command("/quit smoking".into()));
        assert_eq!(parse("/help"), LineAction::Help);
    }
}
