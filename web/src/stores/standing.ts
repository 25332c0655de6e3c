/** The present state of a participant: turn, place in the order, and presence. */

import { seconds } from '../lib/time';
import type { Invited, OpenTurn } from '../lib/types';
import { ME } from '../lib/words';
import { halfMinutes, tenths } from './clock.svelte';
import { hall } from './hall.svelte';
import type { Room } from './room.svelte';

export type Tone = 'idle' | 'busy' | 'next' | 'off' | 'muted';

export interface Standing {
  word: string;
  tone: Tone;
  /** The turn that can be stopped. */
  turn: string | null;
}

const PRESENCE_MS = 120_000;

export type Doing = 'away' | 'asks' | 'paused' | 'speaks' | 'thinks';

/**
 * Returns the activity of an agent whose turn runs. An agent that waits for a person, or is paused,
 * does not think, and its clock is not shown.
 */
export function doing(room: Room, turn: OpenTurn): Doing {
  if (hall.link !== 'live' && room.link !== 'live') return 'away';
  if (room.waiting.some((permission) => permission.turn === turn.id)) return 'asks';
  if (room.state?.paused) return 'paused';
  return room.writing.has(turn.id) ? 'speaks' : 'thinks';
}

/** Returns the running time of a turn. */
export function elapsed(room: Room, turn: OpenTurn): string {
  return seconds(room.ranMs(turn, tenths()) / 1000);
}

const STILL: Record<string, string> = { away: 'server away', asks: 'asks you', paused: 'paused' };

function runs(room: Room, turn: OpenTurn): string {
  const what = doing(room, turn);
  return STILL[what] ?? `${what === 'speaks' ? 'speaking' : 'thinking'} ${elapsed(room, turn)}`;
}

/**
 * Returns words for an open turn that does not run. In policies with an order, it waits for the
 * speaker.
 */
function waits(room: Room, participant: string): string {
  const policy = room.state?.policy.name;
  const first = room.state?.turns.find((open) => open.state === 'running' && open.participant !== participant);
  const inTurn = policy === 'hybrid' || policy === 'round_robin';
  return first && inTurn ? `waits for ${room.nameOf(first.participant)}` : 'waiting';
}

export function turnState(room: Room, entry: Invited): Standing {
  const state = room.state;
  const turn = state?.turns.find((open) => open.participant === entry.id);
  if (turn?.state === 'running') return { word: runs(room, turn), tone: 'busy', turn: turn.id };
  if (state?.muted.includes(entry.id)) return { word: 'muted', tone: 'muted', turn: null };
  if (turn) return { word: waits(room, entry.id), tone: 'next', turn: turn.id };
  const place = state?.upcoming.findIndex((next) => next.participant === entry.id) ?? -1;
  if (place === 0) return { word: 'next', tone: 'next', turn: null };
  if (place > 0) return { word: 'queued', tone: 'next', turn: null };
  return present(room, entry);
}

function present(room: Room, entry: Invited): Standing {
  if (entry.id === ME) {
    const typing = room.presence.get(ME)?.state === 'typing';
    return { word: typing ? 'typing' : 'here', tone: 'idle', turn: null };
  }
  // An agent run by the server is always reachable. Its turns say the rest.
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
