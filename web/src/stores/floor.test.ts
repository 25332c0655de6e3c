import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ThreadState } from '../lib/types';
import { Floor } from './floor.svelte';
import { History } from './history.svelte';
import { agent, FakeServer, openTurn } from './stage';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function stage(state: Partial<ThreadState> = {}) {
  const server = new FakeServer();
  server.state = state;
  const history = new History(server.ask, { keyOf: ({ id }) => id, loaded: () => {}, newest: () => {} });
  const told = vi.fn(() => Promise.resolve());
  const floor = new Floor(server.ask, history, told);
  const states = () => server.asked.filter((path) => path === 'state').length;
  return { server, history, floor, told, states };
}

describe('the floor of a conversation', () => {
  it('asks once for many events', async () => {
    const { floor, told, states } = await stage();
    for (let event = 0; event < 50; event += 1) floor.askSoon();
    await vi.advanceTimersByTimeAsync(500);
    expect([states(), told.mock.calls.length]).toEqual([1, 1]);
  });

  it('asks once more for events that come during a request', async () => {
    const { server, floor, states } = await stage();
    let answer = () => {};
    server.gate = new Promise<void>((resolve) => (answer = resolve));
    floor.askSoon();
    await vi.advanceTimersByTimeAsync(100);
    for (let event = 0; event < 50; event += 1) floor.askSoon();
    await vi.advanceTimersByTimeAsync(500);
    expect(states()).toBe(1);
    answer();
    await vi.advanceTimersByTimeAsync(500);
    expect(states()).toBe(2);
  });

  it('asks again after a failure only if something happens', async () => {
    const { server, floor, states } = await stage();
    server.fault = new Error('away');
    floor.askSoon();
    await vi.advanceTimersByTimeAsync(500);
    server.fault = null;
    expect([states(), floor.state]).toEqual([1, null]);
    floor.askSoon();
    await vi.advanceTimersByTimeAsync(500);
    expect(floor.state).not.toBeNull();
  });

  it('asks for nothing once it is dropped', async () => {
    const { floor, states } = await stage();
    floor.askSoon();
    floor.drop();
    await vi.advanceTimersByTimeAsync(500);
    expect(states()).toBe(0);
  });

  it('tells who speaks, who comes next, and who is invited', async () => {
    const { floor } = await stage({
      participants: { invited: [agent('ann'), agent('bo'), agent('cy')] } as ThreadState['participants'],
      turns: [openTurn('t.1', 'ann', 1), openTurn('t.2', 'bo', 1, 'waiting')],
      upcoming: [
        { participant: 'bo', forced: false },
        { participant: 'cy', forced: false },
      ] as ThreadState['upcoming'],
    });
    expect([floor.busy, floor.invited]).toEqual([false, []]);
    await floor.ask();
    expect(floor.running.map(({ participant }) => participant)).toEqual(['ann']);
    expect(floor.next.map(({ participant, forced }) => [participant, forced])).toEqual([
      ['bo', true],
      ['cy', false],
    ]);
    expect([floor.talked, floor.busy, floor.participant('cy')?.id, floor.participant('dee')]).toEqual([
      true,
      true,
      'cy',
      undefined,
    ]);
    expect(floor.next.map((next) => floor.will(next))).toEqual(['will reply', 'limit of 0 reached']);
  });

  it('finds the message that is answered: that of the first turn, or the last that does not wait', async () => {
    const { server, history, floor } = await stage();
    server.say('message', 'one', 'user', { kind: 'human' } as never);
    server.say('message', 'two', 'user', { kind: 'human' } as never);
    await history.open(null);
    const roots = history.rows.filter((row) => row.kind === 'message' && row.root === row.event.id);
    expect(roots).toHaveLength(2);
    await floor.ask();
    expect(floor.answering()?.event.seq).toBe(2);
    server.state = { queue: [{ seq: 2 }] as ThreadState['queue'] };
    await floor.ask();
    expect(floor.answering()?.event.seq).toBe(1);
    server.state = { turns: [openTurn('t.1', 'ann', 2)] };
    await floor.ask();
    expect(floor.answering()?.event.seq).toBe(2);
  });
});
