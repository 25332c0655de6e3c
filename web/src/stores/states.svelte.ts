/** The states of participants, as the server tells them. The page works out none itself. */

import { SvelteMap } from 'svelte/reactivity';
import { get } from '../lib/client';
import { isAtWork, isRunning } from '../lib/occupations';
import type { Occupation, SessionEntry } from '../lib/types';
import { SERVER } from '../lib/words';
import type { Me } from './me.svelte';

/** More participants at work are a crowd. */
const CROWD_MIN = 3;

export class States {
  /** Thread → participant → state. */
  #all = new SvelteMap<string, SvelteMap<string, Occupation>>();

  #me: Me;

  constructor(me: Me) {
    this.#me = me;
  }

  /** Takes states of the server. Those of other participants stay. */
  learn(states: readonly (Occupation | null | undefined)[]): void {
    for (const state of states) {
      if (!state) continue;
      const thread = this.#all.get(state.thread) ?? new SvelteMap<string, Occupation>();
      thread.set(state.participant, state);
      this.#all.set(state.thread, thread);
    }
  }

  /** Asks for the states in all threads. Participants that are not in the answer rest. */
  async load(): Promise<void> {
    try {
      const { states } = await get<{ states: Occupation[] }>('/states');
      const listed = new Set(states.map((state) => `${state.thread} ${state.participant}`));
      for (const state of this.#every())
        if (isAtWork(state) && !listed.has(`${state.thread} ${state.participant}`))
          this.#all.get(state.thread)?.delete(state.participant);
      this.learn(states);
    } catch {
      // The next connection asks again.
    }
  }

  of(thread: string, participant: string): Occupation | undefined {
    return this.#all.get(thread)?.get(participant);
  }

  /** Returns the state of a session, as its home has it. */
  ofSession(session: SessionEntry): Occupation | undefined {
    return this.of(session.id, session.name) ?? session.doing ?? undefined;
  }

  forget(thread: string): void {
    this.#all.delete(thread);
  }

  /** Returns the others that do something in a conversation, those that ask first. */
  busyIn(thread: string): Occupation[] {
    const there = [...(this.#all.get(thread)?.values() ?? [])].filter((state) => !this.#isOwn(state));
    const busy = there.filter((state) => state.word === 'asks' || isRunning(state));
    return busy.sort((one, other) => Number(other.word === 'asks') - Number(one.word === 'asks'));
  }

  /** The participants that do something, or are about to, in any conversation. */
  atWork = $derived.by(() => this.#every().filter((state) => isAtWork(state) && !this.#isOwn(state)));

  /** True if a crowd is at work: the clocks then count whole seconds. */
  isCrowded = $derived(this.atWork.length > CROWD_MIN);

  #isOwn({ participant }: Occupation): boolean {
    return participant === this.#me.id || participant === SERVER;
  }

  #every(): Occupation[] {
    return [...this.#all.values()].flatMap((thread) => [...thread.values()]);
  }
}
