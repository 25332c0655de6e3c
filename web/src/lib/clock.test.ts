import { describe, expect, it } from 'vitest';
import { ranMs } from './clock';
import type { TurnInfo } from './timeline';
import type { OpenTurn } from './types';

const at = (seconds: number) => new Date(Date.UTC(2026, 4, 4, 12, 0, seconds)).toISOString();
const turn = (deadline: number) => ({ id: '1', granted_at: at(0), deadline: at(deadline) }) as OpenTurn;
const started = { startedAt: at(2), deadline: at(62) } as TurnInfo;
const now = Date.parse(at(50));

describe('the clock of a turn', () => {
  it('runs from its start', () => {
    expect(ranMs(turn(62), started, 0, now)).toBe(48_000);
    expect(ranMs(turn(62), undefined, 0, now)).toBe(50_000);
  });

  it('goes by the server where its start was not loaded', () => {
    expect(ranMs({ ...turn(92), works_since: at(32) }, undefined, 0, now)).toBe(18_000);
  });

  it('does not count what moved its deadline: a permission that was answered, or a server that was away', () => {
    expect(ranMs(turn(92), started, 0, now)).toBe(18_000);
  });

  it('goes by the events where they are known before the deadline is, and counts nothing twice', () => {
    expect(ranMs(turn(62), started, 30_000, now)).toBe(18_000);
    expect(ranMs(turn(92), started, 30_000, now)).toBe(18_000);
  });
});
