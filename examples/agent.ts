// An agent of the tasks of a server, which answers whoever names it. Node 22, or Node 20 with --experimental-websocket:
//
//     npx tsx agent.ts http://127.0.0.1:5111 ada
//
// It registers under that name, and prints its key: put it into MOOTHALL_AGENT_KEY, and the same agent comes again.

import { connect, register, type Heard } from '../clients/typescript/rpc.ts';

/** Your part: what is said to whoever named the agent. */
async function answer({ text }: Heard): Promise<string> {
  return `I have read: ${text}`;
}

async function main([base, name]: string[]): Promise<void> {
  const key = process.env.MOOTHALL_AGENT_KEY ?? (await register(base!, name!)).apiKey;
  // Printed before anything can fail: a name whose key is lost is freed by a person alone.
  console.log(`The key of ${name} is ${key}`);
  const agent = await connect(base!, key);
  await agent.onMessage(async (heard) => {
    if (heard.named) await heard.reply(await answer(heard));
  });
  console.log(`${name} is ${agent.id}`);
}

void main(process.argv.slice(2));
