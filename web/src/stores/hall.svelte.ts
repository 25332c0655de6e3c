/** All conversations: the list, what is new in each, and who is busy in them. */

import { SvelteMap } from 'svelte/reactivity';
import { get, post, type ApiError } from '../lib/client';
import type { Command } from '../lib/commands';
import { summary } from '../lib/markdown';
import { EventStream, type Frame, type Link } from '../lib/sse';
import type { AgentEntry, Envelope, EventPage, PresenceUpdate, ThreadEntry } from '../lib/types';
import { ME, SERVER } from '../lib/words';
import { reads } from './reads.svelte';
import { session } from './session.svelte';
import { sessions } from './sessions.svelte';

export interface Thread extends ThreadEntry {
  /** The newest message, where it is known. */
  from: string | null;
  line: string;
  unread: number;
  /** Something unread is written to you, or names you. */
  direct: boolean;
  /** The position up to which the newest message is known. */
  known: number;
}

const PAGE = 1_000;
/** How far back the newest message is looked for. */
const LOOK_BACK = 80;
const LOOKS_AT_ONCE = 2;
const BUSY_MS = 120_000;

class Hall {
  threads = new SvelteMap<string, Thread>();
  agents = $state.raw<AgentEntry[]>([]);
  commands = $state.raw<Command[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  link = $state<Link>('connecting');
  retryAt = $state<number | null>(null);
  /** What the server said where it is there and lets nobody listen now. */
  busy = $state<string | null>(null);
  /** Who is thinking where: thread → participant → until when that counts. */
  thinking = new SvelteMap<string, SvelteMap<string, number>>();

  #stream: EventStream | null = null;
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
    // Meanwhile something may have been read elsewhere, which no doorbell tells.
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
      // Both lists are a help, not a need: names and commands can be typed.
    }
  }

  /** The agents that the server knows, also for whoever is faster than their list. */
  async registry(): Promise<AgentEntry[]> {
    if (this.agents.length === 0) this.agents = (await get<{ agents: AgentEntry[] }>('/agents')).agents;
    return this.agents;
  }

  #linked(link: Link, retryAt: number | null, status: number, why: ApiError | null): void {
    if (link === 'refused' && status === 401) session.lost();
    this.link = link;
    this.retryAt = retryAt;
    // While it tries again, what it said before is what is known.
    if (link !== 'connecting') this.busy = why?.busy ? why.reason : null;
    // Doorbells have no place to go on from, so everything is listed once they ring again.
    if (link !== 'live') return;
    void reads.tell().then(() => this.list());
    if (this.commands.length === 0) void this.loadHelp();
  }

  /** Lists the threads; calls while a list is on its way are answered by one more. */
  list(): Promise<void> {
    this.#again = this.#listing !== null;
    this.#listing ??= this.#listAll().finally(() => {
      this.#listing = null;
      if (this.#again) void this.list();
    });
    return this.#listing;
  }

  async #listAll(): Promise<void> {
    try {
      let after: number | undefined = 0;
      while (after !== undefined) {
        const page: { threads: ThreadEntry[]; next?: number } = await get(
          `/threads?as=${ME}&limit=${PAGE}&after=${after}`,
        );
        page.threads.forEach((entry) => this.#listed(entry));
        after = page.next;
      }
      this.phase = 'ready';
    } catch {
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  #listed(entry: ThreadEntry): void {
    const before = this.threads.get(entry.id);
    reads.learn(entry.id, entry.read ?? 0);
    const unknown = { from: null, line: '', direct: false, known: 0 };
    // The server counts from its own mark; where this browser knows another one, it goes by that.
    const agrees = reads.mark(entry.id) === (entry.read ?? 0);
    const unread = (agrees ? entry.unread : before?.unread) ?? 0;
    const direct = unread > 0 && (before?.direct ?? false);
    this.threads.set(entry.id, { ...unknown, ...before, ...entry, unread, direct });
  }

  #frame(frame: Frame): void {
    if (frame.event === 'presence') return this.#present(JSON.parse(frame.data) as PresenceUpdate);
    if (frame.event === 'sessions') return sessions.loadSoon();
    if (frame.event === 'signed-out') return session.lost();
    if (frame.event === 'resync') return void this.list();
    if (frame.event !== 'message') return;
    const bell = JSON.parse(frame.data) as { thread: string; head: number };
    const thread = this.threads.get(bell.thread);
    if (!thread) return void this.list();
    if (bell.head <= thread.head) return;
    this.threads.set(thread.id, { ...thread, head: bell.head, updated_at: new Date().toISOString() });
  }

  #present(presence: PresenceUpdate): void {
    const busy = this.thinking.get(presence.thread) ?? new SvelteMap<string, number>();
    if (presence.state === 'thinking' || presence.state === 'typing')
      busy.set(presence.participant, Date.now() + BUSY_MS);
    else busy.delete(presence.participant);
    this.thinking.set(presence.thread, busy);
  }

  /** Who is thinking or typing in a conversation, you apart. */
  busyIn(thread: string): string[] {
    const now = Date.now();
    const entries = [...(this.thinking.get(thread) ?? [])];
    return entries.filter(([id, until]) => until > now && id !== ME && id !== SERVER).map(([id]) => id);
  }

  /** Asks for the newest message and the number of unread ones, a few conversations at a time. */
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
      const page = await get<EventPage>(`/threads/${id}/events?after=${after}&limit=${LOOK_BACK * 2}`);
      this.learn(id, page.events, after, page.through);
    } catch {
      // The next doorbell asks again.
    }
  }

  /** Takes what was loaded of a conversation between two positions, here or in the open room. */
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
      line: last ? summary(String(last.content), 80) : thread.line,
      // Of what lies further back, the server's count is all that is known.
      unread: after <= mark ? fresh.length : Math.max(fresh.length, thread.unread),
      direct: fresh.some(isToMe) || (after > mark && thread.direct),
    });
  }

  /** Everything up to here was read. */
  read(id: string, seq: number): void {
    reads.advance(id, seq);
    const thread = this.threads.get(id);
    if (thread && thread.unread > 0 && (reads.mark(id) ?? 0) >= thread.known)
      this.threads.set(id, { ...thread, unread: 0, direct: false });
  }

  /** Begins a conversation and invites agents of the registry. Answers its id. */
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

/** Whether somebody wrote to you, or named you. */
function isToMe(event: Envelope): boolean {
  const named = new RegExp(`(?:^|[\\s(])@${ME.replaceAll('.', '\\.')}(?![\\w:-])`, 'i');
  return event.to === ME || (event.meta?.mentions ?? []).includes(ME) || named.test(String(event.content));
}

export const hall = new Hall();
