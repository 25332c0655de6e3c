/**
 * Dialogs outside the first visit's files. They are fetched when the page is idle, so that each
 * opens at once, even while the server is away.
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
  channels: () => import('../views/channels/ChannelsDialog.svelte'),
  switcher: () => import('../views/shell/Switcher.svelte'),
} satisfies Record<string, View<Record<string, never>>>;

/** Dialogs about the open conversation. */
export const ROOM_DIALOGS = {
  chats: () => import('../views/channels/ChatsDialog.svelte'),
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

/** Returns the loader of a dialog, or null for a name outside `all`. */
export function dialogOf<All extends object>(all: All, name: string | null): All[keyof All] | null {
  return name !== null && name in all ? all[name as keyof All] : null;
}

const LATER_MS = 1_500;

export function fetchDialogs(): void {
  const fetchAll = () =>
    // A failed load is repeated when a person opens the dialog.
    [...Object.values(DIALOGS), ...Object.values(ROOM_DIALOGS)].forEach((load) => void load().catch(() => undefined));
  if ('requestIdleCallback' in window) requestIdleCallback(fetchAll, { timeout: LATER_MS });
  else setTimeout(fetchAll, LATER_MS);
}
