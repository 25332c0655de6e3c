/**
 * One connection to the server for all tabs of a browser: browsers open at most six to a server,
 * and a tab that waits for a free one cannot send. Tabs tell the hub which conversations and
 * terminals they show. The hub follows all of them in one stream and hands each tab its part.
 */

import { ApiError, put } from './client';
import { eventQuery } from './events';
import { EventStream, type Frame, type Link, type StreamOptions } from './sse';

/** A conversation that a tab shows, and the position up to which the tab has its events. */
export interface Followed {
  thread: string;
  after: number;
}

/** A message of a tab to the hub. */
export type TabMessage =
  | { kind: 'follow'; threads: Followed[]; screens: string[] }
  /** The identity of the tab's person. Another one than before needs another connection. */
  | { kind: 'who'; who: string }
  /** The person asks to connect now. */
  | { kind: 'retry' }
  /** The server does not answer this tab. */
  | { kind: 'suspect' }
  /** The tab is still there. */
  | { kind: 'alive' }
  | { kind: 'bye' };

/** The error of a refused connection, as it passes between tabs and the hub. */
export interface Refusal {
  status: number;
  code: string;
  message: string;
  waitMs: number | null;
}

/** A message of the hub to a tab. */
export type HubMessage =
  | { kind: 'link'; link: Link; retryAt: number | null; why: Refusal | null }
  | { kind: 'frame'; event: string; seq: number | null; data: unknown }
  | { kind: 'heard' }
  /** The server has another log than before, so all positions are worthless. */
  | { kind: 'replaced' };

/** The part of a message port that the hub uses. */
export interface TabPort {
  postMessage(message: HubMessage): void;
  onmessage: ((event: MessageEvent<TabMessage>) => void) | null;
}

interface Tab {
  threads: Map<string, number>;
  screens: Set<string>;
  heardAt: number;
}

/** Browsers let hidden tabs speak about once a minute. A tab silent for longer than this is gone. */
const GONE_MS = 180_000;
/** Pause before a source that ended by itself is followed again. */
const AGAIN_MS = 1_000;
const HEARD_MS = 1_000;

type Streaming = Pick<EventStream, 'retry' | 'reconnect' | 'close'>;

/** The requests of the hub. Tests replace them. */
export interface Network {
  stream: (options: StreamOptions) => Streaming;
  change: (stream: string, body: unknown) => Promise<unknown>;
}

const NETWORK: Network = {
  stream: (options) => new EventStream(options),
  change: (stream, body) => put(`/events/stream/${stream}`, body),
};

export class Hub {
  #network: Network;
  #tabs = new Map<TabPort, Tab>();
  #stream: Streaming | null = null;
  #status: HubMessage = { kind: 'link', link: 'connecting', retryAt: null, why: null };
  #who: string | null = null;
  /** Id of the open stream, by which its sources are changed. */
  #id: string | null = null;
  /** The sources of the open stream: each thread with the position up to which it has been sent. */
  #served = new Map<string, number>();
  #screens = new Set<string>();
  #changing = false;
  #toldAt = 0;
  #again = false;

  constructor(network: Network = NETWORK) {
    this.#network = network;
  }

  join(port: TabPort): void {
    this.#tabs.set(port, { threads: new Map(), screens: new Set(), heardAt: Date.now() });
    port.onmessage = ({ data }) => this.#hear(port, data);
    port.postMessage(this.#status);
    this.#stream ??= this.#network.stream({
      url: () => this.#url(),
      onframe: (frame) => this.#take(frame),
      onheard: () => this.#heard(),
      onlink: (link, retryAt, _, why) => this.#linked(link, retryAt, why),
    });
  }

  /** Tells the tabs that the connection lives: at most once a second. */
  #heard(): void {
    if (Date.now() - this.#toldAt < HEARD_MS) return;
    this.#toldAt = Date.now();
    this.#tell({ kind: 'heard' });
  }

  /** Tells all tabs that the server's log was replaced. */
  replaced(): void {
    this.#tell({ kind: 'replaced' });
  }

  #tell(message: HubMessage, wanted: (tab: Tab) => boolean = () => true): void {
    this.#tabs.forEach((tab, port) => wanted(tab) && port.postMessage(message));
  }

  #hear(port: TabPort, message: TabMessage): void {
    const tab = this.#tabs.get(port) ?? { threads: new Map(), screens: new Set(), heardAt: 0 };
    tab.heardAt = Date.now();
    this.#tabs.set(port, tab);
    if (message.kind === 'follow') {
      tab.threads = new Map(message.threads.map(({ thread, after }) => [thread, after]));
      tab.screens = new Set(message.screens);
      this.#changed();
    } else if (message.kind === 'bye') {
      this.#tabs.delete(port);
      this.#changed();
    } else if (message.kind === 'retry') this.#stream?.retry();
    else if (message.kind === 'suspect') this.#stream?.reconnect();
    else if (message.kind === 'who') this.#become(message.who);
    else this.#dropSilent();
  }

  #become(who: string): void {
    if (this.#who !== null && this.#who !== who) this.#stream?.reconnect();
    this.#who = who;
  }

  #dropSilent(): void {
    const gone = [...this.#tabs].filter(([, tab]) => Date.now() - tab.heardAt > GONE_MS);
    gone.forEach(([port]) => this.#tabs.delete(port));
    if (gone.length > 0) this.#changed();
  }

  /** Returns the conversations that tabs show, each with the lowest position. */
  #wanted(): Map<string, number> {
    const wanted = new Map<string, number>();
    for (const { threads } of this.#tabs.values())
      threads.forEach((after, thread) => wanted.set(thread, Math.min(after, wanted.get(thread) ?? after)));
    return wanted;
  }

  #wantedScreens(): Set<string> {
    return new Set([...this.#tabs.values()].flatMap((tab) => [...tab.screens]));
  }

  #url(): string {
    this.#id = null;
    this.#served = this.#wanted();
    this.#screens = this.#wantedScreens();
    const follow = [...this.#served].map(([thread, after]) => `${thread}:${after}`).join(',');
    const screens = this.#screens.size > 0 ? `&screens=${[...this.#screens].join(',')}` : '';
    return `/events/stream?follow=${follow}${screens}&${eventQuery({})}`;
  }

  /** Changes the sources of the open stream: one request at a time, the latest state wins. */
  #changed(): void {
    if (this.#id === null) return;
    if (this.#changing) {
      this.#again = true;
      return;
    }
    const [wanted, screens] = [this.#wanted(), this.#wantedScreens()];
    const threads = [...wanted].map(([thread, after]) => this.#entry(thread, after));
    const same = wanted.size === this.#served.size && threads.every((entry) => entry.after === undefined);
    if (same && [...screens, ...this.#screens].every((id) => screens.has(id) && this.#screens.has(id))) return;
    const served = [...wanted].map(([thread, after]) => [thread, this.#place(thread, after)] as const);
    [this.#served, this.#screens] = [new Map(served), screens];
    void this.#change(this.#id, { threads, screens: [...screens] });
  }

  /** The position is left out of a thread that the stream continues. */
  #entry(thread: string, after: number): { thread: string; after?: number } {
    const served = this.#served.get(thread);
    return served !== undefined && served <= after ? { thread } : { thread, after };
  }

  #place(thread: string, after: number): number {
    return Math.min(after, this.#served.get(thread) ?? after);
  }

  async #change(stream: string, body: unknown): Promise<void> {
    this.#changing = true;
    try {
      await this.#network.change(stream, body);
    } catch (error) {
      // A new connection names all sources in its address. While the server is away, the stream
      // itself notices that and connects again.
      if (!(error instanceof ApiError) || !error.offline) this.#stream?.reconnect();
    } finally {
      this.#changing = false;
      if (this.#again) {
        this.#again = false;
        this.#changed();
      }
    }
  }

  #linked(link: Link, retryAt: number | null, why: ApiError | null): void {
    if (link !== 'live') this.#id = null;
    const refusal = why && { status: why.status, code: why.code, message: why.message, waitMs: why.waitMs };
    this.#status = { kind: 'link', link, retryAt, why: refusal };
    this.#tell(this.#status);
    // A refused stream is not tried again by itself: the tabs decide.
    if (link === 'refused') this.#stream = null;
  }

  #take({ event, id, data }: Frame): void {
    const content = JSON.parse(data) as Record<string, unknown>;
    const message: HubMessage = { kind: 'frame', event, seq: id === null ? null : Number(id), data: content };
    if (event === 'open') return this.#opened(String(content['stream']));
    if (message.seq !== null) return this.#event(String(content['thread']), message.seq, message);
    const thread = threadOf(event, content);
    if (thread !== null) return this.#signal(thread, message);
    const screen = screenOf(event, content);
    if (screen !== null) return this.#screen(screen, message);
    this.#tell(message);
  }

  #opened(id: string): void {
    this.#id = id;
    // Tabs may have asked for others while the connection was opened.
    this.#changed();
  }

  /** Hands an event to the tabs that do not have it yet. */
  #event(thread: string, seq: number, message: HubMessage): void {
    if (this.#served.has(thread)) this.#served.set(thread, seq);
    this.#tell(message, (tab) => {
      const place = tab.threads.get(thread);
      if (place === undefined || place >= seq) return false;
      tab.threads.set(thread, seq);
      return true;
    });
  }

  #signal(thread: string, message: Extract<HubMessage, { kind: 'frame' }>): void {
    const follows = (tab: Tab) => tab.threads.has(thread);
    this.#tell(message, follows);
    if (message.event === 'left') return this.#left(() => this.#served.delete(thread));
    if (message.event !== 'deleted' && message.event !== 'refused') return;
    this.#served.delete(thread);
    this.#tabs.forEach((tab) => tab.threads.delete(thread));
  }

  #screen(session: string, message: Extract<HubMessage, { kind: 'frame' }>): void {
    this.#tell(message, (tab) => tab.screens.has(session));
    if (message.event === 'screen' || message.event === 'following') return;
    this.#screens.delete(session);
    this.#tabs.forEach((tab) => tab.screens.delete(session));
  }

  /** Follows a source again that tabs still want, after a pause. */
  #left(forget: () => void): void {
    forget();
    setTimeout(() => this.#changed(), AGAIN_MS);
  }
}

/** Returns the thread of a signal that only its readers get; null for other signals. */
function threadOf(event: string, data: Record<string, unknown>): string | null {
  if (event === 'delta' || event === 'progress') return String(data['turn']).replace(/\.\d+$/, '');
  const of = ['following', 'refused', 'left', 'deleted', 'resync'].includes(event) ? data['thread'] : undefined;
  return typeof of === 'string' ? of : null;
}

/** Returns the session of a signal about a terminal; null for other signals. */
function screenOf(event: string, data: Record<string, unknown>): string | null {
  const of = ['screen', 'ended', 'following', 'refused', 'left'].includes(event) ? data['session'] : undefined;
  return typeof of === 'string' ? of : null;
}
