/**
 * Reads server-sent events with `fetch`, because `EventSource` hides the status of a refused stream, cannot tell a silent connection from
 * a dead one, and decides by itself when to come back.
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
  /** The address, asked anew at each connection, so that it can carry the latest position. */
  url: () => string;
  onframe: (frame: Frame) => void;
  /** `retryAt` is when a waiting stream comes back, in milliseconds since 1970; `why` is what the server said where it refused. */
  onlink?: (link: Link, retryAt: number | null, status: number, why: ApiError | null) => void;
}

/** The server speaks at least every 15 s; a connection this silent is dead. */
const SILENT_MS_MAX = 40_000;
const BACKOFF_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000];

/** Splits a stream of text into frames. Feed it pieces of any size. */
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

/** A stream that comes back by itself until it is closed or refused for good. */
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

  /** Comes back now instead of waiting. */
  retry(): void {
    this.#failures = 0;
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

  /** One connection, until it ends. Answers why it was refused, where it was. */
  async #connect(): Promise<ApiError | null> {
    this.#abort = new AbortController();
    const response = await fetch(this.#options.url(), {
      signal: this.#abort.signal,
      headers: { accept: 'text/event-stream', ...ofLog() },
      credentials: 'same-origin',
      cache: 'no-store',
    });
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
        parser.push(value).forEach((frame) => this.#options.onframe(frame));
      }
    } finally {
      clearTimeout(silence);
    }
  }

  async #pause(refusal: ApiError | null): Promise<void> {
    const wait = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 15_000;
    // Never before the time that the server names, and not all pages at once.
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
