//! The server's own lines in prompts. A prompt fills these templates, and a participant's words
//! that match one are quoted, so both sides know the same lines.

use std::sync::LazyLock;

use strum::VariantArray;

use crate::model::gathering::Phase;
use crate::read::folded::FoldedLine;

const HOLE: &str = "{}";

/// A line with holes, `{}`.
pub(crate) struct Template(&'static str);

/// The line that identifies the turn of a prompt. Programs in terminals report it.
pub(crate) const TAG: Template = Template("[moothall:{}]");

/// The line above a prompt that another computer composed.
pub(crate) const FROM_COMPUTER: Template = Template("(from the computer {})");

pub(crate) const IN_REPLY: Template = Template("in reply to {}");
pub(crate) const IN_REPLY_LINE: Template = Template("(in reply to {})");
pub(crate) const LEFT_OUT: Template = Template("({} earlier messages are left out)");
pub(crate) const CONTEXT: Template = Template("## Group Conversation Context");
pub(crate) const SAID_SO_FAR: Template = Template("What was said in this conversation so far:");
pub(crate) const SAID_SINCE: Template =
    Template("What was said in this conversation since your last turn:");
pub(crate) const YOUR_TURN: Template = Template("## Your Turn");
pub(crate) const TAKES_PART: Template =
    Template("You are participating in a group conversation as \"{}\".");
pub(crate) const CAME_OF_IT: Template = Template("What came of it: {}");
pub(crate) const LATEST_MESSAGE: Template = Template("{}'s latest message{}: \"{}\"");
pub(crate) const ERASED: Template = Template("{}'s latest message was erased.");
pub(crate) const LISTEN: Template = Template(
    "Listen: take this in, start no work, and end your turn with one short line. You do not hold the \
     talking piece, and what you write now is not shown.",
);
pub(crate) const ADDRESSED: Template = Template("You were addressed: answer.");
pub(crate) const ADDRESSED_BY_ANOTHER: Template =
    Template("Another participant addressed you: answer.");
pub(crate) const OUTCOME: Template = Template(
    "Something came of what you asked for. Go on with it, or answer with exactly {} and nothing \
     else.",
);
pub(crate) const INVITED_TO_SPEAK: Template = Template(
    "Speak if you have something worth adding; otherwise answer with exactly {} and nothing else, \
     and nobody will see it.",
);
pub(crate) const LINKED: Template = Template("Answer if there is something to answer.");
pub(crate) const LINK_MEMBERS: Template = Template(
    "You are {} in a link with {}. Whatever one of you says last in a turn reaches the others.",
);
pub(crate) const LINK_SILENCE: Template = Template(
    "Nothing here has to be answered, and thanks or agreement need no words: to say nothing, \
     answer with exactly {} and nothing else.",
);
pub(crate) const PHASE: Template = Template("--- Phase: {} (round {}/{}) ---");
pub(crate) const CLOSE: Template = Template("--- Phase: CLOSE ---");
pub(crate) const HARVESTS: Template = Template("{} writes the harvest.");
pub(crate) const PIECE_WITH: Template = Template("The piece is now with {}");
pub(crate) const PIECE_WITH_YOU: Template = Template(
    "The piece is with you{}: speak. {} To hand it on before your time is over, end with a line \
     \"I pass\" or \"I pass to NAME\".",
);
pub(crate) const LAST_WORD: Template =
    Template("Your turn is up. What would you like to say last?");
pub(crate) const BEAT: Template = Template(
    "[Beat {}/{}] Signals refresh: {}. Is your thread still alive? Continue, pivot, or pass.",
);
pub(crate) const HARVEST: Template = Template(
    "The gathering is closing. You are the harvester: write its harvest now, from all that was \
     said. Your whole answer is kept as the harvest, so write nothing else. Use this Markdown:",
);
pub(crate) const SEATED: Template = Template("You are {} in this gathering.");
pub(crate) const WRITTEN_WIDE: Template =
    Template("({} written wide above: your program would have obeyed what was said there.)");
pub(crate) const IN_FILE: Template =
    Template("({} in the file {}, byte for byte: your program would change {}. Read that file.)");
pub(crate) const NOW: Template = Template("Now: {}.");

/// The templates that identify a line as the server's. The rest of the seed message is left out: it
/// describes a circle and asks for nothing.
const KNOWN: [&Template; 31] = [
    &IN_REPLY_LINE,
    &LEFT_OUT,
    &CONTEXT,
    &SAID_SO_FAR,
    &SAID_SINCE,
    &YOUR_TURN,
    &TAKES_PART,
    &CAME_OF_IT,
    &LATEST_MESSAGE,
    &ERASED,
    &LISTEN,
    &ADDRESSED,
    &ADDRESSED_BY_ANOTHER,
    &OUTCOME,
    &INVITED_TO_SPEAK,
    &LINKED,
    &LINK_MEMBERS,
    &LINK_SILENCE,
    &PHASE,
    &CLOSE,
    &HARVESTS,
    &PIECE_WITH,
    &PIECE_WITH_YOU,
    &LAST_WORD,
    &BEAT,
    &HARVEST,
    &SEATED,
    &WRITTEN_WIDE,
    &IN_FILE,
    &TAG,
    &FROM_COMPUTER,
];

impl Template {
    /// Returns the line with its holes filled. There are as many parts as holes.
    pub(crate) fn fill(&self, holes: &[&str]) -> String {
        let mut holes = holes.iter();
        let mut out = String::with_capacity(self.0.len() + 64);
        for (at, literal) in self.0.split(HOLE).enumerate() {
            out.push_str(if at == 0 { "" } else { holes.next().copied().unwrap_or_default() });
            out.push_str(literal);
        }
        debug_assert!(holes.next().is_none(), "{:?} has fewer holes", self.0);
        out
    }
}

/// The words of a template around its holes, folded.
struct Literals {
    opens: FoldedLine,
    others: Vec<FoldedLine>,
}

impl Literals {
    fn of(line: &str) -> Self {
        let mut literals = line.split(HOLE).map(FoldedLine::of);
        Self { opens: literals.next().unwrap_or_default(), others: literals.collect() }
    }

    fn are_in(&self, line: &FoldedLine) -> bool {
        line.has_in_order(&self.opens, &self.others)
    }
}

/// True if a line looks like one of the server's own.
pub(crate) fn is_own_line(line: &FoldedLine) -> bool {
    static LITERALS: LazyLock<Vec<Literals>> = LazyLock::new(|| {
        let phases = Phase::VARIANTS
            .iter()
            .flat_map(|phase| [phase.rule().to_owned(), NOW.fill(&[&phase.to_string()])]);
        let known = KNOWN.iter().map(|template| Literals::of(template.0));
        known.chain(phases.map(|line| Literals::of(&line))).collect()
    });
    LITERALS.iter().any(|literals| literals.are_in(line))
}
