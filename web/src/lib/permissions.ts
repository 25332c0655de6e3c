/** What agents may do only with a person's consent: asked, answered, run out. */

import type { AskedRef, PermissionEvent, PermissionOption, ThreadState } from './types';

export interface Permission {
  id: string;
  /** Nothing where it belongs to no turn. */
  turn: string | null;
  participant: string;
  /** What exactly it wants to do. */
  action: string;
  /** Whether that is all of it. */
  complete: boolean;
  options: PermissionOption[];
  /** When it counts as refused; nothing where it waits for as long as it is asked. */
  expires: string | null;
  folder: string | null;
  look: string | null;
  /** Nothing while it waits. */
  end:
    | { kind: 'answered'; by: string; label: string }
    | { kind: 'expired' }
    | { kind: 'gave_up' }
    | { kind: 'withdrawn'; because: 'gone' | 'replaced' | 'left' | 'not_given' }
    | null;
  /** The outcome, if it belongs to no turn. */
  came: Settled | null;
}

export type Settled = Extract<PermissionEvent, { event: 'settled' }>;

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
        const { permission: id, turn, participant, action, complete, options, expires } = content;
        const { folder = null, look = null } = content;
        return { id, turn, participant, action, complete, options, expires, folder, look, end: null, came: null };
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

  /** Those that still wait: a turn that is over waits for nothing. What belongs to no turn waits for its answer alone. */
  waiting(isOver: (turn: string) => boolean): Permission[] {
    return [...this.#known.values()].filter(({ end, turn }) => end === null && (turn === null || !isOver(turn)));
  }
}

/** What waits for an answer and belongs to no turn. */
export function askedInNoTurn({ starts, questions }: ThreadState): AskedRef[] {
  return [...starts, ...questions];
}

/** The words that an answer was given in. */
function saidIn({ label, text }: { label: string; text?: string }): string {
  if (text === '') return 'words that were erased';
  return text ?? label;
}

/** What a start that came to nothing or to something says of its request, where nothing else was said of it. */
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

/** Words the outcome of a request of no turn; nothing if the answer to it says it all. */
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

/** The words of an option that has none of its own but what it comes to; any other says what its program says. */
const OPTIONS: Record<string, string> = { allow: 'Allow', deny: 'Deny' };

export function optionTitle(option: { id: string; label: string }): string {
  const bare = option.id === option.label && Object.hasOwn(OPTIONS, option.id);
  return bare ? (OPTIONS[option.id] ?? option.label) : option.label;
}

/** What came of one, in a sentence that goes on after who asked for it. */
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
        gone: 'It is not asked any more: it was answered at its terminal, or given up.',
        left: 'It is not asked any more: the agent has left.',
        replaced: 'Something else was asked in its place.',
        not_given: 'The answer came too late: something else was asked by then, and nothing was done.',
      }[end.because];
    case undefined:
      return null;
  }
}
