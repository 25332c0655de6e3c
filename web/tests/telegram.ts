/** The fake of Telegram from moothall-testkit, with one bot, and one person in a group. */

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { wait } from './screens/stage';

const FAKE = process.env['MOOTHALL_FAKE_TELEGRAM'] ?? join(import.meta.dirname, '../../target/debug/fake-telegram');

/** True if the fake is built. */
export const TELEGRAM = existsSync(FAKE);

interface Facts {
  url: string;
  token: string;
  bot: number;
  chat: number;
  person: number;
}

interface Shown {
  from: string;
  text: string;
  deleted: boolean;
  service: boolean;
}

export class Telegram {
  facts!: Facts;
  #child: ChildProcess;
  #lines: AsyncIterator<string>;
  #input: Interface;
  /** Acts are answered in their order, so each waits for the one before. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor() {
    this.#child = spawn(FAKE, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#input = createInterface({ input: this.#child.stdout! });
    this.#lines = this.#input[Symbol.asyncIterator]();
  }

  static async start(): Promise<Telegram> {
    const telegram = new Telegram();
    telegram.facts = JSON.parse((await telegram.#lines.next()).value as string) as Facts;
    return telegram;
  }

  stop(): void {
    this.#child.stdin!.end();
    this.#input.close();
  }

  /** The part of the configuration that connects the channel, with the bot for an agent. */
  config(agent?: string): string {
    const bot = agent ? `[channels.telegram.bots.${agent}]\nbot_token = "${this.facts.token}"\n` : '';
    return `\n[channels.telegram]\nbase_url = "${this.facts.url}"\n${bot}`;
  }

  /** The group as a chat of conversations. */
  get group(): string {
    return `telegram:${this.facts.chat}`;
  }

  #act<T>(act: Record<string, unknown>): Promise<T> {
    const answer = this.#last.then(async () => {
      this.#child.stdin!.write(`${JSON.stringify(act)}\n`);
      return JSON.parse((await this.#lines.next()).value as string) as T;
    });
    this.#last = answer;
    return answer;
  }

  /** Lets the person say something in the group. */
  say = (text: string) => this.#act<number>({ act: 'say', text });
  /** Lets the person write to the bot in private. */
  write = (text: string) => this.#act<number>({ act: 'write', text });
  /** Breaks the bot's next call of a method off before it is done. */
  drop = (method: string) => this.#act<boolean>({ act: 'drop', method });
  /** Lets the bot leave the group, and join it again with privacy mode on or off. */
  privacy = (on: boolean) => this.#act<boolean>({ act: 'privacy', on });

  /** Returns the messages in the group. */
  async texts(): Promise<string[]> {
    const shown = await this.#act<Shown[]>({ act: 'shown' });
    return shown.filter((message) => !message.service && !message.deleted).map((message) => message.text);
  }

  /** Waits until a text stands in the group. */
  said(text: string): Promise<void> {
    return wait(async () => (await this.texts()).some((shown) => shown.includes(text)));
  }
}
