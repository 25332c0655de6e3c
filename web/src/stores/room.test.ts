import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, heedDeletion } from '../lib/client';
import { Channels } from './channels.svelte';
import { Me } from './me.svelte';
import { Outboxes } from './outbox.svelte';
import { Room } from './room.svelte';
import { FakeHub, FakeServer, THREAD } from './stage';
import { Ui } from './ui.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  heedDeletion(() => {});
});

/** A room with a server and a stream of the test's own, opened at its end. */
async function stage(messages = 3) {
  const server = new FakeServer().fill(messages);
  const [hub, ui, me] = [new FakeHub(), new Ui(), new Me()];
  const learn = vi.fn();
  const room = new Room(THREAD, {
    get: (path) => server.ask(path.replace(`/threads/${THREAD}/`, '')),
    me,
    live: hub,
    hall: { learn },
    reads: { before: () => Promise.resolve(0) },
    states: { learn: () => {} },
    sessions: { find: () => undefined },
    outboxes: new Outboxes(me, ui),
    channels: new Channels(),
    ui,
  });
  heedDeletion(() => room.end());
  await room.open(null);
  const words = () => room.history.rows.flatMap((row) => (row.kind === 'message' ? [row.event.seq] : []));
  return { server, hub, ui, learn, room, words };
}

describe('a room', () => {
  it('follows from its last event, and asks for the state once for many', async () => {
    const { server, hub, learn, room, words } = await stage();
    expect([room.phase, room.name, hub.followed]).toEqual(['ready', 'Plans', ['t after 3']]);
    for (let event = 0; event < 20; event += 1) hub.bring(server.say('message', 'news'));
    hub.bring(server.log.at(-1)!);
    await vi.advanceTimersByTimeAsync(90);
    expect(server.asked.filter((path) => path === 'state')).toHaveLength(2);
    expect(words()).toHaveLength(23);
    expect(learn).toHaveBeenLastCalledWith(THREAD, server.log, 0, 23);
  });

  it('says a message of others once, and names them', async () => {
    const { server, hub, ui } = await stage();
    const said = server.say('message', 'news', 'bo');
    hub.bring(said);
    expect(ui.spoken).toBe('bo: news');
    ui.say('');
    hub.bring(said);
    expect(ui.spoken).toBe('');
  });

  it('ends the words of a turn with its message, and with its end', async () => {
    const { server, hub, room } = await stage();
    const write = (turn: string) =>
      hub.frame('delta', { turn, participant: 'ann', attempt: 1, offset: 0, text: 'Good' });
    write('t.1');
    write('t.2');
    await vi.advanceTimersByTimeAsync(80);
    expect(room.stream.writing.size).toBe(2);
    hub.bring(server.say('message', 'Good day', 'ann', { turn: 't.1' }));
    hub.bring(server.say('turn', { event: 'ended', turn: 't.2', participant: 'ann', outcome: 'failed' }, 'moothall'));
    write('t.1');
    await vi.advanceTimersByTimeAsync(80);
    expect(room.stream.writing.size).toBe(0);
  });

  it('drops everything when it is deleted, and takes no answer that is still on its way', async () => {
    const { server, hub, room } = await stage(400);
    let answer = () => {};
    server.gate = new Promise<void>((resolve) => (answer = resolve));
    const around = room.history.toSeq(10);
    hub.frame('deleted', { thread: THREAD });
    answer();
    await around;
    await vi.advanceTimersByTimeAsync(500);
    expect([room.phase, room.name, room.history.rows, room.history.events, room.floor.state]).toEqual([
      'deleted',
      '',
      [],
      [],
      null,
    ]);
    expect(server.asked.filter((path) => path === 'state')).toHaveLength(1);
  });

  it('that is deleted while it opens shows the deletion', async () => {
    const { server, room } = await stage();
    server.fault = new ApiError(410, 'thread_deleted', 'It was deleted.');
    await room.open(1);
    expect(room.phase).toBe('deleted');
  });

  it('starts again if the server does not know its position', async () => {
    const { server, hub, room, words } = await stage(300);
    server.log = [];
    server.fill(2);
    hub.frame('refused', { thread: THREAD, error: { code: 'wrong_position', message: 'Too far.' } });
    expect(room.phase).toBe('loading');
    await vi.advanceTimersByTimeAsync(0);
    expect([room.phase, words(), hub.followed]).toEqual(['ready', [1, 2], ['t after 300', 't after 2']]);
  });

  it('fetches what is new while the server refuses the stream', async () => {
    const { server, room, words } = await stage();
    server.fill(2);
    await room.fetchNew();
    await room.fetchNew();
    expect(words()).toEqual([1, 2, 3, 4, 5]);
  });

  it('shows its events if the server is away when it is opened again', async () => {
    const { server, hub, room } = await stage();
    room.disconnect();
    server.fault = new ApiError(0, 'offline', 'The server is away.');
    await room.open(null);
    expect([room.phase, hub.followed]).toEqual(['ready', ['t after 3', 't after 3']]);
  });
});
