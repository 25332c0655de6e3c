/** What happens in a gathering, in words for people. */

import { stepOf, type Gathering, type GatheringEvent, type Phase, type Seat, type Stand } from './gathering';
import type { Envelope } from './types';
import { count, ME } from './words';

export const PHASES: Record<Phase, string> = { inhale: 'Inhale', hold: 'Hold', exhale: 'Exhale', close: 'Close' };

export const CLOSED: Record<string, string> = {
  done: 'The gathering is closed.',
  too_few: 'The gathering is closed: too few speakers were left.',
  ended: 'The gathering was ended.',
};

export const LAST_WORD = 'Your turn is up. What would you like to say last?';

type Names = (id: string) => string;

/** A sentence that is another one where it is about whoever reads it. */
function about(id: string, names: Names, yours: string, theirs: (name: string) => string): string {
  return id === ME ? yours : theirs(names(id));
}

/** “a, b and c” */
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
  stopped: ['You laid the piece down.', (name) => `${name} laid the piece down.`],
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

function opened({ by, plan }: Extract<GatheringEvent, { event: 'opened' }>, names: Names): string {
  const [inhale, hold, exhale] = plan.breath;
  const rounds = `rounds of inhale ${inhale}, hold ${hold}, exhale ${exhale}`;
  const beats = `${count(plan.beats_per_turn, 'beat')} of ${count(plan.beat_interval_seconds, 'second')} for each turn`;
  return `${names(by)} opened a gathering: “${plan.opening_question}” (${rounds}; ${beats})`;
}

/** Which round it is of which phase. */
export function roundWords(phase: Phase, round: number, rounds: number): string {
  return phase === 'close' || round === 0 ? PHASES[phase] : `${PHASES[phase]}, round ${round} of ${rounds}`;
}

/** A sentence for one event of a gathering. */
export function stepSentence(step: GatheringEvent, names: Names): string {
  switch (step.event) {
    case 'opened':
      return opened(step, names);
    case 'round_opened':
      return noted(`${roundWords(step.phase, step.round, step.rounds)}.`, step.rule);
    case 'piece_given':
      return about(
        step.holder,
        names,
        'The piece is with you.',
        () => `The piece is with ${step.name} (${step.number}).`,
      );
    case 'beat':
      return `Beat ${step.number} of ${step.beats}.`;
    case 'last_word_asked':
      return 'The last word was asked for.';
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
      // A newer server may know steps that this page does not.
      return `Gathering: ${(step as { event: string }).event}`;
  }
}

/** A sentence for a moment of a gathering: a step of it, or that somebody spoke. */
export function momentSentence(moment: Envelope, names: Names): string {
  const step = stepOf(moment);
  return step ? stepSentence(step, names) : about(moment.from, names, 'You spoke.', (name) => `${name} spoke.`);
}

/** How somebody stands to the piece, in a few words. */
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

function numbered({ name, number }: { name: string; number: number }): string {
  return `${name} (${number})`;
}

/** Where the piece is, in one sentence. */
export function pieceSentence(gathering: Gathering): string {
  if (gathering.status === 'closed') return CLOSED[gathering.closed_because ?? 'done'] ?? 'The gathering is closed.';
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

/** Why somebody cannot write into a gathering now, and when they can; nothing where they can. */
export function whyClosed(gathering: Gathering, me: string): string | null {
  if (gathering.status === 'closed' || gathering.holder?.participant_id === me) return null;
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

function whenYours({ order, participants, phase, round, rounds, status }: Gathering, me: string): string {
  const place = order.indexOf(me);
  if (status === 'seeding') return 'Words wait until it has begun.';
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

/** What a seat is, besides its name and number. */
export function roleWords({ role, kind }: Pick<Seat, 'role' | 'kind'>): string {
  const what = kind === 'human' ? 'person' : (kind ?? '');
  return [role === 'harvester' ? 'harvester, outside the speaking order' : '', what].filter(Boolean).join(', ');
}
