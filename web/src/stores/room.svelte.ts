/** One open conversation: its history, its state, and its running turns. */

import { SvelteMap } from 'svelte/reactivity';
import { isAboutBudgets } from '../lib/budgets';
import { ApiError, get, tellDeletion } from '../lib/client';
import { erases, withoutWords } from '../lib/erased';
import { ranMs } from '../lib/clock';
import { eventQuery } from '../lib/events';
import { grow, type Partial } from '../lib/partial';
import { isHold } from '../lib/lines';
import { askedInNoTurn, Permissions, type Permission } from '../lib/permissions';
import type { HubMessage } from '../lib/hub';
import type { Link } from '../lib/sse';
import { Timeline, type Row } from '../lib/timeline';
import type {
  Delta,
  Envelope,
  EventPage,
  FollowSignal,
  Invited,
  OpenTurn,
  PermissionEvent,
  PresenceEntry,
  PresenceUpdate,
  Progress,
  StateAnswer,
  ThreadState,
} from '../lib/types';
import { summary } from '../lib/markdown';
import { huesOf } from '../lib/palette';
import { ME, SERVER } from '../lib/words';
import { hall } from './hall.svelte';
import { live } from './live.svelte';
import { outboxes, type Outbox } from './outbox.svelte';
import { reads } from './reads.svelte';
import { Circle } from './circle.svelte';
import { ChatDeliveries } from './deliveries.svelte';
import { sessions } from './sessions.svelte';
import { Spending } from './spending.svelte';
import { states } from './states.svelte';
import { ui } from './ui.svelte';

/** Number of events in each page. */
const PAGE = 240;
const STATE_PAUSE_MS = 80;
/** Often enough to read along, rarely enough for twenty replies at once. */
const GROW_MS = 80;

export type Phase = 'loading' | 'ready' | 'missing' | 'failed' | 'deleted';

/** A reply that is being written. */
export interface Writing {
  turn: string;
  participant: string;
  partial: Partial;
}

export class Room {
  readonly id: string;
  phase = $state<Phase>('loading');
  name = $state('');
  state = $state.raw<ThreadState | null>(null);
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
  /** True while the page's stream brings the events of this conversation. */
  #follows = $state(false);
  /**
   * Messages after `newAfter`, up to and including `newUntil`, were unread when the room was
   * opened.
   */
  newAfter = $state<number | null>(null);
  newUntil = $state(0);
  presence = new SvelteMap<string, PresenceEntry>();
  writing = new SvelteMap<string, Writing>();
  progress = new SvelteMap<string, string>();
  outbox: Outbox;
  spending: Spending;
  /** The way of messages to bound chats. */
  deliveries: ChatDeliveries;
  /** The gathering, if the conversation is one. */
  circle: Circle;

  /** Open requests whose events lie before the loaded ones. */
  #earlier = $state.raw<Permission[]>([]);
  #events: Envelope[] = [];
  #timeline: Timeline;
  #connected = false;
  #asking = false;
  #askAgain = false;
  #askTimer: ReturnType<typeof setTimeout> | undefined;
  #deltas: Delta[] = [];
  /** Turns that have ended. Pieces of their text can still arrive. */
  #over = new Set<string>();
  #growTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
    this.outbox = outboxes.of(id);
    this.outbox.arrived = (event) => this.#answered(event);
    this.outbox.ran = () => this.askStateSoon();
    this.spending = new Spending(id);
    this.deliveries = new ChatDeliveries(id);
    this.circle = new Circle(id, () => this.invited);
    this.#timeline = this.#newTimeline();
  }

  /** Currency of the costs. */
  get currency(): string {
    return this.spending.currency;
  }

  invited = $derived(this.state?.participants.invited ?? []);
  /** Requests that wait for a person's answer. */
  waiting = $derived.by<Permission[]>(() => [...this.#earlier, ...(void this.rows, this.#timeline.waiting())]);
  /** Row of the guard that holds the floor: the last hold in the list. */
  heldSince = $derived.by(() => {
    if (!this.state?.held) return null;
    return this.rows.findLast((row) => row.kind === 'line' && isHold(row.event))?.key ?? null;
  });
  #byId = $derived(new Map(this.invited.map((entry) => [entry.id, entry])));
  /** Colours, by id. A session has the colour of its own name, whatever it is called here. */
  #hues = $derived.by(() => {
    const inOrder = [...this.invited].sort((a, b) => a.color - b.color);
    const hues = huesOf(inOrder.map((entry) => sessions.find(entry.profile.session ?? null)?.name ?? entry.id));
    return new Map(inOrder.map((entry, index) => [entry.id, hues[index]]));
  });

  #newTimeline(): Timeline {
    return new Timeline((event) => this.outbox.keyOf(event));
  }

  participant(id: string): Invited | undefined {
    return this.#byId.get(id);
  }

  /** Returns a participant's colour; null for you, undefined for those who are not invited. */
  hueOf(id: string): number | null | undefined {
    return id === ME ? null : this.#hues.get(id);
  }

  /** Returns the name shown for a participant. */
  nameOf(id: string): string {
    if (id === ME) return 'You';
    if (id === SERVER) return 'Moothall';
    return this.#byId.get(id)?.profile.nickname ?? this.circle.nameOf(id) ?? id;
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

  /**
   * Returns the row of the person's message that is being answered: that of the first open turn, or
   * else the last one that does not wait.
   */
  answering(): Extract<Row, { kind: 'message' }> | undefined {
    const cause = this.state?.turns[0]?.cause.seq;
    const waits = new Set(this.state?.queue.map((queued) => queued.seq));
    const rows = this.rows;
    if (cause !== undefined) return this.#timeline.rootRow(cause);
    return rows.findLast(
      (row): row is Extract<Row, { kind: 'message' }> =>
        row.kind === 'message' && row.root === row.event.id && !waits.has(row.event.seq),
    );
  }

  /** True unless the end of a turn is known already. The state comes a moment later. */
  isSpeaking(turn: OpenTurn): boolean {
    void this.rows;
    return !this.#over.has(turn.id);
  }

  indexAt(seq: number): number {
    return this.#timeline.indexAt(seq);
  }

  get events(): readonly Envelope[] {
    return this.#events;
  }

  get hasOlder(): boolean {
    return this.first > 0;
  }

  /** Opens the room at its end, or around a position. */
  async open(seq: number | null): Promise<void> {
    try {
      await this.#askState();
      this.newUntil = this.head;
      // In a conversation that was never read, everything is new, so a mark is not needed.
      void reads.before(this.id).then((mark) => (this.newAfter = mark || null));
      if (!this.#holds(seq)) await this.#loadAround(seq);
      await this.#askEarlier();
      this.phase = 'ready';
      this.connect();
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 410 || this.#isOver()) this.end();
      else if (status === 404) this.phase = 'missing';
      // A room that was opened before shows its events. Its stream waits for the server.
      else if (this.#holds(seq)) this.connect();
      else this.phase = 'failed';
    }
  }

  #holds(seq: number | null): boolean {
    if (this.#events.length === 0) return false;
    return seq === null ? this.atHead : seq > this.first && seq <= this.last;
  }

  async #loadAround(seq: number | null): Promise<void> {
    const after = seq === null ? Math.max(0, this.head - PAGE) : Math.max(0, seq - PAGE / 2);
    const page = await this.#page(after, PAGE);
    this.#events = page.events;
    this.first = after;
    this.last = page.through;
    this.settled = this.last;
    // The answer to a post may have come before its event was loaded.
    this.outbox.settleSent(page.events);
    this.#rebuild(false);
    this.#noteHead(page.head);
    this.atHead = this.last >= this.head;
    this.#teach();
  }

  #page(after: number, limit: number): Promise<EventPage> {
    return this.#ask<EventPage>(`events?${eventQuery({ after, limit })}`);
  }

  /** Requests a part of the conversation. Answers after a deletion are discarded. */
  async #ask<T>(path: string): Promise<T> {
    const answer = await get<T>(`/threads/${this.id}/${path}`);
    if (this.#isOver()) throw new ApiError(410, 'thread_deleted', 'The conversation was deleted.');
    return answer;
  }

  #isOver(): boolean {
    return this.phase === 'deleted';
  }

  #rebuild(shifted: boolean): void {
    this.#timeline = this.#newTimeline();
    this.#timeline.append(this.#events);
    this.shifted = shifted;
    this.rows = this.#timeline.rows;
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
      await this.#askEarlier();
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

  /** Goes to the newest events. */
  async toHead(): Promise<void> {
    if (this.atHead) return;
    await this.#load('newer', () => this.#loadAround(null));
  }

  /** Loads the events around a position, if they are not loaded. */
  async toSeq(seq: number): Promise<void> {
    if (!this.#holds(seq)) await this.#load('older', () => this.#loadAround(seq));
  }

  /** The state of the stream, as far as this conversation is concerned. */
  get link(): Link {
    return hall.link === 'live' && !this.#follows ? 'connecting' : hall.link;
  }

  connect(): void {
    if (this.#connected) return;
    this.#connected = true;
    live.follow(this.id, {
      // Events between `last` and `head` come by scrolling, so the stream begins after them.
      after: () => (this.atHead ? this.last : this.head),
      onframe: (frame) => this.#take(frame),
    });
    this.deliveries.follow();
    void this.#askPresence();
  }

  /** Reconnects after a pause. */
  resume(): void {
    if (this.phase === 'ready') this.connect();
  }

  disconnect(): void {
    live.unfollow(this.id);
    [this.#connected, this.#follows] = [false, false];
    this.deliveries.pause();
    clearTimeout(this.#growTimer);
    this.#growTimer = undefined;
    this.#deltas = [];
  }

  /** Drops everything, because the conversation was deleted. */
  end(): void {
    this.phase = 'deleted';
    this.disconnect();
    clearTimeout(this.#askTimer);
    this.#askAgain = false;
    [this.name, this.state, this.#earlier, this.#events] = ['', null, [], []];
    [this.first, this.last, this.head, this.settled] = [0, 0, 0, 0];
    [this.presence, this.writing, this.progress].forEach((all) => all.clear());
    this.spending.end();
    this.deliveries.end();
    this.circle.end();
    this.#rebuild(false);
  }

  /** The stream brings this conversation from now on: after a gap, more may have changed. */
  #followed(): void {
    this.#follows = true;
    // Turns may have ended while the connection was down. The stream begins with the running ones.
    this.writing.clear();
    this.spending.loadSoon();
    this.deliveries.loadSoon();
    this.circle.catchUp();
    this.askStateSoon();
    void this.#askPresence();
  }

  /** Fetches new events while the server refuses the stream: reading needs no stream. */
  async fetchNew(): Promise<void> {
    if (!this.atHead || !this.#connected) return;
    try {
      const page = await this.#page(this.last, PAGE);
      page.events.filter((event) => event.seq > this.last).forEach((event) => this.#adopt(event));
    } catch (error) {
      // The next refusal of the stream fetches again. But an unknown position stays unknown.
      if (error instanceof ApiError && error.status === 416) void this.#restart();
    }
  }

  /**
   * Handles a final refusal. A position that the server does not know means that its data were
   * replaced: start again.
   */
  #refused({ error }: FollowSignal): void {
    [this.#connected, this.#follows] = [false, false];
    if (error?.code === 'thread_deleted') tellDeletion(this.id);
    else if (error?.code === 'wrong_position') void this.#restart();
    else if (error?.code === 'thread_not_found') this.phase = 'missing';
  }

  async #restart(): Promise<void> {
    this.#events = [];
    this.head = 0;
    this.circle.end();
    this.phase = 'loading';
    await this.open(null);
  }

  #take({ event, seq, data }: Extract<HubMessage, { kind: 'frame' }>): void {
    if (event === 'deleted') return tellDeletion(this.id);
    if (event === 'following') return this.#followed();
    if (event === 'refused') return this.#refused(data as FollowSignal);
    if (event === 'left') this.#follows = false;
    else if (event === 'message' && seq !== null) this.#adopt(data as Envelope);
    else if (event === 'delta') this.#delta(data as Delta);
    else if (event === 'presence') this.#present(data as PresenceUpdate);
    else if (event === 'progress') this.#progressed(data as Progress);
  }

  /**
   * Takes the event from the answer to a post. If earlier events are missing, the stream brings it
   * after them, and the echo stays until then.
   */
  #answered(event: Envelope): void {
    if (event.seq === this.last + 1) this.#adopt(event);
    else if (event.seq <= this.last || !this.atHead) this.outbox.settle(event);
  }

  #adopt(event: Envelope): void {
    if (event.type === 'thread.deleted') return tellDeletion(this.id);
    this.outbox.settle(event);
    // Another tab may have asked for the same events again.
    if (this.atHead && event.seq <= this.last) return;
    if (this.atHead && event.seq > this.last) {
      this.#append([event]);
      this.last = event.seq;
    }
    this.#erase([event]);
    this.#noteHead(event.seq);
    this.#announce(event);
    this.#teach();
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

  #announce(event: Envelope): void {
    if (event.type === 'turn') this.#turnEnded(event);
    if (event.type === 'permission') this.#asked(event.content as PermissionEvent);
    if (isAboutBudgets(event)) this.spending.loadSoon();
    this.deliveries.loadSoon();
    this.circle.take(event);
    if (event.type === 'thread.renamed') this.name = String(event.content);
    if (event.type === 'message') {
      if (event.meta?.turn) this.#end(event.meta.turn);
      if (event.from !== ME) ui.say(`${this.nameOf(event.from)}: ${summary(String(event.content), 400)}`);
    }
    this.askStateSoon();
  }

  #asked(content: PermissionEvent): void {
    if (content.event === 'requested') ui.say(`${this.nameOf(content.participant)} asks for permission`);
  }

  #turnEnded(event: Envelope): void {
    const content = event.content as { event?: string; turn?: string } | null;
    if (content?.event !== 'ended' || !content.turn) return;
    this.#end(content.turn);
    this.spending.loadSoon();
  }

  #end(turn: string): void {
    this.#over.add(turn);
    this.writing.delete(turn);
    this.progress.delete(turn);
  }

  #teach(): void {
    if (!this.atHead) return;
    const after = this.#events.length > PAGE ? (this.#events.at(-PAGE)?.seq ?? 1) - 1 : this.first;
    hall.learn(this.id, this.#events.slice(-PAGE), after, this.last);
  }

  #noteHead(head: number): void {
    this.head = Math.max(this.head, head);
  }

  /** Collects pieces of text. They are assembled every `GROW_MS`, for any number of pieces. */
  #delta(delta: Delta): void {
    this.#deltas.push(delta);
    this.#growTimer ??= setTimeout(() => this.#grow(), GROW_MS);
  }

  #grow(): void {
    this.#growTimer = undefined;
    const grown = new Map<string, Writing>();
    for (const delta of this.#deltas) {
      if (this.#over.has(delta.turn)) continue;
      const before = grown.get(delta.turn) ?? this.writing.get(delta.turn);
      const partial = grow(before?.partial, delta);
      if (partial) grown.set(delta.turn, { turn: delta.turn, participant: delta.participant, partial });
    }
    this.#deltas = [];
    grown.forEach((writing, turn) => this.writing.set(turn, writing));
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

  /** Asks for the state soon: once for any number of events. */
  askStateSoon(): void {
    this.#askAgain = true;
    this.#askTimer ??= setTimeout(() => {
      this.#askTimer = undefined;
      void this.#askStateOnce();
    }, STATE_PAUSE_MS);
  }

  async #askStateOnce(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    this.#askAgain = false;
    try {
      await this.#askState();
    } catch {
      // The reconnected stream asks again.
    } finally {
      this.#asking = false;
      if (this.#askAgain) this.askStateSoon();
    }
  }

  async #askState(): Promise<void> {
    const answer = await this.#ask<StateAnswer>('state');
    this.state = answer.state;
    states.learn(answer.state.participants.invited.map((entry) => entry.doing));
    this.name = answer.name;
    this.deliveries.learn(answer.state.chats ?? []);
    this.#noteHead(answer.head);
    if (this.last >= answer.head) this.settled = Math.max(this.settled, answer.head);
    if (this.state.policy.name === 'talking_piece') this.circle.open();
    await this.#askEarlier();
  }

  /**
   * Loads open requests that lie before the loaded events. A request without a turn may wait for
   * days.
   */
  async #askEarlier(): Promise<void> {
    const asked = this.state === null ? [] : askedInNoTurn(this.state);
    const far = asked.filter(({ seq }) => this.#events.length > 0 && seq <= this.first);
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
