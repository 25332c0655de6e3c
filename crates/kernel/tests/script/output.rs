//! The decisions of the kernel in a script: one line for each event that people would want to know
//! of.

use std::time::Duration;

use moothall_kernel::Conversation;
use moothall_kernel::event::{Change, Event, Fault, Outcome, Posted, Recipient, TurnKind};
use moothall_kernel::gathering::GatheringEvent;
use moothall_kernel::hosted::{HostedKey, HostedWords};
use moothall_kernel::start::StartOutcome;
use moothall_kernel::talk::TalkOutcome;
use serde::Serialize;

/// Returns the wire word of a plain enum.
pub fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

pub fn line(state: &Conversation, event: &Event) -> Option<String> {
    Some(match event {
        Event::Task(_) => return None,
        Event::Joined(joined) => {
            let computer = joined.computer.as_str().trim_start_matches('2');
            format!("joined {} of {computer} as {}", joined.stream, joined.participant)
        }
        Event::Parted { computer, stream, why } => {
            format!("parted from {stream} of {}: {why}", computer.as_str().trim_start_matches('2'))
        }
        Event::Created { policy, .. } => format!("created {}", policy.name),
        Event::Renamed { name, .. } => format!("renamed {name}"),
        Event::Archived { by } => format!("archived by {by}"),
        Event::Unarchived { by } => format!("unarchived by {by}"),
        Event::Deleted { by } => format!("deleted by {by}"),
        Event::Controlled { by, changes, unproven } => {
            let changes: Vec<_> = changes.iter().map(change).collect();
            format!("{by}{}: {}", if *unproven { " (unproven)" } else { "" }, changes.join(", "))
        }
        Event::Posted(posted) => said(posted),
        Event::Custom { from, kind, .. } => format!("{from} kept a {kind}"),
        Event::Noticed { code, text, .. } => format!("notice {code}: {text}"),
        Event::Overheard { origin, name, body } => {
            format!("overheard in {} from {name}: {}", origin.chat.key(), short(body))
        }
        Event::Taken { cause } => format!("taken up: {}", cause.seq),
        Event::RoundOpened { cap, forced, polled, .. } => {
            format!("round: {} must, {} may, at most {cap}", names(forced), names(polled))
        }
        Event::ReactionOpened { forced, polled } => {
            format!("reactions: {} must, {} may", names(forced), names(polled))
        }
        Event::RoundClosed => "round over".into(),
        Event::RoundReopened { cause, reply } => {
            format!("round opened again for {} (about {reply})", cause.seq)
        }
        Event::Skipped { participant, why_not, detail, hosted: offered, .. } => {
            let detail = detail.as_ref().map_or(String::new(), |detail| format!(" ({detail})"));
            let of = offered.as_ref().map_or(String::new(), |key| format!(" for {}", hosted(key)));
            format!("{participant} not asked{of}: {}{detail}", word(why_not))
        }
        Event::TurnGranted { turn, participant, why, kind, may_pass, cause, .. } => {
            let may = if *may_pass { ", may pass" } else { "" };
            let listens = if *kind == TurnKind::Listen { " to listen" } else { "" };
            format!(
                "turn {turn} for {participant}{listens}: {}{may} (about {})",
                word(why),
                cause.seq
            )
        }
        Event::TurnWidened { turn, cause, .. } => {
            format!("turn {turn} widened (about {})", cause.seq)
        }
        Event::TurnReleased { turn } => format!("turn {turn} is not waited for"),
        Event::TurnStarted { turn, attempt, from_seq, through_seq, .. } => {
            let again =
                if *attempt > 1 { format!(" again, attempt {attempt}") } else { String::new() };
            format!("turn {turn} runs{again} ({from_seq}, {through_seq}]")
        }
        Event::TurnLost { turn, attempt, .. } => format!("turn {turn} lost attempt {attempt}"),
        Event::TurnEnded { turn, outcome: outcome @ Outcome::Expired, fault, usage, .. } => {
            let worked = Duration::from_millis(usage.ms);
            format!("turn {turn} {} after {worked:?}{}", ended(*outcome), because(fault.as_ref()))
        }
        Event::TurnEnded { turn, outcome, fault, ended: of_model, hosted: taken, .. } => {
            let of_model = of_model.map_or(String::new(), |ended| format!(", its model: {ended}"));
            let of = taken.as_ref().map_or(String::new(), |key| format!(" for {}", hosted(key)));
            format!("turn {turn} {}{}{of_model}{of}", ended(*outcome), because(fault.as_ref()))
        }
        Event::Suppressed { participant, because, body, .. } => {
            format!("kept from {participant}, {}: {}", word(because), short(body))
        }
        Event::Discarded { participant, count, bytes, until } => {
            let goes_on = if until.is_some() { ", and so with what follows" } else { "" };
            format!("not kept from {participant}: {count} of {bytes} bytes{goes_on}")
        }
        Event::PermissionRequested { participant, action, .. } => {
            format!("{participant} asks permission: {action}")
        }
        Event::PermissionAnswered { by, option, label, text, .. } => {
            let words = label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
            let own = text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            format!("{by} answers: {option}{words}{own}")
        }
        Event::PermissionWithdrawn { because, .. } => format!("permission withdrawn: {because:?}"),
        Event::PermissionExpired { .. } => "permission expired".into(),
        Event::QuestionAsked { participant, action, .. } => {
            format!("{participant} asks in no turn: {action}")
        }
        Event::StartRequested { participant, action, folder, .. } => {
            format!("{participant} asks: {} in {}", short(action), folder.as_deref().unwrap_or("?"))
        }
        Event::StartSettled { participant, outcome, .. } => match outcome {
            StartOutcome::Started { name, .. } => {
                format!("what {participant} asked for runs as {name}")
            }
            StartOutcome::Failed { why } => {
                format!("what {participant} asked for could not be started: {why}")
            }
            StartOutcome::Refused { by } => format!("{by} refused what {participant} asked for"),
            StartOutcome::Expired => format!("nobody answered what {participant} asked for"),
        },
        Event::TalkRequested { participant, action, .. } => {
            format!("{participant} asks: {}", short(action))
        }
        Event::TalkSettled { participant, talk, outcome, .. } => match outcome {
            TalkOutcome::Linked { link, .. } => {
                format!("{participant} and {} are linked: {link}", talk.to)
            }
            TalkOutcome::Told => format!("{participant} has told {}", talk.to),
            TalkOutcome::Failed { why } => {
                format!("{participant} could not be linked with {}: {why}", talk.to)
            }
            TalkOutcome::Refused { by } => {
                format!("{by} refused that {participant} talks to {}", talk.to)
            }
            TalkOutcome::Expired => format!("{participant} got no answer about {}", talk.to),
        },
        Event::Stopped { by, .. } => format!("stopped by {by}"),
        Event::BudgetSpent { spent, currency, .. } => {
            format!("{} until {}", spent.sentence(currency), spent.until)
        }
        Event::GuardTripped { guard } => format!("held: {}", word(guard)),
        Event::ClockShifted { downtime } => {
            format!("time stood still for {} s", downtime.as_secs_f64())
        }
        Event::FactsChanged { participant, .. } => format!("facts of {participant} changed"),
        Event::Redacted { seq, by, edited: true, .. } => format!("{by} took {seq} back"),
        Event::Redacted { seq, by, summaries, .. } if summaries.is_empty() => {
            format!("{by} erased {seq}")
        }
        Event::Redacted { seq, by, summaries, .. } => {
            format!("{by} erased {seq}, and with it the summaries {}", places(summaries))
        }
        Event::Summarised { participant, through_seq, replaces, body, .. } => {
            let replaces = replaces.map_or(String::new(), |seq| format!(", and {seq} makes room"));
            format!("{participant} sums up to {through_seq}{replaces}: {}", short(body))
        }
        Event::Gathering(step) => gathering(state, step),
    })
}

/// Returns the turn of another computer, as scripts write it.
fn hosted(key: &HostedKey) -> String {
    let computer = key.computer.as_str().trim_start_matches('2');
    format!("{} {}/{} of {computer}", key.stream, key.turn, key.attempt)
}

fn said(posted: &Posted) -> String {
    if let Some(words) = &posted.hosted {
        let verb = match (&**words, posted.stopped) {
            (HostedWords::Asks(_), _) => "asks for",
            (HostedWords::Answers(_), false) => "answers",
            (HostedWords::Answers(_), true) => "answers until it was stopped",
        };
        return format!("{} {verb} {}: {}", posted.from, hosted(words.key()), short(&posted.body));
    }
    let to = match &posted.to {
        Recipient::All => String::new(),
        Recipient::One(id) => format!(" -> {id}"),
    };
    let queued = match (posted.queued, posted.queue_full) {
        (true, _) => " (queued)",
        (false, true) => " (queue full)",
        (false, false) => "",
    };
    let unproven = match &posted.typed_at {
        Some(at) if posted.elsewhere.is_empty() => format!(" (at {at})"),
        Some(at) => format!(" (at {at}, elsewhere for {})", names(&posted.elsewhere)),
        None if posted.unproven => " (unproven)".into(),
        None => String::new(),
    };
    let stopped = if posted.stopped { " until it was stopped" } else { "" };
    let unknown = posted.unknown.as_ref().map_or_else(String::new, |unknown| {
        let name = unknown.name_in(&posted.body);
        let near = unknown.participant.as_ref().map(|id| id.as_str());
        format!(" ({})", unknown.sentence(name.as_deref(), near))
    });
    let late = if posted.late.is_some() { ", late" } else { "" };
    format!(
        "{}{unproven}{to} says{late}{stopped}{queued}{unknown}: {}",
        posted.from,
        short(&posted.body)
    )
}

fn short(body: &str) -> String {
    let line = body.replace('\n', "\\n");
    if line.chars().count() <= 110 {
        line
    } else {
        format!("{}…", line.chars().take(110).collect::<String>())
    }
}

fn names(ids: &[moothall_kernel::ids::ParticipantId]) -> String {
    if ids.is_empty() {
        "nobody".into()
    } else {
        ids.iter().map(|id| id.as_str()).collect::<Vec<_>>().join("+")
    }
}

fn places(seqs: &[moothall_kernel::ids::Seq]) -> String {
    seqs.iter().map(ToString::to_string).collect::<Vec<_>>().join("+")
}

fn ended(outcome: Outcome) -> String {
    word(&outcome)
}

fn because(fault: Option<&Fault>) -> String {
    fault.map_or(String::new(), |fault| format!(": {}", fault.code))
}

fn change(change: &Change) -> String {
    match change {
        Change::Invited { participant, kind, .. } => {
            format!("invited {participant} ({})", word(kind))
        }
        Change::Uninvited { participant, .. } => format!("uninvited {participant}"),
        Change::Muted { targets } => format!("muted {}", names(targets)),
        Change::Unmuted { targets } => format!("unmuted {}", names(targets)),
        Change::Paused { on } => (if *on { "paused" } else { "unpaused" }).into(),
        Change::Discussion { on, .. } => format!("discussion {on}"),
        Change::InvitedAuto { on } => format!("invited_auto {on}"),
        Change::Prodded { targets } => format!("prodded {}", names(targets)),
        Change::PolicySet { policy, .. } => format!("policy {}", policy.name),
        Change::GuardLifted => "released".into(),
        Change::Bound { target } => format!("bound {target}"),
        Change::Unbound { target } => format!("unbound {target}"),
        Change::BudgetRaised(raise) => format!(
            "budget raised by {} turns and {} micros until {}",
            raise.turns, raise.micros, raise.until
        ),
    }
}

fn gathering(state: &Conversation, step: &GatheringEvent) -> String {
    match step {
        GatheringEvent::Opened { .. } => "gathering opened".into(),
        GatheringEvent::RoundOpened { phase, round, order } => {
            format!("{phase} {round}: {}", names(order))
        }
        GatheringEvent::PieceGiven { holder, note } => {
            format!(
                "piece with {}{}",
                state.name_of(holder),
                note.as_ref().map_or(String::new(), |note| format!(" ({note})"))
            )
        }
        GatheringEvent::Beat { number, pulse } => format!("beat {number}: {pulse}"),
        GatheringEvent::LastWordAsked => "last word".into(),
        GatheringEvent::PassAsked { holder, turn, .. } => {
            format!("{holder} will let go when turn {turn} ends")
        }
        GatheringEvent::PieceReleased { holder, because, .. } => {
            format!("{holder} lets go: {}", word(because))
        }
        GatheringEvent::HarvestAsked { harvester, because, .. } => {
            format!("harvest by {harvester}: {because}")
        }
        GatheringEvent::Harvested { harvester, message, .. } => {
            format!("harvested by {harvester}: {}", message.seq())
        }
        GatheringEvent::Closed { because } => format!("gathering closed: {because}"),
    }
}
