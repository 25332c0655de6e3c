import { expect, test } from 'vitest';
import { liftHint, liftLabel, ownFirst, standingWords, unknownHint } from './guards';
import type { GuardEntry } from './types';

const guard = (more: Partial<GuardEntry>): GuardEntry => ({ guard: 'hold', state: 'held', says: 'it holds', ...more });

test('a standing is a word, a count, or sums of money', () => {
  expect(standingWords(guard({}), 'USD')).toBe('held');
  expect(standingWords(guard({ count: 15, limit: 20 }), 'USD')).toBe('15 of 20');
  const money = guard({ measure: 'cost_micros', count: 0, limit: 20_000_000, reserved: 1_200_000 });
  expect(standingWords(money, 'USD')).toMatch(/^reserved .*1\.20.* of .*20\.00/);
});

test('a button stands where a slash command lifts it in a conversation', () => {
  const lift = { by: 'resume', command: '/resume', proof: true };
  expect(liftLabel(guard({ thread: 't', lift }))).toBe('Continue');
  expect(liftLabel(guard({ guard: 'pause', thread: 't', lift }))).toBe('Resume');
  expect(liftLabel(guard({ lift }))).toBeNull();
  expect(liftHint(guard({ lift: { by: 'words', proof: false } }))).toContain('person');
});

test('a guard that ends by itself says when, and a stranger is told what to do', () => {
  const until = '2026-01-02T03:04:00Z';
  expect(liftHint(guard({ until, lift: { by: 'time', proof: false } }))).toMatch(/^It ends at .*\d.*\.$/);
  expect(unknownHint(guard({ lift: { by: 'resume', proof: true, words_left: 1 } }))).toContain('1 more time this');
  expect(unknownHint(guard({ lift: { by: 'unmute', proof: true } }))).toBe('Sign in to lift it.');
});

test('the guards of the open conversation stand first, once, also if the list of all leaves them out', () => {
  const [own, other, shared] = [guard({ thread: 't' }), guard({ thread: 'u' }), guard({})];
  expect(ownFirst([own], [shared, own, other], 't')).toEqual([own, shared, other]);
  expect(ownFirst([own], [shared, other], 't')).toEqual([own, shared, other]);
});
