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
    | { kind: 'answered'; by: string; label: string; choice: Choice }
    | { kind: 'expired' }
    | { kind: 'gave_up' }
    | { kind: 'withdrawn'; because: WithdrawnBecause }
    | null;
  /** The outcome of a request that belongs to no turn. */
  came: Settled | null;
}

/** The meaning of an answer; null for an answer that only its words tell. */
export type Choice = 'allowed' | 'always' | 'denied' | 'never' | null;

type WithdrawnBecause = Extract<PermissionEvent, { event: 'withdrawn' }>['because'];

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
        return before
          ? {
              ...before,
              end: { kind: 'answered', by: content.by, label: saidIn(content), choice: choiceOf(before, content) },
            }
          : null;
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
  if (text === '') return 'erased words';
  return text ?? label;
}

/** Returns the meaning of an answer. An answer in own words, or a choice of a question, is told by its words. */
function choiceOf({ options }: Permission, { option, text }: { option: string; text?: string }): Choice {
  const kind = options.find(({ id }) => id === option)?.kind;
  if (text !== undefined) return null;
  if (kind === 'allow_once' || kind === 'allow_always') return kind === 'allow_once' ? 'allowed' : 'always';
  if (kind === 'reject_once' || kind === 'reject_always') return kind === 'reject_once' ? 'denied' : 'never';
  return null;
}

/** Returns the end that an outcome implies, for a request without an answer of its own. */
function endOf({ outcome, by = '' }: Settled): Permission['end'] {
  switch (outcome) {
    case 'refused':
      return { kind: 'answered', by, label: 'Deny', choice: 'denied' };
    case 'expired':
      return { kind: 'expired' };
    case 'started':
    case 'linked':
    case 'failed':
      return { kind: 'answered', by, label: 'Allow', choice: 'allowed' };
  }
}

/**
 * Returns words for the outcome of a request that belongs to no turn; null if its answer says
 * everything.
 */
export function cameOf(came: Settled | null): string | null {
  switch (came?.outcome) {
    case 'started': {
      const name = came.name ?? 'The agent';
      return came.unsaid ? `${name} runs. Its first message did not arrive: ${came.unsaid}` : `${name} runs.`;
    }
    case 'linked': {
      const to = came.talk?.to ?? 'the other agent';
      return came.unsaid
        ? `It is linked with ${to}. The first message did not arrive: ${came.unsaid}`
        : `It is linked with ${to}.`;
    }
    case 'failed':
      return came.talk ? `It could not be linked: ${came.why ?? ''}` : `It could not start: ${came.why ?? ''}`;
    case 'refused':
    case 'expired':
    case undefined:
      return null;
  }
}

/** Labels for options whose label is only their id. */
const OPTIONS: Record<string, string> = { allow: 'Allow', deny: 'Deny' };

/**
 * Plain labels for answers of programs whose meaning is known. A label that says more, such as the
 * scope of an answer for good, is shown as its program writes it.
 */
const LABELS: Record<string, Record<string, string>> = {
  allow_once: { Yes: 'Allow once', 'Yes, proceed': 'Allow once' },
  reject_once: { No: 'Deny' },
  other: {
    'Type something.': 'Write an answer',
    'Type something': 'Write an answer',
    'Chat about this': 'Discuss first',
  },
};

export function optionTitle(option: { id: string; label: string; kind?: string }): string {
  const bare = option.id === option.label && Object.hasOwn(OPTIONS, option.id);
  if (bare) return OPTIONS[option.id] ?? option.label;
  // A program writes its number and its key beside a label: `1. Yes, proceed (y)`.
  const label = option.label.replace(/^\d+\. /, '').replace(/ \((?:[a-z]|esc)\)$/, '');
  const labels = LABELS[option.kind ?? ''] ?? {};
  return Object.hasOwn(labels, label) ? (labels[label] ?? option.label) : option.label;
}

/** Returns a sentence about an answer. */
function answerSentence(name: string, { label, choice }: { label: string; choice: Choice }): string {
  switch (choice) {
    case 'allowed':
      return `${name} allowed it.`;
    case 'always':
      return `${name} allowed it from now on: “${label}”.`;
    case 'denied':
      return `${name} denied it.`;
    case 'never':
      return `${name} denied it from now on: “${label}”.`;
    case null:
      return `${name} answered “${label}”.`;
  }
}

/** Returns a sentence about the end of a request, to follow the name of its agent. */
export function outcomeOf(end: Permission['end'], nameOf: (id: string) => string): string | null {
  switch (end?.kind) {
    case 'answered':
      return answerSentence(nameOf(end.by), end);
    case 'expired':
      return 'Nobody answered in time.';
    case 'gave_up':
      return 'Nobody answered in time. The agent gave up, and may ask again.';
    case 'withdrawn':
      return {
        gone: 'Answered in the terminal, or withdrawn.',
        left: 'Withdrawn: the agent has left.',
        replaced: 'Replaced by a newer question.',
        not_given: 'The answer came too late: the agent had moved on. Nothing was done.',
      }[end.because];
    case undefined:
      return null;
  }
}
