/** All conversations: the list, the unread messages, and the busy participants. */

import { SvelteMap } from 'svelte/reactivity';
import { ApiError, get, post } from '../lib/client';
import { eventQuery, LISTED } from '../lib/events';
import type { Command } from '../lib/commands';
import { summary } from '../lib/markdown';
import { EventStream, type Frame, type Link } from '../lib/sse';
import type { AgentEntry, Bell, Envelope, EventPage, PresenceUpdate, StateAnswer, ThreadEntry } from '../lib/types';
import { ME, SERVER } from '../lib/words';
import { drafted } from './drafts';
import { outboxes } from './outbox.svelte';
import { reads } from './reads.svelte';
import { session } from './session.svelte';
import { sessions } from './sessions.svelte';

export interface Thread extends ThreadEntry {
  /** Sender and text of the newest message, if known. */
  from: string | null;
  line: string;
  unread: number;
  /** True if an unread message is addressed to you or names you. */
  direct: boolean;
  /** Position up to which the newest message is known. */
  known: number;
  /** Number of requests and holds that wait here for a person. */
  needs: number;
}

const PAGE = 1_000;
/** Number of events searched for the newest message. */
const LOOK_BACK = 80;
const LOOKS_AT_ONCE = 2;
const BUSY_MS = 120_000;
/** Delay that lets an open room take its own events first. */
const BELL_MS = 300;

class Hall {
  threads = new SvelteMap<string, Thread>();
  agents = $state.raw<AgentEntry[]>([]);
  commands = $state.raw<Command[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  link = $state<Link>('connecting');
  retryAt = $state<number | null>(null);
  /** The server's reason for refusing the stream under load. */
  busy = $state<string | null>(null);
  /** Busy participants: thread → participant → time until which the entry counts. */
  thinking = new SvelteMap<string, SvelteMap<string, number>>();

  #stream: EventStream | null = null;
  /** Deleted threads: a list that was on its way may still contain them. */
  #deleted = new Set<string>();
  /** Threads that no list contained and that the server has refused. */
  #missed = new Set<string>();
  #listing: Promise<void> | null = null;
  #again = false;
  #looks: string[] = [];
  #looking = 0;

  /** Newest first. */
  sorted = $derived([...this.threads.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)));

  open(): void {
    this.#stream = new EventStream({
      url: () => '/events/stream',
      onframe: (frame) => this.#frame(frame),
      onlink: (link, retryAt, status, why) => this.#linked(link, retryAt, status, why),
    });
    void this.list();
    addEventListener('online', () => this.retry());
    // Reading in another browser sends no notification, so the list may be outdated when the page
    // is seen again.
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void this.list());
  }

  retry(): void {
    this.#stream?.retry();
  }

  async loadHelp(): Promise<void> {
    try {
      this.agents = (await get<{ agents: AgentEntry[] }>('/agents')).agents;
      this.commands = (await get<{ commands: Command[] }>('/commands')).commands;
    } catch {
      // Both lists only help: names and commands can be typed.
    }
  }

  /** Returns the agents of the registry, loading them if the list has not come yet. */
  async registry(): Promise<AgentEntry[]> {
    if (this.agents.length === 0) this.agents = (await get<{ agents: AgentEntry[] }>('/agents')).agents;
    return this.agents;
  }

  #linked(link: Link, retryAt: number | null, status: number, why: ApiError | null): void {
    if (link === 'refused' && status === 401) session.lost();
    this.link = link;
    this.retryAt = retryAt;
    // While the stream reconnects, the last reason stays.
    if (link !== 'connecting') this.busy = why?.busy ? why.reason : null;
    // Notifications have no position to resume from, so everything is listed after each connection.
    if (link !== 'live') return;
    outboxes.goOn();
    void reads.tell().then(() => this.list());
    if (this.commands.length === 0) void this.loadHelp();
  }

  /** Lists the threads. Calls during a request are answered by one more request. */
  list(): Promise<void> {
    this.#again = this.#listing !== null;
    this.#listing ??= this.#listAll().finally(() => {
      this.#listing = null;
      if (this.#again) void this.list();
    });
    return this.#listing;
  }

  async #listAll(): Promise<void> {
    const listed = new Set<string>();
    try {
      let after: number | undefined = 0;
      const before = [...this.threads.keys(), ...outboxes.waiting, ...drafted(), ...reads.noted];
      while (after !== undefined) {
        const page: { threads: ThreadEntry[]; next?: number } = await get(
          `/threads?as=${ME}&limit=${PAGE}&after=${after}`,
        );
        page.threads.forEach((entry) => this.#listed(entry));
        page.threads.forEach((entry) => listed.add(entry.id));
        after = page.next;
      }
      this.phase = 'ready';
      new Set(before.filter((id) => !listed.has(id))).forEach((id) => void this.#missing(id));
    } catch {
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /**
   * Asks about a thread that was listed before, or has data in this browser, and is in no list now.
   * The answer tells if it was deleted.
   */
  async #missing(id: string): Promise<void> {
    if (this.#missed.has(id)) return;
    try {
      await get<StateAnswer>(`/threads/${id}/state`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.retryable) return;
      this.#missed.add(id);
      this.threads.delete(id);
    }
  }

  /** Drops a deleted thread. */
  forget(id: string): void {
    this.#deleted.add(id);
    this.#looks = this.#looks.filter((other) => other !== id);
    this.threads.delete(id);
    this.thinking.delete(id);
  }

  #listed(entry: ThreadEntry): void {
    if (this.#deleted.has(entry.id)) return;
    this.#missed.delete(entry.id);
    const before = this.threads.get(entry.id);
    reads.learn(entry.id, entry.read ?? 0);
    const unknown = { from: null, line: '', direct: false, known: 0, needs: 0 };
    // The server counts from its own mark. If this browser has another mark, its own count stays.
    const agrees = reads.mark(entry.id) === (entry.read ?? 0);
    const unread = (agrees ? entry.unread : before?.unread) ?? 0;
    const direct = unread > 0 && (before?.direct ?? false);
    const needs = entry.waits_for_people ?? before?.needs ?? 0;
    this.threads.set(entry.id, { ...unknown, ...before, ...entry, unread, direct, needs });
  }

  #frame(frame: Frame): void {
    if (frame.event === 'presence') return this.#present(JSON.parse(frame.data) as PresenceUpdate);
    if (frame.event === 'sessions') return sessions.loadSoon();
    if (frame.event === 'signed-out') return session.lost();
    if (frame.event === 'resync') return void this.list();
    if (frame.event !== 'message') return;
    this.#ring(JSON.parse(frame.data) as Bell);
  }

  #ring(bell: Bell): void {
    const thread = this.threads.get(bell.thread);
    if (!thread) return void this.list();
    // An open room may already have the event. The number of waiting requests comes only with the
    // notification.
    if (bell.head < thread.head) return;
    if (bell.waits_for_people !== undefined) this.needs(thread.id, bell.waits_for_people);
    if (bell.head === thread.head) return;
    const before = this.threads.get(thread.id) ?? thread;
    this.threads.set(thread.id, { ...before, head: bell.head, updated_at: new Date().toISOString() });
    // Look even if no row shows the thread: it has unread messages, or was deleted.
    setTimeout(() => this.look(bell.thread), BELL_MS);
  }

  #present(presence: PresenceUpdate): void {
    const busy = this.thinking.get(presence.thread) ?? new SvelteMap<string, number>();
    if (presence.state === 'thinking' || presence.state === 'typing')
      busy.set(presence.participant, Date.now() + BUSY_MS);
    else busy.delete(presence.participant);
    this.thinking.set(presence.thread, busy);
  }

  /** Returns the others who are thinking or typing in a conversation. */
  busyIn(thread: string): string[] {
    const now = Date.now();
    const entries = [...(this.thinking.get(thread) ?? [])];
    return entries.filter(([id, until]) => until > now && id !== ME && id !== SERVER).map(([id]) => id);
  }

  /**
   * Asks for the newest message and the number of unread ones, for at most two conversations at a
   * time.
   */
  look(id: string): void {
    if (this.#looks.includes(id)) return;
    this.#looks.push(id);
    this.#lookOn();
  }

  #lookOn(): void {
    while (this.#looking < LOOKS_AT_ONCE && this.#looks.length > 0) {
      const id = this.#looks.shift() as string;
      this.#looking += 1;
      void this.#lookAt(id).finally(() => {
        this.#looking -= 1;
        this.#lookOn();
      });
    }
  }

  async #lookAt(id: string): Promise<void> {
    const thread = this.threads.get(id);
    if (!thread || thread.known >= thread.head) return;
    const after = Math.max(0, Math.min(thread.head - LOOK_BACK, thread.head));
    try {
      const page = await get<EventPage>(`/threads/${id}/events?${eventQuery({ after, limit: LOOK_BACK * 2 }, LISTED)}`);
      this.learn(id, page.events, after, page.through);
    } catch {
      // The next notification asks again.
    }
  }

  /** Records the number of requests and holds that wait for a person. */
  needs(id: string, needs: number): void {
    const thread = this.threads.get(id);
    if (thread && thread.needs !== needs) this.threads.set(id, { ...thread, needs });
  }

  /** Conversations that wait for a person. */
  waiting = $derived(this.sorted.filter((thread) => thread.needs > 0 && !thread.archived));

  /** Takes the events between two positions, loaded here or in the open room. */
  learn(id: string, events: readonly Envelope[], after: number, through: number): void {
    const thread = this.threads.get(id);
    if (!thread) return;
    const mark = reads.mark(id) ?? 0;
    const messages = events.filter((event) => event.type === 'message' && typeof event.content === 'string');
    const fresh = messages.filter((event) => event.seq > mark && event.from !== ME);
    const last = messages.at(-1);
    const renamed = events.findLast((event) => event.type === 'thread.renamed');
    const archiving = events.findLast(
      (event) => event.type === 'thread.archived' || event.type === 'thread.unarchived',
    );
    this.threads.set(id, {
      ...thread,
      known: Math.max(thread.known, through),
      head: Math.max(thread.head, through),
      name: typeof renamed?.content === 'string' ? renamed.content : thread.name,
      archived: archiving ? archiving.type === 'thread.archived' : thread.archived,
      from: last?.from ?? thread.from,
      line: last ? (last.meta?.redacted ? 'erased' : summary(String(last.content), 80)) : thread.line,
      // Unread messages before `after` are known only from the server's count.
      unread: after <= mark ? fresh.length : Math.max(fresh.length, thread.unread),
      direct: fresh.some(isToMe) || (after > mark && thread.direct),
    });
  }

  /** Records that everything up to a position was read. */
  read(id: string, seq: number): void {
    reads.advance(id, seq);
    const thread = this.threads.get(id);
    if (thread && thread.unread > 0 && (reads.mark(id) ?? 0) >= thread.known)
      this.threads.set(id, { ...thread, unread: 0, direct: false });
  }

  /** Starts a conversation and invites agents of the registry. Returns its id. */
  async begin(name: string, policy: string, clients: readonly AgentEntry[]): Promise<string> {
    const created = await post<{ id: string; name: string }>('/threads', { name, from: ME, policy });
    for (const agent of clients) {
      const profile = { ...agent.profile, client: agent.client, model: agent.profile.model ?? agent.client };
      const invite = { participant_id: agent.client, profile };
      await post(`/threads/${created.id}/events`, { type: 'control', from: ME, content: { invite } });
    }
    await this.list();
    return created.id;
  }
}

/** True if a message is addressed to you or names you. */
function isToMe(event: Envelope): boolean {
  const named = new RegExp(`(?:^|[\\s(])@${ME.replaceAll('.', '\\.')}(?![\\w:-])`, 'i');
  return event.to === ME || (event.meta?.mentions ?? []).includes(ME) || named.test(String(event.content));
}

export const hall = new Hall();
