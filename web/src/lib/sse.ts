/**
 * Reads server-sent events with `fetch`. `EventSource` hides the status of a refused stream, cannot
 * tell a silent connection from a dead one, and chooses its own time to reconnect.
 */

export interface Frame {
  event: string;
  data: string;
  id: string | null;
}

import { failure, type ApiError } from './client';
import { heardOf, ofLog } from './log';

export type Link = 'connecting' | 'live' | 'waiting' | 'refused' | 'closed';

export interface StreamOptions {
  /**
   * Address of the stream. Called for each connection, so that the address has the latest position.
   */
  url: () => string;
  onframe: (frame: Frame) => void;
  /** Called when anything arrives, keep-alives too. */
  onheard?: () => void;
  /**
   * `retryAt` is the time of the next try, in milliseconds since 1970. `why` is the error of a
   * refusal.
   */
  onlink?: (link: Link, retryAt: number | null, status: number, why: ApiError | null) => void;
}

/** The server sends at least every 15 s. A connection silent for this long is dead. */
const SILENT_MS_MAX = 40_000;
/** Time for the server's answer to a new connection. */
const ANSWER_MS_MAX = 10_000;
const BACKOFF_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000];

/** Splits a stream of text into frames. Accepts pieces of any size. */
export class FrameParser {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string | null = null;

  push(text: string): Frame[] {
    const frames: Frame[] = [];
    this.#rest += text;
    let start = 0;
    for (let end = this.#rest.indexOf('\n'); end >= 0; end = this.#rest.indexOf('\n', start)) {
      const line = this.#rest.slice(start, end).replace(/\r$/, '');
      start = end + 1;
      const frame = this.#line(line);
      if (frame) frames.push(frame);
    }
    this.#rest = this.#rest.slice(start);
    return frames;
  }

  #line(line: string): Frame | null {
    if (line === '') return this.#flush();
    const colon = line.indexOf(':');
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    return null;
  }

  #flush(): Frame | null {
    const frame =
      this.#data.length > 0 ? { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id } : null;
    this.#event = '';
    this.#data = [];
    this.#id = null;
    return frame;
  }
}

/** A stream that reconnects by itself until it is closed or finally refused. */
export class EventStream {
  #options: StreamOptions;
  #abort = new AbortController();
  #failures = 0;
  #wake: (() => void) | null = null;
  #closed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Reconnects now instead of waiting. */
  retry(): void {
    this.#failures = 0;
    this.#wake?.();
  }

  /** Drops the connection, because the server does not answer, and connects again. */
  reconnect(): void {
    this.#abort.abort();
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#abort.abort();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      this.#tell('connecting');
      const refusal = await this.#connect().catch(() => null);
      if (this.#closed) return;
      if (refusal && !refusal.retryable) return this.#tell('refused', null, refusal);
      await this.#pause(refusal);
    }
  }

  #tell(link: Link, retryAt: number | null = null, why: ApiError | null = null): void {
    this.#options.onlink?.(link, retryAt, why?.status ?? 0, why);
  }

  /** Runs one connection until it ends. Returns the error if the server refused it. */
  async #connect(): Promise<ApiError | null> {
    const abort = (this.#abort = new AbortController());
    const patience = setTimeout(() => abort.abort(), ANSWER_MS_MAX);
    const response = await fetch(this.#options.url(), {
      signal: abort.signal,
      headers: { accept: 'text/event-stream', ...ofLog() },
      credentials: 'same-origin',
      cache: 'no-store',
    }).finally(() => clearTimeout(patience));
    heardOf(response);
    if (!response.ok) return failure(response);
    if (!response.body) return null;
    this.#failures = 0;
    this.#tell('live');
    await this.#read(response.body.pipeThrough(new TextDecoderStream()).getReader());
    return null;
  }

  async #read(reader: ReadableStreamDefaultReader<string>): Promise<void> {
    const parser = new FrameParser();
    let silence: ReturnType<typeof setTimeout> | undefined;
    const hear = () => {
      clearTimeout(silence);
      silence = setTimeout(() => this.#abort.abort(), SILENT_MS_MAX);
    };
    try {
      for (hear(); ; hear()) {
        const { done, value } = await reader.read();
        if (done || this.#closed) return;
        this.#options.onheard?.();
        parser.push(value).forEach((frame) => this.#options.onframe(frame));
      }
    } finally {
      clearTimeout(silence);
    }
  }

  async #pause(refusal: ApiError | null): Promise<void> {
    const wait = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 15_000;
    // Not before the time that the server names. The jitter spreads reconnecting pages.
    const jittered = Math.max(wait * (0.8 + Math.random() * 0.4), (refusal?.waitMs ?? 0) * (1 + Math.random() * 0.2));
    this.#failures += 1;
    this.#tell('waiting', Date.now() + jittered, refusal);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, jittered);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}
