/** Typing in the terminal of an agent, as the person at it. */

import { post, sentence } from '../lib/client';
import { joined, KEYSTROKES_MAX } from '../lib/keystrokes';
import type { KeysTyped, NewKeystroke } from '../lib/types';
import { me, ui } from './app';

export class Typing {
  /** True while the keys of this page go to the terminal. */
  held = $state(false);
  #session: string;
  #waiting: NewKeystroke[] = [];
  #sending = false;
  #release: ReturnType<typeof setTimeout> | undefined;
  #leave = () => this.#leaveNow();

  constructor(session: string) {
    this.#session = session;
    addEventListener('pagehide', this.#leave);
  }

  /** Takes the terminal over. Returns true if this worked. */
  async begin(): Promise<boolean> {
    return ui.attempt('Taking over', async () => this.#took(await this.#post({ keys: [] })));
  }

  /** Types a keystroke after those that wait. */
  type(key: NewKeystroke): void {
    if (!this.held) return;
    this.#waiting = joined(this.#waiting, key);
    void this.#send();
  }

  async release(): Promise<void> {
    if (!this.held) return;
    this.#over();
    await ui.attempt('Releasing', () => this.#post({ release: true }));
  }

  close(): void {
    removeEventListener('pagehide', this.#leave);
    this.#leaveNow();
  }

  /** Sends what waits, one request after the other, so that the keys keep their order. */
  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    while (this.held && this.#waiting.length > 0) {
      const keys = this.#waiting.slice(0, KEYSTROKES_MAX);
      this.#waiting = this.#waiting.slice(KEYSTROKES_MAX);
      try {
        this.#took(await this.#post({ keys }));
      } catch (error) {
        // Keys after a lost one could do something else than the person meant.
        this.#over();
        ui.tell('Your keys did not reach the terminal.', { bad: true, detail: sentence(error) });
      }
    }
    this.#sending = false;
  }

  #post(body: { keys?: NewKeystroke[]; release?: boolean }): Promise<KeysTyped> {
    return post<KeysTyped>(`/sessions/${this.#session}/keys`, { ...body, from: me.id });
  }

  /** Holds the terminal until the server releases it. */
  #took({ until }: KeysTyped): void {
    this.held = true;
    clearTimeout(this.#release);
    if (until) this.#release = setTimeout(() => this.#over(), Date.parse(until) - Date.now());
  }

  #over(): void {
    this.held = false;
    this.#waiting = [];
    clearTimeout(this.#release);
  }

  #leaveNow(): void {
    if (!this.held) return;
    this.#over();
    const headers = { 'x-moothall': '1', 'content-type': 'application/json' };
    const body = JSON.stringify({ release: true, from: me.id });
    void fetch(`/sessions/${this.#session}/keys`, { method: 'POST', headers, body, keepalive: true }).catch(() => {
      // The server releases the terminal by itself after a while.
    });
  }
}
