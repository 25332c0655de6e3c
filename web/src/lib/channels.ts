/** Words for chats of other products: their names and states, bots, accounts, and the way of each message. */

import { cost } from './time';
import type { BotEntry, ChatEntry, DeliveryEntry } from './types';
import { count } from './words';

/** The scopes that a paired account can have, in plain words. */
export const ACCOUNT_SCOPES = [
  { scope: 'threads:admin', title: 'Open groups, bind and unbind chats' },
  { scope: 'permissions:answer', title: 'Answer questions of agents, with buttons' },
  { scope: 'turns:control', title: 'Stop, pause and mute agents, change the rules' },
  { scope: 'participants:invite', title: 'Invite and remove agents' },
];
/** The scopes that every account has. */
export const ACCOUNT_USUAL = 'Read and write';

/** Returns what an account may do, as words. */
export function accountWords(scopes: readonly string[]): string {
  const more = ACCOUNT_SCOPES.filter(({ scope }) => scopes.includes(scope)).map(({ title }) => title.toLowerCase());
  return [ACCOUNT_USUAL, ...more].join(' · ');
}

/** Returns the name of a product: `telegram:-100` is a chat of Telegram. */
export function productOf(key: string): string {
  const name = key.split(':')[0] ?? '';
  return `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;
}

/** Returns the name of a chat for people. A talk with one agent has no title of its own. */
export function chatName(key: string, chat?: ChatEntry): string {
  const [, with_] = key.split('@');
  if (with_) return chat?.title ? `${chat.title}, with ${with_} alone` : `the private chat with ${with_}`;
  return chat?.title || key;
}

/** The state of a bound chat in one word, and if it needs a person. */
export interface ChatStanding {
  word: string;
  /** True if a person has to do something. */
  bad: boolean;
}

export function chatStanding(chat: ChatEntry | undefined): ChatStanding {
  if (!chat) return { word: 'unknown', bad: false };
  if (chat.state === 'waiting') return { word: 'waits', bad: false };
  if (chat.state === 'away') return { word: 'away', bad: true };
  if (chat.agents.length === 0) return { word: 'bound', bad: false };
  const deaf = chat.agents.every((agent) => chat.deaf.includes(agent));
  return deaf ? { word: 'deaf', bad: true } : { word: 'hearing', bad: false };
}

/** Returns sentences about the bots of a chat: which are there, and which hear only a part. */
export function chatHearing(chat: ChatEntry): string[] {
  if (chat.state === 'waiting') return [];
  if (chat.agents.length === 0 && chat.state !== 'away')
    return ['Nothing arrived from there since the server started, so its bots are not known yet.'];
  const said: string[] = [];
  if (chat.agents.length === 1) said.push(`The bot of ${chat.agents[0]} is there.`);
  else if (chat.agents.length > 1) said.push(`The bots of ${chat.agents.join(', ')} are there.`);
  if (chat.deaf.length > 0 && chat.deaf.length < chat.agents.length)
    said.push(`${chat.deaf.join(', ')} ${chat.deaf.length === 1 ? 'hears' : 'hear'} only commands and replies.`);
  return said;
}

/** Returns the work with a chat: messages on the way, today's turns and their cost, and dropped words. */
export function chatWork(chat: ChatEntry, currency: string): string {
  return [
    chat.owed > 0 ? `${count(chat.owed, 'message')} on the way` : '',
    chat.turns_today > 0 ? `${count(chat.turns_today, 'turn')} today` : '',
    chat.cost_today_micros > 0 ? `${cost(chat.cost_today_micros, currency)} today` : '',
    chat.dropped > 0 ? `${count(chat.dropped, 'message')} of people who are not paired dropped` : '',
  ]
    .filter(Boolean)
    .join(' · ');
}

const BOT_STATES: Record<string, string> = {
  starting: 'connecting',
  hearing: 'hearing',
  doubled: 'doubled',
  foreign: 'stopped',
  revoked: 'token refused',
  unreachable: 'unreachable',
  stopped: 'stopped',
};

export function botState(bot: BotEntry): ChatStanding {
  return { word: BOT_STATES[bot.state] ?? bot.state, bad: bot.cure != null };
}

/** Time after which a message that is still on its way is worth a word. */
const LATE_MS = 10_000;

/**
 * The way of one message from or to one chat. Marks that are `late` or `bad` are always shown, the
 * others on request.
 */
export interface Mark {
  id: number;
  tone: 'came' | 'done' | 'open' | 'late' | 'bad';
  text: string;
  /** True if a person can send it again. */
  again: boolean;
}

/** Returns the way of a message to a chat. `age` is the time since it was written, in milliseconds. */
export function markOf({ id, state, why }: DeliveryEntry, name: string, age: number): Mark {
  const because = why ? `: ${why.replace(/\.$/, '')}` : '';
  const mark = (tone: Mark['tone'], text: string): Mark => ({ id, tone, text, again: tone === 'bad' });
  if (state === 'done') return mark('done', `Sent to ${name}${because}.`);
  if (state === 'unknown') return mark('bad', `It may not have arrived in ${name}${because}.`);
  if (state === 'failed') return mark('bad', `Not sent to ${name}${because}.`);
  return mark(because !== '' || age > LATE_MS ? 'late' : 'open', `On its way to ${name}${because}.`);
}
