/** What runs in terminals, in words and in the order in which it is shown. */

import { Permissions, type Permission } from './permissions';
import type { Envelope, LinkEntry, PermissionEvent, SessionEntry, StateAnswer } from './types';

/** What a session does; `shell` and `gone` only its screen tells. */
const STATES: Record<string, string> = {
  starting: 'starting',
  idle: 'idle',
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

/** Direction marks and controls, which would move what stands beside them. */
const MOVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A screen as it stands in its columns: one cell stays one cell, and nothing moves another. */
export function cells(screen: string): string {
  return screen.replace(MOVING, '\u00b7').replace(/\s+$/, '');
}

/** A command as a shell reads it. */
export function shellCommand(argv: readonly string[]): string {
  const isPlain = (word: string) => /^[A-Za-z0-9_@%+:,./-]+$/.test(word);
  return argv.map((word) => (isPlain(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** The end of a path, where it is long. */
export function shortFolder(path: string): string {
  const parts = path.split('/').filter(Boolean);
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : path;
}

/** A link's members as one line: `1 Ann (planner), 2 Bert`. */
export function memberLine(link: LinkEntry): string {
  return link.members
    .map(({ name, number, role }) => [number, name, role ? `(${role})` : ''].filter(Boolean).join(' '))
    .join(', ');
}

/** What is asked in a conversation and waits for an answer, by its state and the events since its oldest open turn began. */
export function openPermissions({ state }: StateAnswer, events: readonly Envelope[]): Permission[] {
  const known = new Permissions();
  for (const event of events) if (event.type === 'permission') known.take(event.content as PermissionEvent | null);
  const open = new Set(state.turns.map((turn) => turn.id));
  return known.waiting((turn) => !open.has(turn));
}
