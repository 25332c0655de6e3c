/** Events of a gathering, in words for people. */

import { roundsOf, stepOf, type Seat, type Stand } from './gathering';
import type { Envelope, Gathering, GatheringEvent, GatheringMember, GatheringPhase } from './types';
import { count, ME } from './words';

export const PHASES: Record<GatheringPhase, string> = {
  inhale: 'Inhale',
  hold: 'Hold',
  exhale: 'Exhale',
  close: 'Close',
};

export const CLOSED: Record<string, string> = {
  done: 'The gathering is closed.',
  too_few: 'The gathering is closed: too few speakers were left.',
  ended: 'The gathering was ended.',
};

export const LAST_WORD = 'Your turn is up. What would you like to say last?';

type Names = (id: string) => string;

/** Returns `yours` if the sentence is about the reader, else `theirs`. */
function about(id: string, names: Names, yours: string, theirs: (name: string) => string): string {
  return id === ME ? yours : theirs(names(id));
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

const LET_GO: Record<string, [string, (name: string) => string]> = {
  passed: ['You passed the piece.', (name) => `${name} passed the piece.`],
  last_word: ['You said a last word.', (name) => `${name} said a last word.`],
  grace: ['Your time was over.', (name) => `The time of ${name} was over.`],
  gone: ['You are gone; the piece goes on.', (name) => `${name} is gone; the piece goes on.`],
  // Stopped by a person, or because the harvest comes next.
  stopped: ['Your time with the piece was cut short.', (name) => `The time of ${name} with the piece was cut short.`],
};

function released(step: Extract<GatheringEvent, { event: 'piece_released' }>, names: Names): string {
  const { holder, because, next, note } = step;
  if (because === 'passed' && next !== null) {
    const to = next === ME ? 'you' : names(next);
    return about(holder, names, `You passed the piece to ${to}.`, (name) => `${name} passed the piece to ${to}.`);
  }
  const [yours, theirs] = LET_GO[because] ?? [
    'You let go of the piece.',
    (name: string) => `${name} let go of the piece.`,
  ];
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
      return about(step.holder, names, 'The piece is with you.', (name) => `The piece is with ${name}.`);
    case 'beat':
      return `Beat ${step.number}.`;
    case 'last_word_asked':
      return 'The last word was asked for.';
    case 'pass_asked':
      return about(
        step.holder,
        names,
        'You hand the piece on when your turn ends.',
        (name) => `${name} hands the piece on when its turn ends.`,
      );
    case 'piece_released':
      return released(step, names);
    case 'harvest_asked':
      return about(
        step.harvester,
        names,
        'You are asked for the harvest.',
        (name) => `${name} is asked for the harvest.`,
      );
    case 'harvested':
      return about(step.harvester, names, 'You brought in the harvest.', (name) => `${name} brought in the harvest.`);
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

/** Returns a member's relation to the piece, in a few words. */
export function standWords(stand: Stand): string {
  switch (stand.kind) {
    case 'holds':
      return 'has the piece';
    case 'waits':
      return stand.place === 0 ? 'is next' : `comes after ${stand.place} more`;
    case 'had':
      return 'had the piece in this round';
    case 'gathers':
      return 'writes the harvest';
    case 'listens':
      return 'listens';
    case 'gone':
      return 'is gone';
  }
}

function closedSentence({ closed_because, participants }: Gathering): string {
  if (participants.length === 0) return 'The gathering did not come about.';
  return CLOSED[closed_because ?? 'done'] ?? 'The gathering is closed.';
}

/** Returns a sentence that says where the piece is. */
export function pieceSentence(gathering: Gathering): string {
  if (gathering.status === 'closed') return closedSentence(gathering);
  if (gathering.status === 'seeding') return 'The gathering is about to begin.';
  if (gathering.holder) {
    return gathering.holder.participant_id === ME
      ? 'You have the piece.'
      : `The piece is with ${numbered(gathering.holder)}.`;
  }
  if (gathering.phase !== 'close') return 'The piece is in the middle.';
  const harvester = gathering.participants.find((member) => member.role === 'harvester');
  if (!harvester) return 'The gathering closes.';
  return harvester.participant_id === ME
    ? 'The harvest is yours to write.'
    : `${numbered(harvester)} writes the harvest.`;
}

/**
 * Returns the reason why a participant cannot write into a gathering now, and when they can; null
 * if they can.
 */
export function whyClosed(gathering: Gathering, me: string): string | null {
  if (gathering.status === 'closed' || gathering.holder?.participant_id === me) return null;
  if (gathering.status === 'seeding') return `${pieceSentence(gathering)} Words wait until it has begun.`;
  const own = gathering.participants.find((member) => member.participant_id === me);
  if (own?.role === 'harvester' && gathering.phase === 'close') return null;
  const where = pieceNow(gathering);
  if (!own) return `${where} Only members of the gathering speak here until it is closed.`;
  if (gathering.phase === 'close') return `${where} When the gathering is closed, everybody can write again.`;
  if (own.role === 'harvester') return `${where} As the harvester, you speak when the others have spoken.`;
  return `${where} ${whenYours(gathering, me)}`;
}

function pieceNow(gathering: Gathering): string {
  return gathering.holder ? `${numbered(gathering.holder)} has the talking piece.` : pieceSentence(gathering);
}

function whenYours({ order, participants, phase, round, rounds }: Gathering, me: string): string {
  const place = order.indexOf(me);
  if (place === 0) return 'You will have it next.';
  if (place > 0) {
    const first = order
      .slice(0, place)
      .flatMap((id) => participants.find((member) => member.participant_id === id) ?? []);
    return `You will have it after ${together(first.map(numbered))}.`;
  }
  const isLast = phase === 'exhale' && round >= rounds;
  return isLast ? 'This is the last round, and you had it.' : 'You had it in this round, and will have it in the next.';
}

/** Returns the words for a seat's role. */
export function roleWords({ isHarvester, isPerson }: Pick<Seat, 'isHarvester' | 'isPerson'>): string {
  const who = isPerson ? 'person' : 'agent';
  return isHarvester ? `harvester, outside the speaking order, ${who}` : who;
}
