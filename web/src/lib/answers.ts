/** The answers to permissions of a conversation, newest first. */

import { actionText } from './action';
import { outcomeOf, Permissions, type Permission } from './permissions';
import type { Envelope, PermissionEvent } from './types';

export interface GivenAnswer {
  permission: Permission;
  /** Position and time of the request. */
  seq: number;
  at: string;
  /** The agent's wish, to follow its name. */
  wish: string;
  outcome: string;
  /** True if the agent's program keeps the answer as a rule of its own. */
  isKept: boolean;
}

/** Returns the requests that have ended, with their ends. */
export function answersOf(events: readonly Envelope[], nameOf: (id: string) => string): GivenAnswer[] {
  const [known, asked] = [new Permissions(), new Map<string, { permission: Permission; event: Envelope }>()];
  for (const event of events) {
    const permission = known.take(event.content as PermissionEvent | null);
    if (permission) asked.set(permission.id, { permission, event: asked.get(permission.id)?.event ?? event });
  }
  return [...asked.values()]
    .flatMap(({ permission, event }) => {
      const outcome = outcomeOf(permission.end, nameOf);
      return outcome === null ? [] : [given(permission, event, outcome)];
    })
    .reverse();
}

function given(permission: Permission, { seq, ts }: Envelope, outcome: string): GivenAnswer {
  const { action, detail, options, end } = permission;
  const { lead } = actionText(action, detail, options);
  const isKept = end?.kind === 'answered' && (end.choice === 'always' || end.choice === 'never');
  return { permission, seq, at: ts, wish: lead, outcome, isKept };
}

/** Returns how to revoke a rule that a program keeps. The server keeps no rules of its own. */
export function revokeHint(client: string | null | undefined): string {
  return client === 'claude'
    ? 'Claude Code keeps this rule. Revoke it there with `/permissions`.'
    : 'The agent’s program keeps this rule. Revoke it there.';
}
