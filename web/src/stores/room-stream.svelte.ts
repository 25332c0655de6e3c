/**
 * The stream of the page, as far as one conversation is concerned: its events, the words that are
 * being written, the progress of turns, and presence.
 */

import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { HubMessage } from '../lib/hub';
import { grow, type Partial } from '../lib/partial';
import type { Delta, Envelope, FollowSignal, PresenceEntry, PresenceUpdate, Progress } from '../lib/types';
import type { AskPart } from './history.svelte';

/** Often enough to read along. */
const GROW_MS = 80;
/** Replies that grow in one step. The page draws each step in a moment, however many are written. */
const GROWN_MAX = 5;
/** Pause before the step of the next replies. */
const NEXT_MS = 40;

type FrameMessage = Extract<HubMessage, { kind: 'frame' }>;

/** The stream of the page, as far as a conversation uses it. */
export interface Followable {
  follow: (thread: string, source: { after: () => number; onframe: (frame: FrameMessage) => void }) => void;
  unfollow: (thread: string) => void;
}

/** The listener of a conversation. */
export interface RoomListener {
  /** Returns the position up to which the events are known. */
  after: () => number;
  onevent: (event: Envelope) => void;
  /** The stream brings the conversation from now on: after a gap, more may have changed. */
  onfollowed: () => void;
  /** The server refuses the conversation for good. */
  onrefused: (code: string | undefined) => void;
  ondeleted: () => void;
}

/** A reply that is being written. Its text grows in place, so that only its own row is drawn. */
export class Writing {
  partial: Partial = $state.raw({ attempt: 0, bytes: 0, text: '' });
  readonly turn: string;
  readonly participant: string;

  constructor(turn: string, participant: string, partial: Partial) {
    this.turn = turn;
    this.participant = participant;
    this.partial = partial;
  }
}

export class RoomStream {
  presence = new SvelteMap<string, PresenceEntry>();
  writing = new SvelteMap<string, Writing>();
  progress = new SvelteMap<string, string>();
  /** Turns that have ended. Pieces of their text can still arrive. */
  #over = new SvelteSet<string>();
  /** Pieces by turn. The turn that has waited longest comes first. */
  #deltas = new Map<string, Delta[]>();
  #growTimer: ReturnType<typeof setTimeout> | undefined;
  #connected = false;
  #thread: string;
  #hub: Followable;
  #ask: AskPart;
  #listener: RoomListener;

  constructor(thread: string, hub: Followable, ask: AskPart, listener: RoomListener) {
    this.#thread = thread;
    this.#hub = hub;
    this.#ask = ask;
    this.#listener = listener;
  }

  get connected(): boolean {
    return this.#connected;
  }

  connect(): void {
    if (this.#connected) return;
    this.#connected = true;
    this.#hub.follow(this.#thread, { after: this.#listener.after, onframe: (frame) => this.#take(frame) });
    void this.#askPresence();
  }

  disconnect(): void {
    this.#hub.unfollow(this.#thread);
    this.#connected = false;
    clearTimeout(this.#growTimer);
    this.#growTimer = undefined;
    this.#deltas.clear();
  }

  /** Disconnects, and drops everything. */
  drop(): void {
    this.disconnect();
    [this.presence, this.writing, this.progress].forEach((all) => all.clear());
  }

  /** Drops the text of a turn that has ended: its words come as messages. */
  end(turn: string): void {
    this.#over.add(turn);
    this.#deltas.delete(turn);
    this.writing.delete(turn);
    this.progress.delete(turn);
  }

  /** True if the end of a turn is known already. The state comes a moment later. */
  isOver(turn: string): boolean {
    return this.#over.has(turn);
  }

  #take({ event, seq, data }: FrameMessage): void {
    if (event === 'deleted') return this.#listener.ondeleted();
    if (event === 'following') return this.#followed();
    if (event === 'refused') return this.#refused(data as FollowSignal);
    if (event === 'message' && seq !== null) this.#listener.onevent(data as Envelope);
    else if (event === 'delta') this.#delta(data as Delta);
    else if (event === 'presence') this.#present(data as PresenceUpdate);
    else if (event === 'progress') this.#progressed(data as Progress);
  }

  #followed(): void {
    // Turns may have ended while the connection was down. The stream begins with the running ones.
    this.writing.clear();
    this.#listener.onfollowed();
    void this.#askPresence();
  }

  #refused({ error }: FollowSignal): void {
    this.#connected = false;
    this.#listener.onrefused(error?.code);
  }

  /** Collects pieces of text. They are assembled every `GROW_MS`, for any number of pieces. */
  #delta(delta: Delta): void {
    if (this.#over.has(delta.turn)) return;
    this.#deltas.set(delta.turn, [...(this.#deltas.get(delta.turn) ?? []), delta]);
    this.#growTimer ??= setTimeout(() => this.#grow(), GROW_MS);
  }

  #grow(): void {
    for (const [turn, deltas] of [...this.#deltas].slice(0, GROWN_MAX)) {
      this.#deltas.delete(turn);
      this.#growOne(turn, deltas);
    }
    this.#growTimer = this.#deltas.size > 0 ? setTimeout(() => this.#grow(), NEXT_MS) : undefined;
  }

  #growOne(turn: string, deltas: readonly Delta[]): void {
    const known = this.writing.get(turn);
    const partial = deltas.reduce(grow, known?.partial);
    if (!partial) return;
    if (known) known.partial = partial;
    else this.writing.set(turn, new Writing(turn, deltas[0]?.participant ?? '', partial));
  }

  #progressed(progress: Progress): void {
    if (this.#over.has(progress.turn)) return;
    this.progress.set(progress.turn, progress.text);
  }

  #present({ participant, state, updated_at, details }: PresenceUpdate): void {
    this.#learnPresence({ id: participant, state, updated_at, stale: false, details: details ?? null });
  }

  /** Keeps the later entry: answers and signals overtake each other. */
  #learnPresence(entry: PresenceEntry): void {
    const before = this.presence.get(entry.id);
    if (!before || before.updated_at <= entry.updated_at) this.presence.set(entry.id, entry);
  }

  async #askPresence(): Promise<void> {
    try {
      const answer = await this.#ask<{ participants: PresenceEntry[] }>('presence');
      answer.participants.forEach((entry) => this.#learnPresence(entry));
    } catch {
      // The stream brings presence too.
    }
  }
}
