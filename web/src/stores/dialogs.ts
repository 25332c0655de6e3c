/**
 * Dialogs that are no part of the first visit. They are fetched when the page has nothing else to do, so that each opens at once, also
 * while the server is away.
 */

import type { Component } from 'svelte';
import type { Room } from './room.svelte';

type View<Props extends Record<string, unknown>> = () => Promise<{ default: Component<Props> }>;

export const DIALOGS = {
  new: () => import('../views/shell/NewDialog.svelte'),
  search: () => import('../views/shell/SearchDialog.svelte'),
  shortcuts: () => import('../views/shell/Shortcuts.svelte'),
  agree: () => import('../views/gathering/AgreeDialog.svelte'),
  'sign-in': () => import('../views/shell/SignInDialog.svelte'),
  switcher: () => import('../views/shell/Switcher.svelte'),
} satisfies Record<string, View<Record<string, never>>>;

/** Those about the conversation that is open. */
export const ROOM_DIALOGS = {
  guards: () => import('../views/panel/GuardsDialog.svelte'),
  invite: () => import('../views/panel/InviteDialog.svelte'),
  access: () => import('../views/panel/AccessDialog.svelte'),
  raise: () => import('../views/panel/RaiseDialog.svelte'),
  rules: () => import('../views/panel/RulesDialog.svelte'),
  delete: () => import('../views/shell/DeleteDialog.svelte'),
  'end-gathering': () => import('../views/gathering/EndGatheringDialog.svelte'),
  rename: () => import('../views/shell/RenameDialog.svelte'),
  unlink: () => import('../views/sessions/CloseLinkDialog.svelte'),
} satisfies Record<string, View<{ room: Room }>>;

/** What opens a dialog, or nothing where the page has it already. */
export function dialogOf<All extends object>(all: All, name: string | null): All[keyof All] | null {
  return name !== null && name in all ? all[name as keyof All] : null;
}

const LATER_MS = 1_500;

export function fetchDialogs(): void {
  const fetchAll = () =>
    // What does not come now is asked for again when somebody opens it.
    [...Object.values(DIALOGS), ...Object.values(ROOM_DIALOGS)].forEach((load) => void load().catch(() => undefined));
  if ('requestIdleCallback' in window) requestIdleCallback(fetchAll, { timeout: LATER_MS });
  else setTimeout(fetchAll, LATER_MS);
}
