/**
 * One line of text for events that are not messages: controls, notices, and words that the server
 * keeps.
 */

import { spentOf, spentSentence, timeOf } from './budgets';
import { stepOf } from './gathering';
import { stepSentence } from './gathering-words';
import type { Names } from './names';
import { cost } from './time';
import { count, KEPT, policyTitle, textOf } from './words';
import type { Envelope } from './types';

export interface Line {
  text: string;
  tone: 'plain' | 'warn' | 'bad';
  /** More text, shown on request. */
  detail: string | null;
  /** True if the detail is kept words, which a person may show to all. */
  kept: boolean;
}

type Content = Record<string, unknown>;

function line(text: string, tone: Line['tone'] = 'plain', detail: string | null = null): Line {
  return { text, tone, detail, kept: false };
}

function object(value: unknown): Content {
  return value !== null && typeof value === 'object' ? (value as Content) : {};
}

/** Returns a participant's name as the object of a sentence. */
function whom(id: unknown, names: Names): string {
  return id === names.me ? 'you' : names(String(id));
}

function list(value: unknown, names: Names): string {
  const ids = Array.isArray(value) ? value : object(value)['targets'];
  return Array.isArray(ids) ? ids.map((id) => whom(id, names)).join(', ') : 'nobody';
}

function isOn(value: unknown): boolean {
  return value === true || object(value)['on'] !== false;
}

/** A phrase for each control, to follow its author's name. */
const CONTROLS: Record<string, (value: unknown, names: Names, currency: string) => string> = {
  invite: (value, names) => `invited ${whom(object(value)['participant_id'], names)}`,
  uninvite: (value, names) => `removed ${whom(object(value)['participant_id'], names)}`,
  mute: (value, names) => `muted ${list(value, names)}`,
  unmute: (value, names) => `unmuted ${list(value, names)}`,
  pause: (value) => (isOn(value) ? 'paused the conversation' : 'resumed the conversation'),
  resume: () => 'let the agents go on',
  discussion: (value) => (isOn(value) ? 'let agents name each other' : 'stopped agents from naming each other'),
  invited_auto: (value) =>
    isOn(value) ? 'let agents answer without being named' : 'made agents answer only when named',
  prod: (value, names) => `asked ${list(value, names)} for a reply`,
  policy: (value) =>
    `set who may speak to “${policyTitle(String(typeof value === 'string' ? value : object(value)['name']))}”`,
  config: (value) => configured(object(value)),
  budget: (value, _, currency) => `raised the budget${raised(object(value), currency)}`,
  bind: (value) => tied(value)?.bound ?? `connected ${target(value)}`,
  unbind: (value) => tied(value)?.unbound ?? `disconnected ${target(value)}`,
};

/**
 * Returns words for a place outside to which a conversation is bound. The key `chat:telegram:-100`
 * is a chat on Telegram.
 */
function target(value: unknown): string {
  const [kind, service] = String(value).split(':');
  if (kind === 'chat' && service) return `a chat on ${service[0]?.toUpperCase()}${service.slice(1)}`;
  return typeof value === 'string' && value !== '' ? `“${value}”` : 'another product';
}

/** Bindings whose keys mean nothing to people. */
const TIES = [
  { key: 'link:', bound: 'linked the agents', unbound: 'closed the link' },
  { key: 'gathering:', bound: 'made it a gathering', unbound: 'ended the gathering here' },
  { key: 'gathering-of:', bound: 'brought the members in', unbound: 'let the members go' },
];

function tied(value: unknown): (typeof TIES)[number] | undefined {
  return TIES.find(({ key }) => String(value).startsWith(key));
}

/**
 * Controls of one target. If an event has several, the plural key lists all of them and the
 * singular key holds only the first.
 */
const OF_ONE = ['invite', 'uninvite', 'bind', 'unbind'];

function changes(content: Content): [string, unknown][] {
  return Object.entries(content).flatMap(([key, value]): [string, unknown][] => {
    const one = OF_ONE.find((name) => key === `${name}s`);
    if (one && Array.isArray(value)) return value.map((item) => [one, item]);
    return `${key}s` in content ? [] : [[key, value]];
  });
}

function raised(content: Content, currency: string): string {
  const [turns, micros] = [Number(content['turns'] ?? 0), Number(content['cost_micros'] ?? 0)];
  const by = [
    turns > 0 ? `${count(turns, 'turn')} an hour` : '',
    micros > 0 ? `${cost(micros, currency)} a day` : '',
  ].filter(Boolean);
  const until = typeof content['until'] === 'string' ? `, until ${timeOf(content['until'])}` : '';
  return by.length > 0 ? ` by ${by.join(' and ')}${until}` : until;
}

function configured(patch: Content): string {
  const entries = Object.entries(patch);
  const said = entries.map(([key, value]) =>
    key === 'name' ? `who may speak to “${policyTitle(String(value))}”` : `${key} to ${String(value ?? 'automatic')}`,
  );
  return `set ${said.join(', ')}`;
}

function control(event: Envelope, names: Names, currency: string): string[] {
  const said = (key: string, value: unknown) => CONTROLS[key]?.(value, names, currency) ?? `changed “${key}”`;
  return changes(object(event.content)).map(([key, value]) => said(key, value));
}

/** Returns a phrase for each change that an event makes to the conversation itself. */
function arranged(event: Envelope, names: Names, currency: string): string[] {
  switch (event.type) {
    case 'control':
      return control(event, names, currency);
    case 'thread.created':
      return ['began the conversation'];
    case 'thread.renamed':
      return [`renamed the conversation to “${String(event.content)}”`];
    case 'thread.archived':
      return ['archived the conversation'];
    default:
      return ['reopened the conversation'];
  }
}

/** Joins phrases: “invited a”, “invited b” → “invited a, b”. */
function joined(deeds: readonly string[]): string {
  const said: string[] = [];
  for (const deed of deeds) {
    const last = said.at(-1);
    const name = /^invited (.+)$/.exec(deed)?.[1];
    if (deed === last) continue;
    if (name && last?.startsWith('invited ')) said[said.length - 1] = `${last}, ${name}`;
    else said.push(deed);
  }
  return said.join(' · ');
}

/** True if a guard holds the floor from this event on. */
export function isHold(event: Envelope): boolean {
  return event.type === 'notice' && object(event.content)['code'] === 'held';
}

function noticeLine(event: Envelope): Line {
  const content = object(event.content);
  const text = String(content['text'] ?? content['code'] ?? '');
  if (isHold(event)) return line(text, 'warn');
  const spent = spentOf(event);
  if (spent?.budget) return line(spentSentence(spent), 'warn');
  return line(text, ['stopped', 'over_budget'].includes(String(content['code'])) ? 'warn' : 'plain');
}

/** Describes words of a person who is not known to the server. Such a person can bear any name. */
function observationLine(event: Envelope): Line {
  const { shown_name: name, chat, redacted } = event.meta ?? {};
  const who = `${event.from} (“${name ?? ''}”, not paired)`;
  if (redacted) return line(`A message from ${who} was erased.`);
  return line(`${who} wrote in ${chat ?? 'a chat'}:`, 'plain', String(event.content));
}

function turnLine(event: Envelope, names: Names): Line {
  const content = object(event.content);
  const who = names(String(content['participant']));
  if (content['event'] === 'unkept') {
    return line(
      `The server held back ${count(Number(content['count']), 'more message')} from ${who}, and kept no copy.`,
    );
  }
  if (content['event'] !== 'kept') return line(`${who}: ${String(content['event'])}`);
  if (event.meta?.redacted) return line(`A held-back message from ${who} was erased.`);
  if (content['because'] === 'thought') return line(`${who} thought:`, 'plain', String(content['text'] ?? ''));
  const because = textOf(KEPT, String(content['because']));
  return {
    ...line(`The server held back a message from ${who}: ${because}.`, 'plain', String(content['text'] ?? '')),
    kept: true,
  };
}

function gatheringLine(events: readonly Envelope[], names: Names, breath: readonly number[]): Line {
  const steps = events.map(stepOf).filter((step) => step !== null);
  return line(steps.map((step) => stepSentence(step, names, breath)).join(' '));
}

/** Returns one line for an event, or for several events of one author. */
export function describe(
  events: readonly Envelope[],
  names: Names,
  currency = 'USD',
  breath: readonly number[] = [],
): Line {
  const event = events[0];
  if (!event) return line('');
  const who = names(event.from);
  switch (event.type) {
    case 'notice':
      return noticeLine(event);
    case 'observation':
      return observationLine(event);
    case 'turn':
      return turnLine(event, names);
    case 'gathering':
      return gatheringLine(events, names, breath);
    case 'control':
    case 'thread.created':
    case 'thread.renamed':
    case 'thread.archived':
    case 'thread.unarchived':
      return line(`${who} ${joined(events.flatMap((item) => arranged(item, names, currency)))}`);
    default:
      return line(`${who} sent “${event.type}”`, 'plain', JSON.stringify(event.content, null, 2));
  }
}
