/** The channels of the server: its bots and chats. Loaded only while a view shows them. */

import { get } from '../lib/client';
import type { BotEntry, ChannelList, ChatEntry } from '../lib/types';

const SOON_MS = 300;

export class Channels {
  list = $state.raw<ChannelList | null>(null);
  fault = $state<unknown>(null);
  #soon: ReturnType<typeof setTimeout> | undefined;

  currency = $derived(this.list?.currency ?? 'USD');
  bots = $derived<BotEntry[]>((this.list?.channels ?? []).flatMap((channel) => channel.bots));
  #chats = $derived(
    new Map((this.list?.channels ?? []).flatMap((channel) => channel.chats.map((chat) => [chat.chat, chat] as const))),
  );
  /** Chats in which bots are, and to which no conversation is bound. */
  free = $derived<ChatEntry[]>([...this.#chats.values()].filter((chat) => !chat.thread && chat.state === 'waiting'));

  chat(key: string): ChatEntry | undefined {
    return this.#chats.get(key);
  }

  /** Returns the bots in a chat that need a person. */
  troubled(chat: ChatEntry): BotEntry[] {
    return this.bots.filter((bot) => bot.cure && (chat.agents.includes(bot.agent) || chat.agents.length === 0));
  }

  /** Loads soon: chats and bots rarely change alone. */
  loadSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.load();
    }, SOON_MS);
  }

  async load(): Promise<void> {
    try {
      this.list = await get<ChannelList>('/channels');
      this.fault = null;
    } catch (error) {
      this.fault = error;
    }
  }
}
