/** Lets people and agents into a conversation, with what the server calls invitations and tokens. */

import { post } from '../lib/client';
import type { Given, Wish } from '../lib/access';
import type { Invited } from '../lib/types';
import { session } from './session.svelte';

const HOURS_OF_DAY = 24;

/** Who is about to be let in again. */
class Letting {
  of = $state.raw<Invited | null>(null);
}

export const letting = new Letting();

/** Only somebody whom the server knows, and who may invite, can let others in. */
export function mayLetIn(): boolean {
  return session.who?.principal != null && session.who.scopes.includes('participants:invite');
}

/** Whoever runs the server can hand out a token itself. */
export function mayGiveTokens(): boolean {
  return session.who?.principal != null && session.who.scopes.includes('server:admin');
}

/** Makes a code or a token with which somebody takes part in one conversation. It is in this answer and never again. */
export async function letIn(thread: string, id: string, kind: 'human' | 'agent', wish: Wish): Promise<Given> {
  const asked = { principal: id, kind, scopes: wish.scopes };
  if (wish.way === 'code') {
    const made = await post<{ code: string; expires_at: string | null }>(`/threads/${thread}/invitations`, {
      ...asked,
      expires_in_hours: wish.hours,
    });
    return { way: 'code', secret: made.code, expiresAt: made.expires_at };
  }
  const made = await post<{ token: string; expires_at: string }>('/tokens', {
    ...asked,
    threads: [thread],
    expires_in_days: Math.ceil(wish.hours / HOURS_OF_DAY),
    label: 'from the page',
  });
  return { way: 'token', secret: made.token, expiresAt: made.expires_at };
}
