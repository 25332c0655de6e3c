/**
 * Turns events into the rows that people read. Appending is incremental; loading older events
 * rebuilds the rows.
 *
 * The rows explain past events and decide nothing. Who may speak is the server's decision.
 */

import { isQuiet, isShownByRing } from './gathering';
import { dayKey } from './time';
import { Permissions, type Permission } from './permissions';
import { isOfPerson } from './standing-for';
import type { CauseRef, Envelope, Fault, PermissionEvent, TurnEvent, Usage } from './types';
import { SERVER } from './words';

/** A turn, as far as the loaded events tell. */
export interface TurnInfo {
  id: string;
  participant: string;
  why: string | null;
  startedAt: string | null;
  /**
   * The deadline as set at the start. The server moves it by the time in which the clock is paused.
   */
  deadline: string | null;
  endedAt: string | null;
  outcome: string | null;
  fault: Fault | null;
  usage: Usage | null;
}

/** The result of one agent for one human message. */
export interface Verdict {
  participant: string;
  /** An outcome, or the reason why the agent was not asked. */
  word: string;
}

export type Row =
  | { kind: 'day'; key: string; ts: string }
  | {
      kind: 'message';
      key: string;
      event: Envelope;
      grouped: boolean;
      turn: TurnInfo | null;
      verdicts: Verdict[];
      root: string | null;
      /** True if the message was queued and a stop dropped it. */
      dropped: boolean;
      /** True if an agent was asked about the message, or was left out for a reason. */
      asked: boolean;
    }
  | { kind: 'permission'; key: string; event: Envelope; permission: Permission }
  /** `event` is the first of `events`, which one author made one after the other. */
  | { kind: 'line'; key: string; event: Envelope; events: Envelope[] };

type MessageRow = Extract<Row, { kind: 'message' }>;

/**
 * The best word comes first and hides worse ones: an agent that spoke and was later cooled, spoke.
 */
const RANK = [
  'spoke',
  'failed',
  'expired',
  'cancelled',
  'passed',
  'capped',
  'over_budget',
  'muted',
  'offline',
  'paused',
  'held',
  'cooled',
  'skipped',
];
const GROUP_MS = 5 * 60_000;

/** Turn events shown only in the line of their turn. */
const QUIET_TURN_EVENTS = new Set([
  'granted',
  'widened',
  'started',
  'ended',
  'skipped',
  'taken',
  'round_opened',
  'reaction_opened',
  'round_closed',
  'round_reopened',
  'released',
  'lost',
  'facts',
]);

/**
 * True if a turn event makes no line. Words of an agent that only listens stay in the trace, to
 * avoid a line after each contribution.
 */
function isQuietTurn(content: TurnEvent): boolean {
  return QUIET_TURN_EVENTS.has(content.event) || (content.event === 'kept' && content.because === 'listening');
}

export class Timeline {
  rows: Row[] = [];
  #turns = new Map<string, TurnInfo>();
  #rowOfTurn = new Map<string, number>();
  #rowOfSeq = new Map<number, number>();
  #rootOfSeq = new Map<number, number>();
  #rootOfTurn = new Map<string, number>();
  #verdicts = new Map<number, Map<string, string>>();
  /** Positions of messages that wait until earlier ones are answered. */
  #queued = new Set<number>();
  #ids = new Map<string, Envelope>();
  #permissions = new Permissions();
  /**
   * Per turn: its open requests, the time at which its clock was paused, and the paused time before
   * that.
   */
  #stood = new Map<string, { open: Set<string>; since: number; ms: number }>();
  #rowOfPermission = new Map<string, number>();
  #keys: (event: Envelope) => string;
  #last: Envelope | null = null;

  constructor(keys: (event: Envelope) => string = (event) => event.id) {
    this.#keys = keys;
  }

  /** Returns an event by its id, if it was loaded. */
  find(id: string): Envelope | undefined {
    return this.#ids.get(id);
  }

  turn(id: string): TurnInfo | undefined {
    return this.#turns.get(id);
  }

  /** Returns the requests that wait for a person's answer, oldest first. */
  waiting(): Permission[] {
    return this.#permissions.waiting((turn) => this.#turns.get(turn)?.outcome != null);
  }

  /** Returns the index of the first row at or after a position; -1 if there is none. */
  indexAt(seq: number): number {
    return this.rows.findIndex((row) => row.kind !== 'day' && row.event.seq >= seq);
  }

  append(events: readonly Envelope[]): void {
    this.rows = this.rows.slice();
    events.forEach((event) => this.#take(event));
  }

  /** Returns the row of the person's message to which the event at a position goes back. */
  rootRow(seq: number): MessageRow | undefined {
    const root = this.#rootOfSeq.get(seq);
    const row = root === undefined ? undefined : this.rows[this.#rowOfSeq.get(root) ?? -1];
    return row?.kind === 'message' ? row : undefined;
  }

  #take(event: Envelope): void {
    this.#ids.set(event.id, event);
    if (event.type === 'notice') this.#stopped(event);
    if (event.type === 'turn') {
      const content = event.content as TurnEvent | null;
      if (content && typeof content === 'object') this.#turn(content, event);
      if (content && isQuietTurn(content)) return;
    }
    if (event.type === 'permission') return this.#permission(event);
    if (isHidden(event)) return;
    this.#day(event);
    if (event.type === 'message') this.#message(event);
    else this.#line(event);
    this.#last = event;
  }

  #day(event: Envelope): void {
    if (this.#last && dayKey(this.#last.ts) === dayKey(event.ts)) return;
    this.rows.push({ kind: 'day', key: `day:${dayKey(event.ts)}`, ts: event.ts });
    this.#last = null;
  }

  /** Adds an event as a line. Changes that one author makes within 5 minutes share a line. */
  #line(event: Envelope): void {
    const before = this.rows.at(-1);
    const joins =
      before?.kind === 'line' && isArranging(before.event) && isArranging(event) && before.event.from === event.from;
    const isSoon = joins && Date.parse(event.ts) - Date.parse(before.event.ts) < GROUP_MS;
    if (before?.kind === 'line' && isSoon) {
      this.rows[this.rows.length - 1] = { ...before, events: [...before.events, event] };
    } else {
      this.rows.push({ kind: 'line', key: this.#keys(event), event, events: [event] });
    }
  }

  /** Pauses the clock of a turn while a request is open in it. */
  #stand({ id, turn, end }: Permission, at: number): void {
    if (turn === null) return;
    const stood = this.#stood.get(turn) ?? { open: new Set<string>(), since: 0, ms: 0 };
    this.#stood.set(turn, stood);
    if (end === null) {
      if (stood.open.size === 0) stood.since = at;
      stood.open.add(id);
    } else if (stood.open.delete(id) && stood.open.size === 0) stood.ms += at - stood.since;
  }

  /** Returns the time for which a turn waited for answers, in milliseconds. */
  stoodMs(turn: string): number {
    return this.#stood.get(turn)?.ms ?? 0;
  }

  /** Shows the event in the row of its request. An event whose request is not loaded has no row. */
  #permission(event: Envelope): void {
    const permission = this.#permissions.take(event.content as PermissionEvent | null);
    if (!permission) return;
    this.#stand(permission, Date.parse(event.ts));
    const index = this.#rowOfPermission.get(permission.id);
    const row = index === undefined ? undefined : this.rows[index];
    if (index !== undefined && row?.kind === 'permission') {
      this.rows[index] = { ...row, permission };
    } else {
      this.#day(event);
      this.#rowOfPermission.set(permission.id, this.rows.length);
      this.rows.push({ kind: 'permission', key: this.#keys(event), event, permission });
      this.#last = event;
    }
  }

  #message(event: Envelope): void {
    const turn = event.meta?.turn;
    const root = this.#root(event);
    if (root !== null) this.#rootOfSeq.set(event.seq, root);
    const row: MessageRow = {
      kind: 'message',
      // The first message of a turn takes over the key under which the reply was streamed. Later
      // ones have their own.
      key: turn && !this.#rowOfTurn.has(turn) ? turn : this.#keys(event),
      event,
      grouped: this.#isGrouped(event),
      turn: (turn && this.#turns.get(turn)) || null,
      verdicts: [],
      root: root === event.seq ? event.id : this.#idOfSeq(root),
      dropped: false,
      asked: false,
    };
    if (event.meta?.queued) this.#queued.add(event.seq);
    this.#rowOfSeq.set(event.seq, this.rows.length);
    if (turn && !this.#rowOfTurn.has(turn)) this.#rowOfTurn.set(turn, this.rows.length);
    this.rows.push(row);
  }

  /** Marks queued messages as dropped if the event stopped everything. */
  #stopped(event: Envelope): void {
    if ((event.content as { code?: string } | null)?.code !== 'stopped') return;
    this.#queued.forEach((seq) => this.#replace(this.#rowOfSeq.get(seq), (row) => ({ ...row, dropped: true })));
    this.#queued.clear();
  }

  #idOfSeq(seq: number | null): string | null {
    const index = seq === null ? undefined : this.#rowOfSeq.get(seq);
    const row = index === undefined ? undefined : this.rows[index];
    return row?.kind === 'message' ? row.event.id : null;
  }

  /** Returns the position of the human message behind a message: its own, or that of its cause. */
  #root(event: Envelope): number | null {
    if (isOfPerson(event)) return event.seq;
    const cause = event.meta?.reply_to ? this.#ids.get(event.meta.reply_to) : undefined;
    return cause ? (this.#rootOfSeq.get(cause.seq) ?? null) : null;
  }

  #isGrouped(event: Envelope): boolean {
    const before = this.#last;
    if (!before || before.type !== 'message' || before.from !== event.from || event.from === SERVER) return false;
    if (before.to !== event.to || event.meta?.reply_to || before.meta?.turn) return false;
    if (before.meta?.unproven !== event.meta?.unproven || before.meta?.typed_at !== event.meta?.typed_at) return false;
    return Date.parse(event.ts) - Date.parse(before.ts) < GROUP_MS;
  }

  #turn(content: TurnEvent, event: Envelope): void {
    switch (content.event) {
      case 'taken':
      case 'round_opened':
        this.#queued.delete(content.cause.seq);
        break;
      case 'granted':
        this.#queued.delete(content.cause.seq);
        this.#asked(content.cause);
        this.#rootOf(content.turn, content.cause);
        this.#change(content.turn, { participant: content.participant, why: content.why });
        break;
      case 'widened':
        this.#asked(content.cause);
        this.#rootOf(content.turn, content.cause);
        this.#change(content.turn, { why: content.why });
        break;
      case 'started':
        this.#stood.delete(content.turn);
        this.#change(content.turn, { startedAt: event.ts, deadline: content.deadline });
        break;
      case 'ended':
        this.#change(content.turn, {
          participant: content.participant,
          endedAt: event.ts,
          outcome: content.outcome,
          fault: content.fault ?? null,
          usage: content.usage,
        });
        this.#judge(this.#rootOfTurn.get(content.turn) ?? null, content.participant, content.outcome);
        break;
      case 'skipped':
        this.#asked(content.cause);
        this.#judge(this.#rootOfSeq.get(content.cause.seq) ?? null, content.participant, content.why_not);
        break;
    }
  }

  #asked({ seq }: CauseRef): void {
    this.#replace(this.#rowOfSeq.get(seq), (row) => (row.asked ? row : { ...row, asked: true }));
  }

  #rootOf(turn: string, cause: CauseRef): void {
    const root = this.#rootOfSeq.get(cause.seq);
    if (root !== undefined) this.#rootOfTurn.set(turn, root);
  }

  #change(id: string, change: globalThis.Partial<TurnInfo>): void {
    const none: TurnInfo = {
      id,
      participant: '',
      why: null,
      startedAt: null,
      deadline: null,
      endedAt: null,
      outcome: null,
      fault: null,
      usage: null,
    };
    const turn = { ...(this.#turns.get(id) ?? none), ...change };
    this.#turns.set(id, turn);
    this.#replace(this.#rowOfTurn.get(id), (row) => ({ ...row, turn }));
  }

  #judge(root: number | null, participant: string, word: string): void {
    if (root === null) return;
    const verdicts = this.#verdicts.get(root) ?? new Map<string, string>();
    const before = verdicts.get(participant);
    if (before === undefined || RANK.indexOf(word) < RANK.indexOf(before)) verdicts.set(participant, word);
    this.#verdicts.set(root, verdicts);
    const shown = [...verdicts].map(([id, verdict]) => ({ participant: id, word: verdict }));
    this.#replace(this.#rowOfSeq.get(root), (row) => ({ ...row, verdicts: shown }));
  }

  #replace(index: number | undefined, change: (row: MessageRow) => MessageRow): void {
    const row = index === undefined ? undefined : this.rows[index];
    if (index !== undefined && row?.kind === 'message') this.rows[index] = change(row);
  }
}

function isArranging(event: Envelope): boolean {
  return event.type === 'control' || event.type.startsWith('thread.');
}

/** True if an event is not shown to people. */
function isHidden(event: Envelope): boolean {
  if (event.type === 'presence' || isQuiet(event) || isShownByRing(event)) return true;
  // A guard that holds the floor sends two notices. The one without `guard` is for clients that
  // know no guards.
  const content = event.content as { code?: string; guard?: string } | null;
  if (event.type === 'notice' && content?.code === 'held' && !content.guard) return true;
  // All conversations get this notice. The page says it once, when the server is back.
  if (event.type === 'notice' && content?.code === 'resumed') return true;
  // A round of a gathering already has a line from its own event.
  if (event.type === 'notice' && content?.code === 'phase') return true;
  return event.type === 'control' && (event.content === null || typeof event.content !== 'object');
}
