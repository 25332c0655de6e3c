/** All conversations: the list, the unread messages, and the busy participants. */

import { SvelteMap } from 'svelte/reactivity';
import { ApiError, get, post } from '../lib/client';
import { eventQuery, LISTED } from '../lib/events';
import type { Command } from '../lib/commands';
import { summary } from '../lib/markdown';
import type { HubMessage } from '../lib/hub';
import { inOrder, reordered } from '../lib/order';
import type { Link } from '../lib/sse';
import type {
  Gathering,
  NewGathering,
  AgentEntry,
  Bell,
  Envelope,
  EventPage,
  HallStart,
  NeedsSignal,
  StateAnswer,
  StatesSignal,
  ThreadEntry,
} from '../lib/types';
import { count } from '../lib/words';
import { drafted } from './drafts';
import type { Live } from './live.svelte';
import type { Needs } from './needs.svelte';
import type { Outboxes } from './outbox.svelte';
import type { Reads } from './reads.svelte';
import type { Session, WhoAmI } from './session.svelte';
import type { Sessions } from './sessions.svelte';
import type { States } from './states.svelte';
import type { Ui } from './ui.svelte';
import type { Me } from './me.svelte';

export interface Thread extends Omit<ThreadEntry, 'direct' | 'last' | 'unread'> {
  /** Sender and text of the newest message, if known. */
  from: string | null;
  line: string;
  unread: number;
  /** True if an unread message is addressed to you or names you. */
  direct: boolean;
  /** Position up to which the newest message is known. */
  known: number;
}

const PAGE = 1_000;
/** Number of events searched for the newest message. */
const LOOK_BACK = 80;
const LOOKS_AT_ONCE = 2;
/** Shorter absences are not worth a word. */
const ABSENCE_S_MIN = 5;
/** Delay that lets an open room take its own events first. */
const BELL_MS = 300;

/** The parts of the page that the hall uses. */
export interface HallParts {
  me: Me;
  live: Live;
  needs: Needs;
  outboxes: Outboxes;
  reads: Reads;
  session: Session;
  sessions: Sessions;
  states: States;
  ui: Ui;
}

export class Hall {
  threads = new SvelteMap<string, Thread>();
  agents = $state.raw<AgentEntry[]>([]);
  commands = $state.raw<Command[]>([]);
  phase = $state<'loading' | 'ready' | 'failed'>('loading');
  link = $state<Link>('connecting');
  retryAt = $state<number | null>(null);
  /** The server's reason for refusing the stream under load. */
  busy = $state<string | null>(null);

  /** Ids of the threads in the order of the list, until it is sorted again. */
  #order = $state.raw<readonly string[]>([]);
  #awaySince: number | null = null;
  /** True if the connection has been up before. */
  #wasLive = false;
  #started: Promise<HallStart> | null = null;
  /** Deleted threads: a list that was on its way may still contain them. */
  #deleted = new Set<string>();
  /** Threads that no list contained and that the server has refused. */
  #missed = new Set<string>();
  #listing: Promise<void> | null = null;
  #again = false;
  #looks: string[] = [];
  #looking = 0;

  #me: Me;
  #live: Live;
  #needs: Needs;
  #outboxes: Outboxes;
  #reads: Reads;
  #session: Session;
  #sessions: Sessions;
  #states: States;
  #ui: Ui;

  constructor(parts: HallParts) {
    this.#me = parts.me;
    this.#live = parts.live;
    this.#needs = parts.needs;
    this.#outboxes = parts.outboxes;
    this.#reads = parts.reads;
    this.#session = parts.session;
    this.#sessions = parts.sessions;
    this.#states = parts.states;
    this.#ui = parts.ui;
  }

  /**
   * New threads first, and the others as they stood when the page came into view: rows that move
   * under the pointer are hit by mistake.
   */
  sorted = $derived(inOrder(this.threads, this.#order));

  /** Connects, and loads what the page shows first. Resolves to the person of this page. */
  async open(): Promise<void> {
    this.#live.open({
      onframe: (frame) => this.#frame(frame),
      onlink: (link, retryAt, why) => this.#linked(link, retryAt, why),
    });
    addEventListener('online', () => this.retry());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.#return());
    addEventListener('focus', () => this.sortAgain());
    // What changes after the connection is up is notified. So the start is read after that.
    await this.#live.begun;
    await this.start();
  }

  retry(): void {
    this.#live.retry();
  }

  /** Sorts the list by the newest events. */
  sortAgain(): void {
    this.#order = reordered(this.threads.values());
  }

  /**
   * Reading in another browser sends no notification, so the list may be outdated when the page is
   * seen again.
   */
  #return(): void {
    this.sortAgain();
    void this.list().then(() => this.sortAgain());
    void this.#needs.load();
  }

  /** Loads the person, the threads and the sessions in one request. */
  async start(): Promise<void> {
    this.#started ??= get<HallStart>('/start');
    try {
      const start = await this.#started;
      this.#session.learn(start.session as WhoAmI);
      this.#outboxes.goOn();
      void this.#reads.tell();
      start.threads.forEach((entry) => this.#listed(entry));
      this.#sessions.begin(start.sessions ?? null, start.no_sessions?.message ?? '');
      this.#states.learn(start.states);
      this.#needs.takeAll(start.needs);
      this.phase = 'ready';
      this.sortAgain();
      this.#askMissing(new Set(start.threads.map((entry) => entry.id)), start.next === undefined);
      if (start.next !== undefined) void this.list();
    } catch (error) {
      this.#started = null;
      this.#session.notStarted(error);
      if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  /** Asks about threads with data in this browser that the whole list does not have. */
  #askMissing(listed: ReadonlySet<string>, whole: boolean): void {
    const noted = whole ? [...this.#outboxes.waiting, ...drafted(), ...this.#reads.noted] : [];
    new Set(noted.filter((id) => !listed.has(id))).forEach((id) => void this.#missing(id));
  }

  /** Loads the slash commands, once. They only help: commands can be typed. */
  async loadCommands(): Promise<void> {
    if (this.commands.length > 0) return;
    const list = get<{ commands: Command[] }>('/commands');
    await list.then(({ commands }) => (this.commands = commands)).catch(() => undefined);
  }

  /** Returns the agents of the registry, loading them if the list has not come yet. */
  async registry(): Promise<AgentEntry[]> {
    if (this.agents.length === 0) this.agents = (await get<{ agents: AgentEntry[] }>('/agents')).agents;
    return this.agents;
  }

  #linked(link: Link, retryAt: number | null, why: ApiError | null): void {
    // Before the person is known, the first request asks for a sign-in.
    if (link === 'refused' && why?.status === 401 && this.#session.who !== null) this.#session.lost();
    if (link === 'waiting') this.#awaySince ??= Date.now();
    this.link = link;
    this.retryAt = retryAt;
    // While the stream reconnects, the last reason stays.
    if (link !== 'connecting') this.busy = why?.busy ? why.reason : null;
    if (link !== 'live') return;
    this.#tellAbsence();
    const again = this.#wasLive || this.phase === 'failed';
    this.#wasLive = true;
    this.#outboxes.goOn();
    // Notifications have no position to resume from, so everything is listed after each further
    // connection.
    if (!again) return void this.#reads.tell();
    void this.#reads.tell().then(() => (this.phase === 'failed' ? this.start() : this.list()));
    void this.#states.load();
    void this.#needs.load();
    this.#sessions.loadSoon();
  }

  /** Says once, for all conversations, how long the server was away. */
  #tellAbsence(): void {
    const seconds = this.#awaySince === null ? 0 : Math.round((Date.now() - this.#awaySince) / 1000);
    this.#awaySince = null;
    if (seconds >= ABSENCE_S_MIN) this.#ui.tell(`The server was away for ${count(seconds, 'second')}.`);
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
      const before = [...this.threads.keys(), ...this.#outboxes.waiting, ...drafted(), ...this.#reads.noted];
      while (after !== undefined) {
        const page: { threads: ThreadEntry[]; next?: number } = await get(
          `/threads?as=${this.#me.id}&lines=1&limit=${PAGE}&after=${after}`,
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
    this.#states.forget(id);
    this.#needs.forget(id);
  }

  #listed(entry: ThreadEntry): void {
    if (this.#deleted.has(entry.id)) return;
    this.#missed.delete(entry.id);
    const before = this.threads.get(entry.id);
    this.#reads.learn(entry.id, entry.read ?? 0);
    const unknown = { from: null, line: '', known: 0 };
    const { last, ...rest } = entry;
    // The server counts from its own mark. If this browser has another mark, its own count stays.
    const agrees = this.#reads.mark(entry.id) === (entry.read ?? 0);
    const unread = (agrees ? entry.unread : before?.unread) ?? 0;
    const direct = unread > 0 && ((agrees ? entry.direct : before?.direct) ?? before?.direct ?? false);
    const line = last ? { from: last.from, line: last.redacted ? 'erased' : summary(last.text, 80) } : {};
    // With `direct`, the server has looked for the newest message, and counted from its own mark.
    const known = agrees && entry.direct !== undefined ? entry.head : (before?.known ?? 0);
    this.threads.set(entry.id, { ...unknown, ...before, ...rest, ...line, known, unread, direct });
  }

  #frame({ event, data }: Extract<HubMessage, { kind: 'frame' }>): void {
    if (event === 'states') return this.#states.learn((data as StatesSignal).states);
    if (event === 'needs') {
      const { thread, needs: all } = data as NeedsSignal;
      return this.#needs.take(thread, all);
    }
    if (event === 'sessions') return this.#sessions.loadSoon();
    if (event === 'signed-out') return this.#session.lost();
    if (event === 'message') this.#ring(data as Bell);
  }

  #ring(bell: Bell): void {
    // A notification of a session's home or of a link is also one of the session.
    if (this.#sessions.isHome(bell.thread) || this.#sessions.isLink(bell.thread)) this.#sessions.loadSoon();
    const thread = this.threads.get(bell.thread);
    if (!thread) return void this.list();
    // An open room may already have the event.
    if (bell.head <= thread.head) return;
    this.threads.set(thread.id, { ...thread, head: bell.head, updated_at: new Date().toISOString() });
    // Look even if no row shows the thread: it has unread messages, or was deleted.
    setTimeout(() => this.look(bell.thread), BELL_MS);
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

  /** Takes the events between two positions, loaded here or in the open room. */
  learn(id: string, events: readonly Envelope[], after: number, through: number): void {
    const thread = this.threads.get(id);
    if (!thread) return;
    const mark = this.#reads.mark(id) ?? 0;
    const messages = events.filter((event) => event.type === 'message' && typeof event.content === 'string');
    const fresh = messages.filter((event) => event.seq > mark && event.from !== this.#me.id);
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
      direct: fresh.some((event) => isTo(this.#me.id, event)) || (after > mark && thread.direct),
    });
  }

  /** Records that everything up to a position was read. */
  read(id: string, seq: number): void {
    this.#reads.advance(id, seq);
    const thread = this.threads.get(id);
    if (thread && thread.unread > 0 && (this.#reads.mark(id) ?? 0) >= thread.known)
      this.threads.set(id, { ...thread, unread: 0, direct: false });
  }

  /** Starts a conversation, and invites agents of the registry and sessions. Returns its id. */
  async begin(
    name: string,
    policy: string,
    clients: readonly AgentEntry[],
    inTerminals: readonly string[] = [],
  ): Promise<string> {
    const created = await post<{ id: string; name: string }>('/threads', { name, from: this.#me.id, policy });
    const ofClients = clients.map((agent) => {
      const profile = { ...agent.profile, client: agent.client, model: agent.profile.model ?? agent.client };
      return { participant_id: agent.client, profile };
    });
    for (const invite of [...ofClients, ...inTerminals.map((session) => ({ profile: { session } }))])
      await post(`/threads/${created.id}/events`, { type: 'control', from: this.#me.id, content: { invite } });
    await this.list();
    return created.id;
  }

  /** Begins a gathering. Returns its id. */
  async gather(plan: NewGathering): Promise<string> {
    const { id } = await post<Gathering>('/gatherings', plan);
    await this.list();
    return id;
  }

  /** Returns the name of a participant of a conversation. */
  nameIn(thread: string, id: string): string {
    return this.threads.get(thread)?.names?.[id] ?? this.#sessions.find(id)?.name ?? id;
  }
}

/** True if a message is addressed to a person or names that person. */
function isTo(me: string, event: Envelope): boolean {
  const named = new RegExp(`(?:^|[\\s(])@${me.replaceAll('.', '\\.')}(?![\\w:-])`, 'i');
  return event.to === me || (event.meta?.mentions ?? []).includes(me) || named.test(String(event.content));
}
