/** Actions that agents ask to take, drawn from their parts: a command as a command, an edit as a difference. */

import { count as counted } from './words';
import type { ActionDetail, ActionPart, PermissionOption } from './types';

export interface ActionText {
  /** The end of a sentence that begins with the agent's name. */
  lead: string;
  text: string;
  /** True if lines with a `+` or `-` are added and removed ones. */
  isDiff: boolean;
  /** The agent's own words about the action, which prove nothing. */
  claim: string | null;
}

/** Number of equal lines that stay around a change. */
const CONTEXT = 3;

/** Returns an action for a person. Without parts, it is the action word for word. */
export function actionText(
  action: string,
  detail: ActionDetail | null,
  options: readonly PermissionOption[],
): ActionText {
  if (detail === null) {
    return { lead: isQuestion(options) ? 'asks you' : 'asks for permission', text: action, isDiff: false, claim: null };
  }
  const { parts, step } = detail;
  const isDiff = parts.some(({ role }) => role === 'before' || role === 'after' || role === 'content');
  const claims = parts.filter(({ role }) => role === 'claim').map(({ text }) => text);
  return {
    lead: step === undefined ? lead(detail) : `${lead(detail)} (${step.number} of ${step.of})`,
    text: [...blocks(parts), ...(detail.screen === undefined ? [] : ['', 'On its screen:', detail.screen])].join('\n'),
    isDiff,
    claim: claims.length > 0 ? claims.join('\n') : null,
  };
}

/** True if no answer allows or refuses something: the program asks for a choice. */
export function isQuestion(options: readonly PermissionOption[]): boolean {
  return options.every(({ kind }) => kind === 'other');
}

function lead({ tool, parts }: ActionDetail): string {
  const find = (role: ActionPart['role']) => parts.find((part) => part.role === role)?.text;
  const path = find('path');
  const file = path === undefined ? '' : (path.split('/').filter(Boolean).at(-1) ?? path);
  if (find('question') !== undefined) return 'asks you';
  if (find('command') !== undefined) return 'wants to run a command';
  if (file !== '' && (find('before') !== undefined || find('after') !== undefined)) return `wants to edit ${file}`;
  if (file !== '' && find('content') !== undefined) return `wants to write ${file}`;
  if (find('address') !== undefined) return 'wants to open a page';
  if (file !== '') return `wants to use ${tool || 'a tool'} on ${file}`;
  return `wants to use ${tool || 'a tool'}`;
}

/** Returns the parts as texts, in their order. */
function blocks(parts: readonly ActionPart[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as ActionPart;
    const next = parts[at + 1];
    const others = { before: 'after', after: 'before' } as const;
    if ((part.role === 'before' || part.role === 'after') && next?.role === others[part.role]) {
      const [before, after] = part.role === 'before' ? [part.text, next.text] : [next.text, part.text];
      found.push(difference(before, after));
      at++;
    } else {
      const text = block(part);
      if (text !== null) found.push(text);
    }
  }
  return found;
}

function block({ role, name, text }: ActionPart): string | null {
  switch (role) {
    case 'command':
      return `$ ${text}`;
    case 'path':
    case 'address':
    case 'question':
      return text;
    case 'before':
      return marked('-', text.split('\n'));
    case 'after':
    case 'content':
      return marked('+', text.split('\n'));
    case 'claim':
      return null;
    case 'other':
      return `${name}: ${text}`;
  }
}

function marked(sign: string, lines: readonly string[]): string {
  return lines.map((line) => `${sign} ${line}`).join('\n');
}

/** Returns a change as removed and added lines, with a few of the equal lines around them. */
export function difference(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const least = Math.min(old.length, now.length);
  let head = 0;
  while (head < least && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < least - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const kept = (lines: readonly string[]) => lines.map((line) => `  ${line}`);
  const left = (count: number) => (count > 0 ? [`  ⋯ ${counted(count, 'equal line')}`] : []);
  const above = old.slice(0, head);
  const below = tail > 0 ? old.slice(-tail) : [];
  return [
    ...left(above.length - CONTEXT),
    ...kept(above.slice(-CONTEXT)),
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
    ...kept(below.slice(0, CONTEXT)),
    ...left(below.length - CONTEXT),
  ].join('\n');
}
