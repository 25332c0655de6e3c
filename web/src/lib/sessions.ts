/** Sessions in terminals and their links, in words. */

import { Permissions, type Permission } from './permissions';
import type { Envelope, LinkEntry, PermissionEvent, SessionEntry, StateAnswer } from './types';

/** States of a session. Only a screen reports `shell` and `gone`. */
const STATES: Record<string, string> = {
  starting: 'starting',
  idle: 'ready',
  drafting: 'a draft is there',
  busy: 'busy',
  asking: 'asks you',
  ended: 'ended',
  shell: 'a shell',
  gone: 'gone',
};

export function stateWord(state: string): string {
  return STATES[state] ?? state;
}

export function isLive(session: SessionEntry): boolean {
  return session.state !== 'ended';
}

/** Direction marks and control characters, which would move the text beside them. */
const MOVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a screen in its columns: each moving character becomes one visible cell. */
export function cells(screen: string): string {
  return screen.replace(MOVING, '\u00b7').replace(/\s+$/, '');
}

/** Returns a command, quoted for a shell. */
export function shellCommand(argv: readonly string[]): string {
  const isPlain = (word: string) => /^[A-Za-z0-9_@%+:,./-]+$/.test(word);
  return argv.map((word) => (isPlain(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** Returns a path; of a long one, only its end. */
export function shortFolder(path: string): string {
  const parts = path.split('/').filter(Boolean);
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : path;
}

/** Returns a link's members as one line: `1 Ann (planner), 2 Bert`. */
export function memberLine(link: LinkEntry): string {
  return link.members
    .map(({ name, number, role }) => [number, name, role ? `(${role})` : ''].filter(Boolean).join(' '))
    .join(', ');
}

/**
 * Returns the open requests of a conversation, from its state and the events since its oldest open
 * turn began.
 */
export function openPermissions({ state }: StateAnswer, events: readonly Envelope[]): Permission[] {
  const known = new Permissions();
  for (const event of events) if (event.type === 'permission') known.take(event.content as PermissionEvent | null);
  const open = new Set(state.turns.map((turn) => turn.id));
  return known.waiting((turn) => !open.has(turn));
}
