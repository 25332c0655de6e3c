/**
 * The position up to which you have read each conversation. The server keeps it for all your
 * browsers. Positions that the server does not have yet wait here. “Unread again” is a note of this
 * browser only, because the server's marks never go back.
 */

import { SvelteMap } from 'svelte/reactivity';
import { ApiError, put } from '../lib/client';
import { load, save, watch } from '../lib/storage';
import type { ReadMark } from '../lib/types';
import type { Me } from './me.svelte';

const UNTOLD = 'read';
const AGAIN = 'unread';
/** Delay that bundles positions, so that reading along does not send one for each message. */
const TELL_MS = 300;

function saved(name: string): Map<string, number> {
  return new Map(Object.entries(load<Record<string, number>>(name, {})));
}

export class Reads {
  #marks = new SvelteMap<string, number>();
  #again = new SvelteMap<string, number>(saved(AGAIN));
  /** Positions that the server does not know yet. */
  #untold = saved(UNTOLD);
  #waiting = new Map<string, (mark: number) => void>();
  #me: Me;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(me: Me) {
    this.#me = me;
    this.#untold.forEach((seq, thread) => this.#marks.set(thread, seq));
    watch(UNTOLD, () => saved(UNTOLD).forEach((seq, thread) => this.#raise(thread, seq)));
  }

  mark(thread: string): number | undefined {
    return this.#again.get(thread) ?? this.#marks.get(thread);
  }

  /** Resolves to the mark from before this visit, once the server has sent it. */
  before(thread: string): Promise<number> {
    const known = this.mark(thread);
    return known === undefined ? new Promise((resolve) => this.#waiting.set(thread, resolve)) : Promise.resolve(known);
  }

  /** Takes the server's mark. */
  learn(thread: string, seq: number): void {
    this.#waiting.get(thread)?.(this.#again.get(thread) ?? seq);
    this.#waiting.delete(thread);
    this.#raise(thread, seq);
  }

  /** Records that you have read up to a position. */
  advance(thread: string, seq: number): void {
    if (this.#again.delete(thread)) this.#saveAgain();
    if (seq <= (this.#marks.get(thread) ?? -1)) return;
    this.#marks.set(thread, seq);
    this.#untold.set(thread, seq);
    this.#saveUntold();
    this.#timer ??= setTimeout(() => void this.tell(), TELL_MS);
  }

  /** Marks a conversation as unread after a position, until it is read again. */
  again(thread: string, seq: number): void {
    this.#again.set(thread, seq);
    this.#saveAgain();
  }

  /** Conversations for which this browser has stored a position. */
  get noted(): string[] {
    return [...this.#untold.keys(), ...this.#again.keys()];
  }

  /** Drops the positions of a deleted conversation. */
  forget(thread: string): void {
    this.#marks.delete(thread);
    this.#waiting.delete(thread);
    if (this.#again.delete(thread)) this.#saveAgain();
    if (this.#untold.delete(thread)) this.#saveUntold();
  }

  /**
   * Sends the positions that the server does not know. The rest is retried after the server's wait,
   * or after a reconnect.
   */
  async tell(): Promise<void> {
    if (!this.#me.isKnown) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const told = await Promise.allSettled([...this.#untold].map(([thread, seq]) => this.#tellOne(thread, seq)));
    const waits = told.map((one) =>
      one.status === 'rejected' && one.reason instanceof ApiError ? one.reason.waitMs : null,
    );
    const wait = Math.max(...waits.map((ms) => ms ?? -1), -1);
    if (wait >= 0) this.#timer ??= setTimeout(() => void this.tell(), wait);
  }

  async #tellOne(thread: string, seq: number): Promise<void> {
    await put<ReadMark>(`/threads/${thread}/read`, { from: this.#me.id, seq });
    // A later position may have come meanwhile. It is still to be sent.
    if (this.#untold.get(thread) !== seq) return;
    this.#untold.delete(thread);
    this.#saveUntold();
  }

  #raise(thread: string, seq: number): void {
    if (seq > (this.#marks.get(thread) ?? -1)) this.#marks.set(thread, seq);
  }

  #saveUntold(): void {
    save(UNTOLD, this.#untold.size > 0 ? Object.fromEntries(this.#untold) : null);
  }

  #saveAgain(): void {
    save(AGAIN, this.#again.size > 0 ? Object.fromEntries(this.#again) : null);
  }
}
