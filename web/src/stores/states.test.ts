import { expect, test } from 'vitest';
import type { Occupation } from '../lib/types';
import { Me } from './me.svelte';
import { States } from './states.svelte';

const states = new States(new Me());

const state = (thread: string, participant: string, word: string): Occupation => ({
  thread,
  participant,
  name: participant,
  word,
  says: word,
});

test('a later state replaces the earlier one of the same participant in the same room alone', () => {
  states.learn([state('a', 'ann', 'thinking'), state('a', 'bob', 'ready'), state('b', 'ann', 'waits')]);
  states.learn([undefined, null, state('a', 'ann', 'ready')]);
  expect(states.of('a', 'ann')?.word).toBe('ready');
  expect(states.of('b', 'ann')?.word).toBe('waits');
  expect(states.atWork.map(({ thread, participant }) => `${thread} ${participant}`)).toEqual(['b ann']);
  states.forget('b');
  expect(states.atWork).toEqual([]);
});

test('a room tells those first that ask, and neither you nor those that wait', () => {
  const all = [
    ['user', 'writing'],
    ['ann', 'thinking'],
    ['bob', 'asks'],
    ['cyd', 'queued'],
  ] as const;
  states.learn(all.map(([participant, word]) => state('c', participant, word)));
  expect(states.busyIn('c').map(({ participant }) => participant)).toEqual(['bob', 'ann']);
});
