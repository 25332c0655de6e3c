/** The rooms that were opened. Coming back to one shows it at once and catches up from where it was. */

import { Room } from './room.svelte';

const KEPT = 8;

class Rooms {
  current = $state.raw<Room | null>(null);
  #rooms = new Map<string, Room>();

  open(id: string | null, seq: number | null): void {
    if (this.current?.id === id) return;
    this.close();
    if (!id) return;
    const room = this.#rooms.get(id) ?? new Room(id);
    this.#rooms.delete(id);
    this.#rooms.set(id, room);
    this.#forget();
    this.current = room;
    void room.open(seq);
  }

  close(): void {
    this.current?.disconnect();
    this.current = null;
  }

  #forget(): void {
    for (const id of this.#rooms.keys()) {
      if (this.#rooms.size <= KEPT) return;
      this.#rooms.delete(id);
    }
  }
}

export const rooms = new Rooms();
