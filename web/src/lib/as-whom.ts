// System users that run the programs of agents, in words for people.
import type { AgentEntry } from './types';

const PROGRAMS = ['command', 'terminal'];

/** Returns an agent's summary, with its user if that is not the server's. */
export function aboutAgent(agent: AgentEntry): string {
  return agent.run_as ? `${agent.summary} Runs as ${agent.run_as}.` : agent.summary;
}

/** Returns a hint that names the agents run by the server's own user; empty if there are none. */
export function ofTheServersUser(agents: readonly AgentEntry[]): string {
  const own = agents.filter((agent) => PROGRAMS.includes(agent.runtime) && !agent.run_as).map((agent) => agent.client);
  return own.length === 0
    ? ''
    : `${own.join(', ')}: programs of the server's own user, who can read all that it keeps.`;
}
