import { describe, expect, it } from 'vitest';
import { ApiError, failure, waitOf } from './client';

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
