/** Things that wait for you, as the server tells it: in the title, in the list and at home. */

import { SvelteMap } from 'svelte/reactivity';
import { get } from '../lib/client';
import type { Need } from '../lib/types';
import type { Reads } from './reads.svelte';
import type { Me } from './me.svelte';

export class Needs {
  #all = new SvelteMap<string, Need[]>();
  /** Needs that were answered here, with their threads. They stay away until the server says so. */
  #answered = new SvelteMap<string, string>();
  #loading: Promise<void> | null = null;

  #me: Me;
  #reads: Reads;

  constructor(me: Me, reads: Reads) {
    this.#me = me;
    this.#reads = reads;
  }

  /** Oldest first. What your mark has passed is not among them. */
  list = $derived.by(() =>
    [...this.#all.values()]
      .flat()
      .filter((need) => this.#waits(need))
      .sort(byAge),
  );

  #waits(need: Need): boolean {
    if (this.#answered.has(need.id)) return false;
    return !need.passed_at || (this.#reads.mark(need.thread) ?? 0) < need.passed_at;
  }

  in(thread: string): Need[] {
    return (this.#all.get(thread) ?? []).filter((need) => this.#waits(need));
  }

  /** Takes all needs of a conversation. */
  take(thread: string, needs: readonly Need[]): void {
    if (needs.length > 0) this.#all.set(thread, [...needs]);
    else this.#all.delete(thread);
    const ids = new Set(needs.map((need) => need.id));
    for (const [id, at] of this.#answered) if (at === thread && !ids.has(id)) this.#answered.delete(id);
  }

  /** Takes all needs of all conversations. */
  takeAll(needs: readonly Need[]): void {
    const threads = new Set([...this.#all.keys(), ...needs.map((need) => need.thread)]);
    for (const thread of threads)
      this.take(
        thread,
        needs.filter((need) => need.thread === thread),
      );
  }

  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = null));
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const { needs } = await get<{ needs: Need[] }>(`/needs?as=${this.#me.id}`);
      this.takeAll(needs);
    } catch {
      // The next connection asks again.
    }
  }

  /** Records that you answered. */
  answered(need: Need): void {
    this.#answered.set(need.id, need.thread);
  }

  /** Records that you have seen a need that asks for no answer. Returns false for another one. */
  done(need: Need): boolean {
    if (!need.passed_at) return false;
    this.#reads.advance(need.thread, need.passed_at);
    return true;
  }

  forget(thread: string): void {
    this.#all.delete(thread);
  }
}

function byAge(one: Need, other: Need): number {
  return (one.since ?? '') < (other.since ?? '') ? -1 : 1;
}
