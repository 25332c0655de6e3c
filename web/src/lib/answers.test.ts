import { expect, test } from 'vitest';
import { answersOf, revokeHint } from './answers';
import type { Envelope } from './types';

let seq = 0;
function event(content: object): Envelope {
  seq += 1;
  const ts = `2026-05-04T12:00:0${seq}Z`;
  return { id: `e${seq}`, seq, ts, thread: 't', type: 'permission', from: 'moothall', to: 'all', content };
}
const OPTIONS = [
  { id: 'y', label: 'Yes', kind: 'allow_once' },
  { id: 'a', label: 'Always', kind: 'allow_always' },
  { id: 'n', label: 'No', kind: 'reject_once' },
];
const asked = (permission: string) =>
  event({ event: 'requested', permission, turn: null, participant: 'ann', action: 'rm x', options: OPTIONS });
const answered = (permission: string, option: string) =>
  event({ event: 'answered', permission, by: 'user', option, label: 'x' });

test('answers are listed newest first, without requests that wait', () => {
  const events = [asked('p1'), answered('p1', 'y'), asked('p2'), answered('p2', 'a'), asked('p3')];
  const found = answersOf([...events, asked('p4'), event({ event: 'expired', permission: 'p4' })], () => 'You');
  expect(found.map(({ permission }) => permission.id)).toEqual(['p4', 'p2', 'p1']);
  expect(found.map(({ outcome }) => outcome)).toEqual([
    'Nobody answered in time.',
    'You allowed it from now on: “x”.',
    'You allowed it.',
  ]);
  expect(found.map(({ isKept }) => isKept)).toEqual([false, true, false]);
  expect(found[1]?.seq).toBe(events[2]?.seq);
});

test('a rule of a program is revoked there', () => {
  expect(revokeHint('claude')).toContain('`/permissions`');
  expect(revokeHint('odd')).toContain('Revoke it there.');
  expect(revokeHint(undefined)).toBe(revokeHint('odd'));
});
