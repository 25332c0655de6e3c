/** Who this browser is to the server, and how it signs in and out. */

import { ApiError, get, heed, post, sentence } from '../lib/client';
import { become } from '../lib/words';
import { router } from './router.svelte';
import { ui } from './ui.svelte';

export interface WhoAmI {
  mode: 'local' | 'token';
  principal: { id: string; kind: 'human' | 'agent' } | null;
  scopes: string[];
  /** The conversations that they reach; `null` stands for all. */
  threads: string[] | null;
  token: string | null;
  expires_at: string | null;
}

/** The server prints its page with the start-up credential behind `#key=`, and an invitation is a code behind `#join=`: a fragment is in
 * no request and no log. */
const KEY = /^#(key|join)=([A-Za-z0-9_]{1,256})$/;

class Session {
  who = $state.raw<WhoAmI | null>(null);
  /** Nothing is shown before somebody signs in. */
  needed = $state(false);
  /** The reason for which the server asks. */
  why = $state('This server asks everybody who they are.');
  /** Why the last attempt to sign in failed. */
  fault = $state<string | null>(null);

  /** The server says that it does not know this browser. What agents must not do by themselves is then refused. */
  get unknown(): boolean {
    return this.who !== null && this.who.principal === null;
  }

  /** Signs in with what the address brings along, and finds out who this is. */
  async begin(): Promise<void> {
    const [, kind, key] = KEY.exec(location.hash) ?? [];
    let invited = false;
    if (key) {
      history.replaceState(history.state, '', location.pathname + location.search);
      const who = await this.#present(key);
      invited = kind === 'join';
      if (invited && who?.threads?.length === 1) router.go(who.threads[0]!);
    }
    try {
      this.#known(await get<WhoAmI>('/session'));
    } catch (error) {
      if (error instanceof ApiError && error.asksWho) this.#ask(error);
    }
    // Whoever is in already may open the link again.
    if (invited && this.fault !== null) this.#turnedAway();
    heed((error) => this.#refused(error));
  }

  /** Signs in with a key that somebody typed. The page begins anew then, as whoever that is. */
  async signIn(key: string): Promise<void> {
    // Whoever has a link pastes that.
    if ((await this.#present(key.trim().replace(/^.*#(?:key|join)=/, ''))) !== null) location.reload();
  }

  async signOut(): Promise<void> {
    if (await ui.attempt('Signing out', () => post('/session/end', {}))) location.reload();
  }

  /** The credential was revoked or has run out. */
  lost(): void {
    location.reload();
  }

  async #present(key: string): Promise<WhoAmI | null> {
    this.fault = null;
    try {
      return await post<WhoAmI>('/session', { key });
    } catch (error) {
      this.fault =
        error instanceof ApiError && error.status === 401
          ? 'This key is not worth anything: it is mistyped, expired or revoked, or of an earlier start of the server.'
          : sentence(error);
      return null;
    }
  }

  #turnedAway(): void {
    if (this.who?.principal) this.fault = null;
    else this.fault = 'This invitation is used up, too old or mistyped. Ask for another one.';
    if (this.fault !== null && !this.needed) ui.tell(this.fault, { bad: true });
  }

  #known(who: WhoAmI): void {
    this.who = who;
    this.needed = false;
    if (who.principal) become(who.principal.id);
  }

  #ask(error: ApiError): void {
    this.needed = true;
    if (error.status !== 401) this.why = error.message;
  }

  /** A request was refused for want of a credential: signing in helps, unless somebody has. */
  #refused(error: ApiError): void {
    if (error.asksWho) this.#ask(error);
    else if (!this.who?.principal) ui.open('sign-in');
  }
}

export const session = new Session();
