//! A prompt has the words of others since the last turn: no refused words, none of the reader's
//! own, and each under its author's name.

use moothall_kernel::compose::Prompt;
use moothall_kernel::ids::{ParticipantId, Seq};
use moothall_kernel::policy::PolicyName;

use super::{ConversationModel, Verdict};
use crate::sim::marks::{self, Marks};

/// Size above which a prompt may leave something out.
const WHOLE_BYTES: usize = 40 * 1024;
/// Notice in a prompt that left something out.
const LEFT_OUT: &str = "earlier messages are left out";
/// The text before the name and first words of a replied-to message.
const REPLIES: &str = "in reply to ";
/// Text in bodies that imitates another participant's line.
pub(crate) const FORGED: &str = "forged-line";

/// The head of a frame that bodies contain.
pub(crate) const FORGED_HEAD: &str = "User (1):";

/// True if a body's own head is in a prompt as if a person had spoken.
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
            // Among frames a label means nothing, and stays as it was said.
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

/// Returns a prompt without the quoted first words of replied-to messages. They are another
/// author's, perhaps the reader's own.
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

/// Checks that all words of others in the range are there.
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
        // Some clients post only `[PASS]`, which carries no mark.
        let mark = marks::first(&posted.body);
        if mark.is_some() && !marks::all(&prompt.text).any(|found| Some(found) == mark) {
            return Err(format!("{you} is not told of {seq}, which is in ({from}, {through}]"));
        }
    }
    Ok(())
}
