/** One session in view: its screen and its questions. Loaded with the view of sessions. */

import { get } from '../lib/client';
import { openPermissions, shellCommand } from '../lib/sessions';
import { ASKED, eventQuery } from '../lib/events';
import { askedInNoTurn, type Permission } from '../lib/permissions';
import type { EventPage, FollowSignal, ScreenEntry, SessionEntry, StateAnswer } from '../lib/types';
import { live } from './live.svelte';
import { needs } from './needs.svelte';
import { sessions } from './sessions.svelte';

/** A question of a session, and the conversation in which it can be answered. */
export interface Asked {
  thread: string;
  permission: Permission;
}

/** Returns the command that shows the session's terminal on the server's computer. */
export async function attachCommand(id: string): Promise<string> {
  return shellCommand((await get<{ argv: string[] }>(`/sessions/${id}/attach`)).argv);
}

/** Returns the open questions of a session, in all conversations with something for you. */
export async function askedBy({ id }: SessionEntry): Promise<Asked[]> {
  const threads = new Set([id, ...needs.list.map((need) => need.thread)]);
  return (await Promise.all([...threads].map((thread) => askedIn(thread, id)))).flat();
}

async function askedIn(thread: string, session: string): Promise<Asked[]> {
  const state = await get<StateAnswer>(`/threads/${thread}/state`);
  const began = [
    ...state.state.turns.map((turn) => turn.cause.seq),
    ...askedInNoTurn(state.state).map(({ seq }) => seq),
  ];
  if (began.length === 0) return [];
  const after = Math.max(0, Math.min(...began) - 1);
  const { events } = await get<EventPage>(`/threads/${thread}/events?${eventQuery({ after }, ASKED)}`);
  const invited = state.state.participants.invited;
  const itself = invited.filter((one) => one.profile.session === session).map((one) => one.id);
  return openPermissions(state, events)
    .filter((permission) => itself.includes(permission.participant))
    .map((permission) => ({ thread, permission }));
}

/** The screen of one terminal, streamed while the page is visible. */
export class Screen {
  shown = $state.raw<ScreenEntry | null>(null);
  /** The reason why the screen cannot be shown. */
  fault = $state<string | null>(null);
  #id: string;
  #seen = () => this.#look();

  constructor(id: string) {
    this.#id = id;
    document.addEventListener('visibilitychange', this.#seen);
    this.#look();
  }

  /** Follows the screen, except on a hidden page. */
  #look(): void {
    if (document.visibilityState !== 'visible') return live.hideScreen(this.#id);
    live.showScreen(this.#id, { onframe: ({ event, data }) => this.#frame(event, data) });
  }

  #frame(event: string, data: unknown): void {
    if (event === 'following') this.fault = null;
    if (event === 'ended') return this.#over('The program is gone.');
    if (event === 'refused')
      return this.#over((data as FollowSignal).error?.message ?? 'Its terminal cannot be shown.');
    if (event !== 'screen') return;
    const before = this.shown?.state;
    this.shown = data as ScreenEntry;
    if (this.shown.state !== before) void sessions.load();
  }

  #over(why: string): void {
    this.fault = why;
    this.close();
    void sessions.load();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#seen);
    live.hideScreen(this.#id);
  }
}
