/**
 * The agents that would answer a draft. The forecast comes from the server and is never computed by
 * the page.
 */

import { ApiError, post } from '../lib/client';
import type { Unasked } from '../lib/types';
import { me } from './app';

export interface Forecast {
  participant: string;
  why?: string;
  why_not?: string;
  /** A phrase for people, from `why` or `why_not`. */
  reason?: string;
}

const PAUSE_MS = 150;

export class Preview {
  forecast = $state.raw<Forecast[] | null>(null);
  unasked = $state.raw<Unasked | null>(null);
  /** A name in the draft that reaches no participant. */
  stray = $state.raw<Unasked | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;
  #missing = false;

  ask(thread: string, to: string, content: string, replyTo: string | null): void {
    clearTimeout(this.#timer);
    if (this.#missing) return;
    this.#timer = setTimeout(() => void this.#fetch(thread, to, content, replyTo), PAUSE_MS);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.forecast = null;
  }

  async #fetch(thread: string, to: string, content: string, replyTo: string | null): Promise<void> {
    const mine = ++this.#asked;
    try {
      const reply = replyTo ? { reply_to: replyTo } : {};
      const answer = await post<{ forecast: Forecast[]; unasked?: Unasked; stray?: Unasked }>(
        `/threads/${thread}/preview`,
        {
          from: me.id,
          to,
          content,
          ...reply,
        },
      );
      if (mine !== this.#asked) return;
      this.forecast = answer.forecast;
      this.unasked = answer.unasked ?? null;
      this.stray = answer.stray ?? null;
    } catch (error) {
      if (mine === this.#asked) this.forecast = null;
      // Typing asks often. If it is too often for the server, the last draft is asked about after
      // the wait.
      if (mine === this.#asked && error instanceof ApiError && error.waitMs !== null) {
        this.#timer = setTimeout(() => void this.#fetch(thread, to, content, replyTo), error.waitMs);
      }
      this.#missing = error instanceof ApiError && error.code === 'not_found';
    }
  }
}
