/** Preferences of this browser's person. */

import { load, save, watch } from '../lib/storage';

export type Theme = 'light' | 'dark' | 'system';

interface Saved {
  theme: Theme;
  stream: boolean;
  panel: boolean;
  ring: boolean;
  letters: boolean;
  notify: boolean;
  notifyWords: boolean;
}

const DEFAULTS: Saved = {
  theme: 'system',
  stream: true,
  panel: true,
  ring: true,
  letters: true,
  notify: false,
  notifyWords: false,
};

export class Settings {
  #saved = $state<Saved>({ ...DEFAULTS, ...load<globalThis.Partial<Saved>>('settings', {}) });

  #dark = matchMedia('(prefers-color-scheme: dark)');

  constructor() {
    this.#paint();
    this.#dark.addEventListener('change', () => this.#paint());
    watch('settings', () => {
      this.#saved = { ...DEFAULTS, ...load<globalThis.Partial<Saved>>('settings', {}) };
      this.#paint();
    });
  }

  get theme(): Theme {
    return this.#saved.theme;
  }
  set theme(theme: Theme) {
    this.#change({ theme });
  }

  /** True if replies appear while they are written. */
  get stream(): boolean {
    return this.#saved.stream;
  }
  set stream(stream: boolean) {
    this.#change({ stream });
  }

  /** True if the right panel is open on wide screens. */
  get panel(): boolean {
    return this.#saved.panel;
  }
  set panel(panel: boolean) {
    this.#change({ panel });
  }

  /** True if the ring of a gathering is open. */
  get ring(): boolean {
    return this.#saved.ring;
  }
  set ring(ring: boolean) {
    this.#change({ ring });
  }

  /** True if single letters are shortcuts. */
  get letters(): boolean {
    return this.#saved.letters;
  }
  set letters(letters: boolean) {
    this.#change({ letters });
  }

  /** True if needs are told as notifications of the desktop. */
  get notify(): boolean {
    return this.#saved.notify;
  }
  set notify(notify: boolean) {
    this.#change({ notify });
  }

  /** True if notifications may hold words of messages. */
  get notifyWords(): boolean {
    return this.#saved.notifyWords;
  }
  set notifyWords(notifyWords: boolean) {
    this.#change({ notifyWords });
  }

  #change(change: globalThis.Partial<Saved>): void {
    this.#saved = { ...this.#saved, ...change };
    save('settings', this.#saved);
    this.#paint();
  }

  #paint(): void {
    const { theme } = this.#saved;
    document.documentElement.dataset['theme'] = theme !== 'system' ? theme : this.#dark.matches ? 'dark' : 'light';
  }
}
