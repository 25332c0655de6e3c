/**
 * Notifications of the desktop: one for each need, while no tab of the page is visible. It closes
 * when the need is gone.
 */

import { noticeBody, noticeTitle } from '../lib/notice';
import type { Need } from '../lib/types';
import type { Home } from './home.svelte';
import type { Needs } from './needs.svelte';
import type { Router } from './router.svelte';
import type { Settings } from './settings.svelte';
import type { Ui } from './ui.svelte';

/** A lock that each visible tab holds, so that hidden ones know of it. */
const VISIBLE = 'moothall-visible';

export class Desktop {
  #shown = new Map<string, Notification>();
  /** Needs that were already there, or were told. */
  #known = new Set<string>();

  /** True if the browser can show notifications: it does so for safe addresses only. */
  readonly able = 'Notification' in window && isSecureContext;

  #home: Home;
  #needs: Needs;
  #router: Router;
  #settings: Settings;
  #ui: Ui;

  constructor(home: Home, needs: Needs, router: Router, settings: Settings, ui: Ui) {
    this.#home = home;
    this.#needs = needs;
    this.#router = router;
    this.#settings = settings;
    this.#ui = ui;
  }

  /** Starts to watch the needs. Those that are there already are not told. */
  watch(): void {
    if (!this.able) return;
    this.#needs.list.forEach((need) => this.#known.add(need.id));
    document.addEventListener('visibilitychange', () => this.#changeVisibility());
    this.#changeVisibility();
    $effect.root(() => {
      $effect(() => void this.#follow(this.#needs.list));
    });
  }

  /** Switches notifications on or off. Only a click of the person may ask the browser. */
  async set(on: boolean): Promise<void> {
    if (on && Notification.permission !== 'granted' && (await Notification.requestPermission()) !== 'granted') {
      this.#ui.tell('The browser does not allow notifications.', {
        bad: true,
        detail: 'Allow them for this page in the settings of the browser, then switch them on here.',
      });
      return;
    }
    this.#settings.notify = on;
    if (!on) this.#closeAll();
  }

  get on(): boolean {
    return this.able && this.#settings.notify && Notification.permission === 'granted';
  }

  async #follow(list: readonly Need[]): Promise<void> {
    const ids = new Set(list.map((need) => need.id));
    for (const [id, notification] of this.#shown) if (!ids.has(id)) this.#close(id, notification);
    const fresh = list.filter((need) => !this.#known.has(need.id));
    this.#known = ids;
    if (fresh.length === 0 || !this.on || (await isSeen())) return;
    // A need may have been answered meanwhile.
    fresh.filter((need) => this.#known.has(need.id)).forEach((need) => this.#show(need));
  }

  #show(need: Need): void {
    const body = this.#settings.notifyWords ? noticeBody(need) : '';
    // Notifications of several tabs about one need have one tag, so that one replaces the other.
    const notification = new Notification(noticeTitle(need), { body, tag: `moothall ${need.id}`, icon: '/icon.svg' });
    notification.onclick = () => {
      window.focus();
      this.#router.go(null);
      this.#home.choose(need.id);
      notification.close();
    };
    this.#shown.set(need.id, notification);
  }

  #close(id: string, notification: Notification): void {
    notification.close();
    this.#shown.delete(id);
  }

  #closeAll(): void {
    for (const [id, notification] of this.#shown) this.#close(id, notification);
  }

  /** A visible page shows the needs itself. It holds the lock until it is hidden. */
  #changeVisibility(): void {
    if (document.visibilityState !== 'visible') return;
    this.#closeAll();
    void navigator.locks.request(
      VISIBLE,
      { mode: 'shared' },
      () =>
        new Promise<void>((release) => {
          document.addEventListener('visibilitychange', () => release(), { once: true });
        }),
    );
  }
}

/** True if a tab of the page is visible. */
async function isSeen(): Promise<boolean> {
  if (document.visibilityState === 'visible') return true;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === VISIBLE);
}
