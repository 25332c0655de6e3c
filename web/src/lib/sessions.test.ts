import { describe, expect, it } from 'vitest';
import { memberLine, shellCommand, shortFolder } from './sessions';
import type { LinkEntry } from './types';
import { linkToSession, read } from '../stores/router.svelte';

function link(id: string, ...members: string[]): LinkEntry {
  const all = members.map((session) => ({ session, name: session }));
  return { id, title: id, active: true, created_at: '', members: all };
}

describe('words about sessions', () => {
  it('quotes a command for a shell', () => {
    expect(shellCommand(['tmux', '-S', '/a/t.sock', '-t', '=it'])).toBe("tmux -S /a/t.sock -t '=it'");
    expect(shellCommand(["it's", ''])).toBe("'it'\\''s' ''");
  });

  it('shows the end of a long path', () => {
    expect(shortFolder('/srv/me/code/moot')).toBe('…/code/moot');
    expect(shortFolder('/srv/moot')).toBe('/srv/moot');
    expect(shortFolder('/')).toBe('/');
  });

  it('names members with numbers and roles', () => {
    const made = link('l', 'anna', 'bert');
    made.members[0] = { ...made.members[0]!, number: 1, role: 'planner' };
    expect(memberLine(made)).toBe('1 anna (planner), bert');
  });

  it('finds places, older ones too', () => {
    const room = { view: 'room', thread: 'a-1' };
    expect(read({ pathname: '/s', hash: '' })).toMatchObject({ view: 'agents', thread: null });
    expect(read({ pathname: '/s/', hash: '' })).toMatchObject({ view: 'agents', thread: null });
    expect(read({ pathname: '/s/a-1', hash: '' })).toMatchObject({ ...room, tab: 'terminal' });
    expect(read({ pathname: linkToSession('a-1'), hash: '#3' })).toMatchObject({ ...room, tab: 'terminal', seq: null });
    expect(read({ pathname: '/t/a-1', hash: '#3' })).toMatchObject({ ...room, tab: 'conversation', seq: 3 });
    for (const pathname of ['/s/a/b', '/t/a-1/x', '/t/a-1/terminal/x'])
      expect(read({ pathname, hash: '' })).toMatchObject({ view: 'room', thread: null });
  });
});
