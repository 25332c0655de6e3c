/** Example conversations for an empty hall. They use agents that every server has. */

import { planOf } from '../lib/circle-plan';
import { post } from '../lib/client';
import { askable } from '../lib/home';
import type { AgentEntry } from '../lib/types';
import { hall, me } from './app';

export interface Example {
  title: string;
  about: string;
  agents: string[];
  policy: string;
  first: string;
}

export const EXAMPLES: Example[] = [
  {
    title: 'A second opinion',
    about: 'You name the analyst. The critic volunteers, the writer may pass.',
    agents: ['analyst', 'writer', 'critic'],
    policy: 'hybrid',
    first:
      '@analyst Our sign-ups grew 18 % in March, but 40 % of the new users left within a week. What does that tell us?',
  },
  {
    title: 'Writers’ table',
    about: 'Everybody has a turn, one after the other.',
    agents: ['writer', 'critic', 'analyst'],
    policy: 'round_robin',
    first: 'Write a two-sentence announcement: the library opens on Sundays from May on, and why that is good news.',
  },
  {
    title: 'Only when asked',
    about: 'Agents stay quiet until you name them.',
    agents: ['critic', 'analyst'],
    policy: 'mention_only',
    first: '@critic We plan to answer all support mail with an agent from Monday on. What can go wrong?',
  },
  {
    title: 'Talking circle',
    about: 'Three agents pass a talking piece round. At the end you read the harvest.',
    agents: ['analyst', 'writer', 'critic'],
    policy: 'talking_piece',
    first: 'What makes our releases slow, and what do we change first?',
  },
];

/** Starts an example with its first message. Returns the id of the conversation. */
export async function begin(example: Example): Promise<string> {
  const known = await hall.registry();
  if (example.policy === 'talking_piece') return circle(example, known);
  const agents = example.agents.flatMap((client) => known.find((agent) => agent.client === client) ?? []);
  const id = await hall.begin(example.title, example.policy, agents);
  await post(`/threads/${id}/events`, { type: 'message', from: me.id, to: 'all', content: example.first });
  return id;
}

/** Begins a circle of the example's agents, the first of which also harvests. */
function circle({ agents, first }: Example, known: readonly AgentEntry[]): Promise<string> {
  const offered = askable(known, []);
  const speakers = agents.flatMap((client) => offered.find((agent) => agent.client === client) ?? []);
  const wish = { question: first, rhythm: '', breath: 'minimal', person: null, folder: '' };
  return hall.gather(planOf({ ...wish, speakers, harvester: speakers[0] ?? null }, me.id));
}
