/** How long turns have run. */

import type { TurnInfo } from './timeline';
import type { OpenTurn } from './types';

/**
 * For how long a turn has run, in milliseconds, without the time in which its clock stood still. The server moves its deadline by that time;
 * `stoodMs` is what the events tell of it, which may be known earlier. Where its start was not loaded, the server says since when it works.
 */
export function ranMs(turn: OpenTurn, known: TurnInfo | undefined, stoodMs: number, now: number): number {
  if (!known?.startedAt) return now - Date.parse(turn.works_since ?? turn.granted_at);
  const began = Date.parse(known.startedAt);
  const moved = known.deadline ? Date.parse(turn.deadline) - Date.parse(known.deadline) : 0;
  return now - began - Math.max(moved, stoodMs);
}
