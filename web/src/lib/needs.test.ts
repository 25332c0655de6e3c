import { expect, test } from 'vitest';
import { ageOf, lineOf } from './needs';
import type { Envelope, Need } from './types';

const event = (content: unknown, meta = {}) => ({ content, meta }) as Envelope;
const need = (kind: string, more: Partial<Need> = {}): Need => ({ id: 'n', kind, thread: 't', title: 'Room', ...more });

test('a need says what it is about, and hides no character', () => {
  const options = [{ id: 'y', label: 'Yes', kind: 'allow_once' }];
  const asked = event({ event: 'requested', action: 'rm  -rf \u202e x', options });
  expect(lineOf(need('permission', { event: asked }))).toBe('asks for permission: rm -rf [U+202E] x');
  const detail = { tool: 'Bash', parts: [{ role: 'command', name: 'command', text: 'cargo  \u202epublish' }] };
  const command = event({ event: 'requested', action: '{}', detail, options });
  expect(lineOf(need('permission', { event: command }))).toBe('wants to run cargo [U+202E]publish');
  expect(lineOf(need('guard', { guard: 'pair' }))).toContain('Two agents');
  const failed = event('[ann failed]', { error: { code: 'x', message: 'it exited' } });
  expect(lineOf(need('failure', { event: failed }))).toBe('failed: it exited');
  expect(lineOf(need('mention', { event: event('@user **look**') }))).toContain('look');
});

test('an age is short', () => {
  const now = Date.parse('2026-11-27T12:00:00Z');
  const ages = ['2026-11-27T11:59:30Z', '2026-11-27T11:56:00Z', '2026-11-27T09:00:00Z', '2026-11-20T12:00:00Z'];
  expect(ages.map((since) => ageOf(since, now))).toEqual(['now', '4 min', '3 h', '7 d']);
  expect(ageOf(null, now)).toBe('');
});
