/** Running times of turns. */

import type { TurnInfo } from './timeline';
import type { OpenTurn } from './types';

/**
 * Returns the running time of a turn in milliseconds, without the time in which its clock was
 * paused. The server moves the deadline by that time. `stoodMs` is the paused time according to the
 * events, which may be known earlier. If the start was not loaded, the server's `works_since`
 * counts.
 */
export function ranMs(turn: OpenTurn, known: TurnInfo | undefined, stoodMs: number, now: number): number {
  if (!known?.startedAt) return now - Date.parse(turn.works_since ?? turn.granted_at);
  const began = Date.parse(known.startedAt);
  const moved = known.deadline ? Date.parse(turn.deadline) - Date.parse(known.deadline) : 0;
  return now - began - Math.max(moved, stoodMs);
}
