/** Needs in words. */

import { summary } from './markdown';
import { reveal } from './reveal';
import { clockTime } from './time';
import type { Need, PermissionEvent } from './types';
import { actionText } from './action';
import { guardQuestion } from './words';

type Asked = Extract<PermissionEvent, { event: 'requested' }>;

/** Returns the question of a need; null if the need is none. */
export function askedIn(need: Need): Asked | null {
  const content = need.event?.content as PermissionEvent | undefined;
  return content?.event === 'requested' ? content : null;
}

/** Returns what a need is about in one line, to follow the name. */
export function lineOf(need: Need): string {
  const asked = askedIn(need);
  const action = asked ? visible(asked.action) : '';
  switch (need.kind) {
    case 'permission':
      return asked ? wishOf(asked) : '';
    case 'question':
      return `asks: ${action}`;
    case 'missed':
      return need.since ? `gave up at ${clockTime(need.since)}: ${action}` : `gave up: ${action}`;
    case 'guard':
      return guardQuestion(need.guard ?? '');
    case 'piece':
      return 'You have the piece.';
    case 'harvest':
      return 'You write the harvest.';
    case 'failure':
      return need.event?.meta?.error ? `failed: ${need.event.meta.error.message}` : 'failed';
    default:
      return summary(String(need.event?.content ?? ''), 140);
  }
}

/** Returns the wish of a request in one line, to follow the name: `wants to run cargo publish`. */
function wishOf(asked: Asked): string {
  const { lead, text } = actionText(asked.action, asked.detail ?? null, asked.options);
  const command = asked.detail?.parts.find((part) => part.role === 'command')?.text;
  if (command !== undefined) return `wants to run ${visible(command)}`;
  const isQuestion = asked.detail?.parts.some((part) => part.role === 'question') ?? false;
  return asked.detail && !isQuestion ? lead : `${lead}: ${visible(text)}`;
}

/** Returns a text in one line, with invisible characters spelled out. */
function visible(text: string): string {
  return reveal(text.replace(/\s+/g, ' ').slice(0, 160))
    .map((part) => (part.spelled ? `[${part.text}]` : part.text))
    .join('');
}

/** Returns the options of a question in one line. */
export function optionsOf(need: Need): string {
  return (askedIn(need)?.options ?? []).map((option) => option.label).join(' · ');
}

const MINUTE = 60_000;

/** Returns the age of a need: `now`, `4 min`, `2 h`, `3 d`. */
export function ageOf(since: string | null | undefined, now: number): string {
  if (!since) return '';
  const minutes = Math.floor((now - Date.parse(since)) / MINUTE);
  if (minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}
