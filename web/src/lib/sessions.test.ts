import { describe, expect, it } from 'vitest';
import { layout } from './graph';
import { cells, memberLine, openPermissions, shellCommand, shortFolder } from './sessions';
import type { Envelope, LinkEntry, StateAnswer } from './types';
import { linkToSession, read } from '../stores/router.svelte';

function link(id: string, ...members: string[]): LinkEntry {
  const all = members.map((session) => ({ session, name: session }));
  return { id, title: id, active: true, created_at: '', members: all };
}

describe('a screen', () => {
  it('keeps its columns and lines, and what is in front of its words', () => {
    expect(cells('  a\u00a0b\n\n│ 漢 │\n\n  \n')).toBe('  a\u00a0b\n\n│ 漢 │');
  });

  it('holds nothing that moves what stands beside it', () => {
    expect(cells('rm \u202efdlih\u202c\u001b[2J\u200f')).toBe('rm ·fdlih··[2J·');
  });
});

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

  it('finds places', () => {
    expect(read({ pathname: '/s', hash: '' })).toMatchObject({ view: 'sessions', session: null, thread: null });
    expect(read({ pathname: linkToSession('a-1'), hash: '#3' })).toMatchObject({ session: 'a-1', seq: null });
    expect(read({ pathname: '/t/a-1', hash: '#3' })).toMatchObject({ view: 'room', thread: 'a-1', seq: 3 });
    expect(read({ pathname: '/s/a/b', hash: '' })).toMatchObject({ view: 'room', thread: null });
  });
});

describe('open permissions', () => {
  const asks = (permission: string, turn: string) =>
    ({
      type: 'permission',
      content: {
        event: 'requested',
        permission,
        turn,
        participant: 'anna',
        action: 'rm',
        complete: true,
        options: [],
        expires: '',
      },
    }) as unknown as Envelope;
  const state = { state: { turns: [{ id: 't.2' }] } } as unknown as StateAnswer;

  it('are those of open turns that nobody answered', () => {
    const answered = { type: 'permission', content: { event: 'answered', permission: 'c', by: 'user', option: 'x' } };
    const events = [asks('a', 't.1'), asks('b', 't.2'), asks('c', 't.2'), answered as unknown as Envelope];
    expect(openPermissions(state, events).map((one) => one.id)).toEqual(['b']);
  });
});

describe('the picture of links', () => {
  it('draws a line between two, and nothing to those it does not show', () => {
    const graph = layout(['a', 'b'], [link('l', 'a', 'b'), link('m', 'a', 'gone')]);
    expect(graph.edges).toHaveLength(1);
    expect(graph.hubs).toEqual([]);
    expect(graph.nodes[0]!.y).toBe(graph.nodes[1]!.y);
  });

  it('brings three together in a hub of their own', () => {
    const graph = layout(['a', 'b', 'c'], [link('l', 'a', 'b', 'c'), link('m', 'c', 'b', 'a')]);
    expect(graph.edges).toHaveLength(6);
    expect(graph.hubs).toHaveLength(2);
    const [one, two] = graph.hubs;
    expect(Math.hypot(one!.x - two!.x, one!.y - two!.y)).toBeGreaterThan(12);
  });

  it('keeps everybody within it and apart', () => {
    for (const count of [1, 2, 5, 12, 24]) {
      const ids = Array.from({ length: count }, (_, n) => `s${n}`);
      const { nodes, width, height } = layout(ids, []);
      for (const { x, y } of nodes) {
        expect(x).toBeGreaterThanOrEqual(20);
        expect(x).toBeLessThanOrEqual(width - 20);
        expect(y).toBeGreaterThanOrEqual(14);
        expect(y).toBeLessThanOrEqual(height - 28);
      }
      expect(new Set(nodes.map(({ x, y }) => `${x},${y}`)).size).toBe(count);
    }
  });
});
