/** The server's events as this tab gets them: through the hub that all tabs share. */

import { ApiError } from '../lib/client';
import { Hub, type HubMessage, type Refusal, type TabMessage, type TabPort } from '../lib/hub';
import type { Link } from '../lib/sse';

type FrameMessage = Extract<HubMessage, { kind: 'frame' }>;

/** The parts of a message port that this tab uses. */
interface HubPort {
  postMessage(message: TabMessage): void;
  onmessage: ((event: MessageEvent<HubMessage>) => void) | null;
}

export interface HallListener {
  onframe: (frame: FrameMessage) => void;
  onlink: (link: Link, retryAt: number | null, why: ApiError | null) => void;
}

export interface SourceListener {
  onframe: (frame: FrameMessage) => void;
}

interface Source extends SourceListener {
  /** Returns the position up to which the tab has the events. */
  after: () => number;
}

/** A worker that has not answered after this time is replaced by a hub of this tab alone. */
const WORKER_MS_MAX = 3_000;
/** The hub is told this often that the tab is there. */
const ALIVE_MS = 20_000;
/** A visible page that hears nothing for this long asks the server. */
const SILENT_MS_MAX = 4_000;
/** Without an answer for this long, the page says that the server is away. */
const PROBE_MS = 1_000;
/** Without an answer for this long, the connection is given up. */
const PROBE_MS_MAX = 5_000;

export class Live {
  /** True if the server does not answer, although the connection stands. */
  stalled = $state(false);
  /** Resolves when the hub has told how the connection is, or does not tell in time. */
  begun: Promise<void>;
  #begun = () => {};
  #port: HubPort | null = null;
  #hall: HallListener | null = null;
  #threads = new Map<string, Source>();
  #screens = new Map<string, SourceListener>();
  #heardAt = Date.now();
  #link: Link = 'connecting';
  #probing = false;
  #waits = false;

  constructor() {
    this.begun = new Promise((resolve) => (this.#begun = resolve));
  }

  open(hall: HallListener): void {
    this.#hall = hall;
    this.#connect();
    setInterval(() => this.#watch(), 1_000);
    setInterval(() => this.#post({ kind: 'alive' }), ALIVE_MS);
    addEventListener('pagehide', () => this.#post({ kind: 'bye' }));
    // A page may return from the browser's cache of pages.
    addEventListener('pageshow', (event) => event.persisted && this.#follow());
    addEventListener('offline', () => this.#offline());
    setTimeout(() => this.#begun(), WORKER_MS_MAX / 2);
  }

  /** Tells the hub who uses the page: another person needs another connection. */
  become(who: string): void {
    this.#post({ kind: 'who', who });
  }

  retry(): void {
    this.#post({ kind: 'retry' });
  }

  /** Follows a conversation. `after` returns the position up to which its events are known. */
  follow(thread: string, source: Source): void {
    this.#threads.set(thread, source);
    this.#followSoon();
  }

  unfollow(thread: string): void {
    if (this.#threads.delete(thread)) this.#followSoon();
  }

  showScreen(session: string, listener: SourceListener): void {
    this.#screens.set(session, listener);
    this.#followSoon();
  }

  hideScreen(session: string): void {
    if (this.#screens.delete(session)) this.#followSoon();
  }

  #connect(): void {
    const worker = this.#worker();
    if (worker) this.#use(worker);
    else this.#useOwn();
  }

  #worker(): HubPort | null {
    if (typeof SharedWorker === 'undefined') return null;
    try {
      const worker = new SharedWorker(new URL('../hub.worker.ts', import.meta.url), { type: 'module', name: 'hub' });
      const patience = setTimeout(() => this.#replace(worker.port), WORKER_MS_MAX);
      worker.onerror = () => (clearTimeout(patience), this.#replace(worker.port));
      worker.port.addEventListener('message', () => clearTimeout(patience), { once: true });
      return worker.port as unknown as HubPort;
    } catch {
      return null;
    }
  }

  #replace(port: MessagePort): void {
    if (this.#port !== (port as unknown)) return;
    port.onmessage = null;
    port.close();
    this.#useOwn();
  }

  #useOwn(): void {
    const { port1, port2 } = new MessageChannel();
    this.#use(port1 as unknown as HubPort);
    new Hub().join(port2 as unknown as TabPort);
  }

  #use(port: HubPort): void {
    this.#port = port;
    port.onmessage = ({ data }) => this.#take(data);
    this.#follow();
  }

  #post(message: TabMessage): void {
    this.#port?.postMessage(message);
  }

  /** Several changes in one step of the page become one message. */
  #followSoon(): void {
    if (this.#waits) return;
    this.#waits = true;
    queueMicrotask(() => {
      this.#waits = false;
      this.#follow();
    });
  }

  #follow(): void {
    const threads = [...this.#threads].map(([thread, source]) => ({ thread, after: source.after() }));
    this.#post({ kind: 'follow', threads, screens: [...this.#screens.keys()] });
  }

  #take(message: HubMessage): void {
    if (message.kind === 'replaced') return location.reload();
    this.#heard();
    if (message.kind === 'link') return this.#linked(message.link, message.retryAt, message.why);
    if (message.kind === 'frame') this.#frame(message);
  }

  #heard(): void {
    this.#heardAt = Date.now();
    if (navigator.onLine) this.stalled = false;
  }

  #linked(link: Link, retryAt: number | null, why: Refusal | null): void {
    this.#link = link;
    if (link !== 'connecting') this.#begun();
    this.#hall?.onlink(link, retryAt, why && new ApiError(why.status, why.code, why.message, why.waitMs));
  }

  #frame(frame: FrameMessage): void {
    const data = frame.data as Record<string, unknown>;
    const thread = frame.event === 'delta' || frame.event === 'progress' ? turnsThread(data) : data['thread'];
    if (typeof thread === 'string') this.#threads.get(thread)?.onframe(frame);
    const session = data['session'];
    if (typeof session === 'string' && frame.seq === null) this.#screens.get(session)?.onframe(frame);
    if (frame.seq === null) this.#hall?.onframe(frame);
  }

  /** Asks a silent server if it is there. A hidden page does not ask. */
  #watch(): void {
    const silent = Date.now() - this.#heardAt >= SILENT_MS_MAX;
    if (document.visibilityState !== 'visible' || !silent || this.#probing || this.#link !== 'live') return;
    void this.#probe();
  }

  async #probe(): Promise<void> {
    this.#probing = true;
    const slow = setTimeout(() => (this.stalled = true), PROBE_MS);
    try {
      await fetch('/healthz', { signal: AbortSignal.timeout(PROBE_MS_MAX), cache: 'no-store' });
      this.#heard();
    } catch {
      this.stalled = true;
      this.#post({ kind: 'suspect' });
    } finally {
      clearTimeout(slow);
      this.#probing = false;
    }
  }

  #offline(): void {
    this.stalled = true;
    this.#post({ kind: 'suspect' });
  }
}

function turnsThread(data: Record<string, unknown>): string {
  return String(data['turn']).replace(/\.\d+$/, '');
}
