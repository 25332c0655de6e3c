/**
 * A gathering as the page draws it: the seats, the holder of the piece, and its way so far. The
 * present state comes from the server, the past is rebuilt from the events.
 */

import type { Envelope, Gathering, GatheringEvent, GatheringMember, GatheringPhase } from './types';
import { SERVER } from './words';

/** In the order in which a breath counts them; the close comes last. */
const PHASES: readonly GatheringPhase[] = ['inhale', 'hold', 'exhale', 'close'];

/** Returns the number of rounds of a phase; 0 if the breath is not known. */
export function roundsOf(breath: readonly number[], phase: GatheringPhase): number {
  return phase === 'close' ? 1 : (breath[PHASES.indexOf(phase)] ?? 0);
}

/** One message in a gathering. */
export interface Contribution {
  id: string;
  seq: number;
  ts: string;
  from: string;
  text: string;
}

/** The ring at one moment. */
export interface Ring {
  phase: GatheringPhase;
  rule: string | null;
  /** Rounds of inhale, hold and exhale. */
  breath: readonly number[];
  /** 0 before the first round. */
  round: number;
  rounds: number;
  /** The last round that was opened. */
  reached: { phase: GatheringPhase; round: number } | null;
  holder: string | null;
  beat: number;
  beats: number;
  lastWord: boolean;
  order: string[];
  said: Contribution[];
  spoke: Map<string, number>;
  /** The member who was asked for the harvest. */
  harvester: string | null;
  /** Deadline of a person who writes the harvest. */
  harvestUntil: string | null;
  closed: boolean;
}

/** An event or a message that changes the ring. */
export type Moment = Envelope;

/** Returns the content of an event of a gathering; null for any other event. */
export function stepOf(event: Envelope): GatheringEvent | null {
  return event.type === 'gathering' && event.content !== null && typeof event.content === 'object'
    ? (event.content as GatheringEvent)
    : null;
}

/** True if an event is counted but not shown as text. */
export function isQuiet(event: Envelope): boolean {
  const what = stepOf(event)?.event;
  return what === 'beat' || what === 'last_word_asked';
}

/** True if the ring shows a step, so that the conversation needs no line for it. */
export function isShownByRing(event: Envelope): boolean {
  const what = stepOf(event)?.event;
  return what === 'round_opened' || what === 'piece_given' || what === 'piece_released' || what === 'pass_asked';
}

/**
 * Returns the events of the gathering from its opening to its close, with the messages of its
 * members.
 */
export function momentsOf(events: readonly Envelope[]): Moment[] {
  const members = new Set<string>();
  let open = false;
  return events.filter((event) => {
    const step = stepOf(event);
    if (step?.event === 'opened') {
      open = true;
      step.participants.forEach((member) => members.add(member.participant_id));
    }
    if (!open) return false;
    if (step?.event === 'closed') open = false;
    return step !== null || (event.type === 'message' && event.from !== SERVER && members.has(event.from));
  });
}

function before(): Ring {
  return {
    phase: 'inhale',
    rule: null,
    breath: [],
    round: 0,
    rounds: 0,
    reached: null,
    holder: null,
    beat: 0,
    beats: 0,
    lastWord: false,
    order: [],
    said: [],
    spoke: new Map(),
    harvester: null,
    harvestUntil: null,
    closed: false,
  };
}

/** Returns the ring after the first `many` moments. */
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
        breath: step.plan.breath,
        rounds: roundsOf(step.plan.breath, 'inhale'),
        beats: step.plan.beats_per_turn,
      });
      break;
    case 'round_opened':
      ring.phase = step.phase;
      ring.rule = step.rule;
      ring.round = step.round;
      ring.reached = { phase: step.phase, round: step.round };
      ring.rounds = roundsOf(ring.breath, step.phase);
      ring.order = [...step.order];
      break;
    case 'piece_given':
      ring.holder = step.holder;
      ring.beat = 0;
      ring.lastWord = false;
      ring.order = ring.order.filter((id) => id !== step.holder);
      break;
    case 'beat':
      ring.beat = step.number;
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
      ring.harvestUntil = step.until;
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

/** Moves the ring to the close: the piece is put away for good. */
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

/**
 * Returns a phase by its word. The word is missing before the first phase, and a newer server may
 * send an unknown one.
 */
export function phaseOf(word: string | null | undefined): GatheringPhase {
  return PHASES.find((phase) => phase === word) ?? 'inhale';
}

/** Returns the present ring: the server's state replaces what was rebuilt from the events. */
export function ringNow(gathering: Gathering, past: Ring): Ring {
  const { round, rounds, beat, beats, breath, last_word: lastWord } = gathering;
  const phase = phaseOf(gathering.phase);
  const closed = gathering.status === 'closed';
  const holder = closed ? null : (gathering.holder?.participant_id ?? null);
  // After an early end, the server still lists the members that would have come next.
  const order = phase === 'close' ? [] : gathering.order;
  return {
    ...past,
    phase,
    rule: gathering.rule ?? null,
    breath,
    round,
    rounds,
    holder,
    beat,
    beats,
    lastWord,
    order,
    closed,
  };
}

export interface Seat {
  id: string;
  name: string;
  number: number;
  isHarvester: boolean;
  isPerson: boolean;
  /** True if the member was there when the gathering began and has left. */
  gone: boolean;
}

/**
 * Returns the seats of the circle by number. A member who left keeps the seat. `here` holds the ids
 * of all who are invited.
 */
export function seatsOf(members: readonly GatheringMember[], here: ReadonlySet<string>): Seat[] {
  const seats = members.map(({ participant_id: id, name, number, role, kind }): Seat => {
    return { id, name, number, isHarvester: role === 'harvester', isPerson: kind === 'human', gone: !here.has(id) };
  });
  return seats.sort((a, b) => a.number - b.number);
}

export type Stand =
  | { kind: 'holds' }
  /** `place`: number of members who have the piece earlier in this round. */
  | { kind: 'waits'; place: number }
  | { kind: 'had' }
  | { kind: 'gathers' }
  | { kind: 'listens' }
  | { kind: 'gone' };

/** Returns a member's relation to the piece. */
export function standOf(ring: Ring, seat: Pick<Seat, 'id' | 'isHarvester' | 'gone'>): Stand {
  if (ring.holder === seat.id) return { kind: 'holds' };
  if (seat.gone) return { kind: 'gone' };
  if (seat.isHarvester) return { kind: ring.phase === 'close' && !ring.closed ? 'gathers' : 'listens' };
  const place = ring.order.indexOf(seat.id);
  if (place >= 0) return { kind: 'waits', place };
  return { kind: ring.phase === 'close' || ring.round === 0 ? 'listens' : 'had' };
}

export interface Segment {
  phase: GatheringPhase;
  round: number;
  rounds: number;
  /** `never`: the gathering ended before this round. */
  when: 'past' | 'now' | 'coming' | 'never';
}

/** Returns each round of each phase, and the close, in order. */
export function segmentsOf(ring: Pick<Ring, 'phase' | 'breath' | 'round' | 'reached' | 'closed'>): Segment[] {
  const all = PHASES.flatMap((phase) => {
    const rounds = roundsOf(ring.breath, phase);
    return Array.from({ length: rounds }, (_, round) => ({ phase, round: round + 1, rounds }));
  });
  const isNow = (part: { phase: GatheringPhase; round: number }) =>
    part.phase === ring.phase && (part.phase === 'close' || part.round === ring.round);
  const at = ring.closed ? all.length : all.findIndex(isNow);
  const { reached } = ring;
  const last = all.findIndex((part) => part.phase === reached?.phase && part.round === reached.round);
  const isNever = (index: number) => ring.phase === 'close' && index > last && index < all.length - 1;
  return all.map((part, index) => {
    const when = isNever(index) ? 'never' : index < at ? 'past' : index === at ? 'now' : 'coming';
    return { ...part, when };
  });
}

/** Distance of the seats from the middle, in percent of the box. */
const RADIUS = { x: 38, y: 36 };

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/**
 * Returns the place of a seat in percent of the box: the first at the top, the others clockwise.
 * Two seats are side by side.
 */
export function placeOf(index: number, count: number): { x: number; y: number } {
  const start = count === 2 ? Math.PI : -Math.PI / 2;
  const angle = start + (2 * Math.PI * index) / Math.max(count, 1);
  return { x: round(50 + RADIUS.x * Math.cos(angle)), y: round(50 + RADIUS.y * Math.sin(angle)) };
}

/** Returns the milliseconds until a time, at least 0; null if the time is not known. */
export function leftMs(at: string | null | undefined, now: number): number | null {
  const time = at ? Date.parse(at) : NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}

/**
 * Returns minutes and seconds of a countdown, rounded up: it shows zero only when the time is over.
 */
export function countdown(ms: number): string {
  const whole = Math.ceil(ms / 1000);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/**
 * Returns the position that the list of messages shows at a moment: the newest message so far, else
 * the newest readable moment, else the first one.
 */
export function spotAt(moments: readonly Moment[], many: number): number | null {
  const past = moments.slice(0, many);
  const seen = past.findLast((moment) => moment.type === 'message') ?? past.findLast((moment) => !isQuiet(moment));
  return (seen ?? moments[0])?.seq ?? null;
}
