/**
 * Dialogs outside the first visit's files. They are one file, which is fetched when the page is
 * idle, so that each opens at once, even while the server is away.
 */

import type { Component } from 'svelte';
import type { Room } from './room.svelte';
import type { RoomDialog } from './ui.svelte';

type View<Props extends Record<string, unknown>> = () => Promise<{ default: Component<Props> }>;

const all = () => import('../views/dialogs');

export const DIALOGS = {
  new: () => all().then((views) => ({ default: views.NewDialog })),
  circle: () => all().then((views) => ({ default: views.CircleDialog })),
  search: () => all().then((views) => ({ default: views.SearchDialog })),
  shortcuts: () => all().then((views) => ({ default: views.Shortcuts })),
  agree: () => all().then((views) => ({ default: views.AgreeDialog })),
  'sign-in': () => all().then((views) => ({ default: views.SignInDialog })),
  channels: () => all().then((views) => ({ default: views.ChannelsDialog })),
  start: () => all().then((views) => ({ default: views.StartDialog })),
  link: () => all().then((views) => ({ default: views.LinkDialog })),
  switcher: () => all().then((views) => ({ default: views.Switcher })),
} satisfies Record<string, View<Record<string, never>>>;

/** Dialogs about the open conversation. */
export const ROOM_DIALOGS = {
  chats: () => all().then((views) => ({ default: views.ChatsDialog })),
  answers: () => all().then((views) => ({ default: views.AnswersDialog })),
  guards: () => all().then((views) => ({ default: views.GuardsDialog })),
  invite: () => all().then((views) => ({ default: views.InviteDialog })),
  access: () => all().then((views) => ({ default: views.AccessDialog })),
  raise: () => all().then((views) => ({ default: views.RaiseDialog })),
  rules: () => all().then((views) => ({ default: views.RulesDialog })),
  delete: () => all().then((views) => ({ default: views.DeleteDialog })),
  'end-gathering': () => all().then((views) => ({ default: views.EndGatheringDialog })),
  rename: () => all().then((views) => ({ default: views.RenameDialog })),
  unlink: () => all().then((views) => ({ default: views.CloseLinkDialog })),
} satisfies Record<RoomDialog, View<{ room: Room }>>;

/** Returns the loader of a dialog, or null for a name outside `all`. */
export function dialogOf<All extends object>(all: All, name: string | null): All[keyof All] | null {
  return name !== null && name in all ? all[name as keyof All] : null;
}

const LATER_MS = 1_500;

export function fetchDialogs(): void {
  // A failed load is repeated when a person opens a dialog.
  const fetchAll = () => void all().catch(() => undefined);
  if ('requestIdleCallback' in window) requestIdleCallback(fetchAll, { timeout: LATER_MS });
  else setTimeout(fetchAll, LATER_MS);
}
