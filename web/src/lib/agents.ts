/** Agents in terminals, in the order in which people look for them. */

import { rankOf } from './occupations';
import type { Occupation, SessionEntry } from './types';

export interface AgentRow {
  session: SessionEntry;
  /** The state that the server tells; not set until it is known. */
  state: Occupation | undefined;
}

/**
 * Returns the agents that do something, stuck ones first, and those at rest. Otherwise they keep
 * the order in which they began.
 */
export function agentRows(
  live: readonly SessionEntry[],
  stateOf: (session: SessionEntry) => Occupation | undefined,
): { busy: AgentRow[]; idle: AgentRow[] } {
  const rows = live.map((session) => ({ session, state: stateOf(session) }));
  const rank = ({ state }: AgentRow) => (state ? rankOf(state) : -1);
  const busy = rows.filter((row) => rank(row) >= 0).sort((one, other) => rank(one) - rank(other));
  return { busy, idle: rows.filter((row) => rank(row) < 0) };
}
