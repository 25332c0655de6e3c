import { describe, expect, it, vi } from 'vitest';
import type { AskedRef } from '../lib/types';
import { History } from './history.svelte';
import { FakeServer } from './stage';

/** A history of a server's log, and what it told its keeper. */
function stage(messages: number) {
  const server = new FakeServer().fill(messages);
  const keeper = { keyOf: (event: { id: string }) => event.id, loaded: vi.fn(), newest: vi.fn() };
  const history = new History(server.ask, keeper);
  const open = async (seq: number | null = null) => {
    await history.learn(server.log.length, []);
    await history.open(seq);
  };
  const words = () => history.rows.flatMap((row) => (row.kind === 'message' ? [row.event.seq] : []));
  return { server, keeper, history, open, words };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('the history of a conversation', () => {
  it('opens at its end and loads towards the beginning, each event once', async () => {
    const { history, open, words } = stage(500);
    await open();
    expect([history.first, history.last, history.atHead]).toEqual([260, 500, true]);
    await history.loadOlder();
    expect([history.first, history.shifted]).toEqual([20, true]);
    await history.loadOlder();
    expect(history.hasOlder).toBe(false);
    await history.loadOlder();
    expect(words()).toEqual(range(1, 500));
  });

  it('opens around a position and loads towards the end', async () => {
    const { history, open, words } = stage(700);
    await open(300);
    expect([history.first, history.last, history.atHead]).toEqual([180, 420, false]);
    await history.loadNewer();
    expect([history.last, history.atHead, history.shifted]).toEqual([660, false, false]);
    await history.loadNewer();
    await history.loadNewer();
    expect(history.atHead).toBe(true);
    expect(words()).toEqual(range(181, 700));
  });

  it('goes to a position only if that is not loaded', async () => {
    const { server, history, open } = stage(500);
    await open();
    const before = server.asked.length;
    await history.toSeq(400);
    expect(server.asked).toHaveLength(before);
    await history.toSeq(50);
    expect([history.first, history.atHead]).toEqual([0, false]);
    await history.toHead();
    expect([history.last, history.atHead]).toEqual([500, true]);
  });

  it('asks for one page at a time, and again after a failure', async () => {
    const { server, history, open } = stage(500);
    await open();
    const before = server.asked.length;
    await Promise.all([history.loadOlder(), history.loadOlder()]);
    expect(server.asked).toHaveLength(before + 1);
    server.fault = new Error('away');
    await history.loadOlder();
    expect([history.loading, history.first]).toEqual([null, 20]);
    server.fault = null;
    await history.loadOlder();
    expect(history.first).toBe(0);
  });

  it('takes an event that comes twice once', async () => {
    const { server, history, open, words } = stage(3);
    await open();
    const event = server.say('message', 'news');
    expect([history.take(event), history.take(event)]).toEqual([true, false]);
    expect(words()).toEqual([1, 2, 3, 4]);
    expect([history.last, history.head, history.end]).toEqual([4, 4, 4]);
  });

  it('in the middle leaves a new event for the way down', async () => {
    const { server, history, open, words } = stage(700);
    await open(10);
    const event = server.say('message', 'news');
    expect(history.take(event)).toBe(true);
    expect(words()).not.toContain(701);
    expect([history.last < 701, history.end]).toEqual([true, 701]);
    for (let page = 0; page < 3; page += 1) await history.loadNewer();
    expect(words()).toEqual(range(1, 701));
  });

  it('goes on after a gap with what it fetches, and brings no event again', async () => {
    const { server, history, open, words } = stage(3);
    await open();
    server.fill(3);
    (await history.fresh()).forEach((event) => history.take(event));
    expect(await history.fresh()).toEqual([]);
    expect(words()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('drops words that are erased, whether the erasure comes alone or with a page', async () => {
    const { server, history, open } = stage(700);
    await open(100);
    const erase = (seq: number) => server.say('notice', { code: 'redacted', seq }, 'moothall');
    const wordsAt = (seq: number) => history.event(`e${seq}`)?.content;
    history.take(erase(30));
    expect([wordsAt(30), wordsAt(31)]).toEqual(['', 'word 31']);
    erase(40);
    expect(wordsAt(40)).toBe('word 40');
    for (let page = 0; page < 3; page += 1) await history.loadNewer();
    expect(history.atHead).toBe(true);
    expect([wordsAt(40), history.event('e40')?.meta?.redacted]).toEqual(['', true]);
  });

  it('finds requests that were asked before the loaded events, each with one request', async () => {
    const { server, history } = stage(0);
    const asked = { event: 'requested', permission: 'p1', participant: 'ann', options: [], title: 'May I?' };
    server.say('permission', asked);
    server.fill(400);
    const refs = [{ permission: 'p1', seq: 1 }] as unknown as AskedRef[];
    await history.learn(401, refs);
    await history.open(null);
    expect(history.waiting.map(({ id }) => id)).toEqual(['p1']);
    const before = server.asked.length;
    await history.learn(401, refs);
    expect(server.asked).toHaveLength(before);
    await history.learn(401, []);
    expect(history.waiting).toEqual([]);
  });

  it('keeps each waiting request once when its own event is loaded', async () => {
    const { server, history } = stage(0);
    server.say('permission', {
      event: 'requested',
      permission: 'p1',
      participant: 'ann',
      options: [],
      title: 'May I?',
    });
    server.fill(300);
    await history.learn(301, [{ permission: 'p1', seq: 1 }] as unknown as AskedRef[]);
    await history.open(null);
    await history.loadOlder();
    expect(history.waiting.map(({ id }) => id)).toEqual(['p1']);
  });

  it('tells its keeper the newest events only while it has them', async () => {
    const { keeper, history, open } = stage(700);
    await open(10);
    expect(keeper.newest).not.toHaveBeenCalled();
    await history.toHead();
    const [events, after, through] = keeper.newest.mock.lastCall!;
    expect([events.length, after, through]).toEqual([240, 460, 700]);
    expect(keeper.loaded).toHaveBeenCalledTimes(2);
  });

  it('drops everything, and begins anew where the log was replaced', async () => {
    const { server, history, open, words } = stage(300);
    await open();
    server.log = [];
    server.fill(2);
    history.forget();
    await open();
    expect([words(), history.last, history.head]).toEqual([[1, 2], 2, 2]);
    history.drop();
    expect([history.rows, history.events, history.last, history.waiting]).toEqual([[], [], 0, []]);
  });
});
