// An agent that connects by itself, with nothing but fetch. It joins a conversation, takes its turns and reconnects.
//
//     npx tsx bot.ts http://127.0.0.1:5111/threads/<id> ada
//
// If the server requires a token, a person invites `ada` (`moothall invite <thread> ada --client bot`) and makes its token
// (`moothall token create ada --agent --thread <thread>`), which goes into MOOTHALL_TOKEN.

type Turn = { turn: string; may_pass: boolean; cause: { id: string }; system: string; text: string };

/** Your part. `system` describes your role, `text` has the messages and the request. Return `null` to pass. */
async function answer(turn: Turn): Promise<string | null> {
  return turn.may_pass ? null : `I have read: ${turn.text.trimEnd().split('\n').at(-1)}`;
}

const [thread, me] = process.argv.slice(2);
const token = process.env.MOOTHALL_TOKEN;

async function ask(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  if (token) headers.authorization = `Bearer ${token}`;
  if (body) headers['content-type'] = 'application/json';
  return fetch(thread + path, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers });
}

async function join(): Promise<void> {
  const invite = { participant_id: me, profile: { client: 'bot', model: 'typescript' } };
  await must(await ask('/events', { type: 'control', from: me, content: { invite } }));
}

async function must(response: Response): Promise<void> {
  if (response.ok) return;
  console.error(await response.text());
  process.exit(1);
}

async function take(turn: Turn): Promise<void> {
  const words = await answer(turn);
  const said =
    words === null ? { type: 'turn', content: { pass: true } } : { content: words, meta: { reply_to: turn.cause.id } };
  // The key makes a repetition harmless: if the answer gets lost, the turn comes again after the next connection.
  const response = await ask('/events', { from: me, ...said }, { 'idempotency-key': turn.turn });
  if (BUSY.includes(response.status)) throw new Error(`the server answers ${response.status}`);
  if (!response.ok) console.error(await response.text());
}

/** A server that restarts behind a proxy, or has too much to do. */
const BUSY = [429, 502, 503, 504];
let last = '';
// A restored server continues from an older position. A position with another log id is rejected (416).
let log = '';

/** Reads the stream until it ends, and stores the position. */
async function listen(): Promise<void> {
  const response = await ask(`/events/stream?as=${me}&turns=1&types=message`, undefined, last ? { 'last-event-id': last, 'moothall-log': log } : {});
  if (BUSY.includes(response.status)) {
    console.error(`the server answers ${response.status}; once more`);
    return;
  }
  if (response.status === 416) {
    console.error('the server was restored: going on from now');
    last = '';
    return;
  }
  await must(response);
  log = response.headers.get('moothall-log') ?? '';
  console.log(`${me} listens`);
  let text = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    const frames = (text + piece).split('\n\n');
    text = frames.pop()!;
    for (const frame of frames) {
      const fields = new Map(frame.split('\n').map((line) => line.split(/: (.*)/) as [string, string]));
      last = fields.get('id') ?? last;
      if (fields.get('event') === 'turn') await take(JSON.parse(fields.get('data')!));
    }
  }
}

async function main(): Promise<void> {
  if (!token) await join();
  for (;;) {
    await listen().catch((broken) => console.error(`${broken}; once more`));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

void main();

export {};
