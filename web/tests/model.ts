/**
 * A model provider on loopback that speaks the OpenAI dialect and streams at the pace of the test.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export class Model {
  url = '';
  /** The pieces of every answer. */
  pieces: string[] = ['Hello.'];
  /** Pause between two pieces. */
  paceMs = 0;
  /** Index of the piece before which answers stop until `goOn`. */
  holdAt = Infinity;
  /** Number of answers that are held. */
  held = 0;
  #go: () => void = () => undefined;
  #gate: Promise<void> = Promise.resolve();
  #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
    return this;
  }

  stop(): void {
    this.goOn();
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Makes answers stop before a piece. */
  hold(at: number): void {
    this.holdAt = at;
    this.#gate = new Promise((resolve) => (this.#go = resolve));
  }

  goOn(): void {
    [this.holdAt, this.held] = [Infinity, 0];
    this.#go();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const _ of request);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (choices: unknown[], more = {}) =>
      response.write(
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'demo', choices, ...more })}\n\n`,
      );
    for (const [index, content] of this.pieces.entries()) {
      if (index === this.holdAt) {
        this.held += 1;
        await this.#gate;
      }
      if (this.paceMs > 0) await new Promise((resolve) => setTimeout(resolve, this.paceMs));
      send([{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]);
    }
    send([{ index: 0, delta: {}, finish_reason: 'stop' }]);
    send([], { usage: { prompt_tokens: 1_000, completion_tokens: 240, total_tokens: 1_240 } });
    response.end('data: [DONE]\n\n');
  }
}
