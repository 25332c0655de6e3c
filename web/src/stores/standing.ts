/** The state of a participant in the words, tones and clocks of the page. */

import { isRunning } from '../lib/occupations';
import { seconds } from '../lib/time';
import type { Invited, Occupation, OpenTurn } from '../lib/types';
import type { StateWord } from '../lib/wire';
import { tenths, wholeSeconds } from './clock.svelte';
import type { Room } from './room.svelte';
import { hall, states } from './app';

export type Tone = 'idle' | 'busy' | 'next' | 'off' | 'muted';

export interface Standing {
  word: string;
  tone: Tone;
  /** The turn that can be stopped. */
  turn: string | null;
}

const TONES: Record<StateWord, Tone> = {
  asks: 'busy',
  writing: 'busy',
  working: 'busy',
  thinking: 'busy',
  waits: 'next',
  queued: 'next',
  paused: 'next',
  muted: 'muted',
  ready: 'idle',
  away: 'off',
  ended: 'off',
};

function toneOf({ word }: Occupation): Tone {
  return Object.hasOwn(TONES, word) ? TONES[word as StateWord] : 'idle';
}

/** True if the page does not hear the server: what is shown may be old. */
function isServerAway(): boolean {
  return hall.link !== 'live';
}

function stateOf(room: Room, participant: string): Occupation | undefined {
  return states.of(room.id, participant) ?? room.floor.participant(participant)?.doing ?? undefined;
}

/** Returns a state in words, with its tool and the running time. Its clock runs only during work. */
export function stateWords(state: Occupation, elapsed: string | null): string {
  const tool = state.tool ? ` ${state.tool}` : '';
  return isRunning(state) && elapsed !== null ? `${state.says}${tool} · ${elapsed}` : `${state.says}${tool}`;
}

/** Returns a running time. In a crowd it counts whole seconds: many tenths keep the page busy. */
function clock(ranMs: (now: number) => number): string {
  if (!states.isCrowded) return seconds(ranMs(tenths()) / 1000);
  const whole = Math.max(0, Math.floor(ranMs(wholeSeconds()) / 1000));
  return whole < 10 ? `${whole} s` : seconds(whole);
}

/** Returns the running time of a state; null if its start is not known. */
export function ranFor(state: Occupation): string | null {
  const { since } = state;
  return since ? clock((now) => now - Date.parse(since)) : null;
}

/** Returns words for the participant of a turn that runs. */
export function runningWords(room: Room, turn: OpenTurn, brief = false): string {
  if (isServerAway()) return 'server away';
  const state = stateOf(room, turn.participant);
  if (!state || !isRunning(state)) return state?.says ?? 'thinking';
  const elapsed = clock((now) => room.history.ranMs(turn, now));
  return brief ? elapsed : stateWords(state, elapsed);
}

/** Returns the standing of a participant in a room. */
export function turnState(room: Room, entry: Invited): Standing {
  const state = stateOf(room, entry.id);
  if (!state) return { word: '', tone: 'idle', turn: null };
  const turn = state.turn ?? null;
  if (isServerAway()) return { word: 'server away', tone: 'off', turn };
  const busy = state.at && state.at !== room.id ? 'next' : toneOf(state);
  return { word: stateWords(state, ranFor(state)), tone: busy, turn };
}
