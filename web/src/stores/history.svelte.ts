/**
 * The events of one conversation: the loaded pages, the rows that are made from them, and the
 * requests that wait for an answer.
 */

import { ranMs } from '../lib/clock';
import { erases, withoutWords } from '../lib/erased';
import { eventQuery } from '../lib/events';
import { Permissions, type Permission } from '../lib/permissions';
import { Timeline, type Row } from '../lib/timeline';
import type { AskedRef, Envelope, EventPage, OpenTurn, PermissionEvent } from '../lib/types';

/** Number of events in each page. */
const PAGE = 240;

/** Requests a part of the conversation: a path below its address. */
export type AskPart = <T>(path: string) => Promise<T>;

export type MessageRow = Extract<Row, { kind: 'message' }>;

/** The owner of a history: it is told of loaded events. */
export interface HistoryKeeper {
  /** Returns the key of an event's row. */
  keyOf: (event: Envelope) => string;
  /** Called with a page before rows are made from it. */
  loaded: (events: readonly Envelope[]) => void;
  /** Called with the newest events: those after `after`, up to and including `through`. */
  newest: (events: readonly Envelope[], after: number, through: number) => void;
}

export class History {
  rows = $state.raw<Row[]>([]);
  /** All events after `first`, up to and including `last`, are loaded. */
  first = $state(0);
  last = $state(0);
  head = $state(0);
  /** Position up to which the turns of all messages are loaded. */
  settled = $state(0);
  /** True if the newest events are loaded, so that new ones can be appended. */
  atHead = $state(false);
  loading = $state<'older' | 'newer' | null>(null);
  /** True if the last change of the rows put some before the others. */
  shifted = $state(false);
  /** Open requests whose events lie before the loaded ones. */
  #earlier = $state.raw<Permission[]>([]);
  #asked: readonly AskedRef[] = [];
  #events: Envelope[] = [];
  #timeline: Timeline;
  #ask: AskPart;
  #keeper: HistoryKeeper;

  constructor(ask: AskPart, keeper: HistoryKeeper) {
    this.#ask = ask;
    this.#keeper = keeper;
    this.#timeline = new Timeline(keeper.keyOf);
  }

  /** Requests that wait for a person's answer. */
  waiting = $derived.by<Permission[]>(() => [...this.#earlier, ...(void this.rows, this.#timeline.waiting())]);

  get hasOlder(): boolean {
    return this.first > 0;
  }

  get events(): readonly Envelope[] {
    return this.#events;
  }

  /** The position from which a stream goes on. Events between `last` and `head` come by scrolling. */
  get end(): number {
    return this.atHead ? this.last : this.head;
  }

  /** True if the events at a position are loaded: without one, the newest. */
  holds(seq: number | null): boolean {
    if (this.#events.length === 0) return false;
    return seq === null ? this.atHead : seq > this.first && seq <= this.last;
  }

  event(id: string): Envelope | undefined {
    // Callers depend on the rows, so that an erasure updates them.
    void this.rows;
    return this.#timeline.find(id);
  }

  /** Returns the running time of a turn, without the time in which it waited for answers. */
  ranMs(turn: OpenTurn, now: number): number {
    void this.rows;
    return ranMs(turn, this.#timeline.turn(turn.id), this.#timeline.stoodMs(turn.id), now);
  }

  /** Returns the row of the person's message to which the event at a position goes back. */
  rootRow(seq: number): MessageRow | undefined {
    void this.rows;
    return this.#timeline.rootRow(seq);
  }

  indexAt(seq: number): number {
    return this.#timeline.indexAt(seq);
  }

  /** Loads the events around a position, or the newest ones. */
  async open(seq: number | null): Promise<void> {
    if (!this.holds(seq)) await this.#loadAround(seq);
    await this.#findAsked();
  }

  async loadOlder(): Promise<void> {
    if (this.loading || this.first === 0) return;
    await this.#load('older', async () => {
      const after = Math.max(0, this.first - PAGE);
      const page = await this.#page(after, this.first - after);
      // The limit counts events of the requested types only, so the page may reach beyond `first`.
      this.#events = [...page.events.filter((event) => event.seq <= this.first), ...this.#events];
      this.first = after;
      this.#rebuild(true);
      await this.#findAsked();
    });
  }

  async loadNewer(): Promise<void> {
    if (this.loading || this.atHead) return;
    await this.#load('newer', async () => {
      const page = await this.#page(this.last, PAGE);
      this.#append(page.events);
      this.#erase(page.events);
      this.last = Math.max(this.last, page.through);
      this.settled = this.last;
      this.#noteHead(page.head);
      this.atHead = this.last >= this.head;
    });
  }

  /** Goes to the newest events. */
  async toHead(): Promise<void> {
    if (this.atHead) return;
    await this.#load('newer', () => this.#loadAround(null));
  }

  /** Loads the events around a position, if they are not loaded. */
  async toSeq(seq: number): Promise<void> {
    if (!this.holds(seq)) await this.#load('older', () => this.#loadAround(seq));
  }

  /** Returns the events after the loaded ones. */
  async fresh(): Promise<Envelope[]> {
    const page = await this.#page(this.last, PAGE);
    return page.events.filter((event) => event.seq > this.last);
  }

  /** Takes an event of the stream. Returns false if it is loaded already. */
  take(event: Envelope): boolean {
    // Another tab may have asked for the same events again.
    if (this.atHead && event.seq <= this.last) return false;
    if (this.atHead) {
      this.#append([event]);
      this.last = event.seq;
    }
    this.#erase([event]);
    this.#noteHead(event.seq);
    return true;
  }

  /** Tells the newest events to the keeper, once they are loaded. */
  tell(): void {
    if (!this.atHead) return;
    const after = this.#events.length > PAGE ? (this.#events.at(-PAGE)?.seq ?? 1) - 1 : this.first;
    this.#keeper.newest(this.#events.slice(-PAGE), after, this.last);
  }

  /** Takes the newest position and the requests without a turn, as the state has them. */
  async learn(head: number, asked: readonly AskedRef[]): Promise<void> {
    this.#noteHead(head);
    if (this.last >= head) this.settled = Math.max(this.settled, head);
    this.#asked = asked;
    await this.#findAsked();
  }

  /** Forgets the positions, because the server's data were replaced. The rows stay for a moment. */
  forget(): void {
    this.#events = [];
    this.head = 0;
  }

  /** Drops everything. */
  drop(): void {
    [this.#events, this.#earlier, this.#asked] = [[], [], []];
    [this.first, this.last, this.head, this.settled] = [0, 0, 0, 0];
    this.#rebuild(false);
  }

  async #loadAround(seq: number | null): Promise<void> {
    const after = seq === null ? Math.max(0, this.head - PAGE) : Math.max(0, seq - PAGE / 2);
    const page = await this.#page(after, PAGE);
    this.#events = page.events;
    this.first = after;
    this.last = page.through;
    this.settled = this.last;
    this.#keeper.loaded(page.events);
    this.#rebuild(false);
    this.#noteHead(page.head);
    this.atHead = this.last >= this.head;
    this.tell();
  }

  #page(after: number, limit: number): Promise<EventPage> {
    return this.#ask<EventPage>(`events?${eventQuery({ after, limit })}`);
  }

  async #load(which: 'older' | 'newer', load: () => Promise<void>): Promise<void> {
    this.loading = which;
    try {
      await load();
    } catch {
      // Scrolling asks again. The banner says if the server is away.
    } finally {
      this.loading = null;
    }
  }

  #append(events: readonly Envelope[]): void {
    const fresh = events.filter((event) => event.seq > this.last);
    if (fresh.length === 0) return;
    this.#events.push(...fresh);
    this.#timeline.append(fresh);
    this.shifted = false;
    this.rows = this.#timeline.rows;
  }

  /** Drops the loaded words that these events erase. */
  #erase(events: readonly Envelope[]): void {
    const gone = new Set(events.map(erases));
    if (!this.#events.some((event) => gone.has(event.seq) && !event.meta?.redacted)) return;
    this.#events = this.#events.map((event) => (gone.has(event.seq) ? withoutWords(event) : event));
    this.#rebuild(false);
  }

  #rebuild(shifted: boolean): void {
    this.#timeline = new Timeline(this.#keeper.keyOf);
    this.#timeline.append(this.#events);
    this.shifted = shifted;
    this.rows = this.#timeline.rows;
  }

  #noteHead(head: number): void {
    this.head = Math.max(this.head, head);
  }

  /**
   * Loads open requests that lie before the loaded events. A request without a turn may wait for
   * days.
   */
  async #findAsked(): Promise<void> {
    const far = this.#asked.filter(({ seq }) => this.#events.length > 0 && seq <= this.first);
    const known = new Map(this.#earlier.map((permission) => [permission.id, permission]));
    const found = await Promise.all(
      far.map(async ({ permission, seq }) => known.get(permission) ?? (await this.#requested(seq))),
    );
    this.#earlier = found.filter((permission) => permission !== null);
  }

  async #requested(seq: number): Promise<Permission | null> {
    const { events } = await this.#page(seq - 1, 1);
    return new Permissions().take((events[0]?.content ?? null) as PermissionEvent | null);
  }
}
