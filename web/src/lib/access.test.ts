import { describe, expect, it } from 'vitest';
import { handOn, joinLink, scopesFor, TIMES, USUAL_HOURS, usualFor } from './access';

const ALL = [
  'threads:read',
  'threads:write',
  'threads:admin',
  'participants:invite',
  'turns:control',
  'agents:run',
  'sessions:drive',
  'permissions:answer',
  'server:admin',
];
const names = (kind: 'human' | 'agent', own: string[]) => scopesFor(kind, own).map(({ scope }) => scope);

describe('letting somebody in', () => {
  it('hands on no more than one has, and to agents nothing that is for people', () => {
    expect(names('agent', ALL)).not.toContain('permissions:answer');
    expect(names('agent', ALL)).not.toContain('threads:admin');
    expect(names('human', ALL)).toContain('permissions:answer');
    expect([...names('human', ALL), ...names('agent', ALL)]).not.toContain('server:admin');
    expect(names('agent', ['threads:read', 'participants:invite'])).toEqual(['threads:read', 'participants:invite']);
    expect(usualFor('agent', ALL)).toEqual(['threads:read', 'threads:write']);
    expect(usualFor('human', ['threads:read', 'agents:run'])).toEqual(['threads:read', 'agents:run']);
  });

  it('offers the usual time among the others, and no code for longer than a week', () => {
    for (const way of ['code', 'token'] as const) {
      expect(TIMES[way].map(({ value }) => value)).toContain(USUAL_HOURS[way]);
    }
    expect(Math.max(...TIMES.code.map(({ value }) => value))).toBe(168);
  });

  it('says how a code is used: quoted, because a shell reads # as a comment', () => {
    const link = joinLink('https://hall.test', 'inv_1');
    expect(link).toBe('https://hall.test/#join=inv_1');
    const given = { way: 'code', secret: 'inv_1', expiresAt: null } as const;
    expect(handOn('https://hall.test', 'human', given)).toEqual([]);
    const [join, lines] = handOn('https://hall.test', 'agent', given);
    expect(join?.text).toBe(`moothall join '${link}'`);
    expect(lines?.text).toBe(
      `export MOOTHALL_SERVER='https://hall.test'\nexport MOOTHALL_TOKEN="$(moothall join --print '${link}')"`,
    );
  });

  it('says how a token is used: in the environment', () => {
    const [lines, ...more] = handOn('https://hall.test', 'agent', { way: 'token', secret: 'agt_1', expiresAt: null });
    expect(lines?.text).toBe("export MOOTHALL_SERVER='https://hall.test'\nexport MOOTHALL_TOKEN='agt_1'");
    expect(more).toEqual([]);
  });
});
