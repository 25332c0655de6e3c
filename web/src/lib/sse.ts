/**
 * Reads server-sent events with `fetch`, because `EventSource` hides the status of a refused stream, cannot tell a silent connection from
 * a dead one, and decides by itself when to come back.
 */

export interface Frame {
  event: string;
  data: string;
  id: string | null;
}

export type Link = 'connecting' | 'live' | 'waiting' | 'refused' | 'closed';

export interface StreamOptions {
  /** The address, asked anew at each connection, so that it can carry the latest position. */
  url: () => string;
  onframe: (frame: Frame) => void;
  /** `retryAt` is when a waiting stream comes back, in milliseconds since 1970. */
  onlink?: (link: Link, retryAt: number | null, status: number) => void;
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
      const status = await this.#connect().catch(() => 0);
      if (this.#closed) return;
      if (status >= 400 && status < 500 && status !== 408 && status !== 429) return this.#tell('refused', null, status);
      await this.#pause(status);
    }
  }

  #tell(link: Link, retryAt: number | null = null, status = 0): void {
    this.#options.onlink?.(link, retryAt, status);
  }

  /** One connection, until it ends. Answers its status. */
  async #connect(): Promise<number> {
    this.#abort = new AbortController();
    const response = await fetch(this.#options.url(), {
      signal: this.#abort.signal,
      headers: { accept: 'text/event-stream' },
      credentials: 'same-origin',
      cache: 'no-store',
    });
    if (!response.ok || !response.body) return response.status;
    this.#failures = 0;
    this.#tell('live');
    await this.#read(response.body.pipeThrough(new TextDecoderStream()).getReader());
    return response.status;
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

  async #pause(status: number): Promise<void> {
    const wait = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 15_000;
    const jittered = wait * (0.8 + Math.random() * 0.4);
    this.#failures += 1;
    this.#tell('waiting', Date.now() + jittered, status);
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
