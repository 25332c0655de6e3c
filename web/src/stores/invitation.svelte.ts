/** The participant whose profile the invite dialog changes; null for a new participant. */

import type { Invited } from '../lib/types';

export class Invitation {
  of = $state.raw<Invited | null>(null);

  edit(entry: Invited): void {
    this.of = entry;
  }

  clear(): void {
    this.of = null;
  }
}
