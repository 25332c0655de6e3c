/** The kinds of the words of states, for order, colour and clocks. */

import type { Occupation } from './types';
import type { StateWord } from './wire';

/** `stuck` waits for another, `runs` has a clock that counts seconds, `held` goes on later. */
type Kind = 'stuck' | 'runs' | 'held' | 'rests';

const KINDS: Record<StateWord, Kind> = {
  asks: 'stuck',
  waits: 'stuck',
  paused: 'held',
  working: 'runs',
  writing: 'runs',
  thinking: 'runs',
  queued: 'held',
  muted: 'rests',
  ready: 'rests',
  away: 'rests',
  ended: 'rests',
};

/** The words of participants that do something, or are about to: those of stuck ones first. */
const ORDER: readonly string[] = [
  'asks',
  'waits',
  'paused',
  'working',
  'writing',
  'thinking',
  'queued',
] satisfies StateWord[];

type Said = Pick<Occupation, 'word'>;

/** Returns the kind of a word. One of a newer server counts as rest. */
function kindOf(word: string): Kind {
  return Object.hasOwn(KINDS, word) ? KINDS[word as StateWord] : 'rests';
}

/** Returns the place of a state among those at work; -1 for a participant that rests. */
export function rankOf({ word }: Said): number {
  return ORDER.indexOf(word);
}

/** True if the participant does something, or is about to. */
export function isAtWork({ word }: Said): boolean {
  return kindOf(word) !== 'rests';
}

/** True if the participant thinks, writes or works. */
export function isRunning({ word }: Said): boolean {
  return kindOf(word) === 'runs';
}

/** True if the participant cannot go on before another did something. */
export function isStuck({ word }: Said): boolean {
  return kindOf(word) === 'stuck';
}
