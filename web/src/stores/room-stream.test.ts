import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RoomStream } from './room-stream.svelte';
import { FakeHub, FakeServer, THREAD } from './stage';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function stage() {
  const [server, hub] = [new FakeServer(), new FakeHub()];
  const listener = { after: () => 7, onevent: vi.fn(), onfollowed: vi.fn(), onrefused: vi.fn(), ondeleted: vi.fn() };
  const stream = new RoomStream(THREAD, hub, server.ask, listener);
  stream.connect();
  const piece = (text: string, offset: number, turn = 't.1') =>
    hub.frame('delta', { turn, participant: 'ann', attempt: 1, offset, text });
  const written = () => [...stream.writing.values()].map(({ partial }) => partial.text);
  return { server, hub, listener, stream, piece, written };
}

const present = (state: string, updated_at: string) => ({ participant: 'ann', state, updated_at });

describe('the stream of a conversation', () => {
  it('follows once, from the position up to which events are known', () => {
    const { hub, stream } = stage();
    stream.connect();
    expect(hub.followed).toEqual(['t after 7']);
  });

  it('puts pieces of text together, at intervals and in order', () => {
    const { piece, written } = stage();
    piece('Good ', 0);
    piece('day', 5);
    expect(written()).toEqual([]);
    vi.advanceTimersByTime(80);
    expect(written()).toEqual(['Good day']);
  });

  it('lets a few of many replies grow at a time, and those that wait longest first', () => {
    const { piece, written } = stage();
    const turns = Array.from({ length: 7 }, (_, n) => `t.${n}`);
    turns.forEach((turn) => piece(turn, 0, turn));
    vi.advanceTimersByTime(80);
    expect(written()).toEqual(turns.slice(0, 5));
    piece('!', 3, 't.0');
    vi.advanceTimersByTime(40);
    expect(written()).toEqual(['t.0!', ...turns.slice(1)]);
  });

  it('keeps what it has if a piece is missing or comes twice', () => {
    const { piece, written } = stage();
    piece('Good ', 0);
    piece('Good ', 0);
    piece('sir', 9);
    vi.advanceTimersByTime(80);
    expect(written()).toEqual(['Good ']);
  });

  it('takes no piece and no progress after the end of a turn', () => {
    const { hub, stream, piece, written } = stage();
    piece('Good ', 0);
    hub.frame('progress', { turn: 't.1', text: 'reads' });
    vi.advanceTimersByTime(80);
    expect([written(), stream.progress.get('t.1'), stream.isOver('t.1')]).toEqual([['Good '], 'reads', false]);
    piece('day', 5);
    stream.end('t.1');
    piece('Good day', 0);
    hub.frame('progress', { turn: 't.1', text: 'writes' });
    vi.advanceTimersByTime(80);
    expect([written(), stream.progress.get('t.1'), stream.isOver('t.1')]).toEqual([[], undefined, true]);
  });

  it('drops unfinished words after a gap, because their turns may have ended', () => {
    const { hub, listener, piece, written } = stage();
    piece('Good ', 0);
    vi.advanceTimersByTime(80);
    hub.frame('following', { thread: THREAD });
    expect(written()).toEqual([]);
    expect(listener.onfollowed).toHaveBeenCalledOnce();
  });

  it('keeps the later presence, whichever comes first', () => {
    const { hub, stream } = stage();
    hub.frame('presence', present('typing', '2026-11-28T09:00:02Z'));
    hub.frame('presence', present('listening', '2026-11-28T09:00:01Z'));
    expect(stream.presence.get('ann')?.state).toBe('typing');
    hub.frame('presence', present('listening', '2026-11-28T09:00:03Z'));
    expect(stream.presence.get('ann')?.state).toBe('listening');
  });

  it('hands on events, a deletion, and the reason of a refusal', () => {
    const { server, hub, listener, stream } = stage();
    const event = server.say('message', 'hello');
    hub.bring(event);
    expect(listener.onevent.mock.calls).toEqual([[event]]);
    hub.frame('deleted', { thread: THREAD });
    expect(listener.ondeleted).toHaveBeenCalledOnce();
    hub.frame('refused', { thread: THREAD, error: { code: 'wrong_position', message: 'Too far.' } });
    expect(listener.onrefused.mock.calls).toEqual([['wrong_position']]);
    expect(stream.connected).toBe(false);
  });

  it('takes nothing once it is dropped', () => {
    const { hub, stream, piece, written } = stage();
    piece('Good ', 0);
    stream.drop();
    vi.advanceTimersByTime(80);
    hub.frame('presence', present('typing', '2026-11-28T09:00:02Z'));
    expect([written(), stream.presence.size, stream.connected]).toEqual([[], 0, false]);
  });
});
