/** One session in view: its screen and its questions. Loaded with the view of sessions. */

import { get } from '../lib/client';
import { openPermissions, shellCommand } from '../lib/sessions';
import { ASKED, eventQuery } from '../lib/events';
import { askedInNoTurn, type Permission } from '../lib/permissions';
import type { EventPage, ScreenEntry, SessionEntry, StateAnswer } from '../lib/types';
import { EventStream } from '../lib/sse';
import { hall } from './hall.svelte';
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

/** Returns the open questions of a session, in all conversations that wait for a person. */
export async function askedBy({ id }: SessionEntry): Promise<Asked[]> {
  const threads = new Set([id, ...hall.waiting.map((thread) => thread.id)]);
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
  #stream: EventStream | null = null;
  #seen = () => this.#look();

  constructor(id: string) {
    this.#id = id;
    document.addEventListener('visibilitychange', this.#seen);
    this.#look();
  }

  /**
   * Opens the stream, or closes it on a hidden page: browsers allow few connections to a server.
   */
  #look(): void {
    if (document.visibilityState !== 'visible') return this.#stop();
    this.#stream ??= new EventStream({
      url: () => `/sessions/${this.#id}/screen/stream`,
      onframe: (frame) => this.#frame(frame.event, frame.data),
      onlink: (link) => {
        if (link === 'live') this.fault = null;
        if (link === 'refused') this.#over('Its terminal cannot be shown.');
      },
    });
  }

  #frame(event: string, data: string): void {
    if (event === 'ended') return this.#over('The program is gone.');
    if (event !== 'screen') return;
    const before = this.shown?.state;
    this.shown = JSON.parse(data) as ScreenEntry;
    if (this.shown.state !== before) void sessions.load();
  }

  #over(why: string): void {
    this.fault = why;
    document.removeEventListener('visibilitychange', this.#seen);
    this.#stop();
    void sessions.load();
  }

  #stop(): void {
    this.#stream?.close();
    this.#stream = null;
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#seen);
    this.#stop();
  }
}
