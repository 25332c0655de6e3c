/** The wire, as `/openapi.json` describes it. Only what the page reads. */

export interface CauseRef {
  id: string;
  seq: number;
  from: string;
  depth: number;
}

export interface Fault {
  code: string;
  message: string;
}

export interface Meta {
  reply_to?: string;
  turn?: string;
  via?: string;
  tags?: string[];
  depth?: number;
  mentions?: string[];
  /** That `from` said it was a client's word, or a terminal's. */
  unproven?: boolean;
  /** The participant in whose terminal it was typed. */
  typed_at?: string;
  queued?: boolean;
  published?: number;
  /** Its words were erased. */
  redacted?: boolean;
  /** Somebody stopped it; the words are what there was until then. */
  stopped?: boolean;
  error?: Fault;
}

export interface Envelope {
  id: string;
  seq: number;
  ts: string;
  thread: string;
  type: string;
  from: string;
  to: string;
  content: unknown;
  meta?: Meta;
}

export interface Usage {
  seconds: number;
  input_tokens: number;
  output_tokens: number;
  cost_micros: number;
}

/** A budget: of turns in an hour, or of money in a day. */
export interface Budget {
  budget: string;
  whose?: string;
  measure: string;
  limit: number;
  spent: number;
  until: string;
}

/** A sum of what turns have cost. */
export interface UsageRow {
  agent?: string;
  turns: number;
  input_tokens: number;
  output_tokens: number;
  cost_micros: number;
}

/** What turns have cost: in all, and for each agent. */
export interface UsageAnswer {
  currency: string;
  total: UsageRow;
  rows: UsageRow[];
  budgets: Budget[];
}

export type TurnEvent =
  | {
      event: 'granted';
      turn: string;
      participant: string;
      why: string;
      kind: string;
      may_pass: boolean;
      cause: CauseRef;
      expires: string;
    }
  | { event: 'widened'; turn: string; why: string; kind: string; may_pass: boolean; cause: CauseRef }
  | { event: 'started'; turn: string; attempt: number; from_seq: number; through_seq: number; deadline: string }
  | { event: 'released'; turn: string }
  | { event: 'lost'; turn: string; attempt: number }
  | { event: 'ended'; turn: string; participant: string; attempt: number; outcome: string; fault?: Fault; usage: Usage }
  | { event: 'skipped'; participant: string; why_not: string; cause: CauseRef; detail?: string }
  | { event: 'kept'; participant: string; turn?: string; because: string; text: string }
  | { event: 'unkept'; participant: string; count: number; bytes: number; until?: string }
  | { event: 'summarised'; participant: string; turn: string; through_seq: number; usage: Usage; text: string }
  | { event: 'taken'; cause: CauseRef }
  | { event: 'round_opened'; cause: CauseRef; cap: number; forced: string[]; polled: string[] }
  | { event: 'reaction_opened'; forced: string[]; polled: string[] }
  | { event: 'round_closed' }
  | { event: 'round_reopened'; cause: CauseRef; reply: number }
  | { event: 'facts'; participant: string; runtime: string; known: boolean };

/** The content of events of type `permission`. */
export type PermissionEvent =
  | {
      event: 'requested';
      permission: string;
      /** Nothing where it belongs to no turn: an agent's wish to start a program, or what its program asks before it takes any words. */
      turn: string | null;
      participant: string;
      action: string;
      /** Whether that is all of it. */
      complete: boolean;
      options: PermissionOption[];
      /** Nothing where it waits for as long as it is asked. */
      expires: string | null;
      /** The folder in which it would be done. */
      folder?: string;
      /** The command with which to look at it on the server's computer. */
      look?: string;
    }
  | {
      event: 'answered';
      permission: string;
      by: string;
      option: string;
      label: string;
      /** Words of their own; empty where they were erased. */
      text?: string;
    }
  | { event: 'expired'; permission: string }
  | {
      /** What came of a wish to start a program. */
      event: 'settled';
      permission: string;
      outcome: 'started' | 'failed' | 'refused' | 'expired';
      /** The session that runs, and its name. */
      session?: string;
      name?: string;
      /** Why its first message did not reach it, where it did not. */
      unsaid?: string;
      why?: string;
      by?: string;
    }
  | { event: 'withdrawn'; permission: string; because: 'gone' | 'replaced' | 'not_given' };

/** One of the answers that a permission offers. */
export interface PermissionOption {
  id: string;
  label: string;
  kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always' | 'other';
  /** It is answered in words of one's own. */
  takes_text?: boolean;
}

export interface Profile {
  client?: string;
  model?: string;
  roles?: string[];
  nickname?: string;
  /** The session that takes part, by its id. */
  session?: string;
}

export interface Invited {
  id: string;
  profile: Profile;
  invited_by: string;
  invited_at: string;
  kind: 'human' | 'agent';
  runtime: string | null;
  known: boolean;
  color: number;
}

export interface OpenTurn {
  id: string;
  participant: string;
  why: string;
  cause: CauseRef;
  may_pass: boolean;
  attempt: number;
  state: 'waiting' | 'running';
  granted_at: string;
  works_since?: string;
  deadline: string;
}

export type PolicyName = 'hybrid' | 'mention_only' | 'round_robin' | 'open' | 'talking_piece';

export interface Policy {
  name: PolicyName;
  [key: string]: number | string | boolean | null;
}

/** A permission of no turn that waits for an answer, and the place of the event that asks. */
export interface AskedRef {
  permission: string;
  seq: number;
  participant: string;
}

export interface ThreadState {
  paused: boolean;
  archived: boolean;
  held: string | null;
  muted: string[];
  discussion: { on: boolean; allow_agent_mentions: boolean };
  invited_auto: { on: boolean };
  policy: Policy;
  participants: { invited: Invited[] };
  queue: CauseRef[];
  turns: OpenTurn[];
  upcoming: { participant: string; forced: boolean }[];
  replies: number;
  replies_max: number;
  /** Wishes to start a program. */
  starts: AskedRef[];
  /** What agents' programs ask in no turn. */
  questions: AskedRef[];
}

export interface StateAnswer {
  thread: string;
  name: string;
  head: number;
  state: ThreadState;
}

export interface ThreadEntry {
  id: string;
  name: string;
  created_at: string;
  updated_at: string;
  head: number;
  archived: boolean;
  policy: string;
  /** How much waits there for a person; nothing where an earlier version of the server wrote to it last. */
  waits_for_people?: number | null;
  /** How far whoever asked has read it, and how many messages of others came after that; 100 stands for more. */
  read?: number | null;
  unread?: number | null;
}

/** A notification: something came in a thread. */
export interface Bell {
  thread: string;
  head: number;
  waits_for_people: number;
}

/** Answer of `PUT /threads/{id}/read`. */
export interface ReadMark {
  read: number;
  unread: number;
}

/** Answer of `DELETE /threads/{id}`. */
export interface ThreadDeleted {
  deleted: boolean;
  /** Whether nothing of it is left in the data folder yet. */
  erased: boolean;
  /** What still holds it, in a sentence for people. */
  backups: string;
}

export interface EventPage {
  events: Envelope[];
  count: number;
  through: number;
  head: number;
}

export interface Accepted {
  received: boolean;
  event: Envelope | null;
  warnings?: string[];
  join?: { participant: string; prompt: string; command: string };
}

export interface PresenceEntry {
  id: string;
  state: string;
  updated_at: string;
  stale: boolean;
  details?: Record<string, unknown> | null;
}

export interface PresenceUpdate {
  thread: string;
  participant: string;
  state: string;
  updated_at: string;
  details?: Record<string, unknown>;
}

export interface AgentEntry {
  client: string;
  summary: string;
  runtime: string;
  origin: string;
  /** The user that its programs run as, where it is not the server's own. */
  run_as?: string;
  timeout_seconds: number;
  profile: Profile;
}

export interface TurnEntry {
  id: string | null;
  participant: string;
  cause: CauseRef;
  message: string | null;
  why: string | null;
  why_not: string | null;
  detail: string | null;
  may_pass: boolean;
  outcome: string | null;
  fault: Fault | null;
  usage: Usage | null;
  attempt: number;
  reply: string | null;
  granted_at: string;
  started_at: string | null;
  ended_at: string | null;
}

export interface Delta {
  turn: string;
  attempt: number;
  participant: string;
  offset: number;
  text: string;
}

export interface Progress {
  turn: string;
  participant: string;
  text: string;
}

export interface SessionEntry {
  /** Also that of its home, the thread of what is said to it alone. */
  id: string;
  name: string;
  client: string;
  state: string;
  waiting: number;
  cwd: string;
  origin: string;
  computer?: string;
  started_at: string;
  ended?: { at: string; why: string };
}

export interface ProgramEntry {
  client: string;
  summary: string;
}

/** What a terminal shows. */
export interface ScreenEntry {
  session: string;
  state: string;
  text: string;
  composer?: string;
  dialog?: { action: string; complete: boolean; options: PermissionOption[] };
}

export interface LinkMember {
  session: string;
  name: string;
  number?: number;
  role?: string;
}

export interface LinkEntry {
  id: string;
  title: string;
  active: boolean;
  created_at: string;
  members: LinkMember[];
}

/** A member of a link that is to be made. */
export interface NewLinkMember {
  session: string;
  number?: number;
  role?: string;
}
