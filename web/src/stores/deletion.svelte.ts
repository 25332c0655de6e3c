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
import { ROOM_DIALOGS } from './dialogs';
import { EMPTY, loadDraft, saveDraft } from './drafts';
import { hall } from './hall.svelte';
import { outboxes } from './outbox.svelte';
import { reads } from './reads.svelte';
import { rooms } from './rooms.svelte';
import { router } from './router.svelte';
import { session } from './session.svelte';
import { sessions } from './sessions.svelte';
import { ui } from './ui.svelte';

class Deletion {
  /** The deleted conversations, with the unsent texts of each. */
  #all = new SvelteMap<string, string[]>();

  constructor() {
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
    return session.who?.principal?.kind === 'human' && session.who.scopes.includes('threads:admin');
  }

  /** Deletes a conversation for all participants. Throws on failure, for the dialog to show. */
  async delete(thread: string): Promise<void> {
    const { erased, backups } = await erase<ThreadDeleted>(`/threads/${thread}`);
    router.go(null);
    this.#take(thread);
    const rest = erased
      ? ''
      : ' A part could not be erased because of the disk. The server erases it when it starts again.';
    ui.tell(`The conversation was deleted.${rest} ${backups}`);
  }

  #take(thread: string): void {
    if (this.has(thread)) return;
    const draft = loadDraft(thread).text.trim();
    const unsent = [...outboxes.end(thread), ...(draft ? [draft] : [])];
    this.#all.set(thread, unsent);
    const seen = router.place.thread === thread;
    if (seen && ui.dialog !== null && ui.dialog in ROOM_DIALOGS) ui.close();
    rooms.end(thread);
    hall.forget(thread);
    reads.forget(thread);
    saveDraft(thread, EMPTY);
    forgetMade();
    sessions.loadSoon();
    // Replaces the last announcement, which may quote the conversation.
    ui.say('A conversation was deleted');
    if (!seen && unsent.length > 0) this.#tell(unsent);
  }

  #tell(unsent: string[]): void {
    const what = count(unsent.length, 'message');
    const run = () => void copy(unsent.join('\n\n'));
    ui.tell(`A conversation was deleted, and ${what} of yours could not be sent to it.`, {
      bad: true,
      action: { label: 'Copy what you wrote', run },
    });
  }
}

export const deletion = new Deletion();
