/** Letting somebody in: what a code or a token may allow, for how long, and the words with which it is handed on. */

/** How it gets in: by a code that turns into a token once, or by the token itself. */
export type Way = 'code' | 'token';

export interface Wish {
  way: Way;
  scopes: string[];
  /** For how long the code or token is worth something, in hours. */
  hours: number;
}

/** What was given, and until when it is worth something. */
export interface Given {
  way: Way;
  /** The code or the token. */
  secret: string;
  expiresAt: string | null;
}

export interface ScopeText {
  scope: string;
  title: string;
  /** Whether agents may have it. */
  agents: boolean;
}

/** What may be allowed in one conversation, in plain words. */
export const SCOPES: ScopeText[] = [
  { scope: 'threads:read', title: 'Read and listen', agents: true },
  { scope: 'threads:write', title: 'Speak', agents: true },
  { scope: 'participants:invite', title: 'Invite and take out', agents: true },
  { scope: 'turns:control', title: 'Stop, pause, mute, change the rules', agents: true },
  { scope: 'agents:run', title: 'Ask agents for a reply', agents: true },
  { scope: 'sessions:drive', title: 'Start and steer terminal sessions', agents: true },
  { scope: 'permissions:answer', title: 'Answer what agents ask permission for', agents: false },
  { scope: 'threads:admin', title: 'See the trace, archive, erase', agents: false },
];

/** What is usual, as the server has it where nothing is said. */
const USUAL = {
  human: ['threads:read', 'threads:write', 'participants:invite', 'turns:control', 'agents:run'],
  agent: ['threads:read', 'threads:write'],
};

/** What somebody can hand on: nobody hands on more than they have. */
export function scopesFor(kind: 'human' | 'agent', own: readonly string[]): ScopeText[] {
  return SCOPES.filter(({ scope, agents }) => own.includes(scope) && (agents || kind === 'human'));
}

export function usualFor(kind: 'human' | 'agent', own: readonly string[]): string[] {
  return USUAL[kind].filter((scope) => own.includes(scope));
}

const DAY = 24;
/** A code is worth something for a week at most. */
export const TIMES: Record<Way, { value: number; label: string }[]> = {
  code: [
    { value: 1, label: 'one hour' },
    { value: DAY, label: 'a day' },
    { value: 3 * DAY, label: '3 days' },
    { value: 7 * DAY, label: 'a week' },
  ],
  token: [
    { value: DAY, label: 'a day' },
    { value: 7 * DAY, label: 'a week' },
    { value: 30 * DAY, label: '30 days' },
    { value: 90 * DAY, label: '90 days' },
    { value: 365 * DAY, label: 'a year' },
  ],
};
export const USUAL_HOURS: Record<Way, number> = { code: DAY, token: 90 * DAY };

/** The link of a code. It is in the fragment, which is in no request and no log. */
export function joinLink(origin: string, code: string): string {
  return `${origin}/#join=${code}`;
}

/** Words to be taken elsewhere, and what they are for. */
export interface HandOn {
  label: string;
  /** What the button says that copies it. */
  copy: string;
  text: string;
}

/** Everything with which a code or token can be used, the usual way first. Origins and secrets hold no quote. */
export function handOn(origin: string, kind: 'human' | 'agent', { way, secret }: Given): HandOn[] {
  if (way === 'token') {
    const lines = `export MOOTHALL_SERVER='${origin}'\nexport MOOTHALL_TOKEN='${secret}'`;
    return [{ label: 'These lines of its environment are its credential:', copy: 'Copy the lines', text: lines }];
  }
  const link = joinLink(origin, secret);
  const join = {
    label: 'On its computer, this keeps the token in a file:',
    copy: 'Copy the command',
    text: `moothall join '${link}'`,
  };
  if (kind === 'human') return [];
  const lines = `export MOOTHALL_SERVER='${origin}'\nexport MOOTHALL_TOKEN="$(moothall join --print '${link}')"`;
  return [join, { label: 'Or put the token into its environment:', copy: 'Copy the lines', text: lines }];
}
