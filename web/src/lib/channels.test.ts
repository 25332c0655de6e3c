import { describe, expect, it } from 'vitest';
import { accountWords, chatHearing, chatName, chatStanding, chatWork, markOf, productOf } from './channels';
import type { ChatEntry, DeliveryEntry } from './types';

const chat: ChatEntry = {
  chat: 'telegram:-100',
  title: 'Market',
  thread: 't',
  state: 'bound',
  agents: ['analyst', 'writer'],
  deaf: [],
  dropped: 0,
  cure: null,
  owed: 0,
  turns_today: 0,
  cost_today_micros: 0,
};
const delivery: DeliveryEntry = { id: 7, seq: 3, chat: 'telegram:-100', state: 'done', why: null };

describe('chats', () => {
  it('are named by their title, their talk or their id', () => {
    expect(productOf('telegram:-100')).toBe('Telegram');
    expect(chatName('telegram:-100', chat)).toBe('Market');
    expect(chatName('telegram:-100')).toBe('telegram:-100');
    expect(chatName('telegram:7@analyst', { ...chat, title: '' })).toBe('the private chat with analyst');
    expect(chatName('telegram:-100@analyst', chat)).toBe('Market, with analyst alone');
  });

  it('hear if one bot hears', () => {
    expect(chatStanding(chat).word).toBe('hearing');
    const one = { ...chat, deaf: ['writer'] };
    expect(chatStanding(one)).toEqual({ word: 'hearing', bad: false });
    expect(chatHearing(one).at(-1)).toBe('writer hears only commands and replies.');
    expect(chatStanding({ ...chat, deaf: ['analyst', 'writer'] })).toEqual({ word: 'deaf', bad: true });
    expect(chatStanding({ ...chat, agents: [] }).word).toBe('bound');
    expect(chatStanding({ ...chat, state: 'away', agents: [] })).toEqual({ word: 'away', bad: true });
    expect(chatStanding({ ...chat, state: 'waiting' })).toEqual({ word: 'waits', bad: false });
  });

  it('say their work without the numbers that are zero', () => {
    expect(chatWork(chat, 'USD')).toBe('');
    const busy = { ...chat, owed: 1, turns_today: 2, cost_today_micros: 1_500_000, dropped: 3 };
    expect(chatWork(busy, 'EUR')).toBe(
      '1 message on the way · 2 turns today · 1.50 EUR today · 3 messages of people who are not paired dropped',
    );
  });
});

describe('accounts', () => {
  it('may what their scopes say', () => {
    expect(accountWords(['threads:read', 'threads:write'])).toBe('Read and write');
    expect(accountWords(['threads:read', 'permissions:answer'])).toBe(
      'Read and write · answer questions of agents, with buttons',
    );
  });
});

describe('the way of a message', () => {
  it('is loud if a person has to know it', () => {
    const mark = (more: Partial<DeliveryEntry>, age = 0) => markOf({ ...delivery, ...more }, 'Telegram', age);
    expect(mark({})).toEqual({ id: 7, tone: 'done', text: 'Sent to Telegram.', again: false });
    expect(mark({ state: 'pending' }).tone).toBe('open');
    expect(mark({ state: 'pending' }, 60_000).tone).toBe('late');
    expect(mark({ state: 'sending', why: 'it takes no more now' })).toMatchObject({ tone: 'late', again: false });
    expect(mark({ state: 'unknown', why: 'the connection broke.' })).toEqual({
      id: 7,
      tone: 'bad',
      text: 'It may not have arrived in Telegram: the connection broke.',
      again: true,
    });
    expect(mark({ state: 'failed' })).toMatchObject({ tone: 'bad', text: 'Not sent to Telegram.', again: true });
  });
});
