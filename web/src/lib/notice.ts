/** Needs as notifications of the desktop, which a lock screen may show. */

import { lineOf } from './needs';
import type { Need } from './types';

/** Returns a need in a few words without words of messages, titles or commands. */
export function noticeTitle(need: Need): string {
  const name = need.name ?? need.participant ?? 'An agent';
  switch (need.kind) {
    case 'permission':
      return `${name} asks for permission`;
    case 'question':
      return `${name} asks you something`;
    case 'missed':
      return `${name} gave up waiting for you`;
    case 'failure':
      return `${name} failed`;
    case 'mention':
      return `${name} wrote to you`;
    case 'piece':
      return 'You have the piece';
    case 'harvest':
      return 'You write the harvest';
    case 'guard':
      return 'Agents wait for you to let them go on';
    default:
      return 'Something needs you';
  }
}

/** Returns the room of a need and its subject, for people who chose to see words. */
export function noticeBody(need: Need): string {
  return [need.title, lineOf(need)].filter(Boolean).join(': ');
}
