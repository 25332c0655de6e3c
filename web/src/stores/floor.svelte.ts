/** The order of speaking in one room, as the rail and the strip show it. */

import type { OpenTurn } from '../lib/types';
import { resultOf } from '../lib/words';
import { runningWords } from './standing';
import type { Room } from './room.svelte';

export interface Next {
  participant: string;
  forced: boolean;
}

export class Floor {
  #room: () => Room;

  constructor(room: () => Room) {
    this.#room = room;
  }

  #state = $derived.by(() => this.#room().state);
  turns = $derived(this.#state?.turns ?? []);
  running = $derived(this.turns.filter((turn) => turn.state === 'running'));
  next = $derived<Next[]>([
    ...this.turns
      .filter((turn) => turn.state === 'waiting')
      .map((turn) => ({ participant: turn.participant, forced: !turn.may_pass })),
    ...(this.#state?.upcoming ?? []).filter(
      (next) => !this.turns.some((turn) => turn.participant === next.participant),
    ),
  ]);
  queued = $derived(this.#state?.queue.length ?? 0);
  /**
   * True if an agent speaks or will speak. Otherwise messages wait, and the last one has no
   * progress.
   */
  talked = $derived(this.running.length + this.next.length > 0);
  busy = $derived(this.talked || this.queued > 0);
  replies = $derived(this.#state?.replies ?? 0);
  repliesMax = $derived(this.#state?.replies_max ?? 0);
  /** True if the policy limits the replies to a message. */
  counts = $derived(this.#state?.policy.name === 'hybrid' || this.#state?.policy.name === 'round_robin');
  /** True if the limit is reached: from now on, agents that may pass are not asked. */
  #full = $derived(this.counts && this.replies >= this.repliesMax);
  /** Results of the other agents for the message that is being answered. */
  answered = $derived.by(() => {
    if (!this.talked) return [];
    const open = new Set([...this.turns, ...this.next].map((item) => item.participant));
    return (this.#room().answering()?.verdicts ?? []).filter((verdict) => !open.has(verdict.participant));
  });

  became(word: string): string {
    return resultOf(word);
  }

  /** Returns what an agent does whose turn runs. `short` leaves out the word if a clock says it. */
  does(turn: OpenTurn, short = false): string {
    return runningWords(this.#room(), turn, short);
  }

  will({ participant, forced }: Next): string {
    if (this.#state?.muted.includes(participant)) return 'muted';
    if (this.#state?.paused) return 'paused';
    return forced ? 'will reply' : this.#full ? `limit of ${this.repliesMax} reached` : 'may reply';
  }
}
