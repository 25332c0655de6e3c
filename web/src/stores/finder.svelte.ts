/** Search across conversations, if the server has it. */

import { ApiError, get, sentence } from '../lib/client';
import type { Ui } from './ui.svelte';
import type { Me } from './me.svelte';

/** A part of a found message. Matched parts are words of the query. */
export interface Piece {
  text: string;
  matched?: boolean;
}

export interface Hit {
  thread: string;
  thread_name: string;
  seq: number;
  ts: string;
  from: string;
  snippet: Piece[];
}

export interface Found {
  hits: Hit[];
  next: number | null;
  fault: string | null;
}

const PAGE = 50;

export class Finder {
  /** True if the server can search. Assumed until `probe` has found out. */
  exists = $state(true);
  query = $state('');
  #probed = false;

  #me: Me;
  #ui: Ui;

  constructor(me: Me, ui: Ui) {
    this.#me = me;
    this.#ui = ui;
  }

  async probe(): Promise<void> {
    if (this.#probed) return;
    this.#probed = true;
    try {
      await get('/search?q=moothall&limit=1');
    } catch (error) {
      this.exists = error instanceof ApiError && error.status !== 404 && !error.offline;
    }
  }

  start(query: string): void {
    this.query = query;
    this.#ui.open('search');
  }

  /** Returns a page of results, newest first. `cursor` is `next` of the page before. */
  async find(query: string, cursor: number | null = null): Promise<Found> {
    try {
      const page = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await get<{ hits: Hit[]; next?: number | null }>(
        `/search?as=${this.#me.id}&q=${encodeURIComponent(query)}&limit=${PAGE}${page}`,
      );
      return { hits: answer.hits, next: answer.next ?? null, fault: null };
    } catch (error) {
      return { hits: [], next: null, fault: sentence(error) };
    }
  }
}
