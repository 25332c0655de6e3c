import { describe, expect, it, vi } from 'vitest';
import { ApiError } from './client';
import { Hub, type HubMessage, type Network, type TabMessage, type TabPort } from './hub';
import type { StreamOptions } from './sse';

/** The hub with a stream that the test drives. */
function stage() {
  const changes: unknown[] = [];
  const stream = { retry: vi.fn(), reconnect: vi.fn(), close: vi.fn() };
  let options: StreamOptions | undefined;
  let answer: () => Promise<unknown> = () => Promise.resolve();
  const network: Network = {
    stream: (given) => ((options = given), stream),
    change: (id, body) => (changes.push([id, body]), answer()),
  };
  const hub = new Hub(network);
  return {
    hub,
    changes,
    stream,
    url: () => options!.url(),
    link: (link: 'live' | 'waiting') => options!.onlink?.(link, null, 0, null),
    frame: (event: string, data: unknown, id: string | null = null) =>
      options!.onframe({ event, id, data: JSON.stringify(data) }),
    said: (thread: string, seq: number) =>
      options!.onframe({ event: 'message', id: String(seq), data: JSON.stringify({ thread, seq }) }),
    answers: (next: () => Promise<unknown>) => (answer = next),
  };
}

class Tab implements TabPort {
  got: HubMessage[] = [];
  onmessage: TabPort['onmessage'] = null;

  constructor(hub: Hub) {
    hub.join(this);
  }

  postMessage(message: HubMessage): void {
    this.got.push(message);
  }

  say(message: TabMessage): void {
    this.onmessage?.({ data: message } as MessageEvent<TabMessage>);
  }

  follow(places: Record<string, number>, screens: string[] = []): void {
    this.say({
      kind: 'follow',
      threads: Object.entries(places).map(([thread, after]) => ({ thread, after })),
      screens,
    });
  }

  frames(): unknown[] {
    return this.got.flatMap((message) => (message.kind === 'frame' ? [message.seq ?? message.event] : []));
  }
}

/** Lets the answers of requests arrive. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

describe('the connection of all tabs', () => {
  it('is one, and names what every tab shows', () => {
    const { hub, url } = stage();
    new Tab(hub).follow({ a: 5, b: 7 });
    new Tab(hub).follow({ a: 3 }, ['s']);
    expect(url()).toMatch(/^\/events\/stream\?follow=a:3,b:7&screens=s&types=/);
  });

  it('changes its sources while it is open', async () => {
    const { hub, frame, changes, url } = stage();
    const tab = new Tab(hub);
    url();
    frame('open', { stream: 'x' });
    tab.follow({ a: 5 });
    await settle();
    tab.follow({ a: 6, b: 1 });
    await settle();
    expect(changes).toEqual([
      ['x', { threads: [{ thread: 'a', after: 5 }], screens: [] }],
      ['x', { threads: [{ thread: 'a' }, { thread: 'b', after: 1 }], screens: [] }],
    ]);
  });

  it('sends one change at a time, and then the latest', async () => {
    const { hub, frame, changes, url, answers } = stage();
    const tab = new Tab(hub);
    let done = () => {};
    answers(() => new Promise<void>((resolve) => (done = resolve)));
    url();
    frame('open', { stream: 'x' });
    tab.follow({ a: 1 });
    tab.follow({ b: 1 });
    tab.follow({ c: 1 });
    expect(changes).toHaveLength(1);
    done();
    await settle();
    expect(changes).toHaveLength(2);
    expect(changes[1]).toEqual(['x', { threads: [{ thread: 'c', after: 1 }], screens: [] }]);
  });

  it('is opened anew if the server does not know it', async () => {
    const { hub, frame, url, answers, stream } = stage();
    answers(() => Promise.reject(new ApiError(404, 'unknown_stream', 'It ended.')));
    const tab = new Tab(hub);
    url();
    frame('open', { stream: 'x' });
    tab.follow({ a: 1 });
    await settle();
    expect(stream.reconnect).toHaveBeenCalled();
  });

  it('is opened anew for another person', () => {
    const { hub, stream } = stage();
    const tab = new Tab(hub);
    tab.say({ kind: 'who', who: '/' });
    tab.say({ kind: 'who', who: '/' });
    expect(stream.reconnect).not.toHaveBeenCalled();
    tab.say({ kind: 'who', who: 'ann/t1' });
    expect(stream.reconnect).toHaveBeenCalledOnce();
  });
});

describe('a tab', () => {
  it('gets each event of its conversations once, and none of the others', () => {
    const { hub, said, frame, url } = stage();
    const [one, two] = [new Tab(hub), new Tab(hub)];
    one.follow({ a: 5 });
    two.follow({ a: 3, b: 0 });
    url();
    frame('open', { stream: 'x' });
    said('a', 4);
    said('a', 6);
    said('b', 1);
    said('a', 6);
    expect(one.frames()).toEqual([6]);
    expect(two.frames()).toEqual([4, 6, 1]);
  });

  it('loses nothing and gets nothing twice when the connection comes back', () => {
    const { hub, said, url, link } = stage();
    const tab = new Tab(hub);
    tab.follow({ a: 5 });
    url();
    said('a', 6);
    link('waiting');
    expect(url()).toContain('follow=a:6&');
    said('a', 6);
    said('a', 7);
    expect(tab.frames()).toEqual([6, 7]);
  });

  it('that opens a conversation late has it sent again from there', async () => {
    const { hub, frame, said, changes, url } = stage();
    const [one, two] = [new Tab(hub), new Tab(hub)];
    one.follow({ a: 5 });
    url();
    frame('open', { stream: 'x' });
    said('a', 9);
    two.follow({ a: 6 });
    await settle();
    expect(changes.at(-1)).toEqual(['x', { threads: [{ thread: 'a', after: 6 }], screens: [] }]);
    said('a', 9);
    expect(one.frames()).toEqual([9]);
    expect(two.frames()).toEqual([9]);
  });

  it('hears notifications, and signals of its own conversations', () => {
    const { hub, frame } = stage();
    const tab = new Tab(hub);
    tab.follow({ a: 0 }, ['s']);
    frame('message', { thread: 'z', head: 3 });
    frame('sessions', {});
    frame('delta', { turn: 'a.1' });
    frame('delta', { turn: 'z.1' });
    frame('screen', { session: 's' });
    frame('screen', { session: 't' });
    expect(tab.frames()).toEqual(['message', 'sessions', 'delta', 'screen']);
  });

  it('hears once of a deletion, and does not ask for the conversation again', () => {
    const { hub, frame, url } = stage();
    const tab = new Tab(hub);
    tab.follow({ a: 1, b: 2 });
    url();
    frame('deleted', { thread: 'a' });
    frame('left', { thread: 'a' });
    expect(tab.frames()).toEqual(['deleted']);
    expect(url()).toContain('follow=b:2&');
  });

  it('that says goodbye is followed for no longer', () => {
    const { hub, url } = stage();
    const tab = new Tab(hub);
    tab.follow({ a: 1 });
    tab.say({ kind: 'bye' });
    expect(url()).toContain('follow=&');
  });

  it('learns the state of the connection when it joins', () => {
    const { hub, link } = stage();
    new Tab(hub);
    link('live');
    expect(new Tab(hub).got).toEqual([{ kind: 'link', link: 'live', retryAt: null, why: null }]);
  });
});
