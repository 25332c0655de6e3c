/** What the server knows of who speaks, in a few words: never what a profile says of itself. */

import { RUNTIMES, SERVER } from './words';
import type { Envelope, Invited } from './types';

/** An agent's badge: the client of the registry that runs it, and how; `agent` alone where the server runs nothing. */
export function agentBadge(entry: Invited | undefined): string {
  if (!entry?.known || entry.kind !== 'agent') return 'agent';
  const client = entry.profile.client;
  const runtime = entry.runtime ? (RUNTIMES[entry.runtime] ?? entry.runtime) : '';
  return ['agent', client === entry.id ? '' : client, runtime].filter(Boolean).join(' · ');
}

/** Whether a person said it, also one who is not invited or has left: what agents say is at least one step away from that. */
export function isOfPerson(event: Envelope): boolean {
  return event.type === 'message' && event.from !== SERVER && !event.meta?.turn && !event.meta?.depth;
}

/** What keeps words from being surely the speaker's; nothing where a credential stood behind them. */
export function doubt(event: Envelope, nameOf: (id: string) => string): { mark: string; why: string } | null {
  const at = event.meta?.typed_at;
  if (at) return { mark: `at ${nameOf(at)}’s terminal`, why: 'Typed in a terminal, where an agent can type too.' };
  if (!event.meta?.unproven) return null;
  return { mark: 'unproven', why: 'Whoever sent this showed no credential: the name is their word.' };
}
