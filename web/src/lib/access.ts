/**
 * Access for another person or agent: what a code or token allows, for how long it is valid, and
 * the texts with which it is handed on.
 */

/** Kind of credential: a code that turns into a token once, or the token itself. */
export type Way = 'code' | 'token';

export interface Wish {
  way: Way;
  scopes: string[];
  /** Validity of the code or token, in hours. */
  hours: number;
}

/** An issued code or token. */
export interface Given {
  way: Way;
  /** The code or the token. */
  secret: string;
  expiresAt: string | null;
}

export interface ScopeText {
  scope: string;
  title: string;
  /** True if agents may have the scope. */
  agents: boolean;
}

/** The scopes that can be granted in one conversation, in plain words. */
export const SCOPES: ScopeText[] = [
  { scope: 'threads:read', title: 'Read and listen', agents: true },
  { scope: 'threads:write', title: 'Speak', agents: true },
  { scope: 'participants:invite', title: 'Invite and remove', agents: true },
  { scope: 'turns:control', title: 'Stop, pause, mute, change the rules', agents: true },
  { scope: 'agents:run', title: 'Ask agents for a reply', agents: true },
  { scope: 'sessions:drive', title: 'Start agents in terminals, and type there', agents: true },
  { scope: 'permissions:answer', title: 'Answer permission requests', agents: false },
  { scope: 'threads:admin', title: 'See what was held back, archive, erase', agents: false },
];

/** The default scopes, the same as on the server. */
const USUAL = {
  human: ['threads:read', 'threads:write', 'participants:invite', 'turns:control', 'agents:run'],
  agent: ['threads:read', 'threads:write'],
};

/** Returns the scopes that can be granted: only scopes that the person has. */
export function scopesFor(kind: 'human' | 'agent', own: readonly string[]): ScopeText[] {
  return SCOPES.filter(({ scope, agents }) => own.includes(scope) && (agents || kind === 'human'));
}

export function usualFor(kind: 'human' | 'agent', own: readonly string[]): string[] {
  return USUAL[kind].filter((scope) => own.includes(scope));
}

const DAY = 24;
/** The validities on offer. A code is valid for at most a week. */
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

/**
 * Returns the link of a code. The code is in the fragment, which browsers send to no server, so it
 * is in no log.
 */
export function joinLink(origin: string, code: string): string {
  return `${origin}/#join=${code}`;
}

/** A text to copy, and its purpose. */
export interface HandOn {
  label: string;
  /** Label of the copy button. */
  copy: string;
  text: string;
}

/**
 * Returns the texts with which a code or token can be used, the usual one first. Origins and
 * secrets contain no quotes.
 */
export function handOn(origin: string, kind: 'human' | 'agent', { way, secret }: Given): HandOn[] {
  if (way === 'token') {
    const lines = `export MOOTHALL_SERVER='${origin}'\nexport MOOTHALL_TOKEN='${secret}'`;
    return [{ label: 'Put these lines into its environment:', copy: 'Copy the lines', text: lines }];
  }
  const link = joinLink(origin, secret);
  const join = {
    label: 'Run this on its computer. It keeps the token in a file:',
    copy: 'Copy the command',
    text: `moothall join '${link}'`,
  };
  if (kind === 'human') return [];
  const lines = `export MOOTHALL_SERVER='${origin}'\nexport MOOTHALL_TOKEN="$(moothall join --print '${link}')"`;
  return [join, { label: 'Or put the token into its environment:', copy: 'Copy the lines', text: lines }];
}
