/** Reports your typing to the others: at intervals, and when you stop. */

import { post } from '../lib/client';
import { me } from './app';

const REPEAT_MS = 8_000;
const REST_MS = 4_000;

export class Typist {
  #thread: string;
  #said = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(thread: string) {
    this.#thread = thread;
  }

  type(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.rest(), REST_MS);
    if (Date.now() - this.#said < REPEAT_MS) return;
    this.#said = Date.now();
    this.#say('typing');
  }

  rest(): void {
    clearTimeout(this.#timer);
    if (this.#said === 0) return;
    this.#said = 0;
    this.#say('listening');
  }

  #say(state: string): void {
    // Presence is a courtesy, so a failed report is ignored.
    post(`/threads/${this.#thread}/presence`, { from: me.id, state }).catch(() => undefined);
  }
}
