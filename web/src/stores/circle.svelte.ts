/** The gathering that a conversation is: how it stands, what came before, and the moment that is looked at. */

import { ApiError, get } from '../lib/client';
import { erases, withoutWords } from '../lib/erased';
import { eventQuery } from '../lib/events';
import { momentsOf, ringAt, ringNow, seatsOf } from '../lib/gathering';
import type { Envelope, EventPage, Gathering, Invited } from '../lib/types';
import { ME } from '../lib/words';

/** A step rarely comes alone. */
const SOON_MS = 80;
const PAGE = 1_000;
/** All that the ring is put together from. */
const TOLD = ['gathering', 'message'];
/** Beside the steps themselves, what lets the clock of a hold stand still or run again. */
const MOVES = ['gathering', 'notice', 'control', 'permission'];

export class Circle {
  /** What the server says; nothing where the conversation is no gathering. */
  now = $state.raw<Gathering | null>(null);
  /** So many moments of the past are looked at; nothing where it is the present. */
  at = $state<number | null>(null);
  #events = $state.raw<Envelope[]>([]);
  #thread: string;
  #invited: () => readonly Invited[];
  #through = 0;
  #opened = false;
  #asked = 0;
  #soon: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | null = null;

  moments = $derived(momentsOf(this.#events));
  #past = $derived(ringAt(this.moments, this.moments.length));
  /** As it is drawn: now, or as it was at the moment that is looked at. */
  ring = $derived.by(() => {
    if (this.now === null || this.at !== null) return ringAt(this.moments, this.at ?? 0);
    return ringNow(this.now, this.#past);
  });
  seats = $derived.by(() => {
    const here = new Set(this.#invited().map((entry) => entry.id));
    return seatsOf(this.now?.participants ?? [], here);
  });
  #names = $derived(new Map(this.now?.participants.map((member) => [member.participant_id, member.name])));

  /** Until when a person is waited for who writes the harvest. */
  harvestUntil = $derived(this.#past.harvestUntil);

  /** Whether only the holder speaks. */
  isOpen = $derived(this.now !== null && this.now.status !== 'closed');
  /** The piece is with the person that this page speaks as. */
  isMine = $derived(this.isOpen && this.now?.holder?.participant_id === ME);
  /** The harvest is asked of the person that this page speaks as. */
  isMyHarvest = $derived(
    this.isOpen &&
      this.now?.phase === 'close' &&
      this.now.participants.some((member) => member.role === 'harvester' && member.participant_id === ME),
  );

  constructor(thread: string, invited: () => readonly Invited[]) {
    this.#thread = thread;
    this.#invited = invited;
  }

  /** What a member was called when it began. */
  nameOf(id: string): string | undefined {
    return this.#names.get(id);
  }

  /** The conversation follows the rules of gatherings. */
  open(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.catchUp();
  }

  /** Something may have been missed. */
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

  /** How it stands, as an answer of the server says it. */
  learn(gathering: Gathering): void {
    // An answer that is still on its way may be older.
    this.#asked += 1;
    // What is for one member alone stands in no such answer.
    this.now = { ...gathering, seed: this.now?.seed ?? null };
  }

  /** Asks how it stands soon: once, however many events ask for it. */
  askSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.#ask();
    }, SOON_MS);
  }

  /** Nothing of it stays. */
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
      const gathering = await get<Gathering>(`/gatherings/${this.#thread}?participant=${ME}`);
      if (mine === this.#asked) this.now = gathering;
    } catch (error) {
      // A conversation can follow these rules and be no gathering. Whatever else fails is asked for again with the next step.
      if (mine === this.#asked && error instanceof ApiError && error.status === 404) this.now = null;
    }
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = null));
    return this.#reading;
  }

  /** The whole of it is needed, of which the list of messages may have loaded but the end. */
  async #readAll(): Promise<void> {
    try {
      for (let more = true; more && this.#opened;) {
        const after = this.#through;
        const place = eventQuery({ after, limit: PAGE }, TOLD);
        const page = await get<EventPage>(`/threads/${this.#thread}/events?${place}`);
        if (!this.#opened) return;
        this.#add(page.events);
        this.#through = Math.max(this.#through, page.through);
        more = page.through > after && page.through < page.head;
      }
    } catch {
      // It is read on when the line is back.
    }
  }

  /** Pages and the stream overlap, and the stream may be ahead of the pages. */
  #add(events: readonly Envelope[]): void {
    const known = new Set(this.#events.map((event) => event.seq));
    const fresh = events.filter((event) => !known.has(event.seq));
    if (fresh.length === 0) return;
    this.#events = [...this.#events, ...fresh].sort((a, b) => a.seq - b.seq);
  }
}
