/** Sessions in terminals and their links, in words. */

import type { LinkEntry, SessionEntry } from './types';

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
