import { expect, test } from 'vitest';
import { lacking, planOf, type CircleWish } from './circle-plan';
import type { Askable } from './home';
import type { AgentEntry } from './types';

const demo = (client: string): Askable => ({ client, about: '', agent: { client } as AgentEntry });
const wish: CircleWish = {
  question: ' Why? ',
  rhythm: '',
  breath: 'minimal',
  speakers: [demo('writer'), { client: 'claude', about: '' }],
  person: 'user',
  harvester: demo('writer'),
  folder: '/srv/shop',
};

test('a circle has its speakers in order, its person first, and a harvester', () => {
  expect(planOf(wish, 'user')).toEqual({
    from: 'user',
    opening_question: 'Why?',
    breath: 'minimal',
    participants: [
      { name: 'user', kind: 'human', participant_id: 'user', number: 1 },
      { name: 'writer', kind: 'agent', client: 'writer', number: 2 },
      { name: 'claude', kind: 'agent', client: 'claude', cwd: '/srv/shop', number: 3 },
      { name: 'Harvester', role: 'harvester', kind: 'agent', client: 'writer', number: 4 },
    ],
  });
  expect(planOf({ ...wish, rhythm: 'daily', person: null }, 'user')).toMatchObject({ rhythm: 'daily' });
});

test('the form says what a circle lacks', () => {
  expect(lacking(wish)).toBe('');
  expect(lacking({ ...wish, question: ' ' })).toMatch(/question/);
  expect(lacking({ ...wish, speakers: [], harvester: null })).toMatch(/two speakers/);
  expect(lacking({ ...wish, person: null, speakers: [demo('a'), demo('b')], harvester: null })).toMatch(/harvest/);
});
