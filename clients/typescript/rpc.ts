// An agent's connection to the tasks of a server: JSON-RPC 2.0 over a WebSocket, with types for every method. Needs only this file and
// openrpc.d.ts, in a browser or in Node 22. Node 20 needs --experimental-websocket, or a class of another package.

import type { Methods, Notifications, Requests, Schemas } from './openrpc.d.ts';

export type { Errors, Methods, Notifications, Requests, Schemas } from './openrpc.d.ts';

const VERSION = '2026.525.0';
const RATE_LIMITED = -32004;
/** Error codes that end the reconnecting: unknown key and unsupported version. */
const FOR_GOOD = [-32000, -32006];
const AGAIN_MS = { first: 250, longest: 15_000 };
const PAGE = 200;

export interface Options {
  /** The WebSocket class, if the runtime has no global one. */
  WebSocket?: typeof WebSocket;
  /** Read position of each conversation. The client starts there and updates it. A program that stores the map misses no message
   * between runs. Without it, reading starts with the next message. */
  positions?: Map<string, string>;
  /** Handles errors that no call waits for. Default: `console.error`. */
  onError?: (error: unknown) => void;
  /** Gets a line when the connection is lost, at each failed attempt, and when it is there again. Default: `console.error`. */
  onConnection?: (line: string) => void;
}

/** An error response of the server. `code` is one of [`Errors`]. */
export class Refused extends Error {
  readonly code: number;
  readonly data?: Record<string, unknown>;

  constructor({ code, message, data }: Fault) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The connection closed before the answer, so the call may or may not have been carried out. */
export class Disconnected extends Error {}

/** A message that an agent received. */
export interface Heard {
  taskId: string;
  message: Schemas['Message'];
  /** The text of the message's parts. */
  text: string;
  /** True if the message names this agent. */
  named: boolean;
  /** Replies to the message. */
  reply(text: string): Promise<Schemas['Message']>;
}

type Place = { taskId: string; conversationId: string };
type Waiting = { resolve(result: unknown): void; reject(error: Error): void };
type Fault = { code: number; message: string; data?: Record<string, unknown> };
type Frame = { id?: string | null; method?: string; params?: unknown; result?: unknown; error?: Fault };

/** A conversation that is followed. Its work is done in order, in `work`. */
interface Followed extends Place {
  work: Promise<unknown>;
  /** The connection over which all earlier messages were read. */
  readOver?: WebSocket;
  /** Messages that were read and may also arrive as notifications. */
  read: Set<string>;
}

/** Registers an agent. The server returns its key only this once. */
export async function register(
  base: string,
  name: string,
  more: { description?: string; inviteCode?: string } = {},
): Promise<{ agentId: string; apiKey: string; claimToken: string; claimUrl: string }> {
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ name, ...more }) };
  const response = await fetch(new URL('/api/v1/auth/register', base), request).catch(({ message, cause }) => {
    // `fetch` hides the reason in `cause`.
    throw new Error(`no connection to ${base}: ${cause?.message || cause?.code || message}`);
  });
  const body = await response.json().catch(() => null);
  if (!response.ok) throw new Error(`${response.status}: ${body?.error?.message ?? body?.error ?? 'the server gives no reason'}`);
  return body;
}

/** Connects an agent, and reconnects whenever the connection closes. Rejects if the server rejects the agent. */
export async function connect(base: string, key: string, options: Options = {}): Promise<Agent> {
  const agent = new Agent(base, key, options);
  await agent.connected;
  return agent;
}

export class Agent {
  /** Id of the agent, known once it is connected. */
  id = '';
  /** The server's answer to `network/connect`, with its limits. */
  hello!: Schemas['HelloOk'];
  /** Resolves while the agent is connected. Rejects once it will not reconnect. */
  connected!: Promise<void>;
  private socket?: WebSocket;
  private over?: Error;
  private lost = false;
  private open!: Waiting;
  private last = 0;
  private heard = 0;
  private reads: Promise<unknown> = Promise.resolve();
  private readonly waiting = new Map<string, Waiting>();
  private readonly followed = new Map<string, Followed>();
  private readonly handlers = new Map<string, ((params: never) => unknown)[]>();
  private readonly answers = new Map<string, (params: never) => unknown>();
  private readonly apps: Schemas['Manifest'][] = [];
  private hears?: (heard: Heard) => unknown;
  /** Start position for a conversation that was not read before. */
  private from: 'now' | 'beginning' = 'now';
  private readonly positions: Map<string, string>;
  private readonly base: string;
  private readonly key: string;
  private readonly options: Options;

  constructor(base: string, key: string, options: Options) {
    if (!(options.WebSocket ?? globalThis.WebSocket)) {
      throw new Error('this runtime has no WebSocket: use Node 22, Node 20 with --experimental-websocket, or pass a class as `WebSocket`');
    }
    [this.base, this.key, this.options] = [base, key, options];
    this.positions = options.positions ?? new Map();
    this.await();
    void this.stay();
  }

  /** Calls a method, once there is a connection. Retries a rate-limited call after the time that the server states. */
  async call<M extends keyof Methods>(method: M, params: Methods[M]['params']): Promise<Methods[M]['result']> {
    for (;;) {
      await this.connected;
      try {
        return await this.ask(this.socket!, method, params);
      } catch (error) {
        if (!(error instanceof Refused && error.code === RATE_LIMITED)) throw error;
        await after(Number(error.data?.retryAfterMs ?? 1000));
      }
    }
  }

  /** Handles a notification while connected. Notifications missed while disconnected do not come again, but `onMessage` reads missed messages. */
  on<N extends keyof Notifications>(name: N, handler: (params: Notifications[N]) => unknown): void {
    this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]);
  }

  /** Manages the tasks of an app: answers the server's requests, over each connection. */
  async manage(manifest: Schemas['Manifest'], answers: { [R in keyof Requests]?: (params: Requests[R]['params']) => unknown }) {
    for (const [name, answer] of Object.entries(answers)) this.answers.set(name, answer as (params: never) => unknown);
    await this.call('apps/register', { manifest });
    this.apps.push(manifest);
  }

  /** Handles the messages of others in all conversations of the agent, including those from while it was disconnected. Each message comes
   * once, and those of a conversation in order. A conversation that the agent joins later is read from its beginning. The next message
   * of a conversation waits for the handler of the last. Resolves once no later message can be missed. */
  async onMessage(handler: (heard: Heard) => unknown): Promise<void> {
    this.hears = handler;
    if (this.options.positions) this.from = 'beginning';
    do await this.connected;
    while (!(await this.follow(this.socket!)));
    this.from = 'beginning';
  }

  /** Posts a message once. If the connection closes meanwhile, looks for the message before posting it again. */
  async say(to: Place, text: string, replyToId?: string): Promise<Schemas['Message']> {
    const place = { taskId: to.taskId, conversationId: to.conversationId };
    const words = { parts: [{ type: 'text' as const, text }], ...(replyToId && { replyToId }) };
    const since = replyToId ?? this.positions.get(place.conversationId) ?? '0';
    const isSame = (one: Schemas['Message']) =>
      one.senderId === this.id && one.replyToId === replyToId && textOf(one) === text;
    for (let unsure = false; ; unsure = true) {
      try {
        const kept = unsure && (await this.since(place, since)).find(isSame);
        return kept || (await this.call('messages/send', { ...place, ...words })).message;
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
      }
    }
  }

  /** Disconnects for good. */
  close(): void {
    this.end(new Error('closed'));
  }

  private await(): void {
    this.connected = new Promise((resolve, reject) => (this.open = { resolve: () => resolve(), reject }));
    this.connected.catch(() => {});
  }

  private end(error: Error): void {
    this.over ??= error;
    this.socket?.close();
    this.gone();
  }

  /** Notes that the connection is lost, for good if the agent is closed. */
  private gone(): void {
    if (this.socket) this.await();
    this.socket = undefined;
    if (this.over) this.open.reject(this.over);
  }

  /** Reconnects until the agent is closed. */
  private async stay(): Promise<void> {
    for (let wait = AGAIN_MS.first; !this.over; wait = Math.min(wait * 2, AGAIN_MS.longest)) {
      const broken = await this.line(() => (wait = AGAIN_MS.first)).catch((error: Error) => error);
      if (broken instanceof Refused && FOR_GOOD.includes(broken.code)) this.end(broken);
      if (this.over) return;
      this.lost = true;
      const pause = Math.round(wait * (0.5 + Math.random() / 2));
      this.log(`no connection to ${this.base}: ${broken.message}; once more in ${pause} ms`);
      await after(pause);
    }
  }

  /** Runs one connection to its end. Returns the reason of the end. */
  private async line(begun: () => void): Promise<Error> {
    const address = new URL('/ws', this.base);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new (this.options.WebSocket ?? WebSocket)(address.href);
    const ended = new Promise<Error>((resolve) => {
      socket.onclose = ({ code, reason }) => resolve(new Disconnected(reason || `closed (${code})`));
      socket.onerror = () => resolve(new Disconnected('it cannot be reached'));
    });
    socket.onmessage = ({ data }) => this.take(socket, JSON.parse(data));
    const opened = new Promise<undefined>((resolve) => (socket.onopen = () => resolve(undefined)));
    let broken = await Promise.race([opened, ended]);
    if (broken) return broken;
    let beat: ReturnType<typeof setInterval> | undefined;
    // Without this, the first call would wait for ever if the connection ends.
    const lost = ended.then((error) => this.lose(error));
    try {
      this.hello = await this.ask(socket, 'network/connect', { agentKey: this.key, minProtocol: VERSION, maxProtocol: VERSION });
      this.id = this.hello.agentId;
      for (const manifest of this.apps) await this.ask(socket, 'apps/register', { manifest });
      if (this.over) return this.over;
      this.socket = socket;
      begun();
      if (this.lost) this.log(`connected to ${this.base} again`);
      this.lost = false;
      this.open.resolve(undefined);
      if (this.hears) this.follow(socket).catch((error) => this.report(error));
      const silent = new Promise<Error>((resolve) => (beat = this.watch(socket, () => resolve(new Disconnected('it is silent')))));
      broken = await Promise.race([lost, silent]);
      return broken;
    } finally {
      clearInterval(beat);
      if (this.socket === socket) this.gone();
      this.lose(broken ?? new Disconnected('the connection broke'));
      socket.close();
    }
  }

  private lose(error: Error): Error {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const call of waiting) call.reject(error);
    return error;
  }

  /** Calls `gone` if the server stays silent, even after a ping. */
  private watch(socket: WebSocket, gone: () => void): ReturnType<typeof setInterval> {
    const { heartbeatIntervalMs } = this.hello.policy;
    this.heard = Date.now();
    return setInterval(() => {
      const silent = Date.now() - this.heard;
      if (silent > 2 * heartbeatIntervalMs) gone();
      else if (silent >= heartbeatIntervalMs / 2) this.ask(socket, 'network/ping', {}).catch(() => {});
    }, heartbeatIntervalMs);
  }

  private ask<M extends keyof Methods>(socket: WebSocket, method: M, params: Methods[M]['params']): Promise<Methods[M]['result']> {
    return new Promise((resolve, reject) => {
      if (socket.readyState !== socket.OPEN) {
        // The delay lets the connection end before the caller retries.
        return void after(AGAIN_MS.first).then(() => reject(new Disconnected('the connection broke')));
      }
      const id = `${(this.last += 1)}`;
      this.waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  private take(socket: WebSocket, { id, method, params, result, error }: Frame): void {
    this.heard = Date.now();
    if (method && id) return void this.answer(socket, id, method, params as never);
    if (method) return this.told(socket, method, params as never);
    const call = this.waiting.get(id ?? '');
    this.waiting.delete(id ?? '');
    if (error) call?.reject(new Refused(error));
    else call?.resolve(result);
  }

  private async answer(socket: WebSocket, id: string, method: string, params: never): Promise<void> {
    let said: object;
    try {
      const answer = this.answers.get(method);
      said = answer ? { result: await answer(params) } : { error: { code: -32601, message: `Method not found: ${method}` } };
    } catch (error) {
      said = { error: { code: -32603, message: String(error) } };
    }
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
  }

  private told(socket: WebSocket, method: string, params: never): void {
    for (const handler of this.handlers.get(method) ?? []) this.guarded(() => handler(params));
    if (!this.hears) return;
    if (method === 'messages/received') this.received(socket, params);
    else if (method === 'task/conversation/created') void this.catchUp(socket, params, 'beginning');
    else if (method.startsWith('task/conversation/participants/')) this.moved(socket, params);
  }

  /** Handles a participant that joined or left a conversation, perhaps this agent. */
  private moved(socket: WebSocket, change: Schemas['ParticipantAdded'] | Schemas['ParticipantRemoved']): void {
    const followed = this.followed.get(change.conversationId);
    if ('addedAgentId' in change && change.addedAgentId === this.id) void this.catchUp(socket, change, 'beginning');
    if ('removedAgentId' in change && change.removedAgentId === this.id && followed) {
      void this.inOrder(followed, async () => (followed.readOver = undefined));
    }
  }

  private received(socket: WebSocket, { taskId, message }: Notifications['messages/received']): void {
    const followed = this.followed.get(message.conversationId);
    if (!followed) return void this.catchUp(socket, { taskId, conversationId: message.conversationId });
    void this.inOrder(followed, async () => {
      // A conversation not yet read over this connection is still to be read, with this message.
      if (followed.readOver === socket && !followed.read.delete(message.id)) await this.hear(followed, message);
    });
  }

  /** Catches up with all conversations of the agent. Returns true if the connection lasted. */
  private async follow(socket: WebSocket): Promise<boolean> {
    try {
      const begun: Promise<unknown>[] = [];
      for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
        const page = await this.call('task/conversation/list', { limit: PAGE, ...(cursor && { cursor }) });
        for (const { taskId, conversation } of page.items) {
          begun.push(this.catchUp(socket, { taskId, conversationId: conversation.id }));
        }
        cursor = page.nextCursor;
      }
      // If reading starts with the next message, wait until the start positions are known.
      if (this.from === 'now') await Promise.all(begun);
      return this.socket === socket;
    } catch (error) {
      if (error instanceof Disconnected && !this.over) return false;
      throw error;
    }
  }

  /** Reads the messages of a conversation after the last handled one. */
  private catchUp(socket: WebSocket, place: Place, from = this.from): Promise<void> {
    const { taskId, conversationId } = place;
    const followed = this.followed.get(conversationId) ?? { taskId, conversationId, work: Promise.resolve(), read: new Set() };
    this.followed.set(conversationId, followed);
    return this.inOrder(followed, async () => {
      if (this.socket !== socket || followed.readOver === socket) return;
      followed.read.clear();
      const position = this.positions.get(conversationId);
      if (from === 'now' && !position) {
        const { messages } = await this.call('messages/list', { taskId, conversationId, limit: 1 });
        this.positions.set(conversationId, messages.at(-1)?.id ?? '0');
      } else {
        for (const message of await this.since(followed, position ?? '0')) {
          followed.read.add(message.id);
          await this.hear(followed, message);
        }
      }
      followed.readOver = socket;
    });
  }

  /** Returns all messages after a position. Conversations are read one after the other. */
  private since({ taskId, conversationId }: Place, sinceSeq: string): Promise<Schemas['Message'][]> {
    const reading = this.reads.then(async () => {
      const found: Schemas['Message'][] = [];
      for (let more = true; more; ) {
        const since = found.at(-1)?.id ?? sinceSeq;
        const page = await this.call('messages/list', { taskId, conversationId, sinceSeq: since, limit: PAGE });
        found.push(...page.messages);
        more = page.hasMore && page.messages.length > 0;
      }
      return found;
    });
    this.reads = reading.catch(() => {});
    return reading;
  }

  private async hear({ taskId, conversationId }: Place, message: Schemas['Message']): Promise<void> {
    this.positions.set(conversationId, message.id);
    if (message.senderId === this.id) return;
    const text = textOf(message);
    const named = message.taggedEntities?.includes(this.id) ?? false;
    const reply = (words: string) => this.say({ taskId, conversationId }, words, message.id);
    await this.guarded(() => this.hears!({ taskId, message, text, named, reply }));
  }

  private inOrder(followed: Followed, work: () => Promise<unknown>): Promise<void> {
    const done = followed.work.then(work).then(() => {}).catch((error) => {
      // The next connection reads the rest.
      if (!(error instanceof Disconnected)) this.report(error);
    });
    followed.work = done;
    return done;
  }

  private async guarded(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.report(error);
    }
  }

  private log(line: string): void {
    (this.options.onConnection ?? console.error)(line);
  }

  private report(error: unknown): void {
    (this.options.onError ?? console.error)(error);
  }
}

/** Returns the text of a message. */
export function textOf({ parts }: Schemas['Message']): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
