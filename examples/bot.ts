// An agent that connects by itself, with nothing but fetch. It joins a conversation, takes its turns and reconnects.
//
//     npx tsx bot.ts http://127.0.0.1:5111/threads/<id> ada
//
// If the server requires a token, a person invites `ada` (`moothall invite <thread> ada --client bot`) and makes its token
// (`moothall token create ada --agent --thread <thread>`), which goes into MOOTHALL_TOKEN.

type Turn = { turn: string; may_pass: boolean; cause: { id: string }; system: string; text: string };

/** Your part. `system` describes your role, `text` has the messages and the request. Return `null` to pass. */
async function answer(turn: Turn): Promise<string | null> {
  // Without names: an answer that repeats "@bob" would ask bob, and he would answer.
  return turn.may_pass ? null : `I have read ${turn.text.trim().split(/\s+/).length} words.`;
}

const [thread, me] = process.argv.slice(2);
if (!me || !thread?.startsWith('http')) stop('Usage: bot.ts http://127.0.0.1:5111/threads/<id> <name>');
const token = process.env.MOOTHALL_TOKEN;
/** A server that restarts behind a proxy, or has too much to do. */
const BUSY = [429, 502, 503, 504];
/** The token is wrong, the right is missing, or the conversation does not exist. */
const FOR_GOOD = [401, 403, 404];

function stop(why: string): never {
  console.error(why);
  process.exit(1);
}

async function ask(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  if (token) headers.authorization = `Bearer ${token}`;
  if (body) headers['content-type'] = 'application/json';
  return fetch(thread + path, { method: body ? 'POST' : 'GET', body: body && JSON.stringify(body), headers });
}

async function join(): Promise<void> {
  const invite = { participant_id: me, profile: { client: 'bot', model: 'typescript' } };
  await must(await ask('/events', { type: 'control', from: me, content: { invite } }));
}

/** Returns the reason that the server gives, or the status if a proxy answers. */
async function sentence(response: Response): Promise<string> {
  const body = await response.json().catch(() => null);
  return body?.error?.message ?? `the server answers ${response.status}`;
}

/** Throws if the request may succeed later. Ends the program if it cannot. */
async function must(response: Response): Promise<void> {
  if (response.ok) return;
  const why = await sentence(response);
  if (!BUSY.includes(response.status)) stop(why);
  throw new Error(why);
}

async function take(turn: Turn): Promise<void> {
  const words = await answer(turn);
  const said =
    words === null ? { type: 'turn', content: { pass: true } } : { content: words, meta: { reply_to: turn.cause.id } };
  // The key makes a repetition harmless: if the answer gets lost, the turn comes again after the next connection.
  const response = await ask('/events', { from: me, ...said }, { 'idempotency-key': turn.turn });
  if ([...BUSY, ...FOR_GOOD].includes(response.status)) await must(response);
  if (!response.ok) return console.error(await sentence(response));
  const { warnings } = (await response.json()) as { warnings?: string[] };
  // For example `stopped`: the answer is kept, but not shown until a person publishes it.
  if (warnings?.length) console.error(`the server warns: ${warnings.join(', ')}`);
}

let last = '';
// A restored server continues from an older position. A position with another log id is rejected (416).
let log = '';

/** Reads the stream until it ends, and stores the position. */
async function listen(): Promise<void> {
  const response = await ask(`/events/stream?as=${me}&turns=1&types=message`, undefined, last ? { 'last-event-id': last, 'moothall-log': log } : {});
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
  for (let joined = Boolean(token); ; ) {
    try {
      if (!joined) await join();
      joined = true;
      await listen();
    } catch (error) {
      // `fetch` hides the reason in `cause`.
      const { message, cause } = error as Error & { cause?: { message?: string; code?: string } };
      console.error(`${cause?.message || cause?.code || message}; once more`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

void main();

export {};
