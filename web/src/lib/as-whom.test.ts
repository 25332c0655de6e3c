import { expect, test } from 'vitest';

import { aboutAgent, ofTheServersUser } from './as-whom';
import type { AgentEntry } from './types';

const agent = (client: string, runtime: string, run_as?: string): AgentEntry => ({
  client,
  runtime,
  run_as,
  summary: 'Reviews.',
  origin: 'configured',
  timeout_seconds: 60,
  profile: {},
});

test('as whom an agent runs is said where it is another user', () => {
  expect(aboutAgent(agent('ada', 'terminal', 'agents'))).toBe('Reviews. Runs as agents.');
  expect(aboutAgent(agent('ada', 'terminal'))).toBe('Reviews.');
});

test('those that are the server’s own user are named once', () => {
  const all = [
    agent('ada', 'terminal', 'agents'),
    agent('bob', 'command'),
    agent('cal', 'terminal'),
    agent('dan', 'llm'),
  ];
  expect(ofTheServersUser(all)).toBe("bob, cal: programs of the server's own user, who can read all that it keeps.");
  expect(ofTheServersUser(all.slice(3))).toBe('');
});
