/**
 * Messages and commands that are not in the log yet. Each stays here until the server has it, or
 * the person takes it back.
 */

import { ApiError, newKey, post, sentence } from '../lib/client';
import { SvelteMap } from 'svelte/reactivity';
import { load, names, save } from '../lib/storage';
import type { Accepted, Envelope } from '../lib/types';
import { warningSentences } from '../lib/warnings';
import type { Me } from './me.svelte';
import type { Ui } from './ui.svelte';

export interface Pending {
  key: string;
  text: string;
  /** Set for a command, which only the server reads. */
  command?: true;
  to: string;
  replyTo: string | null;
  at: string;
  failed: string | null;
  /** The reason for the wait, and the time of the next try in milliseconds since 1970. */
  waits?: { why: string; until: number };
  /** Id of the event that the message became, until that event arrives. */
  event?: string;
}

/** The server's answer to a command that had to wait. */
export interface Answered {
  key: string;
  command: string;
  text: string;
}

/** Time for which the server recognises a key, less an hour to be safe. */
const KEY_MS = 23 * 3_600_000;
/** Interval of tries while the server is away. A reconnect also tries. */
const AWAY_MS = 4_000;
/** Long, because signing in reloads the page, which sends. */
const SIGNED_OUT_MS = 60_000;
const TOO_OLD = 'It waited so long that it may have been sent already. Check before you send it again.';
const STORED = 'outbox.';

/** True if an item is still to be sent and has not failed. */
function isOwed(item: Pending): boolean {
  return item.failed === null && item.event === undefined;
}

export class Outbox {
  items = $state.raw<Pending[]>([]);
  /** Answers to commands that waited, in the order in which they ran. */
  answers = $state.raw<Answered[]>([]);
  /** Called with the event that a message became. */
  arrived: (event: Envelope) => void = () => {};
  /** Called after a command ran. */
  ran: () => void = () => {};
  #thread: string;
  #me: Me;
  #ui: Ui;
  /** Row keys of events that began as echoes, so that their rows stay the same. */
  #keys = new Map<string, string>();
  /** Keys of all items that were ever in this outbox. Other stored items belong to other tabs. */
  #own = new Set<string>();
  /** Warnings about accepted messages, by the ids of their events. */
  #warnings = new SvelteMap<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going = false;

  constructor(thread: string, me: Me, ui: Ui, sends: boolean) {
    this.#thread = thread;
    this.#me = me;
    this.#ui = ui;
    // An item that a reload cut off may have arrived. Its key makes sending it again harmless.
    this.items = this.#stored().filter((item) => !item.event);
    this.items.forEach((item) => this.#own.add(item.key));
    if (sends) void this.goOn();
  }

  send(text: string, to: string, replyTo: string | null): void {
    this.#add({ key: newKey(), text, to, replyTo, at: new Date().toISOString(), failed: null });
  }

  /** Queues a command after unsent items. `key` is the key of an earlier try. */
  order(text: string, key: string): void {
    this.#add({ key, text, command: true, to: 'all', replyTo: null, at: new Date().toISOString(), failed: null });
  }

  /** True if an item is still to be sent. New ones queue after it. */
  get owes(): boolean {
    return this.items.some(isOwed);
  }

  /** Drops the answer to a command, once it was read. */
  forget(key: string): void {
    this.answers = this.answers.filter((answer) => answer.key !== key);
  }

  #add(item: Pending): void {
    // A new item waits behind a waiting one, so that messages are read in the order of writing.
    const waits = this.items.findLast((other) => isOwed(other) && other.waits)?.waits;
    this.#own.add(item.key);
    this.#set([...this.items, waits ? { ...item, waits } : item]);
    if (!waits) void this.goOn();
  }

  /** Sends unsent items one by one, in the order of writing, until one has to wait. */
  async goOn(): Promise<void> {
    if (this.#going || !this.#me.isKnown) return;
    clearTimeout(this.#timer);
    this.#going = true;
    for (let item = this.items.find(isOwed); item; item = this.items.find(isOwed)) {
      if (!(await this.#post(item))) break;
    }
    this.#going = false;
  }

  /** Lets all unsent items wait until the same time. */
  #wait(why: string, ms: number): void {
    const waits = { why, until: Date.now() + ms };
    this.#set(this.items.map((item) => (isOwed(item) ? { ...item, waits } : item)));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.goOn(), ms);
  }

  retry(key: string): void {
    const item = this.items.find((candidate) => candidate.key === key);
    if (!item) return;
    const { waits: _, ...again } = { ...item, failed: null };
    this.#replace(again);
    void this.goOn();
  }

  drop(key: string): Pending | undefined {
    const item = this.items.find((candidate) => candidate.key === key);
    this.#set(this.items.filter((candidate) => candidate.key !== key));
    return item;
  }

  /** Sends one item. Returns true if it is settled: accepted, or failed for good. */
  async #post({ waits: _, ...item }: Pending): Promise<boolean> {
    if (Date.now() - Date.parse(item.at) > KEY_MS) {
      this.#replace({ ...item, failed: TOO_OLD });
      return true;
    }
    try {
      await (item.command ? this.#run(item) : this.#say(item));
      return true;
    } catch (error) {
      const later = waitsFor(error);
      if (later) this.#wait(later.why, later.ms);
      else this.#replace({ ...item, failed: sentence(error) });
      return later === null;
    }
  }

  async #say(item: Pending): Promise<void> {
    const meta = item.replyTo ? { meta: { reply_to: item.replyTo } } : {};
    const body = { type: 'message', from: this.#me.id, to: item.to, content: item.text, ...meta };
    const answer = await post<Accepted>(`/threads/${this.#thread}/events`, body, item.key);
    const warnings = warningSentences(answer.warnings ?? []);
    if (answer.event) this.#warnings.set(answer.event.id, warnings);
    else warnings.forEach((warning) => this.#ui.tell(warning));
    if (answer.event) this.#replace({ ...item, event: answer.event.id });
    else this.drop(item.key);
    if (answer.event) this.arrived(answer.event);
  }

  async #run({ key, text }: Pending): Promise<void> {
    const answer = await order(this.#me.id, this.#thread, text, key);
    this.drop(key);
    this.answers = [...this.answers, { key, command: text, text: answer }];
    this.ran();
  }

  /** Removes the echo of an event that arrived. The event's row takes over the echo's key. */
  settle(event: Envelope): void {
    if (event.type !== 'message' || event.from !== this.#me.id || this.#keys.has(event.id)) return;
    const isSame = (item: Pending) =>
      item.event
        ? item.event === event.id
        : !item.command && item.text.trim() === event.content && item.to === event.to;
    // The id is compared first: an earlier item may have the same words and wait.
    const item = this.items.find((candidate) => candidate.event === event.id) ?? this.items.find(isSame);
    if (!item) return;
    this.#keys.set(event.id, item.key);
    this.drop(item.key);
  }

  /**
   * Removes the echoes of sent messages whose events were loaded. Unsent items stay: an older
   * message may have the same words.
   */
  settleSent(events: readonly Envelope[]): void {
    const ids = new Set(this.items.flatMap((item) => item.event ?? []));
    for (const event of events) if (ids.has(event.id)) this.settle(event);
  }

  /** Stops sending and drops everything. Returns the texts that were never sent. */
  end(): string[] {
    clearTimeout(this.#timer);
    this.items.forEach((item) => this.#own.add(item.key));
    const unsent = [...this.items, ...this.#stored().filter((item) => !this.#own.has(item.key))];
    [this.items, this.answers] = [[], []];
    this.#keys.clear();
    this.#warnings.clear();
    save(STORED + this.#thread, null);
    return unsent.filter((item) => item.event === undefined).map((item) => item.text);
  }

  /** Returns the server's warnings about a message that it accepted. */
  warningsOf(event: Envelope): string[] {
    return this.#warnings.get(event.id) ?? [];
  }

  /** True if an event was written in this tab. */
  wrote(event: Envelope): boolean {
    return this.#keys.has(event.id);
  }

  /** Returns the key of an event's row. */
  keyOf(event: Envelope): string {
    return this.#keys.get(event.id) ?? event.id;
  }

  #replace(item: Pending): void {
    this.#set(this.items.map((candidate) => (candidate.key === item.key ? item : candidate)));
  }

  #stored(): Pending[] {
    return load<Pending[]>(STORED + this.#thread, []);
  }

  #set(items: Pending[]): void {
    this.items = items;
    // Another tab may have written to the same conversation, so its items are kept.
    const all = [...this.#stored().filter((item) => !this.#own.has(item.key)), ...items];
    save(STORED + this.#thread, all.length > 0 ? all : null);
  }
}

/** Runs a slash command now. Returns the server's answer. */
export async function order(from: string, thread: string, text: string, key: string): Promise<string> {
  return (await post<{ text: string }>(`/threads/${thread}/commands`, { from, text }, key)).text;
}

/**
 * Returns the reason and the time for which a refused item waits; null if the server will never
 * accept it.
 */
export function waitsFor(error: unknown): { why: string; ms: number } | null {
  if (!(error instanceof ApiError)) return null;
  if (error.waitMs !== null) return { why: error.reason, ms: error.waitMs };
  if (error.offline) return { why: 'It is sent when the server is back.', ms: AWAY_MS };
  if (error.status === 401) return { why: 'It is sent when you have signed in.', ms: SIGNED_OUT_MS };
  return null;
}

/**
 * The outboxes of all conversations with unsent items. All of them send, whichever conversation is
 * open.
 */
export class Outboxes {
  #all = new Map<string, Outbox>();
  #me: Me;
  #ui: Ui;

  constructor(me: Me, ui: Ui) {
    this.#me = me;
    this.#ui = ui;
  }

  of(thread: string, sends = true): Outbox {
    const outbox = this.#all.get(thread) ?? new Outbox(thread, this.#me, this.#ui, sends);
    this.#all.set(thread, outbox);
    return outbox;
  }

  /** Conversations with stored items. */
  get waiting(): string[] {
    return names(STORED).map((name) => name.slice(STORED.length));
  }

  /** Ends the outbox of a deleted conversation. Returns the texts that were never sent. */
  end(thread: string): string[] {
    const unsent = this.of(thread, false).end();
    this.#all.delete(thread);
    return unsent;
  }

  /** Sends from all outboxes, once the server can be reached. */
  goOn(): void {
    this.waiting.forEach((thread) => this.of(thread));
    this.#all.forEach((outbox) => void outbox.goOn());
  }
}
