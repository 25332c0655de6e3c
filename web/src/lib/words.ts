/** Words for people for the short words of the wire. */

export let ME = 'user';

/** Sets the id of the person who uses the page. Called before the page is first drawn. */
export function become(id: string): void {
  ME = id;
}
export const SERVER = 'moothall';

/** Reasons for asking an agent. */
export const WHY: Record<string, string> = {
  forced: 'addressed',
  polled: 'offered the floor',
  reaction: 'may react to another agent',
  round: 'its place in the round',
  piece: 'holds the piece',
  beat: 'a beat of the piece',
  link: 'linked',
  prod: 'asked by a person',
  outcome: 'hears what came of its request',
};

/** Reasons for asking an agent, once it has spoken. */
export const SPOKE_BECAUSE: Record<string, string> = {
  forced: 'was addressed',
  polled: 'volunteered',
  reaction: 'reacted to another agent',
  round: 'its place in the round',
  piece: 'held the piece',
  beat: 'a beat of the piece',
  link: 'linked',
  prod: 'asked by a person',
  outcome: 'heard what came of its request',
};

export const WHY_NOT: Record<string, string> = {
  passed: 'passed',
  capped: 'reply limit reached',
  cooled: 'spoke a moment ago',
  muted: 'muted',
  paused: 'paused',
  offline: 'offline',
  skipped: 'not asked this time',
  held: 'held by a guard',
  over_budget: 'budget used up',
  reads_only: 'reads only',
  queue_full: 'too many messages wait',
  round_over: 'the next message came first',
};

export const OUTCOME: Record<string, string> = {
  spoke: 'answered',
  passed: 'passed',
  failed: 'failed',
  expired: 'took too long',
  cancelled: 'stopped',
};

export const KEPT: Record<string, string> = {
  late: 'it came after its turn was over',
  muted: 'the agent was muted',
  paused: 'the conversation was paused',
  archived: 'the conversation was archived',
  uninvited: 'the agent was no longer invited',
  listening: 'it was only listening',
  no_piece: 'it did not hold the piece',
  capped: 'the reply limit was reached',
  unfinished: 'its turn failed before it was whole',
};

/** Words under a message that the model may not have finished. */
const ENDINGS: Record<string, string> = {
  length: 'Cut short: the model reached a limit of tokens.',
  filter: 'Cut short by a filter of the provider.',
  refusal: 'The model refused to go on.',
  tool: 'The model asked for a tool, and ended.',
  error: 'Cut short by an error of the provider.',
  cut: 'The connection broke off here.',
};

export function endingWords(meta: { ended?: string | null; thought?: boolean } | undefined): string | undefined {
  const thought = meta?.thought ? 'These are thoughts: the model said nothing else.' : undefined;
  const ended = meta?.ended ? ENDINGS[meta.ended] : undefined;
  return [thought, ended].filter(Boolean).join(' ') || undefined;
}

export interface PolicyText {
  name: string;
  title: string;
  text: string;
}

export const POLICIES: PolicyText[] = [
  {
    name: 'hybrid',
    title: 'Hybrid',
    text: 'Agents you mention must answer. The others are asked in order and may pass. Then each may react once to another agent.',
  },
  {
    name: 'mention_only',
    title: 'Mention only',
    text: 'Only agents you mention, or write to, answer. Everybody else stays quiet.',
  },
  {
    name: 'round_robin',
    title: 'Round robin',
    text: 'Each message asks every agent once, in turn, starting after the last speaker. They may pass.',
  },
  {
    name: 'open',
    title: 'Open',
    text: 'Whatever anybody says goes to everybody else at once. A guard stops endless exchanges.',
  },
];

const POLICY_TITLES = new Map([
  ...POLICIES.map((policy) => [policy.name, policy.title] as const),
  ['talking_piece', 'Talking piece'],
]);

export function policyTitle(name: string): string {
  return POLICY_TITLES.get(name) ?? name;
}

export const RUNTIMES: Record<string, string> = {
  script: 'scripted',
  command: 'command',
  llm: 'model',
  terminal: 'terminal',
  remote: 'remote',
};

export const GUARDS: Record<string, string> = {
  exchanges: 'Agents have said as much as they may without a person.',
  pair: 'Two agents answered each other too often within a minute.',
  repeat: 'The same words came again and again.',
  stopped: 'A person stopped the gathering.',
};

/** Returns a number with its noun. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** True if an id is a UUID. Programs give those, and people cannot read them as names. */
export function isUuid(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}
