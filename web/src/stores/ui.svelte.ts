/** Open dialogs, spoken announcements and toasts. */

import { ApiError, sentence } from '../lib/client';

/** Dialogs about the open conversation. */
const OF_ROOM = [
  'invite',
  'rules',
  'raise',
  'access',
  'rename',
  'delete',
  'unlink',
  'end-gathering',
  'guards',
  'answers',
  'chats',
] as const;
export type RoomDialog = (typeof OF_ROOM)[number];
export type Dialog =
  | RoomDialog
  | 'switcher'
  | 'shortcuts'
  | 'new'
  | 'circle'
  | 'search'
  | 'sign-in'
  | 'start'
  | 'link'
  | 'confirm'
  | 'agree'
  | 'channels'
  | null;
export type Drawer = 'list' | 'panel' | null;

export interface Toast {
  id: number;
  text: string;
  detail: string | null;
  bad: boolean;
  action: { label: string; run: () => void } | null;
}

const TOAST_MS = 6_000;

export class Ui {
  dialog = $state<Dialog>(null);
  /** The side that lies over the conversation on narrow screens. */
  drawer = $state<Drawer>(null);
  toasts = $state<Toast[]>([]);
  /** Text of the polite live region. */
  spoken = $state('');
  /** Keys typed for a field that is about to appear. */
  ahead = $state('');
  #next = 1;

  open(dialog: Dialog): void {
    this.dialog = dialog;
    this.drawer = null;
    this.ahead = '';
  }

  /** Returns the keys typed ahead and clears them. */
  takeAhead(): string {
    const { ahead } = this;
    if (ahead) this.ahead = '';
    return ahead;
  }

  close(): void {
    this.dialog = null;
  }

  /** Closes a dialog about the open conversation. */
  closeRoomDialog(): void {
    if (OF_ROOM.some((name) => name === this.dialog)) this.close();
  }

  say(text: string): void {
    this.spoken = text;
  }

  /** Shows a toast. Returns its id. */
  tell(text: string, options: { bad?: boolean; detail?: string; action?: Toast['action'] } = {}): number {
    const toast: Toast = {
      id: this.#next++,
      text,
      detail: options.detail ?? null,
      bad: options.bad ?? false,
      action: options.action ?? null,
    };
    this.toasts = [...this.toasts.slice(-3), toast];
    if (!toast.bad) setTimeout(() => this.dismiss(toast.id), TOAST_MS);
    return toast.id;
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  /** Runs an action and shows a toast if it fails. Returns true if it worked. */
  async attempt(what: string, run: () => Promise<unknown>): Promise<boolean> {
    try {
      await run();
      return true;
    } catch (error) {
      const again = error instanceof ApiError && error.retryable;
      const action = again ? { label: 'Try again', run: () => void this.attempt(what, run) } : null;
      this.tell(`${what} failed.`, { bad: true, detail: sentence(error), action });
      return false;
    }
  }
}

/** A change that the server makes only after a person has agreed to its consequence. */
export interface Agreement {
  title: string;
  /** The consequence, in the server's sentences. */
  text: string;
  action: string;
  send: () => Promise<void>;
}

export class Agreements {
  open = $state.raw<Agreement | null>(null);
}

/** The thing that a dialog is about. */
export class Subject<T> {
  of = $state.raw<T | null>(null);
}
