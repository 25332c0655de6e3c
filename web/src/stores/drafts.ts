/** What was typed and not sent, for each conversation. */

import { load, save } from '../lib/storage';

export interface Draft {
  text: string;
  to: string;
  replyTo: string | null;
}

export const EMPTY: Draft = { text: '', to: 'all', replyTo: null };

export function loadDraft(thread: string): Draft {
  return { ...EMPTY, ...load<globalThis.Partial<Draft>>(`draft.${thread}`, {}) };
}

export function saveDraft(thread: string, draft: Draft): void {
  const empty = draft.text === '' && draft.replyTo === null && draft.to === 'all';
  save(`draft.${thread}`, empty ? null : draft);
}

export function hasDraft(thread: string): boolean {
  return loadDraft(thread).text.trim() !== '';
}
