/** The identity of this browser on the server, signing in and signing out. */

import { ApiError, heed, post, sentence } from '../lib/client';
import type { Live } from './live.svelte';
import type { Router } from './router.svelte';
import type { Ui } from './ui.svelte';
import type { Me } from './me.svelte';

export interface WhoAmI {
  mode: 'local' | 'token';
  principal: { id: string; kind: 'human' | 'agent' } | null;
  scopes: string[];
  /** The conversations within reach; `null` stands for all. */
  threads: string[] | null;
  token: string | null;
  expires_at: string | null;
}

/**
 * The server prints the page's address with the start-up credential after `#key=`. An invitation is
 * a code after `#join=`. Browsers send fragments to no server, so no log has them.
 */
const KEY = /^#(key|join)=([A-Za-z0-9_]{1,256})$/;

export class Session {
  who = $state.raw<WhoAmI | null>(null);
  /** True if the page shows only the sign-in. */
  needed = $state(false);
  /** The server's reason for asking for a sign-in. */
  why = $state('Run `moothall page` and open the link, or paste the key from it.');
  #invited = false;
  /** The reason why the last sign-in failed. */
  fault = $state<string | null>(null);

  #me: Me;
  #live: Live;
  #router: Router;
  #ui: Ui;

  constructor(me: Me, live: Live, router: Router, ui: Ui) {
    this.#me = me;
    this.#live = live;
    this.#router = router;
    this.#ui = ui;
  }

  /**
   * True if the server does not know this browser. The server then refuses actions that agents must
   * not take by themselves.
   */
  get unknown(): boolean {
    return this.who !== null && this.who.principal === null;
  }

  /** Signs in with the key from the address, if any. */
  async begin(): Promise<void> {
    const [, kind, key] = KEY.exec(location.hash) ?? [];
    if (key) {
      history.replaceState(history.state, '', location.pathname + location.search);
      const who = await this.#present(key);
      this.#invited = kind === 'join';
      if (this.#invited && who?.threads?.length === 1) this.#router.go(who.threads[0]!);
    }
    heed((error) => this.#refused(error));
    // A link with a key may be opened in a tab that shows the page already.
    addEventListener('hashchange', () => void this.#signInHere());
  }

  /** Takes the identity that the server has told. */
  learn(who: WhoAmI): void {
    this.who = who;
    this.needed = false;
    if (who.principal) this.#me.id = who.principal.id;
    this.#me.isKnown = true;
    this.#live.become(`${who.principal?.id ?? ''}/${who.token ?? ''}`);
    this.#turnedAway();
  }

  /** Takes the failure of the page's first request. */
  notStarted(error: unknown): void {
    if (error instanceof ApiError && error.asksWho) this.#ask(error);
    this.#turnedAway();
  }

  async #signInHere(): Promise<void> {
    const key = KEY.exec(location.hash)?.[2];
    if (!key) return;
    history.replaceState(history.state, '', location.pathname + location.search);
    await this.signIn(key);
    if (this.fault !== null && !this.needed) this.#ui.tell(this.fault, { bad: true });
  }

  /** Signs in with a typed key. The page then reloads with the new identity. */
  async signIn(key: string): Promise<void> {
    // People may paste the whole link.
    if ((await this.#present(key.trim().replace(/^.*#(?:key|join)=/, ''))) !== null) location.reload();
  }

  async signOut(): Promise<void> {
    if (await this.#ui.attempt('Signing out', () => post('/session/end', {}))) location.reload();
  }

  /** Reloads the page after the credential was revoked or has expired. */
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
          ? 'That key does not work. It may be mistyped, expired, revoked, or from before a restart.'
          : sentence(error);
      return null;
    }
  }

  /** Tells why an invitation did not sign the person in. */
  #turnedAway(): void {
    if (!this.#invited || this.fault === null) return;
    // A signed-in person may open the invitation again, which is not a failure.
    if (this.who?.principal) this.fault = null;
    else this.fault = 'That invitation does not work. It may be used, expired or mistyped. Ask for another one.';
    if (this.fault !== null && !this.needed) this.#ui.tell(this.fault, { bad: true });
  }

  #ask(error: ApiError): void {
    this.needed = true;
    if (error.status !== 401) this.why = error.message;
  }

  /**
   * Handles a request that was refused for lack of a credential. Offers a sign-in, unless the
   * person has signed in.
   */
  #refused(error: ApiError): void {
    if (error.asksWho) this.#ask(error);
    else if (!this.who?.principal) this.#ui.open('sign-in');
  }
}
