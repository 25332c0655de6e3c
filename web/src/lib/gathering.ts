/**
 * A gathering as it is drawn: who sits where, who has the piece, and how it came there. What is so now the server says; what was before is
 * put together from the events.
 */

import { SERVER } from './words';
import type { Envelope } from './types';

// What the wire says. These types are written by hand until the description of the interface has them.

export type Phase = 'inhale' | 'hold' | 'exhale' | 'close';

export interface GatheringMember {
  name: string;
  number: number;
  role: 'speaker' | 'harvester';
  kind: 'session' | 'agent' | 'human';
  participant_id: string;
}

export interface GatheringPlan {
  rhythm: string;
  /** Rounds of inhale, hold and exhale. */
  breath: [number, number, number];
  beats_per_turn: number;
  beat_interval_seconds: number;
  last_word_seconds: number;
  opening_question: string;
  delivery: 'live' | 'on_turn';
}

/** Answer of `GET /gatherings/{id}`. */
export interface Gathering extends GatheringPlan {
  id: string;
  thread: string;
  title: string;
  status: 'seeding' | 'active' | 'closed';
  phase: Phase;
  /** What the phase asks of those who speak, in one sentence. */
  rule: string | null;
  /** 0 before the first. */
  round: number;
  rounds: number;
  holder: { name: string; number: number; participant_id: string } | null;
  since: string | null;
  beat: number;
  beats: number;
  /** The last word was asked for. */
  last_word: boolean;
  /** When the next beat comes, or the grace of the last word ends; nothing while it stands still. */
  next_beat_at: string | null;
  /** A person stopped it. */
  stopped: boolean;
  /** Who will still hold the piece in this round. */
  order: string[];
  /** By number. */
  participants: GatheringMember[];
  harvest: { text: string; event: string } | null;
  closed_because: 'done' | 'too_few' | 'ended' | null;
  /** The micro-pulse of the last beat, for whoever it is asked for. */
  pulse: string | null;
  seed: string | null;
}

export type ReleasedBecause = 'passed' | 'last_word' | 'grace' | 'gone' | 'stopped';

/** The content of events of type `gathering`. */
export type GatheringEvent =
  | { event: 'opened'; by: string; plan: GatheringPlan }
  | { event: 'round_opened'; phase: Phase; rule: string | null; round: number; rounds: number; order: string[] }
  | {
      event: 'piece_given';
      holder: string;
      name: string;
      number: number;
      note: string | null;
      next_beat_at: string | null;
    }
  | { event: 'beat'; number: number; beats: number; next_beat_at: string | null }
  | { event: 'last_word_asked'; until: string | null }
  | { event: 'piece_released'; holder: string; because: ReleasedBecause; next: string | null; note: string | null }
  | { event: 'harvest_asked'; harvester: string }
  | { event: 'harvested'; harvester: string; message: string }
  | { event: 'closed'; because: string };

// Here ends what the wire says.

/** What was said in it, by whom. */
export interface Contribution {
  id: string;
  seq: number;
  ts: string;
  from: string;
  text: string;
}

/** Where the piece is at one moment. */
export interface Ring {
  phase: Phase;
  rule: string | null;
  round: number;
  rounds: number;
  holder: string | null;
  beat: number;
  beats: number;
  lastWord: boolean;
  order: string[];
  said: Contribution[];
  spoke: Map<string, number>;
  /** Everybody who had the piece until then: some may be gone since. */
  met: Map<string, { name: string; number: number }>;
  /** Who was asked for the harvest. */
  harvester: string | null;
  closed: boolean;
}

/** What the ring goes through, one after the other: its events, and what its members say. */
export type Moment = Envelope;

/** Answers the content where the event is one of a gathering. */
export function stepOf(event: Envelope): GatheringEvent | null {
  return event.type === 'gathering' && event.content !== null && typeof event.content === 'object'
    ? (event.content as GatheringEvent)
    : null;
}

/** Beats count; they are nothing to read. */
export function isQuiet(event: Envelope): boolean {
  const what = stepOf(event)?.event;
  return what === 'beat' || what === 'last_word_asked';
}

/** What belongs to the gathering: all of it from its opening to its close, and the words of its members between. */
export function momentsOf(events: readonly Envelope[]): Moment[] {
  const members = new Set<string>();
  let open = false;
  return events.filter((event) => {
    const step = stepOf(event);
    if (step?.event === 'opened') open = true;
    if (!open) return false;
    if (step?.event === 'closed') open = false;
    if (step?.event === 'round_opened') step.order.forEach((id) => members.add(id));
    if (step?.event === 'piece_given') members.add(step.holder);
    if (step?.event === 'harvest_asked') members.add(step.harvester);
    return step !== null || (event.type === 'message' && event.from !== SERVER && members.has(event.from));
  });
}

function before(): Ring {
  return {
    phase: 'inhale',
    rule: null,
    round: 0,
    rounds: 0,
    holder: null,
    beat: 0,
    beats: 0,
    lastWord: false,
    order: [],
    said: [],
    spoke: new Map(),
    met: new Map(),
    harvester: null,
    closed: false,
  };
}

/** The ring after so many moments. */
export function ringAt(moments: readonly Moment[], many: number): Ring {
  const ring = before();
  for (const moment of moments.slice(0, many)) {
    const step = stepOf(moment);
    if (step) take(ring, step);
    else hear(ring, moment);
  }
  return ring;
}

function hear(ring: Ring, { id, seq, ts, from, content, meta }: Moment): void {
  const text = meta?.redacted ? '' : typeof content === 'string' ? content : JSON.stringify(content);
  ring.said.push({ id, seq, ts, from, text });
  ring.spoke.set(from, (ring.spoke.get(from) ?? 0) + 1);
}

function take(ring: Ring, step: GatheringEvent): void {
  switch (step.event) {
    case 'opened':
      Object.assign(ring, before(), {
        rounds: step.plan.breath[0],
        beats: step.plan.beats_per_turn,
      });
      break;
    case 'round_opened':
      ring.phase = step.phase;
      ring.rule = step.rule;
      ring.round = step.round;
      ring.rounds = step.rounds;
      ring.order = [...step.order];
      break;
    case 'piece_given':
      ring.holder = step.holder;
      ring.beat = 0;
      ring.lastWord = false;
      ring.order = ring.order.filter((id) => id !== step.holder);
      ring.met.set(step.holder, { name: step.name, number: step.number });
      break;
    case 'beat':
      ring.beat = step.number;
      ring.beats = step.beats;
      break;
    case 'last_word_asked':
      ring.lastWord = true;
      break;
    case 'piece_released':
      ring.holder = null;
      ring.beat = 0;
      ring.lastWord = false;
      if (step.next !== null) ring.order = [step.next, ...ring.order.filter((id) => id !== step.next)];
      break;
    case 'harvest_asked':
      letGo(ring);
      ring.harvester = step.harvester;
      break;
    case 'harvested':
      ring.harvester = step.harvester;
      break;
    case 'closed':
      letGo(ring);
      ring.closed = true;
      break;
  }
}

/** Nobody holds the piece any more, and nobody will. */
function letGo(ring: Ring): void {
  ring.phase = 'close';
  ring.rule = null;
  ring.round = 1;
  ring.rounds = 1;
  ring.holder = null;
  ring.beat = 0;
  ring.lastWord = false;
  ring.order = [];
}

/** The ring now: what was said comes from the events, everything else from the server. */
export function ringNow(gathering: Gathering, past: Ring): Ring {
  const { phase, rule, round, rounds, holder, beat, beats, last_word: lastWord, order } = gathering;
  const closed = gathering.status === 'closed';
  const now = { phase, rule, round, rounds, beat, beats, lastWord, order, closed };
  return { ...past, ...now, holder: closed ? null : (holder?.participant_id ?? null) };
}

export interface Seat {
  id: string;
  name: string;
  number: number;
  role: GatheringMember['role'];
  kind: GatheringMember['kind'] | null;
  /** It had the piece once, and takes no part any more. */
  gone: boolean;
}

/** Who sits in the circle, by number; those who left where they sat. */
export function seatsOf(members: readonly GatheringMember[], ring: Pick<Ring, 'met'>): Seat[] {
  const here = members.map(({ participant_id: id, name, number, role, kind }): Seat => ({
    id,
    name,
    number,
    role,
    kind,
    gone: false,
  }));
  const known = new Set(here.map((seat) => seat.id));
  const left = [...ring.met].filter(([id]) => !known.has(id));
  const gone = left.map(([id, { name, number }]): Seat => ({
    id,
    name,
    number,
    role: 'speaker',
    kind: null,
    gone: true,
  }));
  return [...here, ...gone].sort((a, b) => a.number - b.number);
}

export type Stand =
  | { kind: 'holds' }
  /** `place`: so many have the piece before, in this round. */
  | { kind: 'waits'; place: number }
  | { kind: 'had' }
  | { kind: 'gathers' }
  | { kind: 'listens' }
  | { kind: 'gone' };

/** How somebody stands to the piece. */
export function standOf(ring: Ring, seat: Pick<Seat, 'id' | 'role' | 'gone'>): Stand {
  if (ring.holder === seat.id) return { kind: 'holds' };
  if (seat.gone) return { kind: 'gone' };
  if (seat.role === 'harvester') return { kind: ring.phase === 'close' && !ring.closed ? 'gathers' : 'listens' };
  const place = ring.order.indexOf(seat.id);
  if (place >= 0) return { kind: 'waits', place };
  return { kind: ring.phase === 'close' || ring.round === 0 ? 'listens' : 'had' };
}

export interface Segment {
  phase: Phase;
  round: number;
  rounds: number;
  when: 'past' | 'now' | 'coming';
}

const BREATH: Phase[] = ['inhale', 'hold', 'exhale'];

/** Each round of each phase, and the close, in order. */
export function segmentsOf(breath: readonly number[], ring: Pick<Ring, 'phase' | 'round' | 'closed'>): Segment[] {
  const rounds = BREATH.flatMap((phase, index) =>
    Array.from({ length: breath[index] ?? 0 }, (_, round) => ({ phase, round: round + 1, rounds: breath[index] ?? 0 })),
  );
  const all = [...rounds, { phase: 'close' as const, round: 1, rounds: 1 }];
  const isNow = (part: { phase: Phase; round: number }) =>
    part.phase === ring.phase && (part.phase === 'close' || part.round === ring.round);
  const at = ring.closed ? all.length : all.findIndex(isNow);
  return all.map((part, index) => ({ ...part, when: index < at ? 'past' : index === at ? 'now' : 'coming' }));
}

/** How far from the middle the seats are, in parts of a hundred of the box. */
const RADIUS = { x: 38, y: 36 };

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Where a seat is in its box, in parts of a hundred: the first at the top, the others with the sun; two are beside each other. */
export function placeOf(index: number, count: number): { x: number; y: number } {
  const start = count === 2 ? Math.PI : -Math.PI / 2;
  const angle = start + (2 * Math.PI * index) / Math.max(count, 1);
  return { x: round(50 + RADIUS.x * Math.cos(angle)), y: round(50 + RADIUS.y * Math.sin(angle)) };
}

/** How long it is until then, in milliseconds and never less than none; nothing where no time is known. */
export function leftMs(at: string | null, now: number): number | null {
  const time = at === null ? NaN : Date.parse(at);
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}

/** Minutes and seconds for a clock that runs down: it shows zero only when the time is over. */
export function countdown(ms: number): string {
  const whole = Math.ceil(ms / 1000);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Whose words the list of messages shows at a moment: the newest until then, or what comes first. */
export function spotAt(moments: readonly Moment[], many: number): number | null {
  const past = moments.slice(0, many);
  const seen = past.findLast((moment) => moment.type === 'message') ?? past.findLast((moment) => !isQuiet(moment));
  return (seen ?? moments[0])?.seq ?? null;
}
