import { expect, test } from 'vitest';
import { noticeBody, noticeTitle } from './notice';
import type { Envelope, Need } from './types';

const KINDS = ['permission', 'question', 'missed', 'failure', 'mention', 'piece', 'harvest', 'guard', 'novel'];

test('the title of a notification holds no words of messages', () => {
  const event = { content: 'SECRET', meta: { error: { code: 'x', message: 'SECRET' } } } as Envelope;
  for (const kind of KINDS) {
    const need: Need = { id: 'n', kind, thread: 't', title: 'SECRET', name: 'Ann', participant: 'ann', event };
    expect(noticeTitle(need), kind).not.toContain('SECRET');
    expect(noticeTitle(need), kind).not.toBe('');
  }
});

test('the words are there for people who chose them', () => {
  const event = { content: 'look **here**' } as Envelope;
  const need: Need = { id: 'n', kind: 'mention', thread: 't', title: 'Room', name: 'Ann', event };
  expect([noticeTitle(need), noticeBody(need)]).toEqual(['Ann wrote to you', 'Room: look here']);
});
