/** Rounds: a message of a person with all that came of it, in one line. */

import type { Row } from './timeline';

type MessageRow = Extract<Row, { kind: 'message' }>;

export interface Round {
  /** Id and position of the person's message. */
  root: string;
  seq: number;
  /** Key of the round's last message. The line stands below it. */
  last: string;
  replies: number;
  /** Time from the message to the end of the last reply, in seconds; null without replies. */
  seconds: number | null;
  costMicros: number;
  /** Agents that did not speak, by the reason. */
  silent: [string, string[]][];
  /** True if an agent was asked, or was left out for a reason. */
  asked: boolean;
}

/** Returns the rounds of loaded messages, by the keys of their last messages. */
export function roundsOf(rows: readonly Row[]): Map<string, Round> {
  const members = new Map<string, MessageRow[]>();
  for (const row of rows) {
    if (row.kind !== 'message' || row.root === null) continue;
    const known = members.get(row.root);
    if (known) known.push(row);
    else members.set(row.root, [row]);
  }
  const rounds = [...members.values()].flatMap((all) => roundOf(all) ?? []);
  return new Map(rounds.map((round) => [round.last, round]));
}

/** Returns the round of a message; null if the message itself is not loaded. */
function roundOf(rows: readonly MessageRow[]): Round | null {
  const [root, last] = [rows[0], rows.at(-1)];
  if (!root || !last || root.event.id !== root.root) return null;
  const replies = rows.slice(1).filter((row) => row.turn !== null);
  const ends = replies.map((row) => Date.parse(row.turn?.endedAt ?? row.event.ts));
  return {
    root: root.event.id,
    seq: root.event.seq,
    last: last.key,
    replies: replies.length,
    seconds: ends.length > 0 ? Math.max(0, Math.max(...ends) - Date.parse(root.event.ts)) / 1000 : null,
    costMicros: replies.reduce((sum, row) => sum + (row.turn?.usage?.cost_micros ?? 0), 0),
    silent: silentOf(root, rows),
    asked: root.asked,
  };
}

/**
 * Groups the agents that did not speak. A failure with a row of its own is left out, and so is a
 * full queue, which the message itself tells.
 */
function silentOf(root: MessageRow, rows: readonly MessageRow[]): [string, string[]][] {
  const failed = new Set(rows.flatMap((row) => (row.event.meta?.error ? [row.turn?.participant] : [])));
  const silent = root.verdicts.filter(
    ({ participant, word }) =>
      word !== 'spoke' && word !== 'queue_full' && !(word === 'failed' && failed.has(participant)),
  );
  const words = new Map<string, string[]>();
  silent.forEach(({ word, participant }) => words.set(word, [...(words.get(word) ?? []), participant]));
  return [...words];
}
