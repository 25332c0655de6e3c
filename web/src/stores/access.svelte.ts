/** Who lets others in: people whom the server knows, with what it calls invitations and tokens. */

import type { Invited } from '../lib/types';
import { session } from './session.svelte';

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
