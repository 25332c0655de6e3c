import { describe, expect, it } from 'vitest';
import { ApiError, deletedThread, failure, heedDeletion, waitOf } from './client';

const answer = (status: number, after?: string) =>
  new Response('{"error":{"code":"rate_limited","message":"Too many."}}', {
    status,
    ...(after === undefined ? {} : { headers: { 'retry-after': after } }),
  });

describe('a server that is busy', () => {
  it('says for how long, in seconds or as a date', () => {
    const now = Date.UTC(2026, 4, 4, 12);
    expect(waitOf(answer(429, '3'), now)).toBe(3_000);
    expect(waitOf(answer(503, '0.5'), now)).toBe(500);
    expect(waitOf(answer(503, new Date(now + 7_000).toUTCString()), now)).toBe(7_000);
    expect(waitOf(answer(429, new Date(now - 7_000).toUTCString()), now)).toBe(0);
    expect(waitOf(answer(429, '999999'), now)).toBe(3_600_000);
    expect(waitOf(answer(429), now)).toBe(2_000);
    expect(waitOf(answer(429, 'soon'), now)).toBe(2_000);
  });

  it('is no other failure', async () => {
    for (const status of [400, 403, 500, 507]) expect(waitOf(answer(status, '3'))).toBeNull();
    const error = await failure(answer(429, '3'));
    expect([error.busy, error.retryable, error.code, error.message]).toEqual([true, true, 'rate_limited', 'Too many.']);
    const said = (message: string) => new ApiError(429, 'rate_limited', message, 1_000).reason;
    expect(said('Too many writes in this time. Nothing was decided; try again in 3 s.')).toBe(
      'Too many writes in this time.',
    );
    expect(said('Slow down')).toBe('Slow down');
    expect((await failure(answer(403, '3'))).busy).toBe(false);
  });
});

describe('a thread that was deleted', () => {
  const gone = (url: string, code = 'thread_deleted') => {
    const response = new Response(JSON.stringify({ error: { code, message: 'Gone.' } }), { status: 410 });
    return Object.defineProperty(response, 'url', { value: `http://127.0.0.1:1${url}` });
  };

  it('is told of, whatever was asked about it, and nothing else is', async () => {
    const heard: string[] = [];
    heedDeletion((thread) => heard.push(thread));
    await failure(gone('/threads/0198-a/events/stream?after=1'));
    await failure(gone('/threads/0198-b'));
    await failure(gone('/permissions/p/answer'));
    const other = await failure(gone('/threads/0198-c', 'something_else'));
    expect(heard).toEqual(['0198-a', '0198-b']);
    expect([other.status, other.retryable]).toEqual([410, false]);
  });

  it('is named by the address', () => {
    expect(deletedThread('http://h/threads?as=user', 'thread_deleted')).toBeNull();
    expect(deletedThread('http://h/threads/a-1#x', 'thread_deleted')).toBe('a-1');
  });
});
