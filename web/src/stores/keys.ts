/** Keys that work anywhere on the page. */

import { WIDE } from '../lib/layout';
import { stop } from './actions';
import type { Room } from './room.svelte';
import type { Dialog } from './ui.svelte';
import { finder, hall, rooms, router, sessions, settings, states, ui } from './app';

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}

function isInMenu(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('[role="menu"], [role="listbox"]') !== null;
}

/** Dialogs into which people type before they are drawn. */
const SEEKING: Dialog[] = ['switcher', 'search'];

/** True while a room is opened: letters are for its message, not shortcuts. */
function isOpening(): boolean {
  return rooms.current?.phase === 'loading' && ui.dialog === null && !matchMedia('(pointer: coarse)').matches;
}

function isLetter(event: KeyboardEvent): boolean {
  return event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
}

export class Keys {
  /**
   * The toast that announces the second Esc. Esc stops everything only while the toast is visible.
   */
  #warning = 0;
  #write: () => void;
  #read: () => void;
  #needs: () => boolean;
  #home: (event: KeyboardEvent) => boolean;

  constructor(write: () => void, read: () => void, needs: () => boolean, home: (event: KeyboardEvent) => boolean) {
    this.#write = write;
    this.#read = read;
    this.#needs = needs;
    this.#home = home;
  }

  /**
   * Handles keys before all other handlers. Keys for a dialog that is not drawn yet must not reach
   * the view behind it.
   */
  first(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (isOpening() && isLetter(event) && !isTyping(event.target)) return this.#keep(event, event.key);
    if (!SEEKING.includes(ui.dialog)) return;
    const isInDialog = event.target instanceof HTMLElement && event.target.closest('[role="dialog"]') !== null;
    const isAhead = event.key === 'Enter' ? !isInDialog : isLetter(event) && !(isInDialog && isTyping(event.target));
    if (isAhead) this.#keep(event, event.key === 'Enter' ? '\n' : event.key);
  }

  #keep(event: KeyboardEvent, text: string): void {
    event.preventDefault();
    event.stopPropagation();
    ui.ahead += text;
  }

  press(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      return ui.dialog === 'switcher' ? ui.close() : ui.open('switcher');
    }
    if (command && event.shiftKey && !event.altKey && event.key.toLowerCase() === 'f') {
      event.preventDefault();
      return finder.start('');
    }
    if (event.key === 'Escape') return this.#escape(event);
    if (event.altKey && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      return this.#step(event.key === 'ArrowDown' ? 1 : -1);
    }
    if (command || event.altKey || ui.dialog || ui.drawer || isTyping(event.target) || isInMenu(event.target)) return;
    if (!settings.letters && isLetter(event)) return;
    if (this.#home(event) || this.#letter(event.key)) event.preventDefault();
  }

  #letter(key: string): boolean {
    const room = rooms.current;
    switch (key) {
      case '?':
        ui.open('shortcuts');
        return true;
      case 'n':
        ui.open('new');
        return true;
      case 's':
        router.goSession(null);
        return true;
      case 'i':
        if (room) ui.open('invite');
        return room !== null;
      case 'p':
        this.#panel();
        return true;
      case 'm':
        this.#write();
        return true;
      case 'a':
        return this.#needs();
      case 'j':
      case 'k':
        this.#read();
        return true;
      default:
        return false;
    }
  }

  #panel(): void {
    const room = rooms.current;
    if (matchMedia(WIDE).matches && !(room && sessions.isHome(room.id))) settings.panel = !settings.panel;
    else if (room) ui.drawer = 'panel';
  }

  #escape(event: KeyboardEvent): void {
    if (ui.drawer) {
      ui.drawer = null;
      return;
    }
    const room = rooms.current;
    // Without anything to stop, Esc leaves the field, so that letters are shortcuts again.
    if (!ui.dialog && isTyping(event.target) && !canStop(room)) return (event.target as HTMLElement).blur();
    if (ui.dialog || !room || !canStop(room)) return;
    if (!ui.toasts.some((toast) => toast.id === this.#warning)) {
      this.#warning = ui.tell('Press Esc again to stop everything.');
      return;
    }
    ui.dismiss(this.#warning);
    void stop(room);
  }

  #step(step: number): void {
    const current = hall.sorted.filter((thread) => !thread.archived);
    const isHome = (thread: { id: string }) => sessions.isHome(thread.id);
    const open = [...current.filter((thread) => !isHome(thread)), ...current.filter(isHome)];
    const at = open.findIndex((thread) => thread.id === rooms.current?.id);
    const next = open[at < 0 ? 0 : at + step];
    if (next) router.go(next.id);
  }
}

/** True if agents speak or will speak in a room, or a gathering is open. */
function canStop(room: Room | null): boolean {
  if (room === null) return false;
  // States come at once, and the open turns with the next read of the room.
  const isOpen = room.circle.isOpen && !room.circle.now?.stopped;
  return room.floor.busy || isOpen || states.busyIn(room.id).length > 0;
}
