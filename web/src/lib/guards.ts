/** Guards in words: the state of each, and the button that lifts it. */

import { clockTime, cost } from './time';
import type { GuardEntry } from './types';
import { count as counted } from './words';

const LIFTS: Record<string, string> = {
  resume: 'Continue',
  unmute: 'Unmute',
  config: 'Raise the limit',
  stop: 'Stop all',
};

/**
 * Returns the guards of one conversation before all others. The list of all may leave out a quiet
 * conversation.
 */
export function ownFirst(own: GuardEntry[], all: GuardEntry[], thread: string): GuardEntry[] {
  return [...own, ...all.filter((guard) => guard.thread !== thread)];
}

/** Returns the state of a guard: `held`, `15 of 20`, or sums of money. */
export function standingWords(guard: GuardEntry, currency: string): string {
  const { count, limit, reserved } = guard;
  if (count == null || limit == null) return guard.state;
  if (guard.measure !== 'cost_micros') return `${count.toLocaleString('en')} of ${limit.toLocaleString('en')}`;
  const parts = [
    count > 0 || !reserved ? `spent ${cost(count, currency)}` : '',
    reserved ? `reserved ${cost(reserved, currency)}` : '',
  ];
  return `${parts.filter(Boolean).join(', ')} of ${cost(limit, currency)}`;
}

/** Returns the label of the button that lifts a guard, if one slash command does. */
export function liftLabel(guard: GuardEntry): string | null {
  if (!guard.thread || !guard.lift?.command) return null;
  if (guard.guard === 'pause') return 'Resume';
  return LIFTS[guard.lift.by] ?? guard.lift.command;
}

/** Returns a hint for a guard that no button lifts. */
export function liftHint({ lift, until }: GuardEntry): string {
  switch (lift?.by) {
    case 'raise':
      return 'Raise it on the server: `moothall budget raise`.';
    case 'words':
      return 'Any message from a person lifts it.';
    case 'time':
      return until ? `It ends at ${clockTime(until)}.` : 'It ends by itself.';
    default:
      return '';
  }
}

/** Returns a hint for a person whom the server does not know. */
export function unknownHint({ lift }: GuardEntry): string {
  const left = lift?.words_left ?? 0;
  return left > 0
    ? `Your messages lift it ${counted(left, 'more time', 'more times')} this hour.`
    : 'Sign in to lift it.';
}
