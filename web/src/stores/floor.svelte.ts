/**
 * The floor of one conversation: its state as the server tells it, those who are invited, and the
 * order of speaking, as the rail and the strip show it.
 */

import { isHold } from '../lib/lines';
import type { Invited, StateAnswer, ThreadState } from '../lib/types';
import type { AskPart, History, MessageRow } from './history.svelte';

const STATE_PAUSE_MS = 80;

export interface Next {
  participant: string;
  forced: boolean;
}

export class Floor {
  state = $state.raw<ThreadState | null>(null);
  #ask: AskPart;
  #told: (answer: StateAnswer) => Promise<void>;
  #history: History;
  #asking = false;
  #askAgain = false;
  #askTimer: ReturnType<typeof setTimeout> | undefined;

  /** `told` is called with each answer of the server. */
  constructor(ask: AskPart, history: History, told: (answer: StateAnswer) => Promise<void>) {
    this.#ask = ask;
    this.#history = history;
    this.#told = told;
  }

  invited = $derived(this.state?.participants.invited ?? []);
  #byId = $derived(new Map(this.invited.map((entry) => [entry.id, entry])));
  turns = $derived(this.state?.turns ?? []);
  running = $derived(this.turns.filter((turn) => turn.state === 'running'));
  next = $derived<Next[]>([
    ...this.turns
      .filter((turn) => turn.state === 'waiting')
      .map((turn) => ({ participant: turn.participant, forced: !turn.may_pass })),
    ...(this.state?.upcoming ?? []).filter((next) => !this.turns.some((turn) => turn.participant === next.participant)),
  ]);
  queued = $derived(this.state?.queue.length ?? 0);
  /**
   * True if an agent speaks or will speak. Otherwise messages wait, and the last one has no
   * progress.
   */
  talked = $derived(this.running.length + this.next.length > 0);
  busy = $derived(this.talked || this.queued > 0);
  replies = $derived(this.state?.replies ?? 0);
  repliesMax = $derived(this.state?.replies_max ?? 0);
  /** True if the policy limits the replies to a message. */
  counts = $derived(this.state?.policy.name === 'hybrid' || this.state?.policy.name === 'round_robin');
  /** True if the limit is reached: from now on, agents that may pass are not asked. */
  #full = $derived(this.counts && this.replies >= this.repliesMax);
  /** Results of the other agents for the message that is being answered. */
  answered = $derived.by(() => {
    if (!this.talked) return [];
    const open = new Set([...this.turns, ...this.next].map((item) => item.participant));
    return (this.answering()?.verdicts ?? []).filter((verdict) => !open.has(verdict.participant));
  });
  /** Row of the guard that holds the floor: the last hold in the list. */
  heldSince = $derived.by(() => {
    if (!this.state?.held) return null;
    return this.#history.rows.findLast((row) => row.kind === 'line' && isHold(row.event))?.key ?? null;
  });

  participant(id: string): Invited | undefined {
    return this.#byId.get(id);
  }

  /**
   * Returns the row of the person's message that is being answered: that of the first open turn, or
   * else the last one that does not wait.
   */
  answering(): MessageRow | undefined {
    const cause = this.state?.turns[0]?.cause.seq;
    if (cause !== undefined) return this.#history.rootRow(cause);
    const waits = new Set(this.state?.queue.map((queued) => queued.seq));
    return this.#history.rows.findLast(
      (row): row is MessageRow => row.kind === 'message' && row.root === row.event.id && !waits.has(row.event.seq),
    );
  }

  will({ participant, forced }: Next): string {
    if (this.state?.muted.includes(participant)) return 'muted';
    if (this.state?.paused) return 'paused';
    return forced ? 'will reply' : this.#full ? `limit of ${this.repliesMax} reached` : 'may reply';
  }

  async ask(): Promise<void> {
    const answer = await this.#ask<StateAnswer>('state');
    this.state = answer.state;
    await this.#told(answer);
  }

  /** Asks for the state soon: once for any number of events. */
  askSoon(): void {
    this.#askAgain = true;
    this.#askTimer ??= setTimeout(() => {
      this.#askTimer = undefined;
      void this.#askOnce();
    }, STATE_PAUSE_MS);
  }

  async #askOnce(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    this.#askAgain = false;
    try {
      await this.ask();
    } catch {
      // The reconnected stream asks again.
    } finally {
      this.#asking = false;
      if (this.#askAgain) this.askSoon();
    }
  }

  /** Cancels requests and drops the state. */
  drop(): void {
    clearTimeout(this.#askTimer);
    this.#askTimer = undefined;
    this.#askAgain = false;
    this.state = null;
  }
}
