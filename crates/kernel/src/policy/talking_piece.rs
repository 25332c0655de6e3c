//! `talking_piece`: one holds the piece and speaks, the others listen; rounds make phases, phases a
//! breath. (Rulings 28 to 33.)

use std::fmt::Write;

use crate::decide::Decider;
use crate::model::command::{Actor, Post, Refusal, Rejection};
use crate::model::event::{Cause, Event, Guard, Recorded, SuppressedBecause, TurnKind, Why};
use crate::model::gathering::{
    Gathering, GatheringEvent, GatheringPlan, Hearing, LetGo, PieceTenure,
};
use crate::model::ids::ParticipantId;
use crate::model::participant::{Kind, Part, Participant};
use crate::model::state::{Conversation, Turn};
use crate::model::time::Timestamp;
use crate::policy::{EmptyReply, Nomination, Rules, Unsolicited};
use crate::text::mentions;

/// Fewer speakers than this are no gathering.
const SPEAKERS_MIN: usize = 2;
/// Most beats of a hold, and most rounds of a phase.
const BEATS_MAX: u32 = 100;

pub(crate) static RULES: Rules = Rules {
    nominate: |_, _| Nomination::default(),
    react: |_| None,
    queues: |_| false,
    // Words move nothing here: who holds the piece goes on, or hands it over.
    on_posted: |_, _| {},
    on_taken: |_, _| {},
    on_reply: |decider, spoken| decider.let_others_hear(&spoken.cause),
    step: |decider| decider.take_queued() || decider.step_piece(),
    asks_as: Why::Polled,
    counts_depth: false,
    heeds_names: false,
    unsolicited: Unsolicited::Free,
    empty_reply: EmptyReply::Passes,
    cools: false,
    spares_habitual: false,
    frames: false,
    tells_outcomes: false,
    gathers: true,
    introduction,
    request,
};

impl Conversation {
    fn speakers(&self) -> impl Iterator<Item = &Participant> {
        self.participants.iter().filter(|p| p.part == Some(Part::Speaker))
    }

    fn harvester(&self) -> Option<&Participant> {
        self.participants.iter().find(|p| p.part == Some(Part::Harvester))
    }

    /// When the next beat, or the end of the last word, is due; not while the holder waits for a
    /// permission.
    pub(crate) fn next_beat(&self) -> Option<Timestamp> {
        let tenure = self.gathering.as_ref()?.tenure.as_ref()?;
        let frozen = self
            .open_turns()
            .any(|turn| turn.participant == tenure.holder && turn.frozen_since.is_some());
        (!frozen).then_some(tenure.next_at)
    }
}

impl Decider<'_> {
    pub(crate) fn gather(&mut self, by: &Actor, plan: GatheringPlan) -> Result<(), Rejection> {
        self.check_open()?;
        if self.state.gathering.is_some() {
            return Err(Rejection::new(
                Refusal::Conflict,
                "nested_gathering",
                "A gathering is going on here. Gatherings do not nest.",
            ));
        }
        if !self.state.rules().gathers {
            return Err(Rejection::new(
                Refusal::Conflict,
                "wrong_policy",
                "A gathering needs the policy talking_piece.",
            ));
        }
        self.check_circle()?;
        check_plan(&plan)?;
        self.emit(Event::Gathering(GatheringEvent::Opened { plan, by: by.id.clone() }));
        self.end_all("gathering", "a gathering began");
        Ok(())
    }

    fn check_circle(&self) -> Result<(), Rejection> {
        let invalid =
            |message: &str| Err(Rejection::new(Refusal::Invalid, "invalid_circle", message));
        if self.state.speakers().count() < SPEAKERS_MIN {
            return invalid("A gathering needs at least two speakers.");
        }
        if self.state.participants.iter().filter(|p| p.part == Some(Part::Harvester)).count() != 1 {
            return invalid("A gathering needs exactly one harvester.");
        }
        let mut numbers: Vec<_> =
            self.state.participants.iter().filter(|p| p.part.is_some()).map(|p| p.number).collect();
        numbers.sort_unstable();
        if numbers.contains(&None) || numbers.windows(2).any(|pair| pair[0] == pair[1]) {
            return invalid("Everyone in a gathering needs a number of its own.");
        }
        Ok(())
    }

    pub(crate) fn close_gathering(&mut self, by: &Actor) -> Result<(), Rejection> {
        self.check_human(by)?;
        if self.state.gathering.is_none() {
            return Err(Rejection::new(
                Refusal::Conflict,
                "no_gathering",
                "No gathering is going on here.",
            ));
        }
        self.end_gathering("ended");
        Ok(())
    }

    pub(crate) fn end_gathering(&mut self, because: &str) {
        self.emit(Event::Gathering(GatheringEvent::Closed { because: because.into() }));
        self.end_all("gathering_closed", "the gathering was closed");
    }

    pub(crate) fn holds_piece(&self, id: &ParticipantId) -> bool {
        self.tenure_of(id).is_some()
    }

    /// Whether a gathering keeps the floor from this participant.
    pub(crate) fn has_no_piece(&self, id: &ParticipantId) -> bool {
        self.state.gathering.is_some() && !self.holds_piece(id) && !self.is_harvesting(id)
    }

    fn tenure_of(&self, id: &ParticipantId) -> Option<&PieceTenure> {
        self.state.gathering.as_ref()?.tenure.as_ref().filter(|tenure| tenure.holder == *id)
    }

    /// Words in a gathering count from the holder, and from the harvester once it was asked; others
    /// are kept.
    pub(crate) fn say_in_gathering(&mut self, post: Post, kind: Kind) -> Result<(), Rejection> {
        let speaker = post.by.id.clone();
        let harvesting = self.is_harvesting(&speaker);
        if self.has_no_piece(&speaker) {
            return Err(self.refuse(
                &post,
                SuppressedBecause::NoPiece,
                "not_your_piece",
                "Somebody else holds the talking piece.",
            ));
        }
        let body = post.body.clone();
        let named = mentions::named(&body, &self.state.participants, &speaker);
        let posted = self.words(post, kind, u32::from(kind == Kind::Agent), &named);
        self.spoke(posted);
        if harvesting {
            self.end_gathering("done");
        } else {
            self.heed_piece(&speaker, &body);
        }
        Ok(())
    }

    fn is_harvesting(&self, id: &ParticipantId) -> bool {
        let asked = self.state.gathering.as_ref().is_some_and(|gathering| gathering.harvesting);
        asked && self.state.harvester().is_some_and(|harvester| harvester.id == *id)
    }

    /// Everyone else in the circle hears a contribution at once, if the gathering is live.
    /// (Ruling 30.)
    fn let_others_hear(&mut self, cause: &Cause) {
        let live = self
            .state
            .gathering
            .as_ref()
            .is_some_and(|g| g.plan.hearing == Hearing::Live && !g.harvesting);
        if !live {
            return;
        }
        let listeners: Vec<_> = self
            .state
            .participants
            .iter()
            .filter(|p| p.takes_turns() && p.part.is_some() && p.id != cause.from)
            .map(|p| p.id.clone())
            .collect();
        for id in listeners {
            if self.can_take_turns(&id, cause) {
                self.grant(&id, Why::Piece, TurnKind::Listen, true, cause);
            }
        }
    }

    /// Hands the piece on if the holder's words say so. (Ruling 31.)
    pub(crate) fn heed_piece(&mut self, speaker: &ParticipantId, body: &str) {
        if !self.holds_piece(speaker) {
            return;
        }
        match directive(body, &self.state.participants) {
            Some(Directive::On) => self.hand_over(speaker, None),
            Some(Directive::To(id)) => self.hand_over(speaker, Some(id.as_str())),
            None => {}
        }
    }

    pub(crate) fn hand_over(&mut self, holder: &ParticipantId, to: Option<&str>) {
        let (next, note) = match to {
            None => (None, None),
            Some(name) => self.successor(holder, name),
        };
        self.release_piece(LetGo::Passed, next, note);
    }

    /// Who may follow, or why the one named cannot.
    fn successor(
        &self,
        holder: &ParticipantId,
        name: &str,
    ) -> (Option<ParticipantId>, Option<String>) {
        let Some(named) = find(&self.state.participants, name) else {
            return (
                None,
                Some(format!("Nobody here is called {name:?}; the piece goes on in order.")),
            );
        };
        let shown = named.name();
        let note = if named.id == *holder {
            format!("{shown} cannot pass the piece to itself; it goes on in order.")
        } else if named.part != Some(Part::Speaker) {
            format!("{shown} does not hold the piece in this gathering; it goes on in order.")
        } else if self.state.muted.contains(&named.id) {
            format!("{shown} is muted; the piece goes on in order.")
        } else if !self.state.gathering.as_ref().is_some_and(|g| g.order.contains(&named.id)) {
            format!("{shown} has held the piece in this round; it goes on in order.")
        } else {
            return (Some(named.id.clone()), None);
        };
        (None, Some(note))
    }

    pub(crate) fn release_piece(
        &mut self,
        because: LetGo,
        next: Option<ParticipantId>,
        note: Option<String>,
    ) {
        let Some(holder) = self
            .state
            .gathering
            .as_ref()
            .and_then(|g| g.tenure.as_ref())
            .map(|tenure| tenure.holder.clone())
        else {
            return;
        };
        self.emit(Event::Gathering(GatheringEvent::PieceReleased {
            holder: holder.clone(),
            because,
            next,
            note,
        }));
        self.end_turns_of(&holder, false, "piece_passed", "the piece was passed on");
    }

    /// Moves the gathering until it has to wait for somebody.
    fn step_piece(&mut self) -> bool {
        let Some(gathering) = self.state.gathering.clone() else { return false };
        if self.state.guards.held == Some(Guard::Stopped) {
            return false;
        }
        if gathering.harvesting {
            return self.step_harvest();
        }
        match &gathering.tenure {
            Some(tenure) if self.state.participant(&tenure.holder).is_none() => {
                self.release_piece(LetGo::Gone, None, None)
            }
            _ if self.state.speakers().count() < SPEAKERS_MIN => {
                self.release_piece(LetGo::Stopped, None, None);
                return self.begin_harvest();
            }
            Some(tenure)
                if tenure.last_word
                    && !self.has_open_reply(&tenure.holder)
                    && self
                        .state
                        .participant(&tenure.holder)
                        .is_some_and(Participant::takes_turns) =>
            {
                self.release_piece(LetGo::LastWord, None, None);
            }
            Some(_) => return false,
            None => return self.give_piece(&gathering),
        }
        true
    }

    fn has_open_reply(&self, id: &ParticipantId) -> bool {
        self.state.open_turns().any(|turn| turn.participant == *id && turn.kind == TurnKind::Reply)
    }

    fn give_piece(&mut self, gathering: &Gathering) -> bool {
        let present = |id: &&ParticipantId| {
            let able = !self.state.muted.contains(*id) && !self.is_away(id);
            able && self.state.participant(id).is_some_and(|p| p.part == Some(Part::Speaker))
        };
        let Some(holder) = gathering.order.iter().find(present).cloned() else {
            return self.next_round(gathering);
        };
        let given = self.emit(Event::Gathering(GatheringEvent::PieceGiven {
            holder: holder.clone(),
            note: gathering.note.clone(),
        }));
        if self.state.participant(&holder).is_some_and(Participant::takes_turns) {
            self.grant(&holder, Why::Piece, TurnKind::Reply, true, &given);
        }
        true
    }

    fn next_round(&mut self, gathering: &Gathering) -> bool {
        let nobody_spoke =
            gathering.round > 0 && gathering.order.len() == self.state.speakers().count();
        let (phase, round) = if gathering.round < gathering.plan.rounds(gathering.phase) {
            (Some(gathering.phase), gathering.round + 1)
        } else {
            (gathering.phase.next(), 1)
        };
        let Some(phase) = phase.filter(|_| !nobody_spoke) else { return self.begin_harvest() };
        let mut order: Vec<_> = self.state.speakers().map(|p| (p.number, p.id.clone())).collect();
        order.sort();
        let order = order.into_iter().map(|(_, id)| id).collect();
        self.emit(Event::Gathering(GatheringEvent::RoundOpened { phase, round, order }));
        let rounds = gathering.plan.rounds(phase);
        self.notice("phase", format!("{phase} {round}/{rounds}. {}", phase.rule()), None, None);
        true
    }

    fn begin_harvest(&mut self) -> bool {
        let too_few = self.state.speakers().count() < SPEAKERS_MIN;
        let Some((harvester, agent)) =
            self.state.harvester().map(|p| (p.id.clone(), p.takes_turns()))
        else {
            self.end_gathering(if too_few { "too_few" } else { "done" });
            return true;
        };
        self.release_piece(LetGo::Gone, None, None);
        self.end_all("harvest", "the harvest began");
        let asked = self
            .emit(Event::Gathering(GatheringEvent::HarvestAsked { harvester: harvester.clone() }));
        if agent && self.can_take_turns(&harvester, &asked) {
            self.grant(&harvester, Why::Piece, TurnKind::Reply, false, &asked);
        }
        true
    }

    /// An agent's harvest ends the gathering, however it ends; a person's comes as a message.
    fn step_harvest(&mut self) -> bool {
        let waits =
            self.state.harvester().is_some_and(|p| !p.takes_turns() || self.has_open_reply(&p.id));
        if waits {
            return false;
        }
        self.end_gathering("done");
        true
    }

    /// What the clock does to a hold: beats, the last word, and the end of its grace. (Ruling 29.)
    pub(crate) fn beat(&mut self) {
        let due = self.state.next_beat().is_some_and(|at| at <= self.now);
        if !due || self.state.archived || self.state.paused || self.state.guards.held.is_some() {
            return;
        }
        let Some(gathering) = self.state.gathering.clone() else { return };
        let Some(tenure) = &gathering.tenure else { return };
        if tenure.last_word {
            return self.release_piece(LetGo::Grace, None, None);
        }
        let number = tenure.beats + 1;
        let last = number >= gathering.plan.beats_per_turn;
        let mut cause = self.emit(Event::Gathering(GatheringEvent::Beat { number }));
        if last {
            cause = self.emit(Event::Gathering(GatheringEvent::LastWordAsked));
        }
        let idle = !self.has_open_reply(&tenure.holder);
        let agent = self.state.participant(&tenure.holder).is_some_and(Participant::takes_turns);
        if idle && agent && self.can_take_turns(&tenure.holder, &cause) {
            self.grant(&tenure.holder, Why::Beat, TurnKind::Reply, true, &cause);
        }
    }
}

/// What kind of gathering it is, and who is in it as what.
fn introduction(state: &Conversation, you: &ParticipantId) -> Option<String> {
    let gathering = state.gathering()?;
    let mut out = String::new();
    let plan = &gathering.plan;
    let [inhale, hold, exhale] = plan.breath;
    let _ = writeln!(
        out,
        "This is a gathering ({}). Rounds: inhale {inhale}, hold {hold}, exhale {exhale}. Only the holder of the talking piece speaks, for \
         {} beats. Opening question: {}",
        plan.rhythm, plan.beats_per_turn, plan.opening_question
    );
    for participant in state.participants().iter().filter(|p| p.part.is_some()) {
        let number = participant.number.unwrap_or_default();
        let part = match participant.part {
            Some(Part::Harvester) => "harvester, silent until the close",
            Some(Part::Speaker) | None => "speaker",
        };
        let own = if participant.id == *you { " (you)" } else { "" };
        let _ = writeln!(out, "{number}. {}{own}: {part}", participant.name());
    }
    let _ = writeln!(out, "Now: {}. {}", gathering.phase, gathering.phase.rule());
    out.push_str(
        "To hand the piece on, end with a line of its own: \"I pass\" or \"I pass to NAME\".\n",
    );
    Some(out)
}

/// What the holder of the piece is asked, and the harvester.
fn request(state: &Conversation, turn: &Turn, events: &[Recorded]) -> Option<String> {
    matches!(turn.why, Why::Piece | Why::Beat).then(|| {
        state.gathering().map_or(String::new(), |gathering| asked(gathering, turn, events))
    })
}

fn asked(gathering: &Gathering, turn: &Turn, events: &[Recorded]) -> String {
    if gathering.harvesting {
        return "The gathering is closing. You are the harvester: gather what was said into its harvest, and name what follows from it.\n"
            .into();
    }
    let tenure = gathering.tenure.as_ref();
    let note = tenure
        .and_then(|tenure| tenure.note.clone())
        .map_or(String::new(), |note| format!(" ({note})"));
    if turn.why == Why::Piece {
        return format!("The piece is with you{note}: speak.\n");
    }
    if tenure.is_some_and(|tenure| tenure.last_word) {
        return "Your time with the piece is over. What would you like to say last?\n".into();
    }
    let beats = tenure.map_or(0, |tenure| tenure.beats);
    let pulse = events.iter().rev().filter(|recorded| is_said(&recorded.event)).take(3).count();
    format!(
        "[Beat {beats}/{}] {}, round {}; {pulse} recent contributions. Is your thread still alive? Go on, turn, or pass.\n",
        gathering.plan.beats_per_turn, gathering.phase, gathering.round
    )
}

/// Whether somebody said it, heard or not.
fn is_said(event: &Event) -> bool {
    matches!(event, Event::Posted(_) | Event::Suppressed { .. })
}

fn check_plan(plan: &GatheringPlan) -> Result<(), Rejection> {
    let invalid =
        |message: String| Err(Rejection::new(Refusal::Invalid, "invalid_gathering", message));
    if !(1..=BEATS_MAX).contains(&plan.beats_per_turn) {
        return invalid(format!("`beats_per_turn` takes 1 to {BEATS_MAX}."));
    }
    if plan.breath.iter().any(|rounds| !(1..=BEATS_MAX).contains(rounds)) {
        return invalid(format!("Each phase of `breath` takes 1 to {BEATS_MAX} rounds."));
    }
    if plan.beat_interval.0 < 1000 || plan.last_word.0 < 1000 {
        return invalid("Beats and last words take at least a second.".into());
    }
    Ok(())
}

/// What a holder's words do with the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Directive {
    /// On to the next in order.
    On,
    /// To somebody in particular.
    To(ParticipantId),
}

/// The last pass directive: a line of its own, outside code and quotes, naming somebody who is
/// here.
fn directive(body: &str, circle: &[Participant]) -> Option<Directive> {
    let mut fenced = false;
    let mut found = None;
    for line in body.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with('>') {
            found = directive_of_line(line, circle).or(found);
        }
    }
    found
}

fn directive_of_line(line: &str, circle: &[Participant]) -> Option<Directive> {
    let line = line.trim_end_matches(['.', '!']).trim_end();
    let lower = line.to_lowercase();
    if lower == "i pass" || lower == "i pass the piece" {
        return Some(Directive::On);
    }
    let prefixes = ["i pass to ", "i pass the piece to ", "passing to "];
    let prefix = prefixes.into_iter().find(|prefix| lower.starts_with(prefix))?;
    let name = line.get(prefix.len()..)?.trim().trim_start_matches('@');
    find(circle, name).map(|named| Directive::To(named.id.clone()))
}

fn find<'a>(circle: &'a [Participant], name: &str) -> Option<&'a Participant> {
    let same = |given: &str| given.to_lowercase() == name.trim().to_lowercase();
    circle.iter().find(|p| same(p.id.as_str())).or_else(|| circle.iter().find(|p| same(p.name())))
}
