//! A prompt holds what others said since the last turn: nothing kept, nothing of one's own,
//! nobody's words under another name.

use moothall_kernel::compose::Prompt;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::policy::PolicyName;

use super::{ConversationModel, Verdict};
use crate::sim::marks::{self, Marks};

/// Prompts beyond this size may leave something out.
const WHOLE_BYTES: usize = 40 * 1024;
/// What a prompt says when it left something out.
const LEFT_OUT: &str = "earlier messages are left out";
/// What comes before the name and the first words of what a message replies to.
const REPLIES: &str = "in reply to ";
/// What bodies contain that pretend to be somebody's line.
pub(crate) const FORGED: &str = "forged-line";

/// The head of a frame that bodies contain.
pub(crate) const FORGED_HEAD: &str = "User (1):";

/// True if a body's own head stands in a prompt as if a person had spoken.
fn poses_as_frame(prompt: &str) -> bool {
    let lines: Vec<&str> = prompt.lines().collect();
    lines.windows(3).any(|three| three == [FORGED_HEAD, "", FORGED])
}

pub(crate) fn check(
    room: &ConversationModel,
    marks: &Marks,
    you: &ParticipantId,
    name: &str,
    through: Seq,
    prompt: &Prompt,
) -> Verdict {
    let framed = [PolicyName::LINK, PolicyName::GATHERING].contains(&room.policy.name);
    for (text, framed) in [(&prompt.text, framed), (&prompt.standalone, false)] {
        if framed && poses_as_frame(text) {
            return Err(format!("a body passes for a frame: {text:?}"));
        }
        for line in unquoted(text).lines().filter(|line| line.starts_with('[')) {
            // A label means nothing among frames, which leave it as it was said.
            if line.contains(FORGED) && !framed {
                return Err(format!("a body passes for a speaker: {line:?}"));
            }
            let own = marks::first(line)
                .and_then(|mark| marks.get(mark))
                .is_some_and(|origin| origin.author == *you);
            let labelled = ["]", ",", " ("].iter().any(|end| {
                let line = line.strip_prefix('[').and_then(|line| line.strip_prefix(name));
                line.is_some_and(|line| line.starts_with(end))
            });
            if own != labelled && marks::first(line).is_some() {
                return Err(format!("{you}, called {name}, reads {line:?}"));
            }
        }
        for mark in marks::all(text) {
            let known = |seq: &Seq| *seq <= through && !room.erased.contains(seq);
            let said = room
                .said
                .iter()
                .any(|(seq, posted)| known(seq) && marks::first(&posted.body) == Some(mark));
            if !said {
                return Err(format!(
                    "{you} reads the words with mark {mark}, which were never said, or are erased"
                ));
            }
        }
    }
    if let Some(own) = marks::all(&unquoted(&prompt.text))
        .find(|mark| marks.get(*mark).is_some_and(|origin| origin.author == *you))
    {
        return Err(format!("{you} gets its own words back: mark {own}"));
    }
    complete(room, you, through, prompt)
}

/// A prompt without the first words of what its messages reply to: those are somebody else's,
/// perhaps the reader's own.
fn unquoted(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some((before, after)) = rest.split_once(REPLIES) {
        let quoted = after
            .lines()
            .next()
            .and_then(|line| line.split_once(": \"")?.1.find('"').map(|end| (line, end)));
        let end =
            quoted.map_or(0, |(line, end)| line.find(": \"").unwrap_or_default() + 3 + end + 1);
        out.push_str(before);
        rest = &after[end..];
    }
    out + rest
}

/// Whatever others said in the range is there.
fn complete(
    room: &ConversationModel,
    you: &ParticipantId,
    through: Seq,
    prompt: &Prompt,
) -> Verdict {
    let from = room.members.get(you).map_or(Seq(0), |member| member.covered);
    if prompt.text.len() > WHOLE_BYTES || prompt.text.contains(LEFT_OUT) {
        return Ok(());
    }
    for (seq, posted) in &room.said {
        let at = room.effect_of(*seq);
        let waits = room.queued.contains(seq) || (posted.queued && at == *seq);
        if at <= from || at > through || posted.from == *you || waits || room.erased.contains(seq) {
            continue;
        }
        // Some clients post nothing but `[PASS]`, which carries no mark.
        let mark = marks::first(&posted.body);
        if mark.is_some() && !marks::all(&prompt.text).any(|told| Some(told) == mark) {
            return Err(format!("{you} is not told of {seq}, which is in ({from}, {through}]"));
        }
    }
    Ok(())
}
