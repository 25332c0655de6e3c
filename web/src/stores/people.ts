/** Finding people by what they are called. */

import { ME } from '../lib/words';
import type { Room } from './room.svelte';

/** The colour of a name: a place in the order, nothing for you, undefined where nobody here has the name. */
export function colourOfName(room: Room, name: string): number | null | undefined {
  const wanted = name.toLocaleLowerCase();
  if (wanted === ME) return null;
  const found = room.invited.find(
    (entry) => entry.id.toLocaleLowerCase() === wanted || entry.profile.nickname?.toLocaleLowerCase() === wanted,
  );
  return found ? found.color : undefined;
}

/** Whether a word after an `@` means somebody here: by id, nickname, role, client or model. Whom it means, the server says. */
export function isNameOf(room: Room, word: string): boolean {
  const wanted = word.toLocaleLowerCase();
  const names = room.invited.flatMap(({ id, profile: { nickname, roles, client, model } }) => [
    id,
    nickname,
    client,
    model,
    ...(roles ?? []),
  ]);
  return wanted === ME.toLocaleLowerCase() || names.some((name) => name?.toLocaleLowerCase() === wanted);
}
