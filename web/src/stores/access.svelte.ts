/**
 * Letting others in: allowed to people whom the server knows and whose scopes include invitations
 * or tokens.
 */

import type { Invited } from '../lib/types';
import { session } from './session.svelte';

/** The participant for whom another code or token is made. */
class Letting {
  of = $state.raw<Invited | null>(null);
}

export const letting = new Letting();

/** True if the server knows the person and the person may invite. */
export function mayLetIn(): boolean {
  return session.who?.principal != null && session.who.scopes.includes('participants:invite');
}

/** True if the person may create tokens, as operators of the server may. */
export function mayGiveTokens(): boolean {
  return session.who?.principal != null && session.who.scopes.includes('server:admin');
}

/** True if this person may start programs in terminals. */
export function mayStart(): boolean {
  const who = session.who;
  return who?.principal?.kind === 'human' && who.threads === null && who.scopes.includes('sessions:drive');
}
