import { expect, test } from 'vitest';
import { agentRows } from './agents';
import type { Occupation, SessionEntry } from './types';

function session(name: string): SessionEntry {
  return { id: name, name, client: 'fake', cwd: '/', origin: 'started', started_at: '', state: 'idle', waiting: 0 };
}

const WORDS: Record<string, string> = { ann: 'ready', bo: 'thinking', cy: 'asks', di: 'thinking', ed: 'waits' };
const stateOf = ({ name }: SessionEntry) => {
  const word = WORDS[name];
  return word ? ({ word, says: word } as Occupation) : undefined;
};

test('stuck agents come first, and those at rest are apart', () => {
  const { busy, idle } = agentRows(['ann', 'bo', 'cy', 'di', 'ed', 'flo'].map(session), stateOf);
  expect(busy.map((row) => row.session.name)).toEqual(['cy', 'ed', 'bo', 'di']);
  expect(idle.map((row) => row.session.name)).toEqual(['ann', 'flo']);
  expect(idle[1]?.state).toBeUndefined();
});
