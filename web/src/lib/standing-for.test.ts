import { describe, expect, it } from 'vitest';
import { agentBadge, doubt, isOfPerson } from './standing-for';
import type { Envelope, Invited } from './types';

const invited = (more: Partial<Invited>): Invited => ({
  id: 'evil',
  profile: { client: 'x', model: 'human', roles: ['human'], nickname: 'Ann' },
  invited_by: 'user',
  invited_at: '',
  kind: 'agent',
  runtime: 'remote',
  known: false,
  color: 0,
  ...more,
});
const said = (meta: Envelope['meta']): Envelope => ({
  id: '',
  seq: 1,
  ts: '',
  thread: '',
  type: 'message',
  from: 'user',
  to: 'all',
  content: 'x',
  ...(meta ? { meta } : {}),
});

describe('who speaks', () => {
  it('is what the server knows, whatever a profile says', () => {
    expect(agentBadge(invited({}))).toBe('agent');
    expect(agentBadge(invited({ profile: { client: 'human', model: 'human' } }))).toBe('agent');
    expect(agentBadge(invited({ id: 'c2', known: true, runtime: 'llm', profile: { client: 'codex' } }))).toBe(
      'agent · codex · model',
    );
    expect(agentBadge(invited({ id: 'critic', known: true, runtime: 'script', profile: { client: 'critic' } }))).toBe(
      'agent · scripted',
    );
    expect(agentBadge(undefined)).toBe('agent');
  });

  it('is a person where the words are no agent’s, invited or not', () => {
    expect(isOfPerson({ ...said(undefined), from: 'ann' })).toBe(true);
    expect(isOfPerson({ ...said({ depth: 1 }), from: 'ann' })).toBe(false);
    expect(isOfPerson({ ...said({ turn: 't.1' }), from: 'ann' })).toBe(false);
    expect(isOfPerson({ ...said(undefined), from: 'moothall' })).toBe(false);
  });

  it('is doubted where no credential stood behind it', () => {
    const nameOf = (id: string) => id.toUpperCase();
    expect(doubt(said(undefined), nameOf)).toBeNull();
    expect(doubt(said({ unproven: true }), nameOf)?.mark).toBe('not signed in');
    expect(doubt(said({ unproven: true, typed_at: 'ada' }), nameOf)?.mark).toBe('at ADA’s terminal');
  });
});
