/** How far this browser's person has read each conversation. */

import { SvelteMap } from 'svelte/reactivity';
import { load, save, watch } from '../lib/storage';

class Reads {
  #marks = new SvelteMap<string, number>(Object.entries(load<Record<string, number>>('read', {})));
  #saving: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    watch('read', () => {
      for (const [thread, seq] of Object.entries(load<Record<string, number>>('read', {}))) {
        if (seq > (this.#marks.get(thread) ?? -1)) this.#marks.set(thread, seq);
      }
    });
  }

  mark(thread: string): number | undefined {
    return this.#marks.get(thread);
  }

  advance(thread: string, seq: number): void {
    if (seq <= (this.#marks.get(thread) ?? -1)) return;
    this.set(thread, seq);
  }

  /** Also backwards, for “mark as unread”. */
  set(thread: string, seq: number): void {
    this.#marks.set(thread, seq);
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => save('read', Object.fromEntries(this.#marks)), 200);
  }
}

export const reads = new Reads();
