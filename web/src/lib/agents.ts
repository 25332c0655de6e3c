/** Agents in terminals, in the order in which people look for them. */

import type { Occupation, SessionEntry } from './types';

export interface AgentRow {
  session: SessionEntry;
  /** The state that the server tells; not set until it is known. */
  state: Occupation | undefined;
}

/** The words of agents that do something, those of stuck agents first. */
const RANKS = ['asks', 'waits', 'paused', 'working', 'writing', 'thinking', 'queued'];

/**
 * Returns the agents that do something, stuck ones first, and those at rest. Otherwise they keep
 * the order in which they began.
 */
export function agentRows(
  live: readonly SessionEntry[],
  stateOf: (session: SessionEntry) => Occupation | undefined,
): { busy: AgentRow[]; idle: AgentRow[] } {
  const rows = live.map((session) => ({ session, state: stateOf(session) }));
  const rank = ({ state }: AgentRow) => RANKS.indexOf(state?.word ?? '');
  const busy = rows.filter((row) => rank(row) >= 0).sort((one, other) => rank(one) - rank(other));
  return { busy, idle: rows.filter((row) => rank(row) < 0) };
}
