/**
 * The way of an open conversation's messages to the chats that it is bound to. Nothing is asked
 * while no chat is bound. The server has no signal for deliveries, so they are asked for after each
 * event, and again, more and more rarely, while one is on its way.
 */

import { markOf, type Mark } from '../lib/channels';
import { get, post } from '../lib/client';
import type { DeliveryEntry } from '../lib/types';
import type { Channels } from './channels.svelte';
import type { Ui } from './ui.svelte';

const SOON_MS = 400;
const PAUSE_MS_MAX = 20_000;
const OPEN = new Set(['pending', 'sending', 'sent', 'accepted']);

export class ChatDeliveries {
  /** The chats to which the conversation is bound. */
  chats = $state.raw<readonly string[]>([]);
  #all = $state.raw<ReadonlyMap<number, DeliveryEntry[]>>(new Map());
  /** Time of the last answer. */
  #at = $state(0);
  #thread: string;
  #channels: Channels;
  #ui: Ui;
  #asked = 0;
  #pause = SOON_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #follows = false;

  constructor(thread: string, channels: Channels, ui: Ui) {
    this.#thread = thread;
    this.#channels = channels;
    this.#ui = ui;
  }

  /** Takes the bound chats, as the state of the conversation has them. */
  learn(chats: readonly string[]): void {
    if (chats.join(' ') === this.chats.join(' ')) return;
    this.chats = chats;
    if (chats.length > 0) this.#channels.loadSoon();
    this.loadSoon();
  }

  /** Begins to ask: the conversation is open in the page. */
  follow(): void {
    this.#follows = true;
    this.loadSoon();
  }

  /** Ends all asking. */
  pause(): void {
    this.#follows = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Ends all asking, and drops what is known. */
  end(): void {
    this.pause();
    this.#asked += 1;
    [this.chats, this.#all] = [[], new Map()];
  }

  /** Asks soon: one answer for any number of events. */
  loadSoon(): void {
    this.#pause = SOON_MS;
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#follows ? setTimeout(() => void this.load(), this.#pause) : undefined;
  }

  async load(): Promise<void> {
    const mine = ++this.#asked;
    if (this.chats.length === 0) {
      this.#all = new Map();
      return;
    }
    try {
      const { deliveries } = await get<{ deliveries: DeliveryEntry[] }>(`/threads/${this.#thread}/deliveries`);
      if (mine !== this.#asked) return;
      const owed = this.#isOpen();
      this.#all = Map.groupBy(deliveries, (delivery) => delivery.seq);
      this.#at = Date.now();
      // The chats show how much is on the way.
      if (owed && !this.#isOpen()) this.#channels.loadSoon();
    } catch {
      // Asked again below, or after the next event.
    }
    if (!this.#isOpen()) return;
    this.#pause = Math.min(this.#pause * 2, PAUSE_MS_MAX);
    this.#wait();
  }

  #isOpen(): boolean {
    return [...this.#all.values()].flat().some((delivery) => OPEN.has(delivery.state));
  }

  /** Returns the way of some events to the bound chats. */
  marks(events: readonly { seq: number; ts: string }[], nameOf: (chat: string) => string): Mark[] {
    if (this.chats.length === 0) return [];
    return events.flatMap(({ seq, ts }) =>
      (this.#all.get(seq) ?? []).map((one) => markOf(one, nameOf(one.chat), this.#at - Date.parse(ts))),
    );
  }

  /** Sends a message again. A message that was sent again meanwhile is not an error. */
  again(delivery: number): Promise<boolean> {
    return this.#ui.attempt('Sending it again', async () => {
      await post(`/threads/${this.#thread}/deliveries/${delivery}/again`, {});
      await this.load();
      this.#ui.say('Sent again');
    });
  }
}
