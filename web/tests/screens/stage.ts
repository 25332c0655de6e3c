/** The agents and conversations in the pictures. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { Server } from '../server';

export const CONFIG = `
[agents.planner]
runtime = "script"
summary = "Plans before anybody builds."
profile = { model = "opus-5", roles = ["planner"] }
replies = [{ text = "Revenue grew **8 %** year on year; services carried it (\`+14 %\`), hardware was flat.\\n\\n\`\`\`text\\nsegment     q3'25   q3'26    change\\nservices    24.2    27.6    +14 %\\nhardware    61.6    61.9     +0 %\\n\`\`\`", delay_ms = 300 }]

[agents.coder]
runtime = "script"
summary = "Writes code, and says what it does."
profile = { model = "gpt-5.2", roles = ["coder"] }
replies = [{ text = "Here is the change:\\n\\n\`\`\`rust\\n/// Doubles every second digit.\\nfn checksum(digits: &[u32]) -> u32 {\\n    let doubled = digits.iter().rev().enumerate().map(|(i, d)| if i % 2 == 1 { d * 2 } else { *d });\\n    doubled.map(|d| if d > 9 { d - 9 } else { d }).sum::<u32>() % 10\\n}\\n\`\`\`\\n\\n| case | before | after |\\n|---|---|---|\\n| empty | panic | 0 |\\n| 4,000 digits | 41 ms | 0.2 ms |\\n\\n> “Make it work, make it right, make it fast.”\\n\\nSee [the notes](https://example.org/notes) for more." }]

[agents.sleepy]
runtime = "script"
summary = "Takes its time."
profile = { model = "haiku-5" }
replies = [{ text = "At last.", delay_ms = 600000 }]
timeout = 900

[agents.quiet]
runtime = "script"
summary = "Passes unless addressed."
profile = { model = "haiku-5" }
replies = ["[PASS]"]

[agents.terse]
runtime = "script"
summary = "Says one word at a time."
profile = { model = "haiku-5" }
replies = ["Yes.", "No.", "Maybe.", "Perhaps.", "Hardly.", "Certainly."]

[agents.broken]
summary = "Always fails."
profile = { model = "none" }
command = ["/bin/false"]
`;

/** A stand-in for a program in a terminal, from moothall-testkit. */
export const FAKE = process.env['MOOTHALL_FAKE_TUI'] ?? join(import.meta.dirname, '../../../target/debug/fake-tui');

/** True if programs can be started in terminals here. */
export const TERMINALS = existsSync(FAKE) && spawnSync('tmux', ['-V']).status === 0;

export const SESSIONS = `${CONFIG}
[agents.fake]
runtime = "terminal"
command = ["${FAKE}", "--name", "fake"]
screen = "claude"
summary = "Repeats what it is told."
profile = { model = "none" }
`;

/** An agent of another program asks, in a room of its own, if it may start a program. */
export async function wish(server: Server, room: string): Promise<string> {
  const thread = await server.begin(room, [`${room}:elsewhere`], 'mention_only');
  const scopes = ['threads:read', 'threads:write', 'sessions:drive'];
  const { token } = await server.post<{ token: string }>('/tokens', { principal: room, kind: 'agent', scopes });
  const folder = join(server.folder, room);
  mkdirSync(folder);
  const asked = await fetch(`${server.url}/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ client: 'fake', name: `${room}-child`, cwd: folder, thread }),
  });
  if (asked.status !== 202) throw new Error(`${asked.status} ${await asked.text()}`);
  return thread;
}

export async function wait(condition: () => Promise<boolean>): Promise<void> {
  const until = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error('it did not come');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Floor {
  state: { turns: { state: string; participant: string }[]; queue: unknown[]; upcoming: unknown[] };
}

/** Waits until there are no open, queued or upcoming turns. */
export function settled(server: Server, thread: string): Promise<void> {
  return wait(async () => {
    const { state } = await server.get<Floor>(`/threads/${thread}/state`);
    return state.turns.length + state.queue.length + state.upcoming.length === 0;
  });
}

/** Waits until a participant's turn runs. */
export function running(server: Server, thread: string, participant: string): Promise<void> {
  return wait(async () => {
    const { state } = await server.get<Floor>(`/threads/${thread}/state`);
    return state.turns.some((turn) => turn.participant === participant && turn.state === 'running');
  });
}

export interface Shot {
  name: string;
  theme: 'light' | 'dark';
  width: number;
  height: number;
}

export const SIZES: Omit<Shot, 'name'>[] = [
  { theme: 'light', width: 1360, height: 820 },
  { theme: 'dark', width: 1360, height: 820 },
  { theme: 'light', width: 320, height: 640 },
  { theme: 'dark', width: 768, height: 900 },
];

export const DESK_AND_PHONE: Omit<Shot, 'name'>[] = [
  { theme: 'light', width: 1360, height: 820 },
  { theme: 'dark', width: 1360, height: 820 },
  { theme: 'light', width: 390, height: 844 },
  { theme: 'dark', width: 390, height: 844 },
];

export async function shoot(page: Page, name: string, sizes = SIZES): Promise<void> {
  for (const { theme, width, height } of sizes) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(350);
    await page.screenshot({ path: `../target/screens/${name}-${theme}-${width}.png` });
  }
}
