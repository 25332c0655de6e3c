/** Unsent text of each conversation. */

import { load, names, save } from '../lib/storage';

const DRAFT = 'draft.';

export interface Draft {
  text: string;
  to: string;
  replyTo: string | null;
}

export const EMPTY: Draft = { text: '', to: 'all', replyTo: null };

export function loadDraft(thread: string): Draft {
  return { ...EMPTY, ...load<globalThis.Partial<Draft>>(DRAFT + thread, {}) };
}

export function saveDraft(thread: string, draft: Draft): void {
  const empty = draft.text === '' && draft.replyTo === null && draft.to === 'all';
  save(DRAFT + thread, empty ? null : draft);
}

/** Returns the conversations with a draft. */
export function drafted(): string[] {
  return names(DRAFT).map((name) => name.slice(DRAFT.length));
}

export function hasDraft(thread: string): boolean {
  return loadDraft(thread).text.trim() !== '';
}
