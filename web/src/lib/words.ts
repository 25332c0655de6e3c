/**
 * Texts for the words of the wire. The keys come from the server's enums (`wire.ts`), so the page
 * does not compile if the server has a word without a text here.
 */

import type { Ending, Guard, KeptBecause, Outcome, PolicyName, TurnReason, WhyNot } from './wire';

export const SERVER = 'moothall';

/**
 * Returns the text for a word of the wire. A newer server may send a word that this page does not
 * know; it is then shown itself.
 */
export function textOf<Word extends string>(texts: Record<Word, string>, word: string): string {
  return Object.hasOwn(texts, word) ? texts[word as Word] : word;
}

/** Reasons for asking an agent. */
export const WHY: Record<TurnReason, string> = {
  forced: 'named',
  polled: 'asked, could pass',
  reaction: 'could reply to another agent',
  round: 'its place in the round',
  piece: 'has the piece',
  beat: 'still has the piece',
  link: 'hears it over the link',
  prod: 'a person asked for a reply',
  outcome: 'told the outcome of its request',
  hosted: 'asked from another computer',
};

/** Reasons for the turns of agents that spoke, if the cause is not known. */
const SPOKE_BECAUSE: Record<TurnReason, string> = {
  forced: 'was named',
  polled: 'volunteered',
  reaction: 'replied to another agent',
  round: 'had its place in the round',
  piece: 'had the piece',
  beat: 'still had the piece',
  link: 'heard it over the link',
  prod: 'a person asked for a reply',
  outcome: 'was told the outcome of its request',
  hosted: 'was asked from another computer',
};

/**
 * Returns the reason for the turn of an agent that spoke. `cause` is the speaker that it answers;
 * `me` is the reader's id.
 */
export function spokeBecause(why: string, cause: { id: string; name: string } | null, me: string): string {
  if (cause && why === 'forced') return cause.id === me ? 'you named it' : `${cause.name} named it`;
  if (cause && why === 'reaction') return cause.id === me ? 'replied to you' : `replied to ${cause.name}`;
  return textOf(SPOKE_BECAUSE, why);
}

export const WHY_NOT: Record<WhyNot, string> = {
  passed: 'passed',
  capped: 'not asked (limit of replies reached)',
  cooled: 'not asked (spoke a moment ago)',
  muted: 'muted',
  paused: 'paused',
  offline: 'offline',
  skipped: 'not asked this time',
  held: 'held by a guard',
  over_budget: 'not asked (budget used up)',
  reads_only: 'only reads',
  ended: 'not asked (its session has ended)',
  queue_full: 'not asked (too many messages wait)',
  round_over: 'not asked (the next message came first)',
};

const OUTCOME: Record<Outcome, string> = {
  spoke: 'answered',
  passed: 'passed',
  failed: 'failed',
  expired: 'took too long',
  cancelled: 'stopped',
};

/** Returns the text for a turn's outcome, or for the reason why an agent was not asked. */
export function resultOf(word: string): string {
  return textOf({ ...WHY_NOT, ...OUTCOME }, word);
}

export const KEPT: Record<KeptBecause, string> = {
  late: 'it came after its turn was over',
  muted: 'the agent was muted',
  paused: 'the conversation was paused',
  archived: 'the conversation was archived',
  uninvited: 'the agent was no longer invited',
  listening: 'the agent was only listening',
  no_piece: 'the agent did not have the piece',
  capped: 'the limit of replies was reached',
  stopped: 'a person stopped the turn',
  held: 'a guard held the conversation',
  after_stop: 'a person stopped the conversation',
  thought: 'they are thoughts',
  unfinished: 'the turn failed before the answer was complete',
};

/** Texts under a message that the model may not have finished. */
const ENDINGS: Record<Exclude<Ending, 'stop'>, string> = {
  length: 'Cut short: the model reached its limit of tokens.',
  filter: 'Cut short by a filter of the provider.',
  refusal: 'The model refused to go on.',
  tool: 'The model asked for a tool and stopped.',
  error: 'Cut short by an error of the provider.',
  cut: 'The connection broke off here.',
};

export function endingWords(meta: { ended?: string | null; thought?: boolean } | undefined): string | undefined {
  const thought = meta?.thought ? 'These are the model’s thoughts. It said nothing else.' : undefined;
  const ended = meta?.ended && Object.hasOwn(ENDINGS, meta.ended) ? textOf(ENDINGS, meta.ended) : undefined;
  return [thought, ended].filter(Boolean).join(' ') || undefined;
}

interface PolicyText {
  title: string;
  text: string;
}

const POLICY: Record<PolicyName, PolicyText> = {
  hybrid: {
    title: 'Named first, others may',
    text: 'The agents you name answer. The others may answer or pass, then reply to each other once.',
  },
  mention_only: {
    title: 'Only when named',
    text: 'Only the agents that you name or write to answer. The others stay quiet.',
  },
  round_robin: {
    title: 'Everyone in turn',
    text: 'Each message goes to every agent in turn, starting after the last speaker. Agents may pass.',
  },
  open: {
    title: 'Everyone at once',
    text: 'Every message goes to everyone else at once. A guard stops endless exchanges.',
  },
  talking_piece: {
    title: 'Talking circle',
    text: 'Only the holder of the talking piece speaks.',
  },
};

/** The policies that people can choose. Gatherings bring their own. */
export const POLICIES = (['hybrid', 'mention_only', 'round_robin', 'open'] as const).map((name) => ({
  name,
  ...POLICY[name],
}));

export function policyTitle(name: string): string {
  return Object.hasOwn(POLICY, name) ? POLICY[name as PolicyName].title : name;
}

export const RUNTIMES: Record<string, string> = {
  script: 'scripted',
  command: 'command',
  llm: 'model',
  terminal: 'terminal',
  remote: 'remote',
};

const GUARDS: Record<Guard, string> = {
  exchanges: 'The agents reached their limit of replies without you. Let them go on?',
  pair: 'Two agents answered each other too often within a minute. Let them go on?',
  repeat: 'The agents repeat the same words. Let them go on?',
  stopped: 'The gathering is stopped. Let it go on?',
};

/** Returns the question about a guard's hold. `limit` is the number of replies without a person. */
export function guardQuestion(guard: string, limit?: number): string {
  if (guard === 'exchanges' && limit) return `${count(limit, 'reply', 'replies')} without you. Let them go on?`;
  return Object.hasOwn(GUARDS, guard) ? GUARDS[guard as Guard] : 'A guard stopped the agents. Let them go on?';
}

/** Returns the words of a failure, which the server writes in brackets: `ann failed`. */
export function failureWords(text: string): string {
  const words = /^\[(.+)\]$/s.exec(text)?.[1];
  // Logs of earlier versions hold the longer form.
  return words === undefined ? text : words.replace(/ encountered an error$/, ' failed');
}

/** Returns a number with its noun. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** True if an id is a UUID. Programs give those, and people cannot read them as names. */
export function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}
