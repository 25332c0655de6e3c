/** What was sent and is not yet in the log. A message stays here until the server has it, or you take it back. */

import { ApiError, newKey, post, sentence } from '../lib/client';
import { load, save } from '../lib/storage';
import type { Accepted, Envelope } from '../lib/types';
import { ME } from '../lib/words';
import { ui } from './ui.svelte';

export interface Pending {
  key: string;
  text: string;
  to: string;
  replyTo: string | null;
  at: string;
  failed: string | null;
  /** What the server said that is too busy for it, and when it is sent again, in milliseconds since 1970. */
  busy?: { why: string; until: number };
  /** The event it became, once the server has said so and until that event comes. */
  event?: string;
}

/** For so long the server knows a key again, with an hour to spare. */
const KEY_MS = 23 * 3_600_000;
const LEAVING_MS = 5_000;
let leaving = false;

addEventListener('beforeunload', () => {
  leaving = true;
  // Unless it stays after all.
  setTimeout(() => (leaving = false), LEAVING_MS);
});

function isFresh(item: Pending): boolean {
  return Date.now() - Date.parse(item.at) < KEY_MS;
}

export class Outbox {
  items = $state.raw<Pending[]>([]);
  #thread: string;
  #arrived: (event: Envelope) => void;
  /** Row keys of events that began as echoes, so that their rows stay the same. */
  #keys = new Map<string, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going = false;

  constructor(thread: string, arrived: (event: Envelope) => void) {
    this.#thread = thread;
    this.#arrived = arrived;
    const cut = 'The page was closed before the server answered.';
    this.items = load<Pending[]>(`outbox.${thread}`, [])
      .filter((item) => !item.event)
      .map(({ busy, ...item }) => {
        if (!isFresh(item)) return { ...item, failed: item.failed ?? cut };
        return busy ? { ...item, busy } : item;
      });
    // What a reload cut off may or may not have arrived; its key makes sending it again harmless.
    this.items.filter((item) => item.failed === null && !item.busy).forEach((item) => void this.#post(item));
    void this.goOn();
  }

  send(text: string, to: string, replyTo: string | null): void {
    const item: Pending = { key: newKey(), text, to, replyTo, at: new Date().toISOString(), failed: null };
    // Behind what waits it waits as well, so that what is written first is read first.
    const before = this.items.findLast((other) => other.busy)?.busy;
    this.#set([...this.items, before ? { ...item, busy: before } : item]);
    if (!before) void this.#post(item);
  }

  /** Sends what the server was too busy for, in the order in which it was written, until it is too busy again. */
  async goOn(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#going) return;
    this.#going = true;
    for (let item = this.#firstBusy(); item; item = this.#firstBusy()) {
      if (!(await this.#post(item))) break;
    }
    this.#going = false;
  }

  #firstBusy(): Pending | undefined {
    return this.items.find((item) => item.busy);
  }

  /** Everything that waits, waits until the same time. */
  #wait(item: Pending, why: string, ms: number): void {
    const busy = { why, until: Date.now() + ms };
    this.#set(this.items.map((other) => (other.key === item.key || other.busy ? { ...other, busy } : other)));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.goOn(), ms);
  }

  retry(key: string): void {
    const item = this.items.find((candidate) => candidate.key === key);
    if (!item) return;
    const { busy: _, ...again } = { ...item, failed: null };
    this.#replace(again);
    void this.#post(again);
  }

  drop(key: string): Pending | undefined {
    const item = this.items.find((candidate) => candidate.key === key);
    this.#set(this.items.filter((candidate) => candidate.key !== key));
    return item;
  }

  /** Answers whether it is settled: it was taken, or nothing is tried any more. */
  async #post({ busy: _, ...item }: Pending): Promise<boolean> {
    const meta = item.replyTo ? { meta: { reply_to: item.replyTo } } : {};
    const body = { type: 'message', from: ME, to: item.to, content: item.text, ...meta };
    try {
      const answer = await post<Accepted>(`/threads/${this.#thread}/events`, body, item.key);
      answer.warnings?.forEach((warning) => ui.tell(warning));
      if (answer.event) this.#replace({ ...item, event: answer.event.id });
      else this.drop(item.key);
      if (answer.event) this.#arrived(answer.event);
      return true;
    } catch (error) {
      // A page that is being left breaks off its requests, which says nothing about them.
      if (leaving) await new Promise((resolve) => setTimeout(resolve, LEAVING_MS));
      if (error instanceof ApiError && error.waitMs !== null) {
        this.#wait(item, error.reason, error.waitMs);
        return false;
      }
      this.#replace({ ...item, failed: failedBecause(error) });
      return true;
    }
  }

  /** An event came: the echo it stands for goes, and its row takes over the echo's key. */
  settle(event: Envelope): void {
    if (event.type !== 'message' || event.from !== ME || this.#keys.has(event.id)) return;
    const isSame = (item: Pending) =>
      item.event ? item.event === event.id : item.text.trim() === event.content && item.to === event.to;
    const item = this.items.find((candidate) => candidate.event === event.id) ?? this.items.find(isSame);
    if (!item) return;
    this.#keys.set(event.id, item.key);
    this.drop(item.key);
  }

  /** The key of the row of an event. */
  keyOf(event: Envelope): string {
    return this.#keys.get(event.id) ?? event.id;
  }

  #replace(item: Pending): void {
    this.#set(this.items.map((candidate) => (candidate.key === item.key ? item : candidate)));
  }

  #set(items: Pending[]): void {
    this.items = items;
    save(`outbox.${this.#thread}`, items.length > 0 ? items : null);
  }
}

function failedBecause(error: unknown): string {
  if (error instanceof ApiError && error.offline) return 'The server could not be reached.';
  return sentence(error);
}
