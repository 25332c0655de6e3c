/**
 * The rooms that were opened. Returning to one shows it at once and catches up from its last
 * position.
 */

import { Room, type RoomParts } from './room.svelte';

const KEPT = 8;
/**
 * Time for which a hidden page still follows its conversation. Afterwards it only counts new
 * messages.
 */
const HIDDEN_MS = 60_000;

/**
 * Makes a room that outlives the effect that opens it. Otherwise its derived values would stand
 * still once that effect runs again.
 */
function made(id: string, parts: RoomParts): Room {
  let room: Room | undefined;
  $effect.root(() => {
    room = new Room(id, parts);
  });
  return room as Room;
}

export class Rooms {
  current = $state.raw<Room | null>(null);
  /** The room that home shows beside its list. */
  beside = $state.raw<Room | null>(null);
  #rooms = new Map<string, Room>();
  #parts: RoomParts;
  #hidden: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: RoomParts) {
    this.#parts = parts;
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#hidden);
      if (document.visibilityState === 'visible') this.current?.resume();
      else this.#hidden = setTimeout(() => this.current?.disconnect(), HIDDEN_MS);
    });
  }

  open(id: string | null, seq: number | null): void {
    if (this.current?.id === id) return;
    this.close();
    if (!id) return;
    this.current = this.#kept(id);
    void this.current.open(seq);
  }

  /** Shows a room beside the list at home, or none. */
  openBeside(id: string | null): void {
    if ((this.beside?.id ?? null) === id) return;
    if (this.beside !== this.current) this.beside?.disconnect();
    this.beside = id ? this.#kept(id) : null;
    void this.beside?.open(null);
  }

  #kept(id: string): Room {
    const room = this.#rooms.get(id) ?? made(id, this.#parts);
    this.#rooms.delete(id);
    this.#rooms.set(id, room);
    this.#forget();
    return room;
  }

  close(): void {
    this.current?.disconnect();
    this.current = null;
  }

  /** Ends the room of a deleted conversation. An open view shows the deletion. */
  end(id: string): void {
    const room = this.current?.id === id ? this.current : this.#rooms.get(id);
    room?.end();
    this.#rooms.delete(id);
  }

  #forget(): void {
    for (const id of this.#rooms.keys()) {
      if (this.#rooms.size <= KEPT) return;
      this.#rooms.delete(id);
    }
  }
}
