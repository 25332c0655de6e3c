/** Keys of a browser as the server's words for keystrokes in a terminal. */

import type { NewKeystroke } from './types';

interface Pressed {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

const NAMED: Record<string, string> = {
  Enter: 'enter',
  Escape: 'escape',
  Tab: 'tab',
  Backspace: 'backspace',
  Delete: 'delete',
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'home',
  End: 'end',
  PageUp: 'page_up',
  PageDown: 'page_down',
};

/** True for the keys that give the terminal back: Tab and Esc are for the program. */
export function releases(event: Pressed): boolean {
  return event.key === 'Enter' && event.ctrlKey && event.shiftKey;
}

/**
 * Returns the keystroke of a key without a character, or of a letter with Ctrl. Characters come as
 * text; keys of the browser, such as ⌘ V or Ctrl Shift T, stay with it.
 */
export function keystrokeOf(event: Pressed): NewKeystroke | null {
  if (event.metaKey || event.altKey) return null;
  if (event.ctrlKey) {
    const letter = event.key.toLowerCase();
    // The browser pastes with Ctrl V, and the paste is typed as one.
    return !event.shiftKey && /^[a-z]$/.test(letter) && letter !== 'v' ? { key: `ctrl+${letter}` } : null;
  }
  if (event.key === 'Tab' && event.shiftKey) return { key: 'back_tab' };
  const key = Object.hasOwn(NAMED, event.key) ? NAMED[event.key] : undefined;
  return key === undefined ? null : { key };
}

/** The most entries of a request. */
export const KEYSTROKES_MAX = 256;

/** Adds a keystroke. Characters after each other become one text. */
export function joined(keys: readonly NewKeystroke[], next: NewKeystroke): NewKeystroke[] {
  const last = keys.at(-1);
  if (last?.text != null && next.text != null) return [...keys.slice(0, -1), { text: last.text + next.text }];
  return [...keys, next];
}
