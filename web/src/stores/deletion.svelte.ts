/**
 * Deleted conversations. Whichever request reports a deletion, the page drops the conversation at
 * once: from the lists, from the room, and from the browser's storage. Only text that was written
 * here and never sent is kept, in memory, for its author to copy.
 */

import { SvelteMap } from 'svelte/reactivity';
import { erase, heedDeletion } from '../lib/client';
import { copy } from '../lib/clipboard';
import { forgetMade } from '../lib/markdown';
import type { ThreadDeleted } from '../lib/types';
import { count } from '../lib/words';
import { EMPTY, loadDraft, saveDraft } from './drafts';
import type { Hall } from './hall.svelte';
import type { Outboxes } from './outbox.svelte';
import type { Reads } from './reads.svelte';
import type { Rooms } from './rooms.svelte';
import type { Router } from './router.svelte';
import type { Session } from './session.svelte';
import type { Sessions } from './sessions.svelte';
import type { Ui } from './ui.svelte';

/** The parts of the page that let go of a deleted conversation. */
export interface DeletionParts {
  hall: Hall;
  outboxes: Outboxes;
  reads: Reads;
  rooms: Rooms;
  router: Router;
  session: Session;
  sessions: Sessions;
  ui: Ui;
}

export class Deletion {
  #hall: Hall;
  #outboxes: Outboxes;
  #reads: Reads;
  #rooms: Rooms;
  #router: Router;
  #session: Session;
  #sessions: Sessions;
  #ui: Ui;
  /** The deleted conversations, with the unsent texts of each. */
  #all = new SvelteMap<string, string[]>();

  constructor(parts: DeletionParts) {
    this.#hall = parts.hall;
    this.#outboxes = parts.outboxes;
    this.#reads = parts.reads;
    this.#rooms = parts.rooms;
    this.#router = parts.router;
    this.#session = parts.session;
    this.#sessions = parts.sessions;
    this.#ui = parts.ui;
    heedDeletion((thread) => this.#take(thread));
  }

  has(thread: string): boolean {
    return this.#all.has(thread);
  }

  /** Returns the texts that were written for a conversation and never sent. */
  unsent(thread: string): string[] {
    return this.#all.get(thread) ?? [];
  }

  /** True if the person has signed in and may delete conversations. */
  get allowed(): boolean {
    return this.#session.who?.principal?.kind === 'human' && this.#session.who.scopes.includes('threads:admin');
  }

  /** Deletes a conversation for all participants. Throws on failure, for the dialog to show. */
  async delete(thread: string): Promise<void> {
    const { erased, backups } = await erase<ThreadDeleted>(`/threads/${thread}`);
    this.#router.go(null);
    this.#take(thread);
    const rest = erased
      ? ''
      : ' A part could not be erased because of the disk. The server erases it when it starts again.';
    this.#ui.tell(`The conversation was deleted.${rest} ${backups}`);
  }

  #take(thread: string): void {
    if (this.has(thread)) return;
    const draft = loadDraft(thread).text.trim();
    const unsent = [...this.#outboxes.end(thread), ...(draft ? [draft] : [])];
    this.#all.set(thread, unsent);
    const seen = this.#router.place.thread === thread;
    if (seen) this.#ui.closeRoomDialog();
    this.#rooms.end(thread);
    this.#hall.forget(thread);
    this.#reads.forget(thread);
    saveDraft(thread, EMPTY);
    forgetMade();
    this.#sessions.loadSoon();
    // Replaces the last announcement, which may quote the conversation.
    this.#ui.say('A conversation was deleted');
    if (!seen && unsent.length > 0) this.#tell(unsent);
  }

  #tell(unsent: string[]): void {
    const what = count(unsent.length, 'message');
    const run = () => void copy(unsent.join('\n\n'));
    this.#ui.tell(`A conversation was deleted, and ${what} of yours could not be sent to it.`, {
      bad: true,
      action: { label: 'Copy what you wrote', run },
    });
  }
}
