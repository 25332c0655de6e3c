/** The parts of an agent's page beside its conversation. */

export { default as AgentBar } from './AgentBar.svelte';
export { default as TerminalPane } from './TerminalPane.svelte';
