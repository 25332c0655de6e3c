/** What was sent and is not yet in the log. A message or command stays here until the server has it, or you take it back. */

import { ApiError, newKey, post, sentence } from '../lib/client';
import { SvelteMap } from 'svelte/reactivity';
import { load, names, save } from '../lib/storage';
import type { Accepted, Envelope } from '../lib/types';
import { warningSentences } from '../lib/warnings';
import { ME } from '../lib/words';
import { ui } from './ui.svelte';

export interface Pending {
  key: string;
  text: string;
  /** It is a command: nobody reads it but the server. */
  command?: true;
  to: string;
  replyTo: string | null;
  at: string;
  failed: string | null;
  /** Why it could not be sent yet, and when it is tried again, in milliseconds since 1970. */
  waits?: { why: string; until: number };
  /** The event it became, once the server has said so and until that event comes. */
  event?: string;
}

/** What the server said to a command that had to wait. */
export interface Answered {
  key: string;
  command: string;
  text: string;
}

/** For so long the server knows a key again, with an hour to spare. */
const KEY_MS = 23 * 3_600_000;
/** How often a server that is away is tried, beside the moment at which it is there again. */
const AWAY_MS = 4_000;
/** Signing in begins the page anew, and that sends it. */
const SIGNED_OUT_MS = 60_000;
const TOO_OLD = 'It waited for so long that it may have been sent before; look whether it was.';
const STORED = 'outbox.';

/** Something that is still to be sent, unless it failed. */
function isOwed(item: Pending): boolean {
  return item.failed === null && item.event === undefined;
}

export class Outbox {
  items = $state.raw<Pending[]>([]);
  /** To commands that waited, in the order in which they ran. */
  answers = $state.raw<Answered[]>([]);
  /** Hears of the events that messages became. */
  arrived: (event: Envelope) => void = () => {};
  /** Hears that a command ran. */
  ran: () => void = () => {};
  #thread: string;
  /** Row keys of events that began as echoes, so that their rows stay the same. */
  #keys = new Map<string, string>();
  /** Messages that were ever in this outbox: those of other tabs are theirs. */
  #own = new Set<string>();
  /** Answers to messages that were taken all the same, by the ids of their events. */
  #warnings = new SvelteMap<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #going = false;

  constructor(thread: string, sends: boolean) {
    this.#thread = thread;
    // What a reload cut off may or may not have arrived; its key makes sending it again harmless.
    this.items = this.#stored().filter((item) => !item.event);
    this.items.forEach((item) => this.#own.add(item.key));
    if (sends) void this.goOn();
  }

  send(text: string, to: string, replyTo: string | null): void {
    this.#add({ key: newKey(), text, to, replyTo, at: new Date().toISOString(), failed: null });
  }

  /** Runs a command after what is owed. `key`: that under which it was tried already. */
  order(text: string, key: string): void {
    this.#add({ key, text, command: true, to: 'all', replyTo: null, at: new Date().toISOString(), failed: null });
  }

  /** Whether something is still to be sent, which goes first. */
  get owes(): boolean {
    return this.items.some(isOwed);
  }

  /** Somebody has read the answer to a command. */
  forget(key: string): void {
    this.answers = this.answers.filter((answer) => answer.key !== key);
  }

  #add(item: Pending): void {
    // Behind what waits it waits as well, so that what is written first is read first.
    const waits = this.items.findLast((other) => isOwed(other) && other.waits)?.waits;
    this.#own.add(item.key);
    this.#set([...this.items, waits ? { ...item, waits } : item]);
    if (!waits) void this.goOn();
  }

  /** Sends what is owed, one after the other in the order in which it was written, until something has to wait. */
  async goOn(): Promise<void> {
    if (this.#going) return;
    clearTimeout(this.#timer);
    this.#going = true;
    for (let item = this.items.find(isOwed); item; item = this.items.find(isOwed)) {
      if (!(await this.#post(item))) break;
    }
    this.#going = false;
  }

  /** All that is owed waits until the same time. */
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

  /** Answers whether it is settled: it was taken, or nothing is tried any more. */
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
    const body = { type: 'message', from: ME, to: item.to, content: item.text, ...meta };
    const answer = await post<Accepted>(`/threads/${this.#thread}/events`, body, item.key);
    const warnings = warningSentences(answer.warnings ?? []);
    if (answer.event) this.#warnings.set(answer.event.id, warnings);
    else warnings.forEach((warning) => ui.tell(warning));
    if (answer.event) this.#replace({ ...item, event: answer.event.id });
    else this.drop(item.key);
    if (answer.event) this.arrived(answer.event);
  }

  async #run({ key, text }: Pending): Promise<void> {
    const answer = await order(this.#thread, text, key);
    this.drop(key);
    this.answers = [...this.answers, { key, command: text, text: answer }];
    this.ran();
  }

  /** An event came: the echo it stands for goes, and its row takes over the echo's key. */
  settle(event: Envelope): void {
    if (event.type !== 'message' || event.from !== ME || this.#keys.has(event.id)) return;
    const isSame = (item: Pending) =>
      item.event
        ? item.event === event.id
        : !item.command && item.text.trim() === event.content && item.to === event.to;
    const item = this.items.find((candidate) => candidate.event === event.id) ?? this.items.find(isSame);
    if (!item) return;
    this.#keys.set(event.id, item.key);
    this.drop(item.key);
  }

  /** Nothing goes out from here any more. Answers what was never sent. */
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

  /** Returns what the server said about a message that it took. */
  warningsOf(event: Envelope): string[] {
    return this.#warnings.get(event.id) ?? [];
  }

  /** The key of the row of an event. */
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
    // Another tab may have written to the same conversation.
    const all = [...this.#stored().filter((item) => !this.#own.has(item.key)), ...items];
    save(STORED + this.#thread, all.length > 0 ? all : null);
  }
}

/** Runs a slash command now. Answers what the server says to it. */
export async function order(thread: string, text: string, key: string): Promise<string> {
  return (await post<{ text: string }>(`/threads/${thread}/commands`, { from: ME, text }, key)).text;
}

/** Why and for how long something waits that the server did not take: nothing where it never will. */
export function waitsFor(error: unknown): { why: string; ms: number } | null {
  if (!(error instanceof ApiError)) return null;
  if (error.waitMs !== null) return { why: error.reason, ms: error.waitMs };
  if (error.offline) return { why: 'It goes out when the server is there again.', ms: AWAY_MS };
  if (error.status === 401) return { why: 'It goes out when you have signed in.', ms: SIGNED_OUT_MS };
  return null;
}

/** The outboxes of all conversations in which something was written. What was left unsent goes out, whichever of them is open. */
class Outboxes {
  #all = new Map<string, Outbox>();

  of(thread: string, sends = true): Outbox {
    const outbox = this.#all.get(thread) ?? new Outbox(thread, sends);
    this.#all.set(thread, outbox);
    return outbox;
  }

  /** The conversations for which something waits. */
  get waiting(): string[] {
    return names(STORED).map((name) => name.slice(STORED.length));
  }

  /** A conversation was deleted. Answers what was never sent to it. */
  end(thread: string): string[] {
    const unsent = this.of(thread, false).end();
    this.#all.delete(thread);
    return unsent;
  }

  /** The server is there, perhaps again. */
  goOn(): void {
    this.waiting.forEach((thread) => this.of(thread));
    this.#all.forEach((outbox) => void outbox.goOn());
  }
}

export const outboxes = new Outboxes();
