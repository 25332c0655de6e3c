import { expect, test, type Page } from '@playwright/test';
import type { Gathering, NewGathering } from '../../src/lib/types';
import { Server } from '../server';
import { CONFIG, DESK_AND_PHONE as sizes, shoot, wait } from './stage';

let server: Server;

test.beforeEach(async () => {
  server = await new Server(CONFIG).start();
});
test.afterEach(() => server.stop());

type Members = NewGathering['participants'];

const circle: Members = [
  { name: 'Mia Petersen', number: 1, kind: 'human' },
  { name: 'Bo', number: 2, kind: 'human', participant_id: 'bo' },
  { name: 'Carmen', number: 3, kind: 'human', participant_id: 'carmen' },
  { name: 'Dai', number: 4, kind: 'agent', client: 'coder' },
  { name: 'Planner', number: 5, role: 'harvester', kind: 'agent', client: 'planner' },
];

/** The API's description leaves the type of a breath open. */
type Wishes = Omit<Partial<NewGathering>, 'breath'> & { breath?: number[] | string };

function gather(participants: Members, more: Wishes = {}): Promise<Gathering> {
  return server.post<Gathering>('/gatherings', {
    title: 'Where the release stands',
    rhythm: 'weekly council',
    opening_question: 'What did we learn from the release, and what do we leave behind?',
    beats_per_turn: 3,
    beat_interval_seconds: 20,
    last_word_seconds: 600,
    participants,
    ...more,
  });
}

const end = (id: string) => server.post(`/gatherings/${id}/end`, {});
const pass = (id: string, from: string, to?: string) => server.post(`/gatherings/${id}/pass`, { from, to });

function until(id: string, holds: (gathering: Gathering) => boolean): Promise<void> {
  return wait(async () => holds(await server.get<Gathering>(`/gatherings/${id}`)));
}

async function look(page: Page, id: string): Promise<void> {
  await page.goto(server.page);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.goto(`${server.url}/t/${id}`);
  await expect(page.getByRole('region', { name: 'Gathering' })).toBeVisible();
}

async function talk(id: string): Promise<void> {
  await server.say(id, 'I see three things: the tests were late, the notes were good, and nobody slept.');
  await server.say(id, 'And a fourth: we did it.\n\nI pass');
  await server.say(id, 'The notes were good because **Carmen** wrote them.', 'bo');
}

test('you hold the piece', async ({ page }) => {
  const { id } = await gather(circle, { beat_interval_seconds: 4, beats_per_turn: 100 });
  await server.say(id, 'I see three things: the tests were late, the notes were good, and nobody slept.');
  await until(id, ({ beat }) => beat > 0);
  await look(page, id);
  await shoot(page, 'gathering-mine', sizes);
  await page.getByText('What you are told at the start').click();
  await shoot(page, 'gathering-seed', sizes);
});

test('a few beats', async ({ page }) => {
  const { id } = await gather(circle, { beat_interval_seconds: 20 });
  await look(page, id);
  await shoot(page, 'gathering-beats', sizes.slice(0, 3));
});

test('somebody else holds the piece', async ({ page }) => {
  const { id } = await gather(circle);
  await talk(id);
  await look(page, id);
  await shoot(page, 'gathering-theirs', sizes);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await shoot(page, 'gathering-stopped', sizes);
});

test('the last word', async ({ page }) => {
  const { id } = await gather(circle, { beat_interval_seconds: 1, beats_per_turn: 1 });
  await until(id, ({ last_word }) => last_word);
  await look(page, id);
  await shoot(page, 'gathering-last-word', sizes);
  await pass(id, 'user');
  await until(id, ({ last_word, holder }) => last_word && holder?.participant_id === 'bo');
  await shoot(page, 'gathering-their-last-word', sizes.slice(0, 3));
});

test('the harvest is written', async ({ page }) => {
  const others: Members = [
    { name: 'Mia', number: 1, kind: 'human' },
    { name: 'Bo', number: 2, kind: 'human', participant_id: 'bo' },
    { name: 'Hal', number: 3, role: 'harvester', kind: 'human', participant_id: 'hal' },
  ];
  const { id } = await gather(others);
  await server.say(id, 'All of it was worth it.');
  await end(id);
  await look(page, id);
  await shoot(page, 'gathering-harvesting', sizes);
});

test('the harvest is yours to write', async ({ page }) => {
  const others: Members = [
    { name: 'Ann', number: 1, kind: 'human', participant_id: 'ann' },
    { name: 'Bo', number: 2, kind: 'human', participant_id: 'bo' },
    { name: 'Mia', number: 3, role: 'harvester', kind: 'human', participant_id: 'user' },
  ];
  const { id } = await gather(others);
  await server.say(id, 'All of it was worth it.', 'ann');
  await end(id);
  await look(page, id);
  await shoot(page, 'gathering-my-harvest', sizes);
});

test('it is closed, and played again', async ({ page }) => {
  const { id } = await gather(circle, { breath: [1, 1, 1] });
  await talk(id);
  await pass(id, 'bo');
  await server.say(id, 'I wrote them at night.\n\nI pass', 'carmen');
  await until(id, ({ holder }) => holder?.participant_id === 'dai');
  await end(id);
  await until(id, ({ status }) => status === 'closed');
  await look(page, id);
  await expect(page.getByRole('article', { name: 'Harvest' })).toBeVisible();
  await shoot(page, 'gathering-closed', sizes);
  const slider = page.getByRole('slider', { name: 'Moment of the gathering' });
  await slider.focus();
  await page.keyboard.press('Home');
  for (let moment = 1; moment < 9; moment += 1) await page.keyboard.press('ArrowRight');
  await page.waitForTimeout(500);
  await shoot(page, 'gathering-replay', sizes);
});

test('a large circle', async ({ page }) => {
  const names = ['Ann', 'Bo', 'Carmen', 'Dai', 'Eve', 'Faruk', 'Grażyna', 'Hal', 'Ines', 'Jo', 'Kim', 'Lu'];
  const many: Members = names.map((name, index) => ({
    name,
    number: index + 1,
    kind: 'human',
    role: index === 11 ? 'harvester' : 'speaker',
    participant_id: `p-${index + 1}`,
  }));
  const { id } = await gather(many, { breath: 'extended' });
  await server.say(id, 'We are many today.\n\nI pass', 'p-1');
  await look(page, id);
  await shoot(page, 'gathering-many', sizes.slice(0, 3));
});
