// As whom the programs of agents run on the server's computer, in words for people.
import type { AgentEntry } from './types';

const PROGRAMS = ['command', 'terminal'];

/** What an agent is, and as whom it runs where that is another user than the server's. */
export function aboutAgent(agent: AgentEntry): string {
  return agent.run_as ? `${agent.summary} Runs as ${agent.run_as}.` : agent.summary;
}

/** A hint about all whose programs are the server's own user; nothing where there are none. */
export function ofTheServersUser(agents: readonly AgentEntry[]): string {
  const own = agents.filter((agent) => PROGRAMS.includes(agent.runtime) && !agent.run_as).map((agent) => agent.client);
  return own.length === 0
    ? ''
    : `${own.join(', ')}: programs of the server's own user, who can read all that it keeps.`;
}
