/** Three example conversations for an empty hall. They use agents that every server has. */

import { post } from '../lib/client';
import { ME } from '../lib/words';
import { hall } from './hall.svelte';

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
];

/** Starts an example with its first message. Returns the id of the conversation. */
export async function begin(example: Example): Promise<string> {
  const known = await hall.registry();
  const agents = example.agents.flatMap((client) => known.find((agent) => agent.client === client) ?? []);
  const id = await hall.begin(example.title, example.policy, agents);
  await post(`/threads/${id}/events`, { type: 'message', from: ME, to: 'all', content: example.first });
  return id;
}
