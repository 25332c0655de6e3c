/** How a participant stands now: invited, present, and what the floor says about it. */

import { seconds } from '../lib/time';
import type { Invited } from '../lib/types';
import { halfMinutes, tenths } from './clock.svelte';
import type { Room } from './room.svelte';

export type Tone = 'idle' | 'busy' | 'next' | 'off' | 'muted';

export interface Standing {
  word: string;
  tone: Tone;
  /** The turn that can be stopped. */
  turn: string | null;
}

const PRESENCE_MS = 120_000;

export function turnState(room: Room, entry: Invited): Standing {
  const state = room.state;
  const turn = state?.turns.find((open) => open.participant === entry.id);
  if (turn?.state === 'running') {
    const began = Date.parse(room.startedAt(turn.id) ?? turn.granted_at);
    const elapsed = seconds((tenths() - began) / 1000);
    return { word: `${room.writing.has(turn.id) ? 'speaking' : 'thinking'} ${elapsed}`, tone: 'busy', turn: turn.id };
  }
  if (state?.muted.includes(entry.id)) return { word: 'muted', tone: 'muted', turn: null };
  if (turn) return { word: 'waiting', tone: 'next', turn: turn.id };
  const place = state?.upcoming.findIndex((next) => next.participant === entry.id) ?? -1;
  if (place === 0) return { word: 'next', tone: 'next', turn: null };
  if (place > 0) return { word: 'queued', tone: 'next', turn: null };
  return present(room, entry);
}

function present(room: Room, entry: Invited): Standing {
  // What the server runs itself is there whenever it is asked; its turns say the rest.
  if (entry.kind === 'agent' && entry.runtime !== 'remote' && entry.known)
    return { word: 'listening', tone: 'idle', turn: null };
  const presence = room.presence.get(entry.id);
  const fresh = presence && !presence.stale && halfMinutes() - Date.parse(presence.updated_at) < PRESENCE_MS;
  if (fresh)
    return {
      word: presence.state,
      tone: presence.state === 'offline' ? 'off' : presence.state === 'listening' ? 'idle' : 'busy',
      turn: null,
    };
  return { word: 'offline', tone: 'off', turn: null };
}
