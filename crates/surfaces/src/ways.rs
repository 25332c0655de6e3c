//! Names of one way forward: messages name a path of HTTP, and each other surface what its own
//! callers can run.

/// One thing to do, by surface. `{}` stands for a name or an id.
pub struct Way {
    /// The method and the path, as messages name them between backticks.
    pub path: &'static str,
    /// The tool of MCP; none if only people can do it, who have the command.
    pub tool: Option<&'static str>,
    /// The command.
    pub command: &'static str,
}

const fn way(path: &'static str, tool: Option<&'static str>, command: &'static str) -> Way {
    Way { path, tool, command }
}

/// Lists each path that a message names.
pub const WAYS: &[Way] = &[
    way("GET /agents", None, "moothall agents"),
    way("GET /apps", None, "moothall apps"),
    way("GET /events/stream", None, "moothall chat"),
    way("GET /gatherings", Some("gathering_status"), "moothall gather list"),
    way("GET /links", Some("list_links"), "moothall link list"),
    way("GET /registrations", None, "moothall agents registered"),
    way("GET /sessions", Some("list_sessions"), "moothall sessions"),
    way("GET /threads", Some("list_threads"), "moothall list"),
    way("GET /tokens", None, "moothall token list"),
    way("POST /links", Some("link_sessions"), "moothall link"),
    way("POST /links/{}/close", Some("leave_link"), "moothall link close {}"),
    way("POST /sessions/{}/end", Some("end_session"), "moothall end {}"),
    way("POST /sessions/{}/resume", None, "moothall resume {}"),
    way("POST /threads", Some("create_thread"), "moothall new"),
];

/// Returns a message with each path as the command that does it.
pub fn for_command_line(message: &str) -> String {
    rewritten(message, |way| way.command)
}

/// Returns a message with each path as the tool that does it.
pub fn for_tools(message: &str) -> String {
    rewritten(message, |way| way.tool.unwrap_or(way.command))
}

/// Returns the way that stands between backticks, and the name or id in it.
pub fn find(code: &str) -> Option<(&'static Way, &str)> {
    WAYS.iter().find_map(|way| {
        let Some((before, after)) = way.path.split_once("{}") else {
            return (way.path == code).then_some((way, ""));
        };
        let named = code.strip_prefix(before)?.strip_suffix(after)?;
        (!named.is_empty() && !named.contains('/')).then_some((way, named))
    })
}

fn rewritten(message: &str, name: impl Fn(&Way) -> &'static str) -> String {
    let pieces = message.split('`').enumerate().map(|(at, piece)| match find(piece) {
        Some((way, named)) if at % 2 == 1 => name(way).replacen("{}", named, 1),
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_what_the_reader_can_run() {
        let message = "No thread \"a\". `GET /threads` lists them; `POST /sessions/ada/end` ends.";
        assert_eq!(
            for_command_line(message),
            "No thread \"a\". `moothall list` lists them; `moothall end ada` ends."
        );
        assert_eq!(
            for_tools(message),
            "No thread \"a\". `list_threads` lists them; `end_session` ends."
        );
        for other in ["GET /threads", "`GET /threads/x`", "a ` GET /threads"] {
            assert_eq!(for_command_line(other), other);
        }
    }
}
