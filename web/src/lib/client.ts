/** Requests to the server this page came from. */

import { heardOf, ofLog } from './log';
import type { Accepted, Fault } from './types';

/**
 * A request that did not succeed. `code` is the server's stable word, or `offline` if the server
 * was not reached.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Time to wait before the same request, in milliseconds, as the server asks. */
    readonly waitMs: number | null = null,
  ) {
    super(message);
  }

  get offline(): boolean {
    return this.code === 'offline';
  }

  /** True if the server answers only after a sign-in. */
  get asksWho(): boolean {
    return this.status === 401 || this.code === 'owner_unknown';
  }

  /** True if the same request may succeed later. */
  get retryable(): boolean {
    return this.offline || this.status >= 500 || this.status === 429 || this.status === 408;
  }

  /**
   * The first sentence of the message. The time to retry is left out: the page shows it as a
   * countdown.
   */
  get reason(): string {
    return /^.*?[.!?](?=\s|$)/.exec(this.message)?.[0] ?? this.message;
  }

  /**
   * True if the server decided nothing because of its load. The same request may succeed after
   * `waitMs`.
   */
  get busy(): boolean {
    return this.waitMs !== null;
  }
}

/**
 * A header that forms and links of another page cannot send. The server requires it for every
 * change.
 */
const OWN = { 'x-moothall': '1' };

let refused: (error: ApiError) => void = () => {};

/** Sets the listener for requests that were refused for lack of a credential. */
export function heed(listener: (error: ApiError) => void): void {
  refused = listener;
}

/** Returns the thread that an answer reports as deleted; null for any other answer. */
export function deletedThread(url: string, code: string | undefined): string | null {
  if (code !== 'thread_deleted') return null;
  return /\/threads\/([A-Za-z0-9-]{1,64})(?:[/?#]|$)/.exec(url)?.[1] ?? null;
}

let deleted: (thread: string) => void = () => {};

/** Sets the listener for deleted threads. Any request may be the one that reports a deletion. */
export function heedDeletion(listener: (thread: string) => void): void {
  deleted = listener;
}

/** Reports a thread as deleted. */
export function tellDeletion(thread: string): void {
  deleted(thread);
}

const OFFLINE = 'The server cannot be reached. It may be restarting.';
const REQUEST_MS_MAX = 30_000;

const BUSY = new Set([429, 503]);
/** The wait if the answer, perhaps a proxy's, does not name one. */
const BUSY_MS = 2_000;
const BUSY_MS_MAX = 3_600_000;

/**
 * Returns the wait that an answer asks for, in milliseconds, or null. `Retry-After` is in seconds
 * or a date.
 */
export function waitOf(response: Pick<Response, 'status' | 'headers'>, now = Date.now()): number | null {
  if (!BUSY.has(response.status)) return null;
  const said = response.headers.get('retry-after')?.trim() ?? '';
  const ms = /^\d+(\.\d+)?$/.test(said) ? Number(said) * 1000 : Date.parse(said) - now;
  return Number.isNaN(ms) ? BUSY_MS : Math.min(Math.max(ms, 0), BUSY_MS_MAX);
}

export async function failure(response: Response): Promise<ApiError> {
  let fault: Partial<Fault> = {};
  try {
    fault = ((await response.json()) as { error?: Partial<Fault> }).error ?? {};
  } catch {
    // Not our error shape, so a proxy answered. Only the status is known.
  }
  const gone = deletedThread(response.url, fault.code);
  if (gone) tellDeletion(gone);
  return new ApiError(
    response.status,
    fault.code ?? `http_${response.status}`,
    fault.message ?? `The server answered ${response.status}.`,
    waitOf(response),
  );
}

const NEEDS_CREDENTIAL = new Set(['unauthenticated', 'forbidden', 'needs_proof', 'owner_unknown']);

async function request<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    const headers = { ...(init.headers as Record<string, string> | undefined), ...ofLog() };
    response = await fetch(path, {
      ...init,
      headers,
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      credentials: 'same-origin',
    });
  } catch {
    throw new ApiError(0, 'offline', OFFLINE);
  }
  heardOf(response);
  if (!response.ok) {
    const error = await failure(response);
    if (NEEDS_CREDENTIAL.has(error.code)) refused(error);
    throw error;
  }
  try {
    return (await response.json()) as T;
  } catch {
    // The answer broke off, so the effect is unknown. The outbox repeats the request with its key.
    throw new ApiError(0, 'offline', OFFLINE);
  }
}

/**
 * A read can be repeated safely. If the server is busy, the read is retried at the time that the
 * server names, unless people would have to wait too long.
 */
const READS_MAX = 4;
const READ_WAIT_MS_MAX = 10_000;

export async function get<T>(path: string): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await request<T>(path, { method: 'GET' });
    } catch (error) {
      const wait = error instanceof ApiError ? error.waitMs : null;
      if (wait === null || wait > READ_WAIT_MS_MAX || tries >= READS_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

export function post<T>(path: string, body: unknown, key: string = newKey()): Promise<T> {
  const headers = { ...OWN, 'content-type': 'application/json', 'idempotency-key': key };
  return request<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

export function put<T>(path: string, body: unknown): Promise<T> {
  const headers = { ...OWN, 'content-type': 'application/json' };
  return request<T>(path, { method: 'PUT', headers, body: JSON.stringify(body) });
}

/** Sends a control to a conversation and returns the server's answer. */
export function sendControl(from: string, thread: string, content: Record<string, unknown>): Promise<Accepted> {
  return post<Accepted>(`/threads/${thread}/events`, { type: 'control', from, content });
}

/** Deletes a resource. A second call changes nothing. */
export function erase<T>(path: string): Promise<T> {
  return request<T>(path, { method: 'DELETE', headers: OWN });
}

/**
 * Returns a fresh value for `Idempotency-Key`. Without `randomUUID`, which exists only in secure
 * contexts.
 */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns one sentence for people about any thrown error. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong in the page.';
}
