/** What the turns of a conversation have cost, for each agent, and what may still be spent. */

import { SvelteMap } from 'svelte/reactivity';
import { get, post } from '../lib/client';
import { keyOf, type Spent } from '../lib/budgets';
import type { UsageAnswer, UsageRow } from '../lib/types';
import { halfMinutes } from './clock.svelte';
import { control } from './actions';

const SOON_MS = 300;

export class Spending {
  used = $state.raw<UsageAnswer | null>(null);
  currency = $derived(this.used?.currency ?? 'USD');
  /** Those that cost most first. */
  agents = $derived<UsageRow[]>((this.used?.rows ?? []).filter((row) => row.agent !== undefined));
  #thread: string;
  #asked = 0;
  #soon: ReturnType<typeof setTimeout> | undefined;
  /** Budgets that were raised from here, and with which limit each was used up then. */
  #raised = new SvelteMap<string, number>();

  constructor(thread: string) {
    this.#thread = thread;
  }

  /** Turns rarely end alone. */
  loadSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, SOON_MS);
  }

  /** Nothing is asked any more. */
  end(): void {
    clearTimeout(this.#soon);
    this.#asked += 1;
    this.used = null;
  }

  async load(): Promise<void> {
    const mine = ++this.#asked;
    try {
      const used = await get<UsageAnswer>(`/usage?thread=${this.#thread}&by=agent`);
      if (mine === this.#asked) this.used = used;
    } catch {
      // It is asked for again after the next turn.
    }
  }

  /** Whether what a notice told is so still, as far as it is known. */
  isOver(spent: Spent): boolean {
    if (Date.parse(spent.until) <= halfMinutes() || (this.#raised.get(keyOf(spent)) ?? -1) >= spent.limit) return false;
    const now = this.used?.budgets.find((one) => keyOf(one) === keyOf(spent) && one.measure === spent.measure);
    return now === undefined || (now.spent >= now.limit && now.limit <= spent.limit);
  }

  /** Raises a budget: by turns in each hour, or by money in each day, for so many seconds. */
  async raise(spent: Spent, by: number, seconds: number): Promise<void> {
    const more = { ...(spent.measure === 'cost_micros' ? { cost: by } : { turns: by }), seconds };
    if (spent.budget === 'conversation') await control(this.#thread, { budget: more });
    else
      await post('/budgets/raise', { budget: spent.budget, ...(spent.whose ? { whose: spent.whose } : {}), ...more });
    this.#raised.set(keyOf(spent), spent.limit);
    await this.load();
  }
}

/** Which budget the dialog is about to raise. */
class Raising {
  of = $state.raw<Spent | null>(null);
}

export const raising = new Raising();
