/** Costs of a conversation's turns for each agent, and its budgets. */

import { SvelteMap } from 'svelte/reactivity';
import { get, post, sendControl } from '../lib/client';
import { keyOf, type Spent } from '../lib/budgets';
import type { UsageAnswer, UsageRow } from '../lib/types';
import { halfMinutes } from './clock.svelte';
import type { Me } from './me.svelte';

const SOON_MS = 300;

export class Spending {
  used = $state.raw<UsageAnswer | null>(null);
  currency = $derived(this.used?.currency ?? 'USD');
  /** The most expensive agents come first. */
  agents = $derived<UsageRow[]>((this.used?.rows ?? []).filter((row) => row.agent !== undefined));
  #thread: string;
  #me: Me;
  #asked = 0;
  #soon: ReturnType<typeof setTimeout> | undefined;
  /** Budgets raised from this page, each with its limit before the raise. */
  #raised = new SvelteMap<string, number>();

  constructor(thread: string, me: Me) {
    this.#thread = thread;
    this.#me = me;
  }

  /** Loads soon: turns rarely end alone. */
  loadSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, SOON_MS);
  }

  /** Cancels requests and drops the costs. */
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
      // The end of the next turn asks again.
    }
  }

  /** True if a budget from a notice is still used up, as far as the page knows. */
  isOver(spent: Spent): boolean {
    if (Date.parse(spent.until) <= halfMinutes() || (this.#raised.get(keyOf(spent)) ?? -1) >= spent.limit) return false;
    const now = this.used?.budgets.find((one) => keyOf(one) === keyOf(spent) && one.measure === spent.measure);
    return now === undefined || (now.spent >= now.limit && now.limit <= spent.limit);
  }

  /** Raises a budget for a time in seconds: by turns per hour, or by money per day. */
  async raise(spent: Spent, by: number, seconds: number): Promise<void> {
    const more = { ...(spent.measure === 'cost_micros' ? { cost: by } : { turns: by }), seconds };
    if (spent.budget === 'conversation') await sendControl(this.#me.id, this.#thread, { budget: more });
    else
      await post('/budgets/raise', { budget: spent.budget, ...(spent.whose ? { whose: spent.whose } : {}), ...more });
    this.#raised.set(keyOf(spent), spent.limit);
    await this.load();
  }
}
