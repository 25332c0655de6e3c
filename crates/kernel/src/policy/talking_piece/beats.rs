//! The beats of a hold, and the pulse that each beat tells its holder. (Ruling 29.)

use crate::decide::Decider;
use crate::model::budget::{Account, BudgetOwner, Measure};
use crate::model::event::{Event, TurnKind, TurnReason};
use crate::model::gathering::{Gathering, GatheringEvent, HoldEnd, Member};
use crate::model::ids::ParticipantId;
use crate::model::participant::{Participant, SeatRole};
use crate::policy::talking_piece::prompts::numbered;
use crate::text;

impl Decider<'_> {
    /// Applies the clock to a gathering if its next time has come. Each time brings a beat, and the
    /// last beat also asks the holder for its last word. The time after that ends the hold. If the
    /// holder waits for a person's answer, the piece is passed on. Without a holder the time for
    /// the harvest is over, and the gathering closes. Nothing happens in a pause, while a guard
    /// holds, or in an archived conversation. (Ruling 29.)
    pub(crate) fn beat(&mut self) {
        let due = self.state.next_beat().is_some_and(|at| at <= self.now);
        if !due || self.state.archived || self.state.paused || self.state.guards.held.is_some() {
            return;
        }
        let Some(gathering) = self.state.gathering().cloned() else { return };
        let Some(tenure) = &gathering.tenure else {
            return self.end_gathering(gathering.harvesting.as_deref().unwrap_or_default());
        };
        if self.state.is_asking(&tenure.holder) {
            return self.pass_over_asking(&tenure.holder);
        }
        if tenure.last_word {
            return self.release_piece(HoldEnd::Grace, None, None);
        }
        let number = tenure.beats + 1;
        let last = number >= gathering.plan.beats_per_turn;
        let pulse = self.pulse(&gathering, &tenure.holder);
        let mut cause = self.emit(Event::Gathering(GatheringEvent::Beat { number, pulse }));
        if last {
            cause = self.emit(Event::Gathering(GatheringEvent::LastWordAsked));
        }
        let idle = !self.has_open_reply(&tenure.holder);
        let agent = self.state.participant(&tenure.holder).is_some_and(Participant::takes_turns);
        if idle && agent && self.can_take_turns(&tenure.holder, &cause) {
            self.grant(&tenure.holder, TurnReason::Beat, TurnKind::Reply, true, &cause);
        }
    }

    /// Returns the pulse, one line for the holder. It has the names of the speakers before and
    /// after the holder in this round, the number of open questions to people, the number of
    /// members that are present, and the turns left in the budget.
    fn pulse(&self, gathering: &Gathering, holder: &ParticipantId) -> String {
        let to_come: Vec<_> = self.state.to_come(gathering).collect();
        // A speaker that left before its part of the round never held the piece.
        let never = |id| gathering.order.contains(id) && !to_come.contains(&id);
        let (later, spoken): (Vec<_>, Vec<_>) = gathering
            .members
            .iter()
            .filter(|member| member.part == SeatRole::Speaker && member.id != *holder)
            .filter(|member| !never(&member.id))
            .partition(|member| to_come.contains(&&member.id));
        let names = |members: &[&Member]| match members {
            [] => "nobody".to_owned(),
            _ => members
                .iter()
                .map(|member| numbered(&member.name, member.number))
                .collect::<Vec<_>>()
                .join(", "),
        };
        let open: usize = self.state.open_turns().map(|turn| turn.permissions.len()).sum();
        let open = open + self.state.requests_asked().count();
        let is_here = |member: &&Member| {
            self.state.participant(&member.id).is_some() && !self.is_away(&member.id)
        };
        let here = gathering.members.iter().filter(is_here).count();
        let left = self.turns_left(holder).map_or(String::new(), |left| {
            format!("; {} left in this hour", text::counted(left, "turn"))
        });
        format!(
            "{} round {}/{}: before you {}, after you {}; {open} open questions to people; {here} of {} are here{left}",
            gathering.phase,
            gathering.round,
            gathering.plan.rounds(gathering.phase),
            names(&spoken),
            names(&later),
            gathering.members.len(),
        )
    }

    /// Returns the turns left in the smallest budget that pays for this participant.
    fn turns_left(&self, id: &ParticipantId) -> Option<u64> {
        let client = self.state.participant(id).and_then(|p| p.profile.client.clone());
        let by = self.state.gathering().map(|gathering| gathering.by.clone())?;
        let Account { agent, by, .. } =
            Account { agent: client.unwrap_or_else(|| id.to_string()), by, attended: true };
        let owners = [
            BudgetOwner::Conversation,
            BudgetOwner::Agent(agent),
            BudgetOwner::Principal(by),
            BudgetOwner::Hall,
        ];
        let left = owners.into_iter().filter_map(|owner| {
            let standing = match owner {
                BudgetOwner::Conversation => self.state.standing(),
                _ => self.facts.budgets.standing(&owner),
            };
            standing.remaining(self.facts.budgets.limits.of(&owner), Measure::Turns, self.now)
        });
        left.min()
    }
}
