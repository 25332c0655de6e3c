import { expect, test } from 'vitest';
import { askable, atWork, hueOf, namedIn, sentenceOf, titleOf } from './home';
import type { AgentEntry, Need, Occupation } from './types';

const state = (participant: string, word: string, more: Partial<Occupation> = {}): Occupation => ({
  thread: 't',
  participant,
  name: participant,
  word,
  says: word,
  ...more,
});
const agent = (client: string, origin: string): AgentEntry => ({
  client,
  origin,
  summary: '',
  runtime: 'script',
  timeout_seconds: 30,
  profile: {},
});

test('stuck agents come first, and a session once, in the room of its work', () => {
  const states = [
    state('bob', 'thinking'),
    state('eve', 'asks', { session: 's', at: 'other' }),
    state('ann', 'waits'),
    state('kim', 'asks', { asks_you: true, thread: 'u' }),
    state('lee', 'asks', { asks_you: true, thread: 'login' }),
    state('dan', 'paused'),
    state('fay', 'paused', { turn: 't.1' }),
    state('eve', 'asks', { thread: 'other', session: 's' }),
  ];
  const need: Need = { id: 'n', kind: 'permission', thread: 'u', title: '', permission: 'p' };
  expect(atWork(states, [need]).map(({ name, thread }) => `${name} ${thread}`)).toEqual([
    'eve other',
    'lee login',
    'ann t',
    'fay t',
    'bob t',
  ]);
});

test('a sentence says who keeps the agent waiting, and who that one waits for', () => {
  const ann = state('ann', 'waits', { says: 'waits for bob', waits_for: 'bob' });
  expect(sentenceOf(ann, [ann, state('bob', 'asks', { says: 'asks you' })])).toBe('waits for bob, who asks you');
  expect(sentenceOf(ann, [ann, state('bob', 'thinking')])).toBe('waits for bob');
  expect(sentenceOf(ann, [ann, state('bob', 'asks', { says: 'asks you', thread: 'other' })])).toBe('waits for bob');
});

test('agents of one’s own are offered before the demos, and found by name', () => {
  const agents = [agent('echo', 'built-in'), agent('claude', 'discovered'), agent('ada', 'configured')];
  const programs = [
    { client: 'codex', summary: 'Runs codex.', missing: 'codex is not installed.' },
    { client: 'claude', summary: 'Runs claude.' },
  ];
  const offered = askable(agents, programs);
  expect(offered.map(({ client }) => client)).toEqual(['claude', 'ada', 'echo']);
  expect(offered[0]?.agent).toBeUndefined();
  expect(askable(agents, []).map(({ client }) => client)).toEqual(['ada', 'claude', 'echo']);
  const named = (text: string) => namedIn(text, offered).map(({ client }) => client);
  expect(named('@Claude and (@ada), look')).toEqual(['claude', 'ada']);
  expect(named('mail to me@claude or @claudette')).toEqual([]);
});

test('a room is called by its first words', () => {
  expect(titleOf('@claude: Why is the queue slow?\nAnd more')).toBe('Why is the queue slow?');
  expect(titleOf('@claude')).toBe('New conversation');
  expect(titleOf('@ada and @bo: why do users leave?')).toBe('why do users leave?');
  expect(titleOf(`${'word '.repeat(20)}`)).toBe(`${'word '.repeat(9).trim()}…`);
});

test('a colour depends on the id alone', () => {
  expect(hueOf('planner')).toBe(hueOf('planner'));
  expect(new Set(['ann', 'bob', 'cyd', 'planner'].map(hueOf)).size).toBeGreaterThan(2);
});
