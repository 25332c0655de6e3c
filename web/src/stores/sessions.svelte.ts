/** Sessions in terminals on the server, and the links between them. */

import { ApiError, erase, get, post, sentence } from '../lib/client';
import { hueOf } from '../lib/palette';
import { isLive } from '../lib/sessions';
import type { HallSessions, LinkEntry, LinkList, NewLinkMember, ProgramEntry, SessionEntry } from '../lib/types';
import type { Ui } from './ui.svelte';
import type { Me } from './me.svelte';

/** Delay before loading: a notification rarely comes alone. */
const SOON_MS = 300;

export class Sessions {
  /** The sessions in the order in which they began. Ended ones are loaded with the list of agents. */
  all = $state.raw<SessionEntry[]>([]);
  /** Ids of ended sessions, as far as they are known from the start of the page. */
  #ended = $state.raw<readonly string[]>([]);
  programs = $state.raw<ProgramEntry[]>([]);
  links = $state.raw<LinkEntry[]>([]);
  /** Closed links that reopen once sessions are resumed or ended. */
  waiting = $state.raw<LinkEntry[]>([]);
  /** `none`: the server has no terminals, and `why` is its reason. */
  phase = $state<'loading' | 'ready' | 'none' | 'failed'>('loading');
  why = $state('');

  live = $derived(this.all.filter(isLive));
  over = $derived(this.all.filter((session) => !isLive(session)).reverse());
  #places = $derived(new Map(this.all.map((session, index) => [session.id, index])));
  #homes = $derived(new Set([...this.#ended, ...this.all.map((session) => session.id)]));
  #linked = $derived(new Set(this.links.map((link) => link.id)));

  #loading: Promise<void> | null = null;
  #again = false;

  #soon: ReturnType<typeof setTimeout> | undefined;

  #me: Me;
  #ui: Ui;

  constructor(me: Me, ui: Ui) {
    this.#me = me;
    this.#ui = ui;
  }

  /** Takes the sessions from the start of the page. Without them, `why` is the server's reason. */
  begin(start: HallSessions | null, why: string): void {
    if (start === null) {
      [this.phase, this.why] = ['none', why];
      return;
    }
    [this.all, this.#ended, this.programs] = [start.live, start.ended, start.programs];
    [this.links, this.waiting, this.phase] = [start.links, start.waiting ?? [], 'ready'];
  }

  loadSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, SOON_MS);
  }

  /** Loads everything. Calls during a request are answered by one more request. */
  load(): Promise<void> {
    this.#again = this.#loading !== null;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
      if (this.#again) void this.load();
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    try {
      const [list, links] = await Promise.all([
        get<{ sessions: SessionEntry[]; programs: ProgramEntry[] }>('/sessions?ended=true'),
        get<LinkList>('/links'),
      ]);
      this.all = list.sessions;
      this.programs = list.programs;
      this.links = links.links;
      this.waiting = links.waiting ?? [];
      this.phase = 'ready';
    } catch (error) {
      this.why = sentence(error);
      if (error instanceof ApiError && error.code === 'no_terminals') this.phase = 'none';
      else if (this.phase === 'loading') this.phase = 'failed';
    }
  }

  find(id: string | null): SessionEntry | undefined {
    const place = id === null ? undefined : this.#places.get(id);
    return place === undefined ? undefined : this.all[place];
  }

  /** Returns a session's colour. */
  hueOf(id: string): number {
    return hueOf(this.find(id)?.name ?? id);
  }

  /** True if a conversation is a session's home. */
  isHome(thread: string): boolean {
    return this.#homes.has(thread);
  }

  /** True if a conversation is the home of a session that has not ended. */
  isLiveHome(thread: string): boolean {
    const session = this.find(thread);
    return session !== undefined && isLive(session);
  }

  isLink(thread: string): boolean {
    return this.#linked.has(thread);
  }

  linksOf(id: string): LinkEntry[] {
    return this.links.filter((link) => link.members.some((member) => member.session === id));
  }

  /** Starts a program. Returns the id of its session. */
  async start(client: string, cwd: string, name: string): Promise<string> {
    const given = { client, from: this.#me.id, ...(cwd ? { cwd } : {}), ...(name ? { name } : {}) };
    const { id } = await post<SessionEntry>('/sessions', given);
    await this.load();
    return id;
  }

  interrupt(id: string): Promise<boolean> {
    return this.#ui.attempt('Interrupting', async () => {
      await post(`/sessions/${id}/interrupt`, { from: this.#me.id });
      this.#ui.say('Interrupted');
      void this.load();
    });
  }

  async end(id: string): Promise<void> {
    await post(`/sessions/${id}/end`, { from: this.#me.id });
    await this.load();
  }

  resume(id: string): Promise<boolean> {
    return this.#ui.attempt('Resuming', async () => {
      await post(`/sessions/${id}/resume`, { from: this.#me.id });
      this.#ui.say('Resumed');
      await this.load();
    });
  }

  /** Ends a session that was started in vain, and deletes its conversation. */
  async withdraw(id: string): Promise<void> {
    await this.end(id);
    await erase(`/threads/${id}`);
  }

  /** Links sessions. Returns true if exactly these were linked before. */
  async link(members: NewLinkMember[], title: string): Promise<boolean> {
    const given = { members, from: this.#me.id, ...(title ? { title } : {}) };
    const { link_state } = await post<{ link_state: string }>('/links', given);
    await this.load();
    return link_state === 'reused';
  }

  async closeLink(id: string): Promise<void> {
    await post(`/links/${id}/close`, { from: this.#me.id });
    await this.load();
  }
}
