/** The rooms that were opened. Coming back to one shows it at once and catches up from where it was. */

import { Room } from './room.svelte';

const KEPT = 8;
/**
 * How long a page that nobody sees keeps its second line open. Browsers allow six lines to a server, so pages in the background must not
 * use them up; the first line goes on counting what is new.
 */
const HIDDEN_MS = 60_000;

class Rooms {
  current = $state.raw<Room | null>(null);
  #rooms = new Map<string, Room>();
  #hidden: ReturnType<typeof setTimeout> | undefined;

  constructor() {
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

  /** It was deleted: whoever looks at it sees that, and nothing of it stays. */
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

export const rooms = new Rooms();
