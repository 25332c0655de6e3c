/** A server and a stream that tests of stores drive: no request and no timer leaves the test. */

import type { HubMessage } from '../lib/hub';
import type { Envelope, EventPage, Invited, OpenTurn, StateAnswer, ThreadState } from '../lib/types';
import type { AskPart } from './history.svelte';
import type { Followable } from './room-stream.svelte';

export const THREAD = 't';

/** A server with the log of one conversation. */
export class FakeServer {
  log: Envelope[] = [];
  state: Partial<ThreadState> = {};
  /** The parts that were asked for, in order. */
  asked: string[] = [];
  /** Requests wait for this. */
  gate: Promise<unknown> = Promise.resolve();
  fault: Error | null = null;

  /** Adds an event to the log, and returns it. */
  say(type: string, content: unknown, from = 'ann', meta?: Envelope['meta']): Envelope {
    const seq = this.log.length + 1;
    const ts = new Date(Date.UTC(2026, 10, 28, 9, 0, 0, seq)).toISOString();
    const event = { id: `e${seq}`, seq, ts, thread: THREAD, type, from, to: 'all', content, ...(meta ? { meta } : {}) };
    this.log.push(event as Envelope);
    return event as Envelope;
  }

  fill(messages: number): this {
    for (let index = 0; index < messages; index += 1) this.say('message', `word ${this.log.length + 1}`);
    return this;
  }

  ask: AskPart = async <T>(path: string) => {
    this.asked.push(path);
    await this.gate;
    if (this.fault) throw this.fault;
    if (path === 'state') return this.#state() as T;
    if (path === 'presence') return { participants: [] } as T;
    return this.#page(new URLSearchParams(path.replace('events?', ''))) as T;
  };

  #page(query: URLSearchParams): EventPage {
    const [after, limit] = [Number(query.get('after')), Number(query.get('limit'))];
    const events = this.log.slice(after, after + limit);
    return { events, head: this.log.length, through: events.at(-1)?.seq ?? this.log.length } as EventPage;
  }

  #state(): StateAnswer {
    const state = {
      policy: { name: 'hybrid' },
      participants: { invited: [] },
      turns: [],
      upcoming: [],
      queue: [],
      muted: [],
      starts: [],
      questions: [],
      ...this.state,
    };
    return { name: 'Plans', head: this.log.length, state } as unknown as StateAnswer;
  }
}

/** A stream that brings what the test says. */
export class FakeHub implements Followable {
  followed: string[] = [];
  #sources = new Map<string, Parameters<Followable['follow']>[1]>();

  follow: Followable['follow'] = (thread, source) => {
    this.followed.push(`${thread} after ${source.after()}`);
    this.#sources.set(thread, source);
  };

  unfollow: Followable['unfollow'] = (thread) => void this.#sources.delete(thread);

  frame(event: string, data: unknown, seq: number | null = null): void {
    const frame: Extract<HubMessage, { kind: 'frame' }> = { kind: 'frame', event, seq, data };
    this.#sources.get(THREAD)?.onframe(frame);
  }

  bring(event: Envelope): void {
    this.frame('message', event, event.seq);
  }
}

export function agent(id: string, color = 0): Invited {
  return { id, kind: 'agent', color, profile: {} } as unknown as Invited;
}

export function openTurn(id: string, participant: string, cause: number, state = 'running'): OpenTurn {
  return { id, participant, state, may_pass: false, cause: { seq: cause } } as unknown as OpenTurn;
}
