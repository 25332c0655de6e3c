/** The choices on the home view: the open need, and the conversation beside it. */

import type { Need } from '../lib/types';
import type { Needs } from './needs.svelte';

/** Time in which a card that opened by itself takes no key. */
const HELD_MS = 500;
/** Time in which the next question of a program's call may come, before another need opens. */
const FOLLOWS_MS = 5000;

export class Home {
  /** Id of the need that the person opened. */
  #chosen = $state<string | null>(null);
  /** The asker whose next question opens, because the answered one was one of several. */
  #asker = $state.raw<Pick<Need, 'thread' | 'participant'> | null>(null);
  /** The conversation that the person chose to look at. */
  #looked = $state<string | null>(null);
  /** True if the conversation is shown over the list, on screens without room beside it. */
  sheet = $state(false);
  /** Place of the open need, for the case that it goes. */
  #place = 0;
  #shown: string | null = null;
  #moved = false;
  #readyAt = 0;

  #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The open need. After the last one goes, the one that took its place is open. */
  current = $derived.by<Need | null>(() => {
    const at = this.#needs.list.findIndex((need) => need.id === this.#chosen);
    const asker = this.#asker;
    if (at < 0 && asker) return this.#needs.list.find((need) => isOf(need, asker)) ?? null;
    return this.#needs.list[at >= 0 ? at : Math.min(this.#place, this.#needs.list.length - 1)] ?? null;
  });

  /** The conversation to show beside: the chosen one, or that of the open need. */
  thread = $derived(this.#looked ?? this.current?.thread ?? null);

  /**
   * Notes the need whose card is about to be drawn. If it opened by itself, keys that were meant for
   * the card before do nothing for a while. Returns true if the card is another one.
   */
  draw(id: string | null): boolean {
    // No card is open while a program's next question is on its way.
    if (id === this.#shown || (id === null && this.#asker)) return false;
    if (!this.#moved && this.#shown !== null) this.#readyAt = performance.now() + HELD_MS;
    this.#moved = false;
    this.#shown = id;
    this.#chosen = id;
    this.#asker = null;
    this.#place = Math.max(
      0,
      this.#needs.list.findIndex((need) => need.id === id),
    );
    return true;
  }

  /** Forgets what was drawn, because the view goes. The next one focuses its card anew. */
  leave(): void {
    this.#shown = null;
    this.#looked = null;
    this.sheet = false;
  }

  /** True if a key counts for the card that is drawn. A held key never does. */
  takes(event: KeyboardEvent): boolean {
    return !event.repeat && performance.now() >= this.#readyAt;
  }

  /** Notes that one of several questions of a call was answered: the next one opens. */
  follow({ thread, participant }: Need): void {
    const asker = { thread, participant };
    this.#asker = asker;
    setTimeout(() => {
      if (this.#asker === asker) this.#asker = null;
    }, FOLLOWS_MS);
  }

  choose(id: string): void {
    this.#moved = id !== this.#shown;
    this.#looked = null;
    this.#chosen = id;
  }

  step(step: number): void {
    const at = this.#needs.list.findIndex((need) => need.id === this.current?.id);
    const next = this.#needs.list[Math.min(Math.max(at + step, 0), this.#needs.list.length - 1)];
    if (next) this.choose(next.id);
  }

  /** Shows a conversation beside the list, by default that of the open need. */
  look(thread: string | null): void {
    this.#looked = thread ?? this.#looked;
    this.sheet = true;
  }
}

function isOf(need: Need, asker: Pick<Need, 'thread' | 'participant'>): boolean {
  return need.thread === asker.thread && need.participant === asker.participant;
}
