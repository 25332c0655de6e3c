//! Whether a holder's words hand the talking piece on, and to whom. (Ruling 31.)

use crate::model::ids::ParticipantId;
use crate::model::participant::Participant;
use crate::text::code;

/// What stands before the name of whoever shall have the piece.
const PREFIXES: [&str; 3] = ["i pass the piece to ", "i pass to ", "passing to "];

/// What a holder's words do with the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// On to the next in order.
    On,
    /// To somebody in particular.
    To(ParticipantId),
}

/// The last pass directive: a line of its own, outside code and quotes, naming somebody who is
/// here.
pub(super) fn directive(body: &str, circle: &[Participant]) -> Option<Directive> {
    let mut lines = code::prose_lines(body).into_iter().rev();
    lines.find_map(|line| directive_of_line(line, circle))
}

fn directive_of_line(line: &str, circle: &[Participant]) -> Option<Directive> {
    let line = line.trim_end_matches(['.', '!']).trim_end();
    let lower = line.to_lowercase();
    if lower == "i pass" || lower == "i pass the piece" {
        return Some(Directive::On);
    }
    let prefix = PREFIXES.into_iter().find(|prefix| lower.starts_with(prefix))?;
    let name = line.get(prefix.len()..)?.trim().trim_start_matches('@');
    find(circle, name).map(|named| Directive::To(named.id.clone()))
}

/// Whom a name, an id, a number, or a name with its number means.
pub(super) fn find<'a>(circle: &'a [Participant], name: &str) -> Option<&'a Participant> {
    let wanted = name.trim().to_lowercase();
    let same = |given: &str| given.to_lowercase() == wanted;
    let numbered = |participant: &Participant| {
        let number = participant.number.filter(|_| participant.part.is_some());
        number.is_some_and(|number| {
            wanted == number.to_string() || same(&format!("{} ({number})", participant.name()))
        })
    };
    let by_id = circle.iter().find(|p| same(p.id.as_str()));
    by_id
        .or_else(|| circle.iter().find(|p| same(p.name())))
        .or_else(|| circle.iter().find(|p| numbered(p)))
}
