/** Events of a gathering, in words for people. */

import { roundsOf, stepOf, type Seat, type Stand } from './gathering';
import type { Names } from './names';
import type { Envelope, Gathering, GatheringEvent, GatheringMember, GatheringPhase } from './types';
import type { HoldEnd } from './wire';
import { count } from './words';

export const PHASES: Record<GatheringPhase, string> = {
  inhale: 'Inhale',
  hold: 'Hold',
  exhale: 'Exhale',
  close: 'Harvest',
};

const CLOSED: Record<string, string> = {
  done: 'The gathering is closed.',
  too_few: 'The gathering is closed: too few speakers were left.',
  ended: 'A person ended the gathering.',
};

export const LAST_WORD = 'Your turn is up. What would you like to say last?';

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });

/** Returns `yours` if the sentence is about the reader, else `theirs`. */
function about(id: string, names: Names, yours: string, theirs: (name: string) => string): string {
  return id === names.me ? yours : theirs(names(id));
}

function numbered({ name, number }: Pick<GatheringMember, 'name' | 'number'>): string {
  return `${name} (${number})`;
}

/** Joins words: “a, b and c”. */
export function together(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function noted(text: string, note: string | null): string {
  return note ? `${text} ${note}` : text;
}

const LET_GO: Record<HoldEnd, [string, (name: string) => string]> = {
  passed: ['You passed the piece.', (name) => `${name} passed the piece.`],
  last_word: ['You said a last word.', (name) => `${name} said a last word.`],
  grace: ['Your time ran out.', (name) => `${name} ran out of time.`],
  gone: ['You left; the piece moves on.', (name) => `${name} left; the piece moves on.`],
  // Stopped by a person, or because the harvest comes next.
  stopped: ['You were stopped.', (name) => `${name} was stopped.`],
};

function released(step: Extract<GatheringEvent, { event: 'piece_released' }>, names: Names): string {
  const { holder, because, next, note } = step;
  if (because === 'passed' && next !== null) {
    const to = next === names.me ? 'you' : names(next);
    return about(holder, names, `You passed the piece to ${to}.`, (name) => `${name} passed the piece to ${to}.`);
  }
  const known = Object.hasOwn(LET_GO, because) ? LET_GO[because as HoldEnd] : null;
  const [yours, theirs] = known ?? ['You gave up the piece.', (name: string) => `${name} gave up the piece.`];
  return noted(about(holder, names, yours, theirs), note);
}

function opened(step: Extract<GatheringEvent, { event: 'opened' }>, names: Names): string {
  const { by, plan, participants } = step;
  const [inhale, hold, exhale] = plan.breath;
  const rounds = `rounds of inhale ${inhale}, hold ${hold}, exhale ${exhale}`;
  const beats = `${count(plan.beats_per_turn, 'beat')} of ${count(plan.beat_interval_seconds, 'second')} for each turn`;
  const speakers = participants.filter((member) => member.role === 'speaker');
  const circle = together(speakers.map((member) => numbered(member)));
  const question = plan.opening_question === '' ? '' : `: “${plan.opening_question}”`;
  return `${names(by)} opened a gathering of ${circle}${question} (${rounds}; ${beats})`;
}

/** Returns the words for a round of a phase. `rounds` is 0 if it is not known. */
export function roundWords(phase: GatheringPhase, round: number, rounds: number): string {
  if (phase === 'close' || round === 0) return PHASES[phase];
  return rounds === 0 ? `${PHASES[phase]}, round ${round}` : `${PHASES[phase]}, round ${round} of ${rounds}`;
}

/** Returns a sentence for one event of a gathering. The number of rounds comes from its plan. */
export function stepSentence(step: GatheringEvent, names: Names, breath: readonly number[] = []): string {
  switch (step.event) {
    case 'opened':
      return opened(step, names);
    case 'round_opened':
      return `${roundWords(step.phase, step.round, roundsOf(breath, step.phase))}. ${step.rule}`;
    case 'piece_given':
      return about(step.holder, names, 'You have the piece.', (name) => `${name} has the piece.`);
    case 'beat':
      return `Beat ${step.number}.`;
    case 'last_word_asked':
      return 'The server asked for a last word.';
    case 'pass_asked':
      return about(
        step.holder,
        names,
        'You pass the piece when your turn ends.',
        (name) => `${name} passes the piece at the end of its turn.`,
      );
    case 'piece_released':
      return released(step, names);
    case 'harvest_asked':
      return about(step.harvester, names, 'You write the harvest.', (name) => `${name} writes the harvest.`);
    case 'harvested':
      return about(step.harvester, names, 'You wrote the harvest.', (name) => `${name} wrote the harvest.`);
    case 'closed':
      return CLOSED[step.because] ?? `The gathering is closed: ${step.because}.`;
    default:
      // A newer server may send steps that this page does not know.
      return `Gathering: ${(step as { event: string }).event}`;
  }
}

/** Returns a sentence for a moment of a gathering: a step, or the words of a member. */
export function momentSentence(moment: Envelope, names: Names, breath: readonly number[] = []): string {
  const step = stepOf(moment);
  return step ? stepSentence(step, names, breath) : about(moment.from, names, 'You spoke.', (name) => `${name} spoke.`);
}

/** Returns the word for a place in an order, from 1: `2nd`, `3rd`, `11th`. */
function ordinal(place: number): string {
  const ending = { one: 'st', two: 'nd', few: 'rd' } as Record<string, string>;
  return `${place}${ending[ORDINALS.select(place)] ?? 'th'}`;
}

/** Returns a member's relation to the piece, in a few words. */
export function standWords(stand: Stand): string {
  switch (stand.kind) {
    case 'holds':
      return 'has the piece';
    case 'waits':
      return stand.place === 0 ? 'next' : ordinal(stand.place + 1);
    case 'had':
      return 'had the piece this round';
    case 'gathers':
      return 'writes the harvest';
    case 'listens':
      return 'listens';
    case 'gone':
      return 'left';
  }
}

function closedSentence({ closed_because, participants }: Gathering): string {
  if (participants.length === 0) return 'The gathering could not begin.';
  return CLOSED[closed_because ?? 'done'] ?? 'The gathering is closed.';
}

/** Returns a sentence that says where the piece is, for a reader. */
export function pieceSentence(gathering: Gathering, me: string): string {
  if (gathering.status === 'closed') return closedSentence(gathering);
  if (gathering.status === 'seeding') return 'The gathering is about to begin.';
  if (gathering.holder) {
    return gathering.holder.participant_id === me
      ? 'You have the piece.'
      : `${numbered(gathering.holder)} has the piece.`;
  }
  if (gathering.phase !== 'close') return 'Nobody holds the piece.';
  const harvester = gathering.participants.find((member) => member.role === 'harvester');
  if (!harvester) return 'The gathering is closing.';
  return harvester.participant_id === me ? 'You write the harvest.' : `${numbered(harvester)} writes the harvest.`;
}

/**
 * Returns the reason why a participant cannot write into a gathering now, and when they can; null
 * if they can.
 */
export function whyClosed(gathering: Gathering, me: string): string | null {
  if (gathering.status === 'closed' || gathering.holder?.participant_id === me) return null;
  if (gathering.status === 'seeding') return `${pieceSentence(gathering, me)} You can write once it has begun.`;
  const own = gathering.participants.find((member) => member.participant_id === me);
  if (own?.role === 'harvester' && gathering.phase === 'close') return null;
  const where = pieceSentence(gathering, me);
  if (!own) return `${where} Until it closes, only its members write here.`;
  if (gathering.phase === 'close') return `${where} Everyone can write again once the gathering is closed.`;
  if (own.role === 'harvester') return `${where} You write the harvest once the others have spoken.`;
  return `${where} ${whenYours(gathering, me)}`;
}

function whenYours({ order, participants, phase, round, rounds }: Gathering, me: string): string {
  const place = order.indexOf(me);
  if (place === 0) return 'You are next.';
  if (place > 0) {
    const first = order
      .slice(0, place)
      .flatMap((id) => participants.find((member) => member.participant_id === id) ?? []);
    return `You come after ${together(first.map(numbered))}.`;
  }
  const isLast = phase === 'exhale' && round >= rounds;
  return isLast ? 'You had your turn in this last round.' : 'You had your turn; the next round brings another.';
}

/** Returns the words for a seat's role. */
export function roleWords({ isHarvester, isPerson }: Pick<Seat, 'isHarvester' | 'isPerson'>): string {
  const who = isPerson ? 'person' : 'agent';
  return isHarvester ? `harvester, not in the speaking order, ${who}` : who;
}
