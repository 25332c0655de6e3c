//! `talking_piece`: one member holds the piece and speaks, and the others listen. Rounds make
//! phases, and phases make a breath. (Rulings 28 to 33.)

mod beats;
mod directive;
mod ending;
mod prompts;

use crate::decide::Decider;
use crate::decide::gatherings::{SPEAKERS_MIN, check_circle, check_plan};
use crate::model::command::{Actor, Control, Post, Refusal, Rejection};
use crate::model::event::{Cause, Event, Guard, Outcome, SuppressedBecause, TurnKind, TurnReason};
use crate::model::gathering::{
    DeliveryMode, Gathering, GatheringEvent, GatheringPlan, HoldEnd, MEMBER_KEY, Member,
    PendingPass, Phase, PieceTenure,
};
use crate::model::ids::{EventId, ParticipantId};
use crate::model::participant::{Address, Kind, Memory, Participant, SeatRole};
use crate::model::state::{Conversation, Turn};
use crate::model::time::{Millis, Timestamp};
use crate::policy::{EmptyReply, Frames, Nomination, Rules, UnsolicitedRule};
use crate::text::{self, mentions};

use directive::{Directive, directive, find};
use prompts::{announcement, introduction, phase_line, request};

/// Length of an unknown name as it is repeated, in bytes.
const NAME_BYTES_MAX: usize = 80;

pub(crate) static RULES: Rules = Rules {
    nominate: |_, _| Nomination::default(),
    react: |_| None,
    queues: |_| false,
    // Words do not move the floor here: the holder keeps the piece or hands it over.
    on_posted: |_, _| {},
    on_taken: |_, _| {},
    on_reply: |decider, spoken| decider.let_others_hear(&spoken.cause),
    step: |decider| decider.take_queued() || decider.step_piece(),
    asks_as: TurnReason::Polled,
    counts_depth: false,
    heeds_names: false,
    unsolicited: UnsolicitedRule::Free,
    empty_reply: EmptyReply::Passes,
    cools: false,
    spares_habitual: false,
    frames: Frames::WithRequest,
    tells_outcomes: false,
    tells_unasked: false,
    passes_on: false,
    gathers: true,
    introduction,
    request,
    announcement,
};

impl Conversation {
    fn speakers(&self) -> impl Iterator<Item = &Participant> {
        self.participants.iter().filter(|p| p.part == Some(SeatRole::Speaker))
    }

    /// Returns the speakers that have not had the piece in this round, in order. Speakers that left
    /// are skipped.
    pub(crate) fn to_come<'a>(
        &'a self,
        gathering: &'a Gathering,
    ) -> impl Iterator<Item = &'a ParticipantId> {
        let is_here = |id: &&ParticipantId| self.speakers().any(|speaker| speaker.id == **id);
        gathering.order.iter().filter(is_here)
    }

    /// True if no speaker has had the piece in this round.
    fn nobody_held(&self, gathering: &Gathering) -> bool {
        self.to_come(gathering).count() == self.speakers().count()
    }

    fn harvester(&self) -> Option<&Participant> {
        self.participants.iter().find(|p| p.part == Some(SeatRole::Harvester))
    }

    /// Returns the time of the next beat or the end of the last word. `None` before the holder
    /// starts its turn and while it says its last word: the turn's own limit applies. While the
    /// holder asks a person, it is the end of the hold. Without a holder it is the deadline of the
    /// harvest. (Ruling 29.)
    pub(crate) fn next_beat(&self) -> Option<Timestamp> {
        let gathering = self.gathering()?;
        let Some(tenure) = &gathering.tenure else { return gathering.harvest_until };
        if self.is_asking(&tenure.holder) {
            return Some(self.asks_until(gathering, tenure));
        }
        let stands = |turn: &Turn| {
            let speaks = turn.kind == TurnKind::Reply && turn.running.is_some();
            let waits = turn.kind == TurnKind::Reply
                && turn.why == TurnReason::Piece
                && turn.running.is_none();
            turn.participant == tenure.holder
                && !turn.is_hosted()
                && (waits || (tenure.last_word && speaks))
        };
        (!self.open_turns().any(stands)).then_some(tenure.next_at)
    }

    /// Returns the end of the grace that a holder would have had without its question. At the last
    /// word the grace counts from the question.
    fn asks_until(&self, gathering: &Gathering, tenure: &PieceTenure) -> Timestamp {
        let GatheringPlan { beats_per_turn, beat_interval, last_word, .. } = gathering.plan;
        if tenure.last_word {
            let is_own = |turn: &&Turn| turn.participant == tenure.holder && !turn.is_hosted();
            let own = self.open_turns().filter(is_own);
            let since = own.filter_map(|turn| turn.frozen_since).max();
            return since.map_or(tenure.next_at, |since| tenure.next_at.max(since + last_word));
        }
        // The beat at `next_at` is one of those that are left, and its time is known already.
        let left = beats_per_turn.saturating_sub(tenure.beats + 1);
        tenure.next_at + Millis(beat_interval.0.saturating_mul(u64::from(left))) + last_word
    }
}

/// Rejects two invitations under one id: the second would change the first, and one member would be
/// missing.
fn check_each_once(controls: &[Control]) -> Result<(), Rejection> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for control in controls {
        let Control::Invite(invite) = control else { continue };
        let id = invite.participant.trim();
        let name = invite.profile.nickname.as_deref().unwrap_or(id);
        if let Some((other, _)) = seen.iter().find(|(_, taken)| *taken == id) {
            let (name, id) = (text::cut(name, NAME_BYTES_MAX), text::cut(id, NAME_BYTES_MAX));
            let message = format!(
                "{name:?} and {other:?} would both speak as {id:?}. Give one of them another name or `participant_id`."
            );
            return Err(Rejection::new(Refusal::Invalid, "invalid_circle", message));
        }
        seen.push((text::cut(name, NAME_BYTES_MAX), id));
    }
    Ok(())
}

impl Decider<'_> {
    /// Opens a gathering with the members that the controls invite, and cancels the open turns.
    /// Rejects a second gathering, another policy, and a plan or members that do not fit.
    pub(crate) fn gather(
        &mut self,
        by: &Actor,
        plan: GatheringPlan,
        controls: Vec<Control>,
    ) -> Result<(), Rejection> {
        self.check_open()?;
        if self.state.gathering().is_some() {
            return Err(Rejection::new(
                Refusal::Conflict,
                "nested_gathering",
                "A gathering is already open here. Gatherings cannot be nested.",
            ));
        }
        if !self.state.rules().gathers {
            return Err(Rejection::new(
                Refusal::Conflict,
                "wrong_policy",
                "A gathering needs the policy talking_piece.",
            ));
        }
        check_plan(&plan)?;
        check_each_once(&controls)?;
        if !controls.is_empty() {
            // The server invites the members on behalf of the caller, with a person's rights.
            self.control(&Actor::human(by.id.clone()), controls)?;
        }
        let members = self.members()?;
        let (by, unproven) = (by.id.clone(), !(by.proven && self.is_person(by)));
        self.emit(Event::Gathering(GatheringEvent::Opened { plan, by, unproven, members }));
        self.end_turns(|turn| !turn.is_hosted(), "gathering", "a gathering began");
        Ok(())
    }

    /// Returns the participants invited for the gathering, by number.
    fn members(&self) -> Result<Vec<Member>, Rejection> {
        let invited = self.state.participants.iter().filter_map(|p| Some((p, p.part?)));
        let member = |(participant, part): (&Participant, SeatRole)| {
            let number = participant.number.ok_or_else(|| {
                let message = format!("{} has no number in the gathering.", participant.name());
                Rejection::new(Refusal::Invalid, "invalid_circle", message).about(&participant.id)
            })?;
            Ok(Member {
                id: participant.id.clone(),
                name: participant.name().to_owned(),
                number,
                part,
                kind: participant.kind,
            })
        };
        let mut members = invited.map(member).collect::<Result<Vec<_>, Rejection>>()?;
        members.sort_by_key(|member| member.number);
        check_circle(members.iter().map(|m| (m.name.as_str(), m.number, m.part)))?;
        Ok(members)
    }

    /// Returns the key that keeps a member out of other gatherings, if it has one.
    pub(crate) fn member_key(&self, id: &ParticipantId) -> Option<String> {
        let address = self.state.participant(id)?.address.as_ref();
        let key = address.map_or_else(|| id.to_string(), Address::full_id);
        let key = format!("{MEMBER_KEY}{key}");
        self.state.bindings.contains(&key).then_some(key)
    }

    pub(crate) fn holds_piece(&self, id: &ParticipantId) -> bool {
        self.tenure_of(id).is_some()
    }

    /// True if a gathering keeps the floor from this participant.
    pub(crate) fn has_no_piece(&self, id: &ParticipantId) -> bool {
        self.state.gathering().is_some() && !self.holds_piece(id) && !self.is_harvesting(id)
    }

    fn tenure_of(&self, id: &ParticipantId) -> Option<&PieceTenure> {
        self.state.gathering()?.tenure.as_ref().filter(|tenure| tenure.holder == *id)
    }

    /// Posts words of the holder, or of the harvester after it was asked for the harvest. Words of
    /// others are refused, and go to the trace.
    pub(crate) fn say_in_gathering(&mut self, post: Post, kind: Kind) -> Result<(), Rejection> {
        let speaker = post.by.id.clone();
        let harvesting = self.is_harvesting(&speaker);
        if self.has_no_piece(&speaker) {
            return Err(self.refuse(
                &post,
                SuppressedBecause::NoPiece,
                "not_your_piece",
                "Another speaker holds the talking piece.",
            ));
        }
        let body = post.body.clone();
        let named = mentions::named(&body, &self.state.participants, &speaker);
        let posted = self.words(post, kind, u32::from(kind == Kind::Agent), &named);
        let posted = self.with_silence(posted, &named);
        let said = self.post_words(posted);
        self.heed_piece(&speaker, said.id, &body);
        if !harvesting {
            self.heed_last_word(&speaker);
        }
        Ok(())
    }

    /// Ends the hold of a speaker without turns that spoke after being asked for a last word.
    /// (Ruling 29.)
    fn heed_last_word(&mut self, speaker: &ParticipantId) {
        let takes_turns = self.state.participant(speaker).is_some_and(Participant::takes_turns);
        let asked = self.tenure_of(speaker).is_some_and(|tenure| tenure.last_word);
        if asked && !takes_turns {
            self.release_piece(HoldEnd::LastWord, None, None);
        }
    }

    /// True if a participant is the harvester and has been asked for the harvest.
    fn is_harvesting(&self, id: &ParticipantId) -> bool {
        let asked = self.state.gathering().is_some_and(|gathering| gathering.harvesting.is_some());
        asked && self.state.harvester().is_some_and(|harvester| harvester.id == *id)
    }

    /// If the gathering is live, grants the other members immediately a turn in which they read a
    /// contribution. A person gets no such turn, and an agent without a memory of its own gets none
    /// either. (Ruling 30.)
    fn let_others_hear(&mut self, cause: &Cause) {
        let live = |g: &Gathering| g.plan.hearing == DeliveryMode::Live && g.harvesting.is_none();
        if !self.state.gathering().is_some_and(live) {
            return;
        }
        // A member without a memory of its own reads the contribution in its next prompt.
        let remembers = |p: &Participant| p.facts.abilities.memory == Memory::Own;
        let hears = |p: &&Participant| {
            p.takes_turns() && p.part.is_some() && remembers(p) && p.id != cause.from
        };
        let listeners = self.state.participants.iter().filter(hears).map(|p| p.id.clone());
        for id in listeners.collect::<Vec<_>>() {
            if self.holds_piece(&id) {
                continue;
            }
            if self.can_take_turns(&id, cause) {
                self.grant(&id, TurnReason::Piece, TurnKind::Listen, true, cause);
            }
        }
    }

    /// Hands the piece on if the holder's words say so. The harvester's words become the harvest.
    /// (Ruling 31.)
    pub(crate) fn heed_piece(&mut self, speaker: &ParticipantId, message: EventId, body: &str) {
        if self.is_harvesting(speaker) {
            return self.harvested(speaker, message);
        }
        if !self.holds_piece(speaker) {
            return;
        }
        match directive(body, &self.state.participants) {
            Some(Directive::On) => match self.pass_asked(speaker) {
                Some(pass) => self.hand_over(speaker, pass.to.as_deref()),
                None => self.hand_over(speaker, None),
            },
            Some(Directive::To(name)) => self.hand_over(speaker, Some(&name)),
            None => {}
        }
    }

    /// Returns the typed pass that a working holder has asked for.
    fn pass_asked(&self, holder: &ParticipantId) -> Option<PendingPass> {
        self.tenure_of(holder)?.pass.clone()
    }

    /// Hands the piece on by a typed pass of its holder. A holder that the server runs keeps the
    /// piece until its turn ends. With `at_once` a person does not wait for a holder that hangs.
    /// (Ruling 31.)
    pub(crate) fn pass_piece(&mut self, holder: &ParticipantId, to: Option<&str>, at_once: bool) {
        // An open turn counts before its start: the program may be working on its prompt already.
        let open = || {
            let replies = |turn: &&Turn| turn.participant == *holder && turn.speaks_here();
            self.state.open_turns().find(replies)
        };
        let is_at_work = |turn: &&Turn| turn.running.is_some() && !turn.is_hosted();
        let running = self.state.front_turn(holder).filter(is_at_work);
        let Some(turn) = running.or_else(open).map(|turn| turn.no) else {
            return self.hand_over(holder, to);
        };
        let posts = self.state.participant(holder).is_some_and(Participant::answers_by_posting);
        // A turn that has not started ends with the hold.
        if posts && self.state.turn(turn).is_some_and(|turn| turn.running.is_some()) {
            let usage = self.elapsed(turn);
            self.end(turn, Outcome::Passed, None, usage);
        }
        if posts || at_once {
            return self.hand_over(holder, to);
        }
        let to = to.map(|name| text::cut(name, NAME_BYTES_MAX).to_owned());
        let holder = holder.clone();
        self.emit(Event::Gathering(GatheringEvent::PassAsked { holder, turn, to }));
    }

    /// Ends the hold with the named successor, or in order. If the name cannot have the piece, a
    /// note says why.
    pub(crate) fn hand_over(&mut self, holder: &ParticipantId, to: Option<&str>) {
        let (next, note) = match to {
            None => (None, None),
            Some(name) => self.successor(holder, name),
        };
        self.release_piece(HoldEnd::Passed, next, note);
    }

    /// Returns the named successor, or a note with the reason why it cannot have the piece.
    fn successor(
        &self,
        holder: &ParticipantId,
        name: &str,
    ) -> (Option<ParticipantId>, Option<String>) {
        let Some(named) = find(&self.state.participants, name) else {
            // All members read the note and the holder chose the name, so the name is cut.
            let name = text::cut(name, NAME_BYTES_MAX);
            return (
                None,
                Some(format!("Nobody here is called {name:?}; the piece goes on in order.")),
            );
        };
        let shown = named.name();
        let note = if named.id == *holder {
            format!("{shown} cannot pass the piece to itself; it goes on in order.")
        } else if named.part != Some(SeatRole::Speaker) {
            format!("{shown} does not hold the piece in this gathering; it goes on in order.")
        } else if self.state.muted.contains(&named.id) {
            format!("{shown} is muted; the piece goes on in order.")
        } else if !self.state.gathering().is_some_and(|g| g.order.contains(&named.id)) {
            format!("{shown} has held the piece in this round; it goes on in order.")
        } else {
            return (Some(named.id.clone()), None);
        };
        (None, Some(note))
    }

    /// Takes the piece from its holder, if there is one, and cancels the holder's open turns.
    /// `next` is the named successor, and `note` is shown to the next holder.
    pub(crate) fn release_piece(
        &mut self,
        because: HoldEnd,
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
        // The work of the holder for another conversation does not belong to its hold.
        let of = |turn: &Turn| turn.participant == holder && !turn.is_hosted();
        self.end_turns(of, "piece_passed", "the piece was passed on");
    }

    /// Takes the piece from a holder that waits for a person's answer. Its question stays open, and
    /// its later words are without the piece.
    fn pass_over_asking(&mut self, holder: &ParticipantId) {
        let to = self.pass_asked(holder).and_then(|pass| pass.to);
        let (next, fault) = to.map_or((None, None), |name| self.successor(holder, &name));
        let way = if next.is_some() { "as it asked" } else { "in order" };
        let name = self.state.name_of(holder);
        let asks = format!("{name} waits for a person's answer, so the piece goes on {way}.");
        let note = fault.map_or(asks.clone(), |fault| format!("{asks} {fault}"));
        self.emit(Event::Gathering(GatheringEvent::PieceReleased {
            holder: holder.clone(),
            because: HoldEnd::Grace,
            next,
            note: Some(note),
        }));
        let of = |turn: &Turn| {
            turn.participant == *holder && turn.frozen_since.is_none() && !turn.is_hosted()
        };
        self.end_turns(of, "piece_passed", "the piece was passed on");
    }

    /// True if a turn belongs to a hold that has ended.
    pub(crate) fn is_of_an_earlier_hold(&self, turn: &Turn) -> bool {
        let of_a_hold = turn.kind == TurnKind::Reply
            && matches!(turn.why, TurnReason::Piece | TurnReason::Beat);
        of_a_hold && self.has_no_piece(&turn.participant)
    }

    /// Moves the gathering one step. Returns false if it has to wait.
    fn step_piece(&mut self) -> bool {
        let Some(gathering) = self.state.gathering().cloned() else { return false };
        if self.state.guards.held == Some(Guard::Stopped) {
            return false;
        }
        if gathering.harvesting.is_some() {
            return self.step_harvest();
        }
        match &gathering.tenure {
            Some(tenure) if self.state.participant(&tenure.holder).is_none() => {
                self.release_piece(HoldEnd::Gone, None, None)
            }
            _ if self.state.speakers().count() < SPEAKERS_MIN => {
                return self.begin_harvest("too_few");
            }
            Some(PieceTenure { holder, pass: Some(pass), .. })
                if self.state.turn(pass.turn).is_none() =>
            {
                self.hand_over(holder, pass.to.as_deref());
            }
            Some(tenure)
                if tenure.last_word
                    && !self.has_open_reply(&tenure.holder)
                    && self
                        .state
                        .participant(&tenure.holder)
                        .is_some_and(Participant::takes_turns) =>
            {
                self.release_piece(HoldEnd::LastWord, None, None);
            }
            Some(_) => return false,
            None => return self.give_piece(&gathering),
        }
        true
    }

    fn has_open_reply(&self, id: &ParticipantId) -> bool {
        self.state.open_turns().any(|turn| turn.participant == *id && turn.speaks_here())
    }

    /// Gives the piece to the next speaker of the round that is present and not muted, with a turn
    /// if the speaker takes turns. Without such a speaker, begins the next round. Always returns
    /// true.
    fn give_piece(&mut self, gathering: &Gathering) -> bool {
        let present = |id: &&ParticipantId| !self.state.muted.contains(*id) && !self.is_away(id);
        let Some(holder) = self.state.to_come(gathering).find(present).cloned() else {
            return self.next_round(gathering);
        };
        let given = self.emit(Event::Gathering(GatheringEvent::PieceGiven {
            holder: holder.clone(),
            note: gathering.note.clone(),
        }));
        if self.state.participant(&holder).is_some_and(Participant::takes_turns) {
            self.grant(&holder, TurnReason::Piece, TurnKind::Reply, true, &given);
        }
        // `gathering` is a copy from before this piece was given. The order in the state lacks the
        // holder already.
        let nobody_held = self.state.nobody_held(gathering);
        if gathering.phase == Phase::Inhale && gathering.round == 1 && nobody_held {
            // With their first listening turn the other members get their seed messages.
            self.let_others_hear(&given);
        }
        true
    }

    /// Opens the next round, or the first of the next phase. After the last one, or after a round
    /// in which the piece had no holder, begins the harvest. Always returns true.
    fn next_round(&mut self, gathering: &Gathering) -> bool {
        let nobody_spoke = gathering.round > 0 && self.state.nobody_held(gathering);
        let (phase, round) = if gathering.round < gathering.plan.rounds(gathering.phase) {
            (Some(gathering.phase), gathering.round + 1)
        } else {
            (gathering.phase.next(), 1)
        };
        let Some(phase) = phase.filter(|_| !nobody_spoke) else {
            return self.begin_harvest("done");
        };
        let mut order: Vec<_> = self.state.speakers().map(|p| (p.number, p.id.clone())).collect();
        order.sort();
        let order = order.into_iter().map(|(_, id)| id).collect();
        self.emit(Event::Gathering(GatheringEvent::RoundOpened { phase, round, order }));
        let rounds = gathering.plan.rounds(phase);
        let line = phase_line(phase, round, rounds).replace('\n', " ");
        self.notice("phase", line, None, None);
        true
    }

    /// Records the harvester's message as the harvest, and closes the gathering.
    fn harvested(&mut self, harvester: &ParticipantId, message: EventId) {
        let Some(gathering) = self.state.gathering() else { return };
        let (rhythm, because) =
            (gathering.plan.rhythm.clone(), gathering.harvesting.clone().unwrap_or_default());
        self.emit(Event::Gathering(GatheringEvent::Harvested {
            harvester: harvester.clone(),
            message,
            rhythm,
        }));
        self.end_gathering(&because);
    }

    /// Closes the gathering once the harvesting agent's turn has ended in any way. A person's
    /// harvest comes as a message. Returns false while the harvest is awaited.
    fn step_harvest(&mut self) -> bool {
        let waits =
            self.state.harvester().is_some_and(|p| !p.takes_turns() || self.has_open_reply(&p.id));
        if waits {
            return false;
        }
        let because = self.state.gathering().and_then(|gathering| gathering.harvesting.clone());
        self.end_gathering(&because.unwrap_or_default());
        true
    }
}
