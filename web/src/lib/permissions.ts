/** What agents may do only with a person's consent: asked, answered, run out. */

import type { PermissionEvent } from './types';

export interface Permission {
  id: string;
  turn: string;
  participant: string;
  /** What exactly it wants to do. */
  action: string;
  options: string[];
  expires: string;
  /** Nothing while it waits. */
  end: { kind: 'answered'; by: string; option: string } | { kind: 'expired' } | null;
}

export class Permissions {
  #known = new Map<string, Permission>();

  /** Takes an event. Answers the permission as it is then; nothing where its request was not loaded. */
  take(content: PermissionEvent | null): Permission | null {
    const permission = content && this.#next(content);
    if (permission) this.#known.set(permission.id, permission);
    return permission;
  }

  #next(content: PermissionEvent): Permission | null {
    const before = this.#known.get(content.permission);
    switch (content.event) {
      case 'requested': {
        const { permission: id, turn, participant, action, options, expires } = content;
        return { id, turn, participant, action, options, expires, end: null };
      }
      case 'answered':
        return before ? { ...before, end: { kind: 'answered', by: content.by, option: content.option } } : null;
      case 'expired':
        return before ? { ...before, end: { kind: 'expired' } } : null;
      default:
        return null;
    }
  }

  /** Those that still wait: a turn that is over waits for nothing. */
  waiting(isOver: (turn: string) => boolean): Permission[] {
    return [...this.#known.values()].filter((permission) => permission.end === null && !isOver(permission.turn));
  }
}

/** The options that Claude Code and the Agent Client Protocol name, for people; any other is shown as it is. */
const OPTIONS: Record<string, string> = {
  allow: 'Allow',
  deny: 'Deny',
  allow_once: 'Allow once',
  allow_always: 'Always allow',
  reject_once: 'Reject',
  reject_always: 'Always reject',
};

export function optionTitle(option: string): string {
  return Object.hasOwn(OPTIONS, option) ? (OPTIONS[option] ?? option) : option;
}
