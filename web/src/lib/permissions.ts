/** Actions that need a person's consent: the requests, their answers and their ends. */

import type { ActionDetail, AskedRef, PermissionEvent, PermissionOption, ThreadState } from './types';

export interface Permission {
  id: string;
  /** Null if the request belongs to no turn. */
  turn: string | null;
  participant: string;
  /** The action, word for word. */
  action: string;
  /** The parts of the action, if its program reports them one by one. */
  detail: ActionDetail | null;
  /** True if `action` is complete. */
  complete: boolean;
  options: PermissionOption[];
  /** Time at which the request counts as refused; null if it does not expire. */
  expires: string | null;
  folder: string | null;
  look: string | null;
  /** Null while the request waits. */
  end:
    | { kind: 'answered'; by: string; label: string }
    | { kind: 'expired' }
    | { kind: 'gave_up' }
    | { kind: 'withdrawn'; because: 'gone' | 'replaced' | 'left' | 'not_given' }
    | null;
  /** The outcome of a request that belongs to no turn. */
  came: Settled | null;
}

export type Settled = Extract<PermissionEvent, { event: 'settled' }>;

export class Permissions {
  #known = new Map<string, Permission>();

  /** Takes an event. Returns the permission after it; null if its request was not loaded. */
  take(content: PermissionEvent | null): Permission | null {
    const permission = content && this.#next(content);
    if (permission) this.#known.set(permission.id, permission);
    return permission;
  }

  #next(content: PermissionEvent): Permission | null {
    const before = this.#known.get(content.permission);
    switch (content.event) {
      case 'requested': {
        const { permission: id, turn, participant, action, complete, options, expires } = content;
        const { folder = null, look = null, detail = null } = content;
        return {
          id,
          turn,
          participant,
          action,
          detail,
          complete,
          options,
          expires,
          folder,
          look,
          end: null,
          came: null,
        };
      }
      case 'answered':
        return before ? { ...before, end: { kind: 'answered', by: content.by, label: saidIn(content) } } : null;
      case 'expired':
        return before ? { ...before, end: { kind: 'expired' } } : null;
      case 'gave_up':
        return before ? { ...before, end: { kind: 'gave_up' } } : null;
      case 'withdrawn':
        return before ? { ...before, end: { kind: 'withdrawn', because: content.because } } : null;
      case 'settled':
        return before ? { ...before, end: before.end ?? endOf(content), came: content } : null;
      default:
        return null;
    }
  }

  /**
   * Returns the requests that still wait. The end of a turn ends its requests. A request without a
   * turn waits for its own end.
   */
  waiting(isOver: (turn: string) => boolean): Permission[] {
    return [...this.#known.values()].filter(({ end, turn }) => end === null && (turn === null || !isOver(turn)));
  }
}

/** Returns the requests that wait for an answer and belong to no turn. */
export function askedInNoTurn({ starts, questions }: ThreadState): AskedRef[] {
  return [...starts, ...questions];
}

/** Returns the words of an answer. */
function saidIn({ label, text }: { label: string; text?: string }): string {
  if (text === '') return 'words that were erased';
  return text ?? label;
}

/** Returns the end that an outcome implies, for a request without an answer of its own. */
function endOf({ outcome, by = '' }: Settled): Permission['end'] {
  switch (outcome) {
    case 'refused':
      return { kind: 'answered', by, label: 'Deny' };
    case 'expired':
      return { kind: 'expired' };
    case 'started':
    case 'linked':
    case 'failed':
      return { kind: 'answered', by, label: 'Allow' };
  }
}

/**
 * Returns words for the outcome of a request that belongs to no turn; null if its answer says
 * everything.
 */
export function cameOf(came: Settled | null): string | null {
  switch (came?.outcome) {
    case 'started': {
      const unsaid = came.unsaid ? `, but its first message did not reach it: ${came.unsaid}` : '.';
      return `It runs as ${came.name ?? 'a session'}${unsaid}`;
    }
    case 'linked': {
      const unsaid = came.unsaid ? `, but the first message was not said: ${came.unsaid}` : '.';
      return `It is linked with ${came.talk?.to ?? 'the other session'}${unsaid}`;
    }
    case 'failed':
      return `It could not be ${came.talk ? 'linked' : 'started'}: ${came.why ?? ''}`;
    case 'refused':
    case 'expired':
    case undefined:
      return null;
  }
}

/** Labels for options whose label is only their id. Other options keep their program's label. */
const OPTIONS: Record<string, string> = { allow: 'Allow', deny: 'Deny' };

export function optionTitle(option: { id: string; label: string }): string {
  const bare = option.id === option.label && Object.hasOwn(OPTIONS, option.id);
  return bare ? (OPTIONS[option.id] ?? option.label) : option.label;
}

/** Returns a sentence about the end of a request, to follow the name of its agent. */
export function outcomeOf(end: Permission['end'], nameOf: (id: string) => string): string | null {
  switch (end?.kind) {
    case 'answered':
      return `${nameOf(end.by)} answered “${end.label}”.`;
    case 'expired':
      return 'Nobody answered in time.';
    case 'gave_up':
      return 'Nobody answered in time: it gave up, and may ask again.';
    case 'withdrawn':
      return {
        gone: 'Answered in the terminal, or withdrawn.',
        left: 'Withdrawn: the agent has left.',
        replaced: 'Replaced by a newer question.',
        not_given: 'Answered too late: something else was asked by then, and nothing was done.',
      }[end.because];
    case undefined:
      return null;
  }
}
