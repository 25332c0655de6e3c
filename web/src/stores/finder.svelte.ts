/** Search across conversations, where the server has it. */

import { ApiError, get, sentence } from '../lib/client';
import { ui } from './ui.svelte';

/** A stretch of a found message; the matched ones are words that were searched for. */
export interface Piece {
  text: string;
  matched?: boolean;
}

export interface Hit {
  thread: string;
  seq: number;
  ts: string;
  from: string;
  snippet: Piece[];
}

class Finder {
  /** Whether the server can search; found out when it is first of interest. */
  exists = $state(false);
  query = $state('');
  #probed = false;

  async probe(): Promise<void> {
    if (this.#probed) return;
    this.#probed = true;
    try {
      await get('/search?q=moothall&limit=1');
      this.exists = true;
    } catch (error) {
      this.exists = error instanceof ApiError && error.status !== 404 && !error.offline;
    }
  }

  start(query: string): void {
    this.query = query;
    ui.open('search');
  }

  async find(query: string): Promise<{ hits: Hit[]; fault: string | null }> {
    try {
      const answer = await get<{ hits: Hit[] }>(`/search?q=${encodeURIComponent(query)}&limit=50`);
      return { hits: answer.hits, fault: null };
    } catch (error) {
      return { hits: [], fault: sentence(error) };
    }
  }
}

export const finder = new Finder();
