/** The terminal of one session in view. */

import { get } from '../lib/client';
import { shellCommand } from '../lib/sessions';
import type { FollowSignal, ScreenEntry } from '../lib/types';
import { live, sessions } from './app';

/** Returns the command that shows the session's terminal on the server's computer. */
export async function attachCommand(id: string): Promise<string> {
  return shellCommand((await get<{ argv: string[] }>(`/sessions/${id}/attach`)).argv);
}

/** Returns the last screen of an ended agent. */
export function lastScreen(id: string): Promise<ScreenEntry> {
  return get<ScreenEntry>(`/sessions/${id}/screen`);
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
