/** Words and orders of the home view. */

import { aboutAgent } from './as-whom';
import type { AgentEntry, Need, Occupation, ProgramEntry } from './types';
import { isStuck, rankOf } from './occupations';
import { HUES } from './palette';

/** Returns the place of a participant among the colours. It depends on the id alone. */
export function hueOf(id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 9973;
  return sum % HUES;
}

/** True if a state is a row of its own: not one of your needs, and not a pause without a turn. */
function isOwnRow(state: Occupation, needs: readonly Need[]): boolean {
  const isNeed = state.asks_you && needs.some((need) => need.permission && need.thread === (state.at ?? state.thread));
  return !isNeed && (state.word !== 'paused' || Boolean(state.turn));
}

/**
 * Returns one state for each agent, stuck ones first. A session has one state in all its rooms; it
 * is shown in the room of its work. An agent whose question is among your needs is not shown.
 */
export function atWork(states: readonly Occupation[], needs: readonly Need[]): Occupation[] {
  const shown = new Map<string, Occupation>();
  for (const state of states.filter((one) => isOwnRow(one, needs))) {
    const key = state.session ?? `${state.thread} ${state.participant}`;
    const before = shown.get(key);
    if (!before || (!state.at && before.at)) shown.set(key, state);
  }
  return [...shown.values()].sort((one, other) => rankOf(one) - rankOf(other) || (one.name < other.name ? -1 : 1));
}

/**
 * Returns the sentence about an agent after its name: who keeps it waiting, and who keeps that one
 * waiting.
 */
export function sentenceOf(state: Occupation, all: readonly Occupation[]): string {
  const first = all.find((one) => one.thread === state.thread && one.participant === state.waits_for);
  if (!first || !isStuck(first)) return state.says;
  return `${state.says}, who ${first.says}`;
}

/** An agent that a message may ask: of the registry, or a program to start in a terminal. */
export interface Askable {
  client: string;
  about: string;
  /** The entry of the registry; absent for a program to start. */
  agent?: AgentEntry;
}

/**
 * Returns the agents that a message may ask: installed programs, then configured and found agents,
 * then the demos. A program that lives in a terminal is not offered a second time for single turns.
 */
export function askable(agents: readonly AgentEntry[], programs: readonly ProgramEntry[]): Askable[] {
  const place = (agent: AgentEntry) => ['configured', 'discovered', 'built-in'].indexOf(agent.origin);
  const found = programs
    .filter((program) => !program.missing)
    .map((program) => ({ client: program.client, about: program.summary }));
  const others = agents
    .filter((agent) => !found.some((program) => program.client === agent.client))
    .sort((one, other) => place(one) - place(other))
    .map((agent) => ({ client: agent.client, about: aboutAgent(agent), agent }));
  return [...found, ...others];
}

/** Returns the agents that a message names by `@`. */
export function namedIn(text: string, agents: readonly Askable[]): Askable[] {
  const names = new Set(
    Array.from(text.matchAll(/(?:^|[\s(])@([A-Za-z0-9._:-]+)/g), (match) => match[1]?.toLowerCase()),
  );
  return agents.filter((agent) => names.has(agent.client.toLowerCase()));
}

/** Returns a title for a room that begins with a message. */
export function titleOf(text: string): string {
  const line =
    text
      .trim()
      .split('\n')[0]
      // The names at the beginning go with the word between them.
      ?.replace(/^(?:@[A-Za-z0-9._:-]+[,:]?\s*(?:(?:and|&)\s+(?=@))?)+/, '')
      .replace(/@[A-Za-z0-9._:-]+[,:]?\s*/g, '')
      .trim() ?? '';
  const words = line.length > 48 ? `${line.slice(0, 48).replace(/\s+\S*$/, '')}…` : line;
  return words || 'New conversation';
}
