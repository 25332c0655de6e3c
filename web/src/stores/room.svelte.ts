/** One open conversation: its history, its stream and its floor, and the way between them. */

import { isAboutBudgets } from '../lib/budgets';
import { ApiError, tellDeletion } from '../lib/client';
import { summary } from '../lib/markdown';
import { huesOf } from '../lib/palette';
import { askedInNoTurn } from '../lib/permissions';
import type { Envelope, PermissionEvent, StateAnswer } from '../lib/types';
import type { Names } from '../lib/names';
import { SERVER } from '../lib/words';
import type { Channels } from './channels.svelte';
import { Circle } from './circle.svelte';
import { ChatDeliveries } from './deliveries.svelte';
import { Floor } from './floor.svelte';
import type { Hall } from './hall.svelte';
import { History } from './history.svelte';
import type { Me } from './me.svelte';
import type { Outbox, Outboxes } from './outbox.svelte';
import type { Reads } from './reads.svelte';
import { RoomStream, type Followable } from './room-stream.svelte';
import type { Sessions } from './sessions.svelte';
import { Spending } from './spending.svelte';
import type { States } from './states.svelte';
import type { Ui } from './ui.svelte';

export type Phase = 'loading' | 'ready' | 'missing' | 'failed' | 'deleted';

/** The parts of the page that a room uses. */
export interface RoomParts {
  get: <T>(path: string) => Promise<T>;
  me: Me;
  live: Followable;
  hall: Pick<Hall, 'learn'>;
  reads: Pick<Reads, 'before'>;
  states: Pick<States, 'learn'>;
  sessions: Pick<Sessions, 'find'>;
  outboxes: Pick<Outboxes, 'of'>;
  channels: Channels;
  ui: Ui;
}

export class Room {
  readonly id: string;
  phase = $state<Phase>('loading');
  name = $state('');
  /**
   * Messages after `newAfter`, up to and including `newUntil`, were unread when the room was
   * opened.
   */
  newAfter = $state<number | null>(null);
  newUntil = $state(0);
  readonly history: History;
  readonly stream: RoomStream;
  readonly floor: Floor;
  readonly outbox: Outbox;
  readonly spending: Spending;
  /** The way of messages to bound chats. */
  readonly deliveries: ChatDeliveries;
  /** The gathering, if the conversation is one. */
  readonly circle: Circle;

  #parts: RoomParts;

  constructor(id: string, parts: RoomParts) {
    this.id = id;
    this.#parts = parts;
    const { me, live, channels, ui } = parts;
    const ask = <T>(path: string) => this.#ask<T>(path);
    this.outbox = parts.outboxes.of(id);
    this.outbox.arrived = (event) => this.#answered(event);
    this.outbox.ran = () => this.floor.askSoon();
    this.spending = new Spending(id, me);
    this.deliveries = new ChatDeliveries(id, channels, ui);
    this.circle = new Circle(id, me, () => this.floor.invited);
    this.history = new History(ask, {
      keyOf: (event) => this.outbox.keyOf(event),
      // The answer to a post may have come before its event was loaded.
      loaded: (events) => this.outbox.settleSent(events),
      newest: (events, after, through) => this.#parts.hall.learn(id, events, after, through),
    });
    this.floor = new Floor(ask, this.history, (answer) => this.#stated(answer));
    this.stream = new RoomStream(id, live, ask, {
      after: () => this.history.end,
      onevent: (event) => this.#adopt(event),
      onfollowed: () => this.#followed(),
      onrefused: (code) => this.#refused(code),
      ondeleted: () => tellDeletion(id),
    });
  }

  /** Colours, by id. A session has the colour of its own name, whatever it is called here. */
  #hues = $derived.by(() => {
    const inOrder = [...this.floor.invited].sort((a, b) => a.color - b.color);
    const hues = huesOf(
      inOrder.map((entry) => this.#parts.sessions.find(entry.profile.session ?? null)?.name ?? entry.id),
    );
    return new Map(inOrder.map((entry, index) => [entry.id, hues[index]]));
  });

  /** Returns a participant's colour; null for you, undefined for those who are not invited. */
  hueOf(id: string): number | null | undefined {
    return id === this.#parts.me.id ? null : this.#hues.get(id);
  }

  /** Returns the name shown for a participant. */
  nameOf(id: string): string {
    if (id === this.#parts.me.id) return 'You';
    if (id === SERVER) return 'Moothall';
    return this.floor.participant(id)?.profile.nickname ?? this.circle.nameOf(id) ?? id;
  }

  /** The names for all ids, as the person of the page sees them. */
  get names(): Names {
    return Object.assign((id: string) => this.nameOf(id), { me: this.#parts.me.id });
  }

  /** Opens the room at its end, or around a position. */
  async open(seq: number | null): Promise<void> {
    try {
      await this.floor.ask();
      this.newUntil = this.history.head;
      // In a conversation that was never read, everything is new, so a mark is not needed.
      void this.#parts.reads.before(this.id).then((mark) => (this.newAfter = mark || null));
      await this.history.open(seq);
      this.phase = 'ready';
      this.connect();
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status === 410 || this.#isOver()) this.end();
      else if (status === 404) this.phase = 'missing';
      // A room that was opened before shows its events. Its stream waits for the server.
      else if (this.history.holds(seq)) this.connect();
      else this.phase = 'failed';
    }
  }

  connect(): void {
    if (this.stream.connected) return;
    this.stream.connect();
    this.deliveries.follow();
  }

  /** Reconnects after a pause. */
  resume(): void {
    if (this.phase === 'ready') this.connect();
  }

  disconnect(): void {
    this.stream.disconnect();
    this.deliveries.pause();
  }

  /** Drops everything, because the conversation was deleted. */
  end(): void {
    this.phase = 'deleted';
    this.name = '';
    this.stream.drop();
    this.floor.drop();
    this.history.drop();
    this.spending.end();
    this.deliveries.end();
    this.circle.end();
  }

  /** Fetches new events while the server refuses the stream: reading needs no stream. */
  async fetchNew(): Promise<void> {
    if (!this.history.atHead || !this.stream.connected) return;
    try {
      (await this.history.fresh()).forEach((event) => this.#adopt(event));
    } catch (error) {
      // The next refusal of the stream fetches again. But an unknown position stays unknown.
      if (error instanceof ApiError && error.status === 416) void this.#restart();
    }
  }

  /** Requests a part of the conversation. Answers after a deletion are discarded. */
  async #ask<T>(path: string): Promise<T> {
    const answer = await this.#parts.get<T>(`/threads/${this.id}/${path}`);
    if (this.#isOver()) throw new ApiError(410, 'thread_deleted', 'The conversation was deleted.');
    return answer;
  }

  #isOver(): boolean {
    return this.phase === 'deleted';
  }

  /** Hands the server's answer about the state to the parts that need it. */
  async #stated({ state, name, head }: StateAnswer): Promise<void> {
    this.#parts.states.learn(state.participants.invited.map((entry) => entry.doing));
    this.name = name;
    this.deliveries.learn(state.chats ?? []);
    if (state.policy.name === 'talking_piece') this.circle.open();
    await this.history.learn(head, askedInNoTurn(state));
  }

  #followed(): void {
    this.spending.loadSoon();
    this.deliveries.loadSoon();
    this.circle.catchUp();
    this.floor.askSoon();
  }

  /**
   * Handles a final refusal. A position that the server does not know means that its data were
   * replaced: start again.
   */
  #refused(code: string | undefined): void {
    if (code === 'thread_deleted') tellDeletion(this.id);
    else if (code === 'wrong_position') void this.#restart();
    else if (code === 'thread_not_found') this.phase = 'missing';
  }

  async #restart(): Promise<void> {
    this.history.forget();
    this.circle.end();
    this.phase = 'loading';
    await this.open(null);
  }

  /**
   * Takes the event from the answer to a post. If earlier events are missing, the stream brings it
   * after them, and the echo stays until then.
   */
  #answered(event: Envelope): void {
    if (event.seq === this.history.last + 1) this.#adopt(event);
    else if (event.seq <= this.history.last || !this.history.atHead) this.outbox.settle(event);
  }

  #adopt(event: Envelope): void {
    if (event.type === 'thread.deleted') return tellDeletion(this.id);
    this.outbox.settle(event);
    if (!this.history.take(event)) return;
    this.#announce(event);
    this.history.tell();
  }

  #announce(event: Envelope): void {
    if (event.type === 'turn') this.#turnEnded(event);
    if (event.type === 'permission') this.#asked(event.content as PermissionEvent);
    if (isAboutBudgets(event)) this.spending.loadSoon();
    this.deliveries.loadSoon();
    this.circle.take(event);
    if (event.type === 'thread.renamed') this.name = String(event.content);
    if (event.type === 'message') {
      if (event.meta?.turn) this.stream.end(event.meta.turn);
      if (event.from !== this.#parts.me.id)
        this.#parts.ui.say(`${this.nameOf(event.from)}: ${summary(String(event.content), 400)}`);
    }
    this.floor.askSoon();
  }

  #asked(content: PermissionEvent): void {
    if (content.event === 'requested') this.#parts.ui.say(`${this.nameOf(content.participant)} asks for permission`);
  }

  #turnEnded(event: Envelope): void {
    const content = event.content as { event?: string; turn?: string } | null;
    if (content?.event !== 'ended' || !content.turn) return;
    this.stream.end(content.turn);
    this.spending.loadSoon();
  }
}
