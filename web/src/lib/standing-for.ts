/**
 * The server's own knowledge of a speaker, in a few words. Claims of a profile do not count.
 */

import { RUNTIMES, SERVER } from './words';
import type { Envelope, Invited } from './types';

/**
 * Returns an agent's badge: its client in the registry and its runtime, or `agent` alone if the
 * server runs no client.
 */
export function agentBadge(entry: Invited | undefined): string {
  if (!entry?.known || entry.kind !== 'agent') return 'agent';
  const client = entry.profile.client;
  const runtime = entry.runtime ? (RUNTIMES[entry.runtime] ?? entry.runtime) : '';
  return ['agent', client === entry.id ? '' : client, runtime].filter(Boolean).join(' · ');
}

/**
 * True if a person wrote the message, invited or not. Words of agents have a turn or a depth of at
 * least 1.
 */
export function isOfPerson(event: Envelope): boolean {
  return event.type === 'message' && event.from !== SERVER && !event.meta?.turn && !event.meta?.depth;
}

/**
 * Returns a mark for words whose speaker is not certain; null if a credential proved the speaker.
 */
export function doubt(event: Envelope, nameOf: (id: string) => string): { mark: string; why: string } | null {
  const at = event.meta?.typed_at;
  if (at) return { mark: `at ${nameOf(at)}’s terminal`, why: 'Typed in a terminal, where an agent can type too.' };
  if (!event.meta?.unproven) return null;
  return { mark: 'not signed in', why: 'Anyone on this computer could have written this.' };
}
