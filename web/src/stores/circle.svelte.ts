/** The gathering of a conversation: its present state, its past, and the moment in view. */

import { ApiError, get } from '../lib/client';
import { erases, withoutWords } from '../lib/erased';
import { eventQuery } from '../lib/events';
import { momentsOf, ringAt, ringNow, seatsOf } from '../lib/gathering';
import type { Envelope, EventPage, Gathering, Invited } from '../lib/types';
import type { Me } from './me.svelte';

/** Delay before asking again: a step rarely comes alone. */
const SOON_MS = 80;
const PAGE = 1_000;
/** Types from which the ring is built. */
const TOLD = ['gathering', 'message'];
/**
 * Types after which the state may have changed: the steps, and events that pause or resume the
 * clock of a hold.
 */
const MOVES = ['gathering', 'notice', 'control', 'permission'];

export class Circle {
  /** The server's state; null if the conversation is not a gathering. */
  now = $state.raw<Gathering | null>(null);
  /** Number of past moments in view; null for the present. */
  at = $state<number | null>(null);
  #events = $state.raw<Envelope[]>([]);
  #thread: string;
  #me: Me;
  #invited: () => readonly Invited[];
  #through = 0;
  #opened = false;
  #asked = 0;
  #soon: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | null = null;

  moments = $derived(momentsOf(this.#events));
  #past = $derived(ringAt(this.moments, this.moments.length));
  /** The ring as drawn: the present one, or the one at the moment in view. */
  ring = $derived.by(() => {
    if (this.now === null || this.at !== null) return ringAt(this.moments, this.at ?? 0);
    return ringNow(this.now, this.#past);
  });
  seats = $derived.by(() => {
    const here = new Set(this.#invited().map((entry) => entry.id));
    return seatsOf(this.now?.participants ?? [], here);
  });
  #names = $derived(new Map(this.now?.participants.map((member) => [member.participant_id, member.name])));

  /** Deadline of a person who writes the harvest. */
  harvestUntil = $derived(this.#past.harvestUntil);

  /** True while only the holder may speak. */
  isOpen = $derived(this.now !== null && this.now.status !== 'closed');
  /** True if the person of this page has the piece. */
  isMine = $derived.by(() => this.isOpen && this.now?.holder?.participant_id === this.#me.id);
  /** True if the person of this page is asked for the harvest. */
  isMyHarvest = $derived(
    this.isOpen &&
      this.now?.phase === 'close' &&
      this.now.participants.some((member) => member.role === 'harvester' && member.participant_id === this.#me.id),
  );

  constructor(thread: string, me: Me, invited: () => readonly Invited[]) {
    this.#thread = thread;
    this.#me = me;
    this.#invited = invited;
  }

  /** Returns a member's name from the start of the gathering. */
  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  /** Starts to follow the gathering, once the conversation has the policy of gatherings. */
  open(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.catchUp();
  }

  /** Reads and asks again after a gap in the events. */
  catchUp(): void {
    if (!this.#opened) return;
    void this.#read();
    void this.#ask();
  }

  take(event: Envelope): void {
    if (!this.#opened) return;
    const gone = erases(event);
    if (gone !== null) this.#events = this.#events.map((known) => (known.seq === gone ? withoutWords(known) : known));
    if (TOLD.includes(event.type)) this.#add([event]);
    if (MOVES.includes(event.type)) this.askSoon();
  }

  /** Takes the state from an answer of the server. */
  learn(gathering: Gathering): void {
    // Answers still on their way are discarded: they may be older.
    this.#asked += 1;
    // This answer leaves out the seed, which is for one member only.
    this.now = { ...gathering, seed: this.now?.seed ?? null };
  }

  /** Asks for the state soon: once for any number of events. */
  askSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#ask();
    }, SOON_MS);
  }

  /** Drops the gathering and cancels its requests. */
  end(): void {
    clearTimeout(this.#soon);
    this.#soon = undefined;
    this.#asked += 1;
    [this.#opened, this.#through] = [false, 0];
    [this.now, this.at, this.#events] = [null, null, []];
  }

  async #ask(): Promise<void> {
    const mine = ++this.#asked;
    try {
      const gathering = await get<Gathering>(`/gatherings/${this.#thread}?participant=${this.#me.id}`);
      if (mine === this.#asked) this.now = gathering;
    } catch (error) {
      // A conversation can have this policy without being a gathering. After other failures, the
      // next step asks again.
      if (mine === this.#asked && error instanceof ApiError && error.status === 404) this.now = null;
    }
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = null));
    return this.#reading;
  }

  /** Reads all events of the gathering. The list of messages may have loaded only its end. */
  async #readAll(): Promise<void> {
    try {
      for (let more = true; more && this.#opened;) {
        const after = this.#through;
        const place = eventQuery({ after, limit: PAGE }, TOLD);
        const page = await get<EventPage>(`/threads/${this.#thread}/events?${place}`);
        if (!this.#opened) return;
        this.#add(page.events);
        this.#through = Math.max(this.#through, page.through);
        // A page that moves nothing would be requested for ever.
        more = page.through > after && page.through < page.head;
      }
    } catch {
      // `catchUp` continues from here after the reconnect.
    }
  }

  /**
   * Adds events, each once and in order. Pages and the stream overlap, and the stream may be ahead
   * of the pages.
   */
  #add(events: readonly Envelope[]): void {
    const known = new Set(this.#events.map((event) => event.seq));
    const fresh = events.filter((event) => !known.has(event.seq));
    if (fresh.length === 0) return;
    this.#events = [...this.#events, ...fresh].sort((a, b) => a.seq - b.seq);
  }
}
