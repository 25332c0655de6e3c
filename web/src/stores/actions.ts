/** Actions of people on a conversation. Those that return a boolean report their own failure. */

import { ApiError, post, sendControl } from '../lib/client';
import type { Accepted, Gathering, NewPiecePass } from '../lib/types';
import { consequence, warningSentences } from '../lib/warnings';
import { agreements, me, ui } from './app';
import type { Room } from './room.svelte';

/** Sends a control and returns the server's answer. */
export function control(thread: string, content: Record<string, unknown>): Promise<Accepted> {
  return sendControl(me.id, thread, content);
}

async function change(room: Room, content: Record<string, unknown>): Promise<void> {
  const answer = await control(room.id, content);
  warningSentences(answer.warnings ?? []).forEach((warning) => ui.tell(warning));
  room.floor.askSoon();
}

/** Asks a person to agree to a change that ends a gathering, or takes its harvester away. */
function askFirst(room: Room, content: Record<string, unknown>, text: string): void {
  const [title, action] =
    'uninvite' in content ? ['Remove the harvester?', 'Remove'] : ['End the gathering?', 'End it and change'];
  agreements.open = { title, text, action, send: () => change(room, { ...content, confirm: true }) };
  ui.open('agree');
}

function run(room: Room, what: string, content: Record<string, unknown>): Promise<boolean> {
  return ui.attempt(what, async () => {
    try {
      await change(room, content);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'gathering_open') throw error;
      askFirst(room, content, consequence(error.message));
    }
  });
}

export const mute = (room: Room, id: string) => run(room, 'Muting', { mute: { targets: [id] } });
export const unmute = (room: Room, id: string) => run(room, 'Unmuting', { unmute: { targets: [id] } });
export const uninvite = (room: Room, id: string) => run(room, 'Removing', { uninvite: { participant_id: id } });
export const prod = (room: Room, id: string) => run(room, 'Asking for a reply', { prod: [id] });
export const resume = (room: Room) => run(room, 'Continuing', { resume: {} });
export const pause = (room: Room, on: boolean) => run(room, on ? 'Pausing' : 'Resuming', { pause: { on } });
export const setPolicy = (room: Room, name: string) => run(room, 'Changing who may speak', { config: { name } });
export const setRule = (room: Room, key: string, value: unknown) =>
  run(room, 'Changing the setting', { config: { [key]: value } });
export const setInvitedAuto = (room: Room, on: boolean) => run(room, 'Changing the setting', { invited_auto: { on } });
export const setDiscussion = (room: Room, on: boolean) =>
  run(room, 'Changing the setting', { discussion: { on, allow_agent_mentions: on } });
export const archive = (room: Room, on: boolean) =>
  run(room, on ? 'Archiving' : 'Opening again', { [on ? 'archive' : 'unarchive']: {} });

/**
 * Binds a conversation to a chat of another product. Throws on failure. With another chat bound, the
 * server asks to confirm that the members of both read each other's words.
 */
export const bindChat = (room: Room, chat: string, confirmed: boolean) =>
  change(room, confirmed ? { bind: chat, confirm: true } : { bind: chat });
export const unbindChat = (room: Room, chat: string) => change(room, { unbind: chat });

/** Renames a conversation. Throws on failure, for the dialog to show. */
export async function rename(thread: string, name: string): Promise<void> {
  await post(`/threads/${thread}/events`, { type: 'thread.renamed', from: me.id, content: name });
}

/**
 * Answers a permission. Only the first answer counts, from any person. A later one is not an error,
 * and neither is an answer to a withdrawn request. `text` goes with an option that takes a person's
 * own words.
 */
export function answerPermission(thread: string, id: string, option: string, text?: string): Promise<boolean> {
  return ui.attempt('Answering', async () => {
    try {
      await post(`/permissions/${id}/answer`, { thread, from: me.id, option, text });
    } catch (error) {
      const late = error instanceof ApiError && ['permission_closed', 'permission_withdrawn'].includes(error.code);
      if (!late) throw error;
      ui.tell(error.message);
    }
  });
}

/** Makes kept words visible to all. */
export function publish(room: Room, seq: number): Promise<boolean> {
  return ui.attempt('Publishing', () => post(`/threads/${room.id}/kept/${seq}/publish`, { from: me.id }));
}

/** Stops all turns and drops waiting messages. */
export function stop(room: Room): Promise<boolean> {
  return ui.attempt('Stopping', async () => {
    await post(`/threads/${room.id}/stop`, { from: me.id });
    ui.say('Everyone was stopped');
    room.floor.askSoon();
  });
}

/**
 * Passes the talking piece to a member who has not had it in this round, or else to the next in
 * order.
 */
export function passPiece(room: Room, to?: string): Promise<boolean> {
  const wish: NewPiecePass = { from: me.id, to: to ?? null };
  return ui.attempt('Passing the piece', async () => {
    try {
      room.circle.learn(await post<Gathering>(`/gatherings/${room.id}/pass`, wish));
    } catch (error) {
      // The turn ended by the clock, or another page of the same person passed the piece first.
      if (!(error instanceof ApiError) || error.code !== 'not_your_piece') throw error;
      ui.tell('You do not have the piece any more.');
    }
    room.circle.askSoon();
  });
}

/**
 * Ends a gathering: its harvest follows at once. If the harvest is being written, the gathering
 * closes without one.
 */
export async function endGathering(room: Room): Promise<void> {
  room.circle.learn(await post<Gathering>(`/gatherings/${room.id}/end`, { from: me.id }));
  room.floor.askSoon();
}

/** Stops one turn. A turn that has just ended is not an error. */
export function stopTurn(room: Room, turn: string): Promise<boolean> {
  return ui.attempt('Stopping the reply', async () => {
    try {
      await post(`/turns/${turn}/cancel`, { from: me.id });
    } catch (error) {
      if (!(error instanceof ApiError) || (error.code !== 'turn_ended' && error.status !== 404)) throw error;
    }
    room.floor.askSoon();
  });
}
