//! Next steps in messages. A message names an HTTP path or a command, and each surface replaces it
//! with one that its readers can run.

use moothall_engine::access::Caller;

/// Methods that paths begin with.
const METHODS: [&str; 5] = ["GET ", "POST ", "PUT ", "PATCH ", "DELETE "];
/// Tools for commands that have no path.
const TOOLS_OF_COMMANDS: &[(&str, &str)] = &[("moothall invite", "invite")];
/// The next step of an agent that has no other.
const ASK: &str = "Ask a person.";

/// Kinds of readers, by what they can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A person at the command line. Runs commands.
    CommandLine,
    /// An HTTP client, possibly with a person behind it. Uses paths, and commands that have no
    /// path.
    Http,
    /// An agent with a credential, over HTTP. Uses paths.
    HttpAgent,
    /// An agent over MCP. Uses tools.
    Tools,
    /// An agent over JSON-RPC. Can use neither paths, tools nor commands.
    Rpc,
}

/// One action, as each surface names it. `{}` stands for a name or an id.
pub struct Way {
    /// The method and path, as messages name them in backticks.
    pub path: &'static str,
    /// The MCP tool. `None` if only people can do this.
    pub tool: Option<&'static str>,
    /// The command of the command line.
    pub command: &'static str,
}

const fn way(path: &'static str, tool: Option<&'static str>, command: &'static str) -> Way {
    Way { path, tool, command }
}

/// All paths that messages name.
pub const WAYS: &[Way] = &[
    way("GET /agents", None, "moothall agents"),
    way("GET /apps", None, "moothall apps"),
    way("GET /channels", None, "moothall channels"),
    way("GET /computers", None, "moothall computers"),
    way("GET /events/stream", None, "moothall chat"),
    way("GET /gatherings", Some("gathering_status"), "moothall gather list"),
    way("GET /links", Some("list_sessions"), "moothall link list"),
    way("GET /pairings", None, "moothall channels pairings"),
    way("GET /registrations", None, "moothall agents registered"),
    way("GET /sessions", Some("list_sessions"), "moothall sessions"),
    way("GET /threads", Some("list_threads"), "moothall list"),
    way("GET /tokens", None, "moothall token list"),
    way("POST /links", Some("invite"), "moothall link"),
    way("POST /links/{}/close", Some("send_message"), "moothall link close {}"),
    way("POST /sessions/{}/end", Some("end_session"), "moothall end {}"),
    way("POST /sessions/{}/resume", None, "moothall resume {}"),
    way("POST /threads", Some("invite"), "moothall new"),
];

impl Reader {
    /// Returns the kind of an HTTP caller.
    pub fn over_http(caller: &Caller) -> Self {
        if caller.is_agent() { Self::HttpAgent } else { Self::Http }
    }

    /// Rewrites a message for this reader. Drops each clause with a next step that the reader
    /// cannot take. If any was dropped, adds a hint to ask a person.
    pub fn reword(self, message: &str) -> String {
        let (mut reworded, mut is_whole) = (String::new(), true);
        for clause in clauses(message) {
            match self.reword_clause(clause) {
                Some(clause) => reworded.push_str(&clause),
                None => {
                    is_whole = false;
                    if clause.ends_with(". ") && reworded.ends_with("; ") {
                        reworded.replace_range(reworded.len() - 2.., ". ");
                    }
                }
            }
        }
        if is_whole {
            return reworded;
        }
        let kept = reworded.trim_end().trim_end_matches(['.', ';']);
        if kept.is_empty() { ASK.to_owned() } else { format!("{kept}. {ASK}") }
    }

    fn reword_clause(self, clause: &str) -> Option<String> {
        let pieces = clause.split('`').enumerate().map(|(at, piece)| {
            if at % 2 == 1 { self.named(piece) } else { Some(piece.to_owned()) }
        });
        Some(pieces.collect::<Option<Vec<_>>>()?.join("`"))
    }

    /// Returns the code in backticks in the form that this reader can run. Returns `None` if the
    /// code is a path or a command that the reader cannot run.
    fn named(self, code: &str) -> Option<String> {
        let (way, named) = find(code).unzip();
        let filled = |name: &str| name.replacen("{}", named.unwrap_or_default(), 1);
        let is_path = METHODS
            .iter()
            .any(|method| code.strip_prefix(method).is_some_and(|path| path.starts_with('/')));
        let is_command = code == "moothall" || code.starts_with("moothall ");
        let tool = TOOLS_OF_COMMANDS.iter().find(|(command, _)| *command == code);
        match self {
            Self::CommandLine => {
                Some(way.map_or_else(|| code.to_owned(), |way| filled(way.command)))
            }
            Self::Http => Some(code.to_owned()),
            Self::HttpAgent => (!is_command).then(|| code.to_owned()),
            Self::Tools if is_path => way.and_then(|way| way.tool).map(filled),
            Self::Tools if is_command => tool.map(|(_, tool)| (*tool).to_owned()),
            Self::Rpc if is_path || is_command => None,
            Self::Tools | Self::Rpc => Some(code.to_owned()),
        }
    }
}

/// Splits a message after each full stop or semicolon that a space follows, outside of backticks.
fn clauses(message: &str) -> impl Iterator<Item = &str> {
    let (mut is_code, mut before) = (false, ' ');
    message.split_inclusive(move |c| {
        is_code ^= c == '`';
        let ends = c == ' ' && !is_code && matches!(before, '.' | ';');
        before = c;
        ends
    })
}

/// Finds the way for code in backticks. Returns it with the name or id in the path.
pub fn find(code: &str) -> Option<(&'static Way, &str)> {
    WAYS.iter().find_map(|way| {
        let Some((before, after)) = way.path.split_once("{}") else {
            return (way.path == code).then_some((way, ""));
        };
        let named = code.strip_prefix(before)?.strip_suffix(after)?;
        (!named.is_empty() && !named.contains('/')).then_some((way, named))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_what_the_reader_can_run() {
        let message = "No thread \"a\". `GET /threads` lists them; `POST /sessions/ada/end` ends.";
        assert_eq!(
            Reader::CommandLine.reword(message),
            "No thread \"a\". `moothall list` lists them; `moothall end ada` ends."
        );
        assert_eq!(
            Reader::Tools.reword(message),
            "No thread \"a\". `list_threads` lists them; `end_session` ends."
        );
        assert_eq!(Reader::Rpc.reword(message), "No thread \"a\". Ask a person.");
        for other in ["GET /threads", "`GET /threads/x`", "a ` GET /threads"] {
            assert_eq!(Reader::CommandLine.reword(other), other);
        }
    }

    #[test]
    fn a_clause_whose_way_the_reader_does_not_have_names_a_person() {
        let message = "No token \"a. b\"; `GET /tokens` lists them. Or send another.";
        assert_eq!(
            Reader::Tools.reword(message),
            "No token \"a. b\". Or send another. Ask a person."
        );
        let command = "Wait. Or raise it: `moothall budget`.";
        for agent in [Reader::HttpAgent, Reader::Tools, Reader::Rpc] {
            assert_eq!(agent.reword(command), "Wait. Ask a person.");
        }
        assert_eq!(Reader::Http.reword(command), command);
        assert_eq!(Reader::Tools.reword("Invite one: `moothall invite`."), "Invite one: `invite`.");
        assert_eq!(Reader::Rpc.reword("`moothall doctor` says more."), "Ask a person.");
    }
}
