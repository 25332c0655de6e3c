/** The plan of a talking circle, as the form of the page makes it. */

import type { Askable } from './home';
import type { NewGathering, NewGatheringMember } from './types';

export interface CircleWish {
  question: string;
  rhythm: string;
  breath: string;
  speakers: readonly Askable[];
  /** The id of the person who takes part; null if the person only looks on. */
  person: string | null;
  harvester: Askable | null;
  /** Folder of the programs that are started for the circle. */
  folder: string;
}

export const BREATHS = [
  { value: 'minimal', label: 'Short: one round in each phase' },
  { value: 'standard', label: 'Usual: two rounds in each phase' },
  { value: 'extended', label: 'Long: two, three and two rounds' },
] as const;

/** Name of the harvester, so that the same agent may also speak. */
const HARVESTER = 'Harvester';
const SPEAKERS_MIN = 2;

/** Returns what the form lacks; empty if the circle can begin. */
export function lacking(wish: CircleWish): string {
  if (wish.question.trim() === '') return 'Write the question that the circle opens with.';
  if (wish.speakers.length + (wish.person ? 1 : 0) < SPEAKERS_MIN) return 'Choose at least two speakers.';
  return wish.harvester ? '' : 'Choose who writes the harvest.';
}

function agentMember(agent: Askable, folder: string): Pick<NewGatheringMember, 'kind' | 'client' | 'cwd'> {
  // A program without an entry of its own is started in a terminal.
  return { kind: 'agent', client: agent.client, ...(agent.agent || !folder ? {} : { cwd: folder }) };
}

/** Returns the request for a circle. The person speaks first. */
export function planOf(wish: CircleWish, from: string): NewGathering {
  const person = wish.person ? [{ name: wish.person, kind: 'human', participant_id: wish.person }] : [];
  const agents = wish.speakers.map((agent) => ({ name: agent.client, ...agentMember(agent, wish.folder) }));
  const harvester = wish.harvester
    ? [{ name: HARVESTER, role: 'harvester', ...agentMember(wish.harvester, wish.folder) }]
    : [];
  return {
    from,
    opening_question: wish.question.trim(),
    ...(wish.rhythm.trim() ? { rhythm: wish.rhythm.trim() } : {}),
    breath: wish.breath as unknown as NewGathering['breath'],
    participants: [...person, ...agents, ...harvester].map((member, index) => ({ ...member, number: index + 1 })),
  };
}
