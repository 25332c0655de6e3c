/**
 * The rights of the person of this page: to let others in, to start programs, to bind chats. The
 * server decides again with each request.
 */

import { session } from './app';

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

/** True if the server knows the person, as pairing and binding need. */
export function isKnown(): boolean {
  return session.who?.principal?.kind === 'human';
}

/** True if the person may bind chats. */
export function mayBind(): boolean {
  return isKnown() && (session.who?.scopes.includes('threads:admin') ?? false);
}

/** True if the person may give agents bots. */
export function mayManageBots(): boolean {
  return isKnown() && (session.who?.scopes.includes('server:admin') ?? false);
}
