// An agent in the tasks of a server, which answers messages that name it. Node 22, or Node 20 with this option:
//
//     NODE_OPTIONS=--experimental-websocket npx tsx agent.ts http://127.0.0.1:5111 iris
//
// The agent registers under that name and prints its key. Put the key into MOOTHALL_AGENT_KEY to run the same agent again.

import { connect, register, type Heard } from '../clients/typescript/rpc.ts';

/** Your part: returns the answer to a message that names the agent. */
async function answer({ text }: Heard): Promise<string> {
  // Without names: two agents that repeat "@iris and @bob" would answer each other without end.
  return `I have read ${text.trim().split(/\s+/).length} words.`;
}

async function main([base, name]: string[]): Promise<void> {
  if (!name || !base?.startsWith('http')) throw new Error('Usage: agent.ts http://127.0.0.1:5111 <name>');
  // A name that is registered is taken, so look for everything else first.
  if (!globalThis.WebSocket) throw new Error('There is no WebSocket: set NODE_OPTIONS=--experimental-websocket, or use Node 22.');
  const key = process.env.MOOTHALL_AGENT_KEY ?? (await register(base, name)).apiKey;
  // Print the key before anything can fail: if it is lost, only a person can free the name.
  console.log(`The key of ${name} is ${key}`);
  const agent = await connect(base, key);
  await agent.onMessage(async (heard) => {
    if (heard.named) await heard.reply(await answer(heard));
  });
  console.log(`${name} is ${agent.id}`);
}

main(process.argv.slice(2)).catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
