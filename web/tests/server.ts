/** Starts the real server on a free port with a folder of its own, and ends it. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const BINARY = process.env['MOOTHALL_BIN'] ?? join(import.meta.dirname, '../../target/debug/moothall');

export class Server {
  readonly folder = mkdtempSync(join(tmpdir(), 'moothall-web-'));
  url = '';
  /** Address of the page, with the start-up credential in the fragment. */
  page = '';
  #child: ChildProcess | null = null;

  /**
   * `config` is the content of `moothall.toml`, `more` is appended to the command line, and `env` is
   * the server's environment.
   */
  constructor(
    config = '',
    private readonly more: string[] = [],
    private readonly env: NodeJS.ProcessEnv = process.env,
  ) {
    writeFileSync(join(this.folder, 'moothall.toml'), config);
  }

  /** Starts the server. A second start uses the same port. */
  async start(): Promise<this> {
    const port = this.url ? new URL(this.url).port : '0';
    const config = join(this.folder, 'moothall.toml');
    const args = [
      'serve',
      '--json',
      '--bind',
      `127.0.0.1:${port}`,
      '--data',
      join(this.folder, 'data'),
      '--config',
      config,
      ...this.more,
    ];
    const env = { MOOTHALL_DEMO_PACE: 'instant', ...this.env };
    const child = spawn(BINARY, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const first = await new Promise<{ listening: string; key_file: string }>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', (line) =>
        resolve(JSON.parse(line) as { listening: string; key_file: string }),
      );
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    this.url = first.listening;
    const { key } = JSON.parse(readFileSync(first.key_file, 'utf8')) as { key: string };
    this.page = `${this.url}/#key=${key}`;
    return this;
  }

  /** The start-up credential. */
  get key(): string {
    return this.page.split('#key=')[1] ?? '';
  }

  /** Ends the server at once, as a crash would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Ends the server and its terminals at once, as a restart of the computer would. */
  async loseComputer(): Promise<void> {
    await this.#end('SIGKILL');
    const socket = join(this.folder, 'data/tmux/tmux.sock');
    if (existsSync(socket)) spawnSync('tmux', ['-S', socket, 'kill-server']);
  }

  async stop(): Promise<void> {
    // Terminals outlive the server, so they are ended too.
    await this.loseComputer();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null) return Promise.resolve();
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.removeAllListeners('error');
    child.kill(signal);
    return ended;
  }

  async post<T = Record<string, unknown>>(path: string, body: unknown): Promise<T> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.key}` },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  async get<T = Record<string, unknown>>(path: string): Promise<T> {
    const response = await fetch(this.url + path, { headers: { authorization: `Bearer ${this.key}` } });
    if (!response.ok) throw new Error(`GET ${path}: ${response.status}`);
    return (await response.json()) as T;
  }

  /**
   * Begins a conversation and invites clients. `id:client` gives the participant an id of its own.
   */
  async begin(name: string, agents: string[] = [], policy: unknown = 'hybrid'): Promise<string> {
    const { id } = await this.post<{ id: string }>('/threads', { name, from: 'user', policy });
    for (const agent of agents) {
      const [participant, client] = agent.includes(':') ? agent.split(':') : [agent, agent];
      await this.invite(id, participant!, { client: client!, model: 'demo' });
    }
    return id;
  }

  /** Starts the stand-in in a terminal. Returns the id of its session. */
  async startSession(name: string): Promise<string> {
    const { id } = await this.post<{ id: string }>('/sessions', { client: 'fake', name, cwd: this.folder });
    return id;
  }

  /** Links sessions. Returns the link's id. */
  async link(...members: { session: string; number?: number; role?: string }[]): Promise<string> {
    return (await this.post<{ link: { id: string } }>('/links', { members })).link.id;
  }

  invite(thread: string, participant: string, profile: Record<string, unknown>): Promise<unknown> {
    return this.control(thread, { invite: { participant_id: participant, profile } });
  }

  control(thread: string, content: unknown): Promise<unknown> {
    return this.post(`/threads/${thread}/events`, { type: 'control', from: 'user', content });
  }

  say(
    thread: string,
    content: string,
    from = 'user',
    more: Record<string, unknown> = {},
  ): Promise<{ event: { id: string; seq: number } }> {
    return this.post(`/threads/${thread}/events`, { from, content, ...more });
  }

  /** Sends a message without a credential. */
  async sayUnproven(thread: string, content: string, from = 'user'): Promise<void> {
    const body = JSON.stringify({ from, content });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/threads/${thread}/events`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
}
